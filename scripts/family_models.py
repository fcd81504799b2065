"""Random models of every family that weir imports, with what their own library computes: for check_families.py and
make_family_golden.py. Needs torch and transformers, which the project itself never does.

transformers has all of them but JinaBERT, whose two published forms are written out here from its description.
"""

import json
import math
import pathlib

import torch
import transformers
from safetensors.torch import save_file

PAD = 1  # of those that count positions from the padding token on


class Size:
    def __init__(self, hidden, heads, layers, intermediate, positions, vocabulary):
        self.hidden, self.heads, self.layers = hidden, heads, layers
        self.intermediate, self.positions, self.vocabulary = intermediate, positions, vocabulary

    def bert(self, **more):
        return {"vocab_size": self.vocabulary, "hidden_size": self.hidden, "num_hidden_layers": self.layers,
                "num_attention_heads": self.heads, "intermediate_size": self.intermediate,
                "max_position_embeddings": self.positions, "pad_token_id": 0, **more}


def shake(module, seed=7):
    """Random weights large enough that every part shows in the output."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            is_scale = name.endswith("weight") and parameter.dim() == 1
            spread = 0.2 if parameter.dim() == 1 else 1.2 / math.sqrt(parameter.shape[-1])
            if "embeddings" in name and parameter.dim() == 2:
                spread = 0.7
            noise = torch.randn(parameter.shape, generator=generator)
            parameter.copy_((1.0 if is_scale else 0.0) + spread * noise)
    return module.eval()


class Model:
    """A model in a folder of its own form, and its last hidden states."""

    def __init__(self, module, config, takes_types, max_tokens):
        self.module, self.config, self.takes_types, self.max_tokens = module, config, takes_types, max_tokens

    def save(self, folder):
        folder = pathlib.Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        if isinstance(self.module, transformers.PreTrainedModel):
            self.module.save_pretrained(folder)
            return
        (folder / "config.json").write_text(json.dumps(self.config, indent=2), encoding="utf-8")
        state = {name: value.contiguous() for name, value in self.module.state_dict().items()}
        save_file(state, str(folder / "model.safetensors"), metadata={"format": "pt"})

    def hidden(self, ids, mask, types):
        arguments = {"input_ids": ids, "attention_mask": mask}
        if self.takes_types:
            arguments["token_type_ids"] = types
        with torch.no_grad():
            output = self.module(**arguments)
        return output if isinstance(output, torch.Tensor) else output.last_hidden_state


def of_library(config, takes_types, positions=None):
    torch.manual_seed(0)
    config._attn_implementation = "eager"
    module = shake(transformers.AutoModel.from_config(config))
    return Model(module, config.to_dict(), takes_types, positions or config.max_position_embeddings)


# ---- JinaBERT ------------------------------------------------------------------------------------------------------


def alibi_slopes(heads):
    power = 2 ** math.floor(math.log2(heads))
    slopes = [2 ** (-8 * (i + 1) / power) for i in range(power)]
    return slopes + [2 ** (-8 * (2 * i + 1) / (2 * power)) for i in range(heads - power)]


class JinaSelf(torch.nn.Module):
    def __init__(self, size, post_norm):
        super().__init__()
        linear = lambda: torch.nn.Linear(size.hidden, size.hidden)
        self.query, self.key, self.value = linear(), linear(), linear()
        if post_norm:
            self.layer_norm_q = torch.nn.LayerNorm(size.hidden, eps=1e-12)
            self.layer_norm_k = torch.nn.LayerNorm(size.hidden, eps=1e-12)
        self.size, self.post_norm = size, post_norm

    def forward(self, x, bias):
        rows, tokens, hidden = x.shape
        heads = lambda y: y.view(rows, tokens, self.size.heads, -1).transpose(1, 2)
        query, key, value = self.query(x), self.key(x), heads(self.value(x))
        if self.post_norm:
            query, key = self.layer_norm_q(query), self.layer_norm_k(key)
        query, key = heads(query), heads(key)
        scores = query @ key.transpose(2, 3) / math.sqrt(hidden // self.size.heads) + bias
        return (scores.softmax(-1) @ value).transpose(1, 2).reshape(rows, tokens, hidden)


def module_of(**parts):
    module = torch.nn.Module()
    for name, part in parts.items():
        setattr(module, name, part)
    return module


class JinaLayer(torch.nn.Module):
    def __init__(self, size, kind, post_norm):
        super().__init__()
        norm = lambda: torch.nn.LayerNorm(size.hidden, eps=1e-12)
        linear = torch.nn.Linear
        output = module_of(dense=linear(size.hidden, size.hidden), LayerNorm=norm())
        self.attention = module_of(self=JinaSelf(size, post_norm), output=output)
        self.kind, self.post_norm, self.wide = kind, post_norm, size.intermediate
        if post_norm:
            self.layer_norm_1, self.layer_norm_2 = norm(), norm()
            self.mlp = module_of(up_gated_layer=linear(size.hidden, 2 * size.intermediate, bias=False),
                                 down_layer=linear(size.intermediate, size.hidden))
        else:
            self.mlp = module_of(gated_layers=linear(size.hidden, 2 * size.intermediate, bias=False),
                                 wo=linear(size.intermediate, size.hidden), layernorm=norm())

    def forward(self, x, bias):
        function = torch.nn.functional.relu if self.kind == "reglu" else torch.nn.functional.gelu
        output = self.attention.output
        attended = output.LayerNorm(output.dense(getattr(self.attention, "self")(x, bias)) + x)
        if self.post_norm:
            middle = self.layer_norm_1(x + attended)
            up, gate = self.mlp.up_gated_layer(middle).split(self.wide, -1)
            return self.layer_norm_2(middle + self.mlp.down_layer(up * function(gate)))
        gate, up = self.mlp.gated_layers(attended).split(self.wide, -1)
        return self.mlp.layernorm(self.mlp.wo(function(gate) * up) + attended)


class Jina(torch.nn.Module):
    def __init__(self, size, kind, post_norm):
        super().__init__()
        self.embeddings = module_of(word_embeddings=torch.nn.Embedding(size.vocabulary, size.hidden),
                                    token_type_embeddings=torch.nn.Embedding(2, size.hidden),
                                    LayerNorm=torch.nn.LayerNorm(size.hidden, eps=1e-12))
        layers = torch.nn.ModuleList([JinaLayer(size, kind, post_norm) for _ in range(size.layers)])
        self.encoder = module_of(layer=layers)
        self.slopes = alibi_slopes(size.heads)

    def forward(self, input_ids, attention_mask, token_type_ids):
        tables = self.embeddings
        x = tables.LayerNorm(tables.word_embeddings(input_ids) + tables.token_type_embeddings(token_type_ids))
        positions = torch.arange(input_ids.shape[1])
        distance = (positions[None, :] - positions[:, None]).abs().float()
        bias = -torch.tensor(self.slopes)[:, None, None] * distance
        bias = bias[None] + (1.0 - attention_mask[:, None, None, :].float()) * torch.finfo(torch.float32).min
        for layer in self.encoder.layer:
            x = layer(x, bias)
        return x


def jina(size, kind="geglu", post_norm=False):
    config = size.bert(model_type="bert", architectures=["JinaBertModel"], position_embedding_type="alibi",
                       feed_forward_type=kind, hidden_act="gelu", layer_norm_eps=1e-12, type_vocab_size=2)
    return Model(shake(Jina(size, kind, post_norm)), config, True, size.positions)


# ---- the table -----------------------------------------------------------------------------------------------------


def roberta(size, kind):
    config = getattr(transformers, kind)(**size.bert(pad_token_id=PAD, type_vocab_size=1, layer_norm_eps=1e-5))
    return of_library(config, False, size.positions - PAD - 1)


def deberta(size, **more):
    arguments = dict(relative_attention=True, pos_att_type=["p2c", "c2p"], position_biased_input=False,
                     norm_rel_ebd="layer_norm", share_att_key=True, position_buckets=16, type_vocab_size=0,
                     max_relative_positions=-1, layer_norm_eps=1e-7)
    return of_library(transformers.DebertaV2Config(**{**size.bert(), **arguments, **more}), "type_vocab_size" in more)


def modernbert(size, **more):
    arguments = size.bert(bos_token_id=2, eos_token_id=3, cls_token_id=2, sep_token_id=3, local_attention=8)
    return of_library(transformers.ModernBertConfig(**{**arguments, **more}), False)


def families(size):
    """Name → a function that makes the model."""
    half = size.hidden // 2
    library = transformers
    return {
        "bert": lambda: of_library(library.BertConfig(**size.bert()), True),
        "distilbert": lambda: of_library(library.DistilBertConfig(
            vocab_size=size.vocabulary, dim=size.hidden, n_layers=size.layers, n_heads=size.heads,
            hidden_dim=size.intermediate, max_position_embeddings=size.positions), False),
        "roberta": lambda: roberta(size, "RobertaConfig"),
        "xlm-roberta": lambda: roberta(size, "XLMRobertaConfig"),
        "camembert": lambda: roberta(size, "CamembertConfig"),
        "electra": lambda: of_library(library.ElectraConfig(**size.bert(embedding_size=half)), True),
        "mpnet": lambda: of_library(library.MPNetConfig(**size.bert(pad_token_id=PAD)), False, size.positions - 2),
        "albert": lambda: of_library(library.AlbertConfig(**size.bert(
            embedding_size=half, num_hidden_groups=2, inner_group_num=1, hidden_act="gelu_new")), True),
        "deberta-v2": lambda: deberta(size),
        "deberta-v2-conv": lambda: deberta(size, share_att_key=False, conv_kernel_size=3, conv_act="gelu",
                                           embedding_size=half, position_biased_input=True, type_vocab_size=2,
                                           position_buckets=-1),
        "jina-bert": lambda: jina(size),
        "jina-bert-qk-norm": lambda: jina(size, "reglu", True),
        "nomic_bert": lambda: of_library(library.NomicBertConfig(**size.bert()), True),
        "gte": lambda: of_library(library.GteConfig(**size.bert(type_vocab_size=1)), False),
        "modernbert": lambda: modernbert(size),
        "modernbert-bias": lambda: modernbert(size, norm_bias=True, attention_bias=True, mlp_bias=True),
    }
