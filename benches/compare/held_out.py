"""Compares unigram trainers by how likely text is that they have not seen.

Each library trains on the first part of a corpus, one after the other; the log likelihood is that of the best
segmentations of the words of another part, all by the same encoder, so it tells of pieces and scores alone. Words are
of ASCII, so that every character has a piece everywhere. Writes
`benches/results/<machine>/held-out.csv`.
"""

from __future__ import annotations

import argparse
import csv
import json
import tempfile
from collections import Counter
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from corpora import available_corpora, corpus_file
from results import RESULTS
from sweep import commit, machine_name

Pieces = list[tuple[str, float]]
COLUMNS = ["corpus", "bytes", "held_out_bytes", "vocab_size", "library", "version"]
COLUMNS += ["log_likelihood", "per_cent_better_than_lexmill", "pieces_shared_with_lexmill", "commit"]


def main() -> None:
    """Trains, compares and writes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", nargs="+", default=available_corpora()[:1])
    parser.add_argument("--megabytes", type=float, default=5)
    parser.add_argument("--held-out-megabytes", type=float, default=4)
    parser.add_argument("--vocab-size", type=int, default=8_000)
    parser.add_argument("--machine", help="name of the results' folder")
    arguments = parser.parse_args()
    rows = [row for corpus in arguments.corpora for row in compare(corpus, arguments)]
    folder = RESULTS / (arguments.machine or machine_name())
    folder.mkdir(exist_ok=True)
    with (folder / "held-out.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def compare(corpus: str, arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """One row a library."""
    sizes = [round(size * 1e6) for size in (arguments.megabytes, arguments.held_out_megabytes)]
    text = corpus_file(corpus, sum(sizes) / 1e6).read_bytes()
    known, unknown = (
        [word for word in part.decode(errors="ignore").split() if word.isascii()]
        for part in (text[: sizes[0]], text[sizes[0] :])
    )
    held_out = Counter("▁" + word for word in unknown)
    rows: list[dict[str, Any]] = []
    first: tuple[float, set[str]] | None = None
    for library, train in TRAINERS.items():
        pieces = train(known, arguments.vocab_size)
        likelihood, names = log_likelihood(pieces, held_out), {piece for piece, _ in pieces}
        first = first or (likelihood, names)
        values = [corpus, *sizes, arguments.vocab_size, library, version(library), round(likelihood)]
        # Logarithms are negative: the smaller one is further from zero.
        better, shared = 100 * (1 - likelihood / first[0]), len(names & first[1]) / len(first[1])
        rows.append(dict(zip(COLUMNS, [*values, f"{better:.3f}", f"{shared:.4f}", commit()], strict=True)))
        print(", ".join(f"{name} {value}" for name, value in rows[-1].items()), flush=True)
    return rows


def log_likelihood(pieces: Pieces, words: Counter[str]) -> float:
    """Of the best segmentations of counted words."""
    import lexmill

    model = lexmill.models.Unigram(pieces, [piece for piece, _ in pieces].index("<unk>"))
    return sum(count * model.encode_nbest(word, 1)[0][1] for word, count in words.items())


def train_by_tokenizers(library: Any, words: list[str], vocab_size: int) -> Pieces:
    """By Hugging Face's names, which are also ours."""
    tokenizer = library.Tokenizer(library.models.Unigram())
    tokenizer.pre_tokenizer = library.pre_tokenizers.Metaspace()
    trainer = library.trainers.UnigramTrainer(vocab_size=vocab_size, unk_token="<unk>", show_progress=False)
    tokenizer.train_from_iterator([" ".join(words)], trainer)
    return [(piece, score) for piece, score in json.loads(tokenizer.to_str())["model"]["vocab"]]


def train_lexmill(words: list[str], vocab_size: int) -> Pieces:
    """By this project."""
    import lexmill

    return train_by_tokenizers(lexmill, words, vocab_size)


def train_hugging_face(words: list[str], vocab_size: int) -> Pieces:
    """By Hugging Face."""
    import tokenizers

    return train_by_tokenizers(tokenizers, words, vocab_size)


def train_sentencepiece(words: list[str], vocab_size: int) -> Pieces:
    """By SentencePiece."""
    import sentencepiece

    with tempfile.TemporaryDirectory() as folder:
        prefix = Path(folder) / "m"
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(words),
            model_prefix=str(prefix),
            vocab_size=vocab_size,
            character_coverage=1.0,
            normalization_rule_name="identity",
            input_sentence_size=0,
            max_sentence_length=1 << 20,
            bos_id=-1,
            eos_id=-1,
            minloglevel=2,
        )
        model = sentencepiece.SentencePieceProcessor(model_file=f"{prefix}.model")
    return [(model.id_to_piece(token), model.get_score(token)) for token in range(model.get_piece_size())]


TRAINERS: dict[str, Callable[[list[str], int], Pieces]] = {
    "lexmill": train_lexmill,
    "tokenizers": train_hugging_face,
    "sentencepiece": train_sentencepiece,
}


if __name__ == "__main__":
    main()
