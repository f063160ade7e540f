"""Texts by URL: the same texts as from files of this machine, in blocks, whatever fails on the way."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from faulty_store import FaultyFileSystem, faulty_store
from lexmill import count_words, errors, open_tokens, tokenize_files
from lexmill._core import FileSource
from lexmill._data import remote, stores
from lexmill.estimation import estimate
from lexmill.reports import report
from lexmill.sources import Arrow, Csv, Documents, JsonLines, Lines, Parquet
from lexmill.trainers import BpeTrainer
from small import letters

pytest.importorskip("fsspec")

LINES = [f"line {number} of {number % 7}\n" for number in range(400)]
TEXT = "".join(LINES).encode()
BLOCK = 1000


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(remote, "_BLOCK", BLOCK)
    monkeypatch.setattr(stores, "_PAUSES", (0.0, 0.0, 0.0))


@pytest.fixture
def store() -> Iterator[FaultyFileSystem]:
    with faulty_store() as files:
        yield files


def jsonl(texts: list[str]) -> bytes:
    return "".join(json.dumps({"text": text, "n": number}) + "\n" for number, text in enumerate(texts)).encode()


def table(texts: list[str]) -> pa.Table:
    return pa.table({"n": list(range(len(texts))), "text": texts, "other": ["x" * 90] * len(texts)})


def parquet(texts: list[str]) -> bytes:
    out = io.BytesIO()
    pyarrow.parquet.write_table(table(texts), out, row_group_size=90, data_page_size=500, use_dictionary=False)
    return out.getvalue()


def feather(texts: list[str]) -> bytes:
    out = io.BytesIO()
    pyarrow.feather.write_feather(table(texts), out, chunksize=90, compression="uncompressed")
    return out.getvalue()


FILES: list[tuple[str, bytes, Callable[[Any], Any]]] = [
    ("a.txt", TEXT, Lines),
    ("a.txt.gz", gzip.compress(TEXT, 1) + gzip.compress(TEXT, 1), Lines),
    ("a.jsonl", jsonl(LINES), JsonLines),
    ("a.csv", b"text,n\n" + b"".join(f'"{line[:-1]}",1\n'.encode() for line in LINES), Csv),
    ("a.parquet", parquet(LINES), Parquet),
    ("a.arrow", feather(LINES), Arrow),
    ("a.md", TEXT, Documents),
    ("empty.txt", b"", Lines),
]
KINDS = pytest.mark.parametrize(("name", "data", "kind"), FILES, ids=[name for name, *_ in FILES])


@KINDS
def test_texts_are_the_same_as_of_local_files(
    store: FaultyFileSystem, name: str, data: bytes, kind: Callable[[Any], Any]
) -> None:
    Path(name).write_bytes(data)
    store.pipe_file(f"/b/{name}", data)
    assert list(kind(f"faulty://b/{name}")) == list(kind(name))


@KINDS
def test_faults_change_no_byte(
    store: FaultyFileSystem, name: str, data: bytes, kind: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stores, "_PAUSES", (0.0,) * 20)
    Path(name).write_bytes(data)
    store.pipe_file(f"/b/{name}", data)
    store.faults[:] = ["cut", 503, "reset", "none", 429, 500, "cut", "cut", "reset", 502] * 2
    assert list(kind(f"faulty://b/{name}")) == list(kind(name))
    assert not data or len(store.faults) < 20


def test_files_are_read_in_blocks_of_bounded_number(store: FaultyFileSystem) -> None:
    data = TEXT * 20
    store.pipe_file("/b/a.txt", data)
    held: list[int] = []
    opened = remote.RemoteFile("faulty://b/a.txt")
    for at in range(0, len(data), BLOCK):
        assert opened.block(at) == (at, data[at : at + BLOCK])
        held.append(len(opened._blocks))
    assert max(held) == remote._AHEAD + 2
    assert sorted(store.asked) == [(at, min(at + BLOCK, len(data))) for at in range(0, len(data), BLOCK)]
    # A file that is read here and there is not read ahead.
    store.asked.clear()
    opened = remote.RemoteFile("faulty://b/a.txt")
    for number in (90, 5, 70):
        opened.block(number * BLOCK + 3)
    assert store.asked == [(number * BLOCK, (number + 1) * BLOCK) for number in (90, 5, 70)]


def test_a_part_of_a_block_is_not_read_again(store: FaultyFileSystem) -> None:
    store.pipe_file("/b/a.txt", TEXT[:BLOCK])
    store.faults[:] = ["cut", "cut"]
    assert "".join(Lines("faulty://b/a.txt")).encode() == TEXT[:BLOCK]
    assert store.asked == [(0, 1000), (500, 1000), (750, 1000)]


def test_a_slow_block_is_asked_for_once_more(store: FaultyFileSystem, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "_PATIENCE", 0.05)
    store.pipe_file("/b/a.txt", TEXT)
    store.faults[:] = ["hang"]
    assert list(Lines("faulty://b/a.txt")) == LINES
    store.faults[:] = ["hang"] * 30
    with pytest.raises(errors.FileError, match=r"cannot read faulty://b/a.txt: no answer in 0 seconds"):
        list(Lines("faulty://b/a.txt"))


def test_a_store_that_always_fails_is_an_error(store: FaultyFileSystem) -> None:
    # One block, for which one thread asks.
    store.pipe_file("/b/a.txt", TEXT[:BLOCK])
    store.faults[:] = [503] * 4
    message = r"cannot read faulty://b/a.txt: 4 tries failed, the last one by StatusError: status 503"
    with pytest.raises(errors.FileError, match=message) as caught:
        list(Lines("faulty://b/a.txt"))
    assert (caught.value.filename, caught.value.errno) == ("faulty://b/a.txt", 5)
    store.faults[:] = [403]
    with pytest.raises(errors.FileError, match=r"cannot open faulty://b/a.txt: status 403"):
        list(Lines("faulty://b/a.txt"))
    store.pipe_file("/b/a.txt", TEXT)
    store.faults[:] = ["whole"] * 3
    with pytest.raises(errors.FileError, match=r"the server sends more bytes than it is asked for"):
        list(Lines("faulty://b/a.txt"))


# Files of this size are read whole before their first text in other formats.
READ_ON = [file for file in FILES if file[0] in ("a.txt", "a.txt.gz", "a.jsonl", "a.parquet")]


@pytest.mark.parametrize(("name", "data", "kind"), READ_ON, ids=[name for name, *_ in READ_ON])
def test_a_changed_file_is_an_error(
    store: FaultyFileSystem, name: str, data: bytes, kind: Callable[[Any], Any]
) -> None:
    store.pipe_file(f"/b/{name}", data)
    opened = iter(kind(f"faulty://b/{name}"))
    next(opened)
    store.pipe_file(f"/b/{name}", data)
    with pytest.raises(errors.FormatError, match=rf"faulty://b/{name}: the file was modified while it was read"):
        list(opened)
    # Gone for good, and shorter: neither is an end.
    for other in (None, data[:10]):
        store.pipe_file(f"/b/{name}", data * 9 if kind is Lines else data)
        opened = iter(kind(f"faulty://b/{name}"))
        next(opened)
        store.rm_file(f"/b/{name}") if other is None else store.pipe_file(f"/b/{name}", other)
        with pytest.raises((errors.FileError, errors.FormatError), match=r"No such file|was modified"):
            list(opened)


def test_files_that_are_not_there(store: FaultyFileSystem) -> None:
    for url in ("faulty://b/none.txt", "faulty://none"):
        with pytest.raises(errors.FileError, match=f"cannot open {url}: No such file or directory") as caught:
            list(Lines(url))
        assert caught.value.errno == 2
    with pytest.raises(errors.FileError, match="no file is there"):
        list(Lines("faulty://b/*.txt"))
    with pytest.raises(errors.RemotePathError, match="nothing://b/k is not on this machine, and fsspec cannot read it"):
        list(Lines("nothing://b/k"))
    with pytest.raises(errors.RemotePathError, match="was a URL before it became a Path"):
        Lines(Path("faulty://b/k"))


def test_without_fsspec_there_are_no_urls(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in [name for name in sys.modules if name.partition(".")[0] == "fsspec"]:
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(errors.LexmillError, match=r"pip install 'lexmill\[remote\]'"):
        list(Lines("s3://b/k"))


NAMES = ["b.txt", "a.txt", "_SUCCESS", ".part.crc", "_temporary/x.txt", "in/c.txt", "in.d/a.txt", "_a.jsonl", "n.jsonl"]


@pytest.mark.parametrize(
    "pattern",
    [
        *("t", "t/", "t/*", "t/*.txt", "t/**/*.txt", "t/?.txt", "t/i*", "t/**", "t/_*", "t/_temporary/*", "t/x*"),
        *("t/.*", "t/*/", "t/**/", "**/*.txt", "*/a.txt", "t/in", "none"),
    ],
)
def test_folders_and_patterns_stand_for_the_files_that_they_do_elsewhere(store: FaultyFileSystem, pattern: str) -> None:
    for name in NAMES:
        Path("t", name).parent.mkdir(parents=True, exist_ok=True)
        Path("t", name).write_text(name, encoding="utf-8")
        store.pipe_file(f"/b/t/{name}", name.encode())

    def read(prefix: str) -> list[str] | str:
        try:
            return list(Lines(prefix + pattern))
        except errors.FileError as error:
            return type(error).__name__

    assert read("faulty://b/") == read("")


def test_a_folder_of_many_files_is_looked_up_once(store: FaultyFileSystem) -> None:
    for number in range(20):
        store.pipe_file(f"/b/t/{number:02}.jsonl", jsonl(LINES[:3]))
    known = letters("lineof 0123456789")
    store.infos.clear()
    tokenize_files(known, "faulty://b/t", "tokens")
    # Twice for the folder; then for each file when it is opened and at its end, and for the comparison with the list.
    assert len(store.infos) <= 4 + 3 * 20


LISTED = [{}, {"ETag": 'W/"1"'}, {"ETag": None, "LastModified": "2026-11-27T00:00:00.123Z"}, {"created": 7}]


@pytest.mark.parametrize("marks", LISTED, ids=["none", "other form", "time", "other time"])
def test_a_list_may_have_other_marks_than_a_file(
    store: FaultyFileSystem, marks: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    find, info = MemoryFileSystem.find, FaultyFileSystem.info

    def listed(self: FaultyFileSystem, path: str, **options: Any) -> Any:
        found = find(self, path, **{**options, "detail": True})
        return {name: {**one, "created": None, **marks} for name, one in found.items()}

    def looked_up(self: FaultyFileSystem, path: str, **options: Any) -> dict[str, Any]:
        return {**info(self, path, **options), "LastModified": "Fri, 27 Nov 2026 00:00:00 GMT"}

    monkeypatch.setattr(FaultyFileSystem, "find", listed)
    monkeypatch.setattr(FaultyFileSystem, "info", looked_up)
    store.pipe_file("/b/t/a.jsonl", jsonl(LINES))
    known = letters("lineof 0123456789")

    def stop(_stage: str, done: int, *_: Any) -> None:
        if done:
            raise Stop

    with pytest.raises(Stop):
        tokenize_files(known, "faulty://b/t", "tokens", part_bytes=1000, resume=True, on_progress=stop)
    # The file by its own name has the marks of the file.
    tokenize_files(known, "faulty://b/t/a.jsonl", "tokens", part_bytes=1000, resume=True)


def test_every_call_reads_urls(store: FaultyFileSystem) -> None:
    Path("a.jsonl").write_bytes(jsonl(LINES))
    Path("a.txt").write_bytes(TEXT)
    store.pipe_file("/b/a.jsonl", jsonl(LINES))
    store.pipe_file("/b/a.txt", TEXT)
    known = letters("lineof 0123456789")

    def trained(path: str) -> str:
        made = letters()
        made.train([path], BpeTrainer(vocab_size=40, show_progress=False))
        return made.to_str()

    calls: list[Callable[[str], object]] = [
        trained,
        lambda path: sorted(count_words(path)),
        lambda path: sorted(count_words(path, checkpoint="cp-" + path.replace("/", "-"), max_memory="1GB")),
        lambda path: known.encode_files_arrays([path]).ids.tolist(),
        lambda path: known.count_tokens_files([path]).tolist(),
        lambda path: estimate([path], num_threads=1).distinct_words,
        lambda path: report({"it": known}, path).numbers.corpus.texts,
        lambda path: list(pickle.loads(pickle.dumps(JsonLines(path, field="text" if "json" in path else "n")))),
        lambda path: [ids.tolist() for ids in tokenize_files(known, JsonLines(path), "ids-" + path.replace("/", "-"))],
    ]
    for name in ("a.jsonl", "a.txt"):
        for call in calls if name == "a.jsonl" else calls[:7]:
            assert call(f"faulty://b/{name}") == call(name), call


def test_repeated_urls_are_told(store: FaultyFileSystem) -> None:
    store.pipe_file("/b/a.txt", TEXT)
    with pytest.warns(errors.RepeatedInputWarning, match="faulty://b/a.txt"):
        count_words(["faulty://b/a.txt", "faulty://b/a.txt"])


class Stop(Exception):
    """Ends a run."""


def test_a_run_is_resumed_and_refuses_changed_inputs(store: FaultyFileSystem) -> None:
    known = letters("lineof 0123456789")
    urls = [JsonLines(f"faulty://b/{name}.jsonl") for name in "abc"]
    for name in "abc":
        store.pipe_file(f"/b/{name}.jsonl", jsonl(LINES))
    whole = tokenize_files(known, urls, "whole", part_bytes=4000)

    def stop_at(wanted: int) -> Callable[..., None]:
        def stop(_stage: str, done: int, *_: Any) -> None:
            if done >= wanted:
                raise Stop

        return stop

    size = len(jsonl(LINES))
    for wanted in (size // 2, size * 3 // 2):
        with pytest.raises(Stop):
            tokenize_files(known, urls, "cut", part_bytes=4000, resume=True, on_progress=stop_at(wanted))
    store.asked.clear()
    resumed = tokenize_files(known, urls, "cut", part_bytes=4000, resume=True)
    # The run goes on within a file, not at its beginning.
    assert sum(end - start for start, end in store.asked) < size * 2
    assert [path.read_bytes() for path in sorted(Path("cut").glob("*.bin"))] == [
        path.read_bytes() for path in sorted(Path("whole").glob("*.bin"))
    ]
    assert resumed.manifest["inputs"] == whole.manifest["inputs"]
    entry = resumed.manifest["inputs"][0]
    assert (entry["path"], entry["bytes"], entry["modified"]) == ("faulty://b/a.jsonl", size, None)
    assert entry["version"] == "etag 1"
    with pytest.raises(Stop):
        tokenize_files(known, urls, "cut", part_bytes=4000, overwrite=True, on_progress=stop_at(size * 3 // 2))
    store.pipe_file("/b/a.jsonl", jsonl(LINES))
    with pytest.raises(errors.OutputError, match=r"the input faulty://b/a.jsonl was modified"):
        tokenize_files(known, urls, "cut", part_bytes=4000, resume=True)
    assert len(open_tokens("whole").manifest["inputs"]) == 3


def test_a_file_that_changes_before_it_is_opened_is_an_error(store: FaultyFileSystem) -> None:
    for name in "ab":
        store.pipe_file(f"/b/{name}.jsonl", jsonl(LINES * 20))
    known = letters("lineof 0123456789")

    def change(_stage: str, done: int, *_: Any) -> None:
        if done and store.tags["/b/b.jsonl"] == 1:
            store.pipe_file("/b/b.jsonl", jsonl(LINES * 20))

    with pytest.raises(errors.FormatError, match=r"faulty://b/b.jsonl: the file was modified while it was read"):
        tokenize_files(known, "faulty://b/*.jsonl", "tokens", part_bytes=1000, on_progress=change)


def test_sampled_lines_begin_where_lines_do(store: FaultyFileSystem) -> None:
    Path("a.txt").write_bytes(TEXT)
    store.pipe_file("/b/a.txt", TEXT)
    for start in (0, 1, len(LINES[0]) - 1, len(LINES[0]), len(LINES[0]) + 1, len(TEXT) - 1, len(TEXT), len(TEXT) + 9):
        (local, *_), (found, *_) = (
            FileSource([name]).sample(1 << 20, 1 << 20, start) for name in ("a.txt", "faulty://b/a.txt")
        )
        assert found == local, start


def test_threads_end_with_their_blocks(store: FaultyFileSystem) -> None:
    store.pipe_file("/b/a.txt", TEXT * 20)
    before = set(threading.enumerate())
    opened = iter(Lines("faulty://b/a.txt"))
    next(opened)
    del opened
    for thread in set(threading.enumerate()) - before:
        thread.join(10)
        assert not thread.is_alive()
