"""What the examples share: text that every machine has, how results are printed, and what must be equal."""

from __future__ import annotations

import ast
import sys
import sysconfig
from collections import Counter
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path

import lexmill
from lexmill import Tokenizer
from lexmill.decoders import WordPiece as WordPieceDecoder
from lexmill.models import Model, WordPiece
from lexmill.pre_tokenizers import BertPreTokenizer, PreTokenizer
from lexmill.processors import BertProcessing
from lexmill.trainers import Trainer, WordPieceTrainer

Words = list[tuple[str, int]]

# Small enough to follow every step by eye.
SENTENCES = [
    "The miller sells flour by the sack.",
    "A sack of flour is milled from grain.",
    "Some grains are milled twice, others are sold unmilled.",
    "Selling is easier than milling, says the miller.",
]


def lines(paths: Sequence[str]) -> list[str]:
    """Returns the lines of files, blank ones left out, or the sentences above if no files are given."""
    if not paths:
        return SENTENCES
    texts = (Path(path).read_text(encoding="utf-8") for path in paths)
    return [line for text in texts for line in text.splitlines() if line.strip()]


def code(files: int = 40) -> list[str]:
    """Returns sources of the standard library, the first ones in order of their names."""
    folder = Path(sysconfig.get_path("stdlib"))
    return [path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.py"))[:files]]


def prose(files: int = 40) -> list[str]:
    """Returns English text: what the sources of the standard library say about themselves."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
    nodes = (node for source in code(files) for node in ast.walk(ast.parse(source)) if isinstance(node, kinds))
    return [text for text in map(ast.get_docstring, nodes) if text]


def count_words(texts: Iterable[str], stage: PreTokenizer) -> Words:
    """Counts the words that a pre-tokenizer cuts, in order of first appearance: what every trainer starts from."""
    return list(Counter(word for text in texts for word, _ in stage.pre_tokenize_str(text)).items())


def train(texts: Iterable[str], model: Model, stage: PreTokenizer, trainer: Trainer) -> Tokenizer:
    """Trains a tokenizer that has a pre-tokenizer and a model."""
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = stage
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def small_bert() -> Tokenizer:
    """Returns a tokenizer of BERT's kind, trained in a moment on what the standard library says about itself."""
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    trainer = WordPieceTrainer(vocab_size=3000, special_tokens=special, show_progress=False)
    tokenizer = train(prose(), WordPiece(unk_token="[UNK]"), BertPreTokenizer(), trainer)
    tokenizer.post_processor = BertProcessing(("[SEP]", special.index("[SEP]")), ("[CLS]", special.index("[CLS]")))
    tokenizer.decoder = WordPieceDecoder()
    return tokenizer


def by_id(tokenizer: Tokenizer) -> list[str]:
    """Returns the tokens in order of their ids."""
    vocab = tokenizer.get_vocab()
    return sorted(vocab, key=vocab.__getitem__)


def heading(text: str) -> None:
    """Prints the heading of a section."""
    print(f"\n{text}\n{'-' * len(text)}")


def row(name: str, values: Iterable[object], separator: str = " | ") -> None:
    """Prints a name and values on one line."""
    print(f"{name:<18}{separator.join(map(str, values))}")


def must_equal(what: str, ours: object, theirs: object) -> None:
    """Ends the example with exit code 1 if two results differ that must not."""
    if ours != theirs:
        sys.exit(f"error: {what} differ:\n  {ours}\n  {theirs}")


def put_lexmill_under_transformers() -> None:
    """Makes transformers, imported after this call, run on lexmill; without transformers the example ends."""
    if find_spec("transformers") is None:
        sys.exit("this example needs transformers, which is not installed: pip install transformers")
    lexmill.install()
