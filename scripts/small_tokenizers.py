#!/usr/bin/env python3
"""Trains small tokenizers with the PyPI package `tokenizers`, one for each combination of parts that real models use, for
scripts/parity.py to compare.

usage: .deps/venv/bin/python scripts/small_tokenizers.py FOLDER
"""

import json
import random
import sys
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, trainers
from tokenizers import normalizers as n
from tokenizers import pre_tokenizers as p
from tokenizers import processors as post

import parity

SPECIAL = ["<s>", "</s>", "<unk>", "<mask>", "[CLS]", "[SEP]"]
GPT4 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
BYTES = [f"<0x{i:02X}>" for i in range(256)]
SPLITS = ["removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"]
ADDED = [AddedToken("<left>", lstrip=True), AddedToken("<right>", rstrip=True, normalized=False),
         AddedToken("the", single_word=True, normalized=True), AddedToken("ÅN", normalized=True),
         AddedToken("to be", lstrip=True, rstrip=True), AddedToken("http", single_word=True, normalized=False)]

_rng = random.Random(5)
CORPUS = [parity.sentence(_rng, []) for _ in range(400)]


def trainer(model, vocabulary):
    special = SPECIAL + (BYTES if getattr(model, "byte_fallback", False) else [])
    common = {"vocab_size": vocabulary + len(special), "special_tokens": special, "show_progress": False}
    if isinstance(model, models.BPE):
        affixes = {"continuing_subword_prefix": model.continuing_subword_prefix, "end_of_word_suffix": model.end_of_word_suffix}
        affixes = {name: affix for name, affix in affixes.items() if affix is not None}
        return trainers.BpeTrainer(initial_alphabet=p.ByteLevel.alphabet(), **affixes, **common)
    if isinstance(model, models.Unigram):
        return trainers.UnigramTrainer(unk_token="<unk>", **common)
    if isinstance(model, models.WordPiece):
        return trainers.WordPieceTrainer(**common)
    return trainers.WordLevelTrainer(**common)


def make(model, vocabulary=600, normalizer=None, pre=None, processor=None, decoder=None, added=()):
    """A tokenizer as the JSON that it is saved as."""
    tokenizer = Tokenizer(model)
    if normalizer:
        tokenizer.normalizer = normalizer
    if pre:
        tokenizer.pre_tokenizer = pre
    tokenizer.train_from_iterator(CORPUS, trainer(model, vocabulary))
    if processor:
        tokenizer.post_processor = processor(tokenizer)
    if decoder:
        tokenizer.decoder = decoder
    tokenizer.add_tokens(list(added))
    result = json.loads(tokenizer.to_str())
    result["added_tokens"] = [token for token in result["added_tokens"] if token["content"] not in BYTES]
    for token in result["added_tokens"]:
        token["lstrip"] = token["lstrip"] or token["content"] == "<mask>"
    return result


def with_old_merges(tokenizer):
    """Merges as one string each, as files were written before version 0.20."""
    tokenizer["model"]["merges"] = [" ".join(pair) for pair in tokenizer["model"]["merges"]]
    return tokenizer


def with_old_metaspace(tokenizer):
    """Metaspace with add_prefix_space, as files had it before prepend_scheme."""
    for part in (tokenizer["pre_tokenizer"], tokenizer["decoder"]):
        part.pop("prepend_scheme")
        part.pop("split")
        part["add_prefix_space"] = True
    return tokenizer


def with_byte_tokens(tokenizer):
    tokenizer["model"]["vocab"] += [[token, -20.0] for token in BYTES]
    tokenizer["model"]["byte_fallback"] = True
    return tokenizer


# --- post-processors ------------------------------------------------------------------------------------------------

def template(tokenizer):
    special = [(token, tokenizer.token_to_id(token)) for token in ("<s>", "</s>")]
    return post.TemplateProcessing(single="<s> $A </s>", pair="<s> $A </s> $B:1 </s>:1", special_tokens=special)


def short_template(tokenizer):
    return post.TemplateProcessing(single="$A </s>", pair="$B:1 </s>:2 $A", special_tokens=[("</s>", tokenizer.token_to_id("</s>"))])


def bert(tokenizer):
    return post.BertProcessing(("[SEP]", tokenizer.token_to_id("[SEP]")), ("[CLS]", tokenizer.token_to_id("[CLS]")))


def roberta(**options):
    def processor(tokenizer):
        end, begin = (("</s>", tokenizer.token_to_id("</s>")), ("<s>", tokenizer.token_to_id("<s>")))
        return post.RobertaProcessing(end, begin, **options)
    return processor


def trimmed_template(tokenizer):
    return post.Sequence([post.ByteLevel(trim_offsets=True), template(tokenizer)])


# --- the tokenizers -------------------------------------------------------------------------------------------------

def llama(fuse):
    decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    return make(models.BPE(unk_token="<unk>", fuse_unk=fuse, byte_fallback=True), 400,
                n.Sequence([n.Prepend("▁"), n.Replace(" ", "▁")]), None, template, decoder, ADDED)


