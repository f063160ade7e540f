"""Inputs and options of `tokenize_message_files`, and the errors that name them."""

from __future__ import annotations

import gzip
import importlib.util
from datetime import datetime
from pathlib import Path

import pytest

pytest.importorskip("jinja2")

from lexmill import Tokenizer, merge_token_files, open_tokens, tokenize_files
from lexmill.errors import (
    FormatError,
    NoLossWarning,
    OptionError,
    OutputError,
    SkippedRecordsWarning,
    SpanError,
    TemplateError,
)
from lexmill.messages import tokenize_message_files, tokenize_messages
from lexmill.sources import ArrowStream, JsonLines, Lines
from message_runs import (
    CHAT,
    CHATS,
    Rows,
    as_lines,
    byte_level,
    chats_file,
    rows_in,
    rows_of,
    rows_of_chats,
    write_chats,
)
from token_runs import contents

tokenizer = pytest.fixture(scope="module")(byte_level)
source = pytest.fixture(scope="module")(chats_file)
expected = pytest.fixture(scope="module")(rows_of_chats)


class TestInputs:
    def test_shapes_and_compression(self, tmp_path: Path, tokenizer: Tokenizer) -> None:
        share = [{"conversations": [{"from": "human", "value": "ab"}, {"from": "gpt", "value": "cd"}]}]
        (tmp_path / "a.jsonl").write_bytes(as_lines([{"messages": CHAT}]))
        (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(as_lines(share)))
        (tmp_path / "c.jsonl").write_bytes(b"\n" + as_lines([CHAT]) + b"\n")
        files = tokenize_message_files(
            tokenizer, [str(tmp_path / "*.jsonl"), tmp_path / "b.jsonl.gz"], tmp_path / "o", "chatml"
        )
        assert rows_in(files) == rows_of(tokenize_messages(tokenizer, [CHAT] * 3, "chatml"))
        assert [Path(entry["path"]).name for entry in files.manifest["inputs"]] == ["a.jsonl", "c.jsonl", "b.jsonl.gz"]

    @pytest.mark.parametrize("kind", ["parquet", "arrow"])
    def test_tables(self, tmp_path: Path, tokenizer: Tokenizer, expected: Rows, kind: str) -> None:
        pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        table = pa.table({"id": range(len(CHATS)), "messages": CHATS})
        path = tmp_path / f"chats.{kind}"
        if kind == "parquet":
            parquet.write_table(table, path, row_group_size=150)
        else:
            with pa.ipc.new_stream(path, table.schema) as stream:
                stream.write_table(table, max_chunksize=390)
        for workers in (1, 2):
            out = tmp_path / str(workers)
            files = tokenize_message_files(tokenizer, path, out, "chatml", num_workers=workers, part_bytes=5_000)
            assert rows_in(files) == expected
        assert contents(tmp_path / "1") == contents(tmp_path / "2")

    def test_a_dotted_field(self, tmp_path: Path, tokenizer: Tokenizer) -> None:
        (tmp_path / "a.jsonl").write_bytes(as_lines([{"data": {"chat": CHAT}}]))
        files = tokenize_message_files(
            tokenizer, JsonLines(tmp_path / "a.jsonl", field="data.chat"), tmp_path / "o", "chatml"
        )
        assert rows_in(files) == rows_of(tokenize_messages(tokenizer, [CHAT], "chatml"))

    def test_other_sources_are_refused(self, tmp_path: Path, tokenizer: Tokenizer) -> None:
        with pytest.raises(OptionError, match="holds texts, but conversations are read from"):
            tokenize_message_files(tokenizer, Lines(tmp_path / "a.txt"), tmp_path / "o", "chatml")
        if importlib.util.find_spec("pyarrow"):
            import pyarrow as pa

            stream = ArrowStream(pa.table({"messages": [CHAT]}), column="messages")
            with pytest.raises(OptionError, match="is read once"):
                tokenize_message_files(tokenizer, stream, tmp_path / "o", "chatml")

    def test_no_conversations(self, tmp_path: Path, tokenizer: Tokenizer) -> None:
        (tmp_path / "a.jsonl").write_bytes(b"\n")
        with pytest.warns(UserWarning, match="no tokens were written"):
            files = tokenize_message_files(tokenizer, tmp_path / "a.jsonl", tmp_path / "o", "chatml")
        assert (len(files), len(files.mask)) == (0, 0)


BROKEN: list[tuple[bytes, type[Exception], str]] = [
    (b'{"messages": [{"role": "us', FormatError, "line 3: no JSON"),
    (b'{"messages": []}', FormatError, "line 3: a conversation has no messages"),
    (b'{"text": "ab"}', FormatError, "line 3: a record has values in the fields text"),
    (b'{"messages": [{"from": "alien", "value": "x"}]}', FormatError, "line 3: message 0 is from 'alien'"),
    (b'{"messages": [{"content": "x"}]}', FormatError, "line 3: message 0 has the role None"),
    (
        b'{"messages": [{"role": "judge", "content": "x"}]}',
        TemplateError,
        "line 3: .*no form for a message of role judge",
    ),
]


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(("line", "error", "message"), BROKEN)
def test_broken_records_are_named_or_left_out(
    tmp_path: Path, tokenizer: Tokenizer, line: bytes, error: type[Exception], message: str, workers: int
) -> None:
    good = as_lines([{"messages": CHAT}])
    path = tmp_path / "in.jsonl"
    path.write_bytes(good + b"\n" + line + b"\n" + good + line + b"\n")
    template = "llama-3"
    with pytest.raises(error, match=f"in.jsonl, {message}"):
        tokenize_message_files(tokenizer, path, tmp_path / "o", template, num_workers=workers)
    with pytest.warns(SkippedRecordsWarning, match=f"2 records were left out: .*in.jsonl, {message}.*line 5"):
        files = tokenize_message_files(
            tokenizer, path, tmp_path / "o", template, on_error="skip", resume=True, num_workers=workers
        )
    assert files.manifest["total"]["skipped"] == 2
    assert rows_in(files) == rows_of(tokenize_messages(tokenizer, [CHAT] * 2, template))


