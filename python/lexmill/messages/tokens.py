"""From conversations to ids and a loss mask."""

from __future__ import annotations

import itertools
import os
import pickle
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from lexmill._core import Tokenizer, local_path
from lexmill._data.corpus_warnings import SHOWN, warn_of_records
from lexmill.errors import InputTypeError, NoLossWarning, OptionError, SpanError, TemplateError
from lexmill.messages._masks import Mask, Ranges, TextToLearn, covered
from lexmill.messages.arrays import MessageTokens, end_to_end
from lexmill.messages.conversations import Conversation
from lexmill.messages.records import Conversations, read_conversations
from lexmill.messages.template import ChatTemplate, special_tokens_of

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = [
    "Mask",
    "check_threads",
    "encoded",
    "iter_message_tokens",
    "marked",
    "template_of",
    "tokenize_messages",
    "tokenizer_of",
    "with_whole_offsets",
]


def tokenize_messages(
    tokenizer: Tokenizer | str | os.PathLike[str],
    conversations: Conversations,
    template: ChatTemplate | str | os.PathLike[str] | None = None,
    *,
    mask: Mask = "assistant",
    add_generation_prompt: bool = False,
    variables: Mapping[str, Any] | None = None,
    on_error: Literal["raise", "skip"] = "raise",
    return_texts: bool = False,
    now: datetime | None = None,
    num_threads: int | None = None,
) -> MessageTokens:
    """Encodes conversations to ids, with a mask of the tokens to learn.

    The ids are the ids of the rendered text, encoded whole and without the special tokens of the post-processor, since
    the template writes its own. A token is learned if any of its characters is in the text to learn. Learned
    tokens with other characters too are counted in `straddling`.

    Args:
        tokenizer: a tokenizer, or the path of its `tokenizer.json` or its folder.
        conversations: a source, a path or an iterable, as `read_conversations` takes them.
        template: a `ChatTemplate`, the text of one, the name of a built-in one or a `Path`. By default the tokenizer's
            own, for which `tokenizer` must be a path.
        mask: the turns to learn. `assistant` stands for the `generation` blocks of a template that has them, else for
            the turns of assistants. Other roles, or a function that is called with the number of a message and the
            message, choose turns.
        add_generation_prompt: ends each text with the beginning of an answer.
        variables: further variables of the template, such as `enable_thinking`. Special tokens come from the template,
            or else from the tokenizer's folder.
        on_error: `raise`, or `skip` to leave out conversations that the template refuses or whose text to learn cannot
            be followed, and to warn at the end; sources have an option of their own.
        return_texts: keeps the rendered texts.
        now: the time for `strftime_now`; by default the present.
        num_threads: threads to encode on; by default one for each core, or the number in `RAYON_NUM_THREADS`.

    Raises:
        TemplateError: the template does not compile, fails, or refuses a conversation; the message has its place.
        SpanError: the text to learn cannot be followed through the template; the message names the operation.
        FormatError: a conversation is malformed; the message has its place.
        FileError: a file cannot be read, or the tokenizer has no template.
        InputTypeError: an argument is none of the types above.
        OptionError: `num_threads` is negative, or there is no built-in template of that name.
        LexmillError: jinja2, which the extra `lexmill[messages]` brings, is not installed.

    Warns:
        NoLossWarning: no conversation has a token to learn, and `add_generation_prompt` is not given.
        SkippedRecordsWarning: conversations were left out, here or by the source.
    """
    batches = iter_message_tokens(
        tokenizer,
        conversations,
        template,
        mask=mask,
        add_generation_prompt=add_generation_prompt,
        variables=variables,
        on_error=on_error,
        return_texts=return_texts,
        now=now,
        num_threads=num_threads,
    )
    return end_to_end(list(batches))


