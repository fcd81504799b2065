#!/usr/bin/env python3
"""Is this change slower than the commit it is based on? A short benchmark of both, in turns, without a network.

Builds `weir` of the base commit in build/gate (ccache makes it the files that differ), makes a model with random weights, and
runs `weir bench run --in-process` in rounds of base, change, base. Two figures are judged: requests per second, and
processor time per request. The noise is what base against base differs by in the same rounds: a change fails when the
99 % interval of its slowdown lies wholly above the noise and the slowdown is above 3 %.

Where there is no base commit, it cannot be built in time, or it has no `weir bench` yet, a note says so and the status is 0.

usage: scripts/regression_gate.py --change build/ci/bin/weir [--base COMMIT] [--rounds N] [--seconds S]
"""

import argparse
import json
import math
import os
import re
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORKTREE = ROOT / "build" / "gate"
MATTERS = re.compile(r"^(src|apps|cmake)/(?!.*_test\.cc$)|^CMake(Lists\.txt|Presets\.json)$|^scripts/setup\.sh$")
LEAST_SLOWDOWN = 0.03
# 99.5 % quantiles of Student's t for 2 to 15 degrees of freedom.
T_995 = {2: 9.925, 3: 5.841, 4: 4.604, 5: 4.032, 6: 3.707, 7: 3.499, 8: 3.355, 9: 3.250, 10: 3.169, 11: 3.106, 12: 3.055, 13: 3.012, 14: 2.977, 15: 2.947}


class NotPossible(Exception):
    """Why there is nothing to compare with."""


# --- the statistics -----------------------------------------------------------------------------------------------------


def interval(values):
    """Mean and half the width of its 99 % interval."""
    mean = statistics.fmean(values)
    return mean, T_995[len(values) - 1] * statistics.stdev(values) / math.sqrt(len(values))


def judge(rounds):
    """`rounds`: (base, change, base again) of a figure of which more is worse. (slowdown, its margin, noise, fails)."""
    slowdowns = [math.log(change / math.sqrt(before * after)) for before, change, after in rounds]
    noises = [math.log(after / before) for before, _, after in rounds]
    slowdown, margin = interval(slowdowns)
    drift, drift_margin = interval(noises)
    noise = abs(drift) + drift_margin
    return slowdown, margin, noise, slowdown - margin > noise and slowdown > LEAST_SLOWDOWN


# --- base commit and model ----------------------------------------------------------------------------------------------


def git(*arguments, check=True):
    result = subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True, check=False)
    if check and result.returncode != 0:
        raise NotPossible(f"git {' '.join(map(str, arguments))}: {result.stderr.strip()}")
    return result.stdout.strip() if result.returncode == 0 else ""


def base_commit(wanted):
    """What the change is based on: the merge base with the main branch, or, on it, the commit before."""
    if wanted:
        return git("rev-parse", "--verify", wanted + "^{commit}")
    head = git("rev-parse", "HEAD")
    for branch in ("origin/main", "origin/master", "main", "master"):
        base = git("merge-base", "HEAD", branch, check=False)
        if base and base != head:
            return base
    parent = git("rev-parse", "--verify", "HEAD~1^{commit}", check=False)
    if not parent:
        raise NotPossible("there is no commit before this one here (a shallow clone?)")
    return parent


def changed_sources(base):
    names = git("diff", "--name-only", base).splitlines() + git("ls-files", "--others", "--exclude-standard").splitlines()
    return [name for name in names if MATTERS.match(name)]


def build_base(base, limit_seconds):
    """The base commit's weir."""
    git("worktree", "prune")
    if not WORKTREE.exists():
        WORKTREE.parent.mkdir(exist_ok=True)
        git("worktree", "add", "--detach", "--force", WORKTREE, base)
        (WORKTREE / ".deps").symlink_to(ROOT / ".deps")
    else:
        subprocess.run(["git", "-C", WORKTREE, "checkout", "-q", "--detach", "--force", base], check=True)
    began = time.monotonic()
    commands = (["cmake", "--preset", "ci", "-DWEIR_TESTS=OFF", "--log-level=WARNING"],
                ["cmake", "--build", "--preset", "ci", "-j", str(os.cpu_count()), "--target", "weir"])
    for command in commands:
        left = limit_seconds - (time.monotonic() - began)
        try:
            built = subprocess.run(command, cwd=WORKTREE, capture_output=True, text=True, timeout=left, check=False)
        except subprocess.TimeoutExpired:
            raise NotPossible(f"the base commit was not built within {limit_seconds} s (is ccache installed?)") from None
        if built.returncode != 0:
            raise NotPossible(f"the base commit does not build: {(built.stdout + built.stderr)[-600:]}")
    return WORKTREE / "build" / "ci" / "bin" / "weir"


