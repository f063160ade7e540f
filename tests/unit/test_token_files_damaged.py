"""Token files and manifests that are not as they were written."""

from __future__ import annotations

import json
from itertools import starmap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lexmill import Tokenizer, models, pre_tokenizers
from lexmill.errors import FileError, FormatError, LexmillError, OptionError, OutputError
from lexmill.sources import JsonLines, Lines
from lexmill.token_files import open_tokens, tokenize_files
from token_layouts import LAYOUTS, options_for


def tokenizer(largest: int = 2) -> Tokenizer:
    made = Tokenizer(models.WordLevel({"a": 0, "unk": 1, "b": largest}, unk_token="unk"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    return made


@pytest.fixture
def corpus(tmp_path: Path) -> Lines:
    path = tmp_path / "corpus.txt"
    path.write_text("a b\nb\na a a\nb a\n" * 50)
    return Lines(path)


@pytest.mark.parametrize("layout", list(starmap(options_for, LAYOUTS)), ids=str)
def test_a_file_that_was_cut_is_an_error_and_no_end_of_the_documents(
    layout: dict[str, Any], corpus: Lines, tmp_path: Path
) -> None:
    folder = tmp_path / "tokens"
    written = tokenize_files(tokenizer(), corpus, folder, **layout)
    is_split = layout.get("preset") not in ("nanogpt", "llm.c")
    whole = [list(ids) for ids in written.windows(5)]
    listed = [folder / name for part in written.manifest["parts"] for name in part["files"]] or [folder / "train.bin"]
    # That file is for people alone.
    names = [path for path in listed if path.suffix != ".metadata"]
    for path in names:
        held = path.read_bytes()
        for kept in (0, 1, 8, 33, len(held) // 2, len(held) - 1):
            path.write_bytes(held[:kept])
            opened = open_tokens(folder)
            with pytest.raises(OutputError, match=path.name.split(".")[0]):  # noqa: PT012 (both have to raise)
                list(opened.windows(5))
                list(opened) if is_split else None
        path.unlink()
        with pytest.raises(OutputError, match="not as it was written"):
            list(open_tokens(folder).windows(5))
        path.write_bytes(held)
    assert [list(ids) for ids in open_tokens(folder).windows(5)] == whole


def test_splits_and_types_that_lie_are_errors(corpus: Lines, tmp_path: Path) -> None:
    folder = tmp_path / "tokens"
    tokenize_files(tokenizer(), corpus, folder, format="npy")
    splits, ids = folder / "part-00000.row_splits.npy", folder / "part-00000.npy"
    sound = np.load(splits)
    for lie in (sound[::-1], sound - 1, sound.astype("f8"), sound[:-1], sound.reshape(1, -1), np.zeros(0, "i8")):
        np.save(splits, lie)
        with pytest.raises(OutputError, match=r"documents (do not begin|but the manifest)"):
            open_tokens(folder)[0]
    np.save(splits, sound)
    for dtype in (">u2", "<i2", "<f2", "S2"):
        np.save(ids, np.load(ids).view(dtype))
        with pytest.raises(OutputError, match="its type is"):
            open_tokens(folder)[0]


@pytest.mark.parametrize("pack", [None, 2])
def test_wrong_offsets_are_errors(pack: int | None, corpus: Lines, tmp_path: Path) -> None:
    folder = tmp_path / "tokens"
    tokenize_files(tokenizer(), corpus, folder, format="mds", pack=pack)
    path = folder / "shard.00000.mds"
    sound, table = path.read_bytes(), "its table of offsets does not match its records"
    count, first, second = np.frombuffer(sound, "<u4", 3).tolist()
    lies = [(1, 0, table), (1, second + 9, table), (0, 3, table)]
    if pack is None:
        # The last document has a byte more.
        lies += [(count + 1, len(sound) + 1, "does not end where an id of uint16 ends")]
        lies += [(1, first - 1, "not an array of one axis")]
    else:
        lies += [(2, first + 1, "a row has fewer than 2 ids")]
    for place, lie, message in lies:
        changed = np.frombuffer(sound, "u1").copy()
        changed[4 * place : 4 * place + 4].view("<u4")[0] = lie
        path.write_bytes(changed.tobytes() + bytes(lie > len(sound)))
        with pytest.raises(OutputError, match=message):
            open_tokens(folder)[0]


def test_a_manifest_that_was_changed_is_an_error(corpus: Lines, tmp_path: Path) -> None:
    folder = tmp_path / "tokens"
    tokenize_files(tokenizer(), corpus, folder)
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    values: list[object] = [None, -1, 2**70, [], {}, "x", 0.5, True]
    for name in manifest:
        for value in values:
            path.write_text(json.dumps({**manifest, name: value}))
            _look(folder)
    for name in manifest["options"]:
        for value in values:
            path.write_text(json.dumps({**manifest, "options": {**manifest["options"], name: value}}))
            _look(folder)
    for name in manifest["parts"][0]:
        for value in values:
            path.write_text(json.dumps({**manifest, "parts": [{**manifest["parts"][0], name: value}]}))
            _look(folder)
    path.write_text("[" * 200_000)
    with pytest.raises(OutputError, match="no token files of this version"):
        open_tokens(folder)


def _look(folder: Path) -> None:
    """Whatever the manifest says, only errors of the package are raised."""
    try:
        opened = open_tokens(folder)
        list(opened)
        list(opened.windows(3))
    except LexmillError:
        pass


def test_a_finished_run_outlives_a_source_that_is_not_there(corpus: Lines, tmp_path: Path) -> None:
    folder, fresh = tmp_path / "tokens", tmp_path / "fresh"
    written = [list(ids) for ids in tokenize_files(tokenizer(), corpus, folder)]
    for target in (folder, fresh):
        with pytest.raises(FileError, match=r"missing\.jsonl"):
            tokenize_files(tokenizer(), JsonLines(tmp_path / "missing.jsonl"), target, overwrite=True)
    assert [list(ids) for ids in open_tokens(folder)] == written
    assert not fresh.exists()


@pytest.mark.parametrize("layout", [{"format": "megatron"}, {"format": "arrow", "signed": True}])
def test_ids_beyond_signed_files_are_refused(layout: dict[str, Any], corpus: Lines, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="the largest id is 2147483648, but these files hold ids up to 2147483647"):
        tokenize_files(tokenizer(2**31), corpus, tmp_path / "tokens", **layout)
    assert list(tokenize_files(tokenizer(2**31 - 1), corpus, tmp_path / "tokens", **layout)[0]) == [0, 2**31 - 1]


def test_an_input_that_shrinks_meanwhile_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "corpus.txt"
    path.write_text("a b\n" * 500_000)

    def cut(_stage: str, done: int, *_: object) -> None:
        if done < 1_500_000:
            with path.open("r+") as file:
                file.truncate(1_900_000)

    with pytest.raises(FormatError, match="was modified while it was read"):
        tokenize_files(tokenizer(), Lines(path), tmp_path / "tokens", on_progress=cut)


@pytest.mark.parametrize(
    "change", [{"documents": 2**64 - 1}, {"tokens": 2**64 - 1}, {"end": {"file": 10**6, "byte": 0}}, {"empty": -1}]
)
def test_a_list_of_parts_that_was_changed_is_not_gone_on_with(change: dict[str, Any], tmp_path: Path) -> None:
    path, folder = tmp_path / "corpus.txt", tmp_path / "tokens"
    path.write_text("a b\n" * 300_000)
    whole = [list(ids) for ids in tokenize_files(tokenizer(), Lines(path), tmp_path / "whole", part_bytes=200_000)[:20]]

    def stop(_stage: str, done: int, *_: object) -> None:
        if done > 600_000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tokenize_files(tokenizer(), Lines(path), folder, part_bytes=200_000, on_progress=stop)
    lines = (folder / "parts.jsonl").read_text().splitlines()
    assert len(lines) > 1
    lines[-1] = json.dumps({**json.loads(lines[-1]), **change})
    (folder / "parts.jsonl").write_text("".join(f"{line}\n" for line in lines))
    again = tokenize_files(tokenizer(), Lines(path), folder, part_bytes=200_000, resume=True)
    assert (len(again), [list(ids) for ids in again[:20]]) == (300_000, whole)
    again.verify()


@pytest.mark.parametrize(
    "change",
    [
        {"files": "x"},
        {"files": {"part-00000.bin": None}},
        {"files": {"part-00000.bin": {"bytes": 3}}},
        {"parts": [{"documents": 0, "tokens": 0, "files": {"part-00000.bin": {"crc32": "0"}}}]},
    ],
    ids=str,
)
def test_checksums_that_are_none_are_a_damaged_manifest(change: dict[str, Any], corpus: Lines, tmp_path: Path) -> None:
    folder = tmp_path / "tokens"
    manifest = tokenize_files(tokenizer(), corpus, folder).manifest
    (folder / "manifest.json").write_text(json.dumps(manifest | change))
    with pytest.raises(OutputError, match="its manifest is damaged"):
        open_tokens(folder).verify()


def test_a_file_that_cannot_be_read_is_named(corpus: Lines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "tokens"
    written = tokenize_files(tokenizer(), corpus, folder)

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(FileError, match=r"cannot read .*part-00000.*: Permission denied"):
        written.verify()
