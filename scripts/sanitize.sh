#!/usr/bin/env bash
# Builds everything under a sanitizer's preset and runs all tests with it.
#
# usage: scripts/sanitize.sh asan-ubsan|tsan [CTEST_ARGUMENT…]
#
# Reports inside libraries of others are suppressed one by one, each with its reason, in scripts/sanitizers/*.supp.
set -euo pipefail

cd "$(dirname "$0")/.."
preset=${1:?usage: scripts/sanitize.sh asan-ubsan|tsan [CTEST_ARGUMENT…]}
shift
jobs=${JOBS:-$(nproc)}
supp=$PWD/scripts/sanitizers

[ -f "build/$preset/build.ninja" ] || cmake --preset "$preset" --log-level=WARNING
cmake --build --preset "$preset" -j "$jobs"

case $preset in
  asan-ubsan)
    export ASAN_OPTIONS=strict_string_checks=1:detect_stack_use_after_return=1:check_initialization_order=1
    export LSAN_OPTIONS=suppressions=$supp/lsan.supp:print_suppressions=0
    export UBSAN_OPTIONS=print_stacktrace=1 ;;
  tsan)
    # Of ONNX Runtime, which is not instrumented, TSan sees half: a wait on a condition of its thread pool, but not the
    # lock before it. What our own code does is checked all the same.
    export TSAN_OPTIONS=suppressions=$supp/tsan.supp:halt_on_error=1:second_deadlock_stack=1:ignore_noninstrumented_modules=1 ;;
  *) echo "sanitize: error: no options known for the preset '$preset'" >&2; exit 1 ;;
esac
ctest --test-dir "build/$preset" --output-on-failure --no-tests=error -j "$jobs" "$@"
