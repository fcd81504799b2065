#!/usr/bin/env python3
"""How exact `weir bench` is, against servers whose latencies are known, and against wrk. For a quiet machine: what these
checks find on a busy one is the other programs. Not a part of `make test`; the arithmetic behind is.

  percentiles   constant and bimodal latencies: within 2 %
  stall         nothing answered for 1 s in 10: the open loop's percentiles are those that follow, the closed one's are not
  wrk           throughput against the same server: within 3 %, in alternating rounds
  speed         one thread of the generator against a trivial server: more than 50,000 requests/s
  soak          a leak of 1 MB/s and a pause every 5 s: named, with their size

usage: scripts/check_bench.py [--build build/ci] [CHECK...]
"""

import argparse
import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

failures = []


class Toy:
    def __init__(self, program, *settings):
        self.process = subprocess.Popen([program, *settings], stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()

    def __enter__(self):
        return self.url

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


class Checks:
    def __init__(self, build):
        self.weir = str(build / "bin" / "weir")
        self.toy = str(build / "bin" / "weir_toy_server")

    def bench(self, *arguments):
        command = [self.weir, "bench", *map(str, arguments), "--no-calibration", "--json", "-"]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode not in (0, 4):
            sys.exit(f"{' '.join(command)}: status {run.returncode}: {run.stderr}")
        return json.loads(run.stdout)

    def latencies(self, *arguments):
        return self.bench("run", *arguments)["runs"][0]["latency_ms"]

    def percentiles(self):
        """Latencies so long that what the machine adds (some milliseconds once in a hundred requests) is below 2 %."""
        cases = (
            ("constant 200 ms", ["latency_ms=200"], {"p50": 200, "p90": 200, "p99": 200}),
            ("100 ms, every tenth 500 ms", ["latency_ms=100", "slow_ms=500", "slow_every=10"], {"p50": 100, "p95": 500, "p99": 500}),
        )
        for name, settings, expected in cases:
            for loop, load in (("closed", ["--clients", 40]), ("open", ["--rate", 200])):
                with Toy(self.toy, *settings) as url:
                    found = self.latencies("--url", url, *load, "--duration", 4, "--warmup", 1)
                for percentile, milliseconds in expected.items():
                    within(f"percentiles: {name}, {loop} loop, {percentile}", found[percentile], milliseconds, 0.02)

    def stall(self):
        """Nothing is answered from second 10 to 11. Of 18 s of even arrivals, those waiting longer than x are the share
        (1.005 - x) / 18: P99 is 825 ms, P95 105 ms."""
        settings = ["latency_ms=5", "stall_every_s=10", "stall_s=1"]
        flags = ["--duration", 18, "--warmup", 0]
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as arrivals:
            arrivals.write("".join(f"{i / 500}\n" for i in range(500)))
            arrivals.flush()
            with Toy(self.toy, *settings) as url:
                found = self.latencies("--url", url, "--arrivals", arrivals.name, *flags)
        within("stall: open loop, p99", found["p99"], 825, 0.02)
        within("stall: open loop, p95", found["p95"], 105, 0.05)
        with Toy(self.toy, *settings) as url:
            hidden = self.latencies("--url", url, "--clients", 1, *flags)
        verdict(f"stall: closed loop, p99: {hidden['p99']:.3g} ms, which hides it", hidden["p99"] < 50)

    def wrk(self):
        """Both drive the same server: one whose latency makes the rate, and one that is at its limit. (Against one that does
        nothing, wrk's scripts are the limit.)"""
        body = Path(__file__).with_name("check_bench.lua")
        tiny = Path(tempfile.mkdtemp(prefix="weir-check-bench-")) / "tiny"
        subprocess.run([self.weir, "import", "tests/data/tiny-bert", tiny, "--quiet"], check=True)
        weir = [self.weir, "serve", str(tiny), "--port", "18999", "--log-level", "warn"]
        for name, command in (("2 ms", [self.toy, "port=18999", "latency_ms=2"]), ("weir serve, a tiny model", weir)):
            server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
            url = "http://127.0.0.1:18999"
            time.sleep(2)
            ratios = []
            for _ in range(4):
                output = subprocess.run(["wrk", "-t1", "-c50", "-d2s", "-s", body, url + "/v1/embeddings"], capture_output=True, text=True, check=True)
                theirs = float(re.search(r"Requests/sec:\s*([\d.]+)", output.stdout)[1])
                flags = ["--url", url, "--server-model", "tiny", "--clients", 50, "--duration", 2, "--warmup", 0.3, "--texts", body.with_name("check_bench.txt")]
                ours = self.bench("run", *flags)["runs"][0]["requests_per_second"]
                print(f"  wrk {theirs:.0f}, weir bench {ours:.0f} requests/s")
                ratios.append(ours / theirs)
            server.terminate()
            server.wait()
            within(f"wrk: {name}, throughput over wrk's", statistics.median(ratios), 1, 0.03)
        shutil.rmtree(tiny.parent)

    def speed(self):
        with Toy(self.toy) as url:
            run = self.bench("run", "--url", url, "--clients", 64, "--duration", 3, "--warmup", 0.5)["runs"][0]
        rate = run["requests_per_second"]
        verdict(f"speed: {rate:.0f} requests/s with one thread, which computes {100 * run['generator']['cpu_share']:.0f} % of the time", rate > 50_000)

    def soak(self):
        command = f"{self.toy} port={{port}} latency_ms=2"
        found = self.bench("soak", "--command", command + " leak_mb_per_s=1", "--rate", 200, "--duration", 20, "--warmup", 1)
        growth = next(each for each in found["findings"] if each["name"] == "memory_growth")
        verdict(f"soak: a leak of 1 MB/s: {growth['text']}", growth["problem"] and abs(growth["value"] - 1) < 0.05)
        found = self.bench("soak", "--command", command + " stall_every_s=5 stall_s=0.2", "--rate", 200, "--duration", 30, "--warmup", 1)
        spikes = next(each for each in found["findings"] if each["name"] == "periodic_spikes")
        verdict(f"soak: a pause every 5 s: {spikes['text']}", spikes["problem"] and abs(spikes["value"] - 5) < 0.1)
        found = self.bench("soak", "--command", command, "--rate", 200, "--duration", 15, "--warmup", 1)
        named = [each["text"] for each in found["findings"] if each["problem"]]
        verdict(f"soak: an even server: {named or 'nothing'}", not named)


def verdict(text, good):
    print(("ok    " if good else "FAIL  ") + text, flush=True)
    if not good:
        failures.append(text)


def within(name, found, expected, share):
    verdict(f"{name}: {found:.4g}, expected {expected:.4g} within {100 * share:g} %", abs(found / expected - 1) <= share)


def main():
    names = ("percentiles", "stall", "wrk", "speed", "soak")
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=Path, default=Path("build/ci"))
    parser.add_argument("checks", nargs="*", help="of " + ", ".join(names))
    options = parser.parse_args()
    checks = Checks(options.build)
    for name in options.checks or names:
        if name not in names:
            parser.error(f"no check {name}: {', '.join(names)}")
        getattr(checks, name)()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
