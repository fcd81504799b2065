#!/usr/bin/env python3
"""Checks the objects of the kernels' ISA files: what is compiled with -m flags must not become everybody's copy.

An inline function or a template that is instantiated there and not local to the file is a weak symbol. The linker keeps
one copy for the whole program, perhaps the one with AVX-512 in it, and a CPU without it dies of an illegal instruction far
from any kernel. So such an object may define no weak symbol at all: helpers stand in unnamed namespaces.

usage: scripts/check_isa_objects.py BUILD
"""

import platform
import subprocess
import sys
from pathlib import Path


def weak_symbols(path):
    output = subprocess.run(["nm", "-C", "--defined-only", path], capture_output=True, text=True, check=True).stdout
    for line in output.splitlines():
        kind, name = line[17:].split(maxsplit=1)  # 16 digits of the address, a space
        if kind in "WwVvu":
            yield name


def main(arguments):
    objects = sorted(Path(arguments[0] if arguments else "build/ci").glob("src/kernels/**/x86_*.cc.o"))
    problems = [f"{path}: defines {name} weakly" for path in objects for name in weak_symbols(path)]
    if not objects and platform.machine() == "x86_64":
        problems.append("no objects of ISA files found: is the build complete?")
    for problem in problems:
        print(problem)
    print(f"ISA objects: {len(objects)} objects, {len(problems)} problem{'' if len(problems) == 1 else 's'}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
