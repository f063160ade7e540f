"""Conversations to ids and masks: roles, borders, files and tables."""

from __future__ import annotations

import gzip
import json
import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("jinja2")

import lexmill.messages
from lexmill import Tokenizer, models, pre_tokenizers, processors
from lexmill.errors import (
    FileError,
    FormatError,
    InputTypeError,
    InvalidUtf8Error,
    LexmillError,
    NoLossWarning,
    OptionError,
    SkippedRecordsWarning,
    SpanError,
    TemplateError,
)
from lexmill.messages import ChatTemplate, MessageTokens, iter_message_tokens, read_conversations, tokenize_messages
from lexmill.sources import Arrow, ArrowStream, JsonLines, Lines, Parquet

CHAT = [
    {"role": "system", "content": "s"},
    {"role": "user", "content": "ab"},
    {"role": "assistant", "content": "cd"},
    {"role": "user", "content": ""},
    {"role": "assistant", "content": "e"},
]
TEMPLATE = (
    "{% for m in messages %}{{ m.role[0] }}:{{ m.content }};\n{% endfor %}{% if add_generation_prompt %}a:{% endif %}"
)
MARKED = TEMPLATE.replace(
    "{{ m.content }}",
    "{% if m.role == 'assistant' %}{% generation %}{{ m.content }}{% endgeneration %}"
    "{% else %}{{ m.content }}{% endif %}",
)


@pytest.fixture(scope="module")
def letters() -> Tokenizer:
    """A token for each character."""
    vocab = {chr(code): code - 32 for code in range(32, 127)} | {"\n": 95, "<unk>": 96}
    tokenizer = Tokenizer(models.WordLevel(vocab, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    return tokenizer


def learned(tokens: MessageTokens, tokenizer: Tokenizer, row: int = 0) -> str:
    begin, end = tokens.row_splits[row : row + 2]
    ids, mask = tokens.ids[begin:end], tokens.loss_mask[begin:end]
    return "".join(tokenizer.id_to_token(int(one)) or "" if on else "_" for one, on in zip(ids, mask, strict=True))


def test_the_mask_of_assistants(letters: Tokenizer) -> None:
    tokens = tokenize_messages(letters, [CHAT], TEMPLATE, return_texts=True)
    assert tokens.texts == ["s:s;\nu:ab;\na:cd;\nu:;\na:e;\n"]
    assert learned(tokens, letters) == "_____" + "______" + "__cd;_" + "____" + "__e;_"
    assert (tokens.ids.dtype, tokens.loss_mask.dtype, tokens.row_splits.dtype) == (np.uint16, np.uint8, np.int64)
    assert tokens.row_splits.tolist() == [0, 26]
    assert tokens.straddling.tolist() == [0]


@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        ("user", "_______ab;_________;______"),
        (["user", "system"], "__s;___ab;_________;______"),
        (("assistant", "user"), "_______ab;___cd;___;___e;_"),
        (lambda number, message: number == 4, "_" * 23 + "e;_"),
        (lambda number, message: message["content"] == "ab", "_______ab;" + "_" * 16),
    ],
)
def test_masks_of_other_turns(letters: Tokenizer, mask: Any, expected: str) -> None:
    assert learned(tokenize_messages(letters, [CHAT], TEMPLATE, mask=mask), letters) == expected


def test_blocks_come_before_turns(letters: Tokenizer) -> None:
    assert learned(tokenize_messages(letters, [CHAT], MARKED), letters) == "_" * 13 + "cd________e__"
    last = tokenize_messages(letters, [CHAT], MARKED, mask=lambda number, _: number in (1, 4))
    assert learned(last, letters) == "_______ab;_____________e__"


def test_conversations_without_a_loss_are_told(letters: Tokenizer) -> None:
    with pytest.warns(NoLossWarning, match="the conversation has no token to learn: the chat template writes no text"):
        tokenize_messages(letters, [CHAT], TEMPLATE, mask=[])
    # The words of another role are a usual mistake.
    with pytest.warns(NoLossWarning, match="none of 3 conversations has a token to learn"):
        list(iter_message_tokens(letters, [CHAT] * 3, TEMPLATE, mask="model", batch_size=2))
    prompt = tokenize_messages(letters, [CHAT[:2]], TEMPLATE, add_generation_prompt=True)
    assert prompt.loss_mask.sum() == 0
    assert len(tokenize_messages(letters, [CHAT, CHAT[:2]], TEMPLATE)) == 2


