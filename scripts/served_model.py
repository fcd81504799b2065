"""A bundle served by `weir serve` on a free port, for the scripts that hold models to their own libraries."""

import http.client
import json
import socket
import subprocess
import time


class ServedModel:
    def __init__(self, weir, bundle, *flags):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.command = [weir, "serve", bundle, "--port", str(self.port), "--log-level", "warn", *flags]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL)
        while self.process.poll() is None:
            try:
                if self.request("GET", "/health")[0] == 200:
                    return self
            except OSError:
                pass
            time.sleep(0.1)
        raise SystemExit("the server ended")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def request(self, method, path, body=None):
        """Status and JSON of an answer; None where it is empty."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        connection.request(method, path, json.dumps(body) if body else None)
        response = connection.getresponse()
        return response.status, json.loads(response.read() or b"null")

    def answer(self, path, body):
        status, answer = self.request("POST", path, body)
        if status != 200:
            raise SystemExit(f"{path}: {status} {answer}")
        return answer
