"""Conversations to token files with loss masks."""

from __future__ import annotations

import inspect
import json
import operator
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal, get_type_hints

from lexmill._core import Tokenizer, is_url, read_token_manifest
from lexmill._data.corpus_warnings import warn_of_no_loss
from lexmill._data.source_names import OneSource, Reading, sources_of
from lexmill._data.stored_run import stored_manifest
from lexmill._data.write_tokens import Documents, FedBlock, write_tokens
from lexmill._engines.jobs import TokenizerJson
from lexmill._types import OnProgress
from lexmill.errors import InputTypeError, LexmillError, OptionError
from lexmill.messages import _block_tokens as blocks
from lexmill.messages._blocks import Block, field_of, read_blocks
from lexmill.messages._masks import Mask
from lexmill.messages.conversations import plain_variables
from lexmill.messages.records import FIELD
from lexmill.messages.template import ChatTemplate
from lexmill.messages.tokens import check_threads, template_of, tokenizer_of
from lexmill.sources import Files, Source
from lexmill.token_files import LayoutOptions, TokenFiles, tokenize_files

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["tokenize_message_files"]

_DEFAULTS = {
    name: parameter.default
    for name, parameter in inspect.signature(tokenize_files).parameters.items()
    if parameter.kind is parameter.KEYWORD_ONLY
}
"""The options of `tokenize_files`."""