def iter_message_tokens(
    tokenizer: Tokenizer | str | os.PathLike[str],
    conversations: Conversations,
    template: ChatTemplate | str | os.PathLike[str] | None = None,
    *,
    batch_size: int = 1000,
    mask: Mask = "assistant",
    add_generation_prompt: bool = False,
    variables: Mapping[str, Any] | None = None,
    on_error: Literal["raise", "skip"] = "raise",
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
        on_error: as there.
        return_texts: as there.
        now: as there.
        num_threads: as there.

    Yields:
        The tokens of the next conversations. Without conversations there is one empty batch.

    Raises:
        OptionError: `batch_size` is below 1, `num_threads` is negative, or there is no built-in template of that name.
    """
    if batch_size < 1:
        message = f"batch_size is {batch_size} but must be at least 1"
        raise OptionError(message)
    check_threads(num_threads)
    chosen = TextToLearn(
        template_of(tokenizer, template), mask, add_generation_prompt=add_generation_prompt, variables=variables
    )
    encoder = with_whole_offsets(tokenizer_of(tokenizer))
    rendered = _rendered(chosen, read_conversations(conversations), now or datetime.now(), on_error)
    batches = _batches(encoder, rendered, batch_size, return_texts=return_texts, num_threads=num_threads)
    return batches if add_generation_prompt else _checked(batches, chosen)


def check_threads(num_threads: int | None) -> None:
    """Refuses a negative number.

    Raises:
        OptionError: it is one.
    """
    if num_threads is not None and num_threads < 0:
        message = f"num_threads is {num_threads} but must be at least 1; None stands for one thread for each core"
        raise OptionError(message)


def _batches(
    encoder: Tokenizer,
    rendered: Iterator[tuple[str, Ranges]],
    batch_size: int,
    *,
    return_texts: bool,
    num_threads: int | None,
) -> Iterator[MessageTokens]:
    is_first = True
    while (batch := list(itertools.islice(rendered, batch_size))) or is_first:
        is_first = False
        yield encoded(encoder, batch, return_texts=return_texts, num_threads=num_threads)


def _checked(batches: Iterator[MessageTokens], chosen: TextToLearn) -> Iterator[MessageTokens]:
    """The batches as they are.

    Warns:
        NoLossWarning: there are conversations, and none has a token to learn.
    """
    count, is_learned = 0, False
    for batch in batches:
        count += len(batch)
        is_learned = is_learned or bool(batch.loss_mask.any())
        yield batch
    if count and not is_learned:
        conversations = (
            "the conversation has no token" if count == 1 else f"none of {count:,} conversations has a token"
        )
        message = f"{conversations} to learn: {chosen.renderer.template.name} writes no text that the mask takes"
        warnings.warn(message, NoLossWarning, stacklevel=3)


def _rendered(
    chosen: TextToLearn, conversations: Iterator[Conversation], now: datetime, on_error: Literal["raise", "skip"]
) -> Iterator[tuple[str, Ranges]]:
    """The texts and ranges of conversations.

    Raises:
        SpanError: the text to learn cannot be followed; the message has the conversation's place.
        TemplateError: the template refuses a conversation, likewise.

    Warns:
        SkippedRecordsWarning: conversations were left out.
    """
    count = 0
    first: list[str] = []
    for one in conversations:
        try:
            found = chosen.ranges(one, now)
        except (SpanError, TemplateError) as error:
            message = f"{one.place}: {error}"
            if on_error == "raise":
                raise type(error)(message) from error
            count += 1
            if len(first) < SHOWN:
                first.append(message)
        else:
            yield found
    warn_of_records(count, first)


def template_of(
    tokenizer: Tokenizer | str | os.PathLike[str], template: ChatTemplate | str | os.PathLike[str] | None
) -> ChatTemplate:
    """The template, with the special tokens of the tokenizer's folder if they are known and it has no own."""
    if isinstance(tokenizer, Tokenizer):
        if template is None:
            message = (
                "template is not given: a Tokenizer does not hold one; pass the path of the tokenizer, or a template"
            )
            raise OptionError(message)
        return ChatTemplate.of(template)
    if not isinstance(tokenizer, str | os.PathLike):
        message = f"tokenizer is a {type(tokenizer).__name__} but must be a Tokenizer or a path"
        raise InputTypeError(message)
    if template is None:
        return ChatTemplate.from_path(tokenizer)
    chosen = ChatTemplate.of(template)
    return replace(chosen, variables={**special_tokens_of(tokenizer), **chosen.variables})


def tokenizer_of(given: Tokenizer | str | os.PathLike[str]) -> Tokenizer:
    """The given tokenizer, or the tokenizer at a given path."""
    if isinstance(given, Tokenizer):
        return given
    path = local_path(given)
    return Tokenizer.from_file(f"{path}/tokenizer.json" if os.path.isdir(path) else path)  # noqa: PTH112 (local_path)


def with_whole_offsets(tokenizer: Tokenizer) -> Tokenizer:
    """A tokenizer with the same ids, whose offsets are not trimmed: a token of white space has characters then."""
    processor = tokenizer.post_processor
    if processor is None or b'"trim_offsets":true' not in pickle.dumps(processor):
        return tokenizer
    made = Tokenizer.from_str(tokenizer.to_str())
    made.post_processor = None
    return made


class Marked(NamedTuple):
    """Rendered conversations as ids end to end.

    Attributes:
        ids: the ids.
        splits: where conversations begin, one more than there are conversations.
        mask: True for each token to learn.
        straddling: True for each token to learn that also has characters of other text.
    """

    ids: npt.NDArray[np.uint16] | npt.NDArray[np.uint32]
    splits: npt.NDArray[np.int64]
    mask: npt.NDArray[np.bool_]
    straddling: npt.NDArray[np.bool_]


def marked(tokenizer: Tokenizer, rendered: list[tuple[str, Ranges]], *, num_threads: int | None) -> Marked:
    """The ids of rendered conversations, and the tokens of their ranges."""
    texts = [text for text, _ in rendered]
    made = tokenizer.encode_batch_arrays(
        texts,
        add_special_tokens=False,
        truncation=False,
        padding=False,
        return_offsets=True,
        num_threads=num_threads,
    )
    splits = made.row_splits
    # Characters are counted through all texts, so that one search finds the ranges of all.
    bases = np.zeros(len(texts) + 1, dtype=np.int64)
    np.cumsum([len(text) for text in texts], out=bases[1:])
    counts = [len(ranges) for _, ranges in rendered]
    flat = np.array([place for _, ranges in rendered for place in ranges], dtype=np.int64).reshape(-1, 2)
    flat += np.repeat(bases[:-1], counts)[:, None]
    offsets = np.asarray(made.offsets).reshape(-1, 2) + np.repeat(bases[:-1], np.diff(splits))[:, None]
    return Marked(made.ids, splits, *covered(offsets, flat))


def encoded(
    tokenizer: Tokenizer, rendered: list[tuple[str, Ranges]], *, return_texts: bool, num_threads: int | None
) -> MessageTokens:
    """The tokens of rendered conversations, and the mask of their ranges."""
    ids, splits, mask, is_straddling = marked(tokenizer, rendered, num_threads=num_threads)
    sums = np.concatenate([[0], np.cumsum(is_straddling)])
    straddling = sums[splits[1:]] - sums[splits[:-1]]
    texts = [text for text, _ in rendered] if return_texts else None
    return MessageTokens(ids, mask.view(np.uint8), splits, straddling, texts)
