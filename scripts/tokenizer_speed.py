#!/usr/bin/env python3
"""Compares the speed of weir's tokenizer with the PyPI package `tokenizers`, each on one thread, on the lines of files.

    .deps/venv/bin/python scripts/tokenizer_speed.py --bench build/bench/bin/weir_tokenizers_tokenizer_bench
        --tokenizer FILE [FILE...] --texts FILES... [--rounds N]

A row per tokenizer: thousand texts per second of processor time in the best round, weir and the package, and the ratio;
first for ids alone (the package's encode_batch_fast), then with offsets (encode_batch).
"""

import argparse
import os
import subprocess
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"

from tokenizers import Tokenizer  # noqa: E402  (it reads the variable when it is loaded)

BATCH = 256


def lines_of(files):
    for name in files:
        with open(name, "rb") as file:
            lines = file.read().split(b"\n")
            yield from (line.decode("utf-8", "replace") for line in (lines[:-1] if not lines[-1] else lines))


def package_seconds(encode_batch, batches, rounds):
    best = float("inf")
    for _ in range(rounds):
        begin = time.process_time()
        for batch in batches:
            encode_batch(batch)
        best = min(best, time.process_time() - begin)
    return best


def weir_seconds(bench, tokenizer, files, rounds):
    command = [bench, tokenizer, str(rounds), *files]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return [float(line.split()[-1]) for line in output.splitlines()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", required=True, help="the program weir_tokenizers_tokenizer_bench")
    parser.add_argument("--tokenizer", required=True, nargs="+", help="tokenizer.json files")
    parser.add_argument("--texts", required=True, nargs="+", help="files of texts, one a line")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    texts = list(lines_of(options.texts))
    batches = [texts[i:i + BATCH] for i in range(0, len(texts), BATCH)]
    print(f"{len(texts)} texts, {sum(len(t.encode()) for t in texts)} bytes")
    print("| tokenizer | ids: weir, 1000/s | package | ratio | offsets: weir | package | ratio |\n|---|---|---|---|---|---|---|")
    for file in options.tokenizer:
        package = Tokenizer.from_file(file)
        package.no_truncation()
        package.no_padding()
        row = [os.path.basename(file)]
        for weir, encode in zip(weir_seconds(options.bench, file, options.texts, options.rounds),
                                (package.encode_batch_fast, package.encode_batch)):
            other = package_seconds(encode, batches, options.rounds)
            row += [f"{len(texts) / weir / 1000:.0f}", f"{len(texts) / other / 1000:.1f}", f"{other / weir:.1f}"]
        print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
