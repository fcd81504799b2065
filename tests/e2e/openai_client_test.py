"""The official `openai` package, unmodified, against `weir serve`."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import openai
from weir_server import EXPECTED, Server, cosine


class OpenAiClient(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(Server())
        cls.client = openai.OpenAI(base_url=f"http://127.0.0.1:{cls.server.port}/v1", api_key="any", max_retries=0)

    def test_one_text_in_the_clients_own_encoding(self):
        for entry in EXPECTED:
            answer = self.client.embeddings.create(model="tiny", input=entry["text"])
            self.assertEqual(len(answer.data), 1)
            self.assertGreater(cosine(answer.data[0].embedding, entry["vector"]), 0.99999, entry["text"])

    def test_a_list_comes_back_in_order(self):
        answer = self.client.embeddings.create(model="tiny", input=[entry["text"] for entry in EXPECTED])
        self.assertEqual([data.index for data in answer.data], list(range(len(EXPECTED))))
        for data, entry in zip(answer.data, EXPECTED, strict=True):
            self.assertGreater(cosine(data.embedding, entry["vector"]), 0.99999, entry["text"])
        self.assertEqual(answer.model, "tiny")
        self.assertGreater(answer.usage.prompt_tokens, len(EXPECTED))
        self.assertEqual(answer.usage.prompt_tokens, answer.usage.total_tokens)

    def test_floats_are_the_same_numbers_as_base64(self):
        text = EXPECTED[0]["text"]
        base64 = self.client.embeddings.create(model="tiny", input=text).data[0].embedding
        floats = self.client.embeddings.create(model="tiny", input=text, encoding_format="float").data[0].embedding
        for a, b in zip(base64, floats, strict=True):
            self.assertAlmostEqual(a, b, delta=1e-7)

    def test_dimensions_cut_and_normalize(self):
        answer = self.client.embeddings.create(model="tiny", input="the river", dimensions=8)
        vector = answer.data[0].embedding
        self.assertEqual(len(vector), 8)
        self.assertAlmostEqual(sum(x * x for x in vector), 1, places=5)

    def test_token_ids_are_texts(self):
        tokens = self.server.post("/tokenize", {"inputs": "the river", "add_special_tokens": False}).json()[0]
        ids = [token["id"] for token in tokens]
        by_text = self.client.embeddings.create(model="tiny", input="the river").data[0].embedding
        by_ids = self.client.embeddings.create(model="tiny", input=[ids, ids])
        self.assertEqual(len(by_ids.data), 2)
        self.assertGreater(cosine(by_text, by_ids.data[1].embedding), 0.999999)

    def test_the_models_are_listed(self):
        self.assertEqual([model.id for model in self.client.models.list()], ["tiny"])
        self.assertEqual(self.client.models.retrieve("tiny").id, "tiny")

    def test_errors_arrive_as_the_clients_own_exceptions(self):
        with self.assertRaises(openai.NotFoundError) as unknown:
            self.client.embeddings.create(model="nope", input="a")
        self.assertEqual(unknown.exception.code, "model_not_found")
        self.assertEqual(unknown.exception.param, "model")
        with self.assertRaises(openai.BadRequestError) as empty:
            self.client.embeddings.create(model="tiny", input=["a", ""])
        self.assertEqual(empty.exception.param, "input[1]")
        with self.assertRaises(openai.BadRequestError):
            self.client.embeddings.create(model="tiny", input="a", dimensions=100000)
        with self.assertRaises(openai.NotFoundError):
            self.client.models.retrieve("nope")

    def test_a_request_id_comes_back(self):
        answer = self.client.embeddings.with_raw_response.create(
            model="tiny", input="a", extra_headers={"X-Request-ID": "e2e-1"})
        self.assertEqual(answer.headers["x-request-id"], "e2e-1")
        self.assertIn("request_id=e2e-1", self.server.log_text())


class WithAKey(unittest.TestCase):
    def test_only_its_holder_is_served(self):
        with Server("--api-key", "right-key") as server:
            base_url = f"http://127.0.0.1:{server.port}/v1"
            with self.assertRaises(openai.AuthenticationError):
                openai.OpenAI(base_url=base_url, api_key="wrong-key", max_retries=0).models.list()
            openai.OpenAI(base_url=base_url, api_key="right-key", max_retries=0).models.list()
            self.assertEqual(server.get("/health").status, 200)
            self.assertNotIn("right-key", server.log_text())
            self.assertNotIn("wrong-key", server.log_text())


if __name__ == "__main__":
    unittest.main()
