#!/usr/bin/env bash
# Prints the PTX of every launch of expected.txt anew: build.sh [FOLDER...]. Needs nvcc 13.
set -euo pipefail
cd "$(dirname "$0")"
while read -r folder variant _; do
  [[ $folder == '#' ]] && continue
  (($# == 0)) || [[ " $* " == *" $folder "* ]] || continue
  arch=$(sed -n 's/^\.target *\([a-z0-9_]*\).*/\1/p' "$folder/$variant.ptx")
  define=()
  [[ $variant == correct ]] || define=("-D$variant")
  (cd "$folder" && "${NVCC:-nvcc}" -ptx -std=c++17 -O3 -arch="$arch" -lineinfo -I.. "${define[@]}" -o "$variant.ptx" "$folder.cu")
  # No paths of this machine: source files by name alone.
  sed -i -E 's|^(\s*\.file\s+[0-9]+\s+").*/([^/"]+)"|\1\2"|' "$folder/$variant.ptx"
done < expected.txt
