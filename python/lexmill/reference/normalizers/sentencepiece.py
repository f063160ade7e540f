"""SentencePiece's normalization in one stage; lexmill's own, for models that Hugging Face's stages cannot describe.

The text is taken from left to right: at each place the longest user-defined symbol stays as it is, else the longest
rule replaces its match, else the character stays. All new characters of a step stand for all old characters of it.

With `remove_extra_whitespaces` steps that come to one space at the beginning go, spaces after a space go, and spaces at
the end go. `add_dummy_prefix` puts a space before the text, or with `treat_whitespace_as_suffix` after it, where it is
never taken away; a text of which nothing is left gets none. With `escape_whitespaces` spaces are U+2581, and a U+2581
of the text counts as a space at the end.
Source: SentencePiece 0.2, `normalizer.cc`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lexmill.reference.normalized import Normalized, Span
from lexmill.reference.normalizers.charsmap import Charsmap
from lexmill.reference.normalizers.precompiled import longest_match


@dataclass(frozen=True)
class SentencePiece:
    """The rules and the treatment of spaces."""

    charsmap: Charsmap | None
    user_defined_symbols: Sequence[str]
    add_dummy_prefix: bool
    remove_extra_whitespaces: bool
    escape_whitespaces: bool
    treat_whitespace_as_suffix: bool

    def normalize(self, text: Normalized) -> Normalized:
        """Returns the normalized text."""
        space = "\u2581" if self.escape_whitespaces else " "
        start = self._start(text.text)
        if start == len(text.text):
            return text.rewrite([])
        chars: list[tuple[str, Span]] = []
        if self.add_dummy_prefix and not self.treat_whitespace_as_suffix:
            chars.append((space, text.source(start, start + 1)))
        is_after_space = self.remove_extra_whitespaces
        while start < len(text.text):
            old, new = self._step(text.text[start:])
            source = text.source(start, start + len(old))
            start += len(old)
            if is_after_space:
                new = new.lstrip(" ")
            chars += [(space if char == " " else char, source) for char in new]
            if new:
                is_after_space = self.remove_extra_whitespaces and new.endswith(" ")
        while self.remove_extra_whitespaces and chars and chars[-1][0] == space:
            chars.pop()
        if self.add_dummy_prefix and self.treat_whitespace_as_suffix:
            chars.append((space, text.sources[-1]))
        return text.rewrite(chars)

    def _start(self, text: str) -> int:
        """Where the text begins after the spaces that go."""
        start = 0
        while self.remove_extra_whitespaces and start < len(text):
            old, new = self._step(text[start:])
            if new != " ":
                break
            start += len(old)
        return start

    def _step(self, rest: str) -> tuple[str, str]:
        symbols = [symbol for symbol in self.user_defined_symbols if symbol and rest.startswith(symbol)]
        if symbols:
            longest = max(symbols, key=len)
            return longest, longest
        if self.charsmap is None:
            return rest[0], rest[0]
        return longest_match(self.charsmap, rest)
