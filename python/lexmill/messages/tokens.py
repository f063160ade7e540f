"""From conversations to ids and a loss mask."""

from __future__ import annotations

import itertools
import os
import pickle
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from lexmill._core import Tokenizer, local_path
from lexmill.errors import InputTypeError, OptionError, SpanError
from lexmill.messages.conversations import Conversation
from lexmill.messages.records import Conversations, read_conversations
from lexmill.messages.rendering import Renderer
from lexmill.messages.template import ChatTemplate

if TYPE_CHECKING:
    import numpy.typing as npt
    import pyarrow as pa

__all__ = ["Mask", "MessageTokens", "iter_message_tokens", "tokenize_messages"]

Mask: TypeAlias = str | Collection[str] | Callable[[int, Mapping[str, Any]], bool]
"""The turns to learn: `assistant`, a role or several, or a function of a message's number and the message."""

_Ranges: TypeAlias = list[tuple[int, int]]


@dataclass(frozen=True, eq=False)
class MessageTokens:
    """Tokens of conversations end to end, with a loss mask.

    Row `i` has the tokens `row_splits[i]` to `row_splits[i + 1]`.

    Attributes:
        ids: all ids, `uint16` if every id of the tokenizer fits, else `uint32`.
        loss_mask: 1 for each token to learn, else 0: `uint8`.
        row_splits: where conversations begin, `int64`, one more than there are conversations.
        straddling: tokens to learn that begin before or end after the text to learn, one number a row: `int64`.
        texts: the rendered conversations, if they were asked for.
    """

    ids: npt.NDArray[np.uint16] | npt.NDArray[np.uint32]
    loss_mask: npt.NDArray[np.uint8]
    row_splits: npt.NDArray[np.int64]
    straddling: npt.NDArray[np.int64]
    texts: list[str] | None = None

    def __len__(self) -> int:
        """The number of conversations."""
        return len(self.row_splits) - 1

    def labels(self, ignore: int = -100) -> npt.NDArray[np.int64]:
        """The ids with `ignore` in the place of each token that is not to be learned: `int64`."""
        return np.where(self.loss_mask.astype(bool), self.ids.astype(np.int64), ignore)

    def ranges(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The tokens to learn as half-open ranges within rows.

        Returns:
            Start and end of each range, two a range, in tokens of its row; and where the ranges of rows begin, one more
            than there are rows.
        """
        changes = np.diff(self.loss_mask, prepend=np.uint8(0), append=np.uint8(0))
        # A range that reaches from one row into the next is two.
        inner = self.row_splits[1:-1]
        cut = np.unique(inner[(inner > 0) & (inner < len(self.ids))])
        cut = cut[(self.loss_mask[cut - 1] & self.loss_mask[cut]).astype(bool)]
        bounds = np.flatnonzero(changes)
        starts = np.sort(np.concatenate([bounds[::2], cut]))
        ends = np.sort(np.concatenate([bounds[1::2], cut]))
        rows = np.searchsorted(self.row_splits, starts, side="right") - 1
        splits = np.searchsorted(starts, self.row_splits).astype(np.int64)
        return np.stack([starts, ends], axis=1) - self.row_splits[rows][:, None], splits

    def to_arrow(self, *, labels: bool = False) -> pa.Table:
        """A table of pyarrow with the columns `input_ids` and `loss_mask`, or `input_ids` and `labels`.

        Raises:
            ImportError: pyarrow is not installed.
        """
        import pyarrow as pa

        splits = pa.array(self.row_splits)
        second = ("labels", self.labels()) if labels else ("loss_mask", self.loss_mask)
        return pa.table(
            {
                name: pa.LargeListArray.from_arrays(splits, pa.array(values))
                for name, values in [("input_ids", self.ids), second]
            }
        )


def tokenize_messages(
    tokenizer: Tokenizer | str | os.PathLike[str],
    conversations: Conversations,
    template: ChatTemplate | str | os.PathLike[str] | None = None,
    *,
    mask: Mask = "assistant",
    add_generation_prompt: bool = False,
    variables: Mapping[str, Any] | None = None,
    return_texts: bool = False,
    now: datetime | None = None,
    num_threads: int | None = None,
) -> MessageTokens:
    """Encodes conversations to ids, with a mask of the tokens to learn.

    The ids are those of the rendered text, encoded whole and without the special tokens of the post-processor, since
    the template writes its own. A token is learned if any of its characters is in the text to learn; those that have
    others too are counted in `straddling`.

    Args:
        tokenizer: a tokenizer, or the path of its `tokenizer.json` or its folder.
        conversations: a source, a path or an iterable, as `read_conversations` takes them.
        template: a `ChatTemplate`, the text of one, the name of a built-in one or a `Path`. By default the tokenizer's
            own, for which `tokenizer` must be a path.
        mask: the turns to learn. `assistant` stands for the `generation` blocks of a template that has them, else for
            the turns of assistants. Other roles, or a function that is called with the number of a message and the
            message, choose turns.
        add_generation_prompt: ends each text with the beginning of an answer.
        variables: further variables of the template, such as `enable_thinking`.
        return_texts: keeps the rendered texts.
        now: the time for `strftime_now`; by default the present.
        num_threads: threads to encode on; by default one for each core, or the number in `RAYON_NUM_THREADS`.

    Raises:
        TemplateError: the template does not compile, fails, or refuses a conversation.
        SpanError: the text to learn cannot be followed through the template; the message names the operation.
        FormatError: a conversation is malformed; the message has its place.
        FileError: a file cannot be read, or the tokenizer has no template.
        InputTypeError: an argument is none of the types above.
        OptionError: there is no built-in template of that name.
        LexmillError: jinja2, which the extra `lexmill[messages]` brings, is not installed.
    """
    batches = iter_message_tokens(
        tokenizer,
        conversations,
        template,
        mask=mask,
        add_generation_prompt=add_generation_prompt,
        variables=variables,
        return_texts=return_texts,
        now=now,
        num_threads=num_threads,
    )
    return _end_to_end(list(batches))


def iter_message_tokens(
    tokenizer: Tokenizer | str | os.PathLike[str],
    conversations: Conversations,
    template: ChatTemplate | str | os.PathLike[str] | None = None,
    *,
    batch_size: int = 1000,
    mask: Mask = "assistant",
    add_generation_prompt: bool = False,
    variables: Mapping[str, Any] | None = None,
    return_texts: bool = False,
    now: datetime | None = None,
    num_threads: int | None = None,
) -> Iterator[MessageTokens]:
    """As `tokenize_messages`, batch by batch, in memory that does not grow with the conversations.

    Args:
        tokenizer: as there.
        conversations: as there.
        template: as there.
        batch_size: conversations in a batch.
        mask: as there.
        add_generation_prompt: as there.
        variables: as there.
        return_texts: as there.
        now: as there.
        num_threads: as there.

    Yields:
        The tokens of the next conversations. Without conversations there is one empty batch.

    Raises:
        OptionError: `batch_size` is below 1, or there is no built-in template of that name.
    """
    if batch_size < 1:
        message = f"batch_size is {batch_size} but must be at least 1"
        raise OptionError(message)
    if template is None:
        if isinstance(tokenizer, Tokenizer):
            message = (
                "template is not given: a Tokenizer does not hold one; pass the path of the tokenizer, or a template"
            )
            raise OptionError(message)
        template = ChatTemplate.from_path(tokenizer)
    chosen = _Chosen(ChatTemplate.of(template), mask, add_generation_prompt=add_generation_prompt, variables=variables)
    encoder = _with_whole_offsets(_tokenizer_of(tokenizer))
    read = read_conversations(conversations)
    is_first = True
    while (batch := list(itertools.islice(read, batch_size))) or is_first:
        is_first = False
        now = now or datetime.now()
        rendered = [chosen.ranges(one, now) for one in batch]
        yield _encoded(encoder, rendered, return_texts=return_texts, num_threads=num_threads)


class _Chosen:
    """A template with the choice of its turns."""

    def __init__(
        self,
        template: ChatTemplate,
        mask: Mask,
        *,
        add_generation_prompt: bool,
        variables: Mapping[str, Any] | None,
    ) -> None:
        self.renderer = Renderer(template, add_generation_prompt=add_generation_prompt, variables=variables)
        self._takes: Callable[[int, Mapping[str, Any]], bool]
        roles = [mask] if isinstance(mask, str) else mask
        if callable(roles):
            self._takes = roles
        elif isinstance(roles, Collection) and all(isinstance(role, str) for role in roles):
            names = frozenset(roles)
            self._takes = lambda _, message: message["role"] in names
        else:
            message = f"mask is {mask!r} but must be a role, a list of roles or a function"
            raise InputTypeError(message)
        self._has_generation = template.has_generation
        self._is_generation = self._has_generation and not callable(roles) and set(roles) == {"assistant"}

    def ranges(self, one: Conversation, now: datetime) -> tuple[str, _Ranges]:
        """The text of a conversation, and the ranges to learn, in order and apart."""
        if self._is_generation:
            text, blocks = self.renderer.generation(one, now)
            return text, _apart(blocks)
        text, layout = self.renderer.layout(one, now)
        taken = {number for number, message in enumerate(one.messages) if self._takes(number, message)}
        found: _Ranges = []
        for turn in layout.turns:
            if turn.message not in taken:
                continue
            if self._has_generation and turn.role == "assistant":
                found += [block for block in layout.generation if turn.start <= block[0] and block[1] <= turn.end]
            elif turn.message in layout.unclear:
                self._refuse(layout.unclear[turn.message])
            else:
                found += turn.text
        for number in taken.difference(turn.message for turn in layout.turns):
            if one.messages[number]["role"] == "assistant" and number in layout.unclear:
                self._refuse(layout.unclear[number])
            found += [(start, end) for start, end, origin in layout.spans if origin.message == number]
        return text, _apart(found)

    def _refuse(self, reason: str) -> None:
        message = f"{self.renderer.template.name} {reason}; mark the text to learn by {{% generation %}} blocks"
        raise SpanError(message)


def _apart(ranges: Iterable[tuple[int, int]]) -> _Ranges:
    """Ranges in order; those that touch or overlap are one."""
    found: _Ranges = []
    for start, end in sorted(ranges):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found


def _tokenizer_of(given: Tokenizer | str | os.PathLike[str]) -> Tokenizer:
    if isinstance(given, Tokenizer):
        return given
    if not isinstance(given, str | os.PathLike):
        message = f"tokenizer is a {type(given).__name__} but must be a Tokenizer or a path"
        raise InputTypeError(message)
    path = local_path(given)
    return Tokenizer.from_file(f"{path}/tokenizer.json" if os.path.isdir(path) else path)  # noqa: PTH112 (local_path)


def _with_whole_offsets(tokenizer: Tokenizer) -> Tokenizer:
    """A tokenizer with the same ids, whose offsets are not trimmed: a token of white space has characters then."""
    processor = tokenizer.post_processor
    if processor is None or b'"trim_offsets":true' not in pickle.dumps(processor):
        return tokenizer
    made = Tokenizer.from_str(tokenizer.to_str())
    made.post_processor = None
    return made


def _encoded(
    tokenizer: Tokenizer, rendered: list[tuple[str, _Ranges]], *, return_texts: bool, num_threads: int | None
) -> MessageTokens:
    texts = [text for text, _ in rendered]
    encoded = tokenizer.encode_batch_arrays(
        texts,
        add_special_tokens=False,
        truncation=False,
        padding=False,
        return_offsets=True,
        num_threads=num_threads,
    )
    splits = encoded.row_splits
    # Characters are counted through all texts, so that one search finds the ranges of all.
    bases = np.zeros(len(texts) + 1, dtype=np.int64)
    np.cumsum([len(text) for text in texts], out=bases[1:])
    counts = [len(ranges) for _, ranges in rendered]
    flat = np.array([place for _, ranges in rendered for place in ranges], dtype=np.int64).reshape(-1, 2)
    flat += np.repeat(bases[:-1], counts)[:, None]
    offsets = np.asarray(encoded.offsets).reshape(-1, 2) + np.repeat(bases[:-1], np.diff(splits))[:, None]
    mask, is_straddling = _covered(offsets, flat)
    sums = np.concatenate([[0], np.cumsum(is_straddling)])
    straddling = sums[splits[1:]] - sums[splits[:-1]]
    return MessageTokens(encoded.ids, mask.view(np.uint8), splits, straddling, texts if return_texts else None)


def _covered(
    offsets: npt.NDArray[np.int64], ranges: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Tokens with a character in a range, and those of them that have others too.

    Ranges begin before the end of a token, but have not ended at its start, exactly if they have characters in common.
    """
    starts, ends = offsets[:, 0], offsets[:, 1]
    begun = np.searchsorted(ranges[:, 0], ends, side="left")
    ended = np.searchsorted(ranges[:, 1], starts, side="right")
    mask = begun > ended
    # The first range that the token meets begins after it does, or the last ends before it, or there is a gap.
    met = np.flatnonzero(mask)
    is_straddling = np.zeros(len(offsets), dtype=np.bool_)
    is_straddling[met] = (
        (ranges[ended[met], 0] > starts[met]) | (ranges[begun[met] - 1, 1] < ends[met]) | (begun[met] - ended[met] > 1)
    )
    return mask, is_straddling


def _end_to_end(batches: list[MessageTokens]) -> MessageTokens:
    if len(batches) == 1:
        return batches[0]
    begins = np.cumsum([0, *(len(one.ids) for one in batches)])
    splits = [batches[0].row_splits[:1], *(one.row_splits[1:] + at for one, at in zip(batches, begins, strict=False))]
    return MessageTokens(
        np.concatenate([one.ids for one in batches]),
        np.concatenate([one.loss_mask for one in batches]),
        np.concatenate(splits),
        np.concatenate([one.straddling for one in batches]),
        None if batches[0].texts is None else [text for one in batches for text in one.texts or ()],
    )
