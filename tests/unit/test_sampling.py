"""Sampling as in SentencePiece: the exact distribution, and what a seed promises."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from distributions import BPE, LETTERS, TWO_WAYS, any_pieces, assert_fits, model_file, of_bpe, of_unigram
from lexmill import Tokenizer, models
from lexmill.errors import OptionError, OptionRangeError
from lexmill.reference.bpe_sentencepiece import Piece
from small import byte_level

DRAWS = 4000


def read(folder: Path, data: bytes) -> Tokenizer:
    (folder / "m.model").write_bytes(data)
    return Tokenizer.from_spm(folder / "m.model")


def any_text(random: Random) -> str:
    return "".join(random.choices(LETTERS, k=random.randrange(6, 9)))


def draws(tokenizer: Tokenizer, text: str) -> list[tuple[int, ...]]:
    return [tuple(ids) for ids in tokenizer.encode_batch_ids([text] * DRAWS)]


@pytest.mark.parametrize("alpha", [0.1, 0.4])
@pytest.mark.parametrize("kinds", [[1], [1, 1, 5]], ids=["used", "unused"])
def test_bpe_drops_each_candidate_once(kinds: list[int], alpha: float, tmp_path: Path) -> None:
    random = Random(f"{kinds} {alpha}")
    spread = 0
    for seed in range(8):
        pieces = any_pieces(random, kinds, 20, longest=3)
        tokenizer = read(tmp_path, model_file(pieces, BPE))
        tokenizer.model.alpha, tokenizer.model.seed = alpha, seed
        text = any_text(random)
        expected = of_bpe(pieces, text, alpha)
        assert_fits(draws(tokenizer, text), expected)
        spread += len(expected)
    assert spread > 30


def test_samples_of_an_unused_piece_fall_into_its_last_halves(tmp_path: Path) -> None:
    tokenizer = read(tmp_path, model_file(TWO_WAYS, BPE))
    tokenizer.model.alpha, tokenizer.model.seed = 0.4, 1
    assert_fits(draws(tokenizer, "abcabc"), of_bpe(TWO_WAYS, "abcabc", 0.4))


@pytest.mark.parametrize("nbest_size", [-1, 0, 2, 5])
def test_unigram_draws_in_proportion(nbest_size: int, tmp_path: Path) -> None:
    random = Random(nbest_size)
    for alpha in (0.0, 0.2, 1.0):
        pieces = [piece._replace(score=-6 * random.random()) for piece in any_pieces(random, [1], 20)]
        tokenizer = read(tmp_path, model_file(pieces))
        tokenizer.model.alpha, tokenizer.model.nbest_size, tokenizer.model.seed = alpha, nbest_size, 1
        texts = (any_text(random) for _ in range(100))
        text, expected = next(
            (text, expected) for text in texts if (expected := of_unigram(pieces, text, alpha, nbest_size))
        )
        assert_fits(draws(tokenizer, text), expected)


def test_all_segmentations_may_be_asked_for_as_in_sentencepiece() -> None:
    model = models.Unigram([("<unk>", 0.0)], 0, nbest_size=-1)
    assert model.nbest_size is None
    model.nbest_size = 3
    model.nbest_size = -1
    assert model.nbest_size is None
    with pytest.raises(OptionRangeError, match="nbest_size"):
        model.nbest_size = -2


def test_dropout_brings_candidates_back_and_alpha_does_not() -> None:
    # `ab` has the first turn. Where it is dropped and `cd` is merged, `dropout` gives it another turn.
    vocab = {"a": 0, "b": 1, "c": 2, "d": 3, "ab": 4, "cd": 5}
    merges = [("a", "b"), ("c", "d")]
    for option, apart in [("dropout", 0.25), ("alpha", 0.5)]:
        tokenizer = Tokenizer(models.BPE(vocab, merges, seed=1, **{option: 0.5}))
        drawn = draws(tokenizer, "abcd")
        of_cd = [ids for ids in drawn if 5 in ids]
        share = sum(4 not in ids for ids in of_cd) / len(of_cd)
        assert abs(share - apart) < 0.05, (option, share)


@pytest.mark.parametrize("kind", ["bpe", "unused", "unigram", "nbest", "bytes"])
@pytest.mark.parametrize("threads", [2, 7])
def test_a_seed_gives_the_same_ids_for_any_number_of_threads(kind: str, threads: int, tmp_path: Path) -> None:
    random = Random(1)
    # Enough that the work is shared out.
    texts = ["".join(random.choices(LETTERS + "x", k=random.randrange(200))) for _ in range(3000)]

    def made(seed: int = 5) -> Tokenizer:
        if kind == "bytes":
            tokenizer = byte_level(("a", "b"), ("ab", "c"), ("b", "c"))
        else:
            pieces = any_pieces(Random(7), [1, 1, 5] if kind == "unused" else [1])
            tokenizer = read(tmp_path, model_file(pieces, *([BPE] if kind in {"bpe", "unused"} else [])))
        tokenizer.model.alpha, tokenizer.model.seed = 0.3, seed
        if kind == "nbest":
            tokenizer.model.nbest_size = 4
        return tokenizer

    expected = made().encode_batch_ids(texts, num_threads=1)
    assert made().encode_batch_ids(texts, num_threads=threads) == expected
    assert [encoding.ids for encoding in made().encode_batch(texts, num_threads=threads)] == expected
    assert [list(row) for row in made().encode_batch_arrays(texts, num_threads=threads)] == expected
    assert made(6).encode_batch_ids(texts) != expected
    tokenizer = made()
    # The second call of a tokenizer draws other numbers.
    assert tokenizer.encode_batch_ids(texts) == expected != tokenizer.encode_batch_ids(texts)


def test_nothing_or_everything_may_be_dropped(tmp_path: Path) -> None:
    pieces = any_pieces(Random(3), [1, 5])
    tokenizer = read(tmp_path, model_file(pieces, BPE))
    best = tokenizer.encode("abcabcab").ids
    tokenizer.model.alpha = 0.0
    assert tokenizer.encode("abcabcab").ids == best
    tokenizer.model.alpha = 1.0
    # What is left are the letters, of which an unused one is unknown.
    letters = {piece.text: place for place, piece in enumerate(pieces) if piece.kind == 1}
    assert tokenizer.encode("abcabcab").ids == [letters.get(letter, 0) for letter in "abcabcab"]


def test_alpha_that_makes_no_sense_is_refused(tmp_path: Path) -> None:
    for alpha in (-0.1, 1.5, float("nan")):
        with pytest.raises(OptionError, match=r"alpha is .* but must be between 0 and 1"):
            models.BPE(alpha=alpha)
    model = models.BPE(dropout=0.5)
    with pytest.raises(OptionError, match=r"^alpha is 0.5 but must be None beside a dropout$"):
        model.alpha = 0.5
    pieces = [Piece("<unk>", 0.0, 2), Piece("a", 0.0, 1), Piece("aa", 0.0, 5)]
    unused = read(tmp_path, model_file(pieces, BPE)).model
    with pytest.raises(OptionError, match=r"dropout is 0.5 but must be None for a model with unused pieces"):
        unused.dropout = 0.5
