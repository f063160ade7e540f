"""Faulty conversations and templates: typed errors with a place and a way on, and no text that is lost in silence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("jinja2")

from lexmill import Tokenizer
from lexmill.errors import FormatError, InvalidUtf8Error, OptionError, SkippedRecordsWarning, TemplateError
from lexmill.messages import (
    FORMATS,
    ChatTemplate,
    read_conversations,
    render_messages,
    tokenize_message_files,
    tokenize_messages,
)
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


LOST: dict[str, tuple[Any, str]] = {
    "content beside from": (
        [{"from": "human", "content": "LOST"}, ANSWER],
        "message 0 mixes two shapes in the fields from, content",
    ),
    "both": ([{"from": "gpt", "value": "a", "content": "LOST"}], "message 0 mixes two shapes in the fields from, val"),
    "value": ([ASK, {"role": "user", "value": "LOST"}], "message 1 has the fields role, value but no content"),
    "text": ([{"role": "user", "text": "LOST"}, ANSWER], "message 0 has the fields role, text but no content"),
    "answer": ([ASK, {"role": "assistant", "text": "LOST"}], "message 1 has the fields role, text but no content"),
    "null": (
        [{"role": "user", "text": "LOST", "content": None}],
        "message 0 has the fields role, text but no content",
    ),
    "nothing": ([{"role": "user"}], "message 0 has the fields role but no content"),
    "no calls": ([{"role": "assistant", "content": None, "tool_calls": []}], "message 0 .* but no content"),
    "no value": ([{"from": "gpt", "text": "LOST"}], "message 0 has the fields from, text but no content"),
    "no call": ([{"from": "function_call", "text": "LOST"}], "message 0 is a function_call but has no value"),
    "two calls": (
        [{"from": "function_call", "value": '{"name": "f"}', "tool_calls": [{"function": {"name": "LOST"}}]}],
        "message 0 mixes two shapes in the fields from, value, tool_calls; give it either from and value, or role and",
    ),
    "parts": (
        {"system": [{"type": "text", "text": "LOST"}], "messages": [ANSWER]},
        "system is a list but must be a text; put it into a message of role system",
    ),
    "number": ({"system": 5, "messages": [ANSWER]}, "system is a int but must be a text"),
    "two systems": (
        {"system": "LOST", "messages": [{"role": "system", "content": "s"}, ANSWER]},
        "a record has a text in system, and another one in message 0, whose role is system; leave one of them out",
    ),
    "two systems of ShareGPT": (
        {"system": "LOST", "conversations": [{"from": "system", "value": "s"}, ANSWER]},
        "a record has a text in system, and another one in message 0",
    ),
}


class TestLostText:
    @pytest.mark.parametrize("name", LOST)
    def test_text_that_no_template_gets_is_an_error(self, tmp_path: Path, name: str) -> None:
        given, words = LOST[name]
        with pytest.raises(FormatError, match=f"conversation 0: {words}"):
            read(given)
        record = given if isinstance(given, dict) else {"messages": given}
        path = write(tmp_path / "chats.jsonl", [record])
        with pytest.raises(FormatError, match=f"line 1: {words}"):
            list(read_conversations(path))

    @pytest.mark.parametrize(
        "message",
        [
            {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "f"}}]},
            {"role": "assistant", "function_call": {"name": "f"}},
            {"role": "assistant", "reasoning": "hm"},
            {"role": "assistant", "tool_plan": "look"},
            {"role": "tool", "tool_responses": [{"name": "f", "response": "x"}]},
            {"role": "user", "content": ""},
            {"role": "user", "content": []},
            {"role": "user", "content": "", "text": "for a template of its own"},
            {"from": "gpt", "value": None, "tool_calls": [{"function": {"name": "f"}}]},
            {"from": "gpt", "value": "x", "content": "x"},
        ],
    )
    def test_messages_without_content_may_have_other_values(self, message: dict[str, Any]) -> None:
        assert len(read([message])) == 1

    def test_a_system_text_goes_before_messages(self) -> None:
        system = {"role": "system", "content": "s"}
        for messages in ([ANSWER], (ANSWER,), [system, ANSWER], [{"from": "system", "value": "s"}, ANSWER]):
            assert read({"system": "s", "messages": messages}) == [system, ANSWER]
        for nothing in (None, ""):
            assert read({"system": nothing, "messages": [system, ANSWER]}) == [system, ANSWER]
            assert read({"system": nothing, "messages": [ANSWER]}) == [ANSWER]

    @pytest.mark.parametrize("name", FORMATS)
    def test_built_in_templates_refuse_documents_calls_and_messages_without_content(self, name: str) -> None:
        with pytest.raises(TemplateError, match="no form for documents; pass the template of the model"):
            render_messages(name, [ASK], documents=[{"text": "LOST"}])
        assert render_messages(name, [ASK], documents=[]).text == render_messages(name, [ASK]).text
        call = {"role": "assistant", "content": "x", "function_call": {"name": "LOST"}}
        with pytest.raises(TemplateError, match="no form for a message of role assistant with a function call"):
            render_messages(name, [ASK, call])
        for other in ({"tool_plan": "LOST"}, {"tools": ["LOST"]}):
            with pytest.raises(TemplateError, match="no form for a message of role assistant without content"):
                render_messages(name, [ASK, {"role": "assistant", **other}])
        thought = {"role": "assistant", "reasoning_content": "LOST"}
        if name in ("gpt-oss", "qwen-3"):
            assert "LOST" in render_messages(name, [ASK, thought]).text
        else:
            with pytest.raises(TemplateError, match="no form for a message of role assistant without content"):
                render_messages(name, [ASK, thought])


NESTED = 300
UNCOMPILED = {
    "{% break %}": "does not compile: line 1: 'break' outside loop",
    "{% for m in messages %}{% block a %}{% break %}{% endblock %}{% endfor %}\n\n\n{{ x }}\n{{ y }}": (
        "does not compile: line 1: 'break' outside loop"
    ),
    "a\n{% if 1 %}\n\n{% continue %}{% endif %}": "does not compile: line 4: 'continue' not properly in loop",
    "{% if 1 %}" * NESTED + "{% endif %}" * NESTED: "does not compile: it is nested too deeply",
    "{{ " + "(" * NESTED + "1" + ")" * NESTED + " }}": "does not compile: it is nested too deeply",
    "{{ " + "[" * NESTED + "1" + "]" * NESTED + " }}": "does not compile: it is nested too deeply",
    "{% for m in messages %}" * 30 + "{% endfor %}" * 30: "does not compile: line 1: too many statically nested blocks",
    "{{ " + "1" * 5000 + " }}": "does not compile: Exceeds the limit",
}


class TestTemplates:
    @pytest.mark.parametrize("template", UNCOMPILED, ids=range(len(UNCOMPILED)))
    def test_templates_that_do_not_compile(self, tmp_path: Path, tokenizer: Tokenizer, template: str) -> None:
        path = write(tmp_path / "chats.jsonl", [{"messages": [ASK, ANSWER]}])
        words = f"^the chat template {UNCOMPILED[template]}"
        with pytest.raises(TemplateError, match=words):
            render_messages(template, [ASK])
        with pytest.raises(TemplateError, match=words):
            tokenize_messages(tokenizer, [[ASK]], template)
        with pytest.raises(TemplateError, match=words):
            tokenize_message_files(tokenizer, path, tmp_path / "o", template, on_error="skip")
        for name in ("has_generation", "is_random"):
            with pytest.raises(TemplateError, match=words):
                getattr(ChatTemplate(template), name)


PARTS = {
    "null": ({"type": "text", "text": None}, "a part of type 'text' in its content whose text is null"),
    "missing": ({"type": "text"}, "a part of type 'text' in its content that has no text"),
    "number": (
        {"type": "text", "text": 3},
        "a part of type 'text' in its content whose text is a int but must be a str",
    ),
    "other": ({"type": "image_url"}, "a part of type 'image_url' in its content, but only parts of type 'text' are"),
}


@pytest.mark.parametrize("name", PARTS)
def test_the_fault_of_a_part_is_named(name: str) -> None:
    part, words = PARTS[name]
    with pytest.raises(FormatError, match=f"^conversation 0: message 1 has {words}"):
        read([ASK, {"role": "user", "content": [{"type": "text", "text": "a"}, part]}])


def test_bytes_that_are_not_utf_8_have_a_way_on(tmp_path: Path, tokenizer: Tokenizer) -> None:
    path = tmp_path / "chats.jsonl"
    path.write_bytes(b'{"messages": [{"role": "assistant", "content": "a\xff"}]}\n')
    words = (
        r"chats\.jsonl is not valid UTF-8 at byte 49; to read such bytes as U\+FFFD, pass "
        r"lexmill\.sources\.JsonLines\(path, field='messages', errors=\"replace\"\) instead of the path"
    )
    for given in (path, JsonLines(path, field="messages", on_error="skip")):
        with pytest.raises(InvalidUtf8Error, match=words):
            tokenize_message_files(tokenizer, given, tmp_path / "o", "chatml", overwrite=True)
        with pytest.raises(InvalidUtf8Error, match=words):
            tokenize_messages(tokenizer, given, "chatml")
    replaced = JsonLines(path, field="messages", errors="replace")
    assert tokenize_messages(tokenizer, replaced, "chatml", return_texts=True).texts == [
        "<|im_start|>assistant\na\ufffd<|im_end|>\n"
    ]
    assert len(tokenize_message_files(tokenizer, replaced, tmp_path / "o", "chatml", overwrite=True)) == 1


@pytest.mark.parametrize(
    "surrogate", [r"{{ '\ud800' }}", "\ud800", "{{ '%c' % 55296 }}"], ids=["escape", "literal", "number"]
)
def test_a_surrogate_of_the_template_is_told(tmp_path: Path, tokenizer: Tokenizer, surrogate: str) -> None:
    template = f"{{% for m in messages %}}{{{{ m.content }}}}{{% if loop.last and loop.length == 2 %}}{surrogate}"
    template += "{% endif %}{% endfor %}"
    words = r"the chat template writes the lone surrogate U\+D800 at character 5, which UTF-8 cannot express"
    with pytest.raises(TemplateError, match=f"^{words}"):
        render_messages(template, [ASK, ANSWER])
    chats = [[ANSWER]] * 5 + [[ASK, ANSWER]]
    with pytest.raises(TemplateError, match=f"^conversation 5: {words}"):
        tokenize_messages(tokenizer, chats, template)
    with pytest.warns(SkippedRecordsWarning, match="conversation 5: "):
        assert len(tokenize_messages(tokenizer, chats, template, on_error="skip")) == 5
    path = write(tmp_path / "chats.jsonl", [{"messages": one} for one in chats])
    with pytest.raises(TemplateError, match=f"line 6: {words}"):
        tokenize_message_files(tokenizer, path, tmp_path / "o", template)


@pytest.mark.parametrize("name", [1, None])
def test_names_of_variables_are_texts(tmp_path: Path, tokenizer: Tokenizer, name: Any) -> None:
    words = f"variables has the name {name} of type {type(name).__name__}, but a name must be a str"
    path = write(tmp_path / "chats.jsonl", [{"messages": [ASK, ANSWER]}])
    with pytest.raises(OptionError, match=words):
        render_messages("chatml", [ASK], variables={name: 2})
    with pytest.raises(OptionError, match=words):
        tokenize_messages(tokenizer, [[ASK]], "chatml", variables={name: 2})
    with pytest.raises(OptionError, match=words):
        tokenize_message_files(tokenizer, path, tmp_path / "o", "chatml", variables={name: 2})
