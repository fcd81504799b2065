#!/usr/bin/env python3
"""Compares `weir tokenize` with the PyPI package `tokenizers`: ids, type ids, offsets, special-token masks and decoded text
must be equal on every line of the given files and on generated strings.

usage: .deps/venv/bin/python scripts/parity.py --weir build/release/bin/weir --tokenizer FILE
           [--texts FILES...] [--generated N] [--seed S] [--show N]

FILE may be several; scripts/small_tokenizers.py makes some.

Exit status 0: no difference. The first differences are printed, each with the text that shows it.
"""

import argparse
import base64
import itertools
import json
import random
import subprocess
import sys
import tempfile

from tokenizers import Tokenizer

CHUNK = 6000  # Texts at once: two gigabytes of the package's encodings.


# --- strings --------------------------------------------------------------------------------------------------------

WORDS = ("the of and to in is it you that he was for on are with as his they be at one have this from or had by hot word but "
         "what some we can out other were all there when up use your how said an each she which do their time if will way "
         "about many then them write would like so these her long make thing see him two has look more day could go come "
         "did number sound no most people my over know water than call first who may down side been now find "
         "don't can't I'm you've they're it's he'd we'll U.S. e.g. 3.14 1,000 #tag @user http://a.b/c?d=e&f=g C++ x^2 "
         "naïve façade Zürich Ærøskøbing smørrebrød Łódź İstanbul ÅNGSTRÖM straße ΑΒΓΔ ὈΔΥΣΣΕΎΣ Москва ёлка Київ שלום "
         "مرحبا بالعالم नमस्ते दुनिया สวัสดี 你好世界 日本語 カタカナ ひらがな 한국어 안녕하세요 Việt Nam ﬁne ﬂow ﷺ ① ½ ² ™").split()
EMOJI = ["😀", "👍🏽", "👨‍👩‍👧‍👦", "🏳️‍🌈", "🇩🇪", "🇯🇵🇺🇸", "1️⃣", "❤️", "🧑🏿‍🚀", "☺", "🫠", "©️"]
SPACES = [" ", "  ", "\t", "\n", "\r\n", "\u00a0", "\u2003", "\u3000", "\u200b", "\u2028", "\ufeff", "\u0085", "\u1680"]
MARKS = [chr(c) for c in itertools.chain(range(0x300, 0x370), range(0x591, 0x5C8), range(0x64B, 0x660), [0x93C, 0x94D],
                                         [0xE31, 0xE38, 0xF71, 0xF72, 0xF74, 0x302A, 0x302E, 0x3099, 0x309A, 0x20E3],
                                         [0x1D165, 0x1D16D, 0x344, 0xF73, 0xF81, 0x1AB0, 0x1DFA, 0x16FF0])]
CONTROLS = [chr(c) for c in itertools.chain(range(0, 32), range(0x7F, 0xA0), [0xAD, 0x600, 0x61C, 0x180E], range(0x200B, 0x2010),
                                            range(0x202A, 0x202F), range(0x2060, 0x2065), [0xFEFF, 0xFFF9, 0xFFFD, 0xE0001, 0xE000])]
PUNCTUATION = list("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~") + list("¡§«»¿‐–—‘’“”…‹›※、。「」〈〉・！？｡､〜₿€")
BLOCKS = [(0x20, 0x7E), (0xA0, 0x24F), (0x370, 0x52F), (0x590, 0x6FF), (0x900, 0xDFF), (0xE00, 0xFFF), (0x1000, 0x10FF),
          (0x1100, 0x11FF), (0x1E00, 0x1FFF), (0x2000, 0x2BFF), (0x3000, 0x30FF), (0x4E00, 0x4FFF), (0xAC00, 0xD7A3),
          (0xF900, 0xFAFF), (0xFB00, 0xFDFF), (0xFE00, 0xFFFF), (0x10400, 0x104FF), (0x1D100, 0x1D7FF), (0x1F100, 0x1FAFF),
          (0x20000, 0x20400), (0x2F800, 0x2FA1F)]


def any_character(rng):
    while True:
        c = rng.randrange(0x110000)
        if not 0xD800 <= c <= 0xDFFF:
            return chr(c)


def block_character(rng):
    first, last = rng.choice(BLOCKS)
    return chr(rng.randint(first, last))


def sentence(rng, added):
    parts = []
    for _ in range(rng.randint(1, 25)):
        kind = rng.random()
        if kind < 0.7:
            word = rng.choice(WORDS)
            parts.append(word.upper() if kind < 0.05 else word.capitalize() if kind < 0.15 else word)
        elif kind < 0.78:
            parts.append(rng.choice(PUNCTUATION))
        elif kind < 0.84:
            parts.append(rng.choice(EMOJI))
        elif kind < 0.90 and added:
            parts.append(rng.choice(added))
        else:
            parts.append("".join(rng.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(rng.randint(1, 14))))
        if rng.random() < 0.8:
            parts.append(rng.choice(SPACES) if rng.random() < 0.2 else " ")
    return "".join(parts)


