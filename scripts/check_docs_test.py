"""Tests of check_docs.py on small trees."""

import subprocess
import tempfile
import unittest
from pathlib import Path

from check_docs import Checker

DECISION = "# 1. T\n\n## Context\n\n## Decision\n\n## Alternatives\n\n## Consequences\n"
WEIR = """#!/bin/sh
if [ "$1" = --help ]; then echo "commands:"; echo "  serve      serves"; echo "  embed      embeds"; fi
if [ "$1" = serve ]; then echo "  --port N   the port"; fi
"""


class DocumentsTest(unittest.TestCase):
    def problems(self, files, with_weir=False):
        with tempfile.TemporaryDirectory() as root:
            for name, text in files.items():
                path = Path(root, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
                path.chmod(0o755)
            subprocess.run(["git", "init", "-q", root], check=True)
            return Checker(root, str(Path(root, "weir.sh")) if with_weir else None).check()

    def assert_one(self, files, where, what, with_weir=False):
        problems = self.problems(files, with_weir)
        self.assertEqual(len(problems), 1, problems)
        self.assertTrue(problems[0].startswith(where + ": "), problems[0])
        self.assertIn(what, problems[0])

    def test_what_exists_is_fine(self):
        files = {
            "README.md": "# A b\n`src/a/a.h` `a/a.h` `a/*.h` `src/a/` `src/FOLDER/x.h` `text/plain` [a](#a-b) [d](docs/README.md)\n"
            "```\nscripts/s.sh --go\n```\n",
            "src/a/a.h": "",
            "src/a/README.md": "`a.h`",
            "scripts/s.sh": "--go",
            "docs/README.md": "[up](../README.md#a-b)",
        }
        self.assertEqual(self.problems(files), [])

    def test_missing_paths(self):
        self.assert_one({"README.md": "x\n`src/a.h`\n"}, "README.md:2", "src/a.h")
        self.assert_one({"README.md": "`a/gone.h`", "src/a/a.h": ""}, "README.md:1", "a/gone.h")
        self.assert_one({"README.md": "```\nscripts/gone.sh 1\n```"}, "README.md:2", "scripts/gone.sh")
        self.assert_one({"src/a/README.md": "`gone.cc`"}, "src/a/README.md:1", "gone.cc")

    def test_missing_links(self):
        self.assert_one({"README.md": "[x](gone.md)"}, "README.md:1", "gone.md")
        self.assert_one({"README.md": "# A\n[x](#b)"}, "README.md:2", "no such heading")

    def test_documents_that_sources_point_to(self):
        files = {"src/a/a.h": "// one\n// docs/a.md and docs/formats/b.md\n", "docs/a.md": ""}
        self.assert_one(files, "src/a/a.h:2", "docs/formats/b.md")

    def test_names(self):
        files = {"README.md": "`make b`", "Makefile": "a:\n"}
        self.assert_one(files, "README.md:1", "make b")
        self.assert_one({"README.md": "`weir_gone_total`"}, "README.md:1", "weir_gone_total")
        self.assertEqual(self.problems({"README.md": "`weir_x_total`", "src/a/a.cc": '"weir_x_total"'}), [])
        self.assertEqual(self.problems({"README.md": "`WEIR_MAX_WAIT`", "src/a/a.cc": '"max-wait"'}), [])

    def test_flags(self):
        files = {"weir.sh": WEIR, "README.md": "`weir serve --port 1` and `--port`"}
        self.assertEqual(self.problems(files, with_weir=True), [])
        files["README.md"] = "`weir serve --prot 1`"
        self.assert_one(files, "README.md:1", "--prot", with_weir=True)
        files["README.md"] = "`weir embed --port 1`"
        self.assert_one(files, "README.md:1", "weir embed", with_weir=True)
        files["README.md"] = "`--nowhere`"
        self.assert_one(files, "README.md:1", "--nowhere", with_weir=True)

    def test_decisions(self):
        files = {"docs/decisions/0001-a.md": DECISION}
        self.assertEqual(self.problems(files), [])
        self.assert_one({"docs/decisions/one.md": DECISION}, "docs/decisions/one.md:1", "NNNN-title.md")
        self.assert_one({"docs/decisions/0001-a.md": "# a\n## Context\n## Decision\n## Alternatives"}, "docs/decisions/0001-a.md:1", "Consequences")
        files["docs/decisions/0001-b.md"] = DECISION
        self.assert_one(files, "docs/decisions/0001-b.md:1", "is taken by")

    def test_index(self):
        files = {"docs/README.md": "", "docs/a.md": ""}
        self.assert_one(files, "docs/a.md:1", "not linked")


if __name__ == "__main__":
    unittest.main()
