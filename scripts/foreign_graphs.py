#!/usr/bin/env python3
"""Exports encoders to ONNX in the ways that others do, and checks what `weir import` makes of each file.

    PYTHON scripts/foreign_graphs.py make FOLDER [--model HF_FOLDER]... [--only TEXT]
    PYTHON scripts/foreign_graphs.py check FOLDER --weir build/release/bin/weir [--files HF_FOLDER] [--only TEXT]

`make` needs torch, transformers, onnxscript, onnxruntime and onnx, none of which this project depends on; `check` needs
onnxruntime, onnx and numpy. Without --model, tiny encoders with random weights are exported: BERT, RoBERTa, XLM-RoBERTa,
CamemBERT, DistilBERT, ELECTRA, with tables as wide as its layers and narrower ones, and ALBERT. The exports are

    legacy, dynamo    torch.onnx.export by tracing or by torch.export, in opsets 11 to 21, eager or sdpa attention
    pooled            with mean pooling over the mask and L2 normalization in the graph, as sentence-transformers has
    optimizer         ONNX Runtime's transformers optimizer: Attention, EmbedLayerNormalization, BiasGelu and so on
    session           what ONNX Runtime itself writes as its optimized model
    fp16              weights and arithmetic in half precision
    dynamic           quantize_dynamic: MatMulInteger and, through a session, DynamicQuantizeMatMul
    qdq, qoperator    quantize_static

`check` imports every file with --rewrite required, runs the original and the bundle's graph in ONNX Runtime's own Python
module on token ids of several lengths, and prints a row for each (imported with --padded, as Python has no operators of ours): the cosines of the tokens' rows, or the node that
stopped the match.
"""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import warnings

import numpy as np

HIDDEN, HEADS, LAYERS, VOCABULARY, POSITIONS = 32, 4, 2, 285, 64
# Those of tests/data/foreign: enough to tell the kinds apart, small enough to keep.
FIXTURES = """bert.legacy11.eager bert.legacy17.sdpa bert.legacy17.notypes bert.dynamo18.sdpa bert-tanh.legacy14.eager
roberta.legacy17.pooled distilbert.dynamo18.sdpa bert.legacy14.eager.optimizer bert.legacy14.eager.optimizer-mha
bert.legacy14.eager.optimizer-fp16 bert.legacy14.eager.dynamic bert.legacy14.eager.dynamic.session
bert.legacy14.eager.dynamic-fused bert.legacy14.eager.qdq-channel bert.legacy14.eager.qoperator
albert.legacy17.sdpa electra-narrow.legacy14.eager.optimizer""".split()


