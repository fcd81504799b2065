#!/usr/bin/env python3
"""Writes src/tokenizers/unicode/tables.inc: what the PyPI package `tokenizers` knows about each code point.

The package's parts were built against different versions of Unicode (its normalization tables are those of Unicode 9, its
lower case those of the newest), so no version of ICU agrees with all of it. Every property is therefore asked of the
package itself, one code point at a time, and weir's ids do not change with the ICU of the machine. Takes a minute or two.

usage: .deps/venv/bin/python scripts/unicode_tables.py > src/tokenizers/unicode/tables.inc
"""

import sys
import unicodedata

import tokenizers
from tokenizers import Regex, normalizers, pre_tokenizers

CODE_POINTS = [c for c in range(1, 0x110000) if not 0xD800 <= c <= 0xDFFF]


def pieces(pre_tokenizer, text):
    return [piece for piece, _ in pre_tokenizer.pre_tokenize_str(text)]


def probes():
    """Name of a property → predicate of a character."""
    clean = normalizers.BertNormalizer(clean_text=True, handle_chinese_chars=False, strip_accents=False, lowercase=False)
    accents = normalizers.BertNormalizer(clean_text=False, handle_chinese_chars=False, strip_accents=True, lowercase=False)
    marks = normalizers.StripAccents()
    words = pre_tokenizers.Whitespace()
    spaces = pre_tokenizers.WhitespaceSplit()
    punctuation = pre_tokenizers.Punctuation("isolated")
    digits = pre_tokenizers.Digits(individual_digits=True)
    classes = {name: pre_tokenizers.Split(Regex(pattern), "isolated")
               for name, pattern in [("Letter", r"\p{L}"), ("Number", r"\p{N}"), ("RegexSpace", r"\s")]}

    def isolates(splitter):
        return lambda c: len(pieces(splitter, "\u00b7" + c + "\u00b7")) > 1

    result = {
        "Whitespace": lambda c: len(pieces(spaces, "a" + c + "b")) == 2,
        "Control": lambda c: clean.normalize_str("a" + c) == "a" and c != "\ufffd",
        "NonspacingMark": lambda c: accents.normalize_str("a" + c) == "a",
        "CombiningMark": lambda c: marks.normalize_str("a" + c) == "a",
        "Word": lambda c: pieces(words, "a" + c) == ["a" + c],
        "Punctuation": lambda c: len(pieces(punctuation, "a" + c + "a")) == 3,
        "Numeric": lambda c: len(pieces(digits, "a" + c + "a")) == 3,
    }
    result.update({name: isolates(splitter) for name, splitter in classes.items()})
    return result


def ranges(code_points):
    result = []
    for c in code_points:
        if result and result[-1][1] == c - 1:
            result[-1][1] = c
        else:
            result.append([c, c])
    return result


def combining_classes(nfd):
    """Code point → class, found by which of two marks the package puts first."""
    classes = {}
    for c in CODE_POINTS:
        guess = unicodedata.combining(chr(c))
        moves_before_240 = nfd.normalize_str("a\u0345" + chr(c)) != "a\u0345" + chr(c)
        stays_after_1 = nfd.normalize_str("a" + chr(c) + "\u0334") == "a\u0334" + chr(c)
        if guess and (moves_before_240 or stays_after_1):
            classes[c] = guess
        elif not guess and nfd.normalize_str(chr(c)) == chr(c) and (moves_before_240 or stays_after_1):
            sys.exit(f"U+{c:04X} has a combining class that Python's unicodedata does not know")
    return classes


def compositions(nfd, nfc):
    """(first, second) → composed."""
    result = {}
    for c in CODE_POINTS:
        if 0xAC00 <= c <= 0xD7A3:
            continue
        raw = unicodedata.decomposition(chr(c)).split()
        if len(raw) == 2 and not raw[0].startswith("<"):
            first, second = (int(part, 16) for part in raw)
            if nfc.normalize_str(chr(first) + chr(second)) == chr(c) and nfd.normalize_str(chr(c)) != chr(c):
                result[(first, second)] = c
    return result


def mapping(normalizer, skip=lambda c: False):
    """Code point → code points, where they differ."""
    result = {}
    for c in CODE_POINTS:
        if not skip(c):
            mapped = normalizer.normalize_str(chr(c))
            if mapped != chr(c):
                result[c] = [ord(m) for m in mapped]
    return result


def emit(declaration, items):
    print(f"inline constexpr {declaration}[] = {{")
    line = "   "
    for item in items:
        if len(line) + len(item) + 2 > 119:
            print(line)
            line = "   "
        line += f" {item},"
    print(line + "\n};\n")


def emit_mapping(name, table):
    """Each entry: code point, number of code points, code points."""
    emit(f"std::uint32_t k{name}", [", ".join(f"0x{v:x}" for v in [c, len(to), *to]) for c, to in sorted(table.items())])


def main():
    hangul = lambda c: 0xAC00 <= c <= 0xD7A3
    nfd, nfc, nfkd = normalizers.NFD(), normalizers.NFC(), normalizers.NFKD()
    print(f"// Made by scripts/unicode_tables.py from the PyPI package tokenizers {tokenizers.__version__}. Do not edit.\n")
    for name, has in probes().items():
        found = ranges(c for c in CODE_POINTS if has(chr(c)))
        emit(f"CodePointRange k{name}Ranges", [f"{{0x{first:x}, 0x{last:x}}}" for first, last in found])
        print(f"{name}: {len(found)} ranges", file=sys.stderr)
    classes = combining_classes(nfd)
    by_range = []
    for c in sorted(classes):
        if by_range and by_range[-1][1] == c - 1 and by_range[-1][2] == classes[c]:
            by_range[-1][1] = c
        else:
            by_range.append([c, c, classes[c]])
    emit("CombiningClassRange kCombiningClasses", [f"{{0x{a:x}, 0x{b:x}, {k}}}" for a, b, k in by_range])
    emit("Composition kCompositions",
         [f"{{0x{a:x}, 0x{b:x}, 0x{c:x}}}" for (a, b), c in sorted(compositions(nfd, nfc).items())])
    emit_mapping("LowerCase", mapping(normalizers.Lowercase()))
    canonical = mapping(nfd, skip=hangul)
    emit_mapping("CanonicalDecomposition", canonical)
    compatible = mapping(nfkd, skip=hangul)
    emit_mapping("CompatibilityDecomposition", {c: to for c, to in compatible.items() if canonical.get(c) != to})


if __name__ == "__main__":
    main()
