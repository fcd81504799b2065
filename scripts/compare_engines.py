#!/usr/bin/env python3
"""Texts per second of one encoder in weir and in ONNX Runtime's own forms, in one run, tokenization included.

    .deps/venv/bin/python scripts/compare_engines.py MODEL TEXTS.jsonl [--weir PROGRAM] [--rounds N] [--most N] [--latency]

MODEL is a folder that `weir import` takes, TEXTS.jsonl has objects with a "text". Every engine runs in a process of its own,
one after the other, in rounds; the table has the median of the rounds. ONNX Runtime computes the padded fp32
graph that weir writes, as it is and after its own quantize_dynamic (a scale per tensor), with the machine's threads, in three arrangements:
texts one by one, eight of similar length, 32 as they come. --latency times one text of 16 and of 512 tokens instead.
"""

import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnxruntime
import tokenizers

ARRANGEMENTS = {"one by one": (1, False), "8 sorted": (8, True), "32 as they come": (32, False)}
LENGTHS = (16, 512)
PRECISIONS = ("int8", "bf16", "fp32")
LATENCY_SECONDS = 0.5


def read_texts(path, most):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line)["text"] for line in lines][:most]


def load(model, library):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = len(os.sched_getaffinity(0))
    if library:
        options.register_custom_ops_library(str(library))
    return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])


def padded(rows):
    columns = max(len(row) for row in rows)
    ids = np.zeros((len(rows), columns), np.int64)
    mask = np.zeros_like(ids)
    for i, row in enumerate(rows):
        ids[i, : len(row)] = row
        mask[i, : len(row)] = 1
    return {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}


def packed(rows):
    ids = np.concatenate([np.asarray(row, np.int64) for row in rows])
    offsets = np.cumsum([0] + [len(row) for row in rows]).astype(np.int64)
    return {"input_ids": ids, "token_type_ids": np.zeros_like(ids), "offsets": offsets}


def run(session, rows):
    names = {entry.name for entry in session.get_inputs()}
    feeds = packed(rows) if "offsets" in names else padded(rows)
    return session.run(None, {name: values for name, values in feeds.items() if name in names})[0]


def texts_per_second(session, bundle, texts, arrangement):
    """As weir does it: tokenize, compute, pool, normalize."""
    size, is_sorted = ARRANGEMENTS[arrangement]
    tokenizer = tokenizers.Tokenizer.from_file(str(bundle / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(json.loads((bundle / "weir.json").read_text())["max_tokens"])
    run(session, [[101, 102]])
    begin = time.perf_counter()
    rows = [encoding.ids for encoding in tokenizer.encode_batch(texts)]
    if is_sorted:
        rows.sort(key=len)
    for at in range(0, len(rows), size):
        batch = rows[at : at + size]
        hidden = run(session, batch)
        vectors = np.stack([values[: len(row)].mean(axis=0) for values, row in zip(hidden, batch)])
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return len(texts) / (time.perf_counter() - begin)


def milliseconds(session):
    """Median time of one text of each length."""
    result = {}
    for length in LENGTHS:
        rows = [np.random.default_rng(1).integers(1000, 20000, length)]
        times = []
        run(session, rows)
        while sum(times) < LATENCY_SECONDS:
            begin = time.perf_counter()
            run(session, rows)
            times.append(time.perf_counter() - begin)
        result[f"{length} tokens"] = 1000 * statistics.median(times)
    return result


def worker(job):
    session = load(job["model"], job.get("library"))
    if job["latency"]:
        print(json.dumps(milliseconds(session)))
        return
    texts = read_texts(job["texts"], job["most"])
    print(json.dumps({"texts/s": texts_per_second(session, pathlib.Path(job["bundle"]), texts, job["arrangement"])}))


def in_process_of_its_own(job):
    command = [sys.executable, __file__, "--worker", json.dumps({key: str(value) if isinstance(value, pathlib.Path) else value
                                                                 for key, value in job.items()})]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def weir_embed(program, bundle, texts, most, folder):
    part = folder / "texts.jsonl"
    if not part.exists():
        part.write_text("".join(json.dumps({"text": text}) + "\n" for text in read_texts(texts, most)), encoding="utf-8")
    command = [program, "embed", "--model", bundle, part, "--format", "npy", "--restart", "-o", folder / "vectors.npy"]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    return {"texts/s": float(re.findall(r"([\d,.]+) texts/s", told)[-1].replace(",", ""))}


def prepare(arguments, folder):
    """The bundles, and ONNX Runtime's quantized form of the fp32 one."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    longest = ["--max-tokens", str(max(LENGTHS))] if arguments.latency else []
    forms = {precision: ["--precision", precision] for precision in PRECISIONS} | {"padded": ["--padded"]}
    for name, flags in forms.items():
        subprocess.run([arguments.weir, "import", "-q", arguments.model, folder / name, *flags, *longest], check=True)
    quantize_dynamic(folder / "padded/model.onnx", folder / "quantized.onnx", weight_type=QuantType.QInt8)


def engines(arguments, folder):
    library = pathlib.Path(arguments.weir).parent.parent / "lib/libweir_ops.so"
    graphs = {"ONNX Runtime int8": folder / "quantized.onnx", "ONNX Runtime fp32": folder / "padded/model.onnx"}
    job = {"bundle": folder / "padded", "texts": arguments.texts, "most": arguments.most, "latency": arguments.latency}
    if arguments.latency:
        for precision in PRECISIONS:
            yield f"weir {precision}", lambda precision=precision: in_process_of_its_own(
                {**job, "model": folder / precision / "model.onnx", "library": library})
        for name, graph in graphs.items():
            yield name, lambda graph=graph: in_process_of_its_own({**job, "model": graph})
        return
    for precision in (*PRECISIONS, "padded"):
        yield f"weir {precision}", lambda precision=precision: weir_embed(
            arguments.weir, folder / precision, arguments.texts, arguments.most, folder)
    for name, graph in graphs.items():
        for arrangement in ARRANGEMENTS:
            yield f"{name}, {arrangement}", lambda graph=graph, arrangement=arrangement: in_process_of_its_own(
                {**job, "model": graph, "arrangement": arrangement})


def main():
    if sys.argv[1:2] == ["--worker"]:
        worker(json.loads(sys.argv[2]))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("texts")
    parser.add_argument("--weir", default="build/release/bin/weir")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--most", type=int, default=2000, help="texts")
    parser.add_argument("--latency", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        prepare(arguments, folder)
        found = {}
        for _ in range(arguments.rounds):
            for engine, measure in engines(arguments, folder):
                for unit, value in measure().items():
                    found.setdefault((engine, unit), []).append(value)
    units = sorted({unit for _, unit in found})
    print("| engine | " + " | ".join(units) + " |\n|---|" + "---|" * len(units))
    for engine in dict.fromkeys(engine for engine, _ in found):
        print(f"| {engine} | " + " | ".join(f"{statistics.median(found[engine, unit]):.2f}" for unit in units) + " |")


if __name__ == "__main__":
    main()
