"""`lexmill tokenize --messages`: the files of the library, with the template beside the tokenizer or another one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("jinja2")

from command_line import Run
from lexmill import Tokenizer, open_tokens
from lexmill.messages import tokenize_messages
from message_runs import Rows, as_lines, byte_level, conversations, rows_in, rows_of, write_chats

CHATS = conversations(40)
TEMPLATE = "{% for m in messages %}{{ m.role }}:{{ m.content }};{% endfor %}"


@pytest.fixture
def tokenizer() -> Tokenizer:
    made = byte_level()
    made.save("tokenizer.json")
    write_chats(Path("in.jsonl"), CHATS)
    Path("named.jsonl").write_bytes(as_lines([{"chat": chat} for chat in CHATS]))
    return made


def expected(tokenizer: Tokenizer, template: str, mask: str | list[str] = "assistant") -> Rows:
    return rows_of(tokenize_messages(tokenizer, CHATS, template, mask=mask))


def test_the_template_beside_the_tokenizer(lexmill: Run, tokenizer: Tokenizer) -> None:
    Path("chat_template.jinja").write_text(TEMPLATE)
    result = lexmill("tokenize", "tokenizer.json", "in.jsonl", "-o", "out", "--messages")
    assert (result.code, result.stderr) == (0, "")
    assert rows_in(open_tokens("out")) == expected(tokenizer, TEMPLATE)


def test_options(lexmill: Run, tokenizer: Tokenizer) -> None:
    roles = ("--mask", "user", "--mask", "assistant")
    files = ("named.jsonl", "--field", "chat", "-o", "out", "--format", "arrow", "--loss", "ranges", "--workers", "2")
    outcome = lexmill(
        "tokenize", "tokenizer.json", *files, "--messages", "--template", "chatml", *roles, "--json"
    ).outcome
    found = open_tokens("out")
    wanted = expected(tokenizer, "chatml", ["user", "assistant"])
    assert rows_in(found) == wanted
    assert found.manifest["options"]["messages"]["loss"] == "ranges"
    assert outcome["loss_tokens"] == sum(sum(mask) for _, mask in wanted)
    Path("own.jinja").write_text(TEMPLATE)
    own = lexmill("tokenize", "tokenizer.json", "in.jsonl", "-o", "own", "--messages", "--template", "own.jinja")
    assert (own.code, own.stderr) == (0, "")
    assert rows_in(open_tokens("own")) == expected(tokenizer, TEMPLATE)


@pytest.mark.usefixtures("tokenizer")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--template", "chatml"], "--template is given but must be given with --messages"),
        (["--mask", "user"], "--mask is given but must be given with --messages"),
        (["--loss", "mask"], "--loss is given but must be given with --messages"),
        (["--workers", "1"], "--workers is given but must be given with --messages"),
        (["--messages", "--end-token", "1"], "--end-token is given but must be absent with --messages"),
        (["--messages", "--no-special-tokens"], "--no-special-tokens is given but must be absent with --messages"),
        (["--messages", "--offsets"], "--offsets is given but must be absent with --messages"),
    ],
)
def test_options_that_do_not_fit(lexmill: Run, options: list[str], message: str) -> None:
    result = lexmill("tokenize", "tokenizer.json", "in.jsonl", "-o", "out", *options)
    assert (result.code, result.stderr) == (2, f"error: {message}\n")
    assert not Path("out").exists()


@pytest.mark.usefixtures("tokenizer")
def test_errors_name_the_line(lexmill: Run) -> None:
    Path("broken.jsonl").write_bytes(as_lines([{"messages": CHATS[0]}, {"messages": []}]))
    command = ("tokenize", "tokenizer.json", "broken.jsonl", "-o", "out", "--messages", "--template", "chatml")
    result = lexmill(*command)
    assert (result.code, result.stderr) == (1, "error: broken.jsonl, line 2: a conversation has no messages\n")
    skipping = lexmill(*command, "--on-error", "skip", "--resume", "--json")
    assert skipping.outcome["skipped"] == 1
    assert "line 2: a conversation has no messages" in skipping.stderr
    assert json.loads(Path("out/manifest.json").read_text())["total"]["documents"] == 1


@pytest.mark.usefixtures("tokenizer")
def test_a_missing_template_is_named(lexmill: Run) -> None:
    result = lexmill("tokenize", "tokenizer.json", "in.jsonl", "-o", "out", "--messages")
    assert result.code == 1
    assert "has no chat template" in result.stderr
