"""Tokenizing to disk: corpora larger than memory become files that training programs read.

    tokenize_files(tokenizer, JsonLines("data/*.jsonl.zst"), "tokens", end_token="<|endoftext|>")

The files are divided into parts. A part is synced and then listed as finished, one after the other, so that a run that
was cut short goes on with `resume=True`. The files depend on the sources, the tokenizer and the options alone: not on
threads, nor on how often a run was cut short.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias, TypedDict

from lexmill import _core
from lexmill._core import Tokenizer
from lexmill._data.corpus_warnings import warn_of_repeated, warn_of_total
from lexmill._data.file_names import TEXT
from lexmill._data.open_tokens import TokenFiles, open_tokens
from lexmill._data.pack_tokens import pack_tokens
from lexmill._data.packed_rows import PackedRows
from lexmill._data.source_names import OneSource, Reading, sources_of
from lexmill._data.windows import Windows
from lexmill._data.write_tokens import write_tokens
from lexmill._types import OnProgress
from lexmill.errors import OptionError

__all__ = [
    "LayoutOptions",
    "PackedRows",
    "TokenFiles",
    "TokenOptions",
    "Windows",
    "merge_token_files",
    "open_tokens",
    "pack_tokens",
    "tokenize_files",
]

Format: TypeAlias = Literal["megatron", "arrow", "parquet", "npy", "mds", "webdataset", "litdata", "arrayrecord", "raw"]
"""A layout of token files."""

Preset: TypeAlias = Literal["nanogpt", "datatrove", "dolma", "llm.c"]
"""The program whose files of bare ids are written."""

# Pickles name this module, so that the private one can change.
for _class in (PackedRows, TokenFiles, Windows):
    _class.__module__ = __name__

Packing: TypeAlias = Literal["concat", "best-fit", "best-fit-decreasing", "index"]
"""How documents are divided among rows of one length."""

RowColumn: TypeAlias = Literal["position_ids", "document_ids", "cu_seqlens"]
"""Integers about the tokens of packed rows."""

NAMED = Reading(unnamed=TEXT)
"""How paths are read: of text, no name says whether a line or a file is a document."""

ColumnType: TypeAlias = Literal["string", "int64", "float64", "bool"]
"""The type of a column that is kept beside the ids."""


class LayoutOptions(TypedDict, total=False):
    """The options of `tokenize_files` that decide the form of files; it explains them and has their defaults."""

    format: Format
    preset: Preset | None
    pack: int | None
    packing: Packing
    pad_token: str | int | None
    pack_columns: Sequence[RowColumn]
    validation: float
    seed: int
    part_bytes: int
    signed: bool


class TokenOptions(LayoutOptions, total=False):
    """The options of `tokenize_files` that jobs of Ray and Spark take too; it explains them and has their defaults."""

    begin_token: str | int | None
    end_token: str | int | None
    add_special_tokens: bool


def tokenize_files(
    tokenizer: Tokenizer,
    sources: OneSource | Sequence[OneSource],
    out: str | os.PathLike[str],
    *,
    format: Format = "megatron",
    preset: Preset | None = None,
    begin_token: str | int | None = None,
    end_token: str | int | None = None,
    add_special_tokens: bool = True,
    pack: int | None = None,
    packing: Packing = "concat",
    pad_token: str | int | None = None,
    pack_columns: Sequence[RowColumn] = (),
    validation: float = 0.0,
    seed: int = 0,
    shuffle: bool = False,
    part_bytes: int = 1 << 27,
    signed: bool = False,
    columns: Sequence[str] | Mapping[str, ColumnType | None] = (),
    offsets: bool = False,
    join: bool = False,
    resume: bool = False,
    overwrite: bool = False,
    num_threads: int | None = None,
    on_progress: OnProgress | None = None,
) -> TokenFiles:
    """Tokenizes the texts of sources to the files of a folder, in memory that does not grow with them.

    Each text is a document: its ids are the ids of `tokenizer.encode`, after `begin_token` and before `end_token`.
    Documents without tokens are left out and counted, and so are broken records with `on_error="skip"`.

    Args:
        tokenizer: the tokenizer; it must neither truncate nor pad.
        sources: objects of `lexmill.sources`, or paths and patterns that end in `.parquet` or `.arrow`, or in
            `.jsonl`, `.ndjson`, `.json`, `.csv` or `.tsv`, perhaps with `.gz`, `.zst`, `.xz` or `.bz2` after it, with
            texts in the field or column `text`.
        out: the folder; made if it is not there, and otherwise empty but for an earlier run. It may be a URL such as
            `s3://bucket/tokens`: parts are uploaded as they are finished, and the disk of this machine holds two parts,
            or with `shuffle` or `join` all ids, in the folder of temporary files.
        format: `megatron` (`.bin` and `.idx`), `arrow` (`datasets.load_from_disk`), `parquet`, `npy`, `mds` (MosaicML
            streaming), `webdataset` (tar files of NPY files), `litdata`, `arrayrecord` (Grain), or `raw`.
        preset: for `raw`, the program that reads the files: `nanogpt`, `datatrove`, `dolma` or `llm.c`.
        begin_token: a token, or its id, before each document.
        end_token: a token, or its id, after each document.
        add_special_tokens: adds the special tokens of the post-processor.
        pack: puts documents into rows of so many tokens, for all formats but `megatron` and `raw`. The column
            `seq_start_id` says where documents, and the padding, begin or go on in a row; `litdata` and `arrayrecord`
            have ids alone.
        packing: with `pack`, how: `concat` puts documents end to end and cuts them where a row is full; `best-fit` puts
            each document whole into the fullest row with room for it, and cuts only documents longer than a row;
            `best-fit-decreasing` also takes longer documents first, which leaves less padding. `index` writes
            documents as without `pack`, in any format that says where they begin, and then the rows of
            `best-fit-decreasing` as an index, in the folder `_rows`; see `pack_tokens`.
        pad_token: a token, or its id, that fills up rows: with `concat` the last row of a part, which is left out and
            counted without a token; else all rows, and by default with `[PAD]`, `<pad>` or `<|pad|>`, the first one
            that the tokenizer has.
        pack_columns: with `pack`, columns of 32-bit integers for each row: `position_ids`, which count the tokens of
            each document in the row from 0; `document_ids`, the number of each token's document in the row, from 1, or
            0 for padding; `cu_seqlens`, the starts and the end of the row. `npy` has the first two, in files of their
            own; `litdata` and `arrayrecord` have none.
        validation: the share of documents that goes to files of its own. The seed, and a document's file and place,
            decide.
        seed: another seed chooses other documents for validation, and another order with `shuffle`.
        shuffle: puts the documents of all sources into an order that the seed and their places decide. Until the run is
            finished, this takes room on the disk for all ids once more.
        part_bytes: bytes of ids in a part; a longer document is a part of its own. At most 128 MiB for `mds` and
            `litdata`, whose 32-bit offsets need files below 4 GiB.
        signed: for `arrow` and `parquet`, `int32` ids for readers without unsigned integers, such as Spark.
        columns: for `arrow` and `parquet` without `pack`, fields or columns of the sources to keep beside the ids; dots
            lead into objects and structs (`meta.lang`). A mapping also says their types; else these are as in the
            first file for Parquet and Arrow, and strings for JSON lines and CSV. A missing value is null; a value of
            another type is a broken record.
        offsets: for `arrow` and `parquet` without `pack`, where each token begins and ends in its text, in characters,
            in the columns `offsets_start` and `offsets_end`, as `encode` gives them; `begin_token` and `end_token` have
            the offsets 0 and 0.
        join: for `megatron`, joins all parts at the end to one pair of files, `tokens.bin` and `tokens.idx`, or one for
            each split. This takes room for one part more.
        resume: goes on with a run that was cut short; begins one if there is none. Inputs without records in finished
            parts may have changed, and so may the handling of broken records and invalid bytes.
        overwrite: removes the files of an earlier run.
        num_threads: threads to work on; by default one for each core, or the number in `RAYON_NUM_THREADS`.
        on_progress: called with the stage, the bytes of sources whose ids are written, their total, the seconds left
            and the bytes of memory taken, see `lexmill.OnProgress`; an exception that it raises ends the run, and
            `resume=True` continues it.

    Returns:
        The files, opened.

    Raises:
        OutputError: the folder holds something else or an earlier run, another process writes to it, or the run to
            resume was begun with another tokenizer, other options or other sources, as far as finished parts have read
            these, or a file of a store was changed; the message names the difference.
        FileError: a file cannot be read or written, as on a full disk or without permission. Finished parts are kept.
        FormatError: a record is broken, with `on_error="raise"`.
        InvalidUtf8Error: bytes are not UTF-8, with `errors="strict"`.
        OptionError: options that do not fit together, a tokenizer that truncates, pads or samples, or ids that the
            program of `preset` would read as others.
        RemotePathError: `out` is a URL to which nothing can be written.
        VocabError: a token or an id is not in the vocabulary, or rows need padding for which there is no token.

    Warns:
        SkippedRecordsWarning: records were left out, in this run or in the ones before that it goes on with.
        EmptyCorpusWarning: no document has tokens.
        RepeatedInputWarning: a file is given more than once.
        DoubledTokenWarning: the post-processor adds `begin_token` or `end_token` where the option does.
        DroppedRowsWarning: with `pack`, the tokens of a split fill no row.
    """
    return write_tokens(
        tokenizer,
        sources_of(sources, NAMED),
        out,
        {
            "format": format,
            "preset": preset,
            "begin_token": begin_token,
            "end_token": end_token,
            "add_special_tokens": add_special_tokens,
            "pack": pack,
            "packing": packing,
            "pad_token": pad_token,
            "pack_columns": pack_columns,
            "validation": validation,
            "seed": seed,
            "shuffle": shuffle,
            "part_bytes": part_bytes,
            "signed": signed,
            "columns": columns,
            "offsets": offsets,
            "join": join,
            "resume": resume,
            "overwrite": overwrite,
            "num_threads": num_threads,
            "on_progress": on_progress,
        },
    )


def merge_token_files(
    folders: Sequence[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    *,
    overwrite: bool = False,
    on_progress: OnProgress | None = None,
) -> TokenFiles:
    """Joins the `megatron` files of several finished runs, such as runs on many machines, to one pair of files.

    The documents come in the order of the folders, which stay as they are. Each file is compared with the checksum of
    its manifest as it is read. Memory does not grow with the files. A merge that was cut short begins again.

    Args:
        folders: the folders that `tokenize_files` wrote, with `join` or without.
        out: the folder of the pair `tokens.bin` and `tokens.idx`, and of its manifest; with validation, of one pair for
            each split. It is made if it is not there.
        overwrite: removes token files that `out` holds.
        on_progress: called as by `tokenize_files`, with the stage `merge`; an exception that it raises ends the merge.

    Returns:
        The files, opened.

    Raises:
        OutputError: a run is not finished, has another format than `megatron`, or another tokenizer, type of ids or
            tokens around documents than the first; a file is not as it was written; `out` holds something else. The
            message names the folder and the difference.
        OptionError: `folders` is empty, or is a single path.
        FileError: a file cannot be read or written, as on a full disk.
    """
    if isinstance(folders, str):
        message = f"folders is {folders!r} but must be a list of folders"
        raise OptionError(message)
    warn_of_repeated(folders)
    _core.merge_token_files(list(folders), out, overwrite=overwrite, on_progress=on_progress)
    merged = open_tokens(out)
    total = {**merged.manifest["total"], "skipped": 0}
    warn_of_total(total, [os.fspath(folder) for folder in folders])
    return merged
