"""`weir serve` as a process: settings from everywhere, exit statuses, signals, the ready line."""
import json
import os
import re
import signal
import socket
import subprocess
import tempfile
import unittest
import urllib.error
import urllib.request

PROGRAM = os.environ["WEIR_PROGRAM"]
SOURCE = os.environ["WEIR_SOURCE_DIR"]
LIMIT_S = 60


def environment(**variables):
    """This process's, without settings of weir but with `variables`."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("WEIR_")}
    return {**clean, **variables}


def run(*arguments, **variables):
    return subprocess.run([PROGRAM, "serve", *arguments], env=environment(**variables), capture_output=True, text=True,
                          timeout=LIMIT_S, check=False)


class Settings(unittest.TestCase):
    def refused(self, status, words, *arguments, **variables):
        result = run(*arguments, **variables)
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertIn("weir serve: error: ", result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)

    def test_help_shows_every_setting_even_when_the_environment_is_wrong(self):
        result = run("--help", WEIR_NONSENSE="1")
        self.assertEqual(result.returncode, 0)
        with open(os.path.join(SOURCE, "docs", "settings.md"), encoding="utf-8") as page:
            rows = re.findall(r"^\| `(--[a-z-]+)` \| `(WEIR_[A-Z_]+)`", page.read(), re.MULTILINE)
        self.assertGreater(len(rows), 30)
        for flag, variable in rows:
            self.assertRegex(result.stdout, rf"(?m)^  {flag} .* {variable} .* default: ")

    def test_the_page_of_documentation_is_what_the_program_prints(self):
        with open(os.path.join(SOURCE, "docs", "settings.md"), encoding="utf-8") as page:
            self.assertEqual(run("--help-markdown").stdout, page.read())

    def test_wrong_settings_are_named_with_their_source(self):
        self.refused(2, ["--prot", "did you mean --port?"], "--prot", "1")
        self.refused(2, ["--max-wait: '60'", "duration"], "--max-wait", "60")
        self.refused(2, ["WEIR_PERMITS: 'many'"], WEIR_PERMITS="many")
        self.refused(2, ["WEIR_PERMIT", "did you mean WEIR_PERMITS?"], WEIR_PERMIT="1")
        self.refused(2, ["WEIR_ISA", "nonsense"], "m", WEIR_ISA="nonsense")
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write("# settings\nport = 99999\n")
            file.flush()
            self.refused(2, [file.name + ":2", "99999"], "--config", file.name)
        self.refused(1, ["/nowhere/weir.toml"], "--config", "/nowhere/weir.toml")

    def test_secrets_do_not_appear(self):
        result = run("--print-config", WEIR_API_KEY="hunter2")
        self.assertIn("api-key: 1 set, not shown", result.stdout)
        self.assertNotIn("hunter2", result.stdout + result.stderr)

    def test_print_config_tells_values_and_sources(self):
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write('max-wait = "1s"\nport = 1\n')
            file.flush()
            result = run("--print-config", "--port", "3", WEIR_PORT="2", WEIR_CONFIG=file.name)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"(?m)^port = 3 +# --port$")
        self.assertRegex(result.stdout, r'(?m)^max-wait = "1s" +# .*\.toml:1$')
        self.assertRegex(result.stdout, r"(?m)^permits = 200 +# default$")

    def test_without_a_model_it_says_what_to_do(self):
        self.refused(2, ["no model", "weir import"])
        self.refused(1, ["/nowhere/bundle"], "/nowhere/bundle")


class Running(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.bundle = os.path.join(cls.folder.name, "tiny")
        subprocess.run([PROGRAM, "import", os.path.join(SOURCE, "tests", "data", "tiny-bert"), cls.bundle], check=True,
                       env=environment(), timeout=LIMIT_S, capture_output=True)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def start(self, *arguments, **variables):
        process = subprocess.Popen([PROGRAM, "serve", self.bundle, "--port", "0", *arguments],
                                   env=environment(**variables), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def start_ready(self, *arguments, **variables):
        process = self.start(*arguments, **variables)
        line = process.stdout.readline()
        match = re.fullmatch(r"weir serve: ready on (\S+) \((.*)\)\n", line)
        if match is None:
            self.fail(f"no ready line: {line!r} {process.stderr.read()}")
        return process, match.group(1)

    def test_serves_until_sigterm(self):
        process, url = self.start_ready()
        with urllib.request.urlopen(url + "/health/ready", timeout=LIMIT_S) as answer:
            self.assertEqual(answer.status, 200)
        idle = socket.create_connection(("127.0.0.1", int(url.rsplit(":", 1)[1])))
        self.addCleanup(idle.close)
        process.send_signal(signal.SIGTERM)
        _, log = process.communicate(timeout=LIMIT_S)
        self.assertEqual(process.returncode, 0, log)
        self.assertIn("stopped", log)

    def test_sigint_and_a_signal_while_loading_end_it_in_order(self):
        process, _ = self.start_ready()
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(LIMIT_S), 0)
        early = self.start("--log-level", "debug")
        for line in early.stderr:
            if "listening" in line:
                break
        early.send_signal(signal.SIGTERM)
        early.communicate(timeout=LIMIT_S)
        self.assertEqual(early.returncode, 0)

    def test_a_second_signal_ends_it_at_once(self):
        process, url = self.start_ready("--drain-timeout", "1h", "--body-timeout", "1h")
        half = socket.create_connection(("127.0.0.1", int(url.rsplit(":", 1)[1])))
        self.addCleanup(half.close)
        half.sendall(b"POST /v1/embeddings HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n")
        self.assertIn(b"100", half.recv(100))
        process.send_signal(signal.SIGTERM)
        for line in process.stderr:
            if "stopping" in line:
                break
        process.send_signal(signal.SIGTERM)
        process.wait(LIMIT_S)
        self.assertEqual(process.returncode, 128 + signal.SIGTERM)

    def test_a_port_in_use_is_an_error(self):
        _, url = self.start_ready()
        port = url.rsplit(":", 1)[1]
        result = run(self.bundle, "--port", port)
        self.assertEqual(result.returncode, 1)
        self.assertIn(port, result.stderr)
        self.assertIn("in use", result.stderr)

    def test_keys_from_the_environment_are_asked_for(self):
        _, url = self.start_ready(WEIR_API_KEY="hunter2")
        with self.assertRaises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(url + "/v1/models", timeout=LIMIT_S)
        self.assertEqual(refused.exception.code, 401)
        refused.exception.close()
        request = urllib.request.Request(url + "/v1/models", headers={"Authorization": "Bearer hunter2"})
        with urllib.request.urlopen(request, timeout=LIMIT_S) as answer:
            self.assertEqual(answer.status, 200)

    def test_listening_on_all_networks_without_a_key_is_warned_of(self):
        process, _ = self.start_ready("--host", "0.0.0.0")
        process.send_signal(signal.SIGTERM)
        _, log = process.communicate(timeout=LIMIT_S)
        self.assertIn("without an API key", log)

    def test_a_broken_bundle_ends_it_with_its_name(self):
        broken = os.path.join(self.folder.name, "broken")
        subprocess.run(["cp", "-r", self.bundle, broken], check=True)
        with open(os.path.join(broken, "model.onnx"), "wb") as file:
            file.write(b"not a graph")
        result = run(broken, "--port", "0")
        self.assertEqual(result.returncode, 1)
        self.assertIn("model.onnx", result.stderr)

    def test_json_log_lines_are_json(self):
        process, _ = self.start_ready("--log-format", "json", "--log-level", "debug")
        process.send_signal(signal.SIGTERM)
        _, log = process.communicate(timeout=LIMIT_S)
        lines = [json.loads(line) for line in log.splitlines()]
        self.assertIn("ready", [line["message"] for line in lines])
        self.assertIn("instances", [line.get("name") for line in lines])


if __name__ == "__main__":
    unittest.main()
