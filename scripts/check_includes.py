#!/usr/bin/env python3
"""Checks the include graph of src/ and apps/ against the edges that the CMakeLists.txt declare.

Fails, naming file:line, on
  - an include of a folder that the includer's weir_library() does not list in DEPS (or TEST_DEPS, BENCH_DEPS)
  - a declared edge that nothing uses
  - a cycle of files or of folders
  - a stage of src/serve that includes another stage
  - a chain of includes deeper than MAX_DEPTH
  - a header without #pragma once, an include of a file that is not there, a source that no CMakeLists.txt names
  - a header of a library that only some folders may include (RESTRICTED)

usage: scripts/check_includes.py [ROOT]
"""

import os
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

MAX_DEPTH = 10
STAGES = ("front", "admission", "tokenize", "batch", "engine", "pooling", "respond")
# Headers of a library that is kept behind a folder's own types: pattern, the folders that may include it.
RESTRICTED = ((re.compile(r"onnxruntime"), ("session", "ops")),)
SUFFIXES = (".h", ".cc", ".inc")

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')
CALL = re.compile(r"^\s*(\w+)\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\)", re.M)
KEYWORDS = {"SOURCES", "DEPS", "EXTERNAL", "TESTS", "TEST_DEPS", "BENCHES", "BENCH_DEPS"}
KINDS = {"source": "DEPS", "test": "TEST_DEPS", "bench": "BENCH_DEPS"}


@dataclass
class Library:
    """A folder with a weir_library() call, or apps/weir with its target_link_libraries()."""

    folder: str
    cmake_file: str
    deps: dict = field(default_factory=dict)  # folder → line of the declaration
    test_deps: dict = field(default_factory=dict)
    bench_deps: dict = field(default_factory=dict)

    def declared_for(self, kind):
        """The edges that sources of a kind have beyond DEPS."""
        return {"test": self.test_deps, "bench": self.bench_deps}.get(kind, {})


@dataclass
class Include:
    line: int
    target: str  # relative to the root; empty for a header from outside
    text: str


def kind_of(path):
    match = re.search(r"_(test|bench)\.cc$", path)
    return match[1] if match else "source"


def without_comments(cmake_text):
    """Blanks comments, keeping every position."""
    return re.sub(r"#[^\n]*", lambda match: " " * len(match.group()), cmake_text)


def words_with_lines(text, start):
    for match in re.finditer(r"[^\s()]+", text):
        yield match.group().strip('"'), start + match.start()


