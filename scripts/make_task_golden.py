#!/usr/bin/env python3
"""Writes tests/data/tasks: tiny random models with heads, in their own form, and the numbers that `transformers` gives for
a few texts: a reranker, a classifier, one of several labels at once, a token classifier, a SPLADE model, bge-m3's
three vectors, and, from sentence-transformers, an embedding model with Dense layers behind its pooling. The tokenizer is
that of tests/data/families. What it writes is committed. Needs torch, transformers and sentence-transformers:

    python scripts/make_task_golden.py tests/data
"""

import json
import pathlib
import shutil
import sys
import tempfile

import torch
import transformers
from safetensors.torch import save_file
from sentence_transformers import SentenceTransformer
from tokenizers import Tokenizer

import family_models
from make_family_golden import SIZE

TEXTS = ["water", "the river opens the gate", "is the old stone bridge high ?"]
PAIRS = [("is the water high ?", text) for text in TEXTS]
NAMES = ["O", "B-PLACE", "I-PLACE", "B-THING"]


def labels(names):
    return {"id2label": dict(enumerate(names)), "label2id": {name: i for i, name in enumerate(names)}}


def models():
    bert = transformers.BertConfig
    return {
        "rerank": (transformers.BertForSequenceClassification, bert(**SIZE.bert(), num_labels=1)),
        "classify": (transformers.ModernBertForSequenceClassification, transformers.ModernBertConfig(
            **SIZE.bert(bos_token_id=2, eos_token_id=3, cls_token_id=2, sep_token_id=3, local_attention=8),
            classifier_pooling="mean", **labels(["bad", "so so", "good"]))),
        "multi_label": (transformers.RobertaForSequenceClassification, transformers.RobertaConfig(
            **SIZE.bert(pad_token_id=1, type_vocab_size=1), problem_type="multi_label_classification",
            **labels(["dry", "wet"]))),
        "token_classify": (transformers.DistilBertForTokenClassification, transformers.DistilBertConfig(
            vocab_size=SIZE.vocabulary, dim=SIZE.hidden, n_layers=SIZE.layers, n_heads=SIZE.heads,
            hidden_dim=SIZE.intermediate, max_position_embeddings=SIZE.positions, **labels(NAMES))),
        "sparse": (transformers.BertForMaskedLM, bert(**SIZE.bert())),
    }


def numbers(name, model, encoding):
    inputs = {"input_ids": torch.tensor([encoding.ids]), "attention_mask": torch.tensor([encoding.attention_mask])}
    if model.config.model_type == "bert":
        inputs["token_type_ids"] = torch.tensor([encoding.type_ids])
    with torch.no_grad():
        logits = model(**inputs).logits[0]
    if name == "sparse":
        logits = torch.log1p(torch.relu(logits)).max(0).values
    return [float(f"{x:.8g}") for x in logits.flatten()]


def write_three_vectors(root, tokenizer):
    """bge-m3's form: the dense vector of the first token, a weight per word, a vector per token."""
    folder = root / "tasks" / "three_vectors"
    model = family_models.families(SIZE)["xlm-roberta"]()
    model.save(folder)
    torch.manual_seed(5)
    words, vectors = torch.nn.Linear(SIZE.hidden, 1), torch.nn.Linear(SIZE.hidden, 8)
    torch.save(words.state_dict(), folder / "sparse_linear.pt")
    torch.save(vectors.half().state_dict(), folder / "colbert_linear.pt")
    vectors.float()
    lines = []
    for text in TEXTS:
        ids = tokenizer.encode(text).ids
        row = torch.tensor([ids])
        hidden = model.hidden(row, torch.ones_like(row), torch.zeros_like(row))[0]
        with torch.no_grad():
            weights = torch.relu(words(hidden))[:, 0].tolist()
            multi = torch.nn.functional.normalize(vectors(hidden[1:]), dim=-1)
            dense = torch.nn.functional.normalize(hidden[0], dim=-1)
        lexical = {}
        for token, weight in zip(ids, weights):
            if token > 3 and weight > 0:
                lexical[token] = max(lexical.get(token, 0), weight)
        lines.append(json.dumps({"text": text, "dense": dense.tolist(), "multi": multi.tolist(), "lexical": lexical}))
    (folder / "expected.json").write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


def write_dense(root, tokenizer_path):
    """Two layers behind the pooling: one with an activation, in PyTorch's own form, and one with a residual."""
    folder = root / "tasks" / "dense"
    shutil.rmtree(folder, ignore_errors=True)
    family_models.families(SIZE)["bert"]().save(folder)
    library = "sentence_transformers.models."
    modules = [("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Dense", "Dense"), ("3_Dense", "Dense"),
               ("4_Normalize", "Normalize")]
    files = {
        "modules.json": [{"idx": i, "name": str(i), "path": path, "type": library + kind}
                         for i, (path, kind) in enumerate(modules)],
        "sentence_bert_config.json": {"max_seq_length": 38, "do_lower_case": False},
        "1_Pooling/config.json": {"word_embedding_dimension": SIZE.hidden, "pooling_mode_mean_tokens": True},
        "2_Dense/config.json": {"in_features": SIZE.hidden, "out_features": 12, "bias": True,
                                "activation_function": "torch.nn.modules.activation.Tanh"},
        "3_Dense/config.json": {"in_features": 12, "out_features": 6, "bias": False, "use_residual": True,
                                "activation_function": "torch.nn.modules.linear.Identity"}}
    for name, content in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(json.dumps(content) + "\n", encoding="utf-8")
    torch.manual_seed(6)
    linear = torch.nn.Linear(SIZE.hidden, 12).state_dict()
    torch.save({"linear." + name: tensor for name, tensor in linear.items()}, folder / "2_Dense" / "pytorch_model.bin")
    save_file({"linear.weight": torch.randn(6, 12), "residual.weight": torch.randn(6, 12)},
              str(folder / "3_Dense" / "model.safetensors"))
    with tempfile.TemporaryDirectory() as whole:
        shutil.copytree(folder, whole, dirs_exist_ok=True)
        transformers.PreTrainedTokenizerFast(
            tokenizer_file=str(tokenizer_path), unk_token="[UNK]", pad_token="[PAD]", cls_token="[CLS]",
            sep_token="[SEP]").save_pretrained(whole)
        encoder = SentenceTransformer(whole, device="cpu", model_kwargs={"attn_implementation": "eager"})
        vectors = [encoder.encode(text).tolist() for text in TEXTS]
    lines = [json.dumps({"text": text, "numbers": [float(f"{x:.8g}") for x in vector]})
             for text, vector in zip(TEXTS, vectors)]
    (folder / "expected.json").write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


def main():
    root = pathlib.Path(sys.argv[1])
    tokenizer = Tokenizer.from_file(str(root / "families" / "tokenizer.json"))
    for name, (kind, config) in models().items():
        config._attn_implementation = "eager"
        torch.manual_seed(0)
        model = family_models.shake(kind(config), 11)
        model.tie_weights()
        folder = root / "tasks" / name
        model.save_pretrained(folder)
        for extra in folder.glob("*"):
            if extra.name not in ("config.json", "model.safetensors"):
                extra.unlink()
        inputs = PAIRS if name == "rerank" else [(text, None) for text in TEXTS]
        lines = [json.dumps({"text": first, "pair": second,
                             "numbers": numbers(name, model, tokenizer.encode(first, second))})
                 for first, second in inputs]
        (folder / "expected.json").write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
    write_three_vectors(root, tokenizer)
    write_dense(root, root / "families" / "tokenizer.json")


if __name__ == "__main__":
    main()
