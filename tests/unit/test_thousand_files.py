"""One file among a thousand that is missing, cannot be read, is damaged, or changes while the others are read."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lexmill import Tokenizer, count_words, models, pre_tokenizers, tokenize_files
from lexmill.errors import FileError, FormatError, LexmillError
from lexmill.pre_tokenizers import Whitespace
from lexmill.sources import JsonLines, Source

FILES, BAD, ROWS = 1000, 701, 100


def tokenizer() -> Tokenizer:
    made = Tokenizer(models.WordLevel({"a": 0, "unk": 1}, unk_token="unk"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    return made


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files; every third one is compressed."""
    folder = tmp_path_factory.mktemp("files")
    for number in range(FILES):
        data = "".join(json.dumps({"text": f"a {number} b {row}"}) + "\n" for row in range(ROWS)).encode()
        path = folder / f"{number:04}.jsonl"
        path.write_bytes(gzip.compress(data, 1) if number % 3 == 1 else data)
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    # Links, since only one file becomes another one.
    return Path(shutil.copytree(made, tmp_path / "files", copy_function=os.link))


def files(folder: Path) -> list[Path]:
    return [folder / f"{number:04}.jsonl" for number in range(FILES)]


def remove(path: Path) -> None:
    path.unlink()


def replace_by_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def replace_by_dangling_link(path: Path) -> None:
    path.unlink()
    path.symlink_to("nowhere")


def cut(path: Path) -> None:
    data = path.read_bytes()
    path.unlink()
    path.write_bytes(gzip.compress(data)[:-20])


def break_record(path: Path) -> None:
    lines = path.read_text().splitlines(keepends=True)
    path.unlink()
    path.write_text("".join([*lines[:50], "{}\n", *lines[51:]]))


@pytest.mark.parametrize("on_error", ["raise", "skip"])
@pytest.mark.parametrize("harm", [remove, replace_by_folder, replace_by_dangling_link])
def test_a_file_that_is_not_there_is_named_before_any_is_read(
    harm: Callable[[Path], None], on_error: str, folder: Path, tmp_path: Path
) -> None:
    """`on_error="skip"` leaves out records, and never files."""
    harm(folder / f"{BAD:04}.jsonl")
    source = JsonLines(files(folder), on_error=on_error)  # type: ignore[arg-type]
    with pytest.raises(FileError, match=r"0701\.jsonl"):
        tokenize_files(tokenizer(), source, tmp_path / "tokens")
    assert not (tmp_path / "tokens").exists()
    with pytest.raises(FileError, match=r"0701\.jsonl"):
        count_words([source], pre_tokenizer=Whitespace(), checkpoint=tmp_path / "parts")
    assert not (tmp_path / "parts").exists()
    with pytest.raises(FileError, match=r"0701\.jsonl"):
        count_words([source], pre_tokenizer=Whitespace())


def vanishing(folder: Path, change: Callable[[Path], None]) -> Callable[..., None]:
    """Changes the file when the work begins: reports in between depend on the time."""
    pending = [folder / f"{BAD:04}.jsonl"]

    def progress(*_: object) -> None:
        if pending:
            change(pending.pop())

    return progress


def touch(path: Path) -> None:
    os.utime(path, ns=(1, 1))


def append(path: Path) -> None:
    data = path.read_bytes()
    path.unlink()
    path.write_bytes(data + b'{"text": "more"}\n')


CHANGES = [
    (remove, FileError, r"cannot (open|read) \S*0701\.jsonl"),
    (replace_by_folder, LexmillError, r"0701\.jsonl"),
    (replace_by_dangling_link, FileError, r"cannot (open|read) \S*0701\.jsonl"),
    (cut, FileError, r"cannot read \S*0701\.jsonl"),
    (break_record, FormatError, r"0701\.jsonl, line 51: there is no field `text`"),
    (append, FormatError, r"0701\.jsonl: the file was modified while it was read"),
]


@pytest.mark.parametrize(("change", "error", "message"), CHANGES, ids=lambda it: getattr(it, "__name__", ""))
def test_a_file_that_changes_is_named_and_what_was_finished_is_kept(
    change: Callable[[Path], None], error: type[LexmillError], message: str, folder: Path, tmp_path: Path, made: Path
) -> None:
    out, parts = tmp_path / "tokens", tmp_path / "parts"
    source: Source = JsonLines(files(folder))
    with pytest.raises(error, match=message):
        tokenize_files(
            tokenizer(), source, out, part_bytes=50_000, num_threads=1, on_progress=vanishing(folder, change)
        )
    restore(folder, made)
    with pytest.raises(error, match=message):
        count_words(
            [source],
            pre_tokenizer=Whitespace(),
            checkpoint=parts,
            checkpoint_bytes=300_000,
            num_threads=1,
            on_progress=vanishing(folder, change),
        )
    restore(folder, made)
    kept = {path: path.stat().st_mtime_ns for place in (out, parts) for path in place.glob("part-*")}
    assert {path.parent for path in kept} == {out, parts}
    assert not [path for place in (out, parts) for path in place.glob(".*")]
    tokens = tokenize_files(tokenizer(), source, out, part_bytes=50_000, resume=True)
    counts = count_words([source], pre_tokenizer=Whitespace(), checkpoint=parts, checkpoint_bytes=300_000, resume=True)
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert (len(tokens), counts.texts, counts.total) == (FILES * ROWS, FILES * ROWS, 4 * FILES * ROWS)
    tokens.verify()


def restore(folder: Path, made: Path) -> None:
    """Puts the file back as it was, its time too."""
    path = folder / f"{BAD:04}.jsonl"
    if path.is_dir():
        path.rmdir()
    path.unlink(missing_ok=True)
    os.link(made / path.name, path)


def test_without_a_checkpoint_a_file_that_vanishes_is_named_too(folder: Path) -> None:
    with pytest.raises(FileError, match=r"cannot open \S*0701\.jsonl"):
        count_words(
            [JsonLines(files(folder))],
            pre_tokenizer=Whitespace(),
            num_threads=1,
            on_progress=vanishing(folder, remove),
        )


FORBIDDEN = """
import sys
from pathlib import Path
from lexmill import count_words
from lexmill.errors import FileError
from lexmill.pre_tokenizers import Whitespace
try:
    count_words([Path(sys.argv[1])], pre_tokenizer=Whitespace())
except FileError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="files have no modes")
def test_a_file_that_must_not_be_read_is_named(tmp_path: Path) -> None:
    path = tmp_path / "secret.txt"
    path.write_text("a b\n")
    path.chmod(0)
    command = [sys.executable, "-c", FORBIDDEN, str(path)]
    if os.geteuid() == 0:
        # Root without the capabilities that pass over modes; another user might not even get to the interpreter.
        setpriv = shutil.which("setpriv")
        if setpriv is None:
            pytest.skip("root may read all files, and there is no setpriv")
        command = [setpriv, "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all", *command]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.stdout.startswith(f"cannot open {path}: Permission denied"), ran
