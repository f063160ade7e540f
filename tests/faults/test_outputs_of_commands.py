"""Other commands that write a file: a full or failing disk is an error that names the file, which stays as it was."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from faulty import FULL, Fault, Faults, tree

COMMANDS: dict[str, list[str]] = {
    "encode": ["encode", "tokenizer.json", "texts.txt", "-o", "ids.npy"],
    "encode-splits": [
        "encode", "tokenizer.json", "texts.txt", "--separator", "\n", "-o", "ids.npy", "--row-splits", "splits.npy",
    ],
    "decode": ["decode", "tokenizer.json", "old.npy", "-o", "text.txt"],
    "convert": ["convert", "tokenizer.json", "converted.json", "--to", "tokenizer-json"],
    "train": ["train", "texts.txt", "-o", "trained.json", "--vocab-size", "300"],
    "trim": ["merge-counts", "some.counts", "--min-count", "2", "-o", "trimmed.counts"],
}  # fmt: skip
OUTPUTS = ("ids.npy", "splits.npy", "text.txt", "converted.json", "trained.json", "trimmed.counts")
SAVE = "from lexmill import Tokenizer; Tokenizer.from_file('tokenizer.json').save('trained.json')"


@pytest.fixture
def begin(tokenizer: Path, counts: list[Path]) -> Callable[[Path], None]:
    def begin(folder: Path) -> None:
        folder.mkdir()
        shutil.copy(tokenizer, folder / "tokenizer.json")
        shutil.copy(counts[0], folder / "some.counts")
        (folder / "texts.txt").write_text("the cat sat on the mat\n" * 2000)
        for name in OUTPUTS:
            (folder / name).write_bytes(b"as before")

    return begin


ACTIONS = [(call, action) for call in ("write", "fsync", "rename") for action in (errno.ENOSPC, errno.EIO, None)]
"""What happens at which call; without a number, the process is killed."""


@pytest.mark.parametrize(("call", "action"), ACTIONS if FULL else [ACTIONS[0], ACTIONS[4], ACTIONS[8]])
@pytest.mark.parametrize("name", [*COMMANDS, "save"])
def test_what_was_there_stays(
    faults: Faults, begin: Callable[[Path], None], tmp_path: Path, name: str, call: str, action: int | None
) -> None:
    folder = tmp_path / "work"
    begin(folder)
    if name == "decode":
        assert faults.lexmill([*COMMANDS["encode"][:-1], "old.npy"], folder).code == 0
    before = tree(folder)
    fault = Fault((call,), 1, action, is_sticky=True, at_paths=(folder,))
    command = ["-c", SAVE] if name == "save" else ["-m", "lexmill", *COMMANDS[name]]
    ran = faults.python(command, folder, fault)
    if action is None:
        assert ran.is_killed
        assert {path: data for path, data in tree(folder).items() if not path.startswith(".lexmill-")} == before
        # The next command that writes here removes what was left.
        assert faults.python(command, folder).code == 0
        assert tree(folder).keys() == before.keys()
        return
    assert ran.code == 1
    assert any(output in ran.errors for output in OUTPUTS)
    assert ("No space left" if action == errno.ENOSPC else "nput/output error").lower() in ran.errors.lower()
    assert tree(folder) == before