def test_masks_are_checked(letters: Tokenizer) -> None:
    with pytest.raises(InputTypeError, match="mask is 3 but must be"):
        tokenize_messages(letters, [CHAT], TEMPLATE, mask=3)  # type: ignore[arg-type]


def test_labels_and_ranges(letters: Tokenizer) -> None:
    tokens = tokenize_messages(letters, [CHAT, CHAT[:2], CHAT[1:3]], TEMPLATE)
    assert len(tokens) == 3
    labels = tokens.labels()
    assert labels.dtype == np.int64
    assert labels[13:16].tolist() == tokens.ids[13:16].tolist()
    assert set(labels[tokens.loss_mask == 0].tolist()) == {-100}
    ranges, splits = tokens.ranges()
    assert ranges.tolist() == [[13, 16], [23, 25], [8, 11]]
    assert splits.tolist() == [0, 2, 2, 3]
    # Two rows that are learned up to their border.
    ids = np.arange(4, dtype=np.uint16)
    both = MessageTokens(ids, np.ones(4, np.uint8), np.array([0, 0, 2, 4, 4]), np.zeros(4, np.int64))
    assert [part.tolist() for part in both.ranges()] == [[[0, 2], [0, 2]], [0, 0, 1, 2, 2]]


def test_tokens_over_a_border_are_learned_and_counted() -> None:
    vocab = {token: at for at, token in enumerate(["<unk>", "a", ":", "b", ";", "\n", "u", ":b", ";\n", "s"])}
    tokenizer = Tokenizer(models.BPE(vocab, [(":", "b"), (";", "\n")], unk_token="<unk>"))
    tokens = tokenize_messages(tokenizer, [[{"role": "assistant", "content": "bb"}]], TEMPLATE)
    assert [tokenizer.id_to_token(int(one)) for one in tokens.ids] == ["a", ":b", "b", ";\n"]
    assert (tokens.loss_mask.tolist(), tokens.straddling.tolist()) == ([0, 1, 1, 1], [2])


def test_a_token_around_a_gap_straddles() -> None:
    tokenizer = Tokenizer(models.WordLevel({"<unk>": 0, "abc": 1}, unk_token="<unk>"))
    template = (
        "{% for m in messages %}{% generation %}{{ m.content }}{% endgeneration %}b"
        "{% generation %}c{% endgeneration %}{% endfor %}"
    )
    tokens = tokenize_messages(tokenizer, [[{"role": "assistant", "content": "a"}]], template)
    assert (tokens.ids.tolist(), tokens.loss_mask.tolist(), tokens.straddling.tolist()) == ([1], [1], [1])