def soup(rng, added):
    sources = [lambda: block_character(rng), lambda: any_character(rng), lambda: rng.choice(MARKS), lambda: rng.choice(CONTROLS),
               lambda: rng.choice(SPACES), lambda: rng.choice(PUNCTUATION), lambda: rng.choice(EMOJI),
               lambda: rng.choice("aeiouAEIOUsnZ"), lambda: rng.choice(WORDS), lambda: rng.choice(added or [" "])]
    chosen = rng.sample(sources, rng.randint(1, 4))
    return "".join(rng.choice(chosen)() for _ in range(rng.randint(0, 24)))


def marked(rng):
    """Bases with piles of marks, marks alone, marks at the start."""
    result = []
    for _ in range(rng.randint(1, 8)):
        if rng.random() < 0.8:
            result.append(rng.choice("aeiouAEIOU가각ᄀ한漢क") if rng.random() < 0.7 else block_character(rng))
        result.extend(rng.choice(MARKS) for _ in range(rng.randint(0, 4)))
    return "".join(result)


def long_word(rng):
    unit = rng.choice(["a", "ab", "é", "漢", "word", "😀", "a\u0301", ".", "가", "x1"])
    return unit * (100_000 // len(unit.encode()))


def damaged(rng, added):
    """Bytes that are not valid UTF-8."""
    data = bytearray((sentence(rng, added) if rng.random() < 0.5 else soup(rng, added)).encode())
    for _ in range(rng.randint(1, 6)):
        at = rng.randint(0, len(data))
        data[at:at + rng.randint(0, 2)] = rng.choice([
            bytes([rng.randrange(256)]), bytes([rng.randrange(0x80, 0x100)]), b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80",
            b"\xf0\x9f\x98", b"\xe2\x82", b"\xf8\x88\x80\x80\x80", b"\xe0\x80\xaf", b"\xff\xfe", b""])
    return bytes(data)


def generated(count, seed, added):
    """Texts as str, or as bytes when they are not valid UTF-8. Every code point occurs when `count` allows it."""
    rng = random.Random(seed)
    sweep = (c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF)
    per_text = max(1, -(-1112064 // max(1, count // 8)))
    for i in range(count):
        kind = i % 8
        if i % 20000 == 9999:
            yield long_word(rng)
        elif kind == 0:
            characters = [chr(c) for c in itertools.islice(sweep, min(per_text, 64))]
            yield ("" if rng.random() < 0.5 else " ").join(characters)
        elif kind in (1, 2, 3):
            yield sentence(rng, added)
        elif kind in (4, 5):
            yield soup(rng, added)
        elif kind == 6:
            yield marked(rng)
        else:
            yield damaged(rng, added)


def lines_of(files):
    for name in files:
        with open(name, "rb") as file:
            for line in file.read().split(b"\n"):
                try:
                    yield line.decode()
                except UnicodeDecodeError:
                    yield line


def chunks(texts):
    texts = iter(texts)
    while chunk := list(itertools.islice(texts, CHUNK)):
        yield chunk


# --- the comparison -------------------------------------------------------------------------------------------------

def as_text(text):
    return text.decode("utf-8", "replace") if isinstance(text, bytes) else text


def head(text, size):
    """The first `size` bytes, not those of a character that they cut. The package keeps what truncation cuts off: where both texts
    of a pair are cut, every window of the one with every window of the other, gigabytes for long texts."""
    return text[:size] if isinstance(text, bytes) else text.encode()[:size].decode(errors="ignore")


def record(text, pair=None):
    result = {}
    for key, base64_key, value in (("text", "base64", text), ("pair", "pair_base64", pair)):
        if isinstance(value, bytes):
            result[base64_key] = base64.b64encode(value).decode()
        elif value is not None:
            result[key] = value
    return result


BRACKETS = bytes.maketrans(b"()", b"[]")


def same(encoding, answer):
    """Whether weir's line says what the package does, by its bytes: reading its JSON takes longer than all else here."""
    first = f'{{"ids":{encoding.ids},"tokens":['
    last = f'],"type_ids":{encoding.type_ids},"offsets":{encoding.offsets},"special":{encoding.special_tokens_mask}}}'
    return (answer.startswith(first.encode().translate(BRACKETS, b" ")) and
            answer.endswith(last.encode().translate(BRACKETS, b" ")))


class Comparison:
    def __init__(self, weir, tokenizer_file, show):
        self.weir = weir
        self.file = tokenizer_file
        self.show = show
        self.reference = Tokenizer.from_file(tokenizer_file)
        self.reference.no_truncation()
        self.reference.no_padding()
        self.added = sorted({token.content for token in self.reference.get_added_tokens_decoder().values()})
        self.compared = 0
        self.differences = 0

    def run_weir(self, records, arguments):
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
            for item in records:
                file.write(json.dumps(item) + "\n")
            file.flush()
            command = [self.weir, "tokenize", "--tokenizer", self.file, *arguments, file.name]
            output = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        answers = [line for line in output.split(b"\n") if line]
        if len(answers) != len(records):
            sys.exit(f"parity: weir gave {len(answers)} answers to {len(records)} lines: {' '.join(command)}")
        return answers

    def report(self, what, source, expected, found):
        self.differences += 1
        if self.differences <= self.show:
            print(f"difference ({what}):\n  text     {source!r:.300}\n  expected {expected!r:.600}\n  weir     {found!r:.600}", flush=True)

    def expected(self, inputs, special, truncation):
        """The package's encodings; None where it refuses an input."""
        if truncation:
            self.reference.enable_truncation(truncation[0], direction=truncation[1], strategy=truncation[2])
        try:
            return self.reference.encode_batch(inputs, add_special_tokens=special)
        except Exception:  # of no class of its own; one input spoils the batch
            return [self.expected_one(item, special) for item in inputs]
        finally:
            self.reference.no_truncation()

    def expected_one(self, item, special):
        try:
            return self.reference.encode_batch([item], add_special_tokens=special)[0]
        except Exception:
            return None

    def encode(self, what, texts, pairs=None, arguments=(), special=True, truncation=None):
        inputs = [as_text(t) for t in texts] if pairs is None else [(as_text(a), as_text(b)) for a, b in zip(texts, pairs)]
        expected = self.expected(inputs, special, truncation)
        records = [record(*item) for item in (zip(texts, pairs) if pairs is not None else ((t,) for t in texts))]
        for source, e, answer in zip(inputs, expected, self.run_weir(records, [*arguments])):
            self.compared += 1
            if e is not None and same(e, answer):
                continue
            found = json.loads(answer)
            if e is None:
                if "error" not in found:
                    self.report(what, source, "an error", found)
                continue
            want = {"ids": e.ids, "type_ids": e.type_ids, "offsets": [list(o) for o in e.offsets],
                    "special": e.special_tokens_mask}
            got = {key: found.get(key) for key in want}
            if want != got:
                keys = [key for key in want if want[key] != got[key]]
                self.report(f"{what}: {', '.join(keys)}", source, {k: want[k] for k in keys} | {"tokens": e.tokens},
                            found if "error" in found else {k: got[k] for k in keys} | {"tokens": found.get("tokens")})
        return expected

    def decode(self, id_lists):
        for skip in (True, False):
            arguments = ["--decode"] + ([] if skip else ["--keep-special-tokens"])
            for ids, answer in zip(id_lists, self.run_weir([list(ids) for ids in id_lists], arguments)):
                found = json.loads(answer)
                expected = self.reference.decode(ids, skip_special_tokens=skip)
                self.compared += 1
                if found.get("text") != expected:
                    self.report("decode", ids, expected, found)

    def all_modes(self, texts, seed):
        """Every text as it is; a share of them as pairs, truncated, without special tokens, and back from ids."""
        rng = random.Random(seed)
        encodings = self.encode("single", texts)
        some = texts[seed % 8::8] or texts
        others = some[1:] + some[:1]
        self.encode("no special tokens", some, arguments=["--no-special-tokens"], special=False)
        self.encode("pair", some, pairs=others)
        for side in ("left", "right"):
            room = self.reference.num_special_tokens_to_add(True)
            limit = rng.randint(room, room + 30)
            arguments = ["--max-tokens", str(limit), "--truncation-side", side]
            self.encode(f"truncated to {limit}, {side}", some, arguments=arguments, truncation=(limit, side, "longest_first"))
            for strategy in ("longest_first", "only_first", "only_second"):
                firsts, seconds = some, others
                if strategy == "longest_first":
                    firsts, seconds = ([head(text, 8 + 3 * (limit - room)) for text in texts] for texts in (some, others))
                self.encode(f"pair truncated to {limit}, {side}, {strategy}", firsts, pairs=seconds,
                            arguments=[*arguments, "--pair-truncation", strategy], truncation=(limit, side, strategy))
        known = sorted(set(self.reference.get_vocab(True).values()))
        random_ids = [[rng.choice(known) for _ in range(rng.randint(0, 30))] for _ in range(len(some) // 4)]
        self.decode([e.ids for e in encodings[::8] if e] + random_ids)


def compare_file(file, options):
    comparison = Comparison(options.weir, file, options.show)
    texts = itertools.chain(lines_of(options.texts), generated(options.generated, options.seed, comparison.added))
    for number, chunk in enumerate(chunks(texts)):
        comparison.all_modes(chunk, options.seed + number)
    print(f"parity: {comparison.compared} comparisons, {comparison.differences} differences ({file})", flush=True)
    return comparison.differences


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weir", required=True, help="the program")
    parser.add_argument("--tokenizer", required=True, nargs="+", help="tokenizer.json files")
    parser.add_argument("--texts", nargs="*", default=[], help="files of texts, one a line")
    parser.add_argument("--generated", type=int, default=0, help="how many strings to make up")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=5, help="how many differences to print")
    options = parser.parse_args()
    differences = sum(compare_file(file, options) for file in options.tokenizer)
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
