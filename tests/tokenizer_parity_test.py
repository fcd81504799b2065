"""A small part of `make parity`: generated strings through tokenizers of our own, and through small ones of every kind."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(os.environ["WEIR_SOURCE_DIR"])
TOKENIZERS = sorted((ROOT / "tests" / "data" / "tokenizers").glob("*.json"))


class TokenizerParity(unittest.TestCase):
    def compare(self, tokenizers, count):
        self.assertTrue(tokenizers)
        command = [sys.executable, ROOT / "scripts" / "parity.py", "--weir", os.environ["WEIR_PROGRAM"],
                   "--tokenizer", *tokenizers, "--generated", str(count), "--seed", "3"]
        run = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)

    def test_of_our_own(self):
        self.compare(TOKENIZERS, 2500)

    def test_of_every_kind(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, ROOT / "scripts" / "small_tokenizers.py", folder], check=True, stdout=subprocess.DEVNULL)
            self.compare(sorted(Path(folder).glob("*.json")), 64)


class TokenizeCommand(unittest.TestCase):
    def tokenize(self, *arguments, text=""):
        command = [os.environ["WEIR_PROGRAM"], "tokenize", *arguments]
        return subprocess.run(command, input=text.encode(), capture_output=True)

    def test_reads_lines(self):
        run = self.tokenize("--tokenizer", TOKENIZERS[-1], text="the cat\n\n")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(len(run.stdout.splitlines()), 2)

    def test_says_what_is_wrong(self):
        run = self.tokenize("--tokenizer", "no/such/file.json")
        self.assertEqual(run.returncode, 1)
        self.assertIn(b"no/such/file.json", run.stderr)
        self.assertEqual(self.tokenize().returncode, 2)
        self.assertEqual(self.tokenize("--tokenizer", TOKENIZERS[-1], "--truncation-side", "up").returncode, 2)

    def test_a_bad_line_does_not_stop_the_others(self):
        lines = '"the cat"\n{"no": 1}\nnot json\n{"base64": "!"}\n{"text": "cat"}\n'
        run = self.tokenize("--tokenizer", TOKENIZERS[-1], "--input-format", "jsonl", text=lines)
        self.assertEqual(run.returncode, 1)
        self.assertEqual([b'"error"' in line for line in run.stdout.splitlines()], [False, True, True, True, False])
        self.assertIn(b"3 lines", run.stderr)


if __name__ == "__main__":
    unittest.main()
