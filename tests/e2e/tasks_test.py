"""Rerankers, classifiers, token classifiers and sparse models: over HTTP with the clients of others, and on the command
line, held to what `transformers` computed with the same tiny models (tests/data/tasks)."""

import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import cohere
from huggingface_hub import InferenceClient
from weir_server import ENVIRONMENT, PROGRAM, ROOT, Server

DATA = ROOT / "tests" / "data"


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def softmax(numbers):
    raised = [math.exp(x - max(numbers)) for x in numbers]
    return [x / sum(raised) for x in raised]


def expected(name):
    return json.loads((DATA / "tasks" / name / "expected.json").read_text())


def dense_weights(words, size):
    """An answer of /embed_sparse as one weight for each word of the vocabulary."""
    weights = [0.0] * size
    for word in words:
        weights[word["index"]] = word["value"]
    return weights


def three_vectors(server, texts):
    """What a model of bge-m3's kind gives for texts: dense vectors, token vectors and word weights."""
    return [server.post(route, {"inputs": texts}).json() for route in ("/embed", "/embed_all", "/embed_sparse")]


def write_source(name, folder):
    """A fixture with the tokenizer that all of them share."""
    data = DATA / "tasks" / name
    if not data.exists():
        data = DATA / "families" / name
    shutil.copytree(data, folder)
    shutil.copy(DATA / "families" / "tokenizer.json", folder)
    return folder


class TaskServer(Server):
    """A server whose model is one of tests/data/tasks, or an embedding model of tests/data/families."""

    def __init__(self, name, *import_flags, flags=(), files=None):
        super().__init__(*flags)
        self.name, self.import_flags, self.files = name, import_flags, files or {}

    def import_model(self, bundle):
        source = write_source(self.name, self.folder / "source")
        for name, content in self.files.items():
            (source / name).write_text(json.dumps(content))
        subprocess.run([PROGRAM, "import", source, bundle, "--max-tokens", "38", "--quiet", *self.import_flags],
                       check=True, env=ENVIRONMENT)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"


class MatryoshkaServer(TaskServer):
    """A model whose config.json lists the lengths that its vectors may be cut to."""

    def import_model(self, bundle):
        source = write_source(self.name, self.folder / "source")
        config = json.loads((source / "config.json").read_text())
        (source / "config.json").write_text(json.dumps({**config, "matryoshka_dimensions": [4, 8]}))
        subprocess.run([PROGRAM, "import", source, bundle, "--max-tokens", "38", "--quiet", *self.import_flags],
                       check=True, env=ENVIRONMENT)


class ExportedServer(TaskServer):
    """The same of an ONNX graph in a folder `onnx` below config.json and tokenizer.json, as exporters leave it."""

    def import_model(self, bundle):
        super().import_model(self.folder / "made")
        export = self.folder / "export"
        (export / "onnx").mkdir(parents=True)
        for name in ("config.json", "tokenizer.json"):
            shutil.copy(self.folder / "source" / name, export)
        for name in ("model.onnx", "model.weights"):
            shutil.copy(self.folder / "made" / name, export / "onnx")
        subprocess.run([PROGRAM, "import", export, bundle, "--max-tokens", "38", "--quiet"], check=True, env=ENVIRONMENT)


class TaskTest(unittest.TestCase):
    def assert_close(self, found, wanted, tolerance=1e-4):
        self.assertEqual(len(found), len(wanted))
        for a, b in zip(found, wanted, strict=True):
            self.assertAlmostEqual(a, b, delta=tolerance)


