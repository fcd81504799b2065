#!/usr/bin/env python3
"""Writes src/tokenizers/unicode/regex_tables.inc: what the classes of a tokenizer's own regular expressions hold.

The PyPI package `tokenizers` searches with Oniguruma, whose Unicode is neither that of the package's other parts
(scripts/unicode_tables.py) nor that of the machine's ICU. Every class is asked of the package. Takes half a minute.

usage: .deps/venv/bin/python scripts/regex_tables.py > src/tokenizers/unicode/regex_tables.inc
"""

import sys

import tokenizers
from tokenizers import Regex, pre_tokenizers

import unicode_tables
from unicode_tables import emit

CODE_POINTS = [0, *unicode_tables.CODE_POINTS]
TEXT = "".join(map(chr, CODE_POINTS))

# In the order of the enumeration in src/tokenizers/unicode/regex_classes.cc. No text holds a surrogate (Cs), and what is in
# no other category is unassigned (Cn).
CATEGORIES = "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Co".split()

PROPERTIES = ("Alphabetic Uppercase Lowercase Ideographic Emoji Emoji_Presentation Emoji_Modifier Emoji_Modifier_Base "
              "Emoji_Component Extended_Pictographic").split()

SCRIPTS = """
Adlam=Adlm Ahom=Ahom Anatolian_Hieroglyphs=Hluw Arabic=Arab Armenian=Armn Avestan=Avst Balinese=Bali Bamum=Bamu Bassa_Vah=Bass
Batak=Batk Bengali=Beng Bhaiksuki=Bhks Bopomofo=Bopo Brahmi=Brah Braille=Brai Buginese=Bugi Buhid=Buhd Canadian_Aboriginal=Cans
Carian=Cari Caucasian_Albanian=Aghb Chakma=Cakm Cham=Cham Cherokee=Cher Chorasmian=Chrs Common=Zyyy Coptic=Copt Cuneiform=Xsux
Cypriot=Cprt Cypro_Minoan=Cpmn Cyrillic=Cyrl Deseret=Dsrt Devanagari=Deva Dives_Akuru=Diak Dogra=Dogr Duployan=Dupl
Egyptian_Hieroglyphs=Egyp Elbasan=Elba Elymaic=Elym Ethiopic=Ethi Garay=Gara Georgian=Geor Glagolitic=Glag Gothic=Goth
Grantha=Gran Greek=Grek Gujarati=Gujr Gunjala_Gondi=Gong Gurmukhi=Guru Gurung_Khema=Gukh Han=Hani Hangul=Hang
Hanifi_Rohingya=Rohg Hanunoo=Hano Hatran=Hatr Hebrew=Hebr Hiragana=Hira Imperial_Aramaic=Armi Inherited=Zinh
Inscriptional_Pahlavi=Phli Inscriptional_Parthian=Prti Javanese=Java Kaithi=Kthi Kannada=Knda Katakana=Kana Kawi=Kawi
Kayah_Li=Kali Kharoshthi=Khar Khitan_Small_Script=Kits Khmer=Khmr Khojki=Khoj Khudawadi=Sind Kirat_Rai=Krai Lao=Laoo Latin=Latn
Lepcha=Lepc Limbu=Limb Linear_A=Lina Linear_B=Linb Lisu=Lisu Lycian=Lyci Lydian=Lydi Mahajani=Mahj Makasar=Maka Malayalam=Mlym
Mandaic=Mand Manichaean=Mani Marchen=Marc Masaram_Gondi=Gonm Medefaidrin=Medf Meetei_Mayek=Mtei Mende_Kikakui=Mend
Meroitic_Cursive=Merc Meroitic_Hieroglyphs=Mero Miao=Plrd Modi=Modi Mongolian=Mong Mro=Mroo Multani=Mult Myanmar=Mymr
Nabataean=Nbat Nag_Mundari=Nagm Nandinagari=Nand New_Tai_Lue=Talu Newa=Newa Nko=Nkoo Nushu=Nshu Nyiakeng_Puachue_Hmong=Hmnp
Ogham=Ogam Ol_Chiki=Olck Ol_Onal=Onao Old_Hungarian=Hung Old_Italic=Ital Old_North_Arabian=Narb Old_Permic=Perm Old_Persian=Xpeo
Old_Sogdian=Sogo Old_South_Arabian=Sarb Old_Turkic=Orkh Old_Uyghur=Ougr Oriya=Orya Osage=Osge Osmanya=Osma Pahawh_Hmong=Hmng
Palmyrene=Palm Pau_Cin_Hau=Pauc Phags_Pa=Phag Phoenician=Phnx Psalter_Pahlavi=Phlp Rejang=Rjng Runic=Runr Samaritan=Samr
Saurashtra=Saur Sharada=Shrd Shavian=Shaw Siddham=Sidd SignWriting=Sgnw Sinhala=Sinh Sogdian=Sogd Sora_Sompeng=Sora Soyombo=Soyo
Sundanese=Sund Sunuwar=Sunu Syloti_Nagri=Sylo Syriac=Syrc Tagalog=Tglg Tagbanwa=Tagb Tai_Le=Tale Tai_Tham=Lana Tai_Viet=Tavt
Takri=Takr Tamil=Taml Tangsa=Tnsa Tangut=Tang Telugu=Telu Thaana=Thaa Thai=Thai Tibetan=Tibt Tifinagh=Tfng Tirhuta=Tirh
Todhri=Todr Toto=Toto Tulu_Tigalari=Tutg Ugaritic=Ugar Vai=Vaii Vithkuqi=Vith Wancho=Wcho Warang_Citi=Wara Yezidi=Yezi Yi=Yiii
Zanabazar_Square=Zanb
""".split()


