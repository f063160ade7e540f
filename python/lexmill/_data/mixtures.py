"""Mixtures of domains: corpora with names, each counted as often as its weight tells."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, TypeAlias

from lexmill._core import Tokenizer, WordCounts
from lexmill._data.progress import json_lines, terminal
from lexmill._data.sizes import bytes_of
from lexmill._types import OnProgress
from lexmill.errors import EmptyCorpusError, OptionError

if TYPE_CHECKING:
    from lexmill.sources import Source
    from lexmill.trainers import Trainer

__all__ = ["DomainTokens", "Weight", "mix", "train", "train_from_counts"]

Weight: TypeAlias = int | float | Fraction
"""How often a domain is counted, or its part of a mixture. A float is the decimal number that Python prints for it."""

_Path: TypeAlias = "str | os.PathLike[str]"
_Weights: TypeAlias = "Mapping[str, Weight] | None"

# The largest sum of all counts.
_LARGEST = 2**64 - 1

# The least factor of shares: rounding a factor to an integer changes it by 0.05 % at most.
_LEAST_FACTOR = 1000


@dataclass(frozen=True)
class DomainTokens:
    """The words of a domain in a mixture, as the trained tokenizer cuts them; each counts as often as it was seen.

    Attributes:
        factor: the number by which the counts of the domain were multiplied; 0 if it was left out.
        share: the bytes of the domain, multiplied by the factor, as a share of the bytes of the mixture.
        bytes: bytes of the words, as the normalizer and the pre-tokenizer leave them. They are not multiplied.
        tokens: tokens of the words, not multiplied.
        used: distinct tokens among them.
        bytes_per_token: bytes divided by tokens; None without tokens.
        used_share: distinct tokens as a share of the vocabulary of the model.
        words_without_tokens: words that are not in the vocabulary and have no token for unknown text.
    """

    factor: int
    share: float
    bytes: int
    tokens: int
    used: int
    bytes_per_token: float | None
    used_share: float
    words_without_tokens: int


def train(
    tokenizer: Tokenizer,
    domains: Mapping[str, _Path | Source | Iterable[_Path | Source]],
    trainer: Trainer | None,
    *,
    weights: _Weights,
    shares: _Weights,
    max_memory: int | str | None,
    folder: _Path | None,
    errors: Literal["strict", "replace"],
    on_progress: OnProgress | None,
    num_threads: int | None,
) -> dict[str, DomainTokens]:
    """Trains on files by the names of their domains, as `Tokenizer.train` does."""
    _check(domains, weights, shares)
    memory = bytes_of(max_memory)
    on_progress = _watcher(trainer, on_progress)
    from lexmill.sources import Source
    from lexmill.trainers import BpeTrainer

    counts: dict[str, WordCounts | _Path] = {}
    for name, given in domains.items():
        counts[name] = tokenizer._count_words(
            [given] if isinstance(given, str | os.PathLike | Source) else given,
            superwords=trainer.superwords if isinstance(trainer, BpeTrainer) else None,
            max_memory=memory,
            folder=folder,
            errors=errors,
            on_progress=on_progress,
            num_threads=num_threads,
        )
    return train_from_counts(
        tokenizer,
        counts,
        trainer,
        weights=weights,
        shares=shares,
        max_memory=memory,
        folder=folder,
        on_progress=on_progress,
        num_threads=num_threads,
    )


def train_from_counts(
    tokenizer: Tokenizer,
    domains: Mapping[str, WordCounts | _Path],
    trainer: Trainer | None,
    *,
    weights: _Weights,
    shares: _Weights,
    max_memory: int | str | None,
    folder: _Path | None = None,
    on_progress: OnProgress | None,
    num_threads: int | None,
) -> dict[str, DomainTokens]:
    """Trains on word counts by the names of their domains, as `Tokenizer.train_from_counts` does."""
    memory = bytes_of(max_memory)
    on_progress = _watcher(trainer, on_progress)
    opened = _opened(domains, weights, shares)
    factors = _factors(opened, weights, shares, on_progress)
    mixed = _mixed(opened, factors, memory, folder, on_progress)
    sums = tokenizer._train_mixture(
        mixed,
        list(opened.values()),
        trainer,
        max_memory=memory,
        on_progress=on_progress,
        num_threads=num_threads,
    )
    size = tokenizer.get_vocab_size(with_added_tokens=False)
    whole = sum(factor * own[0] for factor, own in zip(factors.values(), sums, strict=True))
    return {
        name: DomainTokens(
            factor=factor,
            share=factor * read / whole if whole else 0.0,
            bytes=read,
            tokens=tokens,
            used=used,
            bytes_per_token=read / tokens if tokens else None,
            used_share=used / size if size else 0.0,
            words_without_tokens=without,
        )
        for (name, factor), (read, tokens, without, used) in zip(factors.items(), sums, strict=True)
    }


def mix(
    domains: Mapping[str, WordCounts | _Path],
    *,
    weights: _Weights,
    shares: _Weights,
    max_memory: int | None,
    folder: _Path | None,
    on_progress: OnProgress | None,
) -> WordCounts:
    """The word counts of a mixture, as `lexmill.merge_counts` gives them."""
    opened = _opened(domains, weights, shares)
    return _mixed(opened, _factors(opened, weights, shares, on_progress), max_memory, folder, on_progress)


def _mixed(
    domains: Mapping[str, WordCounts],
    factors: Mapping[str, int],
    max_memory: int | None,
    folder: _Path | None,
    on_progress: OnProgress | None,
) -> WordCounts:
    given = [(counts, factors[name]) for name, counts in domains.items()]
    if sum(counts.total * factor for counts, factor in given) > _LARGEST:
        message = (
            f"weights multiply the counts of the domains to more than {_LARGEST} in all, the largest sum; "
            "round them to simpler fractions, such as 0.3"
        )
        raise OptionError(message)
    return WordCounts._mix(given, max_memory=max_memory, folder=folder, on_progress=on_progress)


def _check(domains: Mapping[str, object], weights: _Weights, shares: _Weights) -> None:
    """Checks names and numbers before anything is read.

    Raises:
        OptionError: there are no domains, or weights and shares, or one of them is wrong.
    """
    if not domains:
        message = "there are no domains; name at least one"
        raise OptionError(message)
    if weights is not None and shares is not None:
        message = "weights and shares are both given, but a mixture has either"
        raise OptionError(message)
    name, given = ("weights", weights) if weights is not None else ("shares", shares)
    if given is None:
        return
    for domain in given:
        if domain not in domains:
            message = f"{name} has {domain!r} but must name domains: {', '.join(map(repr, domains))}"
            raise OptionError(message)
    values = [_exact(name, domain, value) for domain, value in given.items()]
    if shares is not None:
        for domain in domains:
            if domain not in shares:
                message = f"shares has no {domain!r} but must name every domain; 0 leaves it out"
                raise OptionError(message)
    if not any(values) and len(given) == len(domains):
        message = f"{name} is 0 for every domain, so there is nothing to train on; give one of them more"
        raise OptionError(message)


def _exact(name: str, domain: str, value: Weight) -> Fraction:
    """The exact number.

    Raises:
        OptionError: it is negative or no number.
    """
    message = f"{name}[{domain!r}] is {value!r} but must be an int, a Fraction or a finite float, at least 0"
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction):
        raise OptionError(message)
    if isinstance(value, float) and not math.isfinite(value):
        raise OptionError(message)
    # 0.1 is a tenth, not the binary fraction next to it, whose denominator would be 2 ** 55.
    exact = Fraction(repr(float(value))) if isinstance(value, float) else Fraction(value)
    if exact < 0:
        raise OptionError(message)
    return exact


def _opened(domains: Mapping[str, WordCounts | _Path], weights: _Weights, shares: _Weights) -> dict[str, WordCounts]:
    """The counts of all domains.

    Raises:
        EmptyCorpusError: a domain has no words.
        OptionError: as `_check`.
    """
    _check(domains, weights, shares)
    opened = {
        name: counts if isinstance(counts, WordCounts) else WordCounts.load(counts) for name, counts in domains.items()
    }
    for name, counts in opened.items():
        if not len(counts):
            message = (
                f"the domain {name!r} holds no words: {counts.texts} texts, {counts.bytes_read} bytes were read; "
                "leave it out"
            )
            raise EmptyCorpusError(message)
    return opened


def _factors(
    domains: Mapping[str, WordCounts], weights: _Weights, shares: _Weights, on_progress: OnProgress | None
) -> dict[str, int]:
    """The integer by which the counts of each domain are multiplied."""
    if shares is not None:
        exact = {name: _exact("shares", name, shares[name]) for name in domains}
        return factors_of_shares(exact, {name: domains[name]._counted_bytes(on_progress) for name in domains})
    given = {} if weights is None else weights
    return factors_of_weights({name: _exact("weights", name, given.get(name, 1)) for name in domains})


def factors_of_weights(weights: Mapping[str, Fraction]) -> dict[str, int]:
    """Multiplies weights by their least common denominator. Integers stay as they are, also with a common divisor."""
    common = math.lcm(*(weight.denominator for weight in weights.values()))
    return {name: int(weight * common) for name, weight in weights.items()}


def factors_of_shares(shares: Mapping[str, Fraction], sizes: Mapping[str, int]) -> dict[str, int]:
    """Integers by which `sizes`, in bytes, are multiplied so that the products have the ratio of `shares`.

    The least factor is 1000, each other factor the nearest integer, halves upwards.
    """
    ratios = {name: share / sizes[name] for name, share in shares.items()}
    least = min(ratio for ratio in ratios.values() if ratio)
    return {name: math.floor(ratio / least * _LEAST_FACTOR + Fraction(1, 2)) for name, ratio in ratios.items()}


def _watcher(trainer: Trainer | None, on_progress: OnProgress | None) -> OnProgress | None:
    """The report of progress: the caller's, or the trainer's."""
    if on_progress is not None:
        return on_progress
    if trainer is None:
        return terminal()
    if not trainer.show_progress or trainer.progress_format == "silent":
        return None
    return json_lines() if trainer.progress_format == "json" else terminal()
