#!/usr/bin/env python3
"""Holds a model of bge-m3's shape to PyTorch: XLM-RoBERTa large with random weights and 8,192 positions, and its heads for
words and for multi-vectors in the files that bge-m3 has them in. Imports it in each precision, serves it, and compares
the three kinds of vectors of short texts and of one long text with what PyTorch computes. Then the longest text goes
through weir alone, and the server's memory is told.

    python scripts/check_bge_m3.py build/release/bin/weir FOLDER [--layers 24] [--vocabulary 250002]
                                   [--long 2048] [--longest 8190] [--precisions fp32,int8]

FOLDER is made, and holds up to 8 GB while it runs; removed afterwards. The full shape takes 10 GB of memory and some
minutes of two cores; `--layers 2 --vocabulary 6000 --long 512` takes seconds. Needs torch, transformers and tokenizers. Fails where fp32's vectors
are not within 1e-3 of PyTorch's, or those of another precision have a lower cosine than LEAST_COSINE.
"""

import argparse
import json
import pathlib
import random
import shutil
import subprocess
import sys
import time

import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from served_model import ServedModel

WORDS = 5000
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>"]
TOLERANCE = 1e-3
LEAST_COSINE = {"bf16": 0.999, "int8": 0.97}
MEMORY_NAMES = ("VmHWM", "VmRSS", "RssAnon")


def write_tokenizer(folder, max_tokens):
    words = {word: i for i, word in enumerate([*SPECIAL, *(f"w{i}" for i in range(WORDS))])}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = {"model_max_length": max_tokens, "model_input_names": ["input_ids", "attention_mask"]}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    return tokenizer


class Reference:
    """The encoder and its heads, as bge-m3's own code reads them."""

    def __init__(self, folder, layers, vocabulary):
        torch.manual_seed(17)
        config = transformers.XLMRobertaConfig(
            vocab_size=vocabulary, hidden_size=1024, num_hidden_layers=layers, num_attention_heads=16,
            intermediate_size=4096, max_position_embeddings=8194, type_vocab_size=1, layer_norm_eps=1e-5,
            initializer_range=0.03)
        self.encoder = transformers.XLMRobertaModel(config, add_pooling_layer=False).eval()
        self.words, self.vectors = torch.nn.Linear(1024, 1), torch.nn.Linear(1024, 1024)
        torch.nn.init.constant_(self.words.bias, 0.5)  # Most words matter.
        folder.mkdir(parents=True)
        self.encoder.save_pretrained(folder)
        torch.save(self.words.state_dict(), folder / "sparse_linear.pt")
        torch.save(self.vectors.state_dict(), folder / "colbert_linear.pt")

    @torch.no_grad()
    def numbers(self, ids):
        hidden = self.encoder(torch.tensor([ids])).last_hidden_state[0]
        weights = torch.relu(self.words(hidden))[:, 0].tolist()
        lexical = {}
        for token, weight in zip(ids, weights, strict=True):
            if token >= len(SPECIAL) and weight > 0:
                lexical[token] = max(lexical.get(token, 0.0), weight)
        return {"dense": torch.nn.functional.normalize(hidden[0], dim=-1)[None],
                "multi": torch.nn.functional.normalize(self.vectors(hidden[1:]), dim=-1), "lexical": lexical}


def text_of(count, seed):
    """A text of so many tokens, those before and after it included."""
    generator = random.Random(seed)
    return " ".join(f"w{min(int(generator.expovariate(0.002)), WORDS - 1)}" for _ in range(count - 2))


class Server(ServedModel):
    def __init__(self, weir, bundle):
        super().__init__(weir, bundle, "--max-wait", "1h")

    def numbers(self, text):
        dense, multi, lexical = (self.answer(path, {"inputs": text})
                                 for path in ("/embed", "/embed_all", "/embed_sparse"))
        return {"dense": torch.tensor(dense), "multi": torch.tensor(multi[0]),
                "lexical": {word["index"]: word["value"] for word in lexical[0]}}

    def memory(self):
        lines = pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        kib = {line.split(":")[0]: int(line.split()[1]) for line in lines if line.split(":")[0] in MEMORY_NAMES}
        return ", ".join(f"{name} {kib[name] // 1024} MiB" for name in MEMORY_NAMES)


def compare(found, wanted):
    """Per kind of vector, the least cosine and the largest difference."""
    result = {}
    for kind in ("dense", "multi"):
        if found[kind].shape != wanted[kind].shape:
            raise SystemExit(f"{kind} has the shape {tuple(found[kind].shape)}, not {tuple(wanted[kind].shape)}")
        cosines = torch.nn.functional.cosine_similarity(found[kind], wanted[kind])
        result[kind] = (float(cosines.min()), float((found[kind] - wanted[kind]).abs().max()))
    words = sorted({*found["lexical"], *wanted["lexical"]})
    if not words:
        raise SystemExit("no word of a text matters")
    mine, theirs = (torch.tensor([numbers["lexical"].get(word, 0.0) for word in words]) for numbers in (found, wanted))
    result["lexical"] = (float(torch.nn.functional.cosine_similarity(mine, theirs, dim=0)),
                         float((mine - theirs).abs().max()))
    return result


def check(server, precision, samples):
    failed = False
    for text, wanted, tokens in samples:
        began = time.monotonic()
        kinds = compare(server.numbers(text), wanted)
        seconds = time.monotonic() - began
        for kind, (cosine, difference) in kinds.items():
            bad = difference > TOLERANCE if precision == "fp32" else cosine < LEAST_COSINE[precision]
            failed |= bad
            print(f"{precision}, {tokens} tokens, {kind}: cosine at least {cosine:.6f}, difference at most "
                  f"{difference:.2e}{'  TOO FAR' if bad else ''}", flush=True)
        print(f"{precision}, {tokens} tokens: {seconds:.1f} s for the three requests", flush=True)
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weir")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--layers", type=int, default=24)
    parser.add_argument("--vocabulary", type=int, default=250002)
    parser.add_argument("--long", type=int, default=2048, help="tokens of the long text that PyTorch computes too")
    parser.add_argument("--longest", type=int, default=8190, help="tokens of the text that weir computes alone")
    parser.add_argument("--precisions", default="fp32,int8")
    options = parser.parse_args()

    source, bundle = options.folder / "source", options.folder / "bundle"
    reference = Reference(source, options.layers, options.vocabulary)
    tokenizer = write_tokenizer(source, 8192)
    samples = []
    for tokens in (3, 17, 150, options.long):
        text = text_of(tokens, tokens)
        began = time.monotonic()
        samples.append((text, reference.numbers(tokenizer.encode(text).ids), tokens))
        print(f"PyTorch, {tokens} tokens: {time.monotonic() - began:.1f} s", flush=True)
    del reference
    failed = False
    for precision in options.precisions.split(","):
        began = time.monotonic()
        subprocess.run([options.weir, "import", source, bundle, "--force", "--pooling", "cls", "--normalize",
                        "--precision", precision], check=True)
        print(f"{precision}: imported in {time.monotonic() - began:.0f} s", flush=True)
        with Server(options.weir, bundle) as server:
            print(f"{precision}, ready: {server.memory()}", flush=True)
            failed |= check(server, precision, samples)
            began = time.monotonic()
            longest = server.numbers(text_of(options.longest, 1))
            print(f"{precision}, {options.longest} tokens: {longest['multi'].shape[0]} multi-vectors, "
                  f"{time.monotonic() - began:.1f} s for the three requests; {server.memory()}", flush=True)
    shutil.rmtree(options.folder)
    sys.exit(failed)


if __name__ == "__main__":
    main()