def ranges_in(text, regex, **options):
    """The pieces of a text, which are runs of code points, as ranges."""
    splitter = pre_tokenizers.Split(Regex(regex), **options)
    return [(ord(text[begin]), ord(text[end - 1])) for _, (begin, end) in splitter.pre_tokenize_str(text)]


def members(name, text=TEXT):
    """The ranges of code points that \\p{name} matches. Surrogates are no characters, so a range may reach across them."""
    return ranges_in(text, rf"\p{{{name}}}+", behavior="removed", invert=True)


def size(ranges):
    surrogates = sum(0x800 for first, last in ranges if first < 0xD800 and last > 0xDFFF)
    return sum(last - first + 1 for first, last in ranges) - surrogates


def partition(names, rest):
    """(first, last, which of the names) for classes that share no member. With `rest` they hold every code point."""
    runs = ranges_in(TEXT, "|".join(rf"\p{{{name}}}+" for name in names), behavior="isolated")
    first_of_each = "".join(chr(first) for first, _ in runs)
    class_of = {}
    for index, name in enumerate(names):
        for first, _ in ranges_in(first_of_each, rf"\p{{{name}}}", behavior="removed", invert=True):
            if class_of.setdefault(first, index) != index:
                sys.exit(f"{name} and {names[class_of[first]]} share U+{first:04X}")
    result = [(first, last, class_of[first]) for first, last in runs if first in class_of]
    missing = len(CODE_POINTS) - size([run[:2] for run in result]) - size(members(rest))
    if missing:
        sys.exit(f"{names[0]} ...: {missing} code points are in none of the classes: a name is missing")
    return result


def emit_partition(name, entries):
    emit(f"ClassRange k{name}", [f"{{0x{first:x}, 0x{last:x}, {index}}}" for first, last, index in entries])
    print(f"{name}: {len(entries)} ranges", file=sys.stderr)


def key(name):
    return name.replace("_", "").lower()


def script_names(scripts):
    """Every name of a script → its place. `scripts`: a partition."""
    sample = "".join({chr(first) for first, _, _ in scripts})
    result = {}
    for index, (name, short_name) in enumerate(script.split("=") for script in SCRIPTS):
        if members(name, sample) != members(short_name, sample):
            sys.exit(f"{name} and {short_name} are not the same script")
        result.update({key(name): index, key(short_name): index})
    result["qaac"], result["qaai"] = result["copt"], result["zinh"]  # the names that Unicode once had for them
    return result


def main():
    print(f"// Made by scripts/regex_tables.py from the PyPI package tokenizers {tokenizers.__version__}. Do not edit.\n")
    emit_partition("Categories", partition(CATEGORIES, "Cn"))
    scripts = partition([script.split("=")[0] for script in SCRIPTS], "Unknown")
    emit_partition("Scripts", scripts)
    emit("ScriptName kScriptNames", [f'{{"{name}", {index}}}' for name, index in sorted(script_names(scripts).items())])
    for name in PROPERTIES:
        found = members(name)
        emit(f"CodePointRange k{name.replace('_', '')}", [f"{{0x{first:x}, 0x{last:x}}}" for first, last in found])
        print(f"{name}: {len(found)} ranges", file=sys.stderr)


if __name__ == "__main__":
    main()