def tokenize_message_files(
    tokenizer: Tokenizer | str | os.PathLike[str],
    sources: OneSource | Sequence[OneSource],
    out: str | os.PathLike[str],
    template: ChatTemplate | str | os.PathLike[str] | None = None,
    *,
    mask: Mask = "assistant",
    loss: Literal["mask", "labels", "ranges"] = "mask",
    variables: Mapping[str, Any] | None = None,
    on_error: Literal["raise", "skip"] = "raise",
    now: datetime | None = None,
    shuffle: bool = False,
    join: bool = False,
    resume: bool = False,
    overwrite: bool = False,
    num_workers: int = 1,
    num_threads: int | None = None,
    on_progress: OnProgress | None = None,
    **options: Unpack[LayoutOptions],
) -> TokenFiles:
    """Tokenizes conversations to the files of a folder, with loss masks, in memory that does not grow with them.

    Each conversation is a document. Its ids and its mask are the same as from `lexmill.messages.tokenize_messages`. The
    files are laid out as by `lexmill.tokenize_files`, with masks beside the ids. They do not depend on `num_workers`,
    nor on interruptions of the run. `mask` of the returned files has the masks, in any form of the files.

    Args:
        tokenizer: a tokenizer, or the path of its `tokenizer.json` or its folder; it must neither truncate nor pad.
        sources: `JsonLines`, `Parquet` and `Arrow` of `lexmill.sources`, or paths and patterns whose names say the
            format and whose field is `messages`, as for `read_conversations`.
        out: the folder, or a URL, as for `tokenize_files`.
        template: as for `tokenize_messages`.
        mask: as for `tokenize_messages`. A resumed run compares a function by its name alone.
        loss: the form of masks. `mask` has 1 for a token to learn, else 0: the column `loss_mask`, or files of bytes
            beside the ids. `labels` has ids, and -100 outside of the mask, in 32 bits: the column `labels`, or files
            for `megatron` and `npy`. `ranges` has the starts and ends of the ranges to learn in each document, in
            tokens: the columns `loss_start` and `loss_end` of `arrow` and `parquet`.
        variables: as for `tokenize_messages`.
        on_error: `raise`, or `skip` to leave out conversations that the template refuses or whose text to learn cannot
            be followed, and also broken records of files given by path. For broken records of other sources, set
            `on_error` of the source.
        now: the time of `strftime_now`; by default the present; with `resume`, the time of the first run.
        shuffle: as for `tokenize_files`; the place of a document is its file and the number of its line or row.
        join: as for `tokenize_files`; masks are joined, too.
        resume: goes on with a run that was cut short; begins one if there is none.
        overwrite: removes the files of an earlier run.
        num_workers: processes that render and encode; 1 is this process alone. A script with more than 1 needs
            `if __name__ == "__main__":`.
        num_threads: threads that encode, with one process; a worker process has one.
        on_progress: as for `tokenize_files`.
        **options: `format`, `pack` and other options of `lexmill.tokenize_files`;
            `lexmill.token_files.LayoutOptions` lists them.

    Returns:
        The files, opened. `manifest["total"]` has three numbers: tokens to learn (`loss_tokens`), tokens to learn that
        also have characters of other text (`straddling`), and conversations without tokens to learn
        (`no_loss_documents`). A number that is absent is 0.

    Raises:
        FileError: a file cannot be read or written. Finished parts are kept.
        FormatError: a record is no conversation, with `on_error="raise"`; the message has its place.
        SpanError: the text to learn cannot be followed; likewise.
        TemplateError: the template does not compile, or refuses a conversation; likewise.
        OptionError: options that do not fit together; a form of masks that the format does not have; a template whose
            texts depend on chance; a source of another kind; several workers in a daemonic process.
        OutputError: as for `tokenize_files`.
        LexmillError: jinja2 or, for tables, pyarrow is not installed; or a worker process ended.

    Warns:
        NoLossWarning: there are conversations, and none has a token to learn.
        SkippedRecordsWarning: conversations were left out. `tokenize_files` has further warnings.
    """
    unknown = options.keys() - get_type_hints(LayoutOptions).keys()
    if unknown:
        message = f"tokenize_message_files() got an unexpected keyword argument {min(unknown)!r}"
        raise TypeError(message)
    if operator.index(num_workers) < 1:
        message = f"num_workers is {num_workers} but must be at least 1"
        raise OptionError(message)
    check_threads(num_threads)
    if num_workers > 1:
        blocks.check_workers(num_workers)
    if now is not None and not isinstance(now, datetime):
        message = f"now is {now!r} but must be a datetime"
        raise InputTypeError(message)
    opened, chosen = tokenizer_of(tokenizer), template_of(tokenizer, template)
    given = [_checked(source) for source in sources_of(sources, Reading(field=FIELD, on_error=on_error))]
    now = now or _time_of(out, is_resumed=resume) or datetime.now()
    rendering = blocks.Rendering(
        TokenizerJson.of(opened),
        _reproducible(chosen),
        mask,
        plain_variables(variables),
        now,
        on_error,
        [blocks.Reading(field_of(source), getattr(source, "on_error", "raise")) for source in given],
    )
    # Compiles the template, and checks the mask and the variables, before files of an earlier run are removed.
    blocks.BlockTokenizer(rendering, 1)
    if num_workers > 1:
        blocks.check_picklable(rendering)
    feed = _Feed(rendering, given, num_workers, num_threads)
    feed.documents = Documents(loss, _described(rendering), feed.blocks)
    ways = {"shuffle": shuffle, "join": join, "resume": resume, "overwrite": overwrite, "num_threads": num_threads}
    every = {**_DEFAULTS, **options, **ways, "on_progress": on_progress, "add_special_tokens": False}
    with closing(feed):
        written = write_tokens(opened, given, out, every, feed.documents)
    warn_of_no_loss(written.manifest["total"], chosen.name)
    return written


