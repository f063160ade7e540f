"""Conversations by recordings and without: both must give the same text and the same ranges to learn."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from lexmill.errors import SpanError, TemplateError
from lexmill.messages import ChatTemplate
from lexmill.messages._masks import TextToLearn

__all__ = ["NOW", "check_replays"]

NOW = datetime(2026, 1, 2)


def outcome(chosen: TextToLearn, given: Any, *, is_recorded: bool) -> object:
    try:
        if is_recorded:
            return chosen.ranges(given, NOW)
        rendered = chosen._rendered(given, NOW)
    except (SpanError, TemplateError) as error:
        return type(error)
    return rendered.text, rendered.ranges


def check_replays(chosen: TextToLearn, template: ChatTemplate, batch: list[Any]) -> None:
    """Compares the text and the ranges of each conversation with the ones that the template itself gives."""
    for given in batch:
        expected = outcome(chosen, given, is_recorded=False)
        found = outcome(chosen, given, is_recorded=True)
        if isinstance(expected, tuple):
            expected = (chosen.renderer._render(template.plain, given.messages, given, NOW), expected[1])
        assert found == expected
