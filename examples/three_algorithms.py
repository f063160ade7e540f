"""BPE, WordPiece and Unigram step by step: the readable reference beside the compiled core, equal at every step."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise

from lexmill import Tokenizer, models, pre_tokenizers, trainers
from lexmill.reference import unigram_exact_loss as exact_loss
from lexmill.reference.bpe import Bpe
from lexmill.reference.bpe_pairs import merge_pair
from lexmill.reference.bpe_trainer import train_bpe
from lexmill.reference.unigram import Unigram
from lexmill.reference.wordpiece import WordPiece
from lexmill.reference.wordpiece_trainer import train_wordpiece
from shared import Words, by_id, count_words, heading, lines, must_equal, row, train

Merges = list[tuple[str, str]]
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
END = ["<|endoftext|>"]


def replay(words: Words, vocab: list[str], merges: Merges, prefix: str) -> Iterator[tuple[int, int, int, int]]:
    """Yields for each merge how often the pair and its halves occur before it, and the number of tokens after it."""
    ids = {token: place for place, token in enumerate(vocab)}
    size = 0
    segments = [[ids[prefix + char if place else char] for place, char in enumerate(word)] for word, _ in words]
    for left, right in merges:
        pair, new = (ids[left], ids[right]), ids[left + right.removeprefix(prefix)]
        symbols: Counter[int] = Counter()
        pairs: Counter[tuple[int, int]] = Counter()
        for segment, (_, count) in zip(segments, words, strict=True):
            symbols.update({symbol: number * count for symbol, number in Counter(segment).items()})
            pairs.update({found: number * count for found, number in Counter(pairwise(segment)).items()})
        segments = [merge_pair(segment, pair, new) for segment in segments]
        size = max(size, new + 1)
        yield pairs[pair], symbols[pair[0]], symbols[pair[1]], size


def show_merges(
    words: Words, learnt: tuple[list[str], Merges], prefix: str, train_to: Callable[[int], Tokenizer]
) -> None:
    """Prints each merge of the reference, and trains the core up to the same merge."""
    vocab, merges = learnt
    for step, (pair, first, second, size) in enumerate(replay(words, vocab, merges, prefix), 1):
        score = f"{pair} / ({first} * {second}) = {pair / (first * second):.4f}" if prefix else f"{pair} times"
        row(f"{step:>3}", [f"{' + '.join(merges[step - 1]):<16}", score])
        core = train_to(size)
        must_equal(f"tokens after merge {step}", by_id(core), vocab[:size])
        if not prefix:  # The file of a WordPiece model has no merges.
            core_merges = json.loads(core.to_str())["model"]["merges"]
            must_equal(f"merges up to {step}", [tuple(merge) for merge in core_merges], merges[:step])
    row("vocabulary", vocab, " ")


def show_tokens(
    core: Tokenizer, stage: pre_tokenizers.PreTokenizer, reference: Bpe | WordPiece | Unigram, samples: list[str]
) -> None:
    """Encodes by both and prints the tokens."""
    for sample in samples:
        words = [word for word, _ in stage.pre_tokenize_str(sample)]
        tokens = [token.value for word in words for token in reference.tokenize(word)]
        must_equal("tokens", core.encode(sample).tokens, tokens)
        row("encoded", tokens)


def show_bpe(texts: list[str], size: int, samples: list[str]) -> None:
    """BPE merges the most frequent pair of neighbours; to encode it takes the merges in the same order."""
    stage = pre_tokenizers.ByteLevel(add_prefix_space=False)
    words = count_words(texts, stage)
    vocab, merges = train_bpe(words, vocab_size=size, special_tokens=END, tie_break="first-seen")
    heading(f"BPE: {len(words)} words, {len(vocab)} tokens")

    def train_to(size: int) -> Tokenizer:
        trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=END, tie_break="first-seen", show_progress=False)
        return train(texts, models.BPE(), stage, trainer)

    show_merges(words, (vocab, merges), "", train_to)
    ids = {token: place for place, token in enumerate(vocab)}
    show_tokens(train_to(size), stage, Bpe(ids, merges), samples)


def show_wordpiece(texts: list[str], size: int, samples: list[str]) -> None:
    """WordPiece merges the pair whose halves are seldom apart; to encode it takes the longest token."""
    stage = pre_tokenizers.BertPreTokenizer()
    words = count_words(texts, stage)
    vocab, merges = train_wordpiece(words, vocab_size=size, special_tokens=SPECIAL, score="likelihood")
    heading(f"WordPiece: {len(words)} words, {len(vocab)} tokens")

    def train_to(size: int) -> Tokenizer:
        trainer = trainers.WordPieceTrainer(
            vocab_size=size, special_tokens=SPECIAL, score="likelihood", show_progress=False
        )
        return train(texts, models.WordPiece(unk_token="[UNK]"), stage, trainer)

    show_merges(words, (vocab, merges), "##", train_to)
    ids = {token: place for place, token in enumerate(vocab)}
    show_tokens(train_to(size), stage, WordPiece(ids), samples)


def show_unigram(texts: list[str], size: int, seeds: int, samples: list[str]) -> None:
    """Unigram begins with many pieces and removes the least useful; to encode it takes the best path."""
    stage = pre_tokenizers.Metaspace()
    words = count_words(texts, stage)
    pieces = exact_loss.count_pieces(words, seeds)
    heading(f"Unigram: {len(words)} words, {len(pieces)} pieces to begin with, at most {size} wanted")
    row("loss", [f"{exact_loss.loss(words, exact_loss.costs_of(pieces)):.6f}"])
    for step, removed in enumerate(exact_loss.rounds(words, pieces, size), 1):
        costs = exact_loss.costs_of(pieces)
        row(f"round {step}", [f"{len(pieces)} pieces left", f"loss {exact_loss.loss(words, costs):.6f}"])
        row("  removed", removed, " ")
        trainer = trainers.UnigramTrainer(
            vocab_size=len(pieces), seed_size=seeds, algorithm="exact-loss", show_progress=False
        )
        core = train(texts, models.Unigram(), stage, trainer)
        learnt = [tuple(piece) for piece in json.loads(core.to_str())["model"]["vocab"]]
        must_equal(f"pieces after round {step}", learnt, [(piece, -cost) for piece, cost in costs.items()])
    row("vocabulary", pieces, " ")
    # Id 0 stands for unknown characters, in both.
    scored = [(piece, -cost) for piece, cost in exact_loss.costs_of(pieces).items()]
    reference, core = Unigram(scored, 0), Tokenizer(models.Unigram(scored, 0))
    longest = max((word for text in samples for word, _ in stage.pre_tokenize_str(text)), key=len)
    for tokens, score in reference.encode_nbest(longest, 3):
        row("  a path", [f"{score:.4f}", *(token.value for token in tokens)])
    core.pre_tokenizer = stage
    show_tokens(core, stage, reference, samples)


def main() -> None:
    """Shows the three algorithms on the same texts."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("files", nargs="*", metavar="FILE", help="text, a line at a time; else four sentences")
    for name, size in [("bpe", 50), ("wordpiece", 70), ("unigram", 80), ("seeds", 200)]:
        what = "pieces that Unigram begins with" if name == "seeds" else "tokens at most"
        parser.add_argument(f"--{name}", type=int, default=size, metavar="N", help=what)
    parser.add_argument("--encode", action="append", metavar="TEXT", help="a text to encode; may be given again")
    given = parser.parse_args()
    texts, samples = lines(given.files), given.encode or ["The miller is selling grain."]
    show_bpe(texts, given.bpe, samples)
    show_wordpiece(texts, given.wordpiece, samples)
    show_unigram(texts, given.unigram, given.seeds, samples)
    print("\nReference and core are equal at every step.")


if __name__ == "__main__":
    main()
