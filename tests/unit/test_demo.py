from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from lexmill import Tokenizer, demo


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    texts = {"a.py": b"def one():\r\n    return 1\r\n" * 50, "b.py": "größe = '東京 🦀'\n".encode(), "c.py": b"\xff"}
    for name, data in texts.items():
        (tmp_path / name).write_bytes(data)
    return [tmp_path / name for name in texts]


def test_report_and_files_of_a_small_run(files: list[Path], tmp_path: Path) -> None:
    output = tmp_path / "new" / "output"
    text = demo.run(files, output, vocab_size=300).text()
    assert "2 files (1 more are not UTF-8), 101 lines" in text
    assert "all 2 files came back" in text
    assert "\x1b" not in text
    tokenizer = Tokenizer.from_file(str(output / "tokenizer.json"))
    splits = np.load(output / "row_splits.npy")
    ids = np.load(output / "ids.npy")
    assert tokenizer.decode(ids[splits[1] : splits[2]].tolist()).encode() == files[1].read_bytes()


def test_tokens_are_colored_if_told(files: list[Path], tmp_path: Path) -> None:
    assert "\x1b[" in demo.run(files, tmp_path / "output", vocab_size=300, color=True).text()


def test_no_text_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="holds no words"):
        demo.run([], tmp_path / "output")


def test_the_text_is_the_standard_library_without_tests() -> None:
    files = demo.standard_library()
    assert any(file.name == "argparse.py" for file in files)
    assert not any("site-packages" in file.parts for file in files)
    assert files == sorted(files)


def test_an_output_that_is_a_file_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "taken").touch()
    command = [sys.executable, "-m", "lexmill.demo", "--output", str(tmp_path / "taken")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
