"""Samples of tokenized text."""

from __future__ import annotations

from collections.abc import Sequence

from lexmill._core import Tokenizer
from lexmill.reports.numbers import Sample, SampleToken

__all__ = ["Sampler"]

# Texts that are shown, and characters of each.
_SAMPLES = 6
_LONGEST = 320
# A shorter text says little.
_SHORTEST = 40


class Sampler:
    """Takes the beginning of the first text of each group that is long enough, for the first groups that have one."""

    def __init__(self) -> None:
        """Has none yet."""
        self._found: dict[str, str] = {}
        self._short: dict[str, str] = {}

    def wants(self, group: str) -> bool:
        """True if the group has no sample yet and there is room for one."""
        return group not in self._found and len(self._found) < _SAMPLES

    def offer(self, group: str, texts: Sequence[str]) -> None:
        """Looks for a sample in the next texts of a group that is wanted."""
        for text in texts:
            sample = text.strip()[:_LONGEST].rstrip()
            if len(sample) >= _SHORTEST:
                self._found[group] = sample
                return
            if sample and len(sample) > len(self._short.get(group, "")) and len(self._short) < _SAMPLES:
                self._short[group] = sample

    def samples(self, tokenizers: Sequence[Tokenizer]) -> tuple[Sample, ...]:
        """The samples, tokenized."""
        texts = self._found or self._short
        return tuple(
            Sample(group, text, tuple(_tokens(tokenizer, text) for tokenizer in tokenizers))
            for group, text in texts.items()
        )


def _tokens(tokenizer: Tokenizer, text: str) -> tuple[SampleToken, ...]:
    encoding = tokenizer.encode(text, add_special_tokens=False)
    found: list[SampleToken] = []
    for id_, token, (start, end) in zip(encoding.ids, encoding.tokens, encoding.offsets, strict=True):
        if found and start < found[-1].end:
            before = found.pop()
            bounds = before.start, max(end, before.end)
            found.append(SampleToken(*bounds, (*before.ids, id_), (*before.tokens, token)))
        else:
            found.append(SampleToken(start, end, (id_,), (token,)))
    return tuple(found)
