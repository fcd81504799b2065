"""`weir bench` as a user runs it: figures, failures by kind, exit statuses, servers that it starts and ends."""

import json
import os
import signal
import subprocess
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc

ROOT = Path(os.environ["WEIR_SOURCE_DIR"])
PROGRAM = os.environ["WEIR_PROGRAM"]
TOY = str(Path(PROGRAM).parent / "weir_toy_server")
SHORT = ["--duration", "0.4", "--warmup", "0.1", "--no-calibration"]


class Toy:
    """A toy server: `with Toy("fault=close") as url: …`"""

    def __init__(self, *settings):
        self.settings = settings

    def __enter__(self):
        self.process = subprocess.Popen([TOY, *self.settings], stdout=subprocess.PIPE, text=True)
        return self.process.stdout.readline().strip()

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def bench(*arguments):
    command = [PROGRAM, "bench", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def report(*arguments, status=0):
    flags = SHORT if "--duration" not in arguments else SHORT[2:]
    run = bench(*arguments, *flags, "--json", "-")
    if run.returncode != status:
        raise AssertionError(f"status {run.returncode}, not {status}: {run.stderr}\n{run.stdout[:2000]}")
    return json.loads(run.stdout)


class Figures(unittest.TestCase):
    def test_a_closed_loop_of_every_dialect(self):
        for dialect in ("openai", "tei", "oip"):
            with Toy("texts=2") as url:
                run = report("run", "--url", url, "--dialect", dialect, "--clients", 3, "--texts-per-request", 2)["runs"][0]
            self.assertGreater(run["answered"], 0)
            self.assertEqual(run["failures"], {})
            self.assertAlmostEqual(run["texts_per_second"], 2 * run["requests_per_second"], delta=1e-3 * run["texts_per_second"])
            latency = run["latency_ms"]
            ordered = [latency[name] for name in ("p50", "p90", "p95", "p99", "p99_9", "max")]
            self.assertEqual(ordered, sorted(ordered))

    def test_an_open_loop_with_texts_tokens_and_html(self):
        with tempfile.TemporaryDirectory() as folder, Toy() as url:
            texts = Path(folder) / "texts.jsonl"
            texts.write_text('{"text": "the river carries water"}\n{"text": "snow"}\n')
            page = Path(folder) / "report.html"
            found = report("run", "--url", url, "--rate", 100, "--texts", texts, "--tokenizer", ROOT / "tests/data/tiny-bert",
                           "--model-config", ROOT / "tests/data/tiny-bert", "--peak", "fp32", "--html", page)
            self.assertIn("</svg>", page.read_text())
        self.assertEqual(found["runs"][0]["loop"], "open")
        self.assertGreater(found["runs"][0]["tokens_per_second"], found["runs"][0]["texts_per_second"])
        self.assertGreater(found["runs"][0]["server"]["share_of_peak"], 0)
        self.assertGreater(found["mean_tokens_per_text"], 3)

    def test_the_table_and_the_generators_limit(self):
        with Toy() as url:
            run = bench("ladder", "--url", url, "--clients", "1,4", "--duration", 0.3, "--warmup", 0.1)
        self.assertEqual(run.returncode, 0, run.stderr)
        for text in ("requests/s", "P99.9", "1 client", "4 clients"):
            self.assertIn(text, run.stdout)

    def test_a_model_in_this_process(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([PROGRAM, "import", ROOT / "tests/data/tiny-bert", folder + "/tiny", "--quiet"], check=True)
            found = report("run", "--in-process", folder + "/tiny", "--clients", 2)
        run = found["runs"][0]
        self.assertGreater(run["tokens_per_second"], 0)
        self.assertGreater(run["server"]["cpu_us_per_token"], 0)


class Failures(unittest.TestCase):
    def test_each_kind_is_counted_and_the_status_says_so(self):
        kinds = {"status": "status_503", "close": "closed_early", "close_midway": "closed_early", "garbage": "not_the_protocol",
                 "wrong_body": "wrong_answer"}
        for fault, kind in kinds.items():
            with Toy(f"fault={fault}", "fault_every=3") as url:
                run = report("run", "--url", url, "--clients", 2, status=3)["runs"][0]
            self.assertEqual(list(run["failures"]), [kind])
            self.assertGreater(run["answered"], 0)

    def test_timeouts(self):
        with Toy("fault=silence", "fault_every=3") as url:
            run = report("run", "--url", url, "--timeout", 0.05, status=3)["runs"][0]
        self.assertEqual(list(run["failures"]), ["timeout"])
        self.assertGreaterEqual(run["latency_ms"]["max"], 50)

    def test_failures_may_be_allowed(self):
        with Toy("fault=status", "fault_every=3") as url:
            report("run", "--url", url, "--allow-errors", 0.9, status=0)

    def test_a_server_that_answers_nothing(self):
        for fault, kind in {"garbage": "not_the_protocol", "close": "closed_early", "status": "status_503"}.items():
            with Toy(f"fault={fault}") as url:
                run = bench("run", "--url", url, *SHORT)
            self.assertEqual(run.returncode, 1)
            self.assertIn(kind, run.stderr)

    def test_a_server_that_is_down(self):
        with Toy() as url:
            pass
        run = bench("run", "--url", url, *SHORT)
        self.assertEqual(run.returncode, 1)
        self.assertIn("connect_refused", run.stderr)

    def test_wrong_usage(self):
        for arguments in (["run"], ["fly", "--url", "http://h:1"], ["run", "--url", "h:1"], ["run", "--url", "https://h:1"],
                          ["run", "--url", "http://h:1", "--command", "x", "--in-process", "y"],
                          ["ladder", "--url", "http://h:1", "--rate", "5"], ["slo", "--url", "http://h:1"],
                          ["compare", "http://h:1"], ["ramp", "http://h:1", "http://h:2"], ["run", "--url", "http://h:1", "--clients", "0"],
                          ["heatmap", "--url", "http://h:1", "--threads", "1,2"], ["run", "--url", "http://h:1", "--p99-ms", "5"],
                          ["run", "--command", "sleep 1"], ["run", "--url", "grpc://127.0.0.1:1"]):
            run = bench(*arguments, "--no-calibration")
            self.assertEqual(run.returncode, 2, f"{arguments}: {run.stderr}")
        self.assertEqual(bench("--help").returncode, 0)


class Modes(unittest.TestCase):
    def test_soak_names_growing_memory(self):
        found = report("soak", "--command", f"{TOY} port={{port}} leak_mb_per_s=20 latency_ms=1", "--rate", 50, "--duration", 3, status=4)
        growth = next(each for each in found["findings"] if each["name"] == "memory_growth")
        self.assertTrue(growth["problem"], growth)
        self.assertGreater(growth["value"], 5)
        self.assertEqual(growth["unit"], "MB/s")

    def test_compare_starts_two_servers_and_ends_them(self):
        marker = f"{TOY} port={{port}} latency_ms="
        found = report("compare", marker + "2", marker + "40", "--rounds", 2)
        ratio = next(each for each in found["findings"] if each["name"] == "p50_ratio")
        self.assertGreater(ratio["value"], 1)
        self.assertEqual([run["subject"] for run in found["runs"]], ["A", "B", "B", "A"])
        left = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
        self.assertNotIn(f"{TOY} port=0 latency_ms=40", left)

    def test_slo_finds_a_rate_or_says_that_there_is_none(self):
        with Toy("latency_ms=5") as url:
            flags = ["--clients", "1"]
            found = report("slo", "--url", url, "--p99-ms", 2, *flags, status=4)
        self.assertTrue(found["findings"][-1]["problem"])

    def test_an_interrupted_run_keeps_what_it_measured(self):
        with tempfile.TemporaryDirectory() as folder, Toy() as url:
            path = Path(folder) / "report.json"
            command = [PROGRAM, "bench", "ladder", "--url", url, "--clients", "1,2", "--duration", "0.3", "--warmup", "0", "--no-calibration",
                       "--json", path]
            command[command.index("1,2")] = ",".join(["1"] * 500)
            process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            for line in process.stdout:
                if "1 client" in line:
                    break
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)
            self.assertEqual(process.returncode, 130)
            self.assertTrue(json.loads(path.read_text())["interrupted"])


class Grpc(unittest.TestCase):
    """The Open Inference Protocol over gRPC, against Python's gRPC; the messages are written by hand."""

    # outputs (field 5) { name (1) "vectors", datatype (2) "FP32", shape (3) [2, 3] }
    ANSWER = bytes([0x2A, 19, 0x0A, 7]) + b"vectors" + bytes([0x12, 4]) + b"FP32" + bytes([0x1A, 2, 2, 3])

    def serve(self, answer):
        """A server whose calls `answer` computes from the request's bytes."""
        server = grpc.server(ThreadPoolExecutor(4))
        handler = grpc.unary_unary_rpc_method_handler(answer)
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("inference.GRPCInferenceService", {"ModelInfer": handler}),))
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        self.addCleanup(lambda: server.stop(0).wait())
        return ["--url", f"grpc://127.0.0.1:{port}", "--dialect", "oip-grpc", "--texts-per-request", 2, "--server-model", "mine",
                "--input-name", "sentences"]

    def test_requests_are_what_the_protocol_says(self):
        seen = []

        def answer(request, _):
            seen.append(request)
            return self.ANSWER

        run = report("run", *self.serve(answer), "--clients", 3)["runs"][0]
        self.assertGreater(run["answered"], 0)
        self.assertEqual(run["failures"], {})
        self.assertTrue(seen[0].startswith(b"\x0a\x04mine"))  # model_name
        self.assertIn(b"\x0a\x09sentences\x12\x05BYTES\x1a\x01\x02", seen[0])  # name, datatype, shape [2]

    def test_failures(self):
        def refuse(_, context):
            context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "full")

        run = bench("run", *self.serve(refuse), *SHORT)
        self.assertEqual(run.returncode, 1)
        self.assertIn("status_8", run.stderr)
        run = bench("run", *self.serve(lambda *_: b""), *SHORT)
        self.assertIn("wrong_answer", run.stderr)
        run = bench("run", "--url", "grpc://127.0.0.1:1", "--dialect", "oip-grpc", *SHORT)
        self.assertEqual(run.returncode, 1)
        self.assertIn("connect_failed", run.stderr)


if __name__ == "__main__":
    unittest.main()
