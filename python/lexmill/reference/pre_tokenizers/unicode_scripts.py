r"""Cuts text where the script changes.

Hiragana, katakana and the prolonged sound mark count as Han, as in SentencePiece. Spaces (U+0020) and characters
without a script join the piece before them; at the beginning of the text they are dropped. Common and Inherited are
scripts like others, so a digit or a mark begins a piece.
Source: Unicode Standard Annex 24; the scripts and their characters are Unicode 9's, and here the ones of the module
`regex`, which knows more.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from lexmill.reference.normalized import Normalized, pieces_at

# Of Unicode 9.
SCRIPTS = """
    Common Inherited Latin Han Hiragana Katakana Greek Cyrillic Armenian Hebrew Arabic Syriac Thaana Nko Samaritan
    Mandaic Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu Kannada Malayalam Sinhala Thai Lao Tibetan
    Myanmar Georgian Hangul Ethiopic Cherokee Canadian_Aboriginal Ogham Runic Tagalog Hanunoo Buhid Tagbanwa Khmer
    Mongolian Limbu Tai_Le New_Tai_Lue Buginese Tai_Tham Balinese Sundanese Batak Lepcha Ol_Chiki Coptic Glagolitic
    Tifinagh Bopomofo Yi Lisu Vai Bamum Syloti_Nagri Phags_Pa Saurashtra Kayah_Li Rejang Javanese Cham Tai_Viet
    Meetei_Mayek Linear_B Lycian Carian Old_Italic Gothic Old_Permic Ugaritic Old_Persian Deseret Shavian Osmanya
    Osage Elbasan Caucasian_Albanian Linear_A Cypriot Imperial_Aramaic Palmyrene Nabataean Hatran Phoenician Lydian
    Meroitic_Hieroglyphs Meroitic_Cursive Kharoshthi Old_South_Arabian Old_North_Arabian Manichaean Avestan
    Inscriptional_Parthian Inscriptional_Pahlavi Psalter_Pahlavi Old_Turkic Old_Hungarian Brahmi Kaithi Sora_Sompeng
    Chakma Mahajani Sharada Khojki Multani Khudawadi Grantha Newa Tirhuta Siddham Modi Takri Ahom Warang_Citi
    Pau_Cin_Hau Bhaiksuki Marchen Cuneiform Anatolian_Hieroglyphs Egyptian_Hieroglyphs Mro Bassa_Vah Pahawh_Hmong
    Miao Tangut Duployan SignWriting Mende_Kikakui Adlam Braille
"""


@cache
def script(char: str) -> str | None:
    """The script of a character; None joins any."""
    import regex

    if char == " ":
        return None
    if char == "\u30fc":
        return "Han"
    name = next((name for name in SCRIPTS.split() if regex.match(rf"\p{{Script={name}}}", char)), None)
    return "Han" if name in ("Hiragana", "Katakana") else name


@dataclass(frozen=True)
class UnicodeScripts:
    """Pieces of one script each."""

    def pre_tokenize(self, text: Normalized) -> list[Normalized]:
        """Returns the pieces."""
        current: str | None = None
        starts: list[int] = []
        for place, char in enumerate(text.text):
            found = script(char)
            if found is not None and found != current:
                starts.append(place)
                current = found
        return pieces_at(text, zip(starts, [*starts[1:], len(text.text)], strict=False))
