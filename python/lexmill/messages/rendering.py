"""From messages to text, with the spans of messages in it.

The rule of spans and the argument for it: docs/algorithms/message-spans.md.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from lexmill.errors import LexmillError, OptionError, SpanError, TemplateError
from lexmill.messages._spans import Layout, Turn, layout_of, shared_length
from lexmill.messages._steps import LostTrackError
from lexmill.messages.conversations import (
    Conversation,
    lone_surrogate,
    plain_conversation,
    plain_variables,
    tracked_messages,
)
from lexmill.messages.template import ChatTemplate

__all__ = ["RenderedMessages", "Renderer", "Span", "Turn", "render_messages"]

_ARGUMENTS = frozenset(["messages", "tools", "documents", "add_generation_prompt", "strftime_now"])
_PROBE = Conversation([{"role": "user", "content": "x"}])


class Span(NamedTuple):
    """Characters of the rendered text that come from a field of a message; half-open."""

    start: int
    end: int
    message: int
    field: str


@dataclass(frozen=True)
class RenderedMessages:
    """The text of a conversation, and where its messages are.

    Attributes:
        text: exactly the text that the template gives.
        spans: the characters that come from messages, in order. A content that the template cuts has several spans,
            and one that it leaves out has none; an empty one has a span without characters.
        turns: the text of each message with the template's own around it, in order.
        generation: the characters within `{% generation %}` blocks; None if the template has none.
    """

    text: str
    spans: tuple[Span, ...]
    turns: tuple[Turn, ...]
    generation: tuple[tuple[int, int], ...] | None

    def content(self, message: int) -> tuple[tuple[int, int], ...]:
        """The spans of a message's content."""
        return tuple((one.start, one.end) for one in self.spans if (one.message, one.field) == (message, "content"))


def render_messages(
    template: ChatTemplate | str | os.PathLike[str],
    messages: Sequence[Mapping[str, Any]],
    *,
    tools: Sequence[Mapping[str, Any]] | None = None,
    documents: Sequence[Mapping[str, Any]] | None = None,
    add_generation_prompt: bool = False,
    variables: Mapping[str, Any] | None = None,
    now: datetime | None = None,
) -> RenderedMessages:
    """Renders a conversation, and says which characters come from which message.

    Args:
        template: a `ChatTemplate`, the text of one, the name of a built-in one, or a `Path` of a tokenizer's folder.
        messages: dictionaries with `role` and `content`, as OpenAI has them.
        tools: JSON schemas of tools.
        documents: dictionaries with `title` and `text`.
        add_generation_prompt: ends the text with the beginning of an answer.
        variables: further variables of the template, such as `enable_thinking`; they override the variables of the
            `ChatTemplate`.
        now: the time for `strftime_now`; by default the present.

    Raises:
        TemplateError: the template does not compile, fails, or refuses the conversation.
        SpanError: the text of a message cannot be followed; the message names the operation of the template.
        FormatError: a message has no role, or a content other than text.
        InputTypeError: a value has a type that JSON does not have.
        LexmillError: jinja2, which the extra `lexmill[messages]` brings, is not installed.
    """
    renderer = Renderer(ChatTemplate.of(template), add_generation_prompt=add_generation_prompt, variables=variables)
    given = plain_conversation(messages, tools, documents)
    text, layout = renderer.layout(given, now)
    return RenderedMessages(
        text,
        tuple(Span(start, end, origin.message, origin.field) for start, end, origin in layout.spans),
        layout.turns,
        layout.generation if renderer.template.has_generation else None,
    )


