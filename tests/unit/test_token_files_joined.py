"""Megatron files as one pair: parts that a run joins at its end, and folders of several runs."""

from __future__ import annotations

import json
import random
import shutil
import signal
import subprocess
import sys
import time
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from lexmill import Tokenizer, merge_token_files, open_tokens, tokenize_files
from lexmill.errors import OptionError, OutputError
from lexmill.sources import JsonLines
from token_layouts import read_megatron
from token_runs import TEXTS, contents, save_tokenizer

OPTIONS: dict[str, Any] = {"part_bytes": 30_000, "end_token": 0}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tokenizer and three files of texts."""
    folder = tmp_path_factory.mktemp("joined")
    save_tokenizer(folder)
    for number in range(3):
        lines = [json.dumps({"text": text}) + "\n" for text in TEXTS[number * 1000 : (number + 1) * 1000]]
        (folder / f"{number}.jsonl").write_text("".join(lines))
    return folder


@pytest.fixture
def tokenizer(folder: Path) -> Tokenizer:
    return Tokenizer.from_file(folder / "tokenizer.json")


def sources(folder: Path) -> JsonLines:
    return JsonLines([folder / f"{number}.jsonl" for number in range(3)])


def wide(tokenizer: Tokenizer) -> Tokenizer:
    """The same with ids beyond 16 bits."""
    data = json.loads(tokenizer.to_str())
    data["model"]["vocab"]["unused"] = 70_000
    return Tokenizer.from_str(json.dumps(data))


@pytest.mark.parametrize("is_wide", [False, True])
@pytest.mark.parametrize("part_bytes", [30_000, 1 << 27])
def test_a_joined_pair_holds_what_parts_hold(
    tmp_path: Path, folder: Path, tokenizer: Tokenizer, is_wide: bool, part_bytes: int
) -> None:
    chosen = wide(tokenizer) if is_wide else tokenizer
    options = OPTIONS | {"part_bytes": part_bytes}
    parts = tokenize_files(chosen, sources(folder), tmp_path / "parts", **options)
    joined = tokenize_files(chosen, sources(folder), tmp_path / "joined", join=True, **options)
    assert sorted(contents(tmp_path / "joined")) == ["manifest.json", "tokens.bin", "tokens.idx"]
    dtype = "int32" if is_wide else "uint16"
    assert read_megatron(tmp_path / "joined", dtype) == read_megatron(tmp_path / "parts", dtype)
    assert [ids.tolist() for ids in joined] == [ids.tolist() for ids in parts]
    assert joined.tokens == parts.tokens
    assert [ids.tolist() for ids in joined.windows(1000)] == [ids.tolist() for ids in parts.windows(1000)]
    joined.verify()
    assert joined.manifest["total"] == parts.manifest["total"]


def test_each_split_is_a_pair(tmp_path: Path, folder: Path, tokenizer: Tokenizer) -> None:
    options = OPTIONS | {"validation": 0.1, "shuffle": True}
    tokenize_files(tokenizer, sources(folder), tmp_path / "parts", **options)
    tokenize_files(tokenizer, sources(folder), tmp_path / "joined", join=True, **options)
    names = [f"{split}/tokens.{suffix}" for split in ("train", "validation") for suffix in ("bin", "idx")]
    assert sorted(contents(tmp_path / "joined")) == ["manifest.json", *names]
    for split in ("train", "validation"):
        parts, joined = open_tokens(tmp_path / "parts", split), open_tokens(tmp_path / "joined", split)
        assert [ids.tolist() for ids in joined] == [ids.tolist() for ids in parts]


@pytest.mark.filterwarnings("ignore::lexmill.errors.CorpusWarning")
def test_no_documents(tmp_path: Path, tokenizer: Tokenizer) -> None:
    (tmp_path / "in.jsonl").write_text("")
    written = tokenize_files(tokenizer, tmp_path / "in.jsonl", tmp_path / "out", join=True, validation=0.5)
    assert len(written) == written.tokens == 0
    assert read_megatron(tmp_path / "out" / "train", "uint16") == []
    assert len(merge_token_files([tmp_path / "out"] * 2, tmp_path / "merged")) == 0


def test_only_megatron_files_are_joined(tmp_path: Path, folder: Path, tokenizer: Tokenizer) -> None:
    with pytest.raises(OptionError, match="join is true but must be false unless format is megatron"):
        tokenize_files(tokenizer, sources(folder), tmp_path / "out", format="npy", join=True)


class StopError(Exception):
    """Raised to cut a run short."""


@pytest.mark.parametrize(
    "layout", [{"join": True}, {"format": "raw", "preset": "nanogpt"}], ids=["megatron", "nanogpt"]
)
@pytest.mark.parametrize("harm", ["none", "cut", "longer", "part"])
def test_joining_goes_on_and_needs_room_for_one_part(
    tmp_path: Path, folder: Path, tokenizer: Tokenizer, layout: dict[str, Any], harm: str
) -> None:
    options = OPTIONS | layout
    whole = tokenize_files(tokenizer, sources(folder), tmp_path / "whole", **options)
    size = sum(map(len, contents(tmp_path / "whole").values()))
    out = tmp_path / "out"

    def stop(step: str, done: int, total: int, *_: object) -> None:
        if step == "join":
            held = sum(path.stat().st_size for path in out.rglob("*") if path.suffix not in (".json", ".jsonl"))
            assert held < size + 2 * 30_000
            if done > total / 2:
                raise StopError

    with pytest.raises(StopError):
        tokenize_files(tokenizer, sources(folder), out, on_progress=stop, **options)
    parts = sorted(out.glob("part-*.bin"))
    assert 0 < len(parts) < len(whole.manifest["parts"])
    (unfinished,) = (path for path in out.glob(".t*.bin.tmp"))
    if harm == "cut":
        unfinished.write_bytes(b"short")
    elif harm == "longer":
        unfinished.write_bytes(unfinished.read_bytes() + b"more")
    elif harm == "part":
        parts[-1].write_bytes(b"short")
    tokenize_files(tokenizer, sources(folder), out, resume=True, **options)
    assert contents(out) == contents(tmp_path / "whole")
    # As if the manifest had not been written.
    manifest = json.loads((out / "manifest.json").read_text())
    for name in manifest["files"]:
        (out / name).write_bytes((out / name).read_bytes()[:-1])
    tokenize_files(tokenizer, sources(folder), out, resume=True, **options)
    assert contents(out) == contents(tmp_path / "whole")
    with pytest.raises(StopError):
        tokenize_files(tokenizer, sources(folder), out, on_progress=stop, overwrite=True, **options)
    tokenize_files(tokenizer, sources(folder), out, overwrite=True, format="arrow")
    names = {"data-00000.arrow", "dataset_info.json", "manifest.json", "state.json"}
    assert set(contents(out)) == names


RUN = """
import sys
from pathlib import Path
from lexmill import Tokenizer, tokenize_files
from lexmill.sources import JsonLines
folder, out, layout, preset = Path(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4] or None
source = JsonLines([folder / f"{number}.jsonl" for number in range(3)])
tokenizer = Tokenizer.from_file(folder / "tokenizer.json")
def begun(step, done, *_):
    if step == "join" and done < 60_000:
        print(step, flush=True)