def test_blanks_are_learned_where_offsets_are_trimmed() -> None:
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({token: at for at, token in enumerate(alphabet)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=True)
    tokens = tokenize_messages(tokenizer, [[{"role": "assistant", "content": "  x "}]], TEMPLATE)
    assert tokens.loss_mask.tolist() == [0, 0, 1, 1, 1, 1, 1, 0]


def test_no_conversations(letters: Tokenizer) -> None:
    tokens = tokenize_messages(letters, [], TEMPLATE, return_texts=True)
    assert (len(tokens), len(tokens.ids), tokens.row_splits.tolist(), tokens.texts) == (0, 0, [0], [])
    assert tokens.ranges()[0].shape == (0, 2)


def test_batches_are_the_whole(letters: Tokenizer) -> None:
    chats = [CHAT[:length] for length in (5, 3, 1, 2, 4)]
    whole = tokenize_messages(letters, chats, TEMPLATE)
    batches = list(iter_message_tokens(letters, iter(chats), TEMPLATE, batch_size=2))
    assert [len(one) for one in batches] == [2, 2, 1]
    assert np.concatenate([one.ids for one in batches]).tolist() == whole.ids.tolist()
    assert np.concatenate([one.loss_mask for one in batches]).tolist() == whole.loss_mask.tolist()
    assert sum(len(one.ids) for one in batches) == whole.row_splits[-1]
    with pytest.raises(OptionError, match="batch_size is 0"):
        next(iter_message_tokens(letters, chats, TEMPLATE, batch_size=0))


def test_refused_conversations_have_a_place(letters: Tokenizer) -> None:
    chats = [CHAT, [CHAT[1], CHAT[1]], [CHAT[2], CHAT[2], CHAT[2]]]
    strict = "{% if messages|length == 2 %}{{ raise_exception('two') }}{% endif %}" + TEMPLATE
    with pytest.raises(TemplateError, match=r"^conversation 1: the chat template fails: two$"):
        tokenize_messages(letters, chats, strict)
    with pytest.warns(SkippedRecordsWarning, match="a record was left out: conversation 1: ") as caught:
        tokens = tokenize_messages(letters, chats, strict, on_error="skip")
    assert (len(tokens), caught[0].message.records) == (2, 1)  # type: ignore[union-attr]
    losing = "{% for m in messages %}{{ m.content|pprint if loop.index0 == 2 else m.content }}{% endfor %}"
    with pytest.raises(SpanError, match=r"^conversation 0: .* filter pprint"):
        tokenize_messages(letters, chats, losing)
    with pytest.warns(SkippedRecordsWarning, match="2 records were left out"):
        assert len(tokenize_messages(letters, chats, losing, mask="user", on_error="skip")) == 1


def test_results_do_not_depend_on_batches_or_threads(letters: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    chats = [CHAT[: 1 + number % 5] for number in range(2500)]
    one = tokenize_messages(letters, chats, TEMPLATE, num_threads=1)
    two = tokenize_messages(letters, chats, TEMPLATE, num_threads=2)
    for name in ("ids", "loss_mask", "row_splits", "straddling"):
        assert (getattr(one, name) == getattr(two, name)).all()
    assert learned(one, letters, 2004) == learned(tokenize_messages(letters, [CHAT], TEMPLATE), letters)


def test_unclear_turns_are_refused_if_they_are_wanted(letters: Tokenizer) -> None:
    outside = "{% for m in messages[:-1] %}{{ m.content }}{% endfor %}{{ messages[-1].content }}"
    with pytest.raises(SpanError, match=r"writes message 4 outside of a loop over messages; mark the text to learn by"):
        tokenize_messages(letters, [CHAT], outside)
    assert learned(tokenize_messages(letters, [CHAT], outside, mask="system"), letters) == "s_____"
    # A text that the template leaves out is no text to learn.
    first = "{% for m in messages[:3] %}{{ m.content }}{% endfor %}"
    assert learned(tokenize_messages(letters, [CHAT], first), letters) == "___cd"
    within = "{% for m in messages if m.role == 'assistant' %}{{ m.content + messages[1].content }};{% endfor %}"
    with pytest.raises(SpanError, match="writes message 1 within the turn of message 2"):
        tokenize_messages(letters, [CHAT], within)


class TestTokenizers:
    def test_paths_bring_their_template(self, letters: Tokenizer, tmp_path: Path) -> None:
        letters.save(tmp_path / "tokenizer.json")
        with pytest.raises(FileError, match="has no chat template"):
            tokenize_messages(tmp_path, [CHAT])
        (tmp_path / "chat_template.jinja").write_text(TEMPLATE)
        expected = tokenize_messages(letters, [CHAT], TEMPLATE)
        for given in (tmp_path, str(tmp_path), tmp_path / "tokenizer.json"):
            assert tokenize_messages(given, [CHAT]).loss_mask.tolist() == expected.loss_mask.tolist()

    def test_paths_bring_their_special_tokens(self, letters: Tokenizer, tmp_path: Path) -> None:
        letters.save(tmp_path / "tokenizer.json")
        (tmp_path / "special_tokens_map.json").write_text('{"bos_token": "b", "eos_token": "e"}')
        (tmp_path / "tokenizer_config.json").write_text('{"eos_token": "E"}')
        template = ChatTemplate("{{ bos_token }}{{ eos_token }}{{ pad_token }}", {"pad_token": "p"})
        prompt: dict[str, Any] = {"add_generation_prompt": True, "return_texts": True}
        assert tokenize_messages(tmp_path, [CHAT], template, **prompt).texts == ["bEp"]
        # Its own come first.
        own = ChatTemplate(template.text, {"bos_token": "x"})
        assert tokenize_messages(tmp_path, [CHAT], own, **prompt).texts == ["xE"]
        assert tokenize_messages(tmp_path, [CHAT], own, variables={"bos_token": "y"}, **prompt).texts == ["yE"]

    def test_objects_do_not(self, letters: Tokenizer) -> None:
        with pytest.raises(OptionError, match="template is not given: a Tokenizer does not hold one"):
            tokenize_messages(letters, [CHAT])
        with pytest.raises(InputTypeError, match="tokenizer is a int"):
            tokenize_messages(3, [CHAT], TEMPLATE)  # type: ignore[arg-type]


RECORDS = [
    {"messages": CHAT, "id": 1},
    {"conversations": [{"from": "human", "value": "x"}, {"from": "gpt", "value": "y"}], "system": "be"},
    {"messages": CHAT[:2], "tools": [{"name": "f"}]},
]


class TestSources:
    def write(self, path: Path, records: list[Any]) -> Path:
        path.write_text("".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in records))
        return path

    def test_json_lines(self, tmp_path: Path) -> None:
        path = self.write(tmp_path / "chats.jsonl", [*RECORDS, ""])
        found = list(read_conversations(JsonLines(path, field="messages")))
        assert [len(one.messages) for one in found] == [5, 3, 2]
        assert found[1].messages[0] == {"role": "system", "content": "be"}
        assert found[2].tools == [{"name": "f"}]
        assert list(read_conversations(path)) == list(read_conversations(str(path))) == found
        assert list(read_conversations(RECORDS)) == found
        (tmp_path / "packed").mkdir()
        packed = tmp_path / "packed" / "chats.jsonl.gz"
        packed.write_bytes(gzip.compress(path.read_bytes()))
        assert list(read_conversations(packed.parent)) == found

    def test_fields_within_fields(self, tmp_path: Path) -> None:
        path = self.write(tmp_path / "chats.jsonl", [{"a": {"chat": CHAT, "tools": [{"name": "f"}]}}])
        (found,) = read_conversations(JsonLines(path, field="a.chat"))
        assert (len(found.messages), found.tools) == (5, [{"name": "f"}])
        with pytest.raises(FormatError, match=r"line 1: no field 'b'"):
            list(read_conversations(JsonLines(path, field="b.chat")))

    def test_broken_records_have_a_place(self, tmp_path: Path) -> None:
        broken = [
            "{",
            {"text": "x"},
            {"messages": [{"role": "user", "content": 3}]},
            "[1]",
            {"messages": CHAT},
            "1e999999",
        ]
        no_field = "the fields text but must have one in messages"
        words = ["no JSON", no_field, "type int", "message 0 is a int", None, "a float"]
        for line, word in zip(broken, words, strict=True):
            path = self.write(tmp_path / "one.jsonl", [{"messages": CHAT}, line])
            if word is None:
                continue
            with pytest.raises(FormatError, match=rf"one\.jsonl, line 2: .*{word}"):
                list(read_conversations(path))
        path = self.write(tmp_path / "all.jsonl", broken)
        with pytest.warns(SkippedRecordsWarning, match="5 records were left out: .*, line 1: no JSON") as caught:
            assert len(list(read_conversations(JsonLines(path, field="messages", on_error="skip")))) == 1
        assert caught[0].message.records == 5  # type: ignore[union-attr]
        with pytest.raises(FormatError, match=r"^conversation 1: a conversation has no messages"):
            list(read_conversations([CHAT, []]))
        (tmp_path / "latin.jsonl").write_bytes(b"\xff\n")
        with pytest.raises(InvalidUtf8Error):
            list(read_conversations(tmp_path / "latin.jsonl"))

    def test_other_things_are_refused(self, tmp_path: Path) -> None:
        (tmp_path / "x.txt").write_text("x")
        with pytest.raises(OptionError, match="holds texts, but conversations are read from JsonLines"):
            list(read_conversations(Lines(tmp_path / "x.txt")))
        with pytest.raises(InputTypeError, match="conversations are a dict"):
            list(read_conversations({"messages": CHAT}))
        with pytest.raises(FileError):
            list(read_conversations(tmp_path / "absent.jsonl"))

    def test_tables(self, tmp_path: Path, letters: Tokenizer) -> None:
        pa = pytest.importorskip("pyarrow")
        parquet, feather = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow.feather")
        call = {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": '{"x": 1}'}}]}
        chats = [CHAT[:number] for number in range(1, 6)] * 200 + [[*CHAT, call]]
        table = pa.table({"messages": chats, "n": range(len(chats)), "tools": ['[{"name": "f"}]'] * len(chats)})
        parquet.write_table(table, tmp_path / "chats.parquet", row_group_size=300)
        feather.write_feather(table, tmp_path / "chats.arrow", compression="zstd")
        with pa.OSFile(str(tmp_path / "stream.arrow"), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
            writer.write_table(table, 70)
        given = [
            Parquet(tmp_path / "chats.parquet", column="messages"),
            Arrow(tmp_path / "chats.arrow", column="messages"),
            Arrow(tmp_path / "stream.arrow", column="messages"),
            ArrowStream(table, column="messages"),
            tmp_path / "chats.parquet",
        ]
        expected = tokenize_messages(letters, chats, TEMPLATE)
        for source in given:
            found = list(read_conversations(source))
            assert found[3].tools == [{"name": "f"}]
            # Columns have all fields in all rows; fields without a value are absent.
            assert found[0].messages == CHAT[:1]
            tokens = tokenize_messages(letters, source, TEMPLATE)
            assert tokens.ids.tolist() == expected.ids.tolist()
            assert tokens.loss_mask.tolist() == expected.loss_mask.tolist()
        strings = pa.table({"chat": [json.dumps(CHAT), "{"]})
        with pytest.raises(FormatError, match="the table, row 1: chat is a string but no JSON"):
            list(read_conversations(ArrowStream(strings, column="chat")))
        with pytest.raises(OptionError, match="a column of the table itself"):
            list(read_conversations(ArrowStream(strings, column="a.chat")))
        with pytest.raises(FormatError, match="row 0: a record has values in the fields"):
            list(read_conversations(ArrowStream(strings, column="messages")))

    def test_broken_tables(self, tmp_path: Path) -> None:
        pytest.importorskip("pyarrow")
        for name in ("x.parquet", "x.arrow"):
            (tmp_path / name).write_bytes(b"PAR1 and no more")
            with pytest.raises(FormatError, match=rf"x\.{name[2:]}"):
                list(read_conversations(tmp_path / name))

    def test_pyarrow_is_named(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "x.parquet").write_bytes(b"")
        for name in ("pyarrow", "pyarrow.parquet"):
            monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(LexmillError, match="need the package pyarrow: pip install pyarrow"):
            list(read_conversations(tmp_path / "x.parquet"))

    def test_arrow_tables_are_given(self, letters: Tokenizer) -> None:
        pytest.importorskip("pyarrow")
        tokens = tokenize_messages(letters, [CHAT, CHAT[:1]], TEMPLATE)
        table = tokens.to_arrow()
        assert table.column_names == ["input_ids", "loss_mask"]
        assert table["input_ids"].to_pylist()[1] == tokens.ids[26:].tolist()
        assert table["loss_mask"].to_pylist()[0] == tokens.loss_mask[:26].tolist()
        assert tokens.to_arrow(labels=True)["labels"].to_pylist()[1] == [-100] * 5


def test_templates_and_tokens_can_be_pickled(letters: Tokenizer) -> None:
    template = ChatTemplate(TEMPLATE)
    tokens = tokenize_messages(letters, [CHAT], template)
    again = pickle.loads(pickle.dumps(tokens))
    assert again.ids.tolist() == tokens.ids.tolist()
    assert pickle.loads(pickle.dumps(template)) == template


def test_public_names_have_entries() -> None:
    assert all(getattr(lexmill.messages, name).__doc__ for name in lexmill.messages.__all__)
