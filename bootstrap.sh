#!/usr/bin/env bash
# Sets warpcheck up on a Debian 12 (or Ubuntu) machine and shows that it works. Safe to run again.
#   ./bootstrap.sh demo    install what is missing, build, check a right and a broken kernel
#   ./bootstrap.sh test    the same, then build with all warnings and run every test
set -euo pipefail
cd "$(dirname "$0")"

packages=(g++ cmake ninja-build pkg-config libboost-context-dev libtbb-dev libgraphviz-dev graphviz
          nlohmann-json3-dev libfmt-dev libtomlplusplus-dev libcli11-dev libgtest-dev libgmock-dev libbenchmark-dev)

say() { printf '== %s\n' "$*"; }

install_missing() {
  local missing=() package as_root=()
  if ! command -v apt-get >/dev/null; then
    say "No apt-get here: please see to these packages yourself: ${packages[*]}"
    return
  fi
  for package in "${packages[@]}"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  if ((${#missing[@]} == 0)); then
    say "All packages are here already."
    return
  fi
  if ((EUID != 0)); then
    command -v sudo >/dev/null || { say "Needs root or sudo to install: ${missing[*]}"; exit 1; }
    as_root=(sudo)
  fi
  say "Installing with apt-get: ${missing[*]}"
  "${as_root[@]}" apt-get update -q </dev/null
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -q -y --no-install-recommends "${missing[@]}" </dev/null
}

build() {  # build PRESET
  command -v ccache >/dev/null && export CMAKE_CXX_COMPILER_LAUNCHER=ccache
  say "Building ($1) in build/$1"
  cmake --preset "$1" </dev/null
  cmake --build --preset "$1" </dev/null
}

# check_example FILE EXPECTED_EXIT_CODE
check_example() {
  local code=0
  say "warpcheck check $1"
  build/release/bin/warpcheck check "$1" --out "build/demo/$(basename "$1" .toml)" </dev/null || code=$?
  if ((code != $2)); then
    say "Exit code $code, expected $2"
    exit 1
  fi
}

demo() {
  install_missing
  build release
  rm -rf build/demo
  check_example examples/ring/ring.toml 0
  check_example examples/ring/ring_broken.toml 1
  say "The picture of the race: build/demo/ring_broken/race-1.svg"
}

tests() {
  build dev
  say "Running every test"
  ctest --preset dev -j "$(nproc)" </dev/null
}

case "${1:-}" in
  demo) demo ;;
  test) demo && tests ;;
  *) sed -n '2,4s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
