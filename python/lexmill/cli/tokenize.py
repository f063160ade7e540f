"""`lexmill tokenize`: from files of texts to files that training programs read."""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal

from lexmill import Tokenizer
from lexmill._core import local_path
from lexmill.cli.display import megabytes
from lexmill.cli.files import STANDARD
from lexmill.cli.load import load_tokenizer
from lexmill.cli.outcome import Outcome, UsageError
from lexmill.cli.progress import ProgressBar
from lexmill.cli.sources import InputName, ReadOptions, named_sources
from lexmill.token_files import merge_token_files, tokenize_files

_LONGEST_ID = len(str(2**32))

__all__ = ["FormatName", "Options", "PresetName", "merge", "tokenize"]


class FormatName(str, Enum):
    """A layout of token files."""

    MEGATRON = "megatron"
    ARROW = "arrow"
    PARQUET = "parquet"
    NPY = "npy"
    RAW = "raw"


class PresetName(str, Enum):
    """Who reads files of bare ids."""

    NANOGPT = "nanogpt"
    DATATROVE = "datatrove"
    DOLMA = "dolma"
    LLM_C = "llm.c"


@dataclass(frozen=True)
class Options:
    """The options of `lexmill tokenize`, each as its `--help` says."""

    tokenizer: str
    files: list[str]
    output: str
    format: FormatName
    preset: PresetName | None
    input: InputName | None
    field: str
    begin_token: str | None
    end_token: str | None
    special_tokens: bool
    pack: int | None
    pad_token: str | None
    validation: float
    seed: int
    shuffle: bool
    part_bytes: int
    signed: bool
    columns: list[str]
    offsets: bool
    join: bool
    resume: bool
    overwrite: bool
    errors: Literal["strict", "replace"]
    on_error: Literal["raise", "skip"]
    threads: int | None
    as_json: bool


def tokenize(options: Options) -> Outcome:
    """Writes a folder of token files."""
    _check_folder(options.output)
    columns = _columns(options.columns)
    read = ReadOptions(options.input, options.field, options.errors, options.on_error)
    sources = named_sources(options.files, read)
    tokenizer = load_tokenizer(options.tokenizer)
    started = time.perf_counter()
    with ProgressBar(not options.as_json, in_bytes=("tokenize", "shuffle", "join")) as progress:
        written = tokenize_files(
            tokenizer,
            sources,
            options.output,
            format=options.format.value,
            preset=options.preset.value if options.preset else None,
            begin_token=_token(tokenizer, options.begin_token),
            end_token=_token(tokenizer, options.end_token),
            add_special_tokens=options.special_tokens,
            pack=options.pack,
            pad_token=_token(tokenizer, options.pad_token),
            validation=options.validation,
            seed=options.seed,
            shuffle=options.shuffle,
            part_bytes=options.part_bytes,
            signed=options.signed,
            columns=columns,
            offsets=options.offsets,
            join=options.join,
            resume=options.resume,
            overwrite=options.overwrite,
            num_threads=options.threads,
            on_progress=progress.callback,
        )
    seconds = time.perf_counter() - started
    total, size = written.manifest["total"], sum(source["bytes"] or 0 for source in written.manifest["inputs"])
    data: dict[str, object] = {
        "output": options.output,
        "format": options.format.value,
        "dtype": written.manifest["options"]["dtype"],
        **total,
        "skipped": total.get("skipped", 0),
        "parts": len(written.manifest["parts"]),
        "bytes": size,
        "seconds": round(seconds, 6),
    }
    documents = "1 document" if total["documents"] == 1 else f"{total['documents']:,} documents"
    empty = f", {total['empty']:,} empty ones left out" if total["empty"] else ""
    note = (
        f"{options.output}: {total['tokens']:,} tokens in {documents}{empty}, from {megabytes(size)} in {seconds:.1f} s"
    )
    return Outcome(data, note=note)


def merge(folders: list[str], output: str, overwrite: bool, as_json: bool) -> Outcome:
    """Joins the files of several runs to one pair."""
    _check_folder(output)
    started = time.perf_counter()
    with ProgressBar(not as_json, in_bytes=("merge",)) as progress:
        merged = merge_token_files(folders, output, overwrite=overwrite, on_progress=progress.callback)
    total, seconds = merged.manifest["total"], time.perf_counter() - started
    data: dict[str, object] = {
        "output": output,
        "dtype": merged.manifest["options"]["dtype"],
        **total,
        "skipped": total.get("skipped", 0),
        "folders": len(folders),
        "seconds": round(seconds, 6),
    }
    note = f"{output}: {total['tokens']:,} tokens in {total['documents']:,} documents from {len(folders)} folders"
    return Outcome(data, note=f"{note} in {seconds:.1f} s")


def _check_folder(output: str) -> None:
    """Makes sure that a folder is named.

    Raises:
        UsageError: the name stands for stdout, or is empty.
    """
    if output in ("", STANDARD):
        message = f"the output must be a folder, not stdout ({STANDARD})" if output else "the name of a folder is empty"
        raise UsageError(message)
    local_path(output)


def _columns(given: list[str]) -> dict[str, Any]:
    """Names of columns, perhaps with a colon and a type after them; the core checks both.

    Raises:
        UsageError: a column is named twice.
    """
    columns: dict[str, Any] = {}
    for column in given:
        before, colon, kind = column.rpartition(":")
        name = before if colon else column
        if name in columns:
            message = f"column {name} is named twice"
            raise UsageError(message)
        columns[name] = kind if colon else None
    return columns


def _token(tokenizer: Tokenizer, token: str | None) -> str | int | None:
    """A token, or the id that a number stands for if it is no token."""
    if token is None or tokenizer.token_to_id(token) is not None:
        return token
    is_id = token.isascii() and token.isdigit() and len(token) <= _LONGEST_ID
    return int(token) if is_id else token