class Renderer:
    """A template with its options, for many conversations."""

    def __init__(
        self,
        template: ChatTemplate,
        *,
        add_generation_prompt: bool = False,
        variables: Mapping[str, Any] | None = None,
    ) -> None:
        """Compiles the template.

        Raises:
            TemplateError: it does not compile.
            InputTypeError: a variable is no value of JSON.
            OptionError: a variable has the name of an argument.
        """
        given = plain_variables(variables)
        for name in _ARGUMENTS.intersection(given):
            message = f"variables has {name}, which is an argument of its own"
            raise OptionError(message)
        self.template = template
        self.add_generation_prompt = add_generation_prompt
        self._variables = {**plain_variables(template.variables), **given}
        self._plain, self._tracking = template.plain, template.tracking
        self._prompt: str | None = None

    @property
    def prompt(self) -> str:
        """The text that `add_generation_prompt` adds, after a message of a user; empty if there is none."""
        if self._prompt is None:
            now = datetime.now()
            try:
                with_prompt = self._render(self._plain, _PROBE.messages, _PROBE, now, prompt=True)
                without = self._render(self._plain, _PROBE.messages, _PROBE, now, prompt=False)
            except TemplateError:
                with_prompt = without = ""
            self._prompt = with_prompt[shared_length(with_prompt, without) :]
        return self._prompt

    def layout(self, given: Conversation, now: datetime | None = None) -> tuple[str, Layout]:
        """The text, and where its messages are.

        Raises:
            SpanError: the text of a message cannot be followed.
            TemplateError: the template fails.
        """
        text = self._followed(tracked_messages(given.messages), given, now or datetime.now())
        has_prompt = self.add_generation_prompt
        return str.__str__(text), layout_of(text, given.messages, self.prompt, has_prompt=has_prompt)

    def generation(self, given: Conversation, now: datetime | None = None) -> tuple[str, tuple[tuple[int, int], ...]]:
        """The text, and the ranges of its `generation` blocks; quicker than `layout`.

        Raises:
            SpanError: a block cannot be followed.
            TemplateError: the template fails.
        """
        text = self._followed(given.messages, given, now or datetime.now())
        return str.__str__(text), layout_of(text, given.messages, "", has_prompt=True).generation

    def _followed(self, messages: list[dict[str, Any]], given: Conversation, now: datetime) -> str:
        """The text of messages, followed through the template; the same characters as the plain text.

        Raises:
            SpanError: it has others.
        """
        followed = self._render(self._tracking, messages, given, now)
        self.compare(followed, given, now)
        return followed

    def compare(self, followed: str, given: Conversation, now: datetime) -> None:
        """Compares a text with the text that the template gives without regard to origins.

        Raises:
            SpanError: it is another.
            TemplateError: the template fails, or writes a lone surrogate.
        """
        text = self._render(self._plain, given.messages, given, now)
        if followed != text:
            at = shared_length(followed, text)
            message = (
                f"{self.template.name} gives another text where its operations are followed, from character {at:,} on: "
                f"{text[at : at + 20]!r} became {followed[at : at + 20]!r}"
            )
            raise SpanError(message)
        surrogate = lone_surrogate(text)
        if surrogate:
            message = f"{self.template.name} writes {surrogate}"
            raise TemplateError(message)

    def watched(self, given: Conversation, now: datetime) -> str:
        """The text of a conversation with watched values.

        Raises:
            LostTrackError: the template does something with a value that is not recorded.
            TemplateError: the template fails.
        """
        return self._render(self.template.watching, given.messages, given, now)

    def _render(
        self,
        compiled: Any,  # noqa: ANN401 (a template of Jinja, which may be absent)
        messages: list[dict[str, Any]],
        given: Conversation,
        now: datetime,
        *,
        prompt: bool | None = None,
    ) -> str:
        try:
            made: str = compiled.render(
                strftime_now=now.strftime,
                **self._variables,
                messages=messages,
                tools=given.tools,
                documents=given.documents,
                add_generation_prompt=self.add_generation_prompt if prompt is None else prompt,
            )
        except (LexmillError, LostTrackError):
            raise
        # A template is a program: it may divide by zero, or ask a text for a key.
        except Exception as error:
            message = f"{self.template.name} fails: {str(error) or type(error).__name__}"
            raise TemplateError(message) from error
        return made
