#!/usr/bin/env python3
"""Checks that what the documents quote exists.

  - paths of the repository in `backticks` and in commands, links and their #headings
  - flags of weir (when a weir program is given), WEIR_* variables, weir_* metrics and functions, make targets
  - documents that sources point to
  - decisions: numbered once, with the four sections; every document is linked from docs/README.md

usage: scripts/check_docs.py [--weir PROGRAM] [ROOT]
"""

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

TOPS = ("src", "apps", "scripts", "cmake", "docs", "tests", "fuzz", "bench", "web", "deploy", ".ci")
ROOT_FILE = re.compile(r"^(Makefile|LICENSE|CMakeLists\.txt|CMakePresets\.json|\.clang-(format|tidy)|[A-Z]+\.md)$")
PLACEHOLDER = re.compile(r"[<>{}…$|]|\.\.\.|(?<![A-Za-z])[A-Z]{2,}(?![a-z])|NNNN")
SECTIONS = ("Context", "Decision", "Alternatives", "Consequences")
# Flags of other programs that the documents quote.
FOREIGN_FLAGS = set("--preset --build --target --test-dir --output-on-failure --help --gtest_filter --version --recurse".split())


class Document:
    def __init__(self, root, name):
        self.name = name
        self.folder = name.rpartition("/")[0]
        self.lines = (root / name).read_text(encoding="utf-8").splitlines()
        self.headings = set()
        self.code = []  # (line number, text, is it a line of a fenced block)
        self.links = []
        self._read()

    def _read(self):
        fenced = False
        for number, line in enumerate(self.lines, 1):
            if line.lstrip().startswith("```"):
                fenced = not fenced
            elif fenced:
                self.code.append((number, line.strip(), True))
            else:
                if line.startswith("#"):
                    self.headings.add(slug(line.lstrip("#").strip()))
                self.code += [(number, span, False) for span in re.findall(r"`([^`]+)`", line)]
                without_code = re.sub(r"`[^`]*`", "", line)
                self.links += [(number, target) for target in re.findall(r"\]\(([^)\s]+)\)", without_code)]


def slug(heading):
    return re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower()).replace(" ", "-")


