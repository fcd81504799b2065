"""Starting, draining and stopping `weir serve`."""

import subprocess
import sys
import threading
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from weir_server import ENVIRONMENT, PROGRAM, Server, large_inputs


class Lifecycle(unittest.TestCase):
    def test_health_says_what_is_there(self):
        with Server() as server:
            for path in ("/health", "/health/ready"):
                self.assertEqual(server.get(path).json(), {"status": "ready", "models": [{"name": "tiny", "state": "ready"}]})
            self.assertEqual(server.get("/health/live").json(), {"status": "live"})

    def test_sigterm_lets_requests_finish_and_exits_0(self):
        with Server() as server:
            answers = []

            def ask():
                answers.append(server.post("/embed", {"inputs": large_inputs(1024)}))

            thread = threading.Thread(target=ask)
            thread.start()
            while thread.is_alive() and server.get("/health/live").headers["X-Current-Concurrency"] == "0":
                pass
            self.assertEqual(server.terminate(), 0, server.log_text())
            thread.join()
            self.assertEqual(answers[0].status, 200)
            self.assertEqual(len(answers[0].json()), 1024)

    def test_an_idle_server_stops_at_once(self):
        with Server() as server:
            self.assertEqual(server.terminate(timeout=10), 0, server.log_text())

    def test_a_port_in_use_is_named(self):
        with Server() as server:
            command = [PROGRAM, "serve", "--model", server.folder / "tiny", "--port", str(server.port)]
            second = subprocess.run(command, capture_output=True, text=True, timeout=60, env=ENVIRONMENT)
            self.assertEqual(second.returncode, 1, second.stderr)
            self.assertIn(str(server.port), second.stderr)
            self.assertEqual(server.get("/health").status, 200)


if __name__ == "__main__":
    unittest.main()
