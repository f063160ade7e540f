"""Runs of `tokenize_files` and `tokenize_message_files`: options are checked, files are written and opened."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from lexmill import _core
from lexmill._core import LONGEST_ROW, Tokenizer, is_url, local_path
from lexmill._data.corpus_warnings import SHOWN, warn_of_doubled, warn_of_repeated, warn_of_total
from lexmill._data.open_tokens import TokenFiles, open_tokens
from lexmill._data.pack_tokens import check_indexable, pack_tokens, remove_index
from lexmill._data.stored_run import output_of
from lexmill.errors import OptionError, VocabError

if TYPE_CHECKING:
    from lexmill.sources import Source

__all__ = ["Documents", "FedBlock", "unfilled_splits", "write_tokens"]

FedBlock: TypeAlias = tuple[
    int,
    npt.NDArray[np.uint64],
    npt.NDArray[np.uint32],
    npt.NDArray[np.uint8],
    npt.NDArray[np.int64],
    npt.NDArray[np.uint64],
    int,
]
"""Encoded documents of one file: the number of the file among all files; the record number of each document; ids and
loss masks end to end, with 2 for a straddling token, and their splits; the records left out before each document and
after the last one; the bytes of the file up to here."""

INDEX_FOLDERS = {"train": "_rows", "validation": "_rows-validation"}
"""The folders of indexes within a folder of token files. Readers of Parquet pass over names that begin so."""

PAD_TOKENS = ("[PAD]", "<pad>", "<|pad|>")
"""Usual names of the token that fills up rows."""


@dataclass
class Documents:
    """Documents that are not the texts of sources: conversations, rendered and encoded in Python.

    Attributes:
        loss: the form of loss masks in the files: `mask`, `labels` or `ranges`.
        rendering: all that decides ids and masks beside the tokenizer and the sources, as a JSON object.
        blocks: a function of a file number and a record number, which returns the documents from this record on.
        skipped: the errors of the first records that were left out.
    """

    loss: str
    rendering: str
    blocks: Callable[[int, int], Iterator[FedBlock]]
    skipped: list[str] = field(default_factory=list)

    def skip(self, message: str) -> None:
        """Keeps the error of a record, if it is one of the first."""
        if len(self.skipped) < SHOWN:
            self.skipped.append(message)


def write_tokens(
    tokenizer: Tokenizer,
    sources: Sequence[Source],
    out: str | os.PathLike[str],
    options: Mapping[str, Any],
    documents: Documents | None = None,
) -> TokenFiles:
    """Writes token files. `options` must hold every keyword option of `tokenize_files`."""
    _check(options)
    pack, packing = options["pack"], options["packing"]
    is_index = packing == "index" and pack is not None
    opened = [source._open() for source in sources]
    begin_id, end_id = (_id_of(tokenizer, name, options[name]) for name in ("begin_token", "end_token"))
    warn_of_repeated(path for source in opened for path in source.paths())
    warn_of_doubled(tokenizer, begin_id, end_id, add_special_tokens=options["add_special_tokens"])
    passed = ("format", "preset", "add_special_tokens", "validation", "seed", "shuffle", "part_bytes", "signed")
    with output_of(out, options) as output:
        _core.tokenize_files(
            tokenizer,
            opened,
            output.folder,
            **{name: options[name] for name in (*passed, "offsets", "join", "num_threads", "on_progress")},
            begin_id=begin_id,
            end_id=end_id,
            pack=None if is_index else pack,
            packing="concat" if is_index else packing,
            pad_id=_pad_id(tokenizer, options["pad_token"], packing),
            pack_columns=list(options["pack_columns"]),
            columns=_columns(options["columns"]),
            messages=None if documents is None else (documents.loss, documents.rendering, documents.blocks),
            existing=output.existing,
            store=output.store,
        )
    if options["overwrite"] and not is_url(out):
        for name in INDEX_FOLDERS.values():
            remove_index(Path(local_path(out)) / name)
    if is_index:
        for split, name in INDEX_FOLDERS.items() if options["validation"] else [("train", INDEX_FOLDERS["train"])]:
            index = Path(local_path(out)) / name
            pack_tokens(out, length=pack, out=index, split=split, overwrite=True, on_progress=options["on_progress"])
    written = open_tokens(out)
    warn_of_total(
        written.manifest["total"],
        [entry["path"] for entry in written.manifest["inputs"]],
        [message for source in opened for message in source.skipped()[1]] + (documents.skipped if documents else []),
        unfilled=unfilled_splits(written),
    )
    return written


def unfilled_splits(written: TokenFiles) -> list[str]:
    """The splits that have tokens, but no packed row."""
    options, total = written.manifest["options"], written.manifest["total"]
    if options["pack"] is None:
        return []
    validation = total.get("validation_tokens", 0)
    splits = {"train": total["tokens"] - validation, "validation": validation}
    return [split for split, tokens in splits.items() if tokens and not len(open_tokens(written.folder, split))]


def _check(options: Mapping[str, Any]) -> None:
    """Refuses options that do not fit together, as far as the core does not see them.

    Raises:
        OptionError: there are such options.
    """
    if options["resume"] and options["overwrite"]:
        message = "resume and overwrite are True but at most one of them may be"
        raise OptionError(message)
    largest = (1 << 63) - 1
    for name, least, most in (("pack", 1, LONGEST_ROW), ("seed", 0, largest), ("part_bytes", 1, largest)):
        value = options[name]
        if value is not None and not least <= value <= most:
            message = f"{name} is {value} but must be from {least} to {most}"
            raise OptionError(message)
    if isinstance(options["pack_columns"], str):
        message = f"pack_columns is {options['pack_columns']!r} but must be a list of names"
        raise OptionError(message)
    pack, packing = options["pack"], options["packing"]
    given = {
        "pad_token": options["pad_token"] is not None,
        "packing": packing != "concat",
        "pack_columns": bool(options["pack_columns"]),
    }
    for name in (name for name, is_given in given.items() if is_given):
        if pack is None:
            message = f"{name} is given but pack is not"
            raise OptionError(message)
        if packing == "index" and name != "packing":
            message = f"{name} is given but must be absent with packing index, whose rows are made as they are read"
            raise OptionError(message)
    if packing == "index" and pack is not None:
        check_indexable(options["format"], options["preset"])


def _columns(given: Sequence[str] | Mapping[str, str | None]) -> list[tuple[str, str | None]]:
    """Names and types of columns."""
    if isinstance(given, str):
        message = f"columns is {given!r} but must be a list of names"
        raise OptionError(message)
    return list(given.items()) if isinstance(given, Mapping) else [(name, None) for name in given]


def _pad_id(tokenizer: Tokenizer, token: str | int | None, packing: str) -> int | None:
    """The id that fills up rows."""
    if token is not None or packing in ("concat", "index"):
        return _id_of(tokenizer, "pad_token", token)
    found = [found for name in PAD_TOKENS if (found := tokenizer.token_to_id(name)) is not None]
    if not found:
        message = f"packing {packing} fills up rows, but the tokenizer has no {' or '.join(PAD_TOKENS)}; pass pad_token"
        raise VocabError(message)
    return found[0]


def _id_of(tokenizer: Tokenizer, option: str, token: str | int | None) -> int | None:
    """The id of a token; the core checks ids themselves."""
    if token is None:
        return None
    found = tokenizer.token_to_id(token) if isinstance(token, str) else token
    if found is None or not 0 <= found < 1 << 32:
        named = f"token `{token}`" if found is None else f"id {token}"
        message = f"{named} of {option} is not in the vocabulary of {tokenizer.get_vocab_size()} tokens"
        raise VocabError(message)
    return found
