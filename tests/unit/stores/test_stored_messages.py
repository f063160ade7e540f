"""Conversations of a store, and their token files in it."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fsspec")
pytest.importorskip("jinja2")

from faulty_store import FaultyFileSystem
from lexmill import errors, open_tokens
from lexmill._data import remote
from lexmill.messages import ChatTemplate, read_conversations, tokenize_message_files
from message_runs import byte_level, conversations, rows_in, write_chats
from stored_files import URL, Killed, stored
from token_runs import contents

TIMED = "{{ strftime_now('%Y-%m-%d') }}{% for m in messages %}{{ m.role }}:{{ m.content }};{% endfor %}"


@pytest.mark.parametrize("way", [{}, {"format": "parquet", "loss": "ranges"}, {"join": True}], ids=str)
def test_stored_masks_are_the_local_ones(store: FaultyFileSystem, tmp_path: Path, way: dict[str, Any]) -> None:
    chats = write_chats(tmp_path / "chats.jsonl", conversations())
    options = {"part_bytes": 5000, "validation": 0.2, **way}
    local = tokenize_message_files(byte_level(), chats, tmp_path / "local", "chatml", **options)
    found = tokenize_message_files(byte_level(), chats, URL, "chatml", **options)
    assert stored(store) == contents(tmp_path / "local")
    assert rows_in(found) == rows_in(local)
    assert found.manifest == local.manifest
    assert open_tokens(URL).mask.tokens == local.tokens


@pytest.mark.parametrize("calls", [12, None])
def test_the_time_of_the_first_run_is_kept(store: FaultyFileSystem, tmp_path: Path, calls: int | None) -> None:
    chats = write_chats(tmp_path / "chats.jsonl", conversations())
    options: dict[str, Any] = {"part_bytes": 2000}
    template = ChatTemplate(TIMED)
    first = {"now": datetime(2026, 1, 2), **options}
    tokenize_message_files(byte_level(), chats, tmp_path / "local", template, **first)
    if calls is None:
        tokenize_message_files(byte_level(), chats, URL, template, **first)
    else:
        store.write_faults[:] = [*[None] * calls, Killed()]
        with pytest.raises(Killed):
            tokenize_message_files(byte_level(), chats, URL, template, **first)
    tokenize_message_files(byte_level(), chats, URL, template, resume=True, **options)
    assert stored(store) == contents(tmp_path / "local")


@pytest.mark.parametrize("name", ["a.parquet", "file.arrow", "stream.arrow"])
def test_tables_are_the_same_as_of_local_files(
    store: FaultyFileSystem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr(remote, "_BLOCK", 1000)
    table = pa.table({"messages": conversations(300), "beside": ["x" * 50] * 300})
    path = tmp_path / name
    if name == "a.parquet":
        parquet.write_table(table, path, row_group_size=70)
    else:
        new = pa.ipc.new_file if name == "file.arrow" else pa.ipc.new_stream
        with new(path, table.schema) as out:
            out.write_table(table, max_chunksize=70)
    store.put_file(str(path), f"/b/{name}")
    store.faults[:] = [503, "cut", "reset", "cut"]
    expected = list(read_conversations(path))
    assert list(read_conversations(f"faulty://b/{name}")) == expected
    assert len(expected) == 300
    tokenize_message_files(byte_level(), f"faulty://b/{name}", URL, "chatml")
    tokenize_message_files(byte_level(), path, tmp_path / "local", "chatml")
    local = {name: data for name, data in contents(tmp_path / "local").items() if name != "manifest.json"}
    assert {name: data for name, data in stored(store).items() if name != "manifest.json"} == local
    store.faults[:] = [403] * 9
    with pytest.raises(errors.FileError, match=rf"cannot open faulty://b/{name}: status 403"):
        list(read_conversations(f"faulty://b/{name}"))
    with pytest.raises(errors.FileError, match=r"cannot open faulty://b/none.parquet: No such file"):
        list(read_conversations("faulty://b/none.parquet"))
