"""The life of a tokenizer of languages and code: trained on a mixture, judged, extended, pruned, and judged again.

German and Russian are made up of few words, so compare the numbers of one language only. Pictures need matplotlib.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import numpy.typing as npt

import lexmill
from lexmill import Tokenizer, decoders, models, pre_tokenizers, trainers
from lexmill.evaluation import Evaluation
from lexmill.vocabularies import TokenMap
from made_sentences import german, russian
from pictures import draw
from shared import code, heading, must_equal, prose, row

Rows = npt.NDArray[np.float32]


def write(folder: Path, name: str, texts: list[str]) -> tuple[Path, Path]:
    """Writes every fourth text to a file that judges tokenizers, and the others to a file that trains them."""
    paths = folder / f"{name}.train.jsonl", folder / f"{name}.test.jsonl"
    for path, own in zip(paths, ([text for at, text in enumerate(texts) if at % 4], texts[::4]), strict=True):
        path.write_text("".join(json.dumps({"text": text}) + "\n" for text in own))
    return paths


def byte_level() -> Tokenizer:
    """An untrained tokenizer. Bytes are its alphabet, so no language is unknown to it."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def trainer(size: int, superwords: trainers.SuperwordOptions | None = None) -> trainers.BpeTrainer:
    """A trainer of `size` tokens."""
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    return trainers.BpeTrainer(vocab_size=size, initial_alphabet=alphabet, superwords=superwords, show_progress=False)


def train(files: dict[str, Path], weights: dict[str, float], size: int) -> Tokenizer:
    """Trains on a mixture, and prints the share of each domain and its tokens."""
    tokenizer = byte_level()
    domains = tokenizer.train(files, trainer(size), weights=weights)
    for name, domain in domains.items():
        row(name, [f"weight {weights[name]}", f"{domain.share:.0%} of the mixture", f"{domain.used} tokens in use"])
    return tokenizer


def means(rows: Rows, token_map: TokenMap) -> Rows:
    """For each token of a new vocabulary, the mean of the rows of the old tokens that spell it."""
    sums = np.add.reduceat(rows[token_map.ids], token_map.row_splits[:-1])
    return (sums / np.diff(token_map.row_splits)[:, None]).astype(np.float32)


def judge(tokenizers: dict[str, Tokenizer], files: dict[str, Path]) -> Evaluation:
    """Prints the bytes per token of each domain: the more bytes a token has, the fewer tokens a text has."""
    evaluation = lexmill.evaluate(tokenizers, files)
    row("bytes per token", [f"{name:>8}" for name in files])
    for at, name in enumerate(tokenizers):
        row(name, [f"{corpus.tokenizers[at].bytes_per_token:8.2f}" for corpus in evaluation.corpora])
    return evaluation


def show(folder: Path, size: int, pictures_folder: Path) -> None:
    """Goes through all steps; `folder` is for the texts."""
    # Three domains, and Russian, which the first training leaves out. A quarter of the texts is only for judging.
    texts = {"english": prose(), "german": german(2000), "code": code(), "russian": russian(2000)}
    written = {name: write(folder, name, own) for name, own in texts.items()}
    learnt, judged = ({name: paths[at] for name, paths in written.items()} for at in (0, 1))

    # Code is most of the text, so it gets most of the tokens. With a weight, texts count as if they came so many times.
    first_domains = {name: path for name, path in learnt.items() if name != "russian"}
    heading("Train on the texts as they are")
    plain = train(first_domains, dict.fromkeys(first_domains, 1), size)
    heading("Train on a mixture")
    mixed = train(first_domains, {"english": 3, "german": 6, "code": 1}, size)

    # The mixture shortens German, and code pays little for it. Russian, which was not there, has a token for each byte.
    heading("Judge")
    tokenizers = {"plain": plain, "mixed": mixed}
    judge(tokenizers, judged)

    # New tokens of Russian get the ids after all others. Other text is encoded as before.
    heading("Extend by a language")
    extended = Tokenizer.from_str(mixed.to_str())
    extended.continue_training([learnt["russian"]], trainer(size + size // 8))
    row("tokens", [mixed.get_vocab_size(), extended.get_vocab_size()])
    ids, ids_before = (one.encode_batch_arrays(texts["german"]).ids.tolist() for one in (extended, mixed))
    must_equal("ids of German", ids, ids_before)

    # Rare tokens cost a row of the embeddings each. They go, unless frequent tokens are made of them.
    heading("Prune")
    pruned = lexmill.prune(extended, corpus=learnt.values(), min_count=8)
    small = pruned.tokenizer
    row("tokens", [extended.get_vocab_size(), small.get_vocab_size(), f"{len(pruned.required)} of them for others"])

    # A model has a row of numbers for each token, here random ones. The row of a new token begins as the mean of the
    # rows that spelled it before; old tokens keep their rows.
    heading("Take the embeddings along")
    rows = np.random.default_rng(1).standard_normal((mixed.get_vocab_size(), 64), np.float32)
    token_map = lexmill.token_map(extended, mixed)
    newest = extended.get_vocab_size() - 1
    row("new token", [extended.decode([newest]).strip(), f"{len(token_map[newest])} tokens before"])
    rows_extended = means(rows, token_map)
    must_equal("rows of old tokens", rows_extended[: len(rows)].tolist(), rows.tolist())
    row("rows", [len(rows), len(rows_extended), len(rows_extended[pruned.old_ids])])

    # Superwords are tokens of several words. They are learnt last, here as a quarter of the vocabulary.
    heading("Superwords")
    superwords = byte_level()
    options = trainers.SuperwordOptions(max(256, small.get_vocab_size() * 3 // 4))
    superwords.train(learnt.values(), trainer(small.get_vocab_size(), options))
    spelled = superwords.decode_batch([[id_] for id_ in range(superwords.get_vocab_size())])
    row("most words", [max(spelled, key=lambda text: len(text.split())).strip()])

    # Extending shortens Russian alone. Pruning costs little. Superwords shorten languages, and code pays for them.
    heading("Judge again")
    tokenizers |= {"extended": extended, "pruned": small, "superwords": superwords}
    evaluation = judge(tokenizers, judged)
    if find_spec("matplotlib") is None:
        row("pictures", ["none: matplotlib is not installed"])
        return
    drawn = draw(pictures_folder, evaluation, lexmill.report(tokenizers, judged.values()).numbers)
    row("pictures", [path.name for path in drawn])


def main() -> None:
    """Trains, judges, extends and prunes a tokenizer of languages and code."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--size", type=int, default=4000, metavar="N", help="tokens of the first tokenizers")
    parser.add_argument("--pictures", default="pictures", metavar="FOLDER", help="folder of the pictures")
    given = parser.parse_args()
    Path(given.pictures).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        show(Path(folder), given.size, Path(given.pictures))


if __name__ == "__main__":
    main()
