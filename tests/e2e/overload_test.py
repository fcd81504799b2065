"""More work than the server takes: refusals, deadlines, and headers that tell the truth."""

import sys
import threading
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import openai
from weir_server import Server, large_inputs


class Overload(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(Server("--permits", "1", "--waiting-room", "1"))
        cls.body = {"inputs": large_inputs()}

    def test_what_does_not_fit_is_refused_at_once(self):
        with ThreadPoolExecutor(16) as pool:
            answers = list(pool.map(lambda _: self.server.post("/embed", self.body), range(16)))
        statuses = [answer.status for answer in answers]
        self.assertEqual(set(statuses), {200, 429}, statuses)
        for answer in answers:
            if answer.status == 429:
                self.assertGreaterEqual(int(answer.headers["Retry-After"]), 1)
                self.assertEqual(answer.json()["error_type"], "Overloaded")
        self.assertEqual(self.server.post("/embed", {"inputs": "a"}).status, 200)

    def test_the_openai_client_sees_a_rate_limit(self):
        client = openai.OpenAI(base_url=f"http://127.0.0.1:{self.server.port}/v1", api_key="any", max_retries=0)

        def ask(_):
            try:
                client.embeddings.create(model="tiny", input=self.body["inputs"])
                return None
            except openai.APIStatusError as error:
                return type(error)

        with ThreadPoolExecutor(16) as pool:
            self.assertEqual(set(pool.map(ask, range(16))), {None, openai.RateLimitError})

    def test_a_deadline_that_passes_is_504(self):
        answer = self.server.post("/embed", self.body, {"X-Request-Timeout-Ms": "1"})
        self.assertEqual(answer.status, 504, answer.body[:200])
        self.assertIn("Retry-After", answer.headers)
        client = openai.OpenAI(base_url=f"http://127.0.0.1:{self.server.port}/v1", api_key="any", max_retries=0)
        with self.assertRaises(openai.InternalServerError) as late:
            client.embeddings.create(model="tiny", input=self.body["inputs"], extra_headers={"X-Request-Timeout-Ms": "1"})
        self.assertEqual(late.exception.status_code, 504)
        self.assertEqual(self.server.post("/embed", {"inputs": "a"}, {"X-Request-Timeout-Ms": "never"}).status, 422)

    def test_the_headers_equal_the_metrics(self):
        """The headers of /metrics and its body are read one after the other: only a change between the two may differ."""
        done = threading.Event()

        def load():
            while not done.is_set():
                self.server.post("/embed", self.body)

        threads = [threading.Thread(target=load) for _ in range(3)]
        for thread in threads:
            thread.start()
        samples = []
        try:
            while len([sample for sample in samples if sample[0] != (0, 0)]) < 30 and len(samples) < 2000:
                answer = self.server.get("/metrics")
                text = answer.body.decode()
                headers = (int(answer.headers["X-Current-Concurrency"]), int(answer.headers["X-Waiting-Queue-Size"]))
                metrics = (self.server.metric("weir_admission_concurrency", text),
                           self.server.metric("weir_admission_waiting", text))
                samples.append((headers, metrics))
        finally:
            done.set()
            for thread in threads:
                thread.join()
        self.assertIn(1, {headers[0] for headers, _ in samples}, "the load was never seen")
        for headers, _ in samples:
            self.assertLessEqual(headers[0], 1)
            self.assertLessEqual(headers[1], 1)
        equal = [headers == metrics for headers, metrics in samples]
        self.assertGreaterEqual(sum(equal), 0.9 * len(equal), samples)
        answer = self.server.get("/health")
        self.assertEqual((answer.headers["X-Current-Concurrency"], answer.headers["X-Waiting-Queue-Size"]), ("0", "0"))


if __name__ == "__main__":
    unittest.main()
