"""The texts and the tokenizers that are measured on, and how a text is cut into documents."""

from __future__ import annotations

import hashlib
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


def tokenizer_folder(name: str) -> Path:
    """The folder of one published tokenizer, or of the one that the sweep has trained."""
    folder = (SCRATCH if name == TRAINED else data_folder()) / "tokenizers" / name
    if not (folder / "tokenizer.json").is_file():
        raise SystemExit(f"no tokenizer.json in {folder}; set LEXMILL_DATA")
    return folder


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


def file_digest(path: Path) -> str:
    """SHA-256 of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def documents(path: Path, size: int = 4096) -> list[str]:
    """Cuts a file into documents of about `size` bytes.

    A cut stands after a single line feed and before a letter or digit. There no known byte-level splitter looks from
    one side to the other, so a library that reads the file as one text must give the same ids.
    """
    data = path.read_bytes()
    texts: list[str] = []
    start = 0
    while start < len(data):
        end = data.find(b"\n", start + size) + 1
        while end and end < len(data) and not _may_cut(data, end):
            end = data.find(b"\n", end) + 1
        end = end or len(data)
        texts.append(data[start:end].decode())
        start = end
    return texts


def _may_cut(data: bytes, end: int) -> bool:
    before = data[max(end - 5, 0) : end - 1].decode(errors="ignore")[-1:]
    return not before.isspace() and data[end : end + 4].decode(errors="ignore")[:1].isalnum()


def short_texts(path: Path, count: int = 20_000) -> list[str]:
    """The first `count` lines of 20 to 200 bytes, without their ends."""
    texts: list[str] = []
    with path.open("rb") as lines:
        for line in lines:
            if 20 <= len(line) <= 200:
                texts.append(line.rstrip(b"\n").decode())
                if len(texts) == count:
                    break
    return texts


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
