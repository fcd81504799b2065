#!/usr/bin/env python3
"""Runs clang-tidy over the project's sources, several at a time, remembering files that were clean.

usage: scripts/clang_tidy.py --build build/ci [--jobs N] [--deep] [--cache FOLDER] [PATTERN...]

A file that was clean is skipped as long as its preprocessed text, its flags, .clang-tidy and the tool are the same; what
is remembered lies in the cache folder (~/.cache/weir-clang-tidy) and holds in any checkout. Without --deep, tests are
left out and so is the static analyzer, which takes most of the time. PATTERNs are parts of paths.
"""

import argparse
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOOL = ROOT / ".deps/venv/bin/clang-tidy"
TOPS = ("src/", "apps/", "fuzz/")
# g++'s flags that clang does not know are no finding.
EXTRA = ["--extra-arg=-Wno-unknown-warning-option", "--extra-arg=-Qunused-arguments"]
NOT_FOR_CLANG = re.compile(r" (-fno-tree-pre|-Werror)(?= )")  # its own warnings are the compilers' business
QUICK = ["--checks=-clang-analyzer-*"]
IS_TEST = re.compile(r"_(test|bench|fuzz)\.cc$|/testing/|replay_main\.cc$")


def sources(build, deep, patterns):
    """(path, entry of the compile database), each source once."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = os.path.relpath(entry["file"], ROOT)
        wanted = path.startswith(TOPS) and (deep or not IS_TEST.search(path))
        if wanted and (not patterns or any(pattern in path for pattern in patterns)):
            found.setdefault(path, entry)
    return sorted(found.items())


def clang_database(build):
    """A compile database beside the build's own, without the flags that make clang fail."""
    folder = build / "clang-tidy"
    folder.mkdir(exist_ok=True)
    text = (build / "compile_commands.json").read_text()
    (folder / "compile_commands.json").write_text(NOT_FOR_CLANG.sub("", text))
    return folder


def key_of(entry, salt):
    """What the outcome depends on: the preprocessed text and the flags; the folder of the checkout does not matter."""
    words = shlex.split(entry["command"])
    if words and "ccache" in " ".join(words[:6]):
        words = words[next(i for i, word in enumerate(words) if word.endswith("ccache")) + 1 :]
    if "-o" in words:
        del words[words.index("-o") : words.index("-o") + 2]
    preprocessed = subprocess.run(
        [*words, "-E", "-C", "-P"], cwd=entry["directory"], capture_output=True, stdin=subprocess.DEVNULL, check=False
    )
    if preprocessed.returncode != 0:
        return None  # clang-tidy will say what is wrong
    digest = hashlib.sha256(salt)
    digest.update(" ".join(words).replace(str(ROOT), "").encode())
    digest.update(preprocessed.stdout.replace(str(ROOT).encode(), b""))
    return digest.hexdigest()


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].removeprefix("usage: "))
    parser.add_argument("--build", type=Path, default=ROOT / "build/ci")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--deep", action="store_true")
    cache_home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    parser.add_argument("--cache", type=Path, default=Path(cache_home) / "weir-clang-tidy")
    parser.add_argument("patterns", nargs="*")
    options = parser.parse_args()

    extra = EXTRA + ([] if options.deep else QUICK)
    version = subprocess.run([TOOL, "--version"], capture_output=True, check=True).stdout
    salt = version + (ROOT / ".clang-tidy").read_bytes() + " ".join(extra).encode()
    options.cache.mkdir(parents=True, exist_ok=True)
    database = clang_database(options.build)
    work = sources(options.build, options.deep, options.patterns)
    started = time.monotonic()
    clean = failed = 0
    printed = set()  # a finding in a header comes once, however many sources include it

    def examine(item):
        path, entry = item
        key = key_of(entry, salt)
        if key and (options.cache / key).exists():
            return path, None, ""
        command = [TOOL, "--quiet", "-p", database, *extra, path]
        result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if result.returncode == 0 and key:
            (options.cache / key).touch()
        output = result.stdout
        if result.returncode != 0 and not output:
            output = result.stderr
        return path, result.returncode, output

    with ThreadPoolExecutor(options.jobs) as pool:
        for path, status, output in pool.map(examine, work):
            if status:
                failed += 1
                for finding in re.split(r"(?m)^(?=\S+:\d+:\d+: (?:error|warning):)", output):
                    if finding.strip() and finding not in printed:
                        printed.add(finding)
                        print(finding.replace(f"{ROOT}/", ""), end="")
            elif status is None:
                clean += 1
    print(
        f"clang-tidy: {len(work)} files ({clean} unchanged since they were clean), {failed} with findings, "
        f"{time.monotonic() - started:.0f} s"
    )
    return 1 if failed or not work else 0


if __name__ == "__main__":
    sys.exit(main())