print("ready", flush=True)
tokenize_files(tokenizer, source, out, format=layout, preset=preset, join=preset is None, part_bytes=3_000, end_token=0,
    validation=0.1, resume=True, num_threads=2, on_progress=begun)
"""


def start(folder: Path, out: Path, format: str, preset: str) -> subprocess.Popen[str]:
    arguments = [sys.executable, "-c", RUN, str(folder), str(out), format, preset]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no such signal")
@pytest.mark.parametrize(("format", "preset"), [("megatron", ""), ("raw", "nanogpt")])
def test_a_killed_run_goes_on_and_leaves_no_litter(tmp_path: Path, folder: Path, format: str, preset: str) -> None:
    process = start(folder, tmp_path / "whole", format, preset)
    assert process.stdout is not None
    begun = time.perf_counter()
    process.stdout.readline()
    joining = time.perf_counter()
    assert (process.communicate()[1], process.returncode) == ("", 0)
    to_join, duration, moments = joining - begun, time.perf_counter() - joining, random.Random(13)
    whole = contents(tmp_path / "whole")
    kills = 0
    for number in range(12):
        process = start(folder, tmp_path / "out", format, preset)
        # Most runs are killed while parts are joined.
        time.sleep(moments.uniform(0, to_join if number % 3 == 0 else duration / 2))
        process.kill()
        process.communicate()
        kills += process.returncode == -signal.SIGKILL
        if number % 6 == 5 and number < 11:
            shutil.rmtree(tmp_path / "out", ignore_errors=True)
    assert kills > 0
    process = start(folder, tmp_path / "out", format, preset)
    assert (process.communicate()[1], process.returncode) == ("", 0)
    assert contents(tmp_path / "out") == whole


@pytest.mark.parametrize("join", [False, True])
@pytest.mark.parametrize("validation", [0.0, 0.2])
def test_folders_of_several_runs_become_one_pair(
    tmp_path: Path, folder: Path, tokenizer: Tokenizer, join: bool, validation: float
) -> None:
    folders = []
    for number in range(3):
        folders.append(tmp_path / str(number))
        options = OPTIONS | {"validation": validation, "join": join and number != 1, "seed": number}
        tokenize_files(tokenizer, folder / f"{number}.jsonl", folders[-1], **options)
    before = [contents(folder) for folder in folders]
    seen: list[tuple[str, int, int, float | None, int | None]] = []
    merged = merge_token_files(folders, tmp_path / "out", on_progress=lambda *report: seen.append(report))
    assert [contents(folder) for folder in folders] == before
    for split in ("train", "validation") if validation else ("train",):
        runs = chain.from_iterable(open_tokens(folder, split) for folder in folders)
        documents = [ids.tolist() for ids in runs]
        assert [ids.tolist() for ids in open_tokens(tmp_path / "out", split)] == documents
        assert read_megatron(tmp_path / "out" / (split if validation else ""), "uint16") == documents
    merged.verify()
    assert merged.manifest["total"]["empty"] == sum(1 for text in TEXTS if not text)
    assert [entry["path"] for entry in merged.manifest["inputs"]] == [str(folder / f"{n}.jsonl") for n in range(3)]
    assert (seen[-1][0], seen[-1][1]) == ("merge", seen[-1][2])
    # Merged files may be merged again.
    again = merge_token_files([tmp_path / "out"], tmp_path / "again")
    assert [ids.tolist() for ids in again] == [ids.tolist() for ids in merged]
    with pytest.raises(OutputError, match="it holds token files; pass overwrite=True"):
        merge_token_files(folders, tmp_path / "again")
    merge_token_files(folders[:1], tmp_path / "again", overwrite=True)
    assert len(open_tokens(tmp_path / "again")) == len(open_tokens(folders[0]))


@pytest.mark.filterwarnings("ignore::lexmill.errors.RepeatedInputWarning")
def test_a_merge_that_was_cut_short_begins_again(tmp_path: Path, folder: Path, tokenizer: Tokenizer) -> None:
    run = tmp_path / "run"
    tokenize_files(tokenizer, sources(folder), run, **OPTIONS)

    def stop(_: str, done: int, *_rest: object) -> None:
        if done > 100_000:
            raise StopError

    merge_token_files([run, run], tmp_path / "whole")
    with pytest.raises(StopError):
        merge_token_files([run, run], tmp_path / "out", on_progress=stop)
    with pytest.raises(OutputError, match="its run is not finished"):
        open_tokens(tmp_path / "out")
    # As after a kill.
    (tmp_path / "out" / ".tokens.bin.tmp").write_bytes(b"left")
    (tmp_path / "out" / ".tokens.lengths.tmp").write_bytes(b"left")
    merge_token_files([run, run], tmp_path / "out")
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


def test_folders_that_do_not_go_together_are_named(tmp_path: Path, folder: Path, tokenizer: Tokenizer) -> None:
    def run(name: str, chosen: Tokenizer, **options: Any) -> Path:
        tokenize_files(chosen, folder / "0.jsonl", tmp_path / name, **{**OPTIONS, **options})
        return tmp_path / name

    first = run("first", tokenizer)
    other = Tokenizer.from_str(tokenizer.to_str())
    other.add_special_tokens(["<new>"])
    cases = [
        (run("other", other), r"other: its tokenizer is \S+ but that of the first folder is"),
        (run("npy", tokenizer, format="npy"), 'its format is "npy", but only megatron files are merged'),
        (run("end", tokenizer, end_token=5), "its end_token is 5 but that of the first folder is 0"),
        (run("split", tokenizer, validation=0.5), "only some of the folders have documents for validation"),
        (tmp_path, "it holds no token files"),
    ]
    data = json.loads((run("wide", tokenizer) / "manifest.json").read_text())
    data["options"]["dtype"] = "int32"
    (tmp_path / "wide" / "manifest.json").write_text(json.dumps(data))
    cases.append((tmp_path / "wide", 'its dtype is "int32" but that of the first folder is "uint16"'))
    for refused, message in cases:
        with pytest.raises(OutputError, match=message):
            merge_token_files([first, refused], tmp_path / "out")
    assert not (tmp_path / "out").exists()
    with pytest.raises(OptionError, match="folders is empty but must be at least one folder"):
        merge_token_files([], tmp_path / "out")
    with pytest.raises(OutputError, match="it is one of the folders that are merged"):
        merge_token_files([first], first, overwrite=True)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("mine")
    with pytest.raises(OutputError, match=r"it holds thesis\.txt, which is no token file"):
        merge_token_files([first], tmp_path / "mine")
    path = first / "part-00001.bin"
    held = path.read_bytes()
    path.write_bytes(held[:50] + b"?" + held[51:])
    with pytest.raises(OutputError, match=r"part-00001.bin: it is not as it was written"):
        merge_token_files([first], tmp_path / "out")


def test_one_folder_that_is_not_in_a_list_is_named(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="folders is 'parts' but must be a list of folders"):
        merge_token_files("parts", tmp_path / "all")
