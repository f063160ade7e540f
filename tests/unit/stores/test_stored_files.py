"""Token files in a store: the bytes of local files, whatever fails on the way."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from lexmill import Tokenizer, errors, open_tokens, tokenize_files
from lexmill._data import stored_run
from lexmill.sources import JsonLines
from token_layouts import LAYOUTS
from token_runs import contents

pytest.importorskip("fsspec")

from faulty_store import FaultyFileSystem
from stored_files import OPTIONS, URL, Run, stored

WAYS = [dict(zip(("format", "preset"), layout, strict=True)) for layout in LAYOUTS]
WAYS += [{"shuffle": True}, {"join": True}, {"format": "npy", "pack": 64, "packing": "best-fit", "pad_token": 0}]


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_stored_files_are_the_local_ones(
    store: FaultyFileSystem,
    tokenizer: Tokenizer,
    source: JsonLines,
    tmp_path: Path,
    temporary: Path,
    way: dict[str, Any],
) -> None:
    local = tokenize_files(tokenizer, source, tmp_path / "local", **OPTIONS, **way)
    found = tokenize_files(tokenizer, source, URL, **OPTIONS, **way)
    assert stored(store) == contents(tmp_path / "local")
    assert (len(found), found.tokens, found.manifest) == (len(local), local.tokens, local.manifest)
    del found
    # Nothing stays on this machine.
    assert contents(temporary) == {}
    for split in ("train", "validation"):
        opened, again = open_tokens(tmp_path / "local", split), open_tokens(URL, split)
        assert again.windows(50)[-1].tolist() == opened.windows(50)[-1].tolist()


def test_a_manifest_of_documents_is_stored_last(
    store: FaultyFileSystem, tokenizer: Tokenizer, source: JsonLines
) -> None:
    tokenize_files(tokenizer, source, URL, format="arrow", **OPTIONS)
    order = [name.removeprefix("/b/tokens/") for name in store.written if "/.lexmill-run/" not in name]
    parts = [name for name in order if "data-" in name]
    assert order[-1] == "manifest.json"
    assert parts == sorted(parts, key=lambda name: int(name[-11:-6]))
    assert len(set(order)) == len(order)


FAULTS: list[Any] = [503, "cut", None, "short", "reset", 500, "stored", None, "cut", 429, "short", "reset"]


@pytest.mark.parametrize("way", [{}, {"join": True}, {"format": "parquet"}], ids=str)
def test_faults_change_no_byte(
    store: FaultyFileSystem, tokenizer: Tokenizer, source: JsonLines, tmp_path: Path, way: dict[str, Any]
) -> None:
    tokenize_files(tokenizer, source, tmp_path / "local", **OPTIONS, **way)
    store.write_faults[:] = FAULTS * 3
    store.faults[:] = ["reset", 503]
    tokenize_files(tokenizer, source, URL, **OPTIONS, **way)
    assert stored(store) == contents(tmp_path / "local")
    assert len(store.write_faults) < 24
    assert not store.faults


def test_a_store_that_always_fails_is_an_error(
    store: FaultyFileSystem, tokenizer: Tokenizer, source: JsonLines, temporary: Path
) -> None:
    tokenize = Run(tokenizer, source)
    store.write_faults[:] = [None, None, *[503] * 7]
    message = r"cannot write faulty://b/tokens/\S+: 7 tries failed, the last one by StatusError: status 503"
    with pytest.raises(errors.FileError, match=message):
        tokenize()
    assert contents(temporary) == {}
    store.write_faults[:] = [PermissionError(13, "Permission denied")]
    with pytest.raises(errors.FileError, match=r"cannot write faulty://b/tokens/\S+: Permission denied"):
        tokenize(overwrite=True)
    tokenize(resume=True)


def test_without_permission_no_document_is_read(
    store: FaultyFileSystem, tokenizer: Tokenizer, source: JsonLines
) -> None:
    run = Run(tokenizer, source)
    store.write_faults[:] = [403]
    with pytest.raises(errors.FileError, match=r"cannot write faulty://b/tokens/.lexmill-run/writer.json: status 403"):
        run()
    assert (run.reports, stored(store)) == (0, {})


def test_the_disk_holds_two_parts(
    store: FaultyFileSystem, tokenizer: Tokenizer, source: JsonLines, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    take = stored_run.StoredRun.take

    def watched(self: stored_run.StoredRun, part: str) -> None:
        take(self, part)
        sizes.append(sum(len(data) for data in contents(temporary).values()))

    monkeypatch.setattr(stored_run.StoredRun, "take", watched)
    Run(tokenizer, source)()
    assert len(sizes) == 8
    # A part has 30,000 bytes of ids and 20 bytes a document.
    assert max(sizes) < 3 * 60_000
    assert stored(store)


def test_files_are_fetched_when_they_are_looked_into(
    store: FaultyFileSystem, tokenizer: Tokenizer, source: JsonLines, tmp_path: Path
) -> None:
    tokenize_files(tokenizer, source, tmp_path / "local", **OPTIONS)
    Run(tokenizer, source)()
    local = open_tokens(tmp_path / "local")
    kept = open_tokens(URL, cache=tmp_path / "kept")
    store.asked.clear()
    assert kept[0].tolist() == local[0].tolist()
    # The ids and the index of one part, in one block each.
    assert len(store.asked) == 2
    assert [ids.tolist() for ids in kept] == [ids.tolist() for ids in local]
    store.asked.clear()
    again = pickle.loads(pickle.dumps(open_tokens(URL, cache=tmp_path / "kept")))
    assert [ids.tolist() for ids in again] == [ids.tolist() for ids in local]
    # Manifests alone are asked for again.
    assert len(store.asked) == 2
    again.verify()
    assert repr(again).startswith(f"TokenFiles('{URL}', train: ")
    Run(tokenizer, source)(overwrite=True, seed=3)
    other = open_tokens(URL, cache=tmp_path / "kept")
    assert [ids.tolist() for ids in other] != [ids.tolist() for ids in local]
    with pytest.raises(errors.OptionError, match=r"cache is 'x' but must be absent, since .* is no URL"):
        open_tokens(tmp_path / "local", cache="x")


@pytest.mark.parametrize("name", ["../evil", "/tmp/evil", "a/../../evil", "C:evil", "..\\evil", "./evil"])
def test_a_manifest_leads_to_no_file_elsewhere(
    store: FaultyFileSystem, tokenizer: Tokenizer, source: JsonLines, tmp_path: Path, name: str
) -> None:
    Run(tokenizer, source)()
    manifest = json.loads(store.cat_file("/b/tokens/manifest.json"))
    files = manifest["parts"][0]["files"]
    files[name] = files.pop(min(files))
    store.pipe_file("/b/tokens/manifest.json", json.dumps(manifest).encode())
    with pytest.raises(errors.OutputError, match=r"it names '.*evil', which is no file below its folder"):
        open_tokens(URL, cache=tmp_path / "deep" / "kept")
    assert not list(tmp_path.rglob("*evil"))


def test_outputs_that_no_store_takes(tokenizer: Tokenizer, source: JsonLines) -> None:
    with pytest.raises(errors.RemotePathError, match="is an address of the web, where no files are written"):
        tokenize_files(tokenizer, source, "https://example.org/tokens")
    for url, message in (("file:///tmp/tokens", "pass the path"), (Path(URL), "is not on this machine")):
        with pytest.raises(errors.RemotePathError, match=message):
            tokenize_files(tokenizer, source, url)
    with pytest.raises(errors.OptionError, match=r"packing is index, but .* is a URL; pack_tokens writes"):
        tokenize_files(tokenizer, source, URL, pack=8, packing="index")
    with pytest.raises(errors.RemotePathError, match="no URL may stand here"):
        tokenizer.save("s3://bucket/tokenizer.json")