class Rerank(TaskTest):
    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(TaskServer("rerank"))
        cls.query = expected("rerank")[0]["text"]
        cls.texts = [entry["pair"] for entry in expected("rerank")]
        cls.logits = [entry["numbers"][0] for entry in expected("rerank")]
        cls.order = sorted(range(len(cls.texts)), key=lambda i: -cls.logits[i])

    def test_tei(self):
        body = {"query": self.query, "texts": self.texts}
        ranked = self.server.post("/rerank", body).json()
        self.assertEqual([entry["index"] for entry in ranked], self.order)
        self.assert_close([entry["score"] for entry in ranked], [sigmoid(self.logits[i]) for i in self.order])
        self.assertNotIn("text", ranked[0])
        raw = self.server.post("/rerank", {**body, "raw_scores": True, "return_text": True}).json()
        self.assert_close([entry["score"] for entry in raw], [self.logits[i] for i in self.order])
        self.assertEqual([entry["text"] for entry in raw], [self.texts[i] for i in self.order])

    def test_cohere_clients(self):
        for client in (cohere.Client(api_key="none", base_url=self.server.url),
                       cohere.ClientV2(api_key="none", base_url=self.server.url)):
            answer = client.rerank(model="tiny", query=self.query, documents=self.texts, top_n=2)
            self.assertEqual([result.index for result in answer.results], self.order[:2])
            self.assert_close([result.relevance_score for result in answer.results],
                              [sigmoid(self.logits[i]) for i in self.order[:2]])
            self.assertTrue(answer.id)

    def test_documents_come_back_and_may_be_objects(self):
        documents = [{"text": text, "title": "ignored"} for text in self.texts]
        answer = self.server.post("/v1/rerank", {"query": self.query, "documents": documents,
                                                 "return_documents": True}).json()
        self.assertEqual([result["document"]["text"] for result in answer["results"]],
                         [self.texts[i] for i in self.order])
        self.assertGreater(answer["usage"]["total_tokens"], 0)

    def test_predict_takes_a_pair(self):
        answer = self.server.post("/predict", {"inputs": [[self.query, self.texts[0]], [self.query]]}).json()
        self.assertEqual(len(answer), 2)
        self.assert_close([answer[0][0]["score"]], [sigmoid(self.logits[0])])

    def test_bad_requests(self):
        refusals = [
            ("/rerank", {"query": "a"}, 422, "texts"),
            ("/rerank", {"texts": ["a"]}, 422, "query"),
            ("/rerank", {"query": "", "texts": ["a"]}, 400, "query"),
            ("/rerank", {"query": "a", "texts": []}, 400, "texts"),
            ("/rerank", {"query": "a", "texts": ["a", ""]}, 400, "texts[1]"),
            ("/rerank", {"query": "a", "texts": [[1]]}, 422, "texts[0]"),
            ("/v2/rerank", {"query": "a", "documents": [{"title": "a"}]}, 400, "documents[0]"),
            ("/v2/rerank", {"query": "a", "documents": ["a"], "top_n": 0}, 400, "top_n"),
            ("/predict", {"inputs": ["a", "b", "c"]}, 422, "more than two"),
            ("/predict", {"inputs": [["a"], []]}, 400, "inputs[1]"),
            ("/embed", {"inputs": "a"}, 422, "rerank"),
            ("/embed_all", {"inputs": "a"}, 422, "rerank"),
            ("/embed_sparse", {"inputs": "a"}, 422, "rerank"),
            ("/v1/embeddings", {"input": "a"}, 400, "rerank"),
        ]
        for path, body, status, part in refusals:
            answer = self.server.post(path, body)
            self.assertEqual(answer.status, status, (path, body, answer.body))
            self.assertIn(part, answer.body.decode(), (path, body))

    def test_long_pairs_are_cut_or_refused(self):
        body = {"query": "the river " * 30, "texts": ["water " * 100]}
        self.assertEqual(self.server.post("/rerank", body).status, 200)
        self.assertEqual(self.server.post("/rerank", {**body, "truncate": False}).status, 422)

    def test_info(self):
        self.assertIn("reranker", self.server.get("/info").json()["model_type"])

    def test_command(self):
        texts = self.server.folder / "texts.txt"
        texts.write_text("\n".join(self.texts))
        command = [PROGRAM, "rerank", "--model", self.server.folder / "tiny", "--query", self.query, "--top-n", "2", texts]
        lines = subprocess.run(command, check=True, env=ENVIRONMENT, capture_output=True, text=True).stdout.splitlines()
        results = [json.loads(line) for line in lines]
        self.assertEqual([result["index"] for result in results], self.order[:2])
        self.assertEqual(results[0]["text"], self.texts[self.order[0]])
        self.assert_close([result["score"] for result in results], [sigmoid(self.logits[i]) for i in self.order[:2]])


