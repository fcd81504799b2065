#!/usr/bin/env python3
"""Holds ColBERT models to sentence-transformers: a random model in each form in which such models are saved
(late_interaction_models.py), imported in each precision and served; the vectors of queries and documents, and the scores
of rerank. fp32's must be within 1e-4; of the other precisions the cosine of each token's vector counts.

    python scripts/check_late_interaction.py build/release/bin/weir [--form NAME] [--families]

--families takes PyLate's form on each family instead.

Needs torch, transformers and sentence-transformers.
"""

import argparse
import pathlib
import random
import subprocess
import sys
import tempfile

import torch

import late_interaction_models as models
from served_model import ServedModel

PRECISIONS = {"fp32": ["--precision", "fp32"], "fp32, padded": ["--padded"], "bf16": ["--precision", "bf16"],
              "int8": ["--precision", "int8"]}
TOLERANCE = 1e-4
# Of a single token, on average and at least; a text's mean evens roundings out, a token does not.
LEAST_MEAN_COSINE = {"bf16": 0.9998, "int8": 0.997}
LEAST_COSINE = {"bf16": 0.999, "int8": 0.98}
SIZE = models.size_of(192, 6, 4, 384)
DIMENSIONS = 96


def texts(seed, counts):
    generator = random.Random(seed)
    pieces = [word for word in models.WORDS if not word.startswith("##")] + [".", ",", "?"]
    return [" ".join(generator.choice(pieces) for _ in range(count)) for count in counts]


QUERIES = texts(1, (1, 2, 3, 5, 8, 13, 30))
DOCUMENTS = texts(2, (1, 2, 4, 7, 11, 15, 17, 18, 40))


def compare(found, wanted):
    """The largest difference, and the mean and the least cosine of a token."""
    if [len(vectors) for vectors in found] != [len(vectors) for vectors in wanted]:
        raise SystemExit("the texts have other numbers of vectors")
    mine = torch.cat([torch.tensor(vectors) for vectors in found])
    theirs = torch.cat(list(wanted))
    cosines = torch.nn.functional.cosine_similarity(mine, theirs)
    return float((mine - theirs).abs().max()), float(cosines.mean()), float(cosines.min())


def check(server, name, precision, wanted):
    queries, documents, scores = wanted
    of_queries = server.answer("/embed_all", {"inputs": QUERIES, "prompt_name": "query"})
    of_documents = server.answer("/embed_all", {"inputs": DOCUMENTS})
    difference, mean, least = compare(of_queries + of_documents, queries + documents)
    furthest = 0.0
    for query, row in zip(QUERIES, scores.tolist(), strict=True):
        for entry in server.answer("/rerank", {"query": query, "texts": DOCUMENTS}):
            furthest = max(furthest, abs(entry["score"] - row[entry["index"]]) / models.QUERY_TOKENS)
    numeric = precision.split(",")[0]
    fits = difference <= TOLERANCE and furthest <= TOLERANCE if numeric == "fp32" else \
        mean >= LEAST_MEAN_COSINE[numeric] and least >= LEAST_COSINE[numeric]
    print(f"{name:18} {precision:13} difference {difference:.1e}, cosine mean {mean:.6f}, least {least:.6f}, scores a "
          f"query token {furthest:.1e}  {'ok' if fits else 'TOO FAR'}", flush=True)
    return fits


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weir")
    parser.add_argument("--form", choices=models.FORMS)
    parser.add_argument("--families", action="store_true")
    options = parser.parse_args()
    forms = models.family_forms() if options.families else models.FORMS
    good = True
    for name in [options.form] if options.form else forms:
        with tempfile.TemporaryDirectory() as folder:
            source, bundle = pathlib.Path(folder) / "source", pathlib.Path(folder) / "bundle"
            source.mkdir()
            forms[name](source, SIZE, DIMENSIONS)
            wanted = models.compute(source, QUERIES, DOCUMENTS)
            for precision, flags in PRECISIONS.items():
                subprocess.run([options.weir, "import", source, bundle, "--force", "--quiet", *flags], check=True)
                with ServedModel(options.weir, bundle) as server:
                    good &= check(server, name, precision, wanted)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
