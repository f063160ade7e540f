"""Trainers, models, stages and whole tokenizers have the `repr` and `str` of Hugging Face's."""

from collections.abc import Callable
from typing import Any

import pytest

import lexmill

tokenizers = pytest.importorskip("tokenizers")
pytestmark = pytest.mark.external

# Hugging Face shows 99 entries in `repr` and 5 in `str`; these counts lie on both sides of each limit.
COUNTS = (0, 1, 5, 6, 99, 100, 101, 120)

CASES: dict[str, Callable[[Any, int], Any]] = {
    "WordLevel": lambda library, n: library.models.WordLevel({str(at): at for at in range(n)}, unk_token="0"),
    "WordPiece": lambda library, n: library.models.WordPiece({f"t{at}": at for at in range(n)}, unk_token="t0"),
    "Unigram": lambda library, n: library.models.Unigram([("a" * at, -at / 10) for at in range(1, n + 2)], 0),
    "BPE": lambda library, n: library.models.BPE(
        {chr(0x4E00 + at): at for at in range(n + 1)}
        | {chr(0x4E00) + chr(0x4E00 + at): n + at for at in range(1, n + 1)},
        [(chr(0x4E00), chr(0x4E00 + at)) for at in range(1, n + 1)],
        dropout=0.1,
    ),
    "Sequence": lambda library, n: library.normalizers.Sequence([library.normalizers.Replace("a", "b")] * n),
    "added tokens": lambda library, n: with_added_tokens(library, n),
    "BpeTrainer": lambda library, n: library.trainers.BpeTrainer(special_tokens=names(n), progress_format="json"),
    "UnigramTrainer": lambda library, n: library.trainers.UnigramTrainer(special_tokens=names(n), shrinking_factor=1.0),
    "WordPieceTrainer": lambda library, n: library.trainers.WordPieceTrainer(special_tokens=names(n)),
    "WordLevelTrainer": lambda library, n: library.trainers.WordLevelTrainer(special_tokens=names(n)),
}


def names(count: int) -> list[str]:
    return [f"<{at}>" for at in range(count)]


def with_added_tokens(library: Any, count: int) -> Any:
    tokenizer = library.Tokenizer(library.models.WordLevel({"a": 0}, unk_token="a"))
    tokenizer.add_tokens(names(count))
    return tokenizer


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("name", CASES)
def test_shows_as_many_entries_as_hugging_face(name: str, count: int) -> None:
    ours, theirs = CASES[name](lexmill, count), CASES[name](tokenizers, count)
    assert repr(ours) == repr(theirs)
    assert str(ours) == str(theirs)
