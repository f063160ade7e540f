"""Writes `bert_ranges.rs`: what `BertNormalizer` does to each character, probed from the library that defines it.

Run it with Hugging Face `tokenizers` installed; the version asked is named in the header of the file it writes:

    python rust/normalizers/generate_bert_ranges.py > rust/normalizers/bert_ranges.rs
"""

from collections.abc import Callable

import tokenizers
from tokenizers.normalizers import NFD, BertNormalizer

CODE_POINTS = [code for code in range(0x110000) if not 0xD800 <= code < 0xE000]


def step(name: str) -> BertNormalizer:
    """A normalizer with a single step turned on."""
    options = {"clean_text": False, "handle_chinese_chars": False, "strip_accents": False, "lowercase": False}
    return BertNormalizer(**{**options, name: True})


def ranges(chosen: Callable[[str], bool]) -> list[tuple[int, int]]:
    """Closed ranges of the characters that are chosen."""
    found: list[tuple[int, int]] = []
    for code in CODE_POINTS:
        if not chosen(chr(code)):
            continue
        if found and found[-1][1] == code - 1:
            found[-1] = found[-1][0], code
        else:
            found.append((code, code))
    return found


def literal(code: int) -> str:
    """A code point as Rust writes it."""
    return f"0x{code >> 16:X}_{code & 0xFFFF:04X}" if code > 0xFFFF else f"0x{code:04X}"


def table(name: str, about: str, chosen: Callable[[str], bool]) -> str:
    """One table as Rust."""
    found = ranges(chosen)
    rows = "".join(f"    ({literal(first)}, {literal(last)}),\n" for first, last in found)
    return f"/// {about}\npub(super) static {name}: [(u32, u32); {len(found)}] = [\n{rows}];\n"


clean, accents, nfd = step("clean_text"), step("strip_accents"), NFD()
print("//! What `BertNormalizer` does to characters, as closed ranges of code points.")
print("//!")
print(f"//! Written by `generate_bert_ranges.py`, which asked Hugging Face `tokenizers` {tokenizers.__version__}.\n")
tables = [
    table("DROPPED", "What `clean_text` takes out.", lambda c: clean.normalize_str(f"a{c}b") == "ab"),
    table(
        "MARKS",
        "What `strip_accents` takes out of decomposed text.",
        lambda c: accents.normalize_str(f"a{c}b") == "ab" and nfd.normalize_str(c) == c,
    ),
]
print("\n".join(tables), end="")
