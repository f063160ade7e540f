"""`lexmill tokenize`: from files of texts to files that training programs read."""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any

import typer

from lexmill import Tokenizer
from lexmill._core import is_url, local_path
from lexmill.cli.display import megabytes
from lexmill.cli.files import STANDARD
from lexmill.cli.load import load_tokenizer
from lexmill.cli.messages import MessageOptions, loss_note, tokenize_conversations
from lexmill.cli.options import (
    LARGEST,
    Corpus,
    Json,
    ReadOptions,
    Resume,
    SpecialTokens,
    Threads,
    TokenizerFile,
)
from lexmill.cli.outcome import Outcome, UsageError
from lexmill.cli.progress import ProgressBar
from lexmill.cli.sources import named_sources
from lexmill.token_files import (
    Format,
    Packing,
    Preset,
    merge_token_files,
    pack_tokens,
    tokenize_files,
)

_LONGEST_ID = len(str(2**32))

__all__ = ["MergeOptions", "Options", "PackOptions", "merge", "pack", "tokenize"]


# typer has no lists of literals.
class RowColumnName(str, Enum):
    """Integers about the tokens of packed rows."""

    POSITION_IDS = "position_ids"
    DOCUMENT_IDS = "document_ids"
    CU_SEQLENS = "cu_seqlens"


@dataclass(frozen=True, kw_only=True)
class Options:
    """The arguments and options of `lexmill tokenize`."""

    tokenizer: TokenizerFile
    files: Corpus
    output: Annotated[
        str, typer.Option("--output", "-o", help="The folder of the token files, or its URL.", show_default=False)
    ]
    format: Annotated[Format, typer.Option(help="The layout of the token files.")] = "megatron"
    preset: Annotated[
        Preset | None, typer.Option(help="For raw, the program that reads the files.", show_default=False)
    ] = None
    begin_token: Annotated[str | None, typer.Option(help="A token, or its id, before each document.")] = None
    end_token: Annotated[str | None, typer.Option(help="A token, or its id, after each document.")] = None
    special_tokens: SpecialTokens = True
    pack: Annotated[int | None, typer.Option(min=1, max=LARGEST, help="Put documents into rows of so many tokens.")] = (
        None
    )
    packing: Annotated[
        Packing, typer.Option(help="Cut documents where a row is full, or keep them whole where they fit.")
    ] = "concat"
    pad_token: Annotated[
        str | None, typer.Option(help="A token, or its id, that fills up rows; else concat leaves out a part's last.")
    ] = None
    pack_column: Annotated[
        list[RowColumnName] | None,
        typer.Option(help="A column of packed rows to write, too; may be given again.", show_default=False),
    ] = None
    validation: Annotated[float, typer.Option(help="The share of documents that is written apart.")] = 0.0
    seed: Annotated[
        int, typer.Option(min=0, max=LARGEST, help="Chooses these documents, and the order of a shuffle.")
    ] = 0
    shuffle: Annotated[
        bool, typer.Option("--shuffle", help="Put all documents into an order that the seed decides.")
    ] = False
    part_bytes: Annotated[
        int, typer.Option(min=1, max=LARGEST, help="Bytes of ids in a part, each of which has files of its own.")
    ] = 1 << 27
    signed: Annotated[
        bool, typer.Option("--signed", help="Write int32 ids to arrow or parquet, as Spark needs them.")
    ] = False
    column: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[:TYPE]",
            help="A field or column to keep in arrow or parquet: string, int64, float64 or bool; may be given again.",
            show_default=False,
        ),
    ] = None
    offsets: Annotated[
        bool, typer.Option("--offsets", help="Keep where tokens begin and end in their texts, in arrow or parquet.")
    ] = False
    join: Annotated[
        bool, typer.Option("--join", help="Join the parts of megatron to one pair, tokens.bin and tokens.idx.")
    ] = False
    conversations: MessageOptions
    resume: Resume = False
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Remove the files of an earlier run.")] = False
    read: ReadOptions
    threads: Threads = None
    as_json: Json = False


@dataclass(frozen=True, kw_only=True)
class MergeOptions:
    """The arguments and options of `lexmill merge-tokens`."""

    folders: Annotated[
        list[str], typer.Argument(metavar="FOLDERS...", help="Folders of tokenize, in the order of their documents.")
    ]
    output: Annotated[str, typer.Option("--output", "-o", help="The folder of the pair.", show_default=False)]
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Remove token files that are there.")] = False
    as_json: Json = False


@dataclass(frozen=True, kw_only=True)
class PackOptions:
    """The arguments and options of `lexmill pack-tokens`."""

    folder: Annotated[str, typer.Argument(help="The folder of tokenize, written without --pack.", show_default=False)]
    output: Annotated[str, typer.Option("--output", "-o", help="The folder of the index.", show_default=False)]
    length: Annotated[int, typer.Option(min=1, max=LARGEST, help="Tokens of a row.", show_default=False)]
    packing: Annotated[
        Packing, typer.Option(help="Cut documents where a row is full, or keep them whole where they fit.")
    ] = "best-fit-decreasing"
    seed: Annotated[
        int | None, typer.Option(min=0, max=LARGEST, help="Put the documents into an order.", show_default=False)
    ] = None
    split: Annotated[str | None, typer.Option(help="train or validation; the first by default.")] = None
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an index that is there.")] = False
    as_json: Json = False


