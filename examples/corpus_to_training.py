"""From a corpus on disk to what training programs read: counted, trained from, tokenized, and loaded again.

The same documents go to Megatron-LM's pair of files, which are read again by the layout of Megatron-LM's index, and to
a folder that `datasets.load_from_disk` opens, which is tried if datasets is installed.
"""

from __future__ import annotations

import argparse
import json
import struct
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import numpy.typing as npt

from lexmill import Tokenizer, count_words, decoders, models, open_tokens, pre_tokenizers, tokenize_files, trainers
from lexmill.sources import JsonLines
from shared import code, heading, must_equal, row

END = "<|endoftext|>"
CODES = {4: np.int32, 8: np.uint16}
HEADER = "<9sQBQQ"


def write_corpus(folder: Path, files: int) -> list[Path]:
    """Writes JSON lines, ten documents a file: what a corpus of terabytes has thousands of."""
    texts = code(files)
    paths = []
    for number, start in enumerate(range(0, len(texts), 10)):
        path = folder / f"part-{number:03}.jsonl"
        records = ({"text": text, "id": start + at} for at, text in enumerate(texts[start : start + 10]))
        path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
        paths.append(path)
    return paths


def learn(corpus: JsonLines, size: int, scratch: Path) -> Tokenizer:
    """Counts in bounded memory, saves the counts, and trains on them."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=[END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    counts = count_words(corpus, pre_tokenizer=tokenizer.pre_tokenizer, max_memory="256MB", folder=scratch)
    counts.save(scratch / "corpus.counts")
    row("distinct words", [f"{len(counts):,}"])
    row("training takes", [f"{counts.training_memory(trainer) / 1e6:,.0f} MB at most"])
    tokenizer.train_from_counts(counts, trainer, max_memory="1GB")
    return tokenizer


def read_megatron(prefix: Path) -> Iterator[npt.NDArray[np.integer]]:
    """Yields the documents of a pair of files as Megatron-LM's `IndexedDataset` finds them."""
    index = prefix.with_suffix(".idx").read_bytes()
    magic, version, width, sequences, _ = struct.unpack_from(HEADER, index)
    must_equal("header and Megatron-LM's", (magic, version), (b"MMIDIDX\0\0", 1))
    start = struct.calcsize(HEADER)
    lengths = np.frombuffer(index, "<i4", sequences, start)
    offsets = np.frombuffer(index, "<i8", sequences, start + lengths.nbytes)
    ids = np.memmap(prefix.with_suffix(".bin"), CODES[width], "r")
    for length, offset in zip(lengths, offsets, strict=True):
        first = offset // ids.itemsize
        yield ids[first : first + length]


def read_datasets(folder: Path) -> list[list[int]]:
    """The documents as `datasets` opens them: what transformers, TRL and axolotl train on."""
    from datasets import load_from_disk

    return [list(ids) for ids in load_from_disk(str(folder))["input_ids"]]


def main() -> None:
    """Does all steps in a temporary folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=40, help="sources of the standard library to read")
    parser.add_argument("--size", type=int, default=2000, help="tokens of the vocabulary")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        corpus = JsonLines(write_corpus(folder, options.files), field="text")

        heading("Count and train")
        tokenizer = learn(corpus, options.size, folder)
        row("vocabulary", [tokenizer.get_vocab_size()])

        heading("For Megatron-LM")
        written = tokenize_files(tokenizer, corpus, folder / "megatron", end_token=END, shuffle=True, seed=1, join=True)
        row("files", sorted(path.name for path in (folder / "megatron").iterdir()))
        megatron = [ids.tolist() for ids in read_megatron(folder / "megatron" / "tokens")]
        row("documents", [len(megatron)])
        row("tokens", [f"{written.tokens:,}"])

        heading("For datasets")
        tokenize_files(tokenizer, corpus, folder / "arrow", format="arrow", end_token=END, shuffle=True, seed=1)
        arrow = [ids.tolist() for ids in open_tokens(folder / "arrow")]
        must_equal("Megatron-LM's documents and Arrow's", megatron, arrow)
        if find_spec("datasets"):
            must_equal("documents of load_from_disk", read_datasets(folder / "arrow"), arrow)
        row("read by", ["datasets" if find_spec("datasets") else "open_tokens; datasets is not installed"])

        texts = sorted(tokenizer.decode(ids, skip_special_tokens=True) for ids in megatron)
        must_equal("texts that come back", texts, sorted(text for text in corpus if text))
        row("every text", ["comes back byte for byte"])


if __name__ == "__main__":
    main()
