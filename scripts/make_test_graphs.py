#!/usr/bin/env python3
"""Writes the small ONNX graphs of tests/data/onnx, which tests of src/session and src/serve load.

A toy encoder of 16 ids and 16 dimensions: token and type embeddings, a product, and the mean over the attended tokens
added to each, so that a text's rows depend on all of its tokens and, were the mask ignored, on padding.

    encoder.onnx            weights inside the file; also an int64 output, `copied_ids`
    encoder_external.onnx   the same with its weights in encoder_external.weights, each at a page boundary
    pooled.onnx             output `sentence_embedding` [batch, 16], no token_type_ids
    int32.onnx              takes int32, which weir does not feed

Id 13 embeds to NaN and id 14 to Inf. Usage: scripts/make_test_graphs.py [FOLDER]
"""

import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

VOCABULARY, HIDDEN, PAGE = 16, 16, 4096


def initializers():
    random = np.random.default_rng(7)
    table = random.standard_normal((VOCABULARY, HIDDEN)).astype(np.float32)
    table[13], table[14] = np.nan, np.inf
    types = random.standard_normal((2, HIDDEN)).astype(np.float32)
    product = random.standard_normal((HIDDEN, HIDDEN)).astype(np.float32)
    return [
        numpy_helper.from_array(table, "table"),
        numpy_helper.from_array(types, "types"),
        numpy_helper.from_array(product, "product"),
        numpy_helper.from_array(np.array([1], np.int64), "axis_1"),
        numpy_helper.from_array(np.array([2], np.int64), "axis_2"),
    ]


def nodes(with_types):
    made = [helper.make_node("Gather", ["table", "input_ids"], ["tokens"])]
    if with_types:
        made += [
            helper.make_node("Gather", ["types", "token_type_ids"], ["type_vectors"]),
            helper.make_node("Add", ["tokens", "type_vectors"], ["embedded"]),
        ]
    else:
        made.append(helper.make_node("Identity", ["tokens"], ["embedded"]))
    return made + [
        helper.make_node("MatMul", ["embedded", "product"], ["projected"]),
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["mask", "axis_2"], ["mask_3d"]),
        helper.make_node("Mul", ["projected", "mask_3d"], ["attended"]),
        helper.make_node("ReduceSum", ["attended", "axis_1"], ["sums"], keepdims=1),
        helper.make_node("ReduceSum", ["mask_3d", "axis_1"], ["counts"], keepdims=1),
        helper.make_node("Div", ["sums", "counts"], ["means"]),
        helper.make_node("Add", ["projected", "means"], ["last_hidden_state"]),
    ]


def value(name, kind, *shape):
    return helper.make_tensor_value_info(name, kind, list(shape))


def model(graph_nodes, inputs, outputs, kind=TensorProto.INT64):
    graph = helper.make_graph(
        graph_nodes,
        "toy_encoder",
        [value(name, kind, "batch", "sequence") for name in inputs],
        outputs,
        initializers(),
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="weir")
    onnx.checker.check_model(made)
    return made


def write_external(made, folder, name):
    weights = bytearray()
    for tensor in made.graph.initializer:
        if tensor.data_type != TensorProto.FLOAT:
            continue
        data = tensor.raw_data
        weights += bytes(-len(weights) % PAGE)
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        for key, entry in (("location", f"{name}.weights"), ("offset", len(weights)), ("length", len(data))):
            tensor.external_data.add(key=key, value=str(entry))
        weights += data
    (folder / f"{name}.weights").write_bytes(weights)
    (folder / f"{name}.onnx").write_bytes(made.SerializeToString(deterministic=True))


def main():
    default = pathlib.Path(__file__).resolve().parent.parent / "tests/data/onnx"
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else default
    folder.mkdir(parents=True, exist_ok=True)
    all_inputs = ["input_ids", "attention_mask", "token_type_ids"]
    hidden = value("last_hidden_state", TensorProto.FLOAT, "batch", "sequence", HIDDEN)

    copied = value("copied_ids", TensorProto.INT64, "batch", "sequence")
    copy = helper.make_node("Identity", ["input_ids"], ["copied_ids"])
    encoder = model([*nodes(True), copy], all_inputs, [hidden, copied])
    (folder / "encoder.onnx").write_bytes(encoder.SerializeToString(deterministic=True))
    write_external(model(nodes(True), all_inputs, [hidden]), folder, "encoder_external")

    squeeze = helper.make_node("Squeeze", ["means", "axis_1"], ["sentence_embedding"])
    pooled = value("sentence_embedding", TensorProto.FLOAT, "batch", HIDDEN)
    made = model([*nodes(False)[:-1], squeeze], all_inputs[:2], [pooled])
    (folder / "pooled.onnx").write_bytes(made.SerializeToString(deterministic=True))

    made = model(nodes(True), all_inputs, [hidden], TensorProto.INT32)
    (folder / "int32.onnx").write_bytes(made.SerializeToString(deterministic=True))


if __name__ == "__main__":
    main()
