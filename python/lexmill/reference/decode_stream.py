"""Decoding ids as a model makes them: each step gives the text that no later token can change.

The text of all ids so far is decoded from the beginning, once as it ends and once with each of some tokens after it.
The text that all of these begin with is settled. Text before a character that is not complete waits for that character,
as in Hugging Face, unless more than 64 bytes were waiting before the step. In the end all other text is given.

Rules:
- A run of `<0xNN>` tokens is cut after each complete character, so that wrong bytes after it leave it alone. In this
  alone the text may differ from the text of all ids together.
- Text that the ids before the first step have shown is not given again: neither the text that they settle, nor the text
  that stands in the end for tokens that are not settled, such as U+FFFD for the bytes of a character.

A decoder that changes text it has given, as a caller's own decoder may, is not described here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import takewhile

from lexmill.reference import byte_level
from lexmill.reference.decoders import Decoder, Sequence
from lexmill.reference.decoders.byte_fallback import ByteFallback
from lexmill.reference.tokenizer import Tokenizer

# Bytes of waiting text; if there are more, it comes without the character.
MOST_WAITING = 64
# The bytes that may follow the first byte of a character, as far as UTF-8 tells such bytes apart.
CONTINUATIONS = [bytes([first, 0x80, 0x80][:length]) for first in (0x80, 0x90, 0xA0) for length in (1, 2, 3)]
# A token that ends a character, a run of bytes, white space and a word.
END = "\0"


class DecodeStream:
    """One stream; `finish` makes it a new one without ids."""

    def __init__(self, tokenizer: Tokenizer, ids: Iterable[int] = (), skip_special_tokens: bool = False) -> None:
        """Begins after `ids`, whose text is not given again."""
        self.tokenizer = replace(tokenizer, decoder=_cut(tokenizer.decoder))
        self.skip_special_tokens = skip_special_tokens
        self.tokens = self.tokenizer.decoder_tokens(ids, skip_special_tokens)
        # How much of the text is settled and given, or waits.
        self.done = len(self._settled())
        self.waiting = ""
        self.shown = self.tokenizer.join(self.tokens)[self.done :]

    def step(self, ids: Iterable[int]) -> str | None:
        """Takes further ids and returns the text that is new, or None if there is none yet."""
        self.tokens += self.tokenizer.decoder_tokens(ids, self.skip_special_tokens)
        settled = self._settled()
        is_full = len(self.waiting.encode()) > MOST_WAITING
        self.waiting += self._new(settled[self.done :])
        self.done = len(settled)
        if not self.waiting or (self._is_inside_character() and not is_full):
            return None
        given, self.waiting = self.waiting, ""
        return given

    def finish(self) -> str:
        """Ends the text and returns the rest, which no step has returned."""
        given = self.waiting + self._new(self.tokenizer.join(self.tokens)[self.done :])
        self.tokens, self.done, self.waiting, self.shown = [], 0, "", ""
        return given

    def _new(self, text: str) -> str:
        if not text:
            return ""
        shown, self.shown = self.shown, ""
        return text.removeprefix(shown)

    def _settled(self) -> str:
        texts = [self.tokenizer.join(self.tokens), self._followed_by([END]), *self._continued()]
        return "".join(chars[0] for chars in takewhile(lambda chars: len(set(chars)) == 1, zip(*texts, strict=False)))

    def _is_inside_character(self) -> bool:
        ended = self._followed_by([END]).removesuffix(END)
        return any(not text.startswith(ended) for text in self._continued())

    def _continued(self) -> list[str]:
        spelled = [[*byte_level.to_chars(data)] for data in CONTINUATIONS]
        named = [[f"<0x{byte:02X}>" for byte in data] for data in CONTINUATIONS]
        return [self._followed_by(tokens) for tokens in spelled + named]

    def _followed_by(self, tokens: list[str]) -> str:
        return self.tokenizer.join(self.tokens + tokens)


def _cut(decoder: Decoder | None) -> Decoder | None:
    if isinstance(decoder, Sequence):
        return Sequence([stage for stage in map(_cut, decoder.stages) if stage is not None])
    return ByteFallback(by_character=True) if isinstance(decoder, ByteFallback) else decoder
