"""docs/guides/coming-from.md: the calls of both libraries of each row give equal values, or a named difference."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import lexmill
from lexmill import Tokenizer, decoders, models, pre_tokenizers, processors, sources, trainers

pytestmark = pytest.mark.external

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "coming-from.md"
PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
END = "<|endoftext|>"
SPECIAL_TOKENS = {END: 270}
TEXTS = ["the cat sat", "café 🐈 on the mat", "the"]
# Beginnings of our calls whose values differ as the third column says.
DIFFERENT = (
    "Tokenizer.from_",
    "tokenizer.encode_batch_arrays(texts, return_offsets=True)",
    "tokenizer.model.alpha",
    "tokenizer.train(",
    "tokenizer.id_to_token(264)",
    'tokenizer.encode_batch_ids([b"caf',
)
Row = tuple[list[str], list[str]]


def rows_of(library: str) -> list[Row]:
    """The calls of the table of a library: theirs and ours."""
    section = PAGE.read_text(encoding="utf-8").split(f"## From {library}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| `")]
    cells = [line.strip("|").split("|") for line in lines]
    return [(calls(theirs), calls(ours)) for theirs, ours, _ in cells]


def calls(cell: str) -> list[str]:
    """The code of a cell."""
    return re.findall(r"`([^`]*)`", cell)


def run(statements: list[str], names: dict[str, Any]) -> Any:
    """The value of the last statement; None if it is no expression."""
    value = None
    for statement in statements:
        (node,) = ast.parse(statement).body
        if isinstance(node, ast.Expr):
            value = eval(statement, names)
        else:
            exec(statement, names)
            value = None
    return plain(value)


def plain(value: Any) -> Any:
    """Arrays, rows and tuples as lists, sets in order."""
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    if hasattr(value, "row_splits"):
        return [row.tolist() for row in value]
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with the files that the calls name."""
    monkeypatch.chdir(tmp_path)
    lines = ["the cat sat on the mat", "a cat ate the rat on a mat", "this is a test of sentence pieces"] * 50
    Path("corpus.txt").write_text("\n".join(lines) + END + "the cat")
    Path("corpus.jsonl").write_text("".join(json.dumps({"body": text}) + "\n" for text in TEXTS))
    byte_level = Tokenizer(models.BPE())
    byte_level.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    byte_level.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=269, initial_alphabet=alphabet, show_progress=False)
    byte_level.train_from_iterator(["the cat sat on the mat"] * 10, trainer)
    byte_level.save("tokenizer.json")
    byte_level.save_tiktoken("ranks.tiktoken")
    return tmp_path


def names_of(tokenizer: Any, ids: list[int], text: str = TEXTS[1], **others: Any) -> dict[str, Any]:
    return {"tokenizer": tokenizer, "ids": ids, "text": text, "texts": [text, *TEXTS], "end": END, **others}


OURS = {
    "Tokenizer": Tokenizer,
    "TemplateProcessing": processors.TemplateProcessing,
    "UnigramTrainer": trainers.UnigramTrainer,
    "BpeTrainer": trainers.BpeTrainer,
    "ByteLevel": pre_tokenizers.ByteLevel,
    **{name: getattr(sources, name) for name in ("Documents", "JsonLines", "Parquet")},
}


def compare(library: str, make: Any) -> None:
    """Runs each row in new namespaces; `make` gives theirs and ours."""
    rows = rows_of(library)
    assert len(rows) > 5
    for theirs, ours in rows:
        their_names, our_names = make()
        expected, value = run(theirs, their_names), run(ours, our_names | OURS)
        if not ours[0].startswith(DIFFERENT) or "get_vocab()" in ours[-1]:
            assert value == expected, (theirs, ours)
            assert value is not None, ours


def test_every_named_difference_is_in_the_page() -> None:
    names = ["tokenizers", "sentencepiece", "tiktoken", "gigatoken"]
    ours = [ours[0] for library in names for _, ours in rows_of(library)]
    assert all(any(call.startswith(beginning) for call in ours) for beginning in DIFFERENT)


@pytest.mark.usefixtures("folder")
def test_calls_of_tokenizers() -> None:
    peer = pytest.importorskip("tokenizers")

    def make() -> Iterator[dict[str, Any]]:
        for library in (peer, lexmill):
            tokenizer = library.Tokenizer.from_file("tokenizer.json")
            trainer = library.trainers.BpeTrainer(vocab_size=280, show_progress=False)
            yield names_of(tokenizer, [258, 264], trainer=trainer)

    compare("tokenizers", make)


@pytest.mark.usefixtures("folder")
def test_calls_of_sentencepiece() -> None:
    peer = pytest.importorskip("sentencepiece")
    options = {"vocab_size": 26, "minloglevel": 2}
    peer.SentencePieceTrainer.train(input="corpus.txt", model_prefix="unigram", **options)
    text = "the cat ☃ sat on the mats"

    def make() -> Iterator[dict[str, Any]]:
        theirs, ours = peer.SentencePieceProcessor(model_file="unigram.model"), Tokenizer.from_spm("unigram.model")
        for tokenizer in (theirs, ours):
            yield names_of(tokenizer, ours.encode_ids(text), text, sentencepiece=peer)

    compare("sentencepiece", make)


@pytest.mark.usefixtures("folder")
def test_calls_of_tiktoken() -> None:
    peer = pytest.importorskip("tiktoken")
    load = pytest.importorskip("tiktoken.load").load_tiktoken_bpe
    text = "the cat<|endoftext|> café 🐈"
    others = {"tiktoken": peer, "load_tiktoken_bpe": load, "pattern": PATTERN, "special_tokens": SPECIAL_TOKENS}

    def make() -> Iterator[dict[str, Any]]:
        ranks = load("ranks.tiktoken")
        theirs = peer.Encoding("own", pat_str=PATTERN, mergeable_ranks=ranks, special_tokens=SPECIAL_TOKENS)
        ours = Tokenizer.from_tiktoken("ranks.tiktoken", PATTERN, SPECIAL_TOKENS)
        for tokenizer in (theirs, ours):
            yield names_of(tokenizer, ours.encode_ids(text), text, plain=TEXTS[1], **others)

    compare("tiktoken", make)


@pytest.mark.usefixtures("folder")
def test_calls_of_gigatoken() -> None:
    peer = pytest.importorskip("gigatoken")
    parquet = pytest.importorskip("pyarrow.parquet")
    pyarrow = pytest.importorskip("pyarrow")
    parquet.write_table(pyarrow.table({"body": TEXTS}), "corpus.parquet")

    def make() -> Iterator[dict[str, Any]]:
        ours = Tokenizer.from_file("tokenizer.json")
        for tokenizer in (peer.Tokenizer("tokenizer.json"), ours):
            yield names_of(tokenizer, ours.encode_ids(TEXTS[1]), gigatoken=peer)

    compare("gigatoken", make)


@pytest.mark.usefixtures("folder")
def test_training_of_gigatoken_has_the_same_merges() -> None:
    peer = pytest.importorskip("gigatoken")
    ((theirs,), (ours,)) = next(row for row in rows_of("gigatoken") if "train_bpe" in row[0][0])
    _, merges = eval(theirs, {"gigatoken": peer, "end": END})
    tokenizer = Tokenizer.from_file("tokenizer.json")
    run([ours], names_of(tokenizer, []) | OURS)
    spelled = pre_tokenizers.ByteLevel(add_prefix_space=False)
    expected = [[spelled.pre_tokenize_str(part.decode())[0][0] for part in merge] for merge in merges]
    trained = json.loads(tokenizer.to_str())["model"]["merges"]
    assert trained == expected