def test_a_source_keeps_its_own_on_error(tmp_path: Path, tokenizer: Tokenizer) -> None:
    (tmp_path / "in.jsonl").write_bytes(b"{}\n" + as_lines([{"messages": CHAT}]))
    source = JsonLines(tmp_path / "in.jsonl", field="messages")
    with pytest.raises(FormatError, match="line 1"):
        tokenize_message_files(tokenizer, source, tmp_path / "o", "chatml", on_error="skip")


def test_text_that_cannot_be_followed_is_named(tmp_path: Path, tokenizer: Tokenizer) -> None:
    path = write_chats(tmp_path / "in.jsonl", [CHAT])
    template = "{% for m in messages %}{{ '%s' % m.content }}{% endfor %}"
    with pytest.raises(SpanError, match=r"in\.jsonl, line 1: the template applies operator %"):
        tokenize_message_files(tokenizer, path, tmp_path / "o", template)


def test_conversations_without_a_loss_are_counted_and_told(tmp_path: Path, tokenizer: Tokenizer) -> None:
    path = write_chats(tmp_path / "in.jsonl", [CHAT, CHAT[:1]])
    with pytest.warns(NoLossWarning, match="none of 2 conversations has a token to learn: chatml writes no text"):
        files = tokenize_message_files(tokenizer, path, tmp_path / "none", "chatml", mask="model")
    assert files.manifest["total"]["no_loss_documents"] == 2
    assert "loss_tokens" not in files.manifest["total"]
    assert not any(mask.any() for mask in files.mask)
    total = tokenize_message_files(tokenizer, path, tmp_path / "one", "chatml").manifest["total"]
    assert total["no_loss_documents"] == 1


class TestRefused:
    def test_chance(self, tmp_path: Path, tokenizer: Tokenizer, source: Path) -> None:
        for template in ["{{ [1, 2]|random }}", "{{ lipsum() }}", "{{ [[1, 2]]|map('random')|join }}"]:
            with pytest.raises(OptionError, match="uses random or lipsum"):
                tokenize_message_files(tokenizer, source, tmp_path, template)
        said = "a random word {% for m in messages %}{{ m.content }}{% endfor %}"
        assert len(tokenize_message_files(tokenizer, source, tmp_path, said)) == len(CHATS)

    def test_functions_that_no_process_finds(self, tmp_path: Path, tokenizer: Tokenizer, source: Path) -> None:
        with pytest.raises(OptionError, match="cannot be sent to other processes"):
            tokenize_message_files(tokenizer, source, tmp_path, "chatml", mask=lambda *_: True, num_workers=2)

    def test_options(self, tmp_path: Path, tokenizer: Tokenizer, source: Path) -> None:
        with pytest.raises(TypeError, match="unexpected keyword argument 'end_token'"):
            tokenize_message_files(tokenizer, source, tmp_path, "chatml", end_token=1)  # type: ignore[call-arg]
        with pytest.raises(OptionError, match="num_workers is 0 but must be at least 1"):
            tokenize_message_files(tokenizer, source, tmp_path, "chatml", num_workers=0)
        cutting = Tokenizer.from_str(tokenizer.to_str())
        cutting.enable_truncation(4)
        with pytest.raises(OptionError, match="truncates"):
            tokenize_message_files(cutting, source, tmp_path, "chatml")

    def test_masks_of_texts_and_merged_masks(self, tmp_path: Path, tokenizer: Tokenizer, source: Path) -> None:
        (tmp_path / "in.txt").write_text("ab\n")
        texts = tokenize_files(tokenizer, Lines(tmp_path / "in.txt"), tmp_path / "texts")
        with pytest.raises(OptionError, match="it has no loss masks"):
            _ = texts.mask
        tokenize_message_files(tokenizer, source, tmp_path / "chats", "chatml")
        with pytest.raises(OutputError, match="it has loss masks, but only files without masks are merged"):
            merge_token_files([tmp_path / "chats"], tmp_path / "all")

    def test_a_changed_file_of_masks(self, tmp_path: Path, tokenizer: Tokenizer, source: Path) -> None:
        files = tokenize_message_files(tokenizer, source, tmp_path, "chatml")
        path = tmp_path / "part-00000.loss_mask.bin"
        path.write_bytes(path.read_bytes()[:-1])
        with pytest.raises(OutputError, match="loss_mask"):
            files.verify()
        with pytest.raises(OutputError, match=r"loss_mask\.bin: it holds"):
            _ = open_tokens(tmp_path).mask[0]


def test_the_time_is_kept(tmp_path: Path, tokenizer: Tokenizer) -> None:
    path = write_chats(tmp_path / "in.jsonl", [CHAT])
    template = "{{ strftime_now('%Y-%m-%d') }}{% for m in messages %}{{ m.role }}:{{ m.content }};{% endfor %}"
    then = datetime(2001, 2, 3)
    files = tokenize_message_files(tokenizer, path, tmp_path / "o", template, now=then)
    assert rows_in(files) == rows_of(tokenize_messages(tokenizer, [CHAT], template, now=then))
    again = tokenize_message_files(tokenizer, path, tmp_path / "o", template, resume=True)
    assert rows_in(again) == rows_in(files)
    with pytest.raises(OutputError, match="cannot resume: now was"):
        tokenize_message_files(tokenizer, path, tmp_path / "o", template, resume=True, now=datetime(2001, 2, 4))
