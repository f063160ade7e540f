"""The obvious twin of the calls that cut texts by tokens: offsets of the whole text, and a count for each attempt."""

from __future__ import annotations

import copy
import re

from lexmill import Tokenizer


def count(tokenizer: Tokenizer, text: str, *, special: bool) -> int:
    """Tokens of a text that is encoded by itself."""
    return len(tokenizer.encode(text, add_special_tokens=special).ids)


def cuts(tokenizer: Tokenizer, text: str) -> list[tuple[int, int]]:
    """The places between two tokens, in characters, each with the tokens before it; the last is the end of the text."""
    # A post-processor may trim offsets.
    bare = copy.deepcopy(tokenizer)
    bare.post_processor = None
    offsets = bare.encode(text, add_special_tokens=False).offsets
    places: list[tuple[int, int]] = []
    reached = 0
    for before, (start, end) in enumerate(offsets):
        last = places[-1][0] if places else 0
        if before and reached <= start < len(text) and start > last:
            places.append((start, before))
        reached = max(reached, end)
    return [*places, (len(text), len(offsets))]


def paragraphs(text: str) -> list[int]:
    """The starts of all paragraphs but the first."""
    return [
        found.end()
        for found in re.finditer(r"(?:(?<=\n)|\A)[^\S\n]*\n(?:[^\S\n]*\n)*", text)
        if text[found.end() :].strip()
    ]


class Cutter:
    """A text with its cuts, for spans after tokens alone."""

    def __init__(self, tokenizer: Tokenizer, text: str, size: int, *, special: bool) -> None:
        """Cuts the text into tokens."""
        self.tokenizer, self.text, self.special = tokenizer, text, special
        self.cuts = cuts(tokenizer, text)
        self.most = size
        # `num_special_tokens_to_add` is wrong for some sequences of post-processors, as in Hugging Face.
        self.room = size - count(tokenizer, "", special=special)

    def tokens_up_to(self, at: int) -> int:
        """Tokens of the text up to a place."""
        return max((tokens for place, tokens in self.cuts if place <= at), default=0)

    def fits(self, start: int, end: int) -> int:
        """How many tokens a part has too many."""
        return max(0, count(self.tokenizer, self.text[start:end], special=self.special) - self.most)

    def longest(self, start: int, done: int) -> int | None:
        """The end of the longest part from `start` on that is tried and fits."""
        before, allowed, step = self.tokens_up_to(start), self.room, 1
        while True:
            within = [place for place, tokens in self.cuts if tokens <= before + allowed]
            if not within or within[-1] <= done:
                return None
            excess = self.fits(start, within[-1])
            if not excess:
                return within[-1]
            allowed = min(self.tokens_up_to(within[-1]) - before, allowed) - max(step, excess)
            step *= 2
            if allowed < 0:
                return None


def truncated(tokenizer: Tokenizer, text: str, size: int, *, special: bool) -> str:
    """The beginning of a text that has at most `size` tokens."""
    return text[: Cutter(tokenizer, text, size, special=special).longest(0, 0) or 0]
