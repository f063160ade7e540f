"""A new tokenizer from an old one: the same kind and the same stages, with a vocabulary learnt from other text.

An old tokenizer of English learns Python, once through transformers and once with lexmill alone.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from lexmill import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from shared import code, heading, must_equal, prose, put_lexmill_under_transformers, row

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

END = "<|endoftext|>"
SAMPLE = """class Stack:
    def __init__(self, items=None):
        self.items = list(items or [])

    def __len__(self):
        return len(self.items)
"""
BATCH = 16


def train_english(size: int) -> Tokenizer:
    """A byte-level BPE tokenizer as GPT-2's, which has seen lines of plain English only."""
    english = [line for text in prose() for line in text.splitlines() if re.fullmatch(r"[A-Za-z' ,.;:-]+", line)]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(english, byte_level_trainer(size, [END]))
    return tokenizer


def byte_level_trainer(size: int, special_tokens: list[str]) -> trainers.BpeTrainer:
    """All bytes have a token, so that no text is unknown."""
    return trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=special_tokens,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )


def batches(texts: list[str]) -> Iterator[list[str]]:
    """Yields some texts at a time, as a large corpus would be read."""
    for start in range(0, len(texts), BATCH):
        yield texts[start : start + BATCH]


def load_old(folder: str | None, size: int) -> PreTrainedTokenizerBase:
    """A fast tokenizer of transformers: a saved one, or one that is trained here."""
    from transformers import AutoTokenizer, PreTrainedTokenizerFast

    if folder is not None:
        return AutoTokenizer.from_pretrained(folder)
    return PreTrainedTokenizerFast(tokenizer_object=train_english(size), bos_token=END, eos_token=END)


def train_alone(old: Tokenizer, texts: list[str], size: int) -> Tokenizer:
    """The same without transformers: the old stages around a new model."""
    special_tokens = [token.content for token in old.get_added_tokens_decoder().values() if token.special]
    new = Tokenizer(models.BPE())
    new.pre_tokenizer, new.post_processor, new.decoder = old.pre_tokenizer, old.post_processor, old.decoder
    if old.normalizer is not None:
        new.normalizer = old.normalizer
    new.train_from_iterator(batches(texts), byte_level_trainer(size, special_tokens))
    return new


def show_tokens(name: str, tokenizer: PreTrainedTokenizerBase, text: str) -> None:
    """Prints the number of tokens of a text, and the tokens of its lines."""
    row(name, [f"{len(tokenizer.tokenize(text))} tokens"])
    for line in filter(str.strip, text.splitlines()):
        row("", tokenizer.tokenize(line))


def main() -> None:
    """Trains a tokenizer of code from a tokenizer of English."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("files", nargs="*", metavar="FILE", help="code; else the standard library's")
    parser.add_argument("--old", metavar="FOLDER", help="a byte-level BPE tokenizer that save_pretrained wrote")
    parser.add_argument("--size", type=int, default=4000, metavar="N", help="tokens of the new vocabulary, and the old")
    given = parser.parse_args()
    put_lexmill_under_transformers()
    texts = [Path(file).read_text(encoding="utf-8") for file in given.files] or code()

    heading("From old to new")
    old = load_old(given.old, given.size)
    new = old.train_new_from_iterator(batches(texts), given.size, show_progress=False)
    row("class", [type(old).__name__, type(new).__name__])
    row("runs on", [type(new.backend_tokenizer).__module__])
    row("tokens known", [len(old), len(new)])
    row("special tokens", [old.all_special_tokens, new.all_special_tokens])

    heading("The same code by both")
    show_tokens("old", old, SAMPLE)
    show_tokens("new", new, SAMPLE)
    before, after = (sum(map(len, tokenizer(texts)["input_ids"])) for tokenizer in (old, new))
    row("all texts", [f"{before} tokens", f"{after} tokens", f"{100 - 100 * after / before:.0f} % fewer"])
    must_equal("texts", new.decode(new(SAMPLE)["input_ids"], clean_up_tokenization_spaces=False), SAMPLE)

    heading("With lexmill alone")
    alone = train_alone(old.backend_tokenizer, texts, given.size)
    must_equal("vocabularies", alone.get_vocab(), new.get_vocab())
    must_equal("ids", alone.encode(SAMPLE).ids, new(SAMPLE)["input_ids"])
    row("vocabulary", ["equal"])

    heading("Saved and loaded")
    with tempfile.TemporaryDirectory() as folder:
        new.save_pretrained(folder)
        loaded = type(new).from_pretrained(folder)
        row("files", sorted(path.name for path in Path(folder).iterdir()))
    must_equal("ids", loaded(texts)["input_ids"], new(texts)["input_ids"])
    row("ids", ["equal"])


if __name__ == "__main__":
    main()
