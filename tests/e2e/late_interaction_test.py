"""ColBERT models in each form in which they are saved: vectors of queries and documents, ranking over HTTP and on the
command line, held to what sentence-transformers computed with the same tiny models (tests/data/late_interaction)."""

import json
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import cohere
from weir_server import ENVIRONMENT, PROGRAM, ROOT, Server, cosine

DATA = ROOT / "tests" / "data" / "late_interaction"
FORMS = ["stanford", "pylate", "pylate-modernbert", "multi-vector"]


def expected(form):
    return json.loads((DATA / form / "expected.json").read_text())


def run(*arguments, **more):
    return subprocess.run([PROGRAM, *arguments], env=ENVIRONMENT, capture_output=True, text=True, **more)


class FormServer(Server):
    def __init__(self, form, *import_flags):
        super().__init__()
        self.form, self.import_flags = form, import_flags

    def import_model(self, bundle):
        done = run("import", DATA / self.form, bundle, "--quiet", *self.import_flags)
        if done.returncode != 0:
            raise AssertionError(done.stderr)

    def vectors(self, texts, **more):
        return self.post("/embed_all", {"inputs": texts, **more}).json()

    def scores(self, query, texts):
        found = {entry["index"]: entry["score"]
                 for entry in self.post("/rerank", {"query": query, "texts": texts}).json()}
        return [found[i] for i in range(len(texts))]


class LateInteraction(unittest.TestCase):
    def assert_near(self, found, wanted, delta):
        self.assertEqual(len(found), len(wanted))
        for a, b in zip(found, wanted, strict=True):
            if isinstance(b, list):
                self.assert_near(a, b, delta)
            else:
                self.assertAlmostEqual(a, b, delta=delta)

    def check_vectors(self, found, entries, delta, least_cosine):
        for vectors, entry in zip(found, entries, strict=True):
            self.assertEqual(len(vectors), len(entry["vectors"]), entry["text"])
            for a, b in zip(vectors, entry["vectors"], strict=True):
                self.assertGreater(cosine(a, b), least_cosine)
            if delta is not None:
                self.assert_near(vectors, entry["vectors"], delta)

    def check_form(self, form, flags, delta, least_cosine):
        wanted = expected(form)
        queries = [entry["text"] for entry in wanted["queries"]]
        documents = [entry["text"] for entry in wanted["documents"]]
        with self.subTest(form=form, flags=flags), FormServer(form, *flags) as server:
            found = server.vectors(queries, prompt_name="query")
            self.check_vectors(found, wanted["queries"], delta, least_cosine)
            self.assertEqual(found[1], server.vectors(queries[1], prompt_name="query")[0])
            self.check_vectors(server.vectors(documents), wanted["documents"], delta, least_cosine)
            self.assertEqual(server.vectors(documents), server.vectors(documents, prompt_name="document"))
            if delta is None:
                return
            for query, scores in zip(queries, wanted["scores"], strict=True):
                self.assert_near(server.scores(query, documents), scores, 20 * delta)

    def test_vectors_and_scores_are_those_of_the_library(self):
        for form in FORMS:
            self.check_form(form, ["--padded"], 1e-4, 0.9999)
            self.check_form(form, ["--precision", "fp32"], 1e-4, 0.9999)

    def test_fewer_bits_are_near_them(self):
        self.check_form("stanford", ["--precision", "int8"], None, 0.95)
        self.check_form("pylate-modernbert", ["--precision", "int8"], None, 0.95)
        self.check_form("multi-vector", ["--precision", "bf16"], None, 0.99)

    def test_other_routes(self):
        wanted = expected("stanford")
        documents = [entry["text"] for entry in wanted["documents"]]
        order = sorted(range(len(documents)), key=lambda i: -wanted["scores"][0][i])
        with FormServer("stanford") as server:
            client = cohere.ClientV2(api_key="none", base_url=f"http://127.0.0.1:{server.port}")
            answer = client.rerank(model="tiny", query=wanted["queries"][0]["text"], documents=documents, top_n=2)
            self.assertEqual([result.index for result in answer.results], order[:2])
            self.assertEqual(server.get("/info").json()["model_type"], {"embedding": {"pooling": "none"}})
            refused = server.post("/v1/embeddings", {"input": "water"})
            self.assertEqual(refused.status, 400)
            self.assertIn("multi_vector", refused.json()["error"]["message"])
            refused = server.post("/embed_all", {"inputs": "water " * 100, "truncate": False})
            self.assertEqual(refused.status, 422)
            self.assertIn("20", refused.json()["error"])
            refused = server.post("/rerank", {"query": "water " * 100, "texts": ["river"], "truncate": False})
            self.assertIn("query has 103 tokens, the model takes 12", refused.json()["error"])
            ids = [entry["id"] for entry in server.post("/tokenize", {"inputs": "water"}).json()[0][1:-1]]
            self.assertEqual(server.vectors([ids], prompt_name="query"), server.vectors(["water"], prompt_name="query"))
            refused = server.post("/embed_all", {"inputs": "water", "prompt_name": "other"})
            self.assertIn("'document', 'query'", refused.json()["error"])

    def test_embed_on_the_command_line(self):
        wanted = expected("multi-vector")
        with tempfile.TemporaryDirectory() as folder:
            bundle = Path(folder) / "bundle"
            self.assertEqual(run("import", DATA / "multi-vector", bundle, "--quiet", "--padded").returncode, 0)
            for kind, flags in (("documents", []), ("queries", ["--prompt-name", "query"])):
                texts = "\n".join(entry["text"] for entry in wanted[kind])
                done = run("embed", "--model", bundle, *flags, input=texts)
                self.assertEqual(done.returncode, 0, done.stderr)
                lines = [json.loads(line) for line in done.stdout.splitlines()]
                self.assertEqual([line["index"] for line in lines], list(range(len(wanted[kind]))))
                self.check_vectors([line["embeddings"] for line in lines], wanted[kind], 1e-4, 0.9999)
            for flags in (["--format", "npy", "--output", bundle / "x.npy"], ["--dimensions", "4"], ["--no-normalize"],
                          ["--long-text", "chunk"]):
                done = run("embed", "--model", bundle, *flags, input="water")
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(f"{flags[0]}", done.stderr)
                self.assertIn("is not for models with a vector per token", done.stderr)

    def test_rerank_on_the_command_line(self):
        wanted = expected("pylate")
        documents = [entry["text"] for entry in wanted["documents"]]
        with tempfile.TemporaryDirectory() as folder:
            bundle = Path(folder) / "bundle"
            self.assertEqual(run("import", DATA / "pylate", bundle, "--quiet").returncode, 0)
            many = documents * 20  # More than one request takes.
            done = run("rerank", "--model", bundle, "--query", wanted["queries"][1]["text"], input="\n".join(many))
            self.assertEqual(done.returncode, 0, done.stderr)
            entries = [json.loads(line) for line in done.stdout.splitlines()]
            self.assertEqual(sorted(entry["index"] for entry in entries), list(range(len(many))))
            for entry in entries:
                self.assertEqual(entry["text"], many[entry["index"]])
                self.assertAlmostEqual(entry["score"], wanted["scores"][1][entry["index"] % len(documents)], delta=2e-3)
            self.assertEqual([entry["score"] for entry in entries],
                             sorted((entry["score"] for entry in entries), reverse=True))


