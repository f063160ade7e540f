"""Conversations in token files: damaged masks and tables, and calls that are refused before anything is lost."""

from __future__ import annotations

import contextlib
import functools
import json
import zlib
from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("jinja2")

from lexmill import Tokenizer, open_tokens, pack_tokens
from lexmill._core import write_token_manifest
from lexmill.errors import FormatError, InputTypeError, LexmillError, OptionError, OutputError
from lexmill.messages import tokenize_message_files, tokenize_messages
from lexmill.sources import JsonLines
from message_runs import as_lines, byte_level, rows_in, write_chats

CHAT = [{"role": "user", "content": "ab"}, {"role": "assistant", "content": "cd"}]


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return byte_level()


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write_chats(tmp_path / "chats.jsonl", [CHAT] * 5)


def learn_last(number: int, message: dict[str, Any], last: int) -> bool:
    return bool(message) and number == last


def rewrite(path: Path, change: Callable[[dict[str, list[list[int]]]], None]) -> None:
    """Changes the columns of an Arrow file."""
    pa = pytest.importorskip("pyarrow")
    with pa.memory_map(str(path)) as mapped:
        table = pa.ipc.open_stream(mapped).read_all()
    columns = table.to_pydict()
    change(columns)
    changed = pa.table(columns, schema=table.schema)
    with pa.ipc.new_stream(str(path), changed.schema) as stream:
        stream.write_table(changed)


def move_border(lists: list[list[int]]) -> None:
    """Moves the border between the documents 1 and 2 by a token."""
    lists[1].append(lists[2].pop(0))


def column_of(loss: str) -> str:
    return {"mask": "loss_mask", "labels": "labels", "ranges": "loss_start"}[loss]


@pytest.mark.parametrize(("start", "end"), [(2, -2), (-100, 0), (0, 100)], ids=["swapped", "before", "after"])
def test_ranges_outside_of_their_rows_are_errors(
    tmp_path: Path, tokenizer: Tokenizer, source: Path, start: int, end: int
) -> None:
    tokenize_message_files(tokenizer, source, tmp_path / "o", "chatml", format="arrow", loss="ranges")

    def change(columns: dict[str, list[list[int]]]) -> None:
        columns["loss_start"][1] = [at + 2 * start for at in columns["loss_start"][1]]
        columns["loss_end"][1] = [at + 2 * end for at in columns["loss_end"][1]]

    rewrite(tmp_path / "o" / "data-00000.arrow", change)
    with pytest.raises(OutputError, match="a range of tokens to learn is empty or leaves its row"):
        open_tokens(tmp_path / "o").mask[0]


def test_masks_have_0_and_1_alone(tmp_path: Path, tokenizer: Tokenizer, source: Path) -> None:
    tokenize_message_files(tokenizer, source, tmp_path / "o", "chatml", format="npy")
    path = tmp_path / "o" / "part-00000.loss_mask.npy"
    np.save(path, np.full_like(np.load(path), 7))
    with pytest.raises(OutputError, match="a loss mask has the value 7 but must have 0 and 1 alone"):
        open_tokens(tmp_path / "o").mask[0]


def test_ids_are_not_taken_for_masks(tmp_path: Path, tokenizer: Tokenizer, source: Path) -> None:
    tokenize_message_files(tokenizer, source, tmp_path / "o", "chatml", loss="labels")
    path = tmp_path / "o" / "manifest.json"
    manifest = json.loads(path.read_text())
    for part in manifest["parts"]:
        part["files"] = {name: entry for name, entry in part["files"].items() if "labels" not in name}
    path.write_text(json.dumps(manifest))
    with pytest.raises(OutputError, match="there is no file of loss masks"):
        open_tokens(tmp_path / "o").mask[0]