class Checker:
    def __init__(self, root, weir):
        self.root = Path(root)
        self.problems = []
        names = subprocess.run(
            ["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"], capture_output=True, check=True
        ).stdout.decode()
        self.names = sorted(name for name in set(names.split("\0")) if name and (self.root / name).is_file())
        self.documents = {
            name: Document(self.root, name)
            for name in self.names
            if name.endswith(".md") and not name.startswith(("tests/", "fuzz/seeds"))
        }
        self.sources = "\n".join(
            (self.root / name).read_text(encoding="utf-8", errors="replace")
            for name in self.names
            if re.search(r"\.(h|cc|inc|cmake|sh|py|toml)$|CMakeLists\.txt$|CMakePresets\.json$|^Makefile$|^\.ci/", name)
        )
        self.make_targets = set(re.findall(r"^([a-z]+):", self._text("Makefile"), re.M))
        self.script_flags = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", self.sources)) | FOREIGN_FLAGS
        self.weir_flags = self._weir_flags(weir) if weir else None

    def _text(self, name):
        path = self.root / name
        return path.read_text(encoding="utf-8") if path.is_file() else ""

    def _weir_flags(self, weir):
        """Flags by subcommand, from the program's own help."""

        def help_of(*arguments):
            result = subprocess.run([weir, *arguments, "--help"], capture_output=True, text=True, timeout=30, check=False)
            return result.stdout + result.stderr

        commands = re.findall(r"^  ([a-z]+) ", help_of(), re.M)
        return {name: set(re.findall(r"(?<![\w-])--?[a-z][a-z0-9-]*", help_of(name))) | {"--help"} for name in commands}

    def problem(self, document, line, message):
        self.problems.append(f"{document.name}:{line}: {message}")

    def check(self):
        for document in self.documents.values():
            for line, target in document.links:
                self._check_link(document, line, target)
            if document.name != "CHANGELOG.md":  # what it tells was true then
                for line, text, fenced in document.code:
                    self._check_code(document, line, text, fenced)
        self._check_sources()
        self._check_decisions()
        self._check_index()
        return self.problems

    # --- links and paths -------------------------------------------------------------------------------------------

    def _check_link(self, document, line, target):
        if re.match(r"[a-z]+:", target):
            return
        path, _, heading = target.partition("#")
        name = os.path.normpath(os.path.join(document.folder, path)) if path else document.name
        if not (self.root / name).exists():
            self.problem(document, line, f"link to {target}, which is not there")
        elif heading and name in self.documents and heading not in self.documents[name].headings:
            self.problem(document, line, f"link to {target}, but {name} has no such heading")

    def _exists(self, document, path):
        path = path.rstrip("/").split(":")[0]
        candidates = [Path(), Path("src"), Path(document.folder)]
        if "*" in path:
            return any(next((self.root / base).glob(path), None) for base in candidates)
        return any((self.root / base / path).exists() for base in candidates)

    def _looks_like_path(self, document, word):
        if PLACEHOLDER.search(word) and not word.endswith(".md"):
            return False
        if not re.fullmatch(r"[\w.*/:+-]+", word) or word.startswith("/"):
            return False
        first, slash, rest = word.partition("/")
        if slash and rest.strip("/") and (first in TOPS or (self.root / "src" / first).is_dir()):
            return True
        if re.fullmatch(r"[\w*]+(_test|_bench|_fuzz)?\.(h|cc|inc)", word) and document.folder.startswith("src"):
            return True  # a file beside the document
        return ROOT_FILE.match(word) is not None

    def _check_code(self, document, line, text, fenced):
        for word in text.split() if fenced else [text]:
            word = word.strip("(),;\"'")
            if fenced and not word.startswith(("scripts/", "src/", "apps/", "docs/", "tests/", "bench/")):
                continue
            if self._looks_like_path(document, word) and not self._exists(document, word):
                self.problem(document, line, f"quotes {word}, which is not there")
        self._check_names(document, line, text)
        self._check_flags(document, line, text)

    # --- names and flags -------------------------------------------------------------------------------------------

    def _check_names(self, document, line, text):
        for target in re.findall(r"\bmake ([a-z]+)\b", text):
            if target not in self.make_targets:
                self.problem(document, line, f"quotes `make {target}`, which the Makefile does not have")
        for name in re.findall(r"\b(?:WEIR_[A-Z_]+[A-Z]|weir_[a-z_]+[a-z])\b(?![*{])", text):
            flag = "--" + name[len("WEIR_") :].lower().replace("_", "-")
            known_flag = name.startswith("WEIR_") and self.weir_flags is not None and flag in set().union(*self.weir_flags.values())
            if not known_flag and f'"{flag[2:]}"' not in self.sources and not re.search(rf"\b{name}", self.sources):
                self.problem(document, line, f"quotes {name}, which no source names")

    def _check_flags(self, document, line, text):
        flags = re.findall(r"(?<![\w-])(--[a-z][a-z0-9-]+)", text)
        if not flags:
            return
        command = re.search(r"(?:^|[\s/])weir ([a-z]+)\b", text)
        for flag in flags:
            if self.weir_flags is None:
                continue
            if command and command[1] in self.weir_flags:
                if flag not in self.weir_flags[command[1]] | FOREIGN_FLAGS:
                    self.problem(document, line, f"quotes {flag}, which `weir {command[1]} --help` does not tell")
            elif flag not in self.script_flags and flag not in set().union(*self.weir_flags.values()):
                self.problem(document, line, f"quotes {flag}, which neither weir nor a script knows")

    def _check_sources(self):
        for name in self.names:
            if not re.match(r"(src|apps|fuzz|cmake)/", name) or name.endswith(".md"):
                continue
            text = (self.root / name).read_text(encoding="utf-8", errors="replace")
            for match in re.finditer(r"docs/[\w/.-]+\.md", text):
                if not (self.root / match.group()).exists():
                    line = text.count("\n", 0, match.start()) + 1
                    self.problems.append(f"{name}:{line}: points to {match.group()}, which is not there")

    # --- the set of documents --------------------------------------------------------------------------------------

    def _check_decisions(self):
        numbers = {}
        for name, document in self.documents.items():
            if not name.startswith("docs/decisions/"):
                continue
            number = re.match(r"(\d{4})-[a-z0-9-]+\.md$", name.rpartition("/")[2])
            if not number:
                self.problem(document, 1, "a decision's file is named NNNN-title.md")
                continue
            if number[1] in numbers:
                self.problem(document, 1, f"number {number[1]} is taken by {numbers[number[1]]}")
            numbers[number[1]] = name
            missing = [section for section in SECTIONS if slug(section) not in document.headings]
            if missing:
                self.problem(document, 1, f"a decision needs the headings {', '.join(missing)}")

    def _check_index(self):
        index = self.documents.get("docs/README.md")
        if not index:
            return
        linked = {os.path.normpath(os.path.join("docs", target.partition("#")[0])) for _, target in index.links}
        for name, document in self.documents.items():
            if name.startswith("docs/") and name != "docs/README.md" and name not in linked:
                self.problem(document, 1, "is not linked from docs/README.md")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--weir", default=os.environ.get("WEIR_PROGRAM"))
    parser.add_argument("root", nargs="?", default=str(Path(__file__).resolve().parent.parent))
    options = parser.parse_args()
    checker = Checker(options.root, options.weir)
    problems = checker.check()
    for problem in problems:
        print(problem)
    flags = "with flags" if options.weir else "without flags (no weir program given)"
    print(f"documents: {len(checker.documents)} files, {flags}, {len(problems)} problem{'' if len(problems) == 1 else 's'}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
