#!/usr/bin/env python3
"""int8 encoders of fixed shapes in weir, OpenVINO and ONNX Runtime: texts of 128 tokens, one machine, one run.

  install   two throw-away Python environments from PyPI: "export" (torch, transformers) and "int8" (the engines)
  prepare   for each shape a model with random weights, its ONNX export, and what each engine makes of it in int8
  measure   every engine in alternating rounds; medians as a table on standard output, all rounds as JSON with --output

usage: bench/compare_models.py install --work FOLDER
       bench/compare_models.py prepare --work FOLDER --weir PROGRAM [--models NAMES]
       bench/compare_models.py measure --work FOLDER --weir PROGRAM [--models NAMES] [--rounds N] [--seconds N] [--no-amx] [--output FILE] [--prefix CMD]

weir is measured by `weir bench --in-process`: one request of a whole batch after the other, by as many clients as there are cores,
with tokenization, pooling and JSON. The others compute token vectors of given ids, in the better of two arrangements
(bench/peers/fixed_batch.py). `--no-amx` holds weir and OpenVINO to AVX-512 VNNI; ONNX Runtime has no such switch and is left out.
`--prefix` is put before each measurement: a program that keeps the machine quiet meanwhile.
"""

import argparse
import json
import os
import shlex
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOKENS = 128
ENVIRONMENTS = {
    "export": ["torch", "transformers", "tokenizers", "onnx"],
    "int8": ["onnxruntime==1.32.0", "onnx", "openvino", "nncf", "tokenizers", "numpy"],
}
# layers, hidden, intermediate, heads; texts in a batch
MODELS = {"minilm": ((6, 384, 1536, 12), 32), "bert-base": ((12, 768, 3072, 12), 32), "xlm-r-large": ((24, 1024, 4096, 16), 8)}


def run(command):
    print("+", shlex.join(map(str, command)), file=sys.stderr, flush=True)
    subprocess.run(list(map(str, command)), check=True)


def python(options, environment):
    return Path(options.work) / environment / "bin" / "python"


def install(options):
    Path(options.work).mkdir(parents=True, exist_ok=True)
    for name, packages in ENVIRONMENTS.items():
        if not python(options, name).exists():
            run([sys.executable, "-m", "venv", Path(options.work) / name])
        run([python(options, name), "-m", "pip", "install", "-q", *packages])


def prepare(options):
    for name in options.models:
        folder = Path(options.work) / name
        source = folder / "source"
        if not (source / "model.onnx").exists():
            run([python(options, "export"), HERE / "peers/random_encoder.py", *MODELS[name][0], source])
        if not (folder / "weir").exists():
            run([options.weir, "import", source, folder / "weir", "--precision", "int8", "--pooling", "mean", "--normalize", "--quiet"])
        if not (folder / "openvino.xml").exists():
            run([python(options, "int8"), HERE / "peers/quantize.py", source / "model.onnx", source / "tokenizer.json", source / "calibration.jsonl", folder])


def output_of(options, command, environment):
    command = [*shlex.split(options.prefix), *map(str, command)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | environment)
    if done.returncode != 0:
        raise SystemExit(f"{shlex.join(command)} failed: {done.stderr.strip()[-400:]}")
    return json.loads(done.stdout)


def weir(options, folder, batch):
    environment = {"WEIR_ISA": "avx512_vnni"} if options.no_amx else {}
    found = output_of(options, [options.weir, "bench", "run", "--in-process", folder / "weir", "--texts", folder / "source/texts.jsonl",
                                "--clients", len(os.sched_getaffinity(0)), "--texts-per-request", batch, "--duration", options.seconds,
                                "--warmup", 3, "--no-calibration", "--json", "-"], environment)
    return found["runs"][0]["texts_per_second"]


def peer(options, engine, model, batch):
    environment = {"ONEDNN_MAX_CPU_ISA": "AVX512_CORE_VNNI"} if options.no_amx else {}
    command = [python(options, "int8"), HERE / "peers/fixed_batch.py", engine, model, batch, TOKENS, options.seconds / 2]
    return max(output_of(options, command, environment).values())


def engines(options, name):
    folder, batch = Path(options.work) / name, MODELS[name][1]
    found = {"weir int8": lambda: weir(options, folder, batch),
             "OpenVINO int8": lambda: peer(options, "openvino", folder / "openvino.xml", batch)}
    if not options.no_amx:
        found["ONNX Runtime int8"] = lambda: peer(options, "onnxruntime", folder / "onnxruntime.onnx", batch)
    return found


def operations_per_text(name):
    layers, hidden, intermediate, _ = MODELS[name][0]
    return TOKENS * layers * (2 * (4 * hidden * hidden + 2 * hidden * intermediate) + 4 * TOKENS * hidden)


def measure(options):
    results = {name: {engine: [] for engine in engines(options, name)} for name in options.models}
    for number in range(options.rounds):
        for name in options.models:
            wanted = list(engines(options, name).items())
            for engine, texts_per_second in wanted if number % 2 == 0 else reversed(wanted):
                results[name][engine].append(texts_per_second())
                print(f"round {number + 1}: {name}, {engine}: {results[name][engine][-1]:.1f} texts/s", file=sys.stderr, flush=True)
    print("| 128 tokens | engine | texts/s | GOP/s | weir is faster by |")
    print("|---|---|---|---|---|")
    for name, rows in results.items():
        ours = statistics.median(rows["weir int8"])
        for engine, rounds in rows.items():
            median = statistics.median(rounds)
            ratio = "" if engine == "weir int8" else f"{ours / median:.2f}"
            print(f"| {name} × {MODELS[name][1]} | {engine} | {median:,.1f} | {median * operations_per_text(name) / 1e9:,.0f} | {ratio} |")
    if options.output:
        Path(options.output).write_text(json.dumps({"no_amx": options.no_amx, "seconds": options.seconds, "results": results}, indent=1) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=("install", "prepare", "measure"))
    parser.add_argument("--work", required=True)
    parser.add_argument("--weir", default="weir")
    parser.add_argument("--models", type=lambda text: text.split(","), default=list(MODELS))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--no-amx", action="store_true")
    parser.add_argument("--output")
    parser.add_argument("--prefix", default="")
    options = parser.parse_args()
    for name in options.models:
        if name not in MODELS:
            parser.error(f"--models: '{name}' is none of {', '.join(MODELS)}")
    {"install": install, "prepare": prepare, "measure": measure}[options.step](options)


if __name__ == "__main__":
    main()
