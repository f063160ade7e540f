"""The numbers of a report, as plain data."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lexmill.reports.curve import Curve
from lexmill.reports.vocabulary import Unreachable

if TYPE_CHECKING:
    from lexmill.evaluation import Evaluation

__all__ = [
    "Coverage",
    "Group",
    "Lengths",
    "Numbers",
    "Sample",
    "SampleToken",
    "TokenCount",
    "TokenizerNumbers",
    "points_of",
]

# Of long lists of tokens JSON has the first ones, and how many there are.
_NAMED = 200
_LONG = ("unused", "unreachable", "undecided")
# Points of a curve in JSON, which holds the whole curve if there are fewer.
_POINTS = 256


@dataclass(frozen=True)
class Group:
    """A part of the corpus.

    Attributes:
        name: the file, the language or the script.
        texts: how many texts; None for a script, since texts have several.
        bytes: bytes of the texts in UTF-8.
        characters: characters of the texts.
        words: words of the texts, which white space divides.
        tokens: tokens of the texts by each tokenizer, in their order.
    """

    name: str
    texts: int | None
    bytes: int
    characters: int
    words: int
    tokens: tuple[int, ...]


@dataclass(frozen=True)
class Lengths:
    """How many things there are of each length, shortest first.

    Attributes:
        lengths: the lengths that occur.
        counts: how often each of them does.
    """

    lengths: tuple[int, ...]
    counts: tuple[int, ...]

    def quantile(self, share: float) -> int:
        """The least length that at least `share` of all do not exceed; 0 if there are none."""
        total, seen = sum(self.counts), 0
        for length, count in zip(self.lengths, self.counts, strict=True):
            seen += count
            if seen >= share * total:
                return length
        return 0

    @property
    def mean(self) -> float:
        """The mean length; 0 if there are none."""
        total = sum(self.counts)
        return sum(length * count for length, count in zip(self.lengths, self.counts, strict=True)) / max(1, total)


@dataclass(frozen=True)
class TokenCount:
    """A token and how often it occurs."""

    id: int
    token: str
    count: int


@dataclass(frozen=True)
class Coverage:
    """`shares[i]` is the share of the `ranks[i]` most frequent tokens in all tokens of the corpus."""

    ranks: tuple[int, ...]
    shares: tuple[float, ...]


@dataclass(frozen=True)
class TokenizerNumbers:
    """The numbers of one tokenizer for the corpus.

    Attributes:
        name: its name.
        model: the kind of its model.
        vocabulary: tokens of its vocabulary, added tokens included.
        tokens: tokens of the corpus, without special tokens of the post-processor.
        unknown_tokens: tokens of the corpus that stand for unknown text.
        unknown_characters: characters of the corpus that these tokens stand for.
        byte_tokens: tokens `<0xNN>` for the bytes of unknown characters; each stands for one byte.
        part_tokens: tokens that are parts of characters, byte tokens among them.
        text_lengths: lengths of the texts in tokens.
        token_bytes, token_characters: lengths of the tokens of the vocabulary, added tokens left out; characters are
            counted where they begin.
        used_bytes, used_characters: the same lengths for the tokens of the corpus.
        unused: tokens of the vocabulary that do not occur in the corpus.
        unreachable: tokens that no text gives, with the reason.
        undecided: unused tokens of the model that did not come out of encoding their own text, which is no proof that
            no text gives them.
        coverage: the share of the most frequent tokens.
        most_frequent: these tokens.
        curve: the corpus with fewer merges; None if the model does not merge by rank alone.
    """

    name: str
    model: str
    vocabulary: int
    tokens: int
    unknown_tokens: int
    unknown_characters: int
    byte_tokens: int
    part_tokens: int
    text_lengths: Lengths
    token_bytes: Lengths
    token_characters: Lengths
    used_bytes: Lengths
    used_characters: Lengths
    unused: tuple[TokenCount, ...]
    unreachable: tuple[Unreachable, ...]
    undecided: tuple[TokenCount, ...]
    coverage: Coverage
    most_frequent: tuple[TokenCount, ...]
    curve: Curve | None


@dataclass(frozen=True)
class SampleToken:
    """Characters `start` to `end` of a sample and the tokens that they have: several if these share a character."""

    start: int
    end: int
    ids: tuple[int, ...]
    tokens: tuple[str, ...]


@dataclass(frozen=True)
class Sample:
    """The beginning of a text and the tokens that each tokenizer has for it."""

    group: str
    text: str
    tokens: tuple[tuple[SampleToken, ...], ...]


@dataclass(frozen=True)
class Numbers:
    """All numbers of a report.

    Attributes:
        corpus: the whole corpus.
        files: its files, in order.
        languages: its languages, the largest first; None if the corpus does not tell.
        scripts: the scripts of its words, the largest first.
        tokenizers: the numbers of each tokenizer.
        samples: some texts, tokenized.
        evaluation: the numbers of `lexmill.evaluate` for the same tokenizers and corpus.
    """

    corpus: Group
    files: tuple[Group, ...]
    languages: tuple[Group, ...] | None
    scripts: tuple[Group, ...]
    tokenizers: tuple[TokenizerNumbers, ...]
    samples: tuple[Sample, ...]
    evaluation: Evaluation

    def to_dict(self) -> dict[str, Any]:
        """The numbers as values of JSON: of curves 256 points at most, of long lists of tokens the first 200."""
        tokenizers = tuple(map(_without_long_lists, self.tokenizers))
        numbers: dict[str, Any] = {"version": 1, **dataclasses.asdict(dataclasses.replace(self, tokenizers=tokenizers))}
        numbers["evaluation"] = self.evaluation.to_dict(candidates=_NAMED)
        for tokenizer, values in zip(self.tokenizers, numbers["tokenizers"], strict=True):
            values["curve"] = None if tokenizer.curve is None else points_of(tokenizer.curve)
            for name in _LONG:
                values[name] = {"count": len(getattr(tokenizer, name)), "first": values[name]}
        return numbers

    def to_json(self) -> str:
        """The numbers as JSON; the same numbers give the same text."""
        return json.dumps(self.to_dict(), ensure_ascii=False)


def _without_long_lists(tokenizer: TokenizerNumbers) -> TokenizerNumbers:
    first: dict[str, Any] = {name: getattr(tokenizer, name)[:_NAMED] for name in _LONG}
    return dataclasses.replace(tokenizer, curve=None, **first)


def points_of(curve: Curve) -> dict[str, Any]:
    """A curve as values of JSON: its first and last point, and others spread evenly between them."""
    last = len(curve.tokens) - 1
    places = sorted({last * point // (_POINTS - 1) for point in range(_POINTS)})
    return {
        "merges": curve.merges[places].tolist(),
        "vocabulary": curve.vocabulary[places].tolist(),
        "tokens": curve.tokens[places].tolist(),
        "inexact": curve.inexact,
    }
