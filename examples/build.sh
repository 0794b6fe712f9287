#!/usr/bin/env bash
# Prints the examples' PTX anew. Needs nvcc (CUDA 12.4 or later); the PTX is kept, so that nobody needs it to run warpcheck.
set -euo pipefail
cd "$(dirname "$0")"
build() {  # build KERNEL VARIANT [nvcc flags]
  local kernel=$1 variant=$2
  shift 2
  (cd "$kernel" && "${NVCC:-nvcc}" -ptx -std=c++17 -arch=sm_90a -lineinfo "$@" -o "$variant.ptx" "$kernel.cu")
  # No paths of this machine: source files by name alone.
  sed -i -E 's|^(\s*\.file\s+[0-9]+\s+").*/([^/"]+)"|\1\2"|' "$kernel/$variant.ptx"
}
build ring ring
build ring ring_broken -DRELEASE_TOO_EARLY
build bulk_store bulk_store
build bulk_store bulk_store_broken -DNO_PROXY_FENCE
