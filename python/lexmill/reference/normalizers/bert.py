"""BERT's normalization of text, in four steps: control characters, ideographs, accents, case.

1. `clean_text`: categories Cc, Cf and Co and U+FFFD are taken out, but for tab, line feed and carriage return; then
   every white space becomes a space.
2. `handle_chinese_chars`: a space goes before and after every ideograph; both stand for the ideograph.
3. `strip_accents`: the text is decomposed (NFD), then marks (category Mn) are taken out.
4. `lowercase`: each character becomes its lower case. So the dot of `İ` comes back after step 3.

Source: Devlin et al. 2018, released code. Categories are Unicode 8's; the running Python knows more characters.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from lexmill.reference.normalized import Normalized
from lexmill.reference.normalizers.lowercase import Lowercase
from lexmill.reference.normalizers.unicode import Unicode
from lexmill.reference.words import WHITE_SPACE

# U+2B820 to U+2B91F are left out, as in Hugging Face.
IDEOGRAPHS = [
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0x2F800, 0x2FA1F),
]


@dataclass(frozen=True)
class BertNormalizer:
    """The steps to take.

    Attributes:
        clean_text: the first step.
        handle_chinese_chars: the second step.
        strip_accents: the third step; None takes the value of `lowercase`.
        lowercase: the fourth step.
    """

    clean_text: bool = True
    handle_chinese_chars: bool = True
    strip_accents: bool | None = None
    lowercase: bool = True

    def normalize(self, text: Normalized) -> Normalized:
        """Returns the text after the steps."""
        if self.clean_text:
            kept = (pair for pair in text.chars() if not _is_dropped(pair[0]))
            text = text.rewrite((" " if char in WHITE_SPACE else char, source) for char, source in kept)
        if self.handle_chinese_chars:
            text = text.rewrite(
                (spaced, source)
                for char, source in text.chars()
                for spaced in (f" {char} " if _is_ideograph(char) else char)
            )
        if self.lowercase if self.strip_accents is None else self.strip_accents:
            text = Unicode("NFD").normalize(text)
            text = text.rewrite(pair for pair in text.chars() if unicodedata.category(pair[0]) != "Mn")
        return Lowercase().normalize(text) if self.lowercase else text


def _is_dropped(char: str) -> bool:
    if char in "\t\n\r":
        return False
    return char == "\ufffd" or unicodedata.category(char) in ("Cc", "Cf", "Co")


def _is_ideograph(char: str) -> bool:
    return any(first <= ord(char) <= last for first, last in IDEOGRAPHS)
