"""From blocks of records to ids and masks, in this process or in several others."""

from __future__ import annotations

import contextlib
import multiprocessing
import pickle
import signal
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from lexmill._data.corpus_warnings import SHOWN
from lexmill._engines.jobs import TokenizerJson
from lexmill.errors import FormatError, LexmillError, OptionError, SpanError, TemplateError
from lexmill.messages._blocks import Block, conversation_in, records_in
from lexmill.messages._masks import Mask, Ranges, TextToLearn
from lexmill.messages.template import ChatTemplate
from lexmill.messages.tokens import marked, with_whole_offsets

if TYPE_CHECKING:
    from lexmill._data.write_tokens import FedBlock

__all__ = ["BlockTokens", "Reading", "Rendering", "check_picklable", "check_workers", "tokens_of_blocks"]

_AHEAD = 2
"""Blocks for each process that are read and not written yet."""


class Reading(NamedTuple):
    """How records of a source become conversations.

    Attributes:
        field: the field or column of the messages.
        on_error: `raise`, or `skip` to leave out broken records.
    """

    field: str
    on_error: str


@dataclass(frozen=True)
class Rendering:
    """All that a process needs to make tokens of blocks.

    Attributes:
        tokenizer: the tokenizer.
        template: the template.
        mask: the turns to learn.
        variables: further variables of the template.
        now: the time for `strftime_now`.
        on_error: `raise`, or `skip` to leave out conversations that the template refuses.
        sources: one for each source.
    """

    tokenizer: TokenizerJson
    template: ChatTemplate
    mask: Mask
    variables: dict[str, Any]
    now: datetime
    on_error: Literal["raise", "skip"]
    sources: Sequence[Reading]


class BlockTokens(NamedTuple):
    """The tokens of a block, and the errors of the first records that were left out."""

    block: FedBlock
    skipped: list[str]


class BlockTokenizer:
    """Makes tokens of blocks, one after the other."""

    def __init__(self, rendering: Rendering, num_threads: int | None) -> None:
        """Compiles the template.

        Raises:
            TemplateError: it does not compile.
            InputTypeError: the mask is not a role, a list of roles or a function; or a variable is not a JSON value.
        """
        self._rendering = rendering
        self._num_threads = num_threads
        self._tokenizer = with_whole_offsets(rendering.tokenizer.tokenizer())
        self._chosen = TextToLearn(
            rendering.template, rendering.mask, add_generation_prompt=False, variables=rendering.variables
        )

    def tokens(self, source: int, block: Block) -> BlockTokens:
        """The tokens of a block of a source.

        Raises:
            FormatError: a record is no conversation.
            SpanError: the text to learn cannot be followed.
            TemplateError: the template refuses a conversation. Each of these errors names the place of the record.
        """
        reading = self._rendering.sources[source]
        numbers: list[int] = []
        rendered: list[tuple[str, Ranges]] = []
        skipped = [0]
        errors: list[str] = []
        for number, place, record in records_in(block, reading.field):
            try:
                rendered.append(self._rendered(record, reading, place))
            except _LeftOutError as error:
                skipped[-1] += 1
                errors.append(str(error))
            else:
                numbers.append(number)
                skipped.append(0)
        ids, splits, mask, straddling = marked(self._tokenizer, rendered, num_threads=self._num_threads)
        marks = mask.view(np.uint8) + straddling.view(np.uint8)
        arrays = np.array(numbers, np.uint64), ids.astype(np.uint32), marks, splits
        return BlockTokens((block.file, *arrays, np.array(skipped, np.uint64), block.read), errors[:SHOWN])

    def _rendered(self, record: object, reading: Reading, place: str) -> tuple[str, Ranges]:
        try:
            one = conversation_in(record, reading.field, place)
        except FormatError as error:
            if reading.on_error == "raise":
                raise
            raise _LeftOutError(str(error)) from error
        try:
            return self._chosen.ranges(one, self._rendering.now)
        except (SpanError, TemplateError) as error:
            message = f"{place}: {error}"
            if self._rendering.on_error == "raise":
                raise type(error)(message) from error
            raise _LeftOutError(message) from error


class _LeftOutError(Exception):
    """A record that is left out."""


def tokens_of_blocks(
    rendering: Rendering, blocks: Iterable[tuple[int, Block]], *, num_workers: int, num_threads: int | None
) -> Iterator[BlockTokens]:
    """The tokens of `blocks`, in order. Each block comes with the number of its source.

    Raises:
        LexmillError: a process ended, for example since the system has no memory left; or it raised an exception that
            cannot be sent to this process. `BlockTokenizer` has further errors.
    """
    if num_workers == 1:
        tokenizer = BlockTokenizer(rendering, num_threads)
        yield from (tokenizer.tokens(*one) for one in blocks)
        return
    # A fork would have the locks of this process's threads, but not the threads.
    executor = ProcessPoolExecutor(num_workers, multiprocessing.get_context("spawn"), _begin, (rendering,))
    waiting: deque[Future[BlockTokens]] = deque()
    try:
        for one in blocks:
            with _without_interrupts():
                waiting.append(executor.submit(_tokens, *one))
            if len(waiting) >= _AHEAD * num_workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool as error:
        message = (
            "a worker process ended before its work was done: the system may have no memory left, or the program "
            'has no `if __name__ == "__main__":` around its call; pass num_workers=1'
        )
        raise LexmillError(message) from error
    finally:
        executor.shutdown(cancel_futures=True)


@contextlib.contextmanager
def _without_interrupts() -> Iterator[None]:
    """Ctrl-C waits, and a process that begins meanwhile never gets it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def check_workers(num_workers: int) -> None:
    """Refuses worker processes where Python refuses them.

    Raises:
        OptionError: this process is daemonic.
    """
    if multiprocessing.current_process().daemon:
        message = (
            f"num_workers is {num_workers} but must be 1 in a daemonic process, such as a worker of "
            "multiprocessing.Pool: Python lets it start no processes"
        )
        raise OptionError(message)


def check_picklable(rendering: Rendering) -> None:
    """Refuses masks that other processes cannot get.

    Raises:
        OptionError: the mask is a function that cannot be pickled.
    """
    try:
        pickle.dumps(rendering.mask)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        message = (
            f"mask is {rendering.mask!r}, which cannot be sent to other processes; pass a function of a module, or "
            "num_workers=1"
        )
        raise OptionError(message) from error


_tokenizer: BlockTokenizer
"""The tokenizer of this worker process."""


def _begin(rendering: Rendering) -> None:
    global _tokenizer
    # Ctrl-C reaches all processes of a terminal; the parent ends its workers itself.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _tokenizer = BlockTokenizer(rendering, 1)


def _end_with_parent() -> None:
    """Ends this worker when its parent is killed: a killed parent cannot stop its workers."""
    import os

    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _tokens(source: int, block: Block) -> BlockTokens:
    try:
        return _tokenizer.tokens(source, block)
    except Exception as error:
        if _is_sendable(error):
            raise
        # The parent could not read it, and would take this worker for one that was killed.
        message = f"{type(error).__name__} in a worker process: {error}"
        raise LexmillError(message) from None


def _is_sendable(error: Exception) -> bool:
    try:
        return type(pickle.loads(pickle.dumps(error))) is type(error)
    except Exception:
        return False