class Classify(TaskTest):
    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(TaskServer("classify"))

    def test_tei_forms(self):
        entry = expected("classify")[1]
        wanted = dict(zip(["bad", "so so", "good"], softmax(entry["numbers"]), strict=True))
        one = self.server.post("/predict", {"inputs": entry["text"]}).json()
        self.assertEqual([label["score"] for label in one], sorted((x["score"] for x in one), reverse=True))
        self.assertEqual({label["label"] for label in one}, set(wanted))
        self.assert_close([label["score"] for label in one], [wanted[label["label"]] for label in one])
        many = self.server.post("/predict", {"inputs": [[text["text"]] for text in expected("classify")]}).json()
        self.assertEqual([label["label"] for label in many[1]], [label["label"] for label in one])
        self.assert_close([label["score"] for label in many[1]], [label["score"] for label in one], 1e-6)
        raw = self.server.post("/predict", {"inputs": entry["text"], "raw_scores": True}).json()
        self.assert_close([label["score"] for label in raw], sorted(entry["numbers"], reverse=True))

    def test_inference_client(self):
        client = InferenceClient(model=self.server.url + "/predict")
        answer = client.text_classification(expected("classify")[0]["text"])
        best = answer[0] if isinstance(answer, list) else answer
        wanted = max(softmax(expected("classify")[0]["numbers"]))
        self.assertAlmostEqual(best.score, wanted, delta=1e-4)

    def test_command(self):
        entries = expected("classify")
        command = [PROGRAM, "predict", "--model", self.server.folder / "tiny"]
        text = "\n".join(entry["text"] for entry in entries)
        done = subprocess.run(command, check=True, env=ENVIRONMENT, capture_output=True, text=True, input=text)
        results = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([result["index"] for result in results], [0, 1, 2])
        self.assert_close([results[2]["labels"][0]["score"]], [max(softmax(entries[2]["numbers"]))])


class PackedInt8(TaskTest):
    """The same models in 8 bits: near the reference, and one text has one answer on every way to it."""

    def test_rerankers(self):
        query = expected("rerank")[0]["text"]
        texts = [entry["pair"] for entry in expected("rerank")]
        wanted = [sigmoid(entry["numbers"][0]) for entry in expected("rerank")]
        with TaskServer("rerank", "--precision", "int8") as server:
            manifest = json.loads((server.folder / "tiny" / "weir.json").read_text())
            self.assertEqual((manifest["precision"], manifest["layout"]), ("int8", "packed"))
            ranked = server.post("/rerank", {"query": query, "texts": texts}).json()
            scores = {entry["index"]: entry["score"] for entry in ranked}
            self.assert_close([scores[i] for i in range(len(texts))], wanted, 0.03)
            client = cohere.ClientV2(api_key="none", base_url=server.url)
            answer = client.rerank(model="tiny", query=query, documents=texts)
            self.assertEqual({result.index: result.relevance_score for result in answer.results}, scores)
            for i, text in enumerate(texts):
                alone = server.post("/rerank", {"query": query, "texts": [text]}).json()
                self.assertEqual(alone[0]["score"], scores[i])
                self.assertEqual(server.post("/predict", {"inputs": [[query, text]]}).json()[0][0]["score"], scores[i])
            command = [PROGRAM, "rerank", "--model", server.folder / "tiny", "--query", query]
            done = subprocess.run(command, check=True, env=ENVIRONMENT, capture_output=True, text=True,
                                  input="\n".join(texts))
            lines = [json.loads(line) for line in done.stdout.splitlines()]
            self.assertEqual({line["index"]: line["score"] for line in lines}, scores)

    def test_classifiers(self):
        for name, function in (("classify", softmax), ("multi_label", lambda x: [sigmoid(number) for number in x])):
            with self.subTest(name), TaskServer(name, "--precision", "int8") as server:
                config = json.loads((DATA / "tasks" / name / "config.json").read_text())
                for entry in expected(name):
                    answer = server.post("/predict", {"inputs": entry["text"]}).json()
                    found = {label["label"]: label["score"] for label in answer}
                    wanted = function(entry["numbers"])
                    self.assert_close([found[config["id2label"][str(i)]] for i in range(len(wanted))], wanted, 0.05)
                command = [PROGRAM, "predict", "--model", server.folder / "tiny"]
                done = subprocess.run(command, check=True, env=ENVIRONMENT, capture_output=True, text=True,
                                      input=expected(name)[-1]["text"])
                self.assertEqual(json.loads(done.stdout)["labels"], answer)

    def test_labels_of_tokens(self):
        with TaskServer("token_classify", "--precision", "int8") as server:
            entries = expected("token_classify")
            answer = server.post("/predict", {"inputs": [[entry["text"]] for entry in entries],
                                              "parameters": {"aggregation_strategy": "none"}}).json()
            for entry, pieces in zip(entries, answer, strict=True):
                for piece in pieces:
                    self.assertEqual(entry["text"][piece["start"]:piece["end"]], piece["word"])
            names = ["O", "B-PLACE", "I-PLACE", "B-THING"]
            rows = [softmax(entries[1]["numbers"][i:i + 4]) for i in range(4, len(entries[1]["numbers"]) - 4, 4)]
            clear = [(names[row.index(max(row))], word) for row, word in zip(rows, entries[1]["text"].split(), strict=True)
                     if sorted(row)[-1] - sorted(row)[-2] > 0.1]
            found = [(piece["entity"], piece["word"]) for piece in answer[1]]
            for name, word in clear:
                self.assertEqual(name != "O", (name, word) in found, (name, word, found))

    def test_weights_of_words(self):
        with TaskServer("sparse", "--task", "sparse", "--precision", "int8") as server:
            entries = expected("sparse")
            answer = server.post("/embed_sparse", {"inputs": [entry["text"] for entry in entries]}).json()
            for words, entry in zip(answer, entries, strict=True):
                self.assert_close(dense_weights(words, len(entry["numbers"])), entry["numbers"], 0.3)
            self.assertEqual(server.post("/embed_sparse", {"inputs": entries[1]["text"]}).json()[0], answer[1])

    def test_three_kinds_of_vectors(self):
        with TaskServer("three_vectors", "--pooling", "cls", "--normalize", "--precision", "int8") as server:
            entries = expected("three_vectors")
            dense, multi, lexical = three_vectors(server, [entry["text"] for entry in entries])
            for i, entry in enumerate(entries):
                self.assertGreater(sum(x * y for x, y in zip(dense[i], entry["dense"], strict=True)), 0.99)
                self.assertEqual(len(multi[i]), len(entry["multi"]))
                for found, wanted in zip(multi[i], entry["multi"], strict=True):
                    self.assertGreater(sum(x * y for x, y in zip(found, wanted, strict=True)), 0.98)
                found = {str(word["index"]): word["value"] for word in lexical[i]}
                for word, weight in entry["lexical"].items():
                    self.assertAlmostEqual(found.get(word, 0), weight, delta=0.1)


