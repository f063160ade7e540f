"""`python -m lexmill.demo`: trains on text that every machine has, encodes it and proves that nothing is lost.

The text is the source code of Python's standard library. Everything is checked: each file must come back from its
ids byte for byte, or the demo fails.
"""

from __future__ import annotations

import argparse
import sys
import sysconfig
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np

from lexmill import OnProgress, TokenArrays, Tokenizer
from lexmill.cli.arrays import write_npy
from lexmill.cli.display import columns, cut, join_cut, megabytes, wants_color
from lexmill.cli.files import write_whole
from lexmill.decoders import ByteLevel as ByteLevelDecoder
from lexmill.errors import LexmillError
from lexmill.models import BPE
from lexmill.pre_tokenizers import ByteLevel
from lexmill.trainers import BpeTrainer

__all__ = ["Report", "main", "run", "standard_library"]

SAMPLE = "def median(data): return sorted(data)[len(data) // 2]  # the middle value, for naïve needs"
# Folders that are not the library itself, or that distributions leave out.
_LEFT_OUT = frozenset({"site-packages", "dist-packages", "test", "tests", "idle_test", "__pycache__"})

T = TypeVar("T")


@dataclass
class Report:
    """The results of the demo, section by section."""

    sections: list[str] = field(default_factory=list)
    steps: list[tuple[str, float, float]] = field(default_factory=list)

    def timed(self, step: str, size: int, work: Callable[[], T]) -> T:
        """Does a step and notes its time; `size` is the text it goes through in bytes, 0 if that has no meaning."""
        started = time.perf_counter()
        result = work()
        seconds = time.perf_counter() - started
        self.steps.append((step, seconds, size / seconds / 1e6 if seconds else 0.0))
        return result

    def table(self) -> str:
        """The steps with their seconds and speed."""
        rows = [("seconds", "MB/s", "step")]
        rows += [(f"{seconds:.3f}", f"{speed:,.0f}" if speed else "", step) for step, seconds, speed in self.steps]
        return columns(rows, ">><")

    def text(self) -> str:
        """All of it."""
        return "\n\n".join(self.sections) + "\n"


def standard_library() -> list[Path]:
    """The source files of Python's standard library without its tests, in order of their names."""
    folder = Path(sysconfig.get_path("stdlib"))
    files = (file for file in folder.rglob("*.py") if _LEFT_OUT.isdisjoint(file.relative_to(folder).parts))
    return sorted(files)


def run(files: Sequence[Path], output: Path, *, vocab_size: int = 8000, color: bool = False) -> Report:
    """Counts, trains, saves, encodes, decodes and compares; writes the results to the folder `output`.

    Raises:
        RuntimeError: a file did not come back from its ids byte for byte.
        LexmillError: a file cannot be read, or there is no text.
    """
    report = Report()
    output.mkdir(parents=True, exist_ok=True)
    contents = {file: data for file in files if _is_utf8(data := file.read_bytes())}
    paths = [str(file) for file in contents]
    size = sum(map(len, contents.values()))
    lines = sum(data.count(b"\n") for data in contents.values())
    left_out = f" ({len(files) - len(paths)} more are not UTF-8)" if len(paths) < len(files) else ""
    report.sections.append(f"the text: {len(paths):,} files{left_out}, {lines:,} lines, {megabytes(size)}")

    counted: list[float] = []

    def progress(stage: str, done: int, total: int, _eta: float | None, _rss: int | None) -> None:
        if stage != "count words" and not counted:
            counted.append(time.perf_counter())

    saved = output / "tokenizer.json"
    started = time.perf_counter()
    trained = report.timed(f"train {vocab_size:,} byte-level tokens", size, lambda: _train(paths, vocab_size, progress))
    counting = counted[0] - started if counted else 0.0
    report.steps.append(("- of this, counting words", counting, size / counting / 1e6 if counting else 0.0))
    report.timed("save", 0, lambda: trained.save(str(saved)))
    tokenizer = report.timed("load", 0, lambda: Tokenizer.from_file(str(saved)))
    arrays = report.timed("encode to arrays", size, lambda: tokenizer.encode_files_arrays(paths))
    texts = report.timed("decode", size, lambda: [tokenizer.decode(row, strict=True) for row in arrays])
    for path, text, data in zip(paths, texts, contents.values(), strict=True):
        if text.encode() != data:
            message = f"{path} did not come back from its {len(data)} bytes' ids as it was"
            raise RuntimeError(message)
    report.sections.append(report.table())
    report.sections.append(
        f"round trip: all {len(paths):,} files came back from {len(arrays.ids):,} ids byte for byte,"
        f" {size / len(arrays.ids):.2f} bytes per token"
    )
    report.sections += _tokens(tokenizer, arrays)
    pieces = cut(SAMPLE, tokenizer.encode(SAMPLE, add_special_tokens=False).offsets)
    report.sections.append(f"a line in {len(pieces)} pieces:\n{join_cut(pieces, color)}")
    for name, array in (("ids.npy", arrays.ids), ("row_splits.npy", arrays.row_splits)):
        with write_whole(str(output / name)) as stream:
            write_npy(stream, [array])
    report.sections.append(f"in {output}/: tokenizer.json, ids.npy, row_splits.npy")
    return report


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _train(paths: list[str], vocab_size: int, progress: OnProgress) -> Tokenizer:
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    tokenizer.decoder = ByteLevelDecoder()
    trainer = BpeTrainer(vocab_size=vocab_size, initial_alphabet=ByteLevel.alphabet(), show_progress=False)
    tokenizer.train(paths, trainer, on_progress=progress)
    return tokenizer


def _tokens(tokenizer: Tokenizer, arrays: TokenArrays, top: int = 8) -> list[str]:
    """The longest tokens, and the most frequent ones."""
    counts = np.bincount(arrays.ids, minlength=tokenizer.get_vocab_size())
    vocab = tokenizer.get_vocab()
    # Rulers and indentation aside, which would fill the list.
    wordy = (token for token in vocab if len(set(token)) > 4)
    longest = sorted(wordy, key=lambda token: (-len(token), vocab[token]))[:top]
    frequent = np.argsort(-counts, kind="stable")[:top]
    rows = [("uses", "the longest tokens", "uses", "the most frequent tokens")]
    for token, id_ in zip(longest, frequent.tolist(), strict=False):
        long = vocab[token]
        rows.append((f"{counts[long]:,}", _shown(tokenizer, long), f"{counts[id_]:,}", _shown(tokenizer, id_)))
    unused = int((counts == 0).sum())
    return [columns(rows, "><><"), f"{unused:,} of {len(counts):,} tokens are not used"]


def _shown(tokenizer: Tokenizer, id_: int) -> str:
    text = tokenizer.decode([id_])
    # Indentation makes for long tokens of nothing but spaces.
    return f"{len(text)} spaces" if len(text) > 1 and not text.strip(" ") else repr(text)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the demo on the standard library and prints the report; answers the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m lexmill.demo", description="Trains on the standard library, encodes it, proves the round trip."
    )
    parser.add_argument("--output", type=Path, default=Path("demo-output"), metavar="DIR", help="where the files go")
    output = parser.parse_args(argv).output
    try:
        report = run(standard_library(), output, color=wants_color(sys.stdout))
        print(report.text(), end="")
    except (OSError, LexmillError, RuntimeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
