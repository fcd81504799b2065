#!/usr/bin/env python3
"""Writes tests/data/late_interaction: a random ColBERT model in each form (late_interaction_models.py), small enough to
commit, and the vectors and scores that sentence-transformers gives for a few queries and documents. What it writes is
committed. Needs torch, transformers and sentence-transformers:

    python scripts/make_late_interaction_golden.py tests/data/late_interaction
"""

import json
import pathlib
import shutil
import sys

import late_interaction_models

QUERIES = ["water", "is the old bridge high ?", "a low dam and the flood of snow water in the wind and the rain"]
DOCUMENTS = ["the river opens the gate", "a stone , an old bridge .", "!",
             "the boats fished in the rain , and opened : the gate of the old stone dam is low and high and low again"]
SIZE = late_interaction_models.size_of(16, 2, 2, 24)
KEPT = {"config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json", "modules.json",
        "artifact.metadata", "sentence_bert_config.json", "config_sentence_transformers.json"}


def rounded(tensor):
    return [[float(f"{x:.7g}") for x in row] for row in tensor.tolist()]


def main():
    root = pathlib.Path(sys.argv[1])
    shutil.rmtree(root, ignore_errors=True)
    for name, write in late_interaction_models.FORMS.items():
        folder = root / name
        folder.mkdir(parents=True)
        write(folder, SIZE, 8)
        for path in folder.iterdir():
            if path.is_file() and path.name not in KEPT:
                path.unlink()
        queries, documents, scores = late_interaction_models.compute(folder, QUERIES, DOCUMENTS)
        expected = {
            "queries": [{"text": text, "vectors": rounded(vectors)} for text, vectors in zip(QUERIES, queries)],
            "documents": [{"text": text, "vectors": rounded(vectors)} for text, vectors in zip(DOCUMENTS, documents)],
            "scores": rounded(scores)}
        (folder / "expected.json").write_text(json.dumps(expected) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
