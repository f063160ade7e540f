"""Warnings about corpora and options with effects that their users may not intend."""

from __future__ import annotations

import os
import stat
import sys
import warnings
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from lexmill._core import is_url
from lexmill.errors import (
    DoubledTokenWarning,
    DroppedRowsWarning,
    EmptyCorpusWarning,
    LengthLimitWarning,
    NoLossWarning,
    RepeatedInputWarning,
    SkippedRecordsWarning,
)

if TYPE_CHECKING:
    from lexmill._core import FileSource, Tokenizer

__all__ = [
    "SHOWN",
    "warn_of_doubled",
    "warn_of_limits",
    "warn_of_no_loss",
    "warn_of_records",
    "warn_of_repeated",
    "warn_of_skipped",
    "warn_of_total",
]

SHOWN = 10
"""How many records or files a warning names."""


def warn_of_repeated(paths: Iterable[str | os.PathLike[str]]) -> None:
    """Warns of files and folders that are given more than once, under one name or under several."""
    seen: dict[object, str] = {}
    repeated: list[str] = []
    for path in paths:
        name = os.fspath(path)
        file = name if is_url(name) else _identity(name)
        if file is None:
            continue
        if file not in seen:
            seen[file] = name
        else:
            repeated.append(name if name == seen[file] else f"{name} (the same file as {seen[file]})")
    if repeated:
        what = "an input is" if len(repeated) == 1 else f"{len(repeated):,} inputs are"
        message = f"{what} given more than once, and read as often: {_listed(repeated, len(repeated))}"
        _warn(RepeatedInputWarning(message))


def _identity(path: str) -> tuple[int, int] | None:
    """The device and number of a file or folder; None if it is not there, or is a stream, which may be read on."""
    try:
        data = os.stat(path)  # noqa: PTH116 (pathlib takes time to import)
    except (OSError, ValueError):
        return None
    is_kept = stat.S_ISREG(data.st_mode) or stat.S_ISDIR(data.st_mode)
    return (data.st_dev, data.st_ino) if is_kept else None


def warn_of_doubled(
    tokenizer: Tokenizer, begin_id: int | None, end_id: int | None, *, add_special_tokens: bool
) -> None:
    """Warns of a token that both an option and the post-processor put between two documents."""
    from lexmill._core import special_affixes

    affixes = special_affixes(tokenizer) if add_special_tokens else None
    if affixes is None:
        return
    before, after = affixes
    given = [("end_token", end_id), ("begin_token", begin_id)]
    # The ids between the tokens of two documents, each with the option that adds it.
    between = [
        *((None, token) for token in after),
        *((option, token) for option, token in given if token is not None),
        *((None, token) for token in before),
    ]
    for (left, token), (right, other) in pairwise(between):
        option = left or right
        if token == other and option is not None and None in (left, right):
            name = tokenizer.id_to_token(token)
            message = (
                f"token `{name}` (id {token}) stands twice between documents: the post-processor adds it, and so does "
                f"{option}; leave out {option}, or pass add_special_tokens=False"
            )
            _warn(DoubledTokenWarning(message))


def warn_of_limits(texts: int, cut: int, padded: int, max_length: int | None, tokens: int) -> None:
    """Warns of texts that were truncated or padded before they were counted."""
    changed = [
        *([f"{cut:,} of {texts:,} are cut to {max_length:,} tokens by the tokenizer's truncation"] if cut else []),
        *([f"{padded:,} of {texts:,} are padded"] if padded else []),
    ]
    calls = [*(["no_truncation()"] if cut else []), *(["no_padding()"] if padded else [])]
    message = (
        f"texts are not taken as they are: {' and '.join(changed)}; whole, all texts have {tokens:,} tokens; call "
        f"{' and '.join(calls)} for these"
    )
    _warn(LengthLimitWarning(message))


def warn_of_skipped(opened: FileSource) -> None:
    """Warns of the records that a source has left out, if there are any."""
    warn_of_records(*opened.skipped())


def warn_of_total(
    total: dict[str, Any], inputs: Sequence[str], first: Sequence[str] = (), *, unfilled: Sequence[str] = ()
) -> None:
    """Warns of records and rows that a finished run has left out.

    Args:
        total: the sums of its manifest.
        inputs: names of its inputs.
        first: the errors of the first broken records.
        unfilled: splits of which no row was filled.
    """
    skipped, documents = total.get("skipped", 0), total["documents"]
    warn_of_records(skipped, first)
    if not documents:
        found = [
            *([_counted(skipped, "broken record")] if skipped else []),
            *([_counted(total["empty"], "document") + " without tokens"] if total["empty"] else []),
        ]
        given = f"{_counted(len(inputs), 'input')} ({_listed(inputs, len(inputs), ', ')})" if inputs else "no inputs"
        message = f"no tokens were written, from {given}, with {' and '.join(found) or 'no records'}"
        _warn(EmptyCorpusWarning(message))
    for split in unfilled:
        message = (
            f"all tokens of split {split} were left out: they fill no row; pass pad_token, a smaller pack, or larger "
            "part_bytes"
        )
        _warn(DroppedRowsWarning(message))


def warn_of_records(count: int, first: Sequence[str]) -> None:
    if count:
        records = "a record was" if count == 1 else f"{count:,} records were"
        message = f"{records} left out: {_listed(first, count)}" if first else f"{records} left out by earlier runs"
        _warn(SkippedRecordsWarning(message, count))


def warn_of_no_loss(total: dict[str, Any], template: str) -> None:
    """Warns of conversations none of which has a token to learn."""
    if total["documents"] and not total.get("loss_tokens"):
        who = (
            "the conversation has no"
            if total["documents"] == 1
            else f"none of {total['documents']:,} conversations has a"
        )
        message = f"{who} token to learn: {template} writes no text that the mask takes"
        _warn(NoLossWarning(message))


def _warn(warning: Warning) -> None:
    """Warns at the line outside of the package from which the call came."""
    frame, level = sys._getframe(1).f_back, 3
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "lexmill":
        frame, level = frame.f_back, level + 1
    warnings.warn(warning, stacklevel=level)


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _listed(names: Sequence[str], count: int, separator: str = "; ") -> str:
    """The first names of `count`."""
    shown = names[:SHOWN]
    return separator.join([*shown, *(["..."] if count > len(shown) else [])])
