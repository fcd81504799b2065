#!/usr/bin/env bash
# All checks that run no test, each with one closing line. All are run; any failure fails the whole.
#
# usage: scripts/check_style.sh [BUILD]     BUILD: a configured build folder, for clang-tidy (default build/ci)
set -uo pipefail

cd "$(dirname "$0")/.."
build=${1:-build/ci}
python=.deps/venv/bin/python
status=0

check_format() {
  local files
  mapfile -d '' -t files < <(git ls-files -z '*.h' '*.cc')
  if .deps/venv/bin/clang-format --dry-run -Werror "${files[@]}"; then
    echo "format: ${#files[@]} files, no problem"
  else
    echo "format: run 'make format'"
    return 1
  fi
}

check_format || status=1
$python -B scripts/check_includes.py || status=1
$python -B scripts/check_repository.py || status=1
$python -B scripts/check_docs.py || status=1
$python -B scripts/clang_tidy.py --build "$build" --jobs "${JOBS:-$(nproc)}" || status=1
exit $status
