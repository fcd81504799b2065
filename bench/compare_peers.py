#!/usr/bin/env python3
"""weir beside its peers: the same model, the same texts, one machine, one run, by `weir bench`.

  install   a throw-away Python environment for each peer, from PyPI, and the peers' int8 models
  measure   every server in alternating rounds; one JSON file of results
  page      docs/benchmarks.md from the recorded results (bench/results/*.json)

usage: bench/compare_peers.py install --work FOLDER --model FOLDER --texts FILE
       bench/compare_peers.py measure --work FOLDER --model FOLDER --texts FILE --weir PROGRAM --output FILE [--rounds N] [--prefix CMD]
       bench/compare_peers.py page

MODEL is sentence-transformers/all-MiniLM-L6-v2 as a folder, TEXTS a file of {"text": …} lines. `--prefix` is put before
each measurement: a program that keeps the machine quiet meanwhile.
"""

import argparse
import datetime
import json
import os
import platform
import shlex
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
CLIENTS = (1, 10, 50, 100)

ENVIRONMENTS = {
    "naive": ["sentence-transformers", "fastapi", "uvicorn", "uvloop", "httptools"],
    "infinity": ["infinity-emb[server,torch,optimum]==0.0.78"],
    "int8": ["onnxruntime==1.32.0", "onnx", "openvino", "nncf", "tokenizers", "orjson", "numpy"],
}
# What is told about a peer: the packages whose versions matter.
VERSIONS = {"naive": ("sentence-transformers", "torch", "fastapi"), "infinity": ("infinity-emb", "torch", "optimum", "onnxruntime"),
            "int8": ("onnxruntime", "openvino", "nncf")}


class Peer:
    def __init__(self, name, environment, command, note, direct=None):
        self.name, self.environment, self.command, self.note, self.direct = name, environment, command, note, direct


def peers(options):
    work, model, cores = Path(options.work), options.model, len(os.sched_getaffinity(0))
    weir, texts = options.weir, options.texts
    int8 = f"{work}/int8/bin/python {HERE}/peers/int8_server.py"
    tokenizer = f"{model}/tokenizer.json"

    def weir_peer(name, precision, flags, note):
        bundle = f"{work}/weir-{precision}"
        return Peer(name, None, f"{weir} serve {bundle} --port {{port}} --log-level warn {flags}", note, bundle)

    def int8_peer(name, engine, suffix):
        run = f"{int8} {engine} {work}/models/{engine}.{suffix} {tokenizer}"
        shape = f"--workers {cores} --threads 1"
        note = f"one text a call, {cores} workers of one thread, every length warmed up, minimal HTTP server"
        return Peer(name, "int8", f"{run} {{port}} {shape}", note, f"{run} 0 {shape} --direct {texts} 6")

    return [
        weir_peer("weir int8", "int8", "", "as it starts by default"),
        weir_peer("weir bf16", "bf16", "", "as it starts by default"),
        weir_peer("weir fp32", "fp32", "", "as it starts by default"),
        int8_peer("OpenVINO int8", "openvino", "xml"),
        int8_peer("ONNX Runtime int8", "onnxruntime", "onnx"),
        Peer("infinity, torch bf16", "infinity",
             f"env HF_HUB_OFFLINE=1 DO_NOT_TRACK=1 INFINITY_ANONYMOUS_USAGE_STATS=0 {work}/infinity/bin/infinity_emb v2 --model-id {model} "
             f"--served-model-name minilm --url-prefix /v1 --engine torch --device cpu --dtype bfloat16 --no-bettertransformer --no-compile --no-model-warmup --batch-size 32 --port {{port}} --host 127.0.0.1",
             "batches of up to 32; bf16, faster than fp32 where it was tried (74 against 47 requests/s)"),
        Peer("FastAPI + sentence-transformers", "naive",
             f"env MODEL={model} HF_HUB_OFFLINE=1 PYTHONPATH={HERE}/peers {work}/naive/bin/uvicorn naive_server:app --port {{port}} --log-level warning --no-access-log",
             "one process, fp32, as most teams start"),
    ]


# --- install ------------------------------------------------------------------------------------------------------------


def run(command):
    print("+", shlex.join(map(str, command)), flush=True)
    return subprocess.run(list(map(str, command)), check=False).returncode == 0


def install(options):
    work = Path(options.work)
    work.mkdir(parents=True, exist_ok=True)
    for name, packages in ENVIRONMENTS.items():
        made = (work / name / "bin" / "pip").exists() or run([sys.executable, "-m", "venv", work / name])
        if not made or not run([work / name / "bin" / "pip", "install", "-q", *packages]):
            print(f"{name}: cannot be installed here; it will be missing from the results", file=sys.stderr)
    exported = work / "exported"
    if not (exported / "model.onnx").exists():
        run([work / "infinity" / "bin" / "optimum-cli", "export", "onnx", "--model", options.model, "--task", "feature-extraction", exported])
    run([work / "int8" / "bin" / "python", HERE / "peers" / "quantize.py", exported / "model.onnx", f"{options.model}/tokenizer.json", options.texts, work / "models"])
    for precision in ("int8", "bf16", "fp32"):
        if not (work / f"weir-{precision}").exists():
            run([options.weir, "import", options.model, work / f"weir-{precision}", "--precision", precision, "--name", "minilm", "--quiet"])


