from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from cases import load_cases, pairs, tokens
from engines import Engine, Pieces
from lexmill import Tokenizer, models, normalizers, pre_tokenizers
from lexmill.errors import OptionError, VocabError

PIECES: Pieces = [("<unk>", 0.0), ("a", -1.0), ("b", -2.0), ("ab", -2.5), ("aa", -2.2)]


@pytest.mark.parametrize("case", load_cases("unigram_encode.json"))
def test_golden(engine: Engine, case: dict[str, Any]) -> None:
    arguments = (pairs(case["vocab"]), case["word"])
    if "error" in case:
        with pytest.raises(VocabError) as raised:
            engine.encode_unigram(*arguments, **case["options"])
        assert str(raised.value) == case["error"]
    else:
        assert engine.encode_unigram(*arguments, **case["options"]) == tokens(case["tokens"])


def test_nbest_comes_by_score_and_ends_with_the_last(engine: Engine) -> None:
    best = engine.encode_unigram_nbest(PIECES, "aab", 9, unk_id=0)
    assert [([token for _, token, _ in found], score) for found, score in best] == [
        (["a", "ab"], -3.5),
        (["a", "a", "b"], -4.0),
        (["aa", "b"], -4.2),
    ]
    assert engine.encode_unigram_nbest(PIECES, "aab", 2, unk_id=0) == best[:2]
    assert engine.encode_unigram_nbest(PIECES, "aab", 0, unk_id=0) == []
    assert engine.encode_unigram_nbest(PIECES, "", 2, unk_id=0) == [([], 0.0)]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"unk_id": 5}, VocabError, "id 5 is not in the vocabulary of 5 tokens"),
        ({"nbest_size": 1025}, OptionError, "nbest_size is 1025 but must be from 0 to 1024"),
    ],
    ids=str,
)
def test_option_out_of_range_is_refused(
    engine: Engine, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as raised:
        engine.encode_unigram(PIECES, "a", **options)
    assert str(raised.value) == message


def test_scores_must_be_finite() -> None:
    with pytest.raises(OptionError, match=r"^score is NaN for `b` but must be finite$"):
        models.Unigram([("a", 0.0), ("b", float("nan"))])
    with pytest.raises(OptionError, match=r"^alpha is inf but must be finite$"):
        models.Unigram(PIECES, 0, alpha=float("inf"))


def test_unknown_id_without_a_vocabulary_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^`vocab` and `unk_id` must be both specified$"):
        models.Unigram(None, 0)


@pytest.mark.parametrize("nbest_size", [None, 3])
def test_samples_come_from_all_segmentations(engine: Engine, nbest_size: int | None) -> None:
    words = 400
    drawn = Counter(
        tuple(token for _, token, _ in engine.encode_unigram(PIECES, "aaab", **options))
        for seed in range(words)
        for options in [{"unk_id": 0, "alpha": 0.5, "nbest_size": nbest_size, "seed": seed}]
    )
    best = {tuple(token for _, token, _ in found) for found, _ in engine.encode_unigram_nbest(PIECES, "aaab", 3)}
    assert drawn.keys() >= best
    assert (drawn.keys() == best) is (nbest_size == 3)
    assert len(drawn) == (5 if nbest_size is None else 3)


def test_a_seed_makes_samples_repeat() -> None:
    def sample(seed: int) -> list[list[int]]:
        tokenizer = Tokenizer(models.Unigram(PIECES, 0, alpha=0.1, seed=seed))
        return [tokenizer.encode("aaab" * 8).ids for _ in range(5)] + tokenizer.encode_batch_ids(["aaab" * 8] * 5)

    assert sample(1) == sample(1)
    assert sample(1) != sample(2)
    assert len({tuple(ids) for ids in sample(1)}) > 1


def test_tokenizer_shows_unknown_text_and_bytes_as_hugging_face() -> None:
    tokenizer = Tokenizer(models.Unigram(PIECES, 0))
    found = tokenizer.encode("xaxéb")
    assert (found.ids, found.tokens) == ([0, 1, 0, 2], ["x", "a", "xé", "b"])
    assert found.offsets == [(0, 1), (1, 2), (2, 4), (4, 5)]
    by_bytes = Tokenizer(models.Unigram([*PIECES, ("<0xC3>", -9.0), ("<0xA9>", -9.0)], 0, byte_fallback=True))
    found = by_bytes.encode("aéab")
    assert found.tokens == ["a", "<0xC3>", "<0xA9>", "ab"]
    assert found.offsets == [(0, 1), (1, 2), (1, 2), (2, 4)]


@pytest.mark.parametrize(
    ("text", "offsets"),
    [
        ("ba", [(0, 1), (0, 1), (1, 2)]),
        ("béa", [(0, 1), (0, 1), *[(1, 2)] * 2, (2, 3)]),
        # Neighbours are unknown together; what is composed stands for the first of its characters.
        ("bé漢a", [(0, 1), (0, 1), *[(1, 3)] * 5, (3, 4)]),
        ("bÉe\u0301 a", [(0, 1), (0, 1), *[(1, 3)] * 4, (4, 6)]),
        ("é", [(0, 1)] * 3),
        ("b𣂏𣂏a", [(0, 1), (0, 1), *[(1, 3)] * 8, (3, 4)]),
        ("a 漢 é", [(0, 1), (1, 2), *[(2, 3)] * 3, (3, 4), *[(4, 5)] * 2]),
    ],
)
def test_bytes_of_unknown_text_all_have_its_place(text: str, offsets: list[tuple[int, int]]) -> None:
    pieces = [("<unk>", 0.0), ("▁", -3.0), ("a", -1.0), ("b", -1.0), ("▁a", -1.0)]
    pieces += [(f"<0x{byte:02X}>", -9.0) for byte in range(256)]
    tokenizer = Tokenizer(models.Unigram(pieces, 0, byte_fallback=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Lowercase()])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    assert tokenizer.encode(text).offsets == offsets
    assert [encoding.offsets for encoding in tokenizer.encode_batch([text] * 3)] == [offsets] * 3


def test_a_byte_token_may_be_the_unknown_one() -> None:
    tokenizer = Tokenizer(models.Unigram([("<0x0A>", -1.0), ("a", -1.0)], 0, byte_fallback=True))
    found = {text: tokenizer.encode(text) for text in ("a\n", "a\nж")}
    assert [(found[text].ids, found[text].tokens) for text in found] == [
        ([1, 0], ["a", "<0x0A>"]),
        ([1, 0], ["a", "\nж"]),
    ]


def test_saved_file_is_the_model(tmp_path: Any) -> None:
    model = models.Unigram(PIECES, 0)
    assert model.save(tmp_path, "x") == [str(tmp_path / "x-unigram.json")]
    twin = models.Unigram()
    twin.__setstate__((tmp_path / "x-unigram.json").read_bytes())
    assert twin.__getstate__() == model.__getstate__()
    assert repr(twin) == repr(model)
    assert repr(models.Unigram([("a", -1.5)], 0)) == 'Unigram(unk_id=0, vocab=[("a", -1.5)], byte_fallback=False)'


def test_a_long_word_takes_time_in_proportion() -> None:
    model = models.Unigram([("a" * length, -float(length) / 2) for length in range(1, 17)])
    assert len(model.tokenize("a" * 160_001)) == 10_001


def test_a_piece_that_is_listed_again_counts_again() -> None:
    """As with Hugging Face: the last one is found, all have the name, and new ids go on behind all."""
    pieces = [("<unk>", 0.0), ("a", -1.0), ("a", -2.0), ("b", -1.5)]
    tokenizer = Tokenizer(models.Unigram(pieces, 0))
    assert tokenizer.get_vocab_size() == 4
    assert tokenizer.get_vocab() == {"<unk>": 0, "a": 2, "b": 3}
    assert tokenizer.encode("ab").ids == [2, 3]
    assert [tokenizer.id_to_token(id) for id in (1, 2)] == ["a", "a"]
    tokenizer.add_tokens(["new"])
    assert tokenizer.token_to_id("new") == 4
    again = Tokenizer.from_str(tokenizer.to_str())
    assert again.to_str() == tokenizer.to_str()
    assert again.encode("anewb").ids == [2, 4, 3]


def test_bytes_of_a_long_unknown_text_all_have_its_place() -> None:
    """In time linear in the text, though every token reaches across all of it."""
    pieces = [("<unk>", 0.0), *((f"<0x{byte:02X}>", -9.0) for byte in range(256))]
    encoding = Tokenizer(models.Unigram(pieces, 0, byte_fallback=True)).encode("漢" * 100_000)
    assert len(encoding) == 300_000
    assert set(encoding.offsets) == {(0, 100_000)}
