"""The gate's verdicts on rounds that are made up, and what it does without a base."""

import random
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import regression_gate as gate


def rounds(slowdown, noise, count=7, seed=1):
    generator = random.Random(seed)
    machine = 1.0
    made = []
    for _ in range(count):
        machine *= generator.gauss(1, 0.2)  # what all three runs of a round share does not matter
        made.append(tuple(machine * factor * generator.gauss(1, noise) for factor in (1, slowdown, 1)))
    return made


class Verdicts(unittest.TestCase):
    def test_a_slowdown_beyond_the_noise_fails(self):
        self.assertTrue(gate.judge(rounds(1.10, 0.01))[3])
        self.assertTrue(gate.judge(rounds(1.5, 0.05))[3])

    def test_equal_and_faster_programs_pass_whatever_the_noise(self):
        for noise in (0.002, 0.02, 0.1):
            failures = sum(gate.judge(rounds(1.0, noise, seed=seed))[3] for seed in range(200))
            self.assertLessEqual(failures, 2, noise)
        self.assertFalse(gate.judge(rounds(0.8, 0.01))[3])

    def test_small_slowdowns_pass_even_when_they_are_certain(self):
        self.assertFalse(gate.judge(rounds(1.02, 0.001))[3])

    def test_slowdowns_within_the_noise_pass(self):
        self.assertFalse(gate.judge(rounds(1.05, 0.1))[3])

    def test_the_slowdown_is_told(self):
        slowdown, margin, noise, _ = gate.judge(rounds(1.10, 0.005))
        self.assertAlmostEqual(slowdown, 0.095, delta=0.02)
        self.assertGreater(margin, 0)
        self.assertGreater(noise, 0)


class Sources(unittest.TestCase):
    def test_only_what_is_compiled_into_the_program_matters(self):
        for name in ("src/base/file.cc", "apps/weir/main.cc", "cmake/WeirIsa.cmake", "CMakeLists.txt"):
            self.assertTrue(gate.MATTERS.match(name), name)
        for name in ("docs/README.md", "src/base/file_test.cc", "tests/embed_test.py", "README.md", "scripts/parity.py"):
            self.assertFalse(gate.MATTERS.match(name), name)

    def test_without_a_commit_before_there_is_nothing_to_compare(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["git", "init", "-q", folder], check=True)
            identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
            subprocess.run(["git", "-C", folder, *identity, "commit", "-q", "--allow-empty", "-m", "first"], check=True)
            root, gate.ROOT = gate.ROOT, Path(folder)
            try:
                with self.assertRaises(gate.NotPossible):
                    gate.base_commit(None)
                with self.assertRaises(gate.NotPossible):
                    gate.base_commit("no-such-commit")
            finally:
                gate.ROOT = root


if __name__ == "__main__":
    unittest.main()
