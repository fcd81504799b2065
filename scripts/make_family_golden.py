#!/usr/bin/env python3
"""Writes tests/data/families: for each family a random model small enough to commit, in the family's own form, and the
mean of its token vectors for a few texts as its own library computes them. src/importer/families_test.cc imports and
compares. Run it only to add a family or change a model; what it writes is committed. Needs torch and transformers:

    python scripts/make_family_golden.py tests/data/families [NAME ...]
"""

import json
import pathlib
import sys

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

import family_models

SIZE = family_models.Size(hidden=16, heads=4, layers=3, intermediate=24, positions=40, vocabulary=64)
# [PAD] is 1, as the families that count positions from it have it.
PIECES = ["[CLS]", "[PAD]", "[SEP]", "[UNK]"] + """the a river water dam gate open opens flood low high old stone bridge
 boat fish rain snow wind and of in is . ? ##s ##ed ##ing""".split()
TEXTS = [
    "water",
    "the river opens the gate",
    "is the old stone bridge high ?",
    "a low dam and the flood of snow water in the wind . the boats fished in the rain and opened",
    "the [PAD] river",
]


def make_tokenizer():
    tokenizer = Tokenizer(models.WordPiece({piece: i for i, piece in enumerate(PIECES)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 0), ("[SEP]", 2)])
    tokenizer.add_special_tokens(["[CLS]", "[PAD]", "[SEP]", "[UNK]"])
    return tokenizer


def expected(model, tokenizer):
    lines = []
    for text in TEXTS:
        ids = torch.tensor([tokenizer.encode(text).ids])
        hidden = model.hidden(ids, torch.ones_like(ids), torch.zeros_like(ids))
        vector = hidden[0].double().mean(0)
        lines.append(json.dumps({"text": text, "vector": [float(f"{x:.8g}") for x in vector]}))
    return "[\n" + ",\n".join(lines) + "\n]\n"


def main():
    root = pathlib.Path(sys.argv[1])
    root.mkdir(parents=True, exist_ok=True)
    tokenizer = make_tokenizer()
    tokenizer.save(str(root / "tokenizer.json"))
    for name, make in family_models.families(SIZE).items():
        if sys.argv[2:] and name not in sys.argv[2:]:
            continue
        model = make()
        folder = root / name
        model.save(folder)
        for extra in folder.glob("*"):
            if extra.name not in ("config.json", "model.safetensors"):
                extra.unlink()
        (folder / "expected.json").write_text(expected(model, tokenizer), encoding="utf-8")


if __name__ == "__main__":
    main()