def byte_level():
    level = p.ByteLevel
    plain = decoders.ByteLevel()
    yield "roberta", make(models.BPE(), 700, n.NFC(), level(add_prefix_space=True), roberta(), plain, ADDED)
    yield "roberta_untrimmed", make(models.BPE(), 700, None, level(add_prefix_space=False),
                                    roberta(trim_offsets=False, add_prefix_space=False), plain)
    yield "gpt2", with_old_merges(make(models.BPE(), 700, None, level(add_prefix_space=False), trimmed_template, plain, ADDED))
    yield "gpt4", make(models.BPE(ignore_merges=True), 700, n.NFKC(),
                       p.Sequence([p.Split(Regex(GPT4), "isolated"), level(add_prefix_space=False, use_regex=False)]),
                       roberta(trim_offsets=True, add_prefix_space=False), plain)
    yield "trimmed", make(models.BPE(), 700, None, level(), lambda t: post.ByteLevel(trim_offsets=True), plain, ADDED)
    yield "byte_level_normalizer", make(models.BPE(unk_token="<unk>"), 700, n.ByteLevel(), p.Split("Ġ", "merged_with_next"),
                                        template, plain)


def sentencepiece():
    yield "llama_fused", llama(fuse=True)
    yield "llama_old_merges", with_old_merges(llama(fuse=False))
    for scheme in ("first", "never", "always"):
        yield f"unigram_{scheme}", make(
            models.Unigram(), 500, n.Sequence([n.Nmt(), n.NFKC(), n.Replace(Regex(" {2,}"), " "), n.Strip()]),
            p.Metaspace(prepend_scheme=scheme, split=scheme != "never"), template, decoders.Metaspace(prepend_scheme=scheme), ADDED)
    yield "unigram_old_metaspace", with_old_metaspace(make(models.Unigram(), 500, n.NFKD(), p.Metaspace(), short_template,
                                                           decoders.Metaspace()))
    yield "unigram_bytes", with_byte_tokens(make(
        models.Unigram(), 700, n.Lowercase(), p.Sequence([p.WhitespaceSplit(), p.Metaspace()]), template,
        decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace()])))


def words():
    yield "bpe_suffix", make(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"), 600,
                             n.Sequence([n.NFD(), n.StripAccents(), n.Lowercase()]),
                             p.Sequence([p.Whitespace(), p.Digits(individual_digits=True)]), template, decoders.BPEDecoder("</w>"))
    yield "bpe_prefix", make(models.BPE(unk_token="<unk>", continuing_subword_prefix="##", fuse_unk=True), 600,
                             n.BertNormalizer(lowercase=False), p.BertPreTokenizer(), bert, decoders.WordPiece(cleanup=True))
    for accents in (None, True, False):
        yield f"wordpiece_accents_{accents}", make(
            models.WordPiece(unk_token="<unk>", max_input_chars_per_word=20), 600,
            n.BertNormalizer(strip_accents=accents, lowercase=accents is not True, handle_chinese_chars=accents is not False),
            p.BertPreTokenizer(), bert, decoders.WordPiece(cleanup=accents is None), ADDED)
    yield "wordlevel_digits", make(models.WordLevel(unk_token="<unk>"), 600, n.Strip(),
                                   p.Sequence([p.CharDelimiterSplit("-"), p.Digits(), p.WhitespaceSplit()]), template)
    yield "ctc", make(models.WordLevel(unk_token="<unk>"), 100, n.Strip(left=True, right=False), p.Split(Regex("."), "isolated"), None,
                      decoders.CTC(pad_token="<s>", word_delimiter_token="|"))


def splits():
    for behavior in SPLITS:
        model = models.WordLevel(unk_token="<unk>")
        yield f"punctuation_{behavior}", make(model, 600, n.Lowercase(), p.Punctuation(behavior), template)
        for invert in (False, True):
            cut = p.Split(Regex(r"\s+|\d|[[:punct:]]+"), behavior, invert)
            yield f"split_{behavior}{'_inverted' if invert else ''}", make(model, 600, None, cut, short_template)
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        yield f"form_{form}", make(models.WordLevel(unk_token="<unk>"), 600, getattr(n, form)(), p.Split(Regex("."), "isolated"))


def regex_classes():
    """Expressions whose matches show what each class of code points holds."""
    categories = "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Co Cn".split()
    scripts = "Han Hiragana Katakana Hangul Latin Cyrillic Greek Arabic Hebrew Devanagari Thai Garay Common Inherited".split()
    named = [r"\w", r"[\w]", r"[^\W\d]", r"\h", r"\p{^L}", r"\p{Alphabetic}", r"\p{Uppercase}", r"\p{Lowercase}", r"\p{Emoji}",
             r"\p{Extended_Pictographic}", r"\p{Ideographic}"]
    posix = "alnum alpha ascii blank cntrl digit graph lower print punct space upper word xdigit".split()
    for name, parts in (("categories", [rf"\p{{{c}}}" for c in categories]), ("scripts", [rf"\p{{{script}}}" for script in scripts]),
                        ("named", named), ("posix", [f"[[:{name}:]]" for name in posix]), ("boundaries", [r"\b", r"\B."])):
        cuts = p.Sequence([p.Split(Regex(part if name == "boundaries" else part + "+"), "isolated") for part in parts])
        yield f"regex_{name}", make(models.WordLevel(unk_token="<unk>"), 600, None, cuts, short_template)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for family in (byte_level, sentencepiece, words, splits, regex_classes):
        for name, tokenizer in family():
            (folder / f"{name}.json").write_text(json.dumps(tokenizer, ensure_ascii=False))


if __name__ == "__main__":
    main()