class OnnxExports(TaskTest):
    def test_reranker(self):
        entries = expected("rerank")
        body = {"query": entries[0]["text"], "texts": [entry["pair"] for entry in entries]}
        with ExportedServer("rerank", "--padded") as server:
            scores = {entry["index"]: entry["score"] for entry in server.post("/rerank", body).json()}
            self.assert_close([scores[i] for i in range(len(entries))], [sigmoid(e["numbers"][0]) for e in entries])
            self.assertIn("reranker", server.get("/info").json()["model_type"])

    def test_classifier(self):
        entry = expected("classify")[0]
        with ExportedServer("classify", "--padded") as server:
            answer = server.post("/predict", {"inputs": entry["text"]}).json()
            self.assert_close([label["score"] for label in answer], sorted(softmax(entry["numbers"]), reverse=True))
            self.assertEqual(set(server.get("/info").json()["model_type"]["classifier"]["label2id"]), {"bad", "so so", "good"})


class OtherTasks(TaskTest):
    def test_labels_that_exclude_each_other_not(self):
        with TaskServer("multi_label") as server:
            entry = expected("multi_label")[0]
            answer = server.post("/predict", {"inputs": entry["text"]}).json()
            scores = {label["label"]: label["score"] for label in answer}
            self.assert_close([scores["dry"], scores["wet"]], [sigmoid(x) for x in entry["numbers"]])

    def test_labels_of_tokens(self):
        names = ["O", "B-PLACE", "I-PLACE", "B-THING"]
        with TaskServer("token_classify") as server:
            entry = expected("token_classify")[1]
            rows = [softmax(entry["numbers"][i:i + 4]) for i in range(4, len(entry["numbers"]) - 4, 4)]
            best = [max(range(4), key=row.__getitem__) for row in rows]
            words = entry["text"].split()
            wanted = [(names[label], word) for label, word in zip(best, words, strict=True) if label > 0]
            body = {"inputs": entry["text"], "parameters": {"aggregation_strategy": "none"}}
            found = server.post("/predict", body).json()
            self.assertEqual([(piece["entity"], piece["word"]) for piece in found], wanted)
            for piece in found:
                self.assertEqual(entry["text"][piece["start"]:piece["end"]], piece["word"])
            client = InferenceClient(model=server.url + "/predict")
            pieces = client.token_classification(entry["text"], aggregation_strategy="simple")
            self.assertEqual({piece.entity_group for piece in pieces}, {name.split("-")[-1] for name, _ in wanted})
            body["parameters"]["aggregation_strategy"] = "mode"
            self.assertEqual(server.post("/predict", body).status, 422)

    def test_weights_of_words(self):
        with TaskServer("sparse", "--task", "sparse") as server:
            entries = expected("sparse")
            answer = server.post("/embed_sparse", {"inputs": [entry["text"] for entry in entries]}).json()
            for words, entry in zip(answer, entries, strict=True):
                self.assert_close(dense_weights(words, len(entry["numbers"])), entry["numbers"])
                self.assertTrue(all(word["value"] != 0 for word in words))

    def test_an_embedding_model_gives_tokens_and_similarities(self):
        with TaskServer("roberta", "--pooling", "mean", "--no-normalize") as server:
            entry = json.loads((DATA / "families" / "roberta" / "expected.json").read_text())[1]
            tokens = server.post("/embed_all", {"inputs": entry["text"]}).json()[0]
            mean = [sum(column) / len(tokens) for column in zip(*tokens, strict=True)]
            self.assert_close(mean, entry["vector"])
            client = InferenceClient(model=server.url + "/similarity")
            scores = client.sentence_similarity(entry["text"], other_sentences=[entry["text"], "water"])
            self.assertAlmostEqual(scores[0], 1, delta=1e-6)
            self.assertLess(scores[1], 1)
            ids = [token["id"] for token in server.post("/tokenize", {"inputs": "the river"}).json()[0]]
            self.assertEqual(server.post("/decode", {"ids": ids}).json(), ["the river"])
            self.assertEqual(server.post("/decode", {"ids": [ids, ids[:2]], "skip_special_tokens": False}).json()[1],
                             "[CLS] the")
            self.assertEqual(server.post("/decode", {"ids": [10 ** 6]}).status, 422)
            self.assertEqual(server.post("/decode", {"ids": "a"}).status, 422)
            for path, body in (("/rerank", {"query": "a", "texts": ["b"]}), ("/predict", {"inputs": [["a", "b"]]})):
                answer = server.post(path, body)
                self.assertEqual(answer.status, 422)
                self.assertIn("embedding", answer.json()["error"])

    def test_dimensions_beyond_the_models_list(self):
        with MatryoshkaServer("roberta", "--pooling", "mean", "--normalize") as server:
            whole = server.post("/embed", {"inputs": "water"}).json()[0]
            cut = server.post("/v1/embeddings", {"input": "water", "dimensions": 8}).json()["data"][0]["embedding"]
            length = math.sqrt(sum(x * x for x in whole[:8]))
            self.assert_close(cut, [x / length for x in whole[:8]], 1e-6)
            for wrong in (0, 5, 12, len(whole) + 1):
                answer = server.post("/v1/embeddings", {"input": "water", "dimensions": wrong})
                self.assertEqual(answer.status, 400, wrong)
                self.assertEqual(answer.json()["error"]["param"], "dimensions")
            self.assertIn("dimensions is 12; model 'tiny' gives: 4, 8",
                          server.post("/v1/embeddings", {"input": "water", "dimensions": 12}).json()["error"]["message"])
            answer = server.post("/embed", {"inputs": "water", "dimensions": 12})
            self.assertEqual(answer.status, 422)
            self.assertIn("gives: 4, 8", answer.json()["error"])

    def test_dense_layers_behind_the_pooling(self):
        entries = expected("dense")
        texts = [entry["text"] for entry in entries]
        for flags, delta in ((["--padded"], 1e-4), (["--precision", "fp32"], 1e-4), (["--precision", "bf16"], 0.02),
                             (["--precision", "int8"], 0.1)):
            with self.subTest(flags=flags), TaskServer("dense", *flags) as server:
                for vector, entry in zip(server.post("/embed", {"inputs": texts}).json(), entries, strict=True):
                    self.assert_close(vector, entry["numbers"], delta)
                self.assertEqual(server.post("/embed_all", {"inputs": texts}).status, 422)

    def test_three_kinds_of_vectors(self):
        with TaskServer("three_vectors", "--pooling", "cls", "--normalize") as server:
            entries = expected("three_vectors")
            dense, multi, lexical = three_vectors(server, [entry["text"] for entry in entries])
            for i, entry in enumerate(entries):
                self.assert_close(dense[i], entry["dense"])
                self.assertEqual(len(multi[i]), len(entry["multi"]))
                for found, wanted in zip(multi[i], entry["multi"], strict=True):
                    self.assert_close(found, wanted, 1e-3)  # of half precision in their file
                found = {str(word["index"]): word["value"] for word in lexical[i]}
                self.assertEqual(set(found), set(entry["lexical"]))
                self.assert_close(list(found.values()), [entry["lexical"][word] for word in found])
            self.check_late_interaction(server, entries)

    def test_tokens_that_are_no_words_have_no_weight(self):
        names = {"cls_token": "[CLS]", "eos_token": "[SEP]", "unk_token": {"content": "[UNK]"}, "pad_token": "[PAD]"}
        body = {"inputs": "the [UNK] river [SEP] water xyzzy"}
        ids = {}
        for files in ({}, {"special_tokens_map.json": names}):
            with TaskServer("three_vectors", "--pooling", "cls", "--normalize", files=files) as server:
                words = server.post("/embed_sparse", body).json()[0]
                ids[len(files)] = {word["index"] for word in words}
        self.assertTrue(ids[0] & {2, 3}, "one of them has a weight, or the test shows nothing")
        self.assertEqual(ids[1], ids[0] - {0, 1, 2, 3})

    def check_late_interaction(self, server, entries):
        """Texts ranked by their multi-vectors: of each of the query's the most similar one, on average."""
        def score(query, text):
            return sum(max(sum(x * y for x, y in zip(a, b, strict=True)) for b in text) for a in query) / len(query)
        wanted = [score(entries[0]["multi"], entry["multi"]) for entry in entries]
        order = sorted(range(len(wanted)), key=lambda i: -wanted[i])
        body = {"query": entries[0]["text"], "texts": [entry["text"] for entry in entries], "return_text": True}
        ranked = server.post("/rerank", body).json()
        self.assertEqual([entry["index"] for entry in ranked], order)
        self.assert_close([entry["score"] for entry in ranked], [wanted[i] for i in order], 1e-3)
        self.assertEqual(ranked[0]["text"], entries[order[0]]["text"])
        client = cohere.ClientV2(api_key="none", base_url=server.url)
        answer = client.rerank(model="tiny", query=body["query"], documents=body["texts"], top_n=1)
        self.assertEqual([result.index for result in answer.results], order[:1])
        refused = server.post("/rerank", {"query": "water", "texts": ["water " * 100], "truncate": False})
        self.assertEqual(refused.status, 422)
        self.assertIn("texts", refused.json()["error"])

    def test_long_texts_in_windows(self):
        """A window is 38 tokens, [CLS] and [SEP] among them; the words here are one token each."""
        words = ("the river opens the gate is high old stone bridge water snow " * 8).split()[:60]
        for pooling in ("mean", "max"):
            flags = ("--long-text", "chunk", "--chunk-overlap", "6", "--chunk-pooling", pooling)
            with TaskServer("roberta", "--pooling", "mean", "--no-normalize", flags=flags) as server:
                whole = server.post("/embed", {"inputs": " ".join(words), "normalize": False}).json()[0]
                parts = [words[:36], words[30:60]]
                vectors = [server.post("/embed", {"inputs": " ".join(part), "normalize": False}).json()[0] for part in parts]
                if pooling == "max":
                    wanted = [max(pair) for pair in zip(*vectors, strict=True)]
                else:
                    weights = [len(part) + 2 for part in parts]
                    wanted = [sum(w * x for w, x in zip(weights, pair, strict=True)) / sum(weights)
                              for pair in zip(*vectors, strict=True)]
                self.assert_close(whole, wanted, 1e-6)
                both = server.post("/embed", {"inputs": ["water", " ".join(words)]}).json()
                self.assertAlmostEqual(sum(x * x for x in both[1]), 1, delta=1e-5)
                self.assertEqual(both[0], server.post("/embed", {"inputs": "water"}).json()[0])
                self.assertEqual(server.post("/embed", {"inputs": " ".join(words), "truncate": False}).status, 422)


if __name__ == "__main__":
    unittest.main()
