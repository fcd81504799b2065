#!/usr/bin/env bash
# Builds the fuzz targets with clang and runs each for some seconds, from its seeds in fuzz/seeds/NAME. What it finds is
# written to build/fuzz/findings/NAME; move a finding to the seeds once it is repaired.
#
# usage: scripts/fuzz.sh SECONDS [NAME…]     all targets when none is named
set -euo pipefail

cd "$(dirname "$0")/.."
seconds=${1:?usage: scripts/fuzz.sh SECONDS [NAME…]}
shift
jobs=${JOBS:-$(nproc)}

for compiler in clang++-19 clang++-16 clang++; do
  command -v $compiler >/dev/null && break
done
command -v $compiler >/dev/null || { echo "fuzz: error: no clang++: run scripts/setup.sh --dev" >&2; exit 1; }
[ -f build/fuzz/build.ninja ] || cmake --preset fuzz -DCMAKE_CXX_COMPILER=$compiler --log-level=WARNING
cmake --build --preset fuzz -j "$jobs"

names=("$@")
[ ${#names[@]} -gt 0 ] || mapfile -t names < <(cd fuzz && ls -- *_fuzz.cc | sed 's/_fuzz\.cc$//')
failed=()
for name in "${names[@]}"; do
  findings=build/fuzz/findings/$name corpus=build/fuzz/corpus/$name
  mkdir -p "$findings" "$corpus"
  echo "fuzz: $name, $seconds s"
  build/fuzz/bin/"${name}"_fuzz -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 \
    -verbosity=0 -artifact_prefix="$findings/" "$corpus" "fuzz/seeds/$name" || failed+=("$name")
done
[ ${#failed[@]} = 0 ] || { echo "fuzz: FAILED: ${failed[*]}, see build/fuzz/findings" >&2; exit 1; }
echo "fuzz: ${#names[@]} targets, no finding"
