"""Conversations for `lexmill tokenize`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lexmill import Tokenizer
from lexmill.cli.options import LARGEST, OnBroken, ReadOptions
from lexmill.cli.outcome import UsageError
from lexmill.sources import Source

if TYPE_CHECKING:
    from lexmill.token_files import TokenFiles

__all__ = ["MessageOptions", "loss_note", "tokenize_conversations"]


class LossName(str, Enum):
    """The form of loss masks."""

    MASK = "mask"
    LABELS = "labels"
    RANGES = "ranges"


@dataclass(frozen=True, kw_only=True)
class MessageOptions:
    """Conversations in the place of texts."""

    messages: Annotated[
        bool, typer.Option("--messages", help="Read conversations, and write loss masks beside their ids.")
    ] = False
    template: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|PATH",
            help="With --messages: a built-in chat template, a .jinja file or a folder; else the one beside TOKENIZER.",
            show_default=False,
        ),
    ] = None
    mask: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ROLE",
            help="With --messages: a role whose turns are learned, else assistant; may be given again.",
            show_default=False,
        ),
    ] = None
    loss: Annotated[
        LossName | None, typer.Option(help="With --messages: the form of masks; mask unless given.", show_default=False)
    ] = None
    workers: Annotated[
        int | None,
        typer.Option(min=1, max=LARGEST, help="With --messages: processes; 1 unless given.", show_default=False),
    ] = None

    def check(self, of_texts: dict[str, object]) -> None:
        """Refuses options of conversations without `--messages`, and the options `of_texts` with it.

        Raises:
            UsageError: such an option is given.
        """
        of_messages = {
            "--template": self.template,
            "--mask": self.mask,
            "--loss": self.loss,
            "--workers": self.workers,
        }
        unfit = of_texts if self.messages else of_messages
        given = next((name for name, value in unfit.items() if value), None)
        if given is not None:
            message = f"{given} is given but must be {'absent with' if self.messages else 'given with'} --messages"
            raise UsageError(message)

    def reading(self, read: ReadOptions) -> ReadOptions:
        """The options of reading. With `--messages`, the default field is `messages`."""
        return replace(read, field="messages") if self.messages and read.field == ReadOptions().field else read


def tokenize_conversations(
    tokenizer: Tokenizer,
    path: str,
    sources: Sequence[Source],
    output: str,
    options: MessageOptions,
    on_error: OnBroken,
    **others: Any,  # noqa: ANN401 (options of `tokenize_message_files`)
) -> TokenFiles:
    """Tokenizes the conversations of sources; `path` is the file of the tokenizer."""
    from lexmill.messages import FORMATS, tokenize_message_files
    from lexmill.messages.tokens import template_of

    given = options.template
    template = template_of(path, given if given is None or given in FORMATS else Path(given))
    return tokenize_message_files(
        tokenizer,
        sources,
        output,
        template,
        mask=options.mask or "assistant",
        loss=(options.loss or LossName.MASK).value,
        on_error=on_error.value,
        num_workers=options.workers or 1,
        **others,
    )


def loss_note(total: dict[str, int]) -> str:
    """The tokens to learn of a run with masks."""
    without = total.get("no_loss_documents", 0)
    told = f", {without:,} conversations without any" if without else ""
    return f"; {total.get('loss_tokens', 0):,} tokens to learn{told}"
