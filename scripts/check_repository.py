#!/usr/bin/env python3
"""Checks every tracked file for what does not belong into the repository.

Fails, naming file:line, on
  - a path of somebody's machine, or a URL of a host that is not in HOSTS
  - a marker of unfinished work, a conflict marker, trailing white space, a missing newline at the end
  - a source longer than MAX_LINES (tables apart), a file larger than MAX_BYTES
Tells the length of files and functions, as a mirror.

usage: scripts/check_repository.py [ROOT]
"""

import re
import statistics
import subprocess
import sys
from pathlib import Path

MAX_LINES = 800
MAX_BYTES = 1 << 20
CODE = (".h", ".cc", ".inc", ".py", ".sh")
TABLE = re.compile(r"(^|[/_])(tables?|data)\.(inc|cc|h)$|^tests/data/|^fuzz/seeds/|^LICENSE$")

# Names without a dot, local addresses, names reserved for examples, and pages that a document may point to. Package registries are reached
# through the machine's own settings, so none is named here.
HOSTS = re.compile(
    r"^([\w-]+|a\.b|127\.0\.0\.1|0\.0\.0\.0|\[::1\]|(.*\.)?example(\.(com|org|net))?|www\.apache\.org|www\.w3\.org"
    r"|huggingface\.co|keepachangelog\.com|semver\.org|arxiv\.org|www\.unicode\.org|unicode\.org|onnx\.ai|datatracker\.ietf\.org)$"
)
URL = re.compile(r"https?://(\[[^\]\s]*\]|[^/\s:?#'\"`)>]+)")
# Written in parts, so that this file passes its own check.
RULES = (
    (re.compile(r"(?<![\w.])/(" + "|".join(("wo" + "rk", "ho" + r"me/\w+", "tm" + "p/wt", "tm" + "p/ref")) + r")/"), "a path of one machine"),
    (re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X)\b"), "a marker of unfinished work"),
    (re.compile(r"^(<{7} |={7}$|>{7} )"), "a conflict marker"),
    (re.compile(r"[ \t]+$"), "trailing white space"),
)


def tracked(root):
    output = subprocess.run(["git", "-C", root, "ls-files", "-z"], capture_output=True, check=True).stdout
    return sorted(name for name in output.decode().split("\0") if name and (Path(root) / name).is_file())


def check_text(name, text):
    problems = []
    data = TABLE.search(name) is not None
    for number, line in enumerate(text.splitlines(), 1):
        if not data:
            problems += [f"{name}:{number}: {what}" for pattern, what in RULES if pattern.search(line)]
        for host in URL.findall(line):
            if not data and not HOSTS.match(host) and not re.search(r"[^\w.-]", host):
                problems.append(f"{name}:{number}: a URL of the host {host}")
    if text and not text.endswith("\n") and not data:
        problems.append(f"{name}:{text.count(chr(10)) + 1}: no newline at the end")
    lines = text.count("\n")
    if lines > MAX_LINES and name.endswith(CODE) and not data:
        problems.append(f"{name}:{lines}: {lines} lines, more than {MAX_LINES}: split it")
    return problems


def function_lengths(text):
    """Lines from a line that ends in '{' at the left edge to the '}' at the left edge, where it is no class or namespace."""
    lengths, opened = [], None
    for number, line in enumerate(text.splitlines()):
        if re.match(r"^[\w:~<].*[)\w] ?\{$|^ {4}.*\) (const |noexcept |override )*\{$", line) and opened is None:
            if not re.match(r"^(class|struct|namespace|enum|union|extern|inline namespace|constexpr .*=|static .*=)\b", line):
                opened = number
        elif line.startswith("}") and opened is not None:
            lengths.append(number - opened + 1)
            opened = None
    return lengths


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0


def mirror(files):
    sources = {name: text for name, text in files.items() if re.match(r"(src|apps)/.*\.(h|cc)$", name) and not TABLE.search(name)}
    if not sources:
        return
    lines = [text.count("\n") for text in sources.values()]
    functions = [length for text in sources.values() for length in function_lengths(text)]
    long_share = 100 * sum(length > 60 for length in functions) / max(1, len(functions))
    print(
        f"mirror: {len(sources)} sources, {sum(lines)} lines; file length median {statistics.median(lines):.0f}, "
        f"90th percentile {percentile(lines, 0.9)}, longest {max(lines)}; {len(functions)} functions, 90th percentile "
        f"{percentile(functions, 0.9)} lines, {long_share:.1f} % over 60"
    )


def main(arguments):
    root = Path(arguments[0] if arguments else Path(__file__).resolve().parent.parent)
    problems, files = [], {}
    names = tracked(root)
    for name in names:
        content = (root / name).read_bytes()
        if len(content) > MAX_BYTES:
            problems.append(f"{name}:1: {len(content)} bytes, more than {MAX_BYTES}")
        if b"\0" in content[:8192]:
            continue
        files[name] = content.decode("utf-8", errors="replace")
        problems += check_text(name, files[name])
    for problem in problems:
        print(problem)
    mirror(files)
    print(f"repository: {len(names)} files, {len(problems)} problem{'' if len(problems) == 1 else 's'}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
