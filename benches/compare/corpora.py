"""The texts and the tokenizers that are measured on."""

from __future__ import annotations

import os
import sysconfig
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Scratch files live where `cargo clean` and `make clean` find them.
SCRATCH = ROOT / "target" / "compare"
# What stands in where the data folder is absent: the standard library's sources, and a tokenizer trained on them.
STDLIB = "stdlib"
TRAINED = "trained"


def data_folder() -> Path:
    """The folder of corpora and published tokenizers: `LEXMILL_DATA`, or the one beside the repository."""
    return Path(os.environ.get("LEXMILL_DATA", ROOT.parent / "shared" / "data"))


def available_corpora() -> list[str]:
    """Names of the corpora at hand; the standard library's sources stand in where the folder is absent."""
    return [path.stem for path in sorted((data_folder() / "corpora").glob("*.txt"))] or [STDLIB]


def available_tokenizers() -> list[str]:
    """Names of the published tokenizers at hand."""
    return [path.parent.name for path in sorted((data_folder() / "tokenizers").glob("*/tokenizer.json"))]


def tokenizer_file(name: str) -> Path:
    """One published tokenizer, or the one that the sweep has trained."""
    folder = (SCRATCH if name == TRAINED else data_folder()) / "tokenizers" / name
    if not (folder / "tokenizer.json").is_file():
        raise SystemExit(f"no tokenizer.json in {folder}; set LEXMILL_DATA")
    return folder / "tokenizer.json"


def corpus_file(name: str, megabytes: float | None) -> Path:
    """A file that holds the first `megabytes` of a corpus, cut at a line end; the corpus itself if it is no longer."""
    source = _stdlib_file() if name == STDLIB else data_folder() / "corpora" / f"{name}.txt"
    if not source.is_file():
        raise SystemExit(f"no corpus {source}; at hand: {', '.join(available_corpora())}")
    limit = None if megabytes is None else int(megabytes * 1e6)
    if limit is None or source.stat().st_size <= limit:
        return source
    target = SCRATCH / f"{name}-{limit}.txt"
    if not target.is_file():
        with source.open("rb") as file:
            text = file.read(limit)
        _write_whole(target, text[: text.rfind(b"\n") + 1])
    return target


def _stdlib_file() -> Path:
    target = SCRATCH / f"stdlib-{sysconfig.get_python_version()}.txt"
    if not target.is_file():
        folder = Path(sysconfig.get_path("stdlib"))
        sources = sorted(path for path in folder.rglob("*.py") if "site-packages" not in path.parts)
        _write_whole(target, b"".join(_utf8(path) for path in sources))
    return target


def _utf8(path: Path) -> bytes:
    # A few of the library's own test files hold other encodings on purpose.
    data = path.read_bytes().replace(b"\r\n", b"\n")
    try:
        data.decode()
    except UnicodeDecodeError:
        return b""
    return data if data.endswith(b"\n") or not data else data + b"\n"


def _write_whole(target: Path, data: bytes) -> None:
    # Renamed into place, since two processes may want the same file at once.
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_suffix(f".{os.getpid()}.part")
    part.write_bytes(data)
    part.replace(target)
