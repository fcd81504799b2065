#!/usr/bin/env python3
"""Holds every model family to its own library: a random small model in each family's own form, imported by weir, its
token vectors compared with what PyTorch computes, for texts of 1, 2, 7, 128 and the most tokens, alone and mixed in one
padded batch. Then the same under the library's heads: labels of texts and of tokens, and SPLADE's weights of words.

    python scripts/check_families.py build/release/bin/weir [--family NAME]

Needs torch, transformers, tokenizers and onnxruntime, none of which the project needs otherwise.
"""

import argparse
import copy
import pathlib
import subprocess
import sys
import tempfile

import numpy
import onnxruntime
import torch
import transformers
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


def imported(weir, model, folder, flags=("--pooling", "mean", "--no-normalize")):
    model.save(folder / "source")
    write_tokenizer(folder / "source")
    command = [weir, "import", str(folder / "source"), str(folder / "bundle"), *flags,
               "--max-tokens", str(model.max_tokens), "--padded"]
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


HEADS = {  # architecture → the graph's output, and what it is of transformers' logits
    "SequenceClassification": ("logits", lambda logits, mask: logits),
    "TokenClassification": ("logits", lambda logits, mask: logits),
    "MaskedLM": ("word_weights", lambda logits, mask: torch.log1p(torch.relu(logits) * mask[..., None]).amax(1)),
}
WORD_HEADS = ("bert", "distilbert", "roberta", "xlm-roberta", "camembert", "modernbert")


def check_head(weir, name, head, config):
    """The same model under one of its library's heads, as weir's graph gives it."""
    auto = getattr(transformers, "AutoModelFor" + head)
    config = copy.deepcopy(config)
    if head != "MaskedLM":
        config.id2label = {0: "a", 1: "b", 2: "c"}
        config.label2id = {"a": 0, "b": 1, "c": 2}
    module = family_models.shake(auto.from_config(config), 3)
    module.tie_weights()
    model = family_models.Model(module, config.to_dict(), "token_type_ids" in graph_inputs(config), 40)
    generator = numpy.random.default_rng(2)
    texts = [generator.integers(4, SIZE.vocabulary, length).tolist() for length in (1, 7, 40)]
    ids, mask, types = padded(texts, config.pad_token_id or 0)
    with tempfile.TemporaryDirectory() as folder:
        task = ["--task", "sparse"] if head == "MaskedLM" else []
        session = imported(weir, model, pathlib.Path(folder), task)
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}
        output, of_logits = HEADS[head]
        found = session.run([output], {info.name: inputs[info.name] for info in session.get_inputs()})[0]
    arguments = {key: torch.from_numpy(value) for key, value in inputs.items()}
    if not model.takes_types:
        del arguments["token_type_ids"]
    with torch.no_grad():
        logits = module(**arguments).logits
    expected = of_logits(logits, torch.from_numpy(mask)).numpy()
    where = mask == 1 if head == "TokenClassification" else slice(None)
    largest = float(numpy.abs((found - expected)[where]).max())
    print(f"{name:20} {head:24} {largest:.1e}  {'ok' if largest <= TOLERANCE else 'TOO LARGE'}", flush=True)
    return largest <= TOLERANCE


def graph_inputs(config):
    types = getattr(config, "type_vocab_size", 0) or 0
    return ["token_type_ids"] if types > 1 and config.model_type not in ("roberta", "xlm-roberta", "camembert") else []


def check_heads(weir, name, make):
    model = make()
    if not isinstance(model.module, transformers.PreTrainedModel):
        return True
    heads = [head for head in HEADS if head != "MaskedLM" or name in WORD_HEADS]
    return all([check_head(weir, name, head, model.module.config) for head in heads])


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
    print(f"{name:20} {largest:.1e}  {'ok' if largest <= TOLERANCE else 'TOO LARGE'}", flush=True)
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
    results += [check_heads(arguments.weir, name, table[name]) for name in names]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