def write_model(folder, layers=4, hidden=256, intermediate=1024):
    """A BERT with random weights, large enough that its arithmetic is what takes the time. The tokenizer is the tests'."""
    import numpy  # of the test environment

    tiny = ROOT / "tests" / "data" / "tiny-bert"
    shutil.copytree(tiny, folder)
    config = json.loads((tiny / "config.json").read_text())
    config |= {"hidden_size": hidden, "num_hidden_layers": layers, "intermediate_size": intermediate, "max_position_embeddings": 256}
    (folder / "config.json").write_text(json.dumps(config))
    pooling = folder / "1_Pooling" / "config.json"
    pooling.write_text(json.dumps(json.loads(pooling.read_text()) | {"word_embedding_dimension": hidden}))
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 256, "do_lower_case": False}))
    shapes = {"embeddings.word_embeddings.weight": (config["vocab_size"], hidden),
              "embeddings.position_embeddings.weight": (256, hidden), "embeddings.token_type_embeddings.weight": (2, hidden)}
    norms = ["embeddings.LayerNorm"]
    for layer in range(layers):
        name = f"encoder.layer.{layer}."
        norms += [name + "attention.output.LayerNorm", name + "output.LayerNorm"]
        for part in ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"):
            shapes[name + part + ".weight"] = (hidden, hidden)
        shapes[name + "intermediate.dense.weight"] = (intermediate, hidden)
        shapes[name + "output.dense.weight"] = (hidden, intermediate)
    random = numpy.random.default_rng(1)
    tensors = {}
    for name, shape in shapes.items():
        tensors[name] = random.normal(0, 0.05, shape).astype(numpy.float32)
        if ".layer." in name:
            tensors[name.replace(".weight", ".bias")] = numpy.zeros(shape[0], numpy.float32)
    for name in norms:
        tensors[name + ".weight"] = numpy.ones(hidden, numpy.float32)
        tensors[name + ".bias"] = numpy.zeros(hidden, numpy.float32)
    header, blob = {}, b""
    for name, tensor in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [len(blob), len(blob) + tensor.nbytes]}
        blob += tensor.tobytes()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + blob)


def import_model(programs, folder):
    """Each program makes its own bundle, of the fastest precision that all of them can."""
    for precision in ("int8", "fp32"):
        errors = []
        for name, program in programs.items():
            command = [program, "import", folder / "source", folder / name, "--precision", precision, "--force", "--quiet"]
            imported = subprocess.run(command, capture_output=True, text=True, check=False)
            if imported.returncode != 0:
                errors.append(f"{program} could not import the model: {imported.stderr.strip()[-300:]}")
        if not errors:
            return precision
    raise NotPossible(errors[0])


# --- measuring ----------------------------------------------------------------------------------------------------------


def measure(program, bundle, seconds):
    """Seconds of the clock and of the processors, per request."""
    command = [program, "bench", "run", "--in-process", bundle, "--clients", "8", "--duration", str(seconds), "--warmup", "0.4",
               "--no-calibration", "--json", "-"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("WEIR_")}
    run = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=False)
    if run.returncode != 0:
        raise NotPossible(f"{program} bench: {run.stderr.strip()[-300:]}")
    figures = json.loads(run.stdout)["runs"][0]
    if figures["requests_per_second"] <= 0:
        raise NotPossible(f"the machine gave so little time that a run of {seconds} s answered nothing")
    return 1 / figures["requests_per_second"], figures["server"]["cpu_cores"] / figures["requests_per_second"]


def compare(change, base, rounds, seconds):
    with tempfile.TemporaryDirectory(prefix="weir-gate-") as folder:
        folder = Path(folder)
        write_model(folder / "source")
        precision = import_model({"base": base, "change": change}, folder)
        print(f"regression gate: {rounds} rounds of a model with random weights in {precision}")
        results = []
        for _ in range(rounds):
            results.append([measure(program, folder / name, seconds)
                            for program, name in ((base, "base"), (change, "change"), (base, "base"))])
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--change", required=True, help="the weir program of the change")
    parser.add_argument("--base", help="the commit to compare with (default: the merge base with main, or the commit before)")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.6, help="of each run")
    parser.add_argument("--build-seconds", type=int, default=240, help="that building the base may take")
    options = parser.parse_args()
    if not 3 <= options.rounds <= 16:
        parser.error("--rounds: 3 to 16")
    began = time.monotonic()
    try:
        base = base_commit(options.base)
        if not changed_sources(base):
            print(f"regression gate: nothing that is compiled differs from {base[:10]}: not run")
            return 0
        program = build_base(base, options.build_seconds)
        help_text = subprocess.run([program, "--help"], capture_output=True, text=True, check=False).stdout
        if not re.search(r"^  bench ", help_text, re.M):
            raise NotPossible(f"{base[:10]} has no `weir bench` yet")
        built = time.monotonic()
        results = compare(Path(options.change).resolve(), program, options.rounds, options.seconds)
    except NotPossible as reason:
        print(f"regression gate: NOT RUN: {reason}")
        return 0
    failed = False
    for index, name in enumerate(("time per request", "processor time per request")):
        slowdown, margin, noise, fails = judge([tuple(run[index] for run in each) for each in results])
        failed = failed or fails
        print(f"regression gate: {name}: change / base = {math.exp(slowdown):.3f}, 99 % interval {math.exp(slowdown - margin):.3f} to "
              f"{math.exp(slowdown + margin):.3f}; base against base differs by up to {100 * (math.exp(noise) - 1):.1f} %: "
              f"{'SLOWER' if fails else 'not shown to be slower'}")
    print(f"regression gate: {'FAILED' if failed else 'passed'} against {base[:10]}; built in {built - began:.0f} s, measured in "
          f"{time.monotonic() - built:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
