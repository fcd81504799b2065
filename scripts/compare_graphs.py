#!/usr/bin/env python3
"""Times ways to write a BERT encoder as an ONNX graph: which operators ONNX Runtime runs fastest on CPUs in fp32.

    .deps/venv/bin/python scripts/compare_graphs.py [ROUNDS]

All have the shape of all-MiniLM-L6-v2 with random weights, one thread. For each batch shape a table row per graph: the
sum over its nodes of each node's shortest time, in milliseconds (so that another program's work disturbs little), and
what the largest kinds of node take of it.

    flat      what weir writes: Gemm with bias on [tokens, hidden], Gelu, Add and LayerNormalization
    plain     MatMul and Add on [batch, sequence, hidden], for ONNX Runtime's fusions to find
    skip      flat, with com.microsoft's SkipLayerNormalization
    biasgelu  flat, with MatMul and com.microsoft's BiasGelu
    attention com.microsoft's Attention (packed QKV), SkipLayerNormalization, BiasGelu
    mha       as attention, with MatMul and MultiHeadAttention
"""

import collections
import json
import os
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

HIDDEN, HEADS, LAYERS, WIDE, VOCABULARY, POSITIONS = 384, 12, 6, 1536, 30522, 512
SHAPES = ((1, 16), (8, 64), (4, 256))
VARIANTS = {
    "flat": {},
    "plain": {"flat": False},
    "skip": {"skip": True},
    "biasgelu": {"bias_gelu": True},
    "attention": {"flat": False, "skip": True, "bias_gelu": True, "attention": "Attention"},
    "mha": {"flat": False, "skip": True, "bias_gelu": True, "attention": "MultiHeadAttention"},
}


