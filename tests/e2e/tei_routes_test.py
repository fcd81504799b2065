"""TEI's routes, bad requests and hostile connections against `weir serve`."""

import socket
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from weir_server import EXPECTED, Server, cosine


class TeiRoutes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(Server("--header-timeout", "300ms", "--max-answer-tokens", "10000"))

    def test_embed(self):
        answer = self.server.post("/embed", {"inputs": [entry["text"] for entry in EXPECTED]})
        self.assertEqual(answer.status, 200, answer.body)
        for vector, entry in zip(answer.json(), EXPECTED, strict=True):
            self.assertGreater(cosine(vector, entry["vector"]), 0.99999, entry["text"])
        self.assertGreater(int(answer.headers["x-compute-tokens"]), len(EXPECTED))
        self.assertEqual(int(answer.headers["x-compute-characters"]), sum(len(entry["text"]) for entry in EXPECTED))

    def test_a_prompt_is_put_before_the_text(self):
        text = "how high is the water level"
        prompted = self.server.post("/embed", {"inputs": text, "prompt_name": "query"}).json()
        written_out = self.server.post("/embed", {"inputs": "query: " + text}).json()
        self.assertEqual(prompted, written_out)
        unknown = self.server.post("/embed", {"inputs": text, "prompt_name": "nope"})
        self.assertEqual(unknown.status, 422)
        self.assertIn("query", unknown.json()["error"])

    def test_long_texts_are_cut_or_refused(self):
        text = "the river " * 100_000
        self.assertEqual(self.server.post("/embed", {"inputs": text}).status, 200)
        refused = self.server.post("/embed", {"inputs": text, "truncate": False})
        self.assertEqual(refused.status, 422)
        self.assertIn("64", refused.json()["error"])

    def test_tokenize(self):
        tokens = self.server.post("/tokenize", {"inputs": "the river"}).json()[0]
        self.assertEqual([token["special"] for token in tokens], [True, False, False, True])
        self.assertEqual([token["text"] for token in tokens], ["[CLS]", "the", "river", "[SEP]"])
        self.assertEqual((tokens[2]["start"], tokens[2]["stop"]), (4, 9))
        self.assertIsNone(tokens[0]["start"])
        bare = self.server.post("/tokenize", {"inputs": ["the river"], "add_special_tokens": False}).json()[0]
        self.assertEqual([token["text"] for token in bare], ["the", "river"])
        prompted = self.server.post("/tokenize", {"inputs": "river", "prompt_name": "query"}).json()[0]
        self.assertEqual(prompted[-2]["text"], "river")

    def test_tokenize_lists_a_bounded_number_of_tokens(self):
        self.assertEqual(len(self.server.post("/tokenize", {"inputs": "a " * 9_998}).json()[0]), 10_000)
        for inputs in ("a " * 9_999, ["a " * 5_000] * 2, ["a"] * 2_000 + ["a " * 5_000]):
            refused = self.server.post("/tokenize", {"inputs": inputs})
            self.assertEqual(refused.status, 413)
            self.assertIn("--max-answer-tokens", refused.json()["error"])

    def test_info(self):
        info = self.server.get("/info").json()
        self.assertEqual(info["model_id"], "tiny")
        self.assertEqual(info["max_input_length"], 64)
        self.assertEqual(info["model_type"], {"embedding": {"pooling": "mean"}})
        self.assertEqual(info["max_concurrent_requests"], 200)

    def test_bad_requests_name_what_is_wrong_and_do_no_harm(self):
        for body, status, says in [
            (b"{", 400, "JSON"),
            (b'{"inputs": "\xff"}', 400, "UTF-8"),
            (b'{"inputs": 3}', 422, "'inputs'"),
            (b'{"inputs": []}', 400, "'inputs'"),
            (b'{"inputs": [""]}', 400, "inputs[0]"),
            (b'{"inputs": [[99999999]]}', 422, "inputs: the id 99999999"),
            (b'{"inputs": [[5], [99999999]]}', 422, "inputs[1]: the id 99999999"),
            (b'{"inputs": "' + b"x" * 10_000_000 + b'"}', 413, "8388608"),
        ]:
            with self.subTest(body[:30]):
                answer = self.server.post("/embed", body)
                self.assertEqual(answer.status, status, answer.body[:300])
                self.assertIn(says, answer.json()["error"])
        self.assertEqual(self.server.post("/embed", {"inputs": "a"}).status, 200)
        self.assertEqual(self.server.get("/nowhere").status, 404)
        self.assertEqual(self.server.request("PUT", "/embed").status, 405)

    def test_half_a_request_and_silence(self):
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=30) as client:
            client.sendall(b"POST /embed HTTP/1.1\r\nHost: x\r\nConte")
            received = b""
            while chunk := client.recv(4096):
                received += chunk
        self.assertTrue(received.startswith(b"HTTP/1.1 408 "), received)


if __name__ == "__main__":
    unittest.main()
