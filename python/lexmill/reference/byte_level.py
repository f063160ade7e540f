"""Bytes as printable characters, so that a token of any bytes can be shown and stored as a string (GPT-2).

Order of choices: the 188 bytes that Latin-1 prints (0x21-0x7E, 0xA1-0xAC, 0xAE-0xFF) stand for themselves; the
other 68, by ascending value, become U+0100, U+0101, ... in that order. Sorted by code point the 256 characters
are therefore not in the order of their bytes, and it is the code point that orders an alphabet.
Source: Radford et al. 2019, released code of GPT-2 (`bytes_to_unicode`).
"""

from __future__ import annotations

from collections.abc import Iterable

_PRINTABLE = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
_OTHERS = [byte for byte in range(0x100) if byte not in _PRINTABLE]

BYTE_TO_CHAR: dict[int, str] = {
    **{byte: chr(byte) for byte in _PRINTABLE},
    **{byte: chr(0x100 + place) for place, byte in enumerate(_OTHERS)},
}
CHAR_TO_BYTE: dict[str, int] = {char: byte for byte, char in BYTE_TO_CHAR.items()}


def alphabet() -> list[str]:
    """Returns the 256 characters sorted by code point, the order in which a trainer numbers them."""
    return sorted(CHAR_TO_BYTE)


def to_chars(text: str | bytes) -> str:
    """Spells text, or bytes, with one character per byte."""
    data = text.encode("utf-8") if isinstance(text, str) else text
    return "".join(BYTE_TO_CHAR[byte] for byte in data)


def token_bytes(token: str) -> bytes:
    """Returns the bytes that a token spells.

    A token with a character outside the 256 is taken whole as ordinary text, since it can only be an added token.
    """
    if all(char in CHAR_TO_BYTE for char in token):
        return bytes(CHAR_TO_BYTE[char] for char in token)
    return token.encode("utf-8")


def decode(tokens: Iterable[str]) -> str:
    """Joins the bytes of the tokens and reads them as UTF-8.

    Each maximal ill-formed run becomes one U+FFFD (Unicode 15, section 3.9, best practice); joining comes first, so a
    character split between tokens is whole again.
    """
    return b"".join(map(token_bytes, tokens)).decode("utf-8", errors="replace")