class Graph:
    def __init__(self, flat=True, skip=False, bias_gelu=False, attention=None):
        self.flat, self.skip, self.bias_gelu, self.attention = flat, skip, bias_gelu, attention
        self.nodes, self.initializers, self.random = [], [], np.random.default_rng(1)

    def node(self, op, inputs, output, domain="", **attributes):
        self.nodes.append(helper.make_node(op, inputs, [output], output, domain=domain, **attributes))
        return output

    def constant(self, name, values):
        self.initializers.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def weight(self, name, *shape):
        return self.constant(name, (self.random.standard_normal(shape) * 0.05).astype(np.float32))

    def linear(self, name, x, columns, rows, with_bias=True):
        weight, bias = self.weight(name + ".w", columns, rows), self.weight(name + ".b", rows)
        if self.flat and with_bias:
            return self.node("Gemm", [x, weight, bias], name)
        product = self.node("MatMul", [x, weight], name + ".product")
        return self.node("Add", [product, bias], name) if with_bias else (product, bias)

    def norm(self, name, x, residual):
        scale, bias = self.weight(name + ".scale", HIDDEN), self.weight(name + ".shift", HIDDEN)
        if self.skip:
            return self.node("SkipLayerNormalization", [x, residual, scale, bias], name, "com.microsoft", epsilon=1e-12)
        total = self.node("Add", [x, residual], name + ".sum")
        return self.node("LayerNormalization", [total, scale, bias], name, epsilon=1e-12)

    def attend(self, name, x):
        if self.attention == "Attention":
            packed = [self.weight(name + ".qkv", HIDDEN, 3 * HIDDEN), self.weight(name + ".qkvb", 3 * HIDDEN)]
            return self.node("Attention", [x, *packed, "mask32"], name, "com.microsoft", num_heads=HEADS)
        if self.attention:
            parts = [self.linear(name + part, x, HIDDEN, HIDDEN, with_bias=False)[0] for part in "qkv"]
            bias = self.weight(name + ".qkvb", 3 * HIDDEN)
            return self.node("MultiHeadAttention", [*parts, bias, "mask32"], name, "com.microsoft", num_heads=HEADS)
        views = []
        for part, order in (("q", (0, 2, 1, 3)), ("k", (0, 2, 3, 1)), ("v", (0, 2, 1, 3))):
            heads = self.node("Reshape", [self.linear(name + part, x, HIDDEN, HIDDEN), "heads"], name + part + ".heads")
            views.append(self.node("Transpose", [heads], name + part + ".view", perm=order))
        scores = self.node("Div", [self.node("MatMul", views[:2], name + ".products"), "divisor"], name + ".scores")
        weights = self.node("Softmax", [self.node("Add", [scores, "mask"], name + ".masked")], name + ".weights", axis=-1)
        context = self.node("MatMul", [weights, views[2]], name + ".context")
        tokens = self.node("Transpose", [context], name + ".tokens", perm=(0, 2, 1, 3))
        return self.node("Reshape", [tokens, "rows"], name)

    def layer(self, name, x):
        middle = self.norm(name + "n1", self.linear(name + "o", self.attend(name + "a", x), HIDDEN, HIDDEN), x)
        if self.bias_gelu:
            product, bias = self.linear(name + "i", middle, HIDDEN, WIDE, with_bias=False)
            active = self.node("BiasGelu", [product, bias], name + "g", "com.microsoft")
        else:
            active = self.node("Gelu", [self.linear(name + "i", middle, HIDDEN, WIDE)], name + "g")
        return self.norm(name + "n2", self.linear(name + "f", active, WIDE, HIDDEN), middle)

    def model(self):
        self.node("Shape", ["input_ids"], "shape")
        self.node("Concat", ["shape", self.constant("head_sizes", [HEADS, HIDDEN // HEADS])], "heads", axis=0)
        self.node("Concat", ["shape", self.constant("hidden", [HIDDEN])], "output_shape", axis=0)
        self.constant("rows", [-1, HIDDEN] if self.flat else [0, 0, HIDDEN])
        self.constant("divisor", np.float32((HIDDEN // HEADS) ** 0.5))
        self.node("Cast", ["attention_mask"], "mask32", to=TensorProto.INT32)
        self.node("Cast", ["attention_mask"], "mask_float", to=TensorProto.FLOAT)
        self.node("Unsqueeze", ["mask_float", self.constant("axes", [1, 2])], "mask_wide")
        self.node("Sub", [self.constant("one", np.float32(1)), "mask_wide"], "padding")
        self.node("Mul", ["padding", self.constant("lowest", np.finfo(np.float32).min)], "mask")
        words = self.node("Gather", [self.weight("words", VOCABULARY, HIDDEN), "input_ids"], "word_rows")
        self.node("Shape", ["input_ids"], "length", start=1, end=2)
        positions = self.weight("positions", POSITIONS, HIDDEN)
        rows = self.node("Slice", [positions, self.constant("zero", [0]), "length", "zero"], "position_rows")
        total = self.node("Add", [words, rows], "embedded")
        scale, shift = self.weight("scale", HIDDEN), self.weight("shift", HIDDEN)
        x = self.node("LayerNormalization", [self.node("Reshape", [total, "rows"], "flat"), scale, shift], "x")
        for layer in range(LAYERS):
            x = self.layer(f"l{layer}.", x)
        self.node("Reshape", [x, "output_shape"], "last_hidden_state")
        free = [helper.make_tensor_value_info(n, TensorProto.INT64, ["b", "s"]) for n in ("input_ids", "attention_mask")]
        output = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["b", "s", HIDDEN])
        opsets = [helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)]
        graph = helper.make_graph(self.nodes, "bert", free, [output], self.initializers)
        return helper.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString()


def profile(model, shape, rounds, folder):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 3
    options.enable_profiling, options.profile_file_prefix = True, os.path.join(folder, "p")
    timed = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    ids = np.random.default_rng(2).integers(1000, 30000, shape)
    for _ in range(rounds):
        timed.run(None, {"input_ids": ids, "attention_mask": np.ones(shape, np.int64)})
    times = collections.defaultdict(lambda: collections.defaultdict(list))
    with open(timed.end_profiling(), encoding="utf-8") as file:
        for event in json.load(file):
            if event.get("cat") == "Node" and event["name"].endswith("kernel_time"):
                times[event["args"]["op_name"]][event["name"]].append(event["dur"])
    return {op: sum(min(t) for t in nodes.values()) / 1000 for op, nodes in times.items()}


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    models = {name: Graph(**choices).model() for name, choices in VARIANTS.items()}
    with tempfile.TemporaryDirectory() as folder:
        for shape in SHAPES:
            print(f"\nbatch {shape[0]} x {shape[1]} tokens, ms")
            for name, model in models.items():
                times = profile(model, shape, rounds, folder)
                largest = sorted(times.items(), key=lambda item: -item[1])[:6]
                print(f"{name:10} {sum(times.values()):7.2f}  " + "  ".join(f"{op} {t:.2f}" for op, t in largest))


if __name__ == "__main__":
    main()
