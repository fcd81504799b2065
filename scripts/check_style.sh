#!/usr/bin/env bash
# All checks that need no test run. Each prints one closing line; all are run, and any failure fails the whole.
set -uo pipefail
cd "$(dirname "$0")/.."

status=0
check() {
  "$@" || status=1
}

check scripts/check_includes.py
exit $status