class _Feed:
    """The conversations of sources as documents of a run."""

    documents: Documents

    def __init__(
        self, rendering: blocks.Rendering, sources: Sequence[Files], num_workers: int, num_threads: int | None
    ) -> None:
        self._rendering = rendering
        self._sources = [(source, source._files()) for source in sources]
        self._num_workers, self._num_threads = num_workers, num_threads
        self._open: Iterator[blocks.BlockTokens] | None = None

    def blocks(self, file: int, record: int) -> Iterator[FedBlock]:
        """The documents from a record of a file on."""
        records = self._records(file, record)
        self._open = blocks.tokens_of_blocks(
            self._rendering, records, num_workers=self._num_workers, num_threads=self._num_threads
        )
        for block, skipped in self._open:
            for message in skipped:
                self.documents.skip(message)
            yield block

    def close(self) -> None:
        """Ends worker processes."""
        if self._open is not None:
            self._open.close()  # type: ignore[attr-defined]  # a generator

    def _records(self, file: int, record: int) -> Iterator[tuple[int, Block]]:
        first = 0
        for number, (source, files) in enumerate(self._sources):
            begin = (file - first, record) if file >= first else (0, 0)
            for block in read_blocks(source, files, begin=begin):
                yield number, block._replace(file=first + block.file)
            first += len(files)


def _checked(source: Source) -> Files:
    """A source of files that hold conversations.

    Raises:
        OptionError: the source is of another kind.
    """
    field_of(source)
    if not isinstance(source, Files):
        message = f"{source!r} is read once, but conversations are tokenized to files from JsonLines, Parquet and Arrow"
        raise OptionError(message)
    return source


def _reproducible(template: ChatTemplate) -> ChatTemplate:
    """The template, if it gives the same text again.

    Raises:
        OptionError: it uses chance.
    """
    if template.is_random:
        message = f"{template.name} uses random or lipsum, so its texts differ from run to run"
        raise OptionError(message)
    return template


def _described(rendering: blocks.Rendering) -> str:
    """All that decides texts and masks, as JSON for the manifest.

    Raises:
        OptionError: JSON has no such mask or variables.
    """
    template, mask = rendering.template, rendering.mask
    names = [mask] if isinstance(mask, str) else mask
    try:
        # The order of the variables changes no text, but the order of their own keys may.
        made_from = json.dumps([template.text, _texts_of(template.variables, allow_nan=True)], sort_keys=True)
        described = {
            "template": sha256(made_from.encode()).hexdigest()[:16],
            "mask": _name_of(names) if callable(names) else sorted(names),
            # As JSON texts, because the core reads the manifest again and rounds some floats and large integers.
            "variables": _texts_of(rendering.variables),
            "now": rendering.now.isoformat() if "strftime_now" in template.text else None,
        }
        found = _json_of(described)
        found.encode()
    except ValueError as error:
        message = f"the manifest keeps mask and variables as JSON, but JSON cannot hold these: {error}"
        raise OptionError(message) from error
    return found


def _texts_of(variables: Mapping[str, Any], *, allow_nan: bool = False) -> dict[str, str]:
    """Each variable as JSON.

    Raises:
        ValueError: JSON has no such value.
    """
    found = plain_variables(variables)
    for name, value in found.items():
        # JSON makes texts of other keys, but templates write them differently.
        if not _has_text_keys(value):
            message = f"a dictionary in {name} has keys that are no texts"
            raise ValueError(message)
    return {name: _json_of(value, allow_nan=allow_nan) for name, value in found.items()}


def _has_text_keys(value: object) -> bool:
    if isinstance(value, dict):
        return all(isinstance(key, str) and _has_text_keys(one) for key, one in value.items())
    return not isinstance(value, list) or all(map(_has_text_keys, value))


def _json_of(value: object, *, allow_nan: bool = False) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=allow_nan)


def _name_of(function: object) -> str:
    """The name of a function, or of the type of another object that is called."""
    named = function if hasattr(function, "__qualname__") else type(function)
    return f"{named.__module__}.{named.__qualname__}"


def _time_of(out: str | os.PathLike[str], *, is_resumed: bool) -> datetime | None:
    """The time in the manifest of the run to resume; None without one. The core reports damaged manifests."""
    if not is_resumed:
        return None
    try:
        read = stored_manifest(os.fspath(out)) if is_url(out) else read_token_manifest(out)
        manifest = json.loads(read or "null")
        return datetime.fromisoformat(manifest["options"]["messages"]["now"])
    except (LexmillError, ValueError, TypeError, KeyError, RecursionError):
        return None
