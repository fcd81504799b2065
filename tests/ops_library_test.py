"""libweir_ops.so in the onnxruntime package: a packed bundle computes there what it computes in weir."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import onnxruntime
import tokenizers

ROOT = pathlib.Path(os.environ["WEIR_SOURCE_DIR"])
PROGRAM = os.environ["WEIR_PROGRAM"]
LIBRARY = sys.argv.pop(1)
SOURCE = ROOT / "tests/data/tiny-bert"


class OpsLibraryTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.bundle = pathlib.Path(cls.folder.name) / "tiny"
        subprocess.run([PROGRAM, "import", "-q", "--precision", "int8", SOURCE, cls.bundle], check=True)
        cls.tokenizer = tokenizers.Tokenizer.from_file(str(cls.bundle / "tokenizer.json"))
        cls.tokenizer.no_padding()
        cls.tokenizer.enable_truncation(64)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def session(self, threads):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.register_custom_ops_library(LIBRARY)
        return onnxruntime.InferenceSession(self.bundle / "model.onnx", options, providers=["CPUExecutionProvider"])

    def embed(self, session, texts):
        encodings = self.tokenizer.encode_batch(texts)
        ids = np.concatenate([encoding.ids for encoding in encodings]).astype(np.int64)
        offsets = np.cumsum([0] + [len(encoding.ids) for encoding in encodings]).astype(np.int64)
        feeds = {"input_ids": ids, "token_type_ids": np.zeros_like(ids), "offsets": offsets}
        vectors = session.run(["sentence_embedding"], feeds)[0]
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    def test_vectors_are_those_of_the_import(self):
        golden = json.loads((self.bundle / "golden.json").read_text())["texts"]
        expected = np.array([entry["vector"] for entry in golden], np.float32)
        for threads in (1, 2):
            vectors = self.embed(self.session(threads), [entry["text"] for entry in golden])
            np.testing.assert_allclose(vectors, expected, atol=1e-6)

    def test_vectors_are_close_to_fp32(self):
        entries = json.loads((SOURCE / "expected.json").read_text())
        expected = np.array([entry["vector"] for entry in entries], np.float32)
        vectors = self.embed(self.session(1), [entry["text"] for entry in entries])
        self.assertGreater((vectors * expected).sum(axis=1).min(), 0.985)

    def test_a_text_has_the_same_bits_in_any_batch(self):
        session = self.session(2)
        texts = ["The gate is open.", "snow", "A low dam holds the flood back and lets the river through."]
        together = self.embed(session, texts)
        for text, vector in zip(texts, together):
            np.testing.assert_array_equal(self.embed(session, [text])[0], vector)

    def test_vectors_are_the_same_bits_on_every_instruction_set(self):
        texts = "\n".join(["snow", "The gate is open.", "A low dam holds the flood back and lets the river through."])
        for precision in ("int8", "fp32"):
            bundle = pathlib.Path(self.folder.name) / precision
            subprocess.run([PROGRAM, "import", "-q", "--precision", precision, SOURCE, bundle], check=True)
            vectors = {}
            for isa in ("", "scalar", "avx2", "avx_vnni", "avx512bw,avx512dq,avx512vl", "avx512_vnni", "amx_int8"):
                environment = {key: value for key, value in os.environ.items() if key != "WEIR_ISA"}
                if isa:
                    environment["WEIR_ISA"] = isa
                run = subprocess.run([PROGRAM, "embed", "--model", bundle], input=texts, capture_output=True, text=True,
                                     env=environment)
                if run.returncode != 0:
                    self.assertIn("WEIR_ISA", run.stderr)  # this CPU lacks it
                    continue
                vectors[isa] = run.stdout
            self.assertGreaterEqual(len(vectors), 2)
            self.assertEqual(len(set(vectors.values())), 1, f"{precision}: {sorted(vectors)} differ")

    def test_bad_offsets_are_an_error(self):
        ids = np.array([1, 2, 3], np.int64)
        feeds = {"input_ids": ids, "token_type_ids": ids * 0, "offsets": np.array([0, 2, 2, 3], np.int64)}
        with self.assertRaisesRegex(Exception, "does not ascend"):
            self.session(1).run(None, feeds)


if __name__ == "__main__":
    unittest.main()