def tiny_models(hidden=HIDDEN):
    import torch
    import transformers

    sizes = {"vocab_size": VOCABULARY, "hidden_size": hidden, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
             "intermediate_size": 2 * hidden, "max_position_embeddings": POSITIONS}
    distilbert = {"vocab_size": VOCABULARY, "dim": hidden, "n_layers": LAYERS, "n_heads": HEADS, "hidden_dim": 2 * hidden,
                  "max_position_embeddings": POSITIONS}
    roberta = {**sizes, "max_position_embeddings": POSITIONS + 2, "type_vocab_size": 1}
    configs = {
        "bert": transformers.BertConfig(**sizes),
        "bert-tanh": transformers.BertConfig(**sizes, hidden_act="gelu_new"),
        "bert-relu": transformers.BertConfig(**sizes, hidden_act="relu"),
        "roberta": transformers.RobertaConfig(**roberta),
        "xlm-roberta": transformers.XLMRobertaConfig(**roberta),
        "camembert": transformers.CamembertConfig(**roberta),
        "distilbert": transformers.DistilBertConfig(**distilbert),
        "electra": transformers.ElectraConfig(**sizes, embedding_size=hidden),
        "electra-narrow": transformers.ElectraConfig(**sizes, embedding_size=hidden // 2),
        "albert": transformers.AlbertConfig(**sizes, embedding_size=hidden // 2, hidden_act="gelu_new"),
    }
    for name, config in configs.items():
        torch.manual_seed(20)
        model = transformers.AutoModel.from_config(config)
        with torch.no_grad():
            for parameter_name, parameter in model.named_parameters():
                centre = 1.0 if "orm.weight" in parameter_name else 0.0
                parameter.copy_(centre + 0.2 * torch.randn_like(parameter))
        yield name, model.eval()


def encoder(model, attention, pooled, types):
    """A module with the inputs and outputs of an export."""
    import torch

    model.set_attn_implementation(attention)

    class Encoder(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, input_ids, attention_mask, token_type_ids=None):
            extra = {"token_type_ids": token_type_ids} if types else {}
            hidden = self.model(input_ids=input_ids, attention_mask=attention_mask, **extra).last_hidden_state
            if not pooled:
                return hidden
            mask = attention_mask.unsqueeze(-1).expand(hidden.size()).to(hidden.dtype)
            vectors = (hidden * mask).sum(1) / torch.clamp(mask.sum(1), min=1e-9)
            return hidden, torch.nn.functional.normalize(vectors, p=2, dim=1)

    return Encoder().eval()


def export(model, path, opset, dynamo=False, attention="sdpa", pooled=False, types=True):
    import torch

    ids = torch.randint(5, VOCABULARY, (2, 9))
    mask = torch.ones_like(ids)
    mask[1, 6:] = 0
    inputs = (ids, mask, torch.zeros_like(ids)) if types else (ids, mask)
    names = ["input_ids", "attention_mask", "token_type_ids"][: len(inputs)]
    outputs = ["last_hidden_state"] + (["sentence_embedding"] if pooled else [])
    module = encoder(model, attention, pooled, types)
    if dynamo:
        batch, sequence = torch.export.Dim("batch", min=1, max=512), torch.export.Dim("sequence", min=2, max=POSITIONS)
        free = {"dynamic_shapes": {name: {0: batch, 1: sequence} for name in names}}
    else:
        axes = {0: "batch", 1: "sequence"}
        free = {"dynamic_axes": {**{name: axes for name in names}, "last_hidden_state": axes,
                                 "sentence_embedding": {0: "batch"}}}
    torch.onnx.export(module, inputs, str(path), input_names=names, output_names=outputs, opset_version=opset,
                      dynamo=dynamo, external_data=False, **free)


def optimize(source, path, heads, hidden, only_onnxruntime=False, level=None, **flags):
    from onnxruntime.transformers import optimizer
    from onnxruntime.transformers.fusion_options import FusionOptions

    half = flags.pop("half", False)
    options = FusionOptions("bert")
    for name, value in flags.items():
        setattr(options, name, value)
    model = optimizer.optimize_model(str(source), "bert", num_heads=heads, hidden_size=hidden, opt_level=level,
                                     optimization_options=options, only_onnxruntime=only_onnxruntime)
    if half:
        model.convert_float_to_float16(keep_io_types=True)
    model.save_model_to_file(str(path))
    return model.get_fused_operator_statistics()


def through_session(source, path, level="extended"):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = {
        "basic": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC,
        "extended": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED,
        "all": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL}[level]
    options.optimized_model_filepath = str(path)
    onnxruntime.InferenceSession(str(source), options, providers=["CPUExecutionProvider"])


def sample_batches(names, vocabulary, count=6):
    random = np.random.default_rng(3)
    for length in (1, 2, 5, 9, 17, 33)[:count]:
        ids = random.integers(5, vocabulary, (3, length))
        mask = np.ones_like(ids)
        mask[1, max(1, length // 2):] = 0
        values = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        yield {name: values[name] for name in names}


class Calibration:
    def __init__(self, path, vocabulary):
        import onnx

        names = [value.name for value in onnx.load(str(path), load_external_data=False).graph.input]
        self.batches = iter(list(sample_batches(names, vocabulary)))

    def get_next(self):
        return next(self.batches, None)


def quantize(source, path, how, vocabulary, **options):
    import onnx
    from onnxruntime.quantization import QuantFormat, QuantType, quantize_dynamic, quantize_static

    kinds = {"weight_type": QuantType.QInt8}
    if how == "dynamic":
        if options.pop("unsigned", False):
            kinds = {"weight_type": QuantType.QUInt8}
        # Fused operators hide their results' types from shape inference.
        extra = {"DefaultTensorType": onnx.TensorProto.FLOAT, **options.pop("extra_options", {})}
        quantize_dynamic(str(source), str(path), extra_options=extra, **kinds, **options)
        return
    extra = {"MatMulConstBOnly": options.pop("const_only", True)}
    form = QuantFormat.QDQ if how == "qdq" else QuantFormat.QOperator
    quantize_static(str(source), str(path), Calibration(source, vocabulary), quant_format=form,
                    activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8, extra_options=extra, **options)


class Maker:
    def __init__(self, folder, only, fixtures):
        self.folder, self.only, self.fixtures, self.failed = folder, only, fixtures, []

    def make(self, name, function, *arguments, **options):
        """A file that is there already is left; a way that the exporter does not go is told."""
        path = self.folder / f"{name}.onnx"
        wanted = not self.fixtures or any(fixture.startswith(name) for fixture in FIXTURES)
        if self.only and self.only not in name or path.exists() or not wanted:
            return path
        try:
            function(*arguments[:1], path, *arguments[1:], **options)
        except Exception as error:  # The exporters fail in ways of their own.
            path.unlink(missing_ok=True)
            self.failed.append(f"{name}: {type(error).__name__}: {str(error).splitlines()[0][:150] if str(error) else ''}")
            print("  not made:", self.failed[-1], flush=True)
        else:
            print("  made", name, flush=True)
        return path

    def exports(self, name, model, opsets, dynamo_opsets):
        types = name.startswith(("bert", "MiniLM", "electra", "albert"))
        for opset in opsets:
            for attention in ("eager", "sdpa") if opset in (14, 17) else ("sdpa" if opset >= 14 else "eager",):
                self.make(f"{name}.legacy{opset}.{attention}", export, model, opset=opset, attention=attention, types=types)
        for opset in dynamo_opsets:
            for attention in ("eager", "sdpa"):
                self.make(f"{name}.dynamo{opset}.{attention}", export, model, opset=opset, dynamo=True,
                          attention=attention, types=types)
        self.make(f"{name}.legacy17.pooled", export, model, opset=17, pooled=True, types=types)
        self.make(f"{name}.dynamo18.pooled", export, model, opset=18, dynamo=True, pooled=True, types=types)
        if types:
            self.make(f"{name}.legacy17.notypes", export, model, opset=17, types=False)

    def derived(self, name, config):
        heads, hidden, vocabulary = config.num_attention_heads, config.hidden_size, config.vocab_size
        for base in ("legacy14.eager", "legacy17.sdpa", "dynamo18.sdpa"):
            source = self.folder / f"{name}.{base}.onnx"
            if not source.exists():
                continue
            stem = f"{name}.{base}"
            fused = self.make(f"{stem}.optimizer", optimize, source, heads, hidden)
            self.make(f"{stem}.optimizer-level2", optimize, source, heads, hidden, level=2)
            self.make(f"{stem}.optimizer-mha", optimize, source, heads, hidden, use_multi_head_attention=True)
            self.make(f"{stem}.optimizer-noembed", optimize, source, heads, hidden, enable_embed_layer_norm=False)
            self.make(f"{stem}.optimizer-rawmask", optimize, source, heads, hidden, attention_mask_format=2)
            self.make(f"{stem}.optimizer-fastgelu", optimize, source, heads, hidden, enable_gelu_approximation=True)
            self.make(f"{stem}.optimizer-fp16", optimize, source, heads, hidden, half=True)
            self.make(f"{stem}.session-extended", through_session, source)
            self.make(f"{stem}.session-all", through_session, source, level="all")
            dynamic = self.make(f"{stem}.dynamic", quantize, source, "dynamic", vocabulary)
            self.make(f"{stem}.dynamic-channel", quantize, source, "dynamic", vocabulary, per_channel=True, reduce_range=True)
            self.make(f"{stem}.dynamic-u8", quantize, source, "dynamic", vocabulary, unsigned=True)
            self.make(f"{stem}.dynamic-all", quantize, source, "dynamic", vocabulary, extra_options={"MatMulConstBOnly": False})
            self.make(f"{stem}.dynamic-fused", quantize, fused, "dynamic", vocabulary, op_types_to_quantize=[
                "MatMul", "Attention", "EmbedLayerNormalization"])
            if dynamic.exists():
                self.make(f"{stem}.dynamic.session", through_session, dynamic)
            if fused.exists():
                self.make(f"{stem}.optimizer.dynamic", quantize, fused, "dynamic", vocabulary)
                self.make(f"{stem}.optimizer.qdq", quantize, fused, "qdq", vocabulary)
            self.make(f"{stem}.qdq", quantize, source, "qdq", vocabulary, op_types_to_quantize=["MatMul", "Gemm"])
            self.make(f"{stem}.qdq-channel", quantize, source, "qdq", vocabulary, per_channel=True,
                      op_types_to_quantize=["MatMul", "Gemm", "Gather"])
            self.make(f"{stem}.qdq-all", quantize, source, "qdq", vocabulary)
            self.make(f"{stem}.qoperator", quantize, source, "qoperator", vocabulary,
                      op_types_to_quantize=["MatMul", "Gemm", "Gather"])
            self.make(f"{stem}.qoperator-all", quantize, source, "qoperator", vocabulary)


def without_notes(path):
    """Traces of the exporter and shapes between nodes are most of a small graph's bytes."""
    import onnx

    model = onnx.load(str(path))
    for holder in (model, model.graph, *model.graph.node, *model.graph.initializer, *model.graph.input, *model.graph.output):
        holder.ClearField("doc_string")
        if "metadata_props" in holder.DESCRIPTOR.fields_by_name:
            holder.ClearField("metadata_props")
    model.graph.ClearField("value_info")
    onnx.save(model, str(path))


def make(arguments):
    import transformers

    warnings.filterwarnings("ignore")
    arguments.folder.mkdir(parents=True, exist_ok=True)
    maker = Maker(arguments.folder, arguments.only, arguments.fixtures)
    models = list(tiny_models(arguments.hidden)) if not arguments.model else [
        (pathlib.Path(path).name, transformers.AutoModel.from_pretrained(path).eval()) for path in arguments.model]
    for name, model in models:
        print(name, flush=True)
        few = arguments.model or name not in ("bert", "roberta")
        maker.exports(name, model, (14, 17) if few else (11, 12, 13, 14, 15, 16, 17, 18, 20), (18,) if few else (18, 19, 20, 21))
        if name in ("bert", "xlm-roberta", "distilbert", "electra-narrow", "albert") or arguments.model:
            maker.derived(name, model.config)
    print(f"{len(maker.failed)} were not made")
    for path in arguments.folder.glob("*.onnx") if arguments.fixtures else ():
        if path.stem in FIXTURES:
            without_notes(path)
        else:
            path.unlink()
    return 0


def cosines(original, rewritten, names, vocabulary, has_types):
    """Of the rows of each token, with padding left out, from ONNX Runtime alone."""
    values = []
    for batch in sample_batches(names, vocabulary):
        output = "last_hidden_state"
        theirs = original.run([output], batch)[0].astype(np.float64)
        ours_batch = {name: value for name, value in batch.items() if name != "token_type_ids" or has_types}
        if has_types:
            ours_batch.setdefault("token_type_ids", np.zeros_like(batch["input_ids"]))
        ours = rewritten.run([output], ours_batch)[0].astype(np.float64)
        dots = (theirs * ours).sum(-1) / (np.linalg.norm(theirs, axis=-1) * np.linalg.norm(ours, axis=-1))
        values.extend(dots[batch["attention_mask"] == 1])
    return np.array(values)


def import_one(path, arguments, folder):
    """The bundle's folder, or what weir says that stopped it."""
    source, bundle = folder / "source", folder / "bundle"
    source.mkdir()
    for file in arguments.files.iterdir():
        if file.suffix == ".json" or file.is_dir():
            (shutil.copytree if file.is_dir() else shutil.copy)(file, source / file.name)
    config = source / "config.json"
    if arguments.files.name == "tiny-bert":
        config.unlink()
    (source / "model.onnx").symlink_to(path.resolve())
    command = [str(arguments.weir), "import", str(source / "model.onnx"), str(bundle), "--rewrite", "required", "--padded", "--pooling",
               "mean", "--quiet"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    return bundle, None if result.returncode == 0 else result.stderr.strip().splitlines()[-1]


def check(arguments):
    import onnxruntime

    failed = 0
    print("| export | rewritten | least cosine | mean cosine |\n|---|---|---|---|")
    for path in sorted(arguments.folder.glob("*.onnx")):
        if arguments.only and arguments.only not in path.name:
            continue
        with tempfile.TemporaryDirectory() as temporary:
            bundle, stopped = import_one(path, arguments, pathlib.Path(temporary))
            if stopped:
                failed += 1
                print(f"| {path.stem} | no: {stopped.split('cannot be rewritten: ')[-1]} | | |", flush=True)
                continue
            manifest = json.loads((bundle / "weir.json").read_text())
            original = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
            rewritten = onnxruntime.InferenceSession(str(bundle / "model.onnx"), providers=["CPUExecutionProvider"])
            names = [value.name for value in original.get_inputs()]
            found = cosines(original, rewritten, names, manifest["vocabulary_size"], manifest["has_token_type_ids"])
            print(f"| {path.stem} | yes | {found.min():.7f} | {found.mean():.7f} |", flush=True)
    print(f"{failed} not rewritten")
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    making = commands.add_parser("make")
    making.add_argument("folder", type=pathlib.Path)
    making.add_argument("--model", action="append")
    making.add_argument("--hidden", type=int, default=HIDDEN, help="size of the tiny encoders")
    making.add_argument("--fixtures", action="store_true", help="only what tests/data/foreign holds (with --hidden 8)")
    making.add_argument("--only", default="")
    making.set_defaults(run=make)
    checking = commands.add_parser("check")
    checking.add_argument("folder", type=pathlib.Path)
    checking.add_argument("--weir", type=pathlib.Path, required=True)
    checking.add_argument("--files", type=pathlib.Path, help="where tokenizer and configuration lie (default: tiny-bert)",
                          default=pathlib.Path(__file__).parent.parent / "tests/data/tiny-bert")
    checking.add_argument("--only", default="")
    checking.set_defaults(run=check)
    arguments = parser.parse_args()
    return arguments.run(arguments)


if __name__ == "__main__":
    sys.exit(main())