@pytest.mark.parametrize("messages", [[1], "mask", {"loss": "foo"}, {"loss": 3}])
def test_another_form_of_masks_is_none(tmp_path: Path, tokenizer: Tokenizer, source: Path, messages: object) -> None:
    tokenize_message_files(tokenizer, source, tmp_path / "o", "chatml")
    path = tmp_path / "o" / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["options"]["messages"] = messages
    path.write_text(json.dumps(manifest))
    with pytest.raises(OptionError, match="it has no loss masks"):
        open_tokens(tmp_path / "o").mask  # noqa: B018


MOVED = "its masks have 15 tokens for document 1, which has 14"


@pytest.mark.parametrize("loss", ["mask", "labels"])
def test_masks_of_other_documents_are_errors_in_arrow(
    tmp_path: Path, tokenizer: Tokenizer, source: Path, loss: Any
) -> None:
    tokenize_message_files(tokenizer, source, tmp_path / "o", "chatml", format="arrow", loss=loss)
    rewrite(tmp_path / "o" / "data-00000.arrow", lambda columns: move_border(columns[column_of(loss)]))
    files = open_tokens(tmp_path / "o")
    assert len(files[1]) == 14
    with pytest.raises(OutputError, match=MOVED):
        files.mask[0]


@pytest.mark.parametrize("loss", ["mask", "labels"])
@pytest.mark.parametrize("join", [False, True])
def test_masks_of_other_documents_are_errors_in_megatron(
    tmp_path: Path, tokenizer: Tokenizer, source: Path, loss: Any, join: bool
) -> None:
    tokenize_message_files(tokenizer, source, tmp_path / "o", "chatml", loss=loss, join=join)
    (path,) = (tmp_path / "o").glob(f"*.{column_of(loss)}.idx")
    whole, width = path.read_bytes(), 1 if loss == "mask" else 4
    lengths, offsets = np.frombuffer(whole, "<i4", 5, 34).copy(), np.frombuffer(whole, "<i8", 5, 54).copy()
    lengths[1:3] += [1, -1]
    path.write_bytes(whole[:34] + lengths.tobytes() + whole[54:])
    with pytest.raises(OutputError, match=MOVED):
        open_tokens(tmp_path / "o").mask[0]
    # Now the offsets agree with the moved border.
    offsets[2] += width
    path.write_bytes(whole[:34] + lengths.tobytes() + offsets.tobytes() + whole[94:])
    with pytest.raises(OutputError, match=MOVED):
        open_tokens(tmp_path / "o").mask[0]
    path.write_bytes(whole[:54] + offsets.tobytes() + whole[94:])
    with pytest.raises(OutputError, match="its index has 15 tokens for document 1, which has 14"):
        open_tokens(tmp_path / "o").mask[0]


@pytest.mark.parametrize("loss", ["mask", "labels", "ranges"])
def test_verify_compares_masks_in_parquet(tmp_path: Path, tokenizer: Tokenizer, source: Path, loss: Any) -> None:
    parquet, pa = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow")
    folder = tmp_path / "o"
    files = tokenize_message_files(tokenizer, source, folder, "chatml", format="parquet", loss=loss)
    files.verify()
    path = folder / "part-00000.parquet"
    table = parquet.read_table(path)
    columns = table.to_pydict()
    move_border(columns[column_of(loss)])
    parquet.write_table(pa.table(columns, schema=table.schema), path)
    manifest = files.manifest
    manifest["parts"][0]["files"][path.name] = {
        **manifest["parts"][0]["files"][path.name],
        "bytes": path.stat().st_size,
        "crc32": f"{zlib.crc32(path.read_bytes()):08x}",
    }
    write_token_manifest(folder, json.dumps(manifest))
    files = open_tokens(folder)
    if loss == "ranges":
        # Ranges do not store the length of a document, so they are checked only when they are read.
        files.verify()
        with pytest.raises(OutputError, match="its ranges do not have as many ends as starts"):
            files.mask[0]
    else:
        with pytest.raises(OutputError, match=rf"part-00000\.parquet: .*{MOVED}"):
            files.verify()


