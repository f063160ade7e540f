"""Types and checks of arguments that the tokenizers of this package share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Any, TypeAlias

from lexmill import normalizers
from lexmill._core import AddedToken, Tokenizer
from lexmill.errors import OptionError
from lexmill.models import BPE
from lexmill.normalizers import Normalizer

Path: TypeAlias = str | PathLike[str]
Files: TypeAlias = Path | Sequence[Path]
Texts: TypeAlias = Iterable[str] | Iterable[Iterable[str]]
SpecialToken: TypeAlias = str | AddedToken
Vocab: TypeAlias = Path | dict[str, int]
Merges: TypeAlias = Path | list[tuple[str, str]]

# Defaults that show their meaning in a signature, as `()` for a list would not. Nobody changes them.
NO_TOKENS: list[SpecialToken] = []
NO_CHARACTERS: list[str] = []
UNKNOWN: list[SpecialToken] = ["<unk>"]


def check_given(name: str, value: object) -> None:
    """Raises an `OptionError`, which is a `ValueError`, if the argument of that name is None."""
    if value is None:
        raise OptionError(f"{name} is None")


def as_files(files: Files) -> Sequence[Path]:
    """The files to train on: one path stands for a list of one."""
    return [files] if isinstance(files, str | PathLike) else files


def bpe(vocab: Vocab | None, merges: Merges | None, **options: Any) -> BPE:  # noqa: ANN401 (options of `BPE`)
    """A BPE model of a vocabulary and merges, of the files of both, or without tokens if either is None.

    Raises:
        OptionError: One is a path and the other is not. A `ValueError`.
    """
    if vocab is None or merges is None:
        return BPE(**options)
    both: tuple[Any, Any] = (vocab, merges)
    return BPE(*both, **options)


def known(tokenizer: Tokenizer, tokens: Iterable[SpecialToken]) -> list[str]:
    """Contents of the `tokens` in the vocabulary; other members of an `AddedToken` do not count."""
    return [token for token in map(str, tokens) if tokenizer.token_to_id(token) is not None]


def in_sequence(stages: Sequence[Normalizer]) -> Normalizer | None:
    """No normalizer, the only one, or a `Sequence` of all."""
    if len(stages) > 1:
        return normalizers.Sequence(list(stages))
    return stages[0] if stages else None
