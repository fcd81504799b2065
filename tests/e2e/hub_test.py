"""`weir import org/name` and `weir serve --model org/name` against a hub on this machine, and the cache they share with
Python's huggingface_hub."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

from e2e.hub_server import COMMIT, PROXIED, TOKEN, HubServer
from e2e.weir_server import ENVIRONMENT, PROGRAM, ROOT, TINY_BERT, free_port

NEEDED = sorted(str(path.relative_to(TINY_BERT)) for path in TINY_BERT.rglob("*.json")
                if path.name != "expected.json") + ["model.safetensors"]
MODEL = "org/tiny"
DATA = ROOT / "tests" / "data"


def hub_files():
    files = {str(path.relative_to(TINY_BERT)): path.read_bytes() for path in TINY_BERT.rglob("*") if path.is_file()}
    return files | {"pytorch_model.bin": b"not wanted", "README.md": b"# tiny"}


class HubTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="weir-hub-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.hub = self.enterContext(HubServer(MODEL, hub_files()))
        self.cache = self.folder / "cache"
        self.repository = self.cache / "models--org--tiny"

    def environment(self, **more):
        mine = {"HF_ENDPOINT": self.hub.endpoint(), "HF_HUB_CACHE": str(self.cache), "HF_HOME": str(self.folder / "home"),
                "HOME": str(self.folder), "XDG_CACHE_HOME": str(self.folder / "xdg"), "NO_PROXY": "*"}
        return ENVIRONMENT | mine | more

    def start(self, target="bundle", model=MODEL, **environment):
        return subprocess.Popen([PROGRAM, "import", model, self.folder / target], env=self.environment(**environment),
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run_import(self, *arguments, **environment):
        process = self.start(*arguments, **environment)
        output, errors = process.communicate(timeout=120)
        return process.returncode, output, errors

    def assert_imported(self, *arguments, **environment):
        status, _, errors = self.run_import(*arguments, **environment)
        self.assertEqual(status, 0, errors)
        return errors

    def assert_refused(self, *words, model=MODEL, **environment):
        status, _, errors = self.run_import("refused", model, **environment)
        self.assertEqual(status, 1, errors)
        for word in words:
            self.assertIn(word, errors)
        self.assertFalse((self.folder / "refused").exists())

    def weights(self):
        return len(self.hub.files["model.safetensors"])


class Fetching(HubTest):
    def test_takes_what_is_needed_and_nothing_else(self):
        self.assert_imported(HF_TOKEN=TOKEN)
        files = {str(path.relative_to(self.repository / "snapshots" / COMMIT)) for path in
                 (self.repository / "snapshots" / COMMIT).rglob("*") if path.is_file()}
        self.assertEqual(files, set(NEEDED))
        self.assertEqual(self.hub.fetched("storage"), ["/model.safetensors"])
        manifest = json.loads((self.folder / "bundle" / "weir.json").read_text())
        self.assertIn(f"{MODEL}@{COMMIT}", json.dumps(manifest))

    def test_the_token_stays_with_the_hub(self):
        self.hub.needs_token = True
        self.assert_imported(HF_TOKEN=TOKEN)
        for headers in self.hub.headers_of("/resolve/"):
            self.assertEqual(headers.get("Authorization"), f"Bearer {TOKEN}")
        with self.hub.lock:
            storage = [headers for _, role, _, headers in self.hub.requests if role == "storage"]
        self.assertTrue(storage)
        self.assertFalse([headers for headers in storage if "Authorization" in headers])

    def test_asks_for_nothing_twice(self):
        self.assert_imported()
        before = len(self.hub.fetched())
        self.assert_imported("again")
        self.assertEqual(len(self.hub.fetched()), before)
        self.assert_imported("revision", MODEL + "@v1")
        self.assertEqual(len(self.hub.fetched()), before)
        self.assertEqual((self.repository / "refs" / "v1").read_text(), COMMIT)

    def test_works_without_a_hub_once_it_is_in_the_cache(self):
        self.assert_imported()
        self.assert_imported("offline", HF_HUB_OFFLINE="1", HF_ENDPOINT="http://127.0.0.1:1")
        errors = self.assert_imported("unreachable", HF_ENDPOINT="http://127.0.0.1:1")
        self.assertIn("in the cache", errors)
        self.assert_refused("not in the cache", "HF_HUB_OFFLINE", model="org/other", HF_HUB_OFFLINE="1")

    def test_through_tls(self):
        certificate = self.folder / "certificate.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", certificate, "-out",
                        self.folder / "public.pem", "-days", "2", "-subj", "/CN=localhost", "-addext",
                        "subjectAltName=DNS:localhost"], check=True, capture_output=True)
        certificate.write_text(certificate.read_text() + (self.folder / "public.pem").read_text())
        files = {name: content for name, content in hub_files().items() if not name.endswith((".safetensors", ".bin"))}
        files["tf_model.h5"] = b"not wanted"
        with HubServer(MODEL, files, certificate) as secure:
            endpoint = {"HF_ENDPOINT": secure.endpoint()}
            self.assert_refused("TLS", "certificate", **endpoint)
            # All is well with the connection: what is missing are weights.
            trusted = {"REQUESTS_CA_BUNDLE": str(self.folder / "public.pem")}
            self.assert_refused("tf_model.h5", **trusted, **endpoint)
            through = {"HTTPS_PROXY": f"127.0.0.1:{self.hub.port}", "NO_PROXY": ""}
            self.assert_refused("tf_model.h5", **through, **trusted, **endpoint)
            self.assertEqual(self.hub.requests[0][0::2][:2], ("CONNECT", f"localhost:{secure.port}"))

    def test_through_a_proxy(self):
        self.assert_imported(HF_ENDPOINT=PROXIED, HTTP_PROXY=self.hub.endpoint(), NO_PROXY="127.0.0.1")
        self.assertEqual(self.hub.fetched("storage"), ["/model.safetensors"])


class Trouble(HubTest):
    def test_goes_on_where_a_connection_broke(self):
        for cut in (1000, 2000):
            self.hub.faults.append({"part": "/model.safetensors", "role": "storage", "methods": ("GET",), "cut": cut})
        errors = self.assert_imported()
        self.assertIn("trying again", errors)
        ranges = [headers.get("Range") for method, role, path, headers in self.hub.requests if role == "storage"]
        self.assertIn("bytes=1000-", ranges)
        self.assertIn("bytes=3000-", ranges)

    def test_goes_on_after_an_interruption(self):
        begun, hold = threading.Event(), threading.Event()
        self.hub.faults.append({"part": "/tokenizer.json", "methods": ("GET",), "cut": 100, "begun": begun, "hold": hold})
        process = self.start()
        self.assertTrue(begun.wait(30))
        # The bytes that were sent may still be on their way.
        while not [path for path in self.repository.glob("blobs/*.incomplete") if path.stat().st_size == 100]:
            self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
        hold.set()
        self.assertEqual(process.returncode, 130)
        self.assertFalse((self.folder / "bundle").exists())
        self.assert_imported()
        self.assertIn("bytes=100-", [headers.get("Range") for headers in self.hub.headers_of("tokenizer.json")])

    def test_two_at_once_fetch_a_file_once(self):
        processes = [self.start(f"bundle{i}") for i in range(3)]
        for process in processes:
            _, errors = process.communicate(timeout=120)
            self.assertEqual(process.returncode, 0, errors)
        self.assertEqual(self.hub.fetched("storage"), ["/model.safetensors"])

    def test_damaged_bytes_are_not_taken(self):
        self.hub.faults.append({"part": "/model.safetensors", "role": "storage", "damage": True, "times": "always"})
        self.assert_refused("model.safetensors", "checksum")
        self.assertFalse(list(self.repository.glob("blobs/*.incomplete")))
        self.hub.faults.clear()
        self.assert_imported()

    def test_a_damaged_beginning_is_fetched_again(self):
        self.assert_imported()
        blob = next(path for path in self.repository.glob("blobs/*") if path.stat().st_size == self.weights())
        blob.rename(f"{blob}.incomplete")
        with open(f"{blob}.incomplete", "r+b") as file:
            file.write(b"xx")
            file.truncate(500)
        self.assertIn("checksum", self.assert_imported("again"))

    def test_says_what_the_hub_refuses(self):
        self.assert_refused("org/none", "no such model", model="org/none")
        self.assert_refused("revision", model=MODEL + "@v2")
        self.hub.needs_token = True
        self.assert_refused("HF_TOKEN", "granted")

    def test_waits_as_long_as_the_hub_asks_for(self):
        self.hub.faults.append({"part": "/api/models/", "status": 429, "headers": {"Retry_After": "0"}})
        self.hub.faults.append({"part": "/tokenizer.json", "status": 503, "headers": {"Retry_After": "0"}})
        self.assertIn("trying again", self.assert_imported())

    def test_does_not_wait_for_ever(self):
        self.hub.faults.append({"part": "/api/models/", "status": 429, "headers": {"Retry_After": "100000"}})
        self.assert_refused("busy", "429")

    def test_answers_that_make_no_sense(self):
        self.hub.faults.append({"part": "/api/models/", "status": 200})
        self.assert_refused("not JSON")
        self.hub.faults.append({"part": "/config.json", "methods": ("HEAD",), "status": 200, "headers": {"ETag": '"../../x"'}})
        self.assert_refused("ETag")
        self.hub.faults.append({"part": "/resolve/", "status": 302, "headers": {"Location": "/resolve/loop"}, "times": "always"})
        self.assert_refused("again and again")


class SharedCache(HubTest):
    CLIENT = ("import sys; from huggingface_hub import hf_hub_download\n"
              "for name in sys.argv[2:]: print(hf_hub_download(sys.argv[1], name))\n")

    def python(self, files, **environment):
        return subprocess.run([sys.executable, "-c", self.CLIENT, MODEL, *files], text=True, capture_output=True,
                              env=self.environment(HF_HUB_DISABLE_XET="1", HF_HUB_DISABLE_TELEMETRY="1", **environment))

    def test_python_reads_what_weir_fetched(self):
        self.assert_imported()
        run = self.python(NEEDED, HF_HUB_OFFLINE="1")
        self.assertEqual(run.returncode, 0, run.stderr)
        for name, path in zip(NEEDED, run.stdout.splitlines(), strict=True):
            self.assertEqual(Path(path).read_bytes(), self.hub.files[name])
        before = len(self.hub.fetched())
        self.assertEqual(self.python(NEEDED).returncode, 0)
        self.assertEqual(len(self.hub.fetched()), before)

    def test_weir_reads_what_python_fetched(self):
        run = self.python(NEEDED)
        self.assertEqual(run.returncode, 0, run.stderr)
        before = len(self.hub.fetched())
        self.assert_imported()
        self.assertEqual(len(self.hub.fetched()), before)
        self.assert_imported("offline", HF_HUB_OFFLINE="1")


class Serving(HubTest):
    def serve(self, **environment):
        process = subprocess.Popen([PROGRAM, "serve", "--model", f"small={MODEL}", "--port", str(free_port())], text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.environment(**environment))
        line = process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=60)
        return line, errors

    def test_fetches_imports_and_serves(self):
        line, errors = self.serve()
        self.assertIn("ready on", line, errors)
        self.assertIn("small", line)
        self.assertTrue((self.folder / "xdg/weir/bundles" / f"org--tiny@{COMMIT[:12]}" / "weir.json").exists())
        line, errors = self.serve(HF_HUB_OFFLINE="1")
        self.assertIn("ready on", line, errors)
        self.assertNotIn("making a bundle", errors)


    def run_offline(self, command, *arguments, text="the river\n", status=0, **environment):
        run = subprocess.run([PROGRAM, command, "--model", MODEL, *arguments], input=text, capture_output=True, text=True,
                             env=self.environment(**environment), timeout=120)
        self.assertEqual(run.returncode, status, run.stderr)
        return run.stdout, run.stderr

    def test_embeds(self):
        output, errors = self.run_offline("embed")
        self.assertIn("making a bundle", errors)
        vector = json.loads(output)["embedding"]
        again, errors = self.run_offline("embed", HF_HUB_OFFLINE="1")
        self.assertNotIn("making a bundle", errors)
        self.assertEqual(json.loads(again)["embedding"], vector)
        self.assertEqual(self.hub.fetched("storage"), ["/model.safetensors"])

    def test_a_folder_of_that_name_comes_first(self):
        (self.folder / MODEL).mkdir(parents=True)
        run = subprocess.run([PROGRAM, "embed", "--model", MODEL], input="a", capture_output=True, text=True,
                             env=self.environment(), cwd=self.folder)
        self.assertEqual(run.returncode, 1)
        self.assertIn("weir.json", run.stderr)
        self.assertFalse(self.hub.requests)

    def test_embed_fails_as_the_hub_says(self):
        self.hub.needs_token = True
        _, errors = self.run_offline("embed", status=1)
        self.assertIn("HF_TOKEN", errors)

    def test_interrupted_while_it_fetches(self):
        begun, hold = threading.Event(), threading.Event()
        self.hub.faults.append({"part": "/tokenizer.json", "methods": ("GET",), "cut": 100, "begun": begun, "hold": hold})
        for command in (["embed"], ["rerank", "--query", "water"]):
            with self.subTest(command[0]):
                process = subprocess.Popen([PROGRAM, *command, "--model", MODEL], stdin=subprocess.DEVNULL, text=True,
                                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.environment())
                self.assertTrue(begun.wait(30))
                process.send_signal(signal.SIGINT)
                _, errors = process.communicate(timeout=30)
                self.assertEqual(process.returncode, 130, errors)
                begun.clear()
                self.hub.faults.append({"part": "/tokenizer.json", "methods": ("GET",), "cut": 100, "begun": begun,
                                        "hold": hold})
        hold.set()


class Scoring(HubTest):
    def use(self, name):
        """The hub's files become those of a tiny model of tests/data/tasks."""
        self.hub.files = {path.name: path.read_bytes() for path in (DATA / "tasks" / name).iterdir()}
        self.hub.files["tokenizer.json"] = (DATA / "families" / "tokenizer.json").read_bytes()
        self.hub.files["tokenizer_config.json"] = b'{"model_max_length": 38}'

    def run_offline(self, *arguments):
        run = subprocess.run([PROGRAM, *arguments, "--model", MODEL], input="the river\nsnow\n", capture_output=True,
                             text=True, env=self.environment(), timeout=120)
        self.assertEqual(run.returncode, 0, run.stderr)
        return [json.loads(line) for line in run.stdout.splitlines()]

    def test_reranks(self):
        self.use("rerank")
        lines = self.run_offline("rerank", "--query", "water")
        self.assertEqual(sorted(line["text"] for line in lines), ["snow", "the river"])

    def test_predicts(self):
        self.use("classify")
        lines = self.run_offline("predict", "--bundle-cache", str(self.folder / "bundles"))
        self.assertEqual([line["index"] for line in lines], [0, 1])
        self.assertTrue(list((self.folder / "bundles").glob("*/weir.json")))


class TorchFiles(HubTest):
    def test_a_repository_with_nothing_but_pytorchs_form(self):
        self.assert_imported()
        del self.hub.files["model.safetensors"]
        self.hub.files["pytorch_model.bin"] = (DATA / "torch" / "pytorch_model.bin").read_bytes()
        shutil.rmtree(self.cache)
        self.assert_imported("torch")
        self.assertEqual(self.hub.fetched("storage")[-1], "/pytorch_model.bin")
        weights = [(self.folder / name / "model.weights").read_bytes() for name in ("bundle", "torch")]
        self.assertEqual(*weights)

    def test_what_is_no_such_file(self):
        del self.hub.files["model.safetensors"]
        self.assert_refused("pytorch_model.bin", "zip archive")


if __name__ == "__main__":
    unittest.main()
