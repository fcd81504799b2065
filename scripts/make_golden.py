#!/usr/bin/env python3
"""Writes tests/data/tiny-bert: a random BERT small enough to commit, in the sentence-transformers layout, and the
vectors that sentence-transformers computes with it. The tests import it and compare.

Run it only to change the model; what it writes is committed. It needs torch, transformers and sentence-transformers:

    python scripts/make_golden.py tests/data/tiny-bert

Its traps are deliberate: tokenizer.json truncates and pads to 32, which is to be ignored, while
sentence_bert_config.json says 64, which is in force. Every weight is representable in bfloat16 and in float16, so that
a test can write the same model in those forms and expect the same vectors.
"""

import json
import pathlib
import sys

import torch
from safetensors.torch import save_file
from sentence_transformers import SentenceTransformer
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertModel

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
MAX_TOKENS = 64
WORDS = """
the a an of to and in is it on for with as by at from this that are was be or not but which one two three all can
water river dam gate flow flood stone bridge boat fish rain snow wind field village miller wheel bank bed level high low
slow fast deep clear cold warm rises falls holds carries opens closes runs turns stops after before under over between
query passage search document text model vector token server request answer time day night year people house street
##s ##ed ##ing ##er ##est ##ly ##ness
""".split()
TEXTS = [
    "The river carries snow water in spring.",
    "A low dam holds the flood back and lets the river through.",
    "Is the gate open?",
    "water",
    "Über die Brücke führt ein schmaler Weg zur Mühle.",
    "Après la pluie, le niveau de l'eau monte très vite.",
    "Плотина удерживает воду.",
    "水门打开后，河水流向下游。",
    "堰は川の水位を保つ。",
    "يرتفع منسوب الماء بعد المطر",
    "boats 🚤 and fish 🐟, 24 of them!",
    "query: how high is the water level today?",
    "naïve café resumé – “quoted”, dashed — and dotted…",
    " ".join(f"The gate opens and the water of day {day} runs under the old stone bridge." for day in range(12)),
]


def make_tokenizer():
    normalizer = normalizers.BertNormalizer(lowercase=True)
    characters = sorted({c for text in TEXTS for c in normalizer.normalize_str(text) if not c.isspace()})
    characters = sorted(set(characters) | set("abcdefghijklmnopqrstuvwxyz0123456789.,:;!?'\"()-/"))
    pieces = SPECIAL + characters + ["##" + c for c in characters if c.isalnum()] + WORDS
    vocabulary = {piece: index for index, piece in enumerate(dict.fromkeys(pieces))}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece(prefix="##", cleanup=True)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(token, vocabulary[token]) for token in ("[CLS]", "[SEP]")])
    tokenizer.add_special_tokens(SPECIAL)
    tokenizer.enable_truncation(32)
    tokenizer.enable_padding(length=32)
    return tokenizer


def make_model(vocabulary_size):
    config = BertConfig(vocab_size=vocabulary_size, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                        intermediate_size=64, max_position_embeddings=MAX_TOKENS, type_vocab_size=2)
    torch.manual_seed(20)
    model = BertModel(config).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            centre = 1.0 if name.endswith("LayerNorm.weight") else 0.0
            spread = 0.75 if "embeddings" in name and "LayerNorm" not in name else 0.25
            value = centre + spread * torch.randn_like(parameter)
            parameter.copy_(value.mul(32).round().div(32).clamp(-3.5, 3.5).bfloat16().float())
    return model


def write_torch_form(path, model):
    """The same weights as PyTorch saves them, in bfloat16, which holds them exactly; with the buffer of positions that many
    published files have."""
    state = {name: value.bfloat16() for name, value in model.state_dict().items()}
    state["embeddings.position_ids"] = torch.arange(MAX_TOKENS).unsqueeze(0)
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.save(state, path)


def write_json(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def write_folder(folder):
    tokenizer = make_tokenizer()
    model = make_model(tokenizer.get_vocab_size())
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
    config = {key: value for key, value in model.config.to_dict().items() if key in (
        "attention_probs_dropout_prob", "hidden_act", "hidden_dropout_prob", "hidden_size", "initializer_range",
        "intermediate_size", "layer_norm_eps", "max_position_embeddings", "model_type", "num_attention_heads",
        "num_hidden_layers", "pad_token_id", "type_vocab_size", "vocab_size")}
    write_json(folder / "config.json", {"architectures": ["BertModel"], **config,
                                        "position_embedding_type": "absolute", "torch_dtype": "float32"})
    save_file({name: value.contiguous() for name, value in model.state_dict().items()},
              str(folder / "model.safetensors"), metadata={"format": "pt"})
    write_torch_form(folder.parent / "torch" / "pytorch_model.bin", model)
    write_json(folder / "tokenizer_config.json", {
        "tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 512, "unk_token": "[UNK]",
        "pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]", "mask_token": "[MASK]"})
    kind = "sentence_transformers.models."
    write_json(folder / "modules.json", [
        {"idx": 0, "name": "0", "path": "", "type": kind + "Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling", "type": kind + "Pooling"},
        {"idx": 2, "name": "2", "path": "2_Normalize", "type": kind + "Normalize"}])
    write_json(folder / "1_Pooling" / "config.json", {
        "word_embedding_dimension": 32, "pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True,
        "pooling_mode_max_tokens": False, "pooling_mode_mean_sqrt_len_tokens": False})
    write_json(folder / "sentence_bert_config.json", {"max_seq_length": MAX_TOKENS, "do_lower_case": False})
    write_json(folder / "config_sentence_transformers.json", {
        "prompts": {"query": "query: "}, "default_prompt_name": None, "similarity_fn_name": "cosine"})


def main():
    folder = pathlib.Path(sys.argv[1])
    write_folder(folder)
    reference = SentenceTransformer(str(folder), device="cpu")
    assert reference.max_seq_length == MAX_TOKENS
    lines = []
    for text in TEXTS:
        vector = reference.encode([text], prompt="")[0]
        lines.append(json.dumps({"text": text, "vector": [float(f"{x:.8g}") for x in vector]}, ensure_ascii=False))
    (folder / "expected.json").write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
