"""Runs that end in a store, cut short at any call, resumed, overwritten, and refused."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lexmill import Tokenizer, errors, open_tokens, tokenize_files
from lexmill._data import run_state, stored_run
from lexmill._data.run_state import is_state
from lexmill.sources import JsonLines
from token_runs import contents

pytest.importorskip("fsspec")

from faulty_store import FaultyFileSystem
from stored_files import OPTIONS, URL, Killed, Run, listed, stop_after, stored


@pytest.mark.parametrize("is_lost", [True, False], ids=["other machine", "same machine"])
@pytest.mark.parametrize("way", [{}, {"format": "parquet"}, {"shuffle": True}, {"join": True}], ids=str)
def test_a_run_that_is_killed_at_any_call_is_resumed(
    monkeypatch: pytest.MonkeyPatch,
    store: FaultyFileSystem,
    temporary: Path,
    tokenizer: Tokenizer,
    source: JsonLines,
    tmp_path: Path,
    way: dict[str, Any],
    is_lost: bool,
) -> None:
    run = Run(tokenizer, source, **way)
    tokenize_files(tokenizer, source, tmp_path / "local", **OPTIONS, **way)
    monkeypatch.setattr(run_state, "_LINES", 2)
    # A process that is killed removes nothing.
    remove = shutil.rmtree
    # All calls of one way, and some of the others.
    for at in range(0, 200, 4 if way or is_lost else 1):
        store.store.clear()
        store.tags.clear()
        store.write_faults[:] = [*[None] * at, Killed()]
        with monkeypatch.context() as patch:
            patch.setattr(shutil, "rmtree", lambda *_, **__: None)
            try:
                run(resume=True)
                break
            except Killed:
                pass
        if is_lost:
            for path in temporary.iterdir():
                remove(path)
        finished = listed(store)
        store.write_faults.clear()
        store.written.clear()
        run(resume=True)
        assert stored(store) == contents(tmp_path / "local")
        assert not finished & {name.removeprefix("/b/tokens/") for name in store.written}
    assert at > (8 if "join" in way else 40)


def test_no_part_is_made_again(store: FaultyFileSystem, tokenizer: Tokenizer, source: JsonLines) -> None:
    run = Run(tokenizer, source)
    for calls in (12, 12, 12):
        stop_after(store, calls, run)
    run(resume=True)
    uploads = Counter(name for name in store.written if "/.lexmill-run/" not in name)
    # The upload under way at each of the three ends is repeated.
    assert sum(uploads.values()) - len(uploads) <= 3 * 4


def test_a_finished_run_is_not_written_again(
    store: FaultyFileSystem, tokenizer: Tokenizer, source: JsonLines, tmp_path: Path
) -> None:
    run = Run(tokenizer, source)
    for way in ({}, {"join": True}):
        run(overwrite=True, **way)
        before = stored(store)
        store.written.clear()
        assert len(run(resume=True, **way)) == len(run(resume=True, **way))
        assert not store.written
        with pytest.raises(errors.OutputError, match=rf"^{URL}: cannot resume: seed was 0 but is 1"):
            run(resume=True, seed=1, **way)
        assert stored(store) == before


def test_a_folder_that_holds_something_is_refused(
    store: FaultyFileSystem, tokenizer: Tokenizer, source: JsonLines
) -> None:
    run = Run(tokenizer, source)
    store.pipe_file("/b/tokens/mine.txt", b"text")
    for options in ({}, {"resume": True}, {"overwrite": True}):
        with pytest.raises(errors.OutputError, match=rf"{URL}: it holds mine.txt, which is no token file"):
            run(**options)
    assert stored(store) == {"mine.txt": b"text"}
    store.rm_file("/b/tokens/mine.txt")
    stop_after(store, 12, run)
    with pytest.raises(errors.OutputError, match="it holds token files of a run that was not finished; pass resume"):
        run()
    with pytest.raises(errors.OutputError, match=f"{URL}: it holds no token files"):
        open_tokens(URL)
    run(resume=True)
    with pytest.raises(errors.OutputError, match="it holds token files; pass resume=True to go on or overwrite=True"):
        run()
    store.pipe_file("/b/file", b"text")
    with pytest.raises(errors.OutputError, match="faulty://b/file: it is a file"):
        tokenize_files(tokenizer, source, "faulty://b/file")
    store.pipe_file("/b/other/manifest.json", b"{}")
    for options in ({"resume": True}, {"overwrite": True}):
        with pytest.raises(errors.OutputError, match=r"other/manifest.json: it is not a manifest of token files"):
            tokenize_files(tokenizer, source, "faulty://b/other", **options)
    assert store.cat_file("/b/other/manifest.json") == b"{}"


@pytest.mark.parametrize("way", [{}, {"format": "parquet"}, {"join": True}], ids=str)
@pytest.mark.parametrize("calls", [0, 1, 4, 8, None])
def test_an_earlier_run_is_overwritten(
    store: FaultyFileSystem,
    tokenizer: Tokenizer,
    source: JsonLines,
    tmp_path: Path,
    way: dict[str, Any],
    calls: int | None,
) -> None:
    run = Run(tokenizer, source)
    if calls is None:
        run(**way)
    else:
        store.write_faults[:] = [*[None] * calls, Killed()]
        with pytest.raises(Killed):
            run(**way)
        store.write_faults.clear()
    if stored(store):
        store.pipe_file("/b/tokens/mine.txt", b"text")
    # Options that do not fit remove nothing.
    before = stored(store)
    with pytest.raises(errors.OptionError):
        run(overwrite=True, format="raw", preset="nanogpt", columns=["x"])
    assert stored(store) == before
    run(overwrite=True, part_bytes=1 << 20)
    tokenize_files(tokenizer, source, tmp_path / "local", **{**OPTIONS, "part_bytes": 1 << 20})
    found = stored(store)
    found.pop("mine.txt", None)
    assert found == contents(tmp_path / "local")


def test_overwriting_that_is_killed_is_repeated(
    store: FaultyFileSystem, tokenizer: Tokenizer, source: JsonLines, tmp_path: Path
) -> None:
    run = Run(tokenizer, source)
    tokenize_files(tokenizer, source, tmp_path / "local", format="npy", **OPTIONS)
    for at in range(0, 60, 3):
        store.store.clear()
        run()
        store.write_faults[:] = [*[None] * at, Killed()]
        with pytest.raises(Killed):
            run(overwrite=True, format="npy")
        store.write_faults.clear()
        run(overwrite=True, format="npy")
        assert stored(store) == contents(tmp_path / "local")


def part_of(store: FaultyFileSystem) -> str:
    """The first stored file of ids."""
    return min(name for name in store.store if name.endswith(".bin"))


CHANGES: dict[str, Callable[[FaultyFileSystem], Any]] = {
    "was modified after it was written": lambda store: store.pipe_file(
        part_of(store), bytes(reversed(store.cat_file(part_of(store))))
    ),
    "has 2 bytes but was written with": lambda store: store.pipe_file(part_of(store), b"ab"),
    "is missing": lambda store: store.rm_file(part_of(store)),
}


@pytest.mark.parametrize("message", CHANGES)
def test_stored_files_that_were_changed_are_an_error(
    store: FaultyFileSystem, tokenizer: Tokenizer, source: JsonLines, message: str
) -> None:
    run = Run(tokenizer, source)
    stop_after(store, 20, run)
    name = part_of(store)
    CHANGES[message](store)
    for _ in range(2):
        with pytest.raises(errors.OutputError, match=rf"faulty:/{name}: it {message}.*pass overwrite=True"):
            run(resume=True)
    run(overwrite=True)
    # Of a finished run the versions are not kept, so sizes decide.
    CHANGES[message](store)
    if "modified" not in message:
        with pytest.raises(errors.OutputError, match=rf"faulty:/{name}: it {message}.*pass overwrite=True"):
            run(resume=True)
    with pytest.raises((errors.OutputError, errors.FileError), match=rf"faulty:/{name}"):
        list(open_tokens(URL))


@pytest.mark.parametrize("way", [{}, {"join": True}], ids=str)
def test_files_that_change_meanwhile_are_an_error(
    store: FaultyFileSystem, tokenizer: Tokenizer, source: JsonLines, way: dict[str, Any]
) -> None:
    run = Run(tokenizer, source)

    def change(*_: Any) -> None:
        names = [name for name in store.store if name.endswith(".bin")]
        if names and store.tags[names[0]] == 1:
            store.pipe_file(names[0], bytes(reversed(store.cat_file(names[0]))))

    if way:
        upload = stored_run.StoreFolder.listed

        def listed_after_change(self: stored_run.StoreFolder) -> Any:
            change()
            return upload(self)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(stored_run.StoreFolder, "listed", listed_after_change)
            with pytest.raises(errors.OutputError, match="was modified after it was written"):
                run(**way)
    else:
        with pytest.raises(errors.OutputError, match="was modified after it was written"):
            run(on_progress=change)
    assert "manifest.json" not in stored(store)


def test_two_processes_of_a_machine_do_not_write_one_run(
    store: FaultyFileSystem, tokenizer: Tokenizer, source: JsonLines
) -> None:
    found: list[str] = []

    def begin_again(*_: Any) -> None:
        with pytest.raises(errors.OutputError) as caught:
            tokenize_files(tokenizer, source, URL, resume=True, **OPTIONS)
        found.append(str(caught.value))

    assert len(Run(tokenizer, source)(on_progress=begin_again))
    assert set(found) == {f"{URL}: another job works in it"}
    assert stored(store)


def test_sorted_runs_of_other_inputs_are_not_merged(
    store: FaultyFileSystem, tokenizer: Tokenizer, folder: Path, tmp_path: Path
) -> None:
    path = tmp_path / "b.jsonl"
    data = (folder / "a.jsonl").read_bytes()
    path.write_bytes(data)

    def stop(_stage: str, done: int, *_: Any) -> None:
        if done > len(data) // 2:
            raise Killed

    run = Run(tokenizer, JsonLines(path), shuffle=True)
    with pytest.raises(Killed):
        run(on_progress=stop)
    path.write_bytes(data.replace(b"Satz", b"satz"))
    with pytest.raises(errors.OutputError, match="was modified"):
        run(resume=True)
    run(overwrite=True)
    tokenize_files(tokenizer, JsonLines(path), tmp_path / "local", shuffle=True, **OPTIONS)
    assert stored(store) == contents(tmp_path / "local")


def texts(path: Path, *found: str) -> JsonLines:
    """A source with these texts."""
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in found), encoding="utf-8")
    return JsonLines(path)


def test_sorted_runs_of_another_machine_do_not_go_stale(
    store: FaultyFileSystem, tokenizer: Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, place = tmp_path / "a.jsonl", tmp_path / "other machine"
    place.mkdir()
    options: dict[str, Any] = {"shuffle": True, "validation": 0.0, "part_bytes": 2000}

    def run(name: str, done: int) -> None:
        def stop(stage: str, now: int, *_: Any) -> None:
            if (stage, now >= done) == ("tokenize", True):
                raise Killed

        given = texts(path, *(f"{name} {number}" for number in range(3000)))
        with pytest.raises(Killed):
            Run(tokenizer, given, **options)(resume=True, on_progress=stop)

    run("Der", path.stat().st_size if path.exists() else 40_000)
    with monkeypatch.context() as patch:
        # This machine has no sorted run yet, so the inputs may be others.
        patch.setattr(tempfile, "tempdir", str(place))
        run("Satz", 0)
    source = JsonLines(path)
    Run(tokenizer, source, **options)(resume=True)
    tokenize_files(tokenizer, source, tmp_path / "local", **{**OPTIONS, **options})
    assert stored(store) == contents(tmp_path / "local")


def test_files_of_a_part_that_is_not_made_again_are_removed(
    store: FaultyFileSystem, tokenizer: Tokenizer, tmp_path: Path
) -> None:
    options: dict[str, Any] = {"validation": 0.0, "part_bytes": 1000}
    first, second = (texts(tmp_path / f"{name}.jsonl", "Satz ab" * 300) for name in "ab")
    # The writer, the manifest, two lists and two files of the first part, a list and a file of the second one.
    store.write_faults[:] = [*[None] * 8, Killed()]
    with pytest.raises(Killed):
        tokenize_files(tokenizer, [first, second], URL, **options)
    assert {"part-00000.bin", "part-00001.bin"} <= stored(store).keys()
    texts(tmp_path / "b.jsonl", "")
    tokenize_files(tokenizer, [first, second], URL, resume=True, **options)
    tokenize_files(tokenizer, [first, second], tmp_path / "local", **options)
    found, local = stored(store), contents(tmp_path / "local")
    # A part ends where the next one was begun.
    assert found.pop("manifest.json") != local.pop("manifest.json")
    assert found == local


def test_files_of_a_part_that_is_made_again_otherwise_are_removed(
    store: FaultyFileSystem, tokenizer: Tokenizer, tmp_path: Path
) -> None:
    left: set[str] = set()
    for seed in range(6):
        store.store.clear()
        options: dict[str, Any] = {"validation": 0.5, "part_bytes": 1000, "seed": seed}
        first, second = texts(tmp_path / "a.jsonl", "Satz ab" * 300), texts(tmp_path / "b.jsonl", *["Satz"] * 8)
        # The writer, the manifest, and of each part a list and two files or four; a list ends the first part.
        store.write_faults[:] = [*[None] * 10, Killed()]
        with pytest.raises(Killed):
            tokenize_files(tokenizer, [first, second], URL, **options)
        texts(tmp_path / "b.jsonl", "Satz ab")
        before = stored(store).keys()
        tokenize_files(tokenizer, [first, second], URL, resume=True, **options)
        local = tmp_path / f"local {seed}"
        tokenize_files(tokenizer, [first, second], local, **options)
        assert stored(store).keys() == contents(local).keys()
        left |= {name for name in before - contents(local).keys() if not is_state(name)}
    assert left


def test_joining_cannot_be_changed(store: FaultyFileSystem, tokenizer: Tokenizer, source: JsonLines) -> None:
    run = Run(tokenizer, source)
    stop_after(store, 12, run)
    with pytest.raises(errors.OutputError, match="cannot resume: join was false but is true"):
        run(resume=True, join=True)


DAMAGE = [
    b"",
    b"{",
    b"5",
    b"{}",
    b"[]",
    b'{"part": 5}\n',
    b'{"part": {"files": {"a": 1}}, "number": 0}\n',
    b"\xff",
    b"[" * 9999,
]


@pytest.mark.parametrize("name", ["writer", "manifest-", "parts-"])
@pytest.mark.parametrize("damage", DAMAGE, ids=[str(data[:30]) for data in DAMAGE])
def test_a_damaged_state_is_an_error_until_it_is_overwritten(
    store: FaultyFileSystem, tokenizer: Tokenizer, source: JsonLines, tmp_path: Path, name: str, damage: bytes
) -> None:
    run = Run(tokenizer, source)
    stop_after(store, 12, run)
    (path,) = (path for path in store.store if f"/.lexmill-run/{name}" in path)
    store.pipe_file(path, damage)
    if name != "parts-" or damage:
        with pytest.raises(errors.OutputError, match=rf"{URL}\S*: .*"):
            run(resume=True)
    run(overwrite=True)
    tokenize_files(tokenizer, source, tmp_path / "local", **OPTIONS)
    assert stored(store).items() >= contents(tmp_path / "local").items()
    assert not any(is_state(name) for name in stored(store))
