"""SentencePiece's decoding in one stage; lexmill's own, since the stages of Hugging Face only come close to it.

The tokens are taken from left to right. Tokens of bytes in a row are decoded together; each byte of invalid UTF-8
becomes U+FFFD. The unknown token has a text of its own, the surface. In other tokens U+2581 is a space. As long as the
text is empty, a space at the beginning of a token goes: with `remove_extra_whitespaces` the space of each token, else
with `add_dummy_prefix` the space of one token, after which none goes. An empty token is one that is left out, such as a
control piece: it only ends the bytes before it. In the end the text may be rewritten by rules (denormalized).
Source: experiments with sentencepiece 0.2.3.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from lexmill.reference.normalized import Normalized
from lexmill.reference.normalizers.sentencepiece import SentencePiece as Rules

SPACE = "\u2581"
BYTE = re.compile("<0x([0-9A-F]{2})>")


@dataclass(frozen=True)
class SentencePiece:
    """The unknown token, the treatment of spaces and bytes, and the rules in the end."""

    unk_token: str | None
    unk_surface: str
    byte_fallback: bool
    add_dummy_prefix: bool
    remove_extra_whitespaces: bool
    denormalizer: Rules | None

    def decode(self, tokens: list[str]) -> list[str]:
        """Returns the text of all tokens."""
        text = ""
        run = b""
        is_beginning, has_lost_space = True, False
        for token in tokens:
            byte = BYTE.fullmatch(token) if self.byte_fallback else None
            if byte is not None:
                run += bytes.fromhex(byte[1])
                continue
            text += _text_of_bytes(run)
            run = b""
            is_beginning = is_beginning and not has_lost_space and not text
            has_lost_space = False
            if token == self.unk_token:
                text += self.unk_surface
                continue
            rest = token
            if is_beginning and token.startswith(SPACE) and (self.add_dummy_prefix or self.remove_extra_whitespaces):
                rest = token[1:]
                has_lost_space = not self.remove_extra_whitespaces
            text += rest.replace(SPACE, " ")
        text += _text_of_bytes(run)
        if self.denormalizer is not None:
            text = self.denormalizer.normalize(Normalized.whole(text)).text
        return [text]


def _text_of_bytes(run: bytes) -> str:
    text = ""
    start = 0
    while start < len(run):
        for end in range(start + 1, start + 5):
            try:
                text += run[start:end].decode()
            except UnicodeDecodeError:
                continue
            break
        else:
            text += "\ufffd"
            end = start + 1
        start = end
    return text
