"""A running `weir serve` for the tests: imports the tiny BERT once, starts, waits until ready, stops."""

import contextlib
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(os.environ["WEIR_SOURCE_DIR"])
PROGRAM = os.environ["WEIR_PROGRAM"]
TINY_BERT = ROOT / "tests" / "data" / "tiny-bert"
EXPECTED = [entry for entry in json.loads((TINY_BERT / "expected.json").read_text()) if "text" in entry]
START_SECONDS = 60
# The test's own variables are no settings of the server, which refuses names that it does not know.
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("WEIR_") or name == "WEIR_ISA"}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def cosine(a, b):
    dot = sum(x * y for x, y in zip(a, b, strict=True))
    return dot / (sum(x * x for x in a) ** 0.5 * sum(y * y for y in b) ** 0.5)


class Answer:
    """A response that has been read whole."""

    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()

    def json(self):
        return json.loads(self.body)


class Server:
    """`with Server("--permits", "1") as server: …`; the model is called `tiny`."""

    def __init__(self, *flags, port=None):
        self.port = port or free_port()
        self.flags = flags
        self.folder = None
        self.process = None
        self.log = None

    def __enter__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="weir-e2e-"))
        try:
            bundle = self.folder / "tiny"
            self.import_model(bundle)
            self.log = open(self.folder / "log", "w+b")
            command = [PROGRAM, "serve", "--model", bundle, "--port", str(self.port), *self.flags]
            self.process = subprocess.Popen(command, stdout=self.log, stderr=subprocess.STDOUT, env=ENVIRONMENT)
            self.wait_ready()
        except BaseException:
            self.__exit__()
            raise
        return self

    def import_model(self, bundle):
        subprocess.run([PROGRAM, "import", TINY_BERT, bundle, "--quiet"], check=True, env=ENVIRONMENT)

    def __exit__(self, *_):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if self.log:
            self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def wait_ready(self):
        end = time.monotonic() + START_SECONDS
        while True:
            if self.process.poll() is not None:
                raise AssertionError(f"weir serve ended with {self.process.returncode}:\n{self.log_text()}")
            with contextlib.suppress(OSError):
                if self.get("/health/ready").status == 200:
                    return
            if time.monotonic() > end:
                raise AssertionError(f"weir serve was not ready after {START_SECONDS} s:\n{self.log_text()}")
            time.sleep(0.02)

    def log_text(self):
        return (self.folder / "log").read_text(errors="replace")

    def request(self, method, path, body=None, headers=None, timeout=60):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            payload = json.dumps(body) if isinstance(body, (dict, list)) else body
            connection.request(method, path, payload, headers or {})
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def get(self, path, headers=None):
        return self.request("GET", path, headers=headers)

    def post(self, path, body, headers=None):
        return self.request("POST", path, body, headers)

    def metric(self, name, text=None):
        """The value of a metric without labels."""
        text = text if text is not None else self.get("/metrics").body.decode()
        for line in text.splitlines():
            if line.startswith(name + " "):
                return float(line.split()[-1])
        raise AssertionError(f"no metric {name} in\n{text}")

    def terminate(self, timeout=60):
        """SIGTERM; the exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout)


def large_inputs(texts=512):
    """Enough work to be seen while it runs."""
    sentence = " ".join(["the river carries snow water in spring"] * 9)
    return [f"{sentence} {i}" for i in range(texts)]
