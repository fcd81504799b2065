"""int8 models for the two engines, as their own tools make them.

usage: quantize.py FP32.onnx TOKENIZER TEXTS FOLDER     writes FOLDER/onnxruntime.onnx and FOLDER/openvino.xml
"""

import json
import pathlib
import sys

import numpy
import tokenizers

source, tokenizer_path, texts_path, folder = sys.argv[1:]
folder = pathlib.Path(folder)
folder.mkdir(exist_ok=True)


def make_onnxruntime():
    from onnxruntime.quantization import QuantType, quantize_dynamic

    quantize_dynamic(source, folder / "onnxruntime.onnx", per_channel=True, weight_type=QuantType.QInt8)


def make_openvino():
    import nncf
    import openvino

    tokenizer = tokenizers.Tokenizer.from_file(tokenizer_path)
    tokenizer.no_padding()
    tokenizer.enable_truncation(256)
    texts = [json.loads(line)["text"] for line in open(texts_path, encoding="utf-8")][:300]
    model = openvino.convert_model(source)
    names = {name for each in model.inputs for name in each.names}

    def feed(text):
        ids = numpy.array([tokenizer.encode(text).ids], numpy.int64)
        feeds = {"input_ids": ids, "attention_mask": numpy.ones_like(ids), "token_type_ids": numpy.zeros_like(ids)}
        return {name: value for name, value in feeds.items() if name in names}

    quantized = nncf.quantize(model, nncf.Dataset(texts, feed), model_type=nncf.ModelType.TRANSFORMER, subset_size=len(texts))
    openvino.save_model(quantized, folder / "openvino.xml")


make_onnxruntime()
make_openvino()
