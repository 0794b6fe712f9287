#!/usr/bin/env bash
# Writes report.txt and graph.svg of each folder anew, of the launch that told.txt names: refresh.sh [WARPCHECK [FOLDER...]]
set -euo pipefail
warpcheck=$(realpath "${1:-build/release/bin/warpcheck}")
shift || true
cd "$(dirname "$0")"
found=$(mktemp -d)
trap 'rm -r "$found"' EXIT
while read -r folder variant; do
  [[ $folder == '#' ]] && continue
  (($# == 0)) || [[ " $* " == *" $folder "* ]] || continue
  rm -rf "${found:?}"/*
  (cd "$folder" && "$warpcheck" check "$variant.toml" --workers 1 --out "$found" || true) > "$found/report" </dev/null
  graph=$(grep -o 'graph: .*' "$found/report" | head -1 | cut -c8-)
  if [[ -z $graph ]]; then
    echo "$folder: nothing was found" >&2
    continue
  fi
  # The counterexample is not kept: it names paths of this machine.
  grep -v '^  replay: ' "$found/report" > "$folder/report.txt"
  cp "$graph" "$folder/graph.svg"
done < told.txt
