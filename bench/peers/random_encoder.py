"""An encoder of a known model's shape with random weights: as transformers saves it, and as torch exports it to ONNX.

usage: random_encoder.py LAYERS HIDDEN INTERMEDIATE HEADS FOLDER

FOLDER gets what `weir import` reads, model.onnx, and texts.jsonl: texts of exactly 128 tokens for its tokenizer;
calibration.jsonl, a few more.
"""

import json
import pathlib
import random
import sys

import tokenizers
import torch
import transformers

WORDS = 4000
TEXT_TOKENS = 128
TEXTS = 512
CALIBRATION_TEXTS = 16  # weights are random: only the form of the result counts

layers, hidden, intermediate, heads = map(int, sys.argv[1:5])
folder = pathlib.Path(sys.argv[5])
folder.mkdir(parents=True, exist_ok=True)

special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
vocabulary = special + [f"w{i}" for i in range(WORDS)]
tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel({word: i for i, word in enumerate(vocabulary)}, unk_token="[UNK]"))
tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
    single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
tokenizer.save(str(folder / "tokenizer.json"))
(folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 512, "tokenizer_class": "PreTrainedTokenizerFast"}))

generator = random.Random(1)
for name, count in (("texts.jsonl", TEXTS), ("calibration.jsonl", CALIBRATION_TEXTS)):
    texts = [" ".join(generator.choices(vocabulary[len(special):], k=TEXT_TOKENS - 2)) for _ in range(count)]
    (folder / name).write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), encoding="utf-8")


class TokenVectors(torch.nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder

    def forward(self, input_ids, attention_mask, token_type_ids):
        return self.encoder(input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids).last_hidden_state


torch.manual_seed(1)
config = transformers.BertConfig(vocab_size=len(vocabulary), num_hidden_layers=layers, hidden_size=hidden,
                                 intermediate_size=intermediate, num_attention_heads=heads, hidden_act="gelu")
model = transformers.BertModel(config, add_pooling_layer=False).eval()
model.save_pretrained(folder)
ids = torch.ones((2, 16), dtype=torch.int64)
names = ["input_ids", "attention_mask", "token_type_ids"]
axes = {name: {0: "batch", 1: "sequence"} for name in [*names, "last_hidden_state"]}
with torch.no_grad():
    torch.onnx.export(TokenVectors(model).eval(), (ids, ids, torch.zeros_like(ids)), str(folder / "model.onnx"), input_names=names,
                      output_names=["last_hidden_state"], dynamic_axes=axes, opset_version=17, dynamo=False)