@pytest.mark.parametrize("loss", ["mask", "labels", "ranges"])
def test_masks_are_read_only(tmp_path: Path, tokenizer: Tokenizer, source: Path, loss: Any) -> None:
    mask = tokenize_message_files(tokenizer, source, tmp_path / "o", "chatml", format="arrow", loss=loss).mask
    assert not mask[0].flags.writeable
    assert not mask.windows(20)[0].flags.writeable


def test_padding_is_not_learned(tmp_path: Path, tokenizer: Tokenizer, source: Path) -> None:
    files = tokenize_message_files(tokenizer, source, tmp_path / "o", "chatml")
    pack_tokens(tmp_path / "o", length=60, out=tmp_path / "rows")
    ids, masks = files.rows(tmp_path / "rows", pad_id=300), files.mask.rows(tmp_path / "rows", pad_id=300)
    assert ids[-1][-1] == 300
    assert masks[-1][-1] == 0


def test_a_named_field_is_not_replaced(tmp_path: Path, tokenizer: Tokenizer) -> None:
    path = tmp_path / "chosen.jsonl"
    path.write_bytes(as_lines([{"chosen": None, "messages": CHAT}]))
    for field in ("chosen", "missing"):
        with pytest.raises(FormatError, match=f"line 1: a record has values in the fields messages .* one in {field}"):
            tokenize_message_files(tokenizer, JsonLines(path, field=field), tmp_path / "o", "chatml", overwrite=True)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"num_workers": 2, "mask": lambda number, message: bool(message) and number == 1}, OptionError, "mask is"),
        ({"num_workers": 1.5}, TypeError, "cannot be interpreted as an integer"),
        ({"now": "x"}, InputTypeError, "now is 'x' but must be a datetime"),
        ({"now": date(2020, 1, 1)}, InputTypeError, "but must be a datetime"),
        ({"variables": {"a": float("nan")}}, OptionError, "JSON cannot hold these"),
        ({"mask": ["\ud800"]}, OptionError, "JSON cannot hold these"),
    ],
)
def test_a_refused_call_leaves_an_earlier_run(
    tmp_path: Path, tokenizer: Tokenizer, source: Path, options: Any, error: type[Exception], message: str
) -> None:
    before = rows_in(tokenize_message_files(tokenizer, source, tmp_path / "o", "chatml"))
    with pytest.raises(error, match=message):
        tokenize_message_files(tokenizer, source, tmp_path / "o", "chatml", overwrite=True, **options)
    assert rows_in(open_tokens(tmp_path / "o")) == before


def test_a_partial_function_is_a_mask(tmp_path: Path, tokenizer: Tokenizer, source: Path) -> None:
    mask = functools.partial(learn_last, last=1)
    files = tokenize_message_files(tokenizer, source, tmp_path / "o", "chatml", mask=mask, now=datetime(2020, 1, 1))
    assert files.manifest["options"]["messages"]["mask"] == "functools.partial"
    (row, *_) = rows_in(files)
    assert row[1] == tokenize_messages(tokenizer, [CHAT], "chatml", mask=mask).loss_mask.tolist()


@pytest.mark.parametrize("kind", ["arrow", "parquet"])
def test_damaged_tables_are_errors_or_conversations(tmp_path: Path, tokenizer: Tokenizer, kind: str) -> None:
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = pa.table({"messages": [CHAT] * 9})
    path = tmp_path / f"chats.{kind}"
    if kind == "parquet":
        parquet.write_table(table, path)
    else:
        with pa.ipc.new_stream(str(path), table.schema) as stream:
            stream.write_table(table)
    whole = path.read_bytes()
    for at in range(0, len(whole) - 4, 8):
        path.write_bytes(whole[:at] + b"\xff\xff\xff\x7f" + whole[at + 4 :])
        with contextlib.suppress(LexmillError):
            tokenize_message_files(tokenizer, path, tmp_path / "o", "chatml", overwrite=True)
