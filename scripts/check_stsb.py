#!/usr/bin/env python3
"""Holds weir's vectors of the STS-B test sentences to PyTorch's, text by text, and to the model's known score.

    python scripts/check_stsb.py CSV MODEL_FOLDER WEIR [--score 82.03]

CSV           sentence1,sentence2,score without a header (stsb-en-test.csv of the STS benchmark)
MODEL_FOLDER  the model as sentence-transformers loads it
WEIR          the address of a running server (http://127.0.0.1:8080), or a bundle that is run with ONNX Runtime here,
              tokenized by the `tokenizers` package

Prints the lowest cosine between the two vectors of a text, the largest difference of a number, and Spearman's
correlation × 100 of both. Fails below a cosine of 0.99999 or more than 0.02 from --score. Run by developers: it needs
torch, sentence-transformers and scipy; a bundle also needs onnxruntime and tokenizers.
"""

import argparse
import csv
import json
import pathlib
import sys
import urllib.request

import numpy as np
from scipy.stats import spearmanr
from sentence_transformers import SentenceTransformer

LOWEST_COSINE = 0.99999
SCORE_MARGIN = 0.02
BATCH = 64


def read_pairs(path):
    with open(path, encoding="utf-8", newline="") as file:
        rows = [row for row in csv.reader(file) if row]
    return [row[0] for row in rows], [row[1] for row in rows], [float(row[2]) for row in rows]


def vectors_from_server(url, texts):
    vectors = []
    for start in range(0, len(texts), BATCH):
        body = json.dumps({"inputs": texts[start:start + BATCH]}).encode()
        request = urllib.request.Request(url.rstrip("/") + "/embed", body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=120) as response:
            vectors += json.load(response)
    return np.array(vectors)


def pool(hidden, mask, how):
    mask = mask[..., None].astype(np.float64)
    if how == "mean":
        return (hidden * mask).sum(1) / mask.sum(1)
    if how == "cls":
        return hidden[:, 0]
    if how == "max":
        return np.where(mask > 0, hidden, -np.inf).max(1)
    last = mask[..., 0].sum(1).astype(int) - 1
    return hidden[np.arange(len(hidden)), last]


def vectors_from_bundle(folder, texts):
    import onnxruntime
    import tokenizers

    manifest = json.loads((folder / "weir.json").read_text(encoding="utf-8"))
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(manifest["max_tokens"])
    tokenizer.enable_padding(pad_id=manifest["pad_token_id"])
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"), providers=["CPUExecutionProvider"])
    vectors = []
    for start in range(0, len(texts), BATCH):
        encodings = tokenizer.encode_batch(texts[start:start + BATCH])
        feeds = {"input_ids": [e.ids for e in encodings], "attention_mask": [e.attention_mask for e in encodings]}
        if manifest["has_token_type_ids"]:
            feeds["token_type_ids"] = [e.type_ids for e in encodings]
        feeds = {name: np.array(values, np.int64) for name, values in feeds.items()}
        output = session.run([manifest["output"]["name"]], feeds)[0]
        pooled = output if output.ndim == 2 else pool(output, feeds["attention_mask"], manifest["pooling"])
        if manifest["normalize"]:
            pooled = pooled / np.linalg.norm(pooled, axis=1, keepdims=True)
        vectors.append(pooled)
    return np.concatenate(vectors)


def score(first, second, truth):
    cosines = (first * second).sum(1) / np.linalg.norm(first, axis=1) / np.linalg.norm(second, axis=1)
    return 100 * spearmanr(cosines, truth).statistic


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("csv")
    parser.add_argument("model_folder")
    parser.add_argument("weir")
    parser.add_argument("--score", type=float, help="what Spearman's correlation x 100 must be")
    arguments = parser.parse_args()
    first, second, truth = read_pairs(arguments.csv)
    texts = first + second
    reference = SentenceTransformer(arguments.model_folder, device="cpu").encode(texts, batch_size=BATCH)
    if arguments.weir.startswith("http"):
        ours = vectors_from_server(arguments.weir, texts)
    else:
        ours = vectors_from_bundle(pathlib.Path(arguments.weir), texts)
    cosines = (reference * ours).sum(1) / np.linalg.norm(reference, axis=1) / np.linalg.norm(ours, axis=1)
    half = len(first)
    ours_score = score(ours[:half], ours[half:], truth)
    print(f"texts               {len(texts)}")
    print(f"lowest cosine       {cosines.min():.8f}")
    print(f"largest difference  {np.abs(reference - ours).max():.2e}")
    print(f"Spearman x 100      {ours_score:.3f} (PyTorch {score(reference[:half], reference[half:], truth):.3f})")
    failed = cosines.min() < LOWEST_COSINE
    failed |= arguments.score is not None and abs(ours_score - arguments.score) > SCORE_MARGIN
    print("FAILED" if failed else "ok")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
