#!/usr/bin/env python3
"""Holds every model family to its own library: a random small model in each family's own form, imported by weir, its
token vectors compared with what PyTorch computes, for texts of 1, 2, 7, 128 and the most tokens, alone and mixed in one
padded batch.

    python scripts/check_families.py build/release/bin/weir [--family NAME]

Needs torch, transformers, tokenizers and onnxruntime, none of which the project needs otherwise.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy
import onnxruntime
import torch
from tokenizers import Tokenizer, models, processors

import family_models

TOLERANCE = 1e-4
SIZE = family_models.Size(hidden=48, heads=6, layers=4, intermediate=80, positions=260, vocabulary=120)


def write_tokenizer(folder):
    words = {token: index for index, token in enumerate(["[CLS]", "[PAD]", "[SEP]", "[UNK]"])}
    tokenizer = Tokenizer(models.WordPiece(words, unk_token="[UNK]"))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 0), ("[SEP]", 2)])
    tokenizer.save(str(folder / "tokenizer.json"))


def imported(weir, model, folder):
    model.save(folder / "source")
    write_tokenizer(folder / "source")
    command = [weir, "import", str(folder / "source"), str(folder / "bundle"), "--pooling", "mean", "--no-normalize",
               "--max-tokens", str(model.max_tokens), "--precision", "fp32"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(done.stdout + done.stderr)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(folder / "bundle" / "model.onnx"), options,
                                        providers=["CPUExecutionProvider"])


def padded(texts, pad):
    columns = max(len(text) for text in texts)
    ids = numpy.full((len(texts), columns), pad, numpy.int64)
    mask = numpy.zeros_like(ids)
    types = numpy.zeros_like(ids)
    for row, text in enumerate(texts):
        ids[row, :len(text)] = text
        mask[row, :len(text)] = 1
        types[row, len(text) // 2:len(text)] = 1
    return ids, mask, types


def difference(session, model, texts, pad):
    ids, mask, types = padded(texts, pad)
    inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}
    wanted = {info.name for info in session.get_inputs()}
    if ("token_type_ids" in wanted) != model.takes_types:
        raise SystemExit(f"the graph takes {sorted(wanted)}")
    found = session.run(["last_hidden_state"], {name: inputs[name] for name in wanted})[0]
    expected = model.hidden(*(torch.from_numpy(array) for array in (ids, mask, types))).numpy()
    return float(numpy.abs((found - expected)[mask == 1]).max())


def check(weir, name, make):
    model = make()
    generator = numpy.random.default_rng(1)
    lengths = [1, 2, 7, 128, model.max_tokens]
    texts = [generator.integers(4, SIZE.vocabulary, length).tolist() for length in lengths]
    pad = model.config.get("pad_token_id") or 0
    with tempfile.TemporaryDirectory() as folder:
        session = imported(weir, model, pathlib.Path(folder))
        batches = [[text] for text in texts] + [texts, texts[:3], texts[::-1]]
        largest = max(difference(session, model, batch, pad) for batch in batches)
    print(f"{name:20} {largest:.1e}  {'ok' if largest <= TOLERANCE else 'TOO LARGE'}")
    return largest <= TOLERANCE


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("weir")
    parser.add_argument("--family", action="append")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    table = family_models.families(SIZE)
    names = arguments.family or list(table)
    results = [check(arguments.weir, name, table[name]) for name in names]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