# --- measure ------------------------------------------------------------------------------------------------------------


def bench(options, arguments):
    command = [*shlex.split(options.prefix), options.weir, "bench", *map(str, arguments), "--texts", options.texts, "--tokenizer", options.model,
               "--max-tokens", "256", "--model-config", options.model, "--no-calibration", "--json", "-", "--allow-errors", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(f"  failed: {done.stderr.strip()[-400:]}", file=sys.stderr)
        return None
    return json.loads(done.stdout)


def summary(run_):
    server = run_["server"]
    return {"requests_per_second": run_["requests_per_second"], "tokens_per_second": run_["tokens_per_second"],
            "p50_ms": run_["latency_ms"]["p50"], "p99_ms": run_["latency_ms"]["p99"], "failures": run_["failures"],
            "cpu_us_per_token": server["cpu_us_per_token"], "resident_mib": server["resident_bytes"] and server["resident_bytes"] / 2**20,
            "share_of_peak": server["share_of_peak"], "first_ms": run_["warm_up"]["first_request_ms"]}


def measure_in_process(options, peer):
    if peer.environment is None:
        found = bench(options, ["run", "--in-process", peer.direct, "--clients", 64, "--duration", 6, "--warmup", 3])
        return found and found["runs"][0]["texts_per_second"]
    done = subprocess.run([*shlex.split(options.prefix), *shlex.split(peer.direct)], capture_output=True, text=True, check=False)
    return json.loads(done.stdout)["texts_per_second"] if done.returncode == 0 else None


def versions_of(options, environment):
    if environment is None:
        return {"weir": subprocess.run([options.weir, "--version"], capture_output=True, text=True, check=True).stdout.strip().removeprefix("weir ")}
    listed = subprocess.run([Path(options.work) / environment / "bin" / "pip", "list", "--format", "json"], capture_output=True, text=True, check=True).stdout
    installed = {each["name"].lower().replace("_", "-"): each["version"] for each in json.loads(listed)}
    return {name: installed[name] for name in VERSIONS[environment] if name in installed}


def shown_command(options, command):
    for path, name in ((options.work, "WORK"), (options.model, "MODEL"), (options.texts, "TEXTS"), (options.weir, "weir"), (str(HERE), "bench")):
        command = command.replace(str(path), name)
    return command.strip()


def measure(options):
    wanted = [peer for peer in peers(options) if not options.only or peer.name in options.only]
    results = {peer.name: {"command": shown_command(options, peer.command), "note": peer.note, "rounds": [], "in_process": []} for peer in wanted}
    document = {}
    for number in range(options.rounds):
        for peer in wanted if number % 2 == 0 else reversed(wanted):
            print(f"round {number + 1}: {peer.name}", flush=True)
            clients = ",".join(map(str, CLIENTS))
            found = bench(options, ["ladder", "--command", peer.command, "--server-model", "minilm", "--clients", clients, "--duration", options.seconds,
                                    "--warmup", 3, "--ready-timeout", 80])
            if found:
                document |= {"machine": found["machine"], "peak": found["share_of_peak_is_of"], "workload": found["workload"], "mean_tokens": found["mean_tokens_per_text"]}
                results[peer.name]["rounds"].append({str(int(each["level"])): summary(each) for each in found["runs"]})
            if peer.direct:
                direct = measure_in_process(options, peer)
                if direct:
                    results[peer.name]["in_process"].append(direct)
    for peer in wanted:
        results[peer.name]["versions"] = versions_of(options, peer.environment)
    document["missing"] = dict(each.split("=", 1) for each in options.missing)
    document |= {"date": datetime.date.today().isoformat(), "kernel": platform.release(), "seconds": options.seconds, "commit": options.commit, "results": results}
    Path(options.output).write_text(json.dumps(document, indent=1) + "\n")


# --- page ---------------------------------------------------------------------------------------------------------------

INTRODUCTION = """# Benchmarks: weir beside its peers

Made by `bench/compare_peers.py page` from the results recorded in `bench/results`; do not edit.

sentence-transformers/all-MiniLM-L6-v2, one text a request, all servers on the machine that also runs the load generator
(`weir bench`, closed loops), one server at a time, in alternating rounds; medians of the rounds. In-process: texts per second without a server, as many at once
as the machine has cores or more. Only speed is compared here: weir's int8 vectors are compared with fp32 at import, those of the
others are what their own tools make.
"""

REPEAT = """## Again

```
python3 bench/compare_peers.py install --work FOLDER --model MODEL --texts TEXTS --weir build/release/bin/weir
python3 bench/compare_peers.py measure --work FOLDER --model MODEL --texts TEXTS --weir build/release/bin/weir --output bench/results/NAME.json
python3 bench/compare_peers.py page
```

`scripts/sample_model.sh` fetches the model; TEXTS has a `{"text": …}` a line. The peers are installed from PyPI into environments below
FOLDER, which may be thrown away after.
"""


def median_of(rounds, clients, figure):
    values = [each[clients][figure] for each in rounds if clients in each and each[clients][figure] is not None]
    return statistics.median(values) if values else None


def shown(value, digits=0):
    return "–" if value is None else f"{value:,.{digits}f}"


def wins(results):
    """Where a peer is ahead of weir's best, said in words."""
    lines = []
    ours = {name: each for name, each in results.items() if name.startswith("weir") and each["rounds"]}
    theirs = {name: each for name, each in results.items() if not name.startswith("weir") and each["rounds"]}
    for clients in map(str, CLIENTS):
        for figure, what, sign in (("requests_per_second", "requests/s", 1), ("p99_ms", "P99", -1)):
            best = max((sign * median_of(each["rounds"], clients, figure), name) for name, each in ours.items())
            for name, each in theirs.items():
                value = median_of(each["rounds"], clients, figure)
                if sign * value > best[0]:
                    lines.append(f"- {clients} client{'s' if clients != '1' else ''}, {what}: {name} {shown(value, 1)} against {best[1]} {shown(abs(best[0]), 1)}")
    return lines


def table(document):
    lines = ["| server | " + " | ".join(f"{clients} client{'s' if clients > 1 else ''}: /s, P50, P99 ms" for clients in CLIENTS)
             + " | in-process texts/s | CPU µs/token | RSS MiB | of int8 peak |", "|---" * (len(CLIENTS) + 5) + "|"]
    order = sorted(document["results"].items(), key=lambda each: -(median_of(each[1]["rounds"], "50", "requests_per_second") or 0))
    for name, result in order:
        rounds = result["rounds"]
        if not rounds:
            lines.append(f"| {name} | could not be measured |" + " |" * (len(CLIENTS) + 3))
            continue
        cells = []
        for clients in map(str, CLIENTS):
            figures = [shown(median_of(rounds, clients, "requests_per_second"))]
            for value in (median_of(rounds, clients, "p50_ms"), median_of(rounds, clients, "p99_ms")):
                figures.append(shown(value, 1 if value is not None and value < 10 else 0))
            cells.append(", ".join(figures))
        direct = statistics.median(result["in_process"]) if result["in_process"] else None
        share = median_of(rounds, "50", "share_of_peak")
        cells += [shown(direct), shown(median_of(rounds, "50", "cpu_us_per_token"), 1), shown(median_of(rounds, "100", "resident_mib")),
                  "–" if share is None else f"{100 * share:.1f} %"]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return lines


def spread(document):
    worst = []
    for name, result in document["results"].items():
        values = [each["50"]["requests_per_second"] for each in result["rounds"] if "50" in each]
        if len(values) > 1:
            worst.append(f"{name} {100 * (max(values) / min(values) - 1):.0f} %")
    return "Between rounds, requests/s with 50 clients differed by: " + ", ".join(worst) + "." if worst else "One round only."


def page(_):
    text = [INTRODUCTION]
    for path in sorted((HERE / "results").glob("*.json")):
        document = json.loads(path.read_text())
        text.append(f"## {document['machine']}\n")
        text.append(f"{document['date']}, weir at `{document['commit']}`, kernel {document['kernel']}; {document['workload']}, {document['mean_tokens']:.0f} tokens on average, "
                    f"cut to 256; {document['seconds']:g} s a level after a warm-up. Peak: {document['peak']}.\n")
        text += table(document) + [""]
        text += ["CPU time and share of the peak are those with 50 clients, memory that after 100. " + spread(document) + "\n"]
        ahead = wins(document["results"])
        text += ["**Where a peer is ahead of every weir:**\n", *(ahead or ["- nowhere in these figures"]), ""]
        for name, result in document["results"].items():
            failures = sorted({kind for each in result["rounds"] for level in each.values() for kind in level["failures"]})
            versions = ", ".join(f"{package} {version}" for package, version in result["versions"].items())
            text.append(f"- **{name}**: {versions}; {result['note']}{'; failures: ' + ', '.join(failures) if failures else ''}. `{result['command']}`")
        for name, reason in document.get("missing", {}).items():
            text.append(f"- **{name}** is missing: {reason}")
        text.append("")
    text.append(REPEAT)
    (ROOT / "docs" / "benchmarks.md").write_text("\n".join(text))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("step", choices=["install", "measure", "page"])
    parser.add_argument("--work")
    parser.add_argument("--model")
    parser.add_argument("--texts")
    parser.add_argument("--weir", default="build/release/bin/weir")
    parser.add_argument("--output")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--prefix", default="")
    parser.add_argument("--missing", nargs="*", default=[], metavar="NAME=REASON", help="peers that could not be measured, for the page")
    parser.add_argument("--only", nargs="*", help="only these peers")
    parser.add_argument("--commit", default=subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False).stdout.strip())
    options = parser.parse_args()
    needed = {"install": ("work", "model", "texts"), "measure": ("work", "model", "texts", "output"), "page": ()}[options.step]
    for name in needed:
        if not getattr(options, name):
            parser.error(f"{options.step} needs --{name}")
    {"install": install, "measure": measure, "page": page}[options.step](options)


if __name__ == "__main__":
    main()
