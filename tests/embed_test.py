"""`weir embed` as a user runs it, on the tiny model of tests/data."""

import json
import os
import pathlib
import resource
import signal
import subprocess
import tempfile
import unittest

import numpy as np

ROOT = pathlib.Path(os.environ["WEIR_SOURCE_DIR"])
PROGRAM = os.environ["WEIR_PROGRAM"]
EXPECTED = json.loads((ROOT / "tests/data/tiny-bert/expected.json").read_text())
TEXTS = [entry["text"] for entry in EXPECTED]
VECTORS = np.array([entry["vector"] for entry in EXPECTED], np.float32)


class EmbedTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.base = pathlib.Path(cls.folder.name)
        cls.bundle = cls.base / "tiny"
        subprocess.run([PROGRAM, "import", "-q", ROOT / "tests/data/tiny-bert", cls.bundle], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def setUp(self):
        self.work = pathlib.Path(tempfile.mkdtemp(dir=self.base))

    def embed(self, *arguments, text="", status=0):
        command = [PROGRAM, "embed", "--model", self.bundle, *map(str, arguments)]
        run = subprocess.run(command, input=text.encode(), capture_output=True)
        self.assertEqual(run.returncode, status, run.stderr.decode())
        return run.stdout.decode(), run.stderr.decode()

    def write(self, name, content):
        path = self.work / name
        path.write_text(content)
        return path

    def jsonl_input(self, texts=None, name="in.jsonl", field="text"):
        lines = [json.dumps({field: text}) for text in (TEXTS if texts is None else texts)]
        return self.write(name, "\n".join(lines) + "\n")

    def vectors(self, output):
        lines = [json.loads(line) for line in output.splitlines()]
        self.assertEqual([line["index"] for line in lines], list(range(len(lines))))
        return np.array([line["embedding"] for line in lines], np.float32)

    def assert_near(self, actual, expected):
        self.assertEqual(actual.shape, expected.shape)
        np.testing.assert_allclose(actual, expected, atol=2e-5)

    def test_jsonl_to_standard_output(self):
        output, log = self.embed(self.jsonl_input())
        self.assert_near(self.vectors(output), VECTORS)
        self.assertIn(f"{len(TEXTS)} texts", log)

    def test_text_from_standard_input(self):
        plain = [i for i, text in enumerate(TEXTS) if text and "\n" not in text and "\r" not in text]
        output, _ = self.embed(text="".join(TEXTS[i] + "\n" for i in plain))
        self.assert_near(self.vectors(output), VECTORS[plain])

    def test_csv_column(self):
        path = self.write("in.csv", 'id,body\n1,"snow, and ""water"""\n2,spring\n')
        output, _ = self.embed("--field", "body", path)
        same, _ = self.embed(self.jsonl_input(['snow, and "water"', "spring"]))
        self.assertEqual(output, same)
        _, log = self.embed(path, status=2)
        self.assertIn("it has: id, body", log)

    def test_npy(self):
        output = self.work / "out.npy"
        self.embed("--format", "npy", "--output", output, self.jsonl_input())
        self.assert_near(np.load(output), VECTORS)
        self.assertEqual([path.name for path in self.work.glob("out*")], ["out.npy"])
        _, log = self.embed("--format", "npy", self.jsonl_input(), status=2)
        self.assertIn("--output", log)

    def test_options_of_vectors(self):
        raw = self.vectors(self.embed("--no-normalize", self.jsonl_input())[0])
        self.assertFalse(np.allclose(np.linalg.norm(raw, axis=1), 1, atol=1e-3))
        self.assert_near(raw / np.linalg.norm(raw, axis=1, keepdims=True), VECTORS)
        cut = self.vectors(self.embed("--dimensions", 8, self.jsonl_input())[0])
        short = VECTORS[:, :8]
        self.assert_near(cut, short / np.linalg.norm(short, axis=1, keepdims=True))
        _, log = self.embed("--dimensions", 33, self.jsonl_input(), status=2)
        self.assertIn("dimensions", log)
        _, log = self.embed("--prompt-name", "nonsense", self.jsonl_input(), status=2)
        self.assertIn("nonsense", log)

    def test_long_texts(self):
        long_text = "the river " * 200  # the model takes 64 tokens
        path = self.jsonl_input(["snow", long_text, "water"])
        cut, _ = self.embed(path)
        self.assertEqual(cut, self.embed("--long-text", "truncate", path)[0])
        _, log = self.embed("--long-text", "reject", path, status=1)
        self.assertIn(f"{path}:2: ", log)
        self.assertIn("402 tokens", log)
        output, _ = self.embed("--long-text", "reject", "--on-error", "skip", path, status=3)
        self.assertEqual(["error" in json.loads(line) for line in output.splitlines()], [False, True, False])
        mean = self.vectors(self.embed("--long-text", "chunk", path)[0])
        most = self.vectors(self.embed("--long-text", "chunk", "--chunk-pooling", "max", "--chunk-overlap", 8, path)[0])
        whole = self.vectors(cut)
        for vectors in (mean, most):
            self.assert_near(vectors[[0, 2]], whole[[0, 2]])
            self.assertAlmostEqual(float(np.linalg.norm(vectors[1])), 1, places=4)
        self.assertGreater(float(np.abs(mean[1] - most[1]).max()), 1e-3)
        self.embed("--long-text", "cut", path, status=2)

    def test_a_job_is_not_resumed_with_another_rule_for_long_texts(self):
        output = self.work / "out.jsonl"
        path = self.write("in.jsonl", '{"text": "snow"}\nbroken\n')
        self.embed("--long-text", "chunk", "--output", output, path, status=1)
        _, log = self.embed("--resume", "--long-text", "chunk", "--chunk-overlap", 8, "--output", output, path, status=2)
        self.assertIn("--chunk-overlap", log)
        _, log = self.embed("--resume", "--output", output, path, status=2)
        self.assertIn("--long-text", log)

    def test_instances_and_batches_do_not_change_the_order(self):
        many = TEXTS * 40
        output, _ = self.embed("--instances", 3, "--batch-tokens", 100, self.jsonl_input(many))
        self.assert_near(self.vectors(output), np.tile(VECTORS, (40, 1)))

    def test_bad_lines(self):
        path = self.write("in.jsonl", '{"text": "snow"}\n{"text": 1}\n{"text": "water"}\n')
        output, log = self.embed(path, status=1)
        self.assertEqual(len(self.vectors(output)), 1)
        self.assertIn(f"{path}:2: field 'text' is not a string", log)
        output, log = self.embed("--on-error", "skip", path, status=3)
        lines = [json.loads(line) for line in output.splitlines()]
        self.assertEqual(["error" in line for line in lines], [False, True, False])
        self.assertIn("1 skipped", log)
        rows = self.work / "out.npy"
        self.embed("--on-error", "skip", "--format", "npy", "--output", rows, path, status=3)
        self.assertEqual(np.isnan(np.load(rows)).any(axis=1).tolist(), [False, True, False])

    def test_resume_after_a_repaired_line(self):
        output = self.work / "out.jsonl"
        good = [json.dumps({"text": text}) for text in TEXTS]
        path = self.write("in.jsonl", "\n".join(good[:5] + ["broken"] + good[6:]) + "\n")
        self.embed("--output", output, path, status=1)
        self.assertEqual(len(self.vectors(output.read_text())), 5)
        with output.open("a") as file:
            file.write('{"index":')  # as a crash leaves it
        _, log = self.embed("--output", output, path, status=2)
        self.assertIn("--resume", log)
        path.write_text("\n".join(good) + "\n")
        _, log = self.embed("--resume", "--no-normalize", "--output", output, path, status=2)
        self.assertIn("--no-normalize", log)
        self.embed("--resume", "--output", output, path)
        self.assert_near(self.vectors(output.read_text()), VECTORS)
        _, log = self.embed("--resume", "--output", output, path, status=2)
        self.assertIn("complete", log)

    def test_resume_notices_another_input(self):
        output = self.work / "out.npy"
        path = self.write("in.txt", "snow\nwater\n\n")
        self.embed("--format", "npy", "--output", output, path, status=1)
        path.write_text("snow\nriver\nspring\n")
        _, log = self.embed("--resume", "--format", "npy", "--output", output, path, status=2)
        self.assertIn("the input is not what it was", log)
        self.embed("--restart", "--format", "npy", "--output", output, path)
        self.assertEqual(np.load(output).shape, (3, VECTORS.shape[1]))

    def test_an_interruption_keeps_what_is_done(self):
        output = self.work / "out.npy"
        command = [PROGRAM, "embed", "--model", self.bundle, "--format", "npy", "--output", output]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as run:
            lines = "".join(f"snow water {i}\n" for i in range(200))
            run.stdin.write(lines.encode())
            run.stdin.flush()
            # The pipe stays open: without the signal the job would wait for more.
            while not output.exists():
                if run.poll() is not None:
                    self.fail(run.stderr.read().decode())
            run.send_signal(signal.SIGINT)
            log = run.stderr.read().decode()
            run.wait()
        self.assertEqual(run.returncode, 130, log)
        done = len(np.load(output))
        self.assertLessEqual(done, 200)
        self.embed("--resume", "--format", "npy", "--output", output, text=lines)
        same, _ = self.embed(text=lines)
        self.assert_near(np.load(output), self.vectors(same))

    def test_resume_after_a_full_disk(self):
        output = self.work / "out.jsonl"
        path = self.jsonl_input([f"snow water {i}" for i in range(400)])
        command = [PROGRAM, "embed", "--model", self.bundle, "--output", output, path]

        def limit_files():  # Python ignores SIGXFSZ, so that a write past the limit fails as on a full disk
            resource.setrlimit(resource.RLIMIT_FSIZE, (65536, resource.RLIM_INFINITY))

        run = subprocess.run(command, capture_output=True, preexec_fn=limit_files, restore_signals=False)
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn(b"cannot be written", run.stderr)
        self.assertIn(b"--resume", run.stderr)
        self.embed("--resume", "--output", output, path)
        same, _ = self.embed(path)
        self.assertEqual(output.read_text(), same)

    def test_resume_among_skipped_records(self):
        output = self.work / "out.jsonl"
        lines = [json.dumps({"text": f"snow water {i}"} if i % 3 else {"text": i}) + "\n" for i in range(600)]
        arguments = ["--input-format", "jsonl", "--on-error", "skip", "--output", output]
        command = [PROGRAM, "embed", "--model", self.bundle, *arguments]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
            run.stdin.write("".join(lines[:300]))
            run.stdin.flush()
            self.assertIn("stdin:1: ", run.stderr.readline())  # told when it is written
            run.send_signal(signal.SIGINT)
            log = run.stderr.read()
            run.wait()
        self.assertEqual(run.returncode, 130, log)
        _, log = self.embed("--resume", *arguments, text="".join(['{"text": false}\n', *lines[1:]]), status=2)
        self.assertIn("the input is not what it was", log)
        self.embed("--resume", *arguments, text="".join(lines), status=3)
        same, _ = self.embed(*arguments[:-2], text="".join(lines), status=3)
        self.assertEqual(output.read_text(), same)
        self.assertEqual(len(same.splitlines()), 600)

    def test_an_input_is_not_overwritten(self):
        path = self.jsonl_input()
        content = path.read_text()
        link = self.work / "link.jsonl"
        link.symlink_to(path)
        for output in path, link:
            _, log = self.embed("--output", output, path, status=2)
            self.assertIn("is an input and the output", log)
        with path.open() as stdin:
            command = [PROGRAM, "embed", "--model", self.bundle, "--output", path]
            run = subprocess.run(command, stdin=stdin, capture_output=True)
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertEqual(path.read_text(), content)

    def test_output_that_is_no_file_has_no_journal(self):
        self.embed("--output", "/dev/null", self.jsonl_input())
        self.embed("--resume", "--output", "/dev/null", self.jsonl_input(), status=2)

    def test_usage(self):
        self.embed("--format", "xml", status=2)
        _, log = self.embed(self.work / "none.txt", status=1)
        self.assertIn("none.txt", log)
        run = subprocess.run([PROGRAM, "embed", "--model", self.work], input=b"a\n", capture_output=True)
        self.assertEqual(run.returncode, 1)
        self.assertIn(b"weir.json", run.stderr)
        output, _ = self.embed(text="")
        self.assertEqual(output, "")


if __name__ == "__main__":
    unittest.main()
