"""Random ColBERT models in the three forms in which such models are saved, and what sentence-transformers computes with
them: for make_late_interaction_golden.py and check_late_interaction.py. Needs torch, transformers and
sentence-transformers 6.2 or later, which the project itself never does.

A fourth one is PyLate's on ModernBERT, whose layers look through windows, and which attends to what fills queries up.
"""

import json

import torch
import transformers
from safetensors.torch import save_file
from sentence_transformers import MultiVectorEncoder
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers, processors

import family_models

PUNCTUATION = list("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
SPECIAL = ["[PAD]", "[unused0]", "[unused1]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = """the a river water dam gate open opens flood low high old stone bridge boat fish rain snow wind and of in is
 ##s ##ed ##ing""".split()
PIECES = SPECIAL + PUNCTUATION + WORDS
MARKERS = ["[Q] ", "[D] "]
QUERY_TOKENS, DOCUMENT_TOKENS = 12, 20


def write_tokenizer(folder, markers=()):
    tokenizer = Tokenizer(models.WordPiece({piece: i for i, piece in enumerate(PIECES)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    ids = [(token, SPECIAL.index(token)) for token in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=ids)
    tokenizer.add_special_tokens([token for token in SPECIAL if "unused" not in token])
    tokenizer.add_tokens([AddedToken(marker, normalized=True) for marker in markers])
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="[UNK]", pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]",
        mask_token="[MASK]", model_max_length=DOCUMENT_TOKENS).save_pretrained(folder)
    return tokenizer.get_vocab_size()


def write_json(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")


def projection(size, dimensions, seed):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(dimensions, size.hidden, generator=generator) / size.hidden**0.5


def bert(size, **more):
    config = transformers.BertConfig(**{**size.bert(), **more})
    return family_models.shake(transformers.BertModel(config, add_pooling_layer=False))


def modernbert(size, vocabulary):
    settings = size.bert(vocab_size=vocabulary, bos_token_id=4, eos_token_id=5, cls_token_id=4, sep_token_id=5)
    config = transformers.ModernBertConfig(**settings, local_attention=16)
    return family_models.shake(transformers.ModernBertModel(config))


def write_stanford(folder, size, dimensions):
    """Encoder and projection in one file; the markers are words that BERT's vocabulary keeps free."""
    write_tokenizer(folder)
    model = bert(size)
    model.config.architectures = ["HF_ColBERT"]
    model.config.save_pretrained(folder)
    tensors = {"bert." + name: tensor for name, tensor in model.state_dict().items()}
    tensors["linear.weight"] = projection(size, dimensions, 21)
    save_file(tensors, str(folder / "model.safetensors"), metadata={"format": "pt"})
    write_json(folder / "artifact.metadata", {
        "query_token_id": "[unused0]", "doc_token_id": "[unused1]", "query_maxlen": QUERY_TOKENS,
        "doc_maxlen": DOCUMENT_TOKENS, "mask_punctuation": True, "attend_to_mask_tokens": False,
        "similarity": "cosine", "dim": dimensions})


def write_pylate(folder, size, dimensions, model_of=bert, attends=False):
    vocabulary = write_tokenizer(folder, MARKERS)
    model = model_of(size, vocab_size=vocabulary) if model_of is bert else model_of(size, vocabulary)
    model.save_pretrained(folder)
    write_json(folder / "modules.json", [
        {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Dense", "type": "pylate.models.Dense.Dense"}])
    write_json(folder / "sentence_bert_config.json", {"max_seq_length": DOCUMENT_TOKENS - 1, "do_lower_case": False})
    write_json(folder / "1_Dense" / "config.json", {
        "in_features": size.hidden, "out_features": dimensions, "bias": False,
        "activation_function": "torch.nn.modules.linear.Identity"})
    save_file({"linear.weight": projection(size, dimensions, 22)}, str(folder / "1_Dense" / "model.safetensors"))
    write_json(folder / "config_sentence_transformers.json", {
        "model_type": "ColBERT", "prompts": {}, "similarity_fn_name": "MaxSim", "query_prefix": MARKERS[0],
        "document_prefix": MARKERS[1], "query_length": QUERY_TOKENS, "document_length": DOCUMENT_TOKENS,
        "attend_to_expansion_tokens": attends, "skiplist_words": PUNCTUATION, "do_query_expansion": True})


def write_multi_vector(folder, size, dimensions):
    """sentence-transformers' own, written by the library itself."""
    base = folder / "base"
    base.mkdir(parents=True)
    write_tokenizer(base)
    bert(size).save_pretrained(base)
    encoder = MultiVectorEncoder(str(base))
    encoder.prompts = {"query": "water . ", "document": "stone . "}
    encoder[0].query_expansion = {"strategy": "fixed", "length": QUERY_TOKENS}
    encoder[0].document_length = DOCUMENT_TOKENS
    encoder[1] = type(encoder[1])(size.hidden, dimensions, bias=True, activation_function=torch.nn.Tanh(),
                                  module_input_name="token_embeddings")
    family_models.shake(encoder[1], 23)
    encoder[2].skiplist_words = [".", "the"]
    encoder.similarity_fn_name = "meanmaxsim"
    encoder.save(str(folder), create_model_card=False)
    for path in sorted(base.iterdir()):
        path.unlink()
    base.rmdir()


FORMS = {
    "stanford": write_stanford,
    "pylate": write_pylate,
    "pylate-modernbert": lambda folder, size, dimensions: write_pylate(folder, size, dimensions, modernbert, True),
    "multi-vector": write_multi_vector,
}


def family_forms():
    """PyLate's form on each family, with fillings that are not attended to. Not DeBERTa, where such tokens see none
    themselves, nor those that sentence-transformers does not have."""
    forms = {}
    for name in family_models.families(size_of(48, 6, 3, 80)):
        if name.startswith(("deberta", "jina")):
            continue

        def model_of(size, vocabulary, name=name):
            config = family_models.families(size)[name]().module.config
            config.vocab_size = vocabulary
            if hasattr(config, "local_attention"):
                config.local_attention = 2 * QUERY_TOKENS
            return family_models.shake(transformers.AutoModel.from_config(config))

        forms[name] = lambda folder, size, dimensions, model_of=model_of: write_pylate(folder, size, dimensions, model_of)
    return forms


def compute(folder, queries, documents):
    """Vectors of queries and of documents, [tokens, dimensions] each, and the scores [queries, documents]."""
    encoder = MultiVectorEncoder(str(folder), device="cpu", model_kwargs={"attn_implementation": "eager"})
    # One by one: a text's vectors are those that it has alone.
    of_queries = [encoder.encode_query([query])[0].float() for query in queries]
    of_documents = [encoder.encode_document([document])[0].float() for document in documents]
    return of_queries, of_documents, encoder.similarity(of_queries, of_documents)


def size_of(hidden, heads, layers, intermediate):
    return family_models.Size(hidden, heads, layers, intermediate, DOCUMENT_TOKENS + 4, len(PIECES))
