"""Faulty conversations and templates: typed errors with a place and a way on, and no text that is lost in silence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("jinja2")

from lexmill import Tokenizer
from lexmill.errors import FormatError, SkippedRecordsWarning
from lexmill.messages import ChatTemplate, read_conversations, render_messages, tokenize_message_files
from lexmill.sources import JsonLines
from message_runs import byte_level

tokenizer = pytest.fixture(scope="module")(byte_level)

ASK = {"role": "user", "content": "hi"}
ANSWER = {"role": "assistant", "content": "yes"}


def write(path: Path, records: list[Any]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    return path


def read(record: object) -> list[dict[str, Any]]:
    (found,) = read_conversations([record])
    return found.messages


LONG, DEEP = "1" * 5000, "[" * 200_000
IN_STRINGS = {
    "tools, long": ({"messages": [ANSWER], "tools": LONG}, "tools is a string but no JSON: Exceeds the limit"),
    "tools, deep": ({"messages": [ANSWER], "tools": DEEP}, "tools is a string but no JSON: maximum recursion"),
    "documents": ({"messages": [ANSWER], "documents": LONG}, "documents is a string but no JSON"),
    "messages": ({"messages": DEEP}, "messages is a string but no JSON"),
    "call": ({"messages": [{"from": "function_call", "value": LONG}]}, "the value of message 0 is a string but no JS"),
}


class TestJsonInStrings:
    @pytest.mark.parametrize("name", IN_STRINGS)
    def test_refused_json_has_a_place_and_is_skipped(self, tmp_path: Path, tokenizer: Tokenizer, name: str) -> None:
        record, words = IN_STRINGS[name]
        path = write(tmp_path / "chats.jsonl", [{"messages": [ASK, ANSWER]}, record])
        with pytest.raises(FormatError, match=rf"chats\.jsonl, line 2: {words}"):
            list(read_conversations(path))
        with pytest.warns(SkippedRecordsWarning, match="line 2: "):
            assert len(list(read_conversations(JsonLines(path, field="messages", on_error="skip")))) == 1
        with pytest.warns(SkippedRecordsWarning, match="line 2: "):
            files = tokenize_message_files(tokenizer, path, tmp_path / "o", "chatml", on_error="skip")
        assert files.manifest["total"]["documents"] == 1

    def test_escapes_in_escapes_are_checked(self, tmp_path: Path) -> None:
        """A line may have no bracket and no surrogate of its own, but a string of JSON in it may have."""
        for inner, words in [
            (r"\u005b" * 150 + r"\u005d" * 150, "nested more than 100 levels deep"),
            (r"\u005b\u0022\u005cud800\u0022\u005d", r"the lone surrogate U\+D800"),
        ]:
            path = tmp_path / "chats.jsonl"
            path.write_text('{"messages": ' + json.dumps([ANSWER]) + f', "tools": "{inner}"}}\n')
            with pytest.raises(FormatError, match=f"line 1: .*{words}"):
                list(read_conversations(path))

    def test_a_configuration_is_told(self, tmp_path: Path) -> None:
        for text in (LONG, DEEP):
            (tmp_path / "tokenizer_config.json").write_text(text)
            with pytest.raises(FormatError, match=r"tokenizer_config\.json is no JSON"):
                ChatTemplate.from_path(tmp_path)