def tokenize(options: Options) -> Outcome:
    """Tokenize corpora of any size to files that training programs read."""
    _check_folder(options.output, is_store=is_url(options.output))
    of_texts: dict[str, object] = {
        "--begin-token": options.begin_token,
        "--end-token": options.end_token,
        "--no-special-tokens": not options.special_tokens,
        "--column": options.column,
        "--offsets": options.offsets,
    }
    options.conversations.check(of_texts)
    columns = _columns(options.column or [])
    sources = named_sources(options.files, options.conversations.reading(options.read))
    tokenizer = load_tokenizer(options.tokenizer)
    started = time.perf_counter()
    with ProgressBar(not options.as_json, in_bytes=("tokenize", "shuffle", "join")) as progress:
        shared: dict[str, Any] = {
            "format": options.format,
            "preset": options.preset,
            "pack": options.pack,
            "packing": options.packing,
            "pack_columns": [column.value for column in options.pack_column or []],
            "pad_token": _token(tokenizer, options.pad_token),
            "validation": options.validation,
            "seed": options.seed,
            "shuffle": options.shuffle,
            "part_bytes": options.part_bytes,
            "signed": options.signed,
            "join": options.join,
            "resume": options.resume,
            "overwrite": options.overwrite,
            "num_threads": options.threads,
            "on_progress": progress.callback,
        }
        if options.conversations.messages:
            given = (options.tokenizer, sources, options.output, options.conversations, options.read.on_error)
            written = tokenize_conversations(tokenizer, *given, **shared)
        else:
            written = tokenize_files(
                tokenizer,
                sources,
                options.output,
                begin_token=_token(tokenizer, options.begin_token),
                end_token=_token(tokenizer, options.end_token),
                add_special_tokens=options.special_tokens,
                columns=columns,
                offsets=options.offsets,
                **shared,
            )
    seconds = time.perf_counter() - started
    total, size = written.manifest["total"], sum(source["bytes"] or 0 for source in written.manifest["inputs"])
    shares = _shares(total, options.pack)
    data: dict[str, object] = {
        "output": options.output,
        "format": options.format,
        "dtype": written.manifest["options"]["dtype"],
        **total,
        **shares,
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
    learned = loss_note(total) if options.conversations.messages else ""
    return Outcome(data, note=note + _packed_note(total, shares) + learned)


def pack(options: PackOptions) -> Outcome:
    """Divide stored documents among rows of one length, as an index."""
    _check_folder(options.output)
    started = time.perf_counter()
    with ProgressBar(not options.as_json, in_bytes=()) as progress:
        rows = pack_tokens(
            options.folder,
            length=options.length,
            out=options.output,
            packing=options.packing,  # type: ignore[arg-type]  # the core refuses `index`
            seed=options.seed,
            split=options.split,
            overwrite=options.overwrite,
            on_progress=progress.callback,
        )
    total, seconds = rows.manifest["total"], time.perf_counter() - started
    shares = _shares(total, options.length)
    data = {"output": options.output, **rows.manifest["options"], **total, **shares, "seconds": round(seconds, 6)}
    note = f"{options.output}: {total['tokens']:,} tokens in {total['documents']:,} documents"
    return Outcome(data, note=note + _packed_note(total, shares))


def merge(options: MergeOptions) -> Outcome:
    """Join the megatron files of several runs to one pair."""
    folders, output = options.folders, options.output
    _check_folder(output)
    started = time.perf_counter()
    with ProgressBar(not options.as_json, in_bytes=("merge",)) as progress:
        merged = merge_token_files(folders, output, overwrite=options.overwrite, on_progress=progress.callback)
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


def _shares(total: dict[str, int], length: int | None) -> dict[str, float]:
    """The shares of padding and of cut documents of a packed run; with best fit, the shares of `concat` beside them."""
    found: dict[str, float] = {}
    if length is None or not total.get("rows"):
        return found
    is_concat = not total.keys() & {"concat_cut_documents", "concat_padding_tokens"}
    concat_tokens = total["tokens"] + total.get("concat_padding_tokens", 0)
    for prefix, tokens in (("", total["rows"] * length), *([] if is_concat else [("concat_", concat_tokens)])):
        found[f"{prefix}padding_share"] = round(total.get(f"{prefix}padding_tokens", 0) / tokens, 6)
        found[f"{prefix}cut_share"] = round(total.get(f"{prefix}cut_documents", 0) / total["documents"], 6)
    return found


def _packed_note(total: dict[str, int], shares: dict[str, float]) -> str:
    """The rows of a packed run, and their shares."""
    if not shares:
        return ""
    told = [
        f"{shares[f'{prefix}padding_share']:.2%} padding, {shares[f'{prefix}cut_share']:.2%} of documents cut"
        for prefix in ("", "concat_")
        if f"{prefix}cut_share" in shares
    ]
    return f"; {total['rows']:,} rows, {' (end to end: '.join(told)}{')' * (len(told) - 1)}"


def _check_folder(output: str, *, is_store: bool = False) -> None:
    """Makes sure that a folder is named.

    Raises:
        UsageError: the name stands for stdout, or is empty.
    """
    if output in ("", STANDARD):
        message = f"the output must be a folder, not stdout ({STANDARD})" if output else "the name of a folder is empty"
        raise UsageError(message)
    if not is_store:
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