class Graph:
    def __init__(self, root):
        self.root = Path(root)
        self.problems = []
        self.libraries = {}
        self.includes = {}
        self.cmake_texts = {}
        self._read_cmake()
        self._read_sources()

    def problem(self, path, line, message):
        self.problems.append(f"{path}:{line}: {message}")

    # --- reading ---------------------------------------------------------------------------------------------------

    def _walk(self, top, wanted):
        for folder, names, files in os.walk(self.root / top):
            names.sort()
            for name in sorted(files):
                if wanted(name):
                    yield (Path(folder) / name).relative_to(self.root).as_posix()

    def _read_cmake(self):
        for top in ("src", "apps"):
            for path in self._walk(top, lambda name: name == "CMakeLists.txt"):
                text = without_comments((self.root / path).read_text(encoding="utf-8"))
                folder = path.rpartition("/")[0]
                self.cmake_texts[folder] = text
                for match in CALL.finditer(text):
                    words = [
                        (word, text.count("\n", 0, at) + 1) for word, at in words_with_lines(match[2], match.start(2))
                    ]
                    if match[1] == "weir_library" and top == "src":
                        self._add_library(folder[len("src/") :], path, words)
                    elif match[1] == "target_link_libraries" and top == "apps":
                        self._add_program(folder, path, words)

    def _add_library(self, folder, path, words):
        library = self.libraries.setdefault(folder, Library(folder, path))
        section = ""
        for word, line in words:
            if word in KEYWORDS:
                section = word
            elif section == "DEPS":
                library.deps[word] = line
            elif section == "TEST_DEPS":
                library.test_deps[word] = line
            elif section == "BENCH_DEPS":
                library.bench_deps[word] = line

    def _add_program(self, folder, path, words):
        library = self.libraries.setdefault(folder, Library(folder, path))
        own = re.findall(r"add_(?:library|executable)\s*\(\s*(\w+)", self.cmake_texts[folder])
        for word, line in words[1:]:
            if word.startswith("weir_") and not word.startswith("weir_external_") and word not in own:
                library.deps[word[len("weir_") :]] = line  # a target's name; resolved in check()

    def _read_sources(self):
        for top in ("src", "apps"):
            for path in self._walk(top, lambda name: name.endswith(SUFFIXES)):
                text = (self.root / path).read_text(encoding="utf-8", errors="replace")
                if path.endswith(".h") and not re.search(r"^#pragma once\s*$", text, re.M):
                    self.problem(path, 1, "a header without #pragma once")
                self.includes[path] = self._read_includes(path, text)

    def _read_includes(self, path, text):
        found = []
        for number, line in enumerate(text.splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            if match[2]:
                found.append(Include(number, "", match[2]))
                continue
            target = next((f"{base}{match[1]}" for base in ("src/", "") if (self.root / (base + match[1])).is_file()), "")
            if not target:
                self.problem(path, number, f'"{match[1]}" is neither in src/ nor in the root of the repository')
            found.append(Include(number, target, match[1]))
        return found

    # --- checking --------------------------------------------------------------------------------------------------

    def folder_of(self, path):
        """The library that a file belongs to: the nearest folder with a weir_library() call."""
        folder = path.rpartition("/")[0]
        while folder:
            name = folder[len("src/") :] if folder.startswith("src/") else folder
            if name in self.libraries:
                return name
            folder = folder.rpartition("/")[0]
        return ""

    def check(self):
        self._resolve_programs()
        self._check_edges()
        self._check_sources_are_built()
        self._check_folder_cycles()
        self._check_files()
        return sorted(self.problems)

    def _resolve_programs(self):
        by_target = {folder.replace("/", "_"): folder for folder in self.libraries}
        for library in self.libraries.values():
            if library.folder.startswith("apps/"):
                library.deps = {by_target.get(name, name): line for name, line in library.deps.items()}

    def _check_edges(self):
        used = {}  # (folder, kind) → folders
        for path, includes in self.includes.items():
            folder = self.folder_of(path)
            if not folder:
                self.problem(path, 1, "belongs to no folder with a weir_library() call")
                continue
            for include in includes:
                self._check_restricted(path, folder, include)
                target = self.folder_of(include.target) if include.target else ""
                if not target or target == folder:
                    continue
                used.setdefault((folder, kind_of(path)), set()).add(target)
                self._check_edge(path, folder, include, target)
        for library in self.libraries.values():
            self._check_unused(library, {kind: used.get((library.folder, kind), set()) for kind in KINDS})

    def _check_restricted(self, path, folder, include):
        if include.target:
            return
        for pattern, folders in RESTRICTED:
            if pattern.search(include.text) and folder not in folders:
                self.problem(path, include.line, f"<{include.text}> may only be included in {', '.join(folders)}")

    def _check_edge(self, path, folder, include, target):
        stage, other = stage_of(folder), stage_of(target)
        if stage and other and stage != other:
            self.problem(path, include.line, f'stage {stage} includes stage {other} ("{include.text}")')
            return
        library = self.libraries[folder]
        if target in library.deps or target in library.declared_for(kind_of(path)):
            return
        kind = KINDS[kind_of(path)]
        if folder.startswith("apps/"):
            kind = "target_link_libraries()"
        self.problem(path, include.line, f'includes "{include.text}": add {target} to {kind} in {library.cmake_file}')

    def _check_unused(self, library, used):
        for dep, line in library.deps.items():
            others = [KINDS[kind] for kind in ("test", "bench") if dep in used[kind]]
            if dep not in self.libraries:
                self.problem(library.cmake_file, line, f"depends on {dep}, which is no folder with a weir_library() call")
            elif dep not in used["source"] and others:
                self.problem(library.cmake_file, line, f"no source includes {dep}: move it to {' and '.join(others)}")
            elif dep not in used["source"]:
                self.problem(library.cmake_file, line, f"depends on {dep}, which nothing here includes")
        for kind in ("test", "bench"):
            for dep, line in library.declared_for(kind).items():
                if dep in library.deps:
                    self.problem(library.cmake_file, line, f"{dep} is in DEPS already")
                elif dep not in used[kind]:
                    self.problem(library.cmake_file, line, f"depends on {dep}, which no {kind} here includes")

    def _check_sources_are_built(self):
        for path in self.includes:
            folder, _, name = path.rpartition("/")
            if not name.endswith(".cc"):
                continue
            while folder and folder not in self.cmake_texts:
                folder = folder.rpartition("/")[0]
            if not re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])", self.cmake_texts.get(folder, "")):
                self.problem(path, 1, f"is built by nothing: {folder}/CMakeLists.txt does not name it")

    def _check_folder_cycles(self):
        edges = {name: sorted(library.deps) for name, library in self.libraries.items()}
        for cycle in find_cycles(edges):
            library = self.libraries[cycle[0]]
            line = library.deps.get(cycle[1], 1)
            self.problem(library.cmake_file, line, "cycle of folders: " + " → ".join(cycle))

    def _check_files(self):
        edges = {
            path: sorted({include.target for include in includes if include.target in self.includes})
            for path, includes in self.includes.items()
        }
        cycles = find_cycles(edges)
        for cycle in cycles:
            line = next(include.line for include in self.includes[cycle[0]] if include.target == cycle[1])
            self.problem(cycle[0], line, "cycle of includes: " + " → ".join(cycle))
        if cycles:
            return  # depth has no meaning then
        chains = {}
        for path in edges:
            chain = longest_chain(path, edges, chains)
            if len(chain) - 1 > MAX_DEPTH and not path.endswith(".h"):
                message = f"include depth {len(chain) - 1}, more than {MAX_DEPTH}: " + " → ".join(chain)
                self.problem(path, 1, message)


def stage_of(folder):
    parts = folder.split("/")
    return parts[1] if len(parts) > 1 and parts[0] == "serve" and parts[1] in STAGES else ""


def find_cycles(edges):
    """One cycle for each back edge of a depth-first search, as [a, b, …, a]."""
    cycles, state, stack = [], {}, []

    def visit(node):
        state[node] = "open"
        stack.append(node)
        for successor in edges.get(node, ()):
            if state.get(successor) == "open":
                cycles.append(stack[stack.index(successor) :] + [successor])
            elif successor not in state:
                visit(successor)
        stack.pop()
        state[node] = "done"

    for node in sorted(edges):
        if node not in state:
            visit(node)
    return cycles


def longest_chain(path, edges, known):
    if path not in known:
        tails = [longest_chain(successor, edges, known) for successor in edges[path]]
        known[path] = [path] + max(tails, key=len, default=[])
    return known[path]


def main(arguments):
    root = arguments[0] if arguments else Path(__file__).resolve().parent.parent
    graph = Graph(root)
    problems = graph.check()
    for problem in problems:
        print(problem)
    edges = sum(len(library.deps) for library in graph.libraries.values())
    print(
        f"include graph: {len(graph.includes)} files, {len(graph.libraries)} folders, {edges} edges, "
        f"{len(problems)} problem{'' if len(problems) == 1 else 's'}"
    )
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