class Refused(unittest.TestCase):
    """Folders that say something else, or too little."""

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="weir-late-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def expect(self, form, file, change, message, *flags):
        source = self.folder / "source"
        shutil.rmtree(source, ignore_errors=True)
        shutil.copytree(DATA / form, source)
        if change is None:
            (source / file).unlink()
        else:
            content = json.loads((source / file).read_text())
            content.update(change)
            (source / file).write_text(json.dumps(content))
        done = run("import", source, self.folder / "bundle", *flags)
        self.assertNotEqual(done.returncode, 0, message)
        self.assertIn(message, done.stderr)
        self.assertFalse((self.folder / "bundle").exists())

    def test_what_weir_does_not_have(self):
        metadata = "artifact.metadata"
        self.expect("stanford", metadata, None, "artifact.metadata: missing; it says how long queries")
        self.expect("stanford", metadata, {"similarity": "l2"}, "field 'similarity': 'l2' is not supported")
        self.expect("stanford", metadata, {"query_maxlen": 2}, "field 'query_maxlen': must be at least 3")
        self.expect("stanford", metadata, {"doc_maxlen": 99}, "documents of 99 tokens: the model takes from 3 to 24")
        self.expect("stanford", metadata, {"query_token_id": "[gone]"}, "has no token '[gone]'")
        config = "config_sentence_transformers.json"
        self.expect("pylate", config, None, "config_sentence_transformers.json: missing")
        self.expect("pylate", config, {"document_prefix": "[X] "}, "has no token '[X] '")
        self.expect("pylate", "1_Dense/config.json", {"in_features": 17}, "field 'in_features': is 17")
        self.expect("pylate", "1_Dense/config.json", {"activation_function": "torch.nn.Softplus"},
                    "'torch.nn.Softplus' is not supported; weir has Identity, Tanh")
        self.expect("pylate", "1_Dense/model.safetensors", None, "1_Dense")
        self.expect("pylate", config, {}, "its Dense is for vectors of tokens", "--task", "embedding", "--pooling", "mean",
                    "--normalize")
        self.expect("multi-vector", config, {"similarity_fn_name": "xtr"}, "'xtr' is not supported; weir has maxsim and")
        self.expect("multi-vector", "2_MultiVectorMask/config.json", {"skiplist_tasks": ["query", "document"]},
                    "field 'skiplist_tasks'")
        self.expect("multi-vector", "2_MultiVectorMask/config.json", {"keep_only_token_ids": [5]},
                    "field 'keep_only_token_ids': is not supported")
        self.expect("multi-vector", "sentence_bert_config.json",
                    {"query_expansion": {"strategy": "min", "length": 12}}, "'min' is not supported; weir has fixed")
        self.expect("multi-vector", "3_Normalize/config.json", {"module_input_name": "sentence_embedding"},
                    "weir normalizes token_embeddings")

    def test_a_family_whose_fillings_see_nothing(self):
        source = self.folder / "source"
        shutil.copytree(DATA / "pylate", source)
        for file in ("config.json", "model.safetensors"):
            shutil.copy(ROOT / "tests" / "data" / "families" / "deberta-v2" / file, source)
        done = run("import", source, self.folder / "bundle", "--padded")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("not attended to are not supported of deberta-v2", done.stderr)

    def test_a_model_that_is_none(self):
        done = run("import", ROOT / "tests" / "data" / "tiny-bert", self.folder / "bundle", "--task", "multi_vector")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("multi_vector is for ColBERT models", done.stderr)


if __name__ == "__main__":
    unittest.main()
