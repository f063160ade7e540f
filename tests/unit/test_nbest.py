from __future__ import annotations

import pytest

from lexmill import AddedToken, Tokenizer, models, normalizers, pre_tokenizers
from lexmill.errors import LexmillError, OptionError, OptionRangeError
from lexmill.reference.nbest import combine_nbest
from lexmill.reference.unigram import Unigram

PIECES = [("<unk>", -9.0), ("▁", -1.0), ("a", -1.5), ("b", -2.0), ("ab", -3.5), ("▁a", -2.5), ("é", -4.0), ("aa", -3.0)]
TEXTS = ["", " ", "a", "ab", "aab ab", "A  ab é☃b", "ab<s>aab", "\uff42a ☃☃ aa", "<s>"]


def tokenizer() -> Tokenizer:
    """Normalizes, cuts at spaces and knows an added token."""
    found = Tokenizer(models.Unigram(PIECES, 0))
    found.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
    found.pre_tokenizer = pre_tokenizers.Metaspace()
    found.add_special_tokens([AddedToken("<s>")])
    return found


@pytest.mark.parametrize("n", [0, 1, 2, 7, 300])
@pytest.mark.parametrize("text", TEXTS)
def test_a_text_has_the_combinations_of_its_pre_tokens(text: str, n: int) -> None:
    core, model = tokenizer(), Unigram(PIECES, 0)
    words: list[list[tuple[list[int], float]]] = []
    for number, segment in enumerate(text.split("<s>")):
        if number:
            words.append([([len(PIECES)], 0.0)])
        normalized = core.normalizer.normalize_str(segment)
        for word, _ in core.pre_tokenizer.pre_tokenize_str(normalized):
            ways = model.encode_nbest(word, n)
            words.append([([token.id for token in tokens], score) for tokens, score in ways])
    expected = [([id for part in parts for id in part], score) for parts, score in combine_nbest(words, n)]
    assert [(encoding.ids, score) for encoding, score in core.encode_nbest(text, n)] == expected


@pytest.mark.parametrize("text", TEXTS)
def test_the_best_is_what_encode_gives(text: str) -> None:
    [(best, _)] = tokenizer().encode_nbest(text, 1)
    expected = tokenizer().encode(text)
    columns = ("ids", "tokens", "offsets", "word_ids", "special_tokens_mask", "type_ids", "attention_mask")
    assert all(getattr(best, column) == getattr(expected, column) for column in columns)


def test_equal_scores_go_by_the_first_pre_token_first() -> None:
    # `▁a` is as good as `▁` and `a`; at each place from the end the longer piece goes first.
    best = tokenizer().encode_nbest("a a", 9)
    assert [(encoding.tokens, score) for encoding, score in best] == [
        (["▁a", "▁a"], -5.0),
        (["▁a", "▁", "a"], -5.0),
        (["▁", "a", "▁a"], -5.0),
        (["▁", "a", "▁", "a"], -5.0),
    ]


def test_each_is_truncated_and_all_are_padded() -> None:
    core = tokenizer()
    core.enable_truncation(3)
    core.enable_padding()
    best = core.encode_nbest("aa ab", 300)
    assert len(best) > 4
    assert {len(encoding.ids) for encoding, _ in best} == {3}


def test_a_model_without_scores_is_refused() -> None:
    with pytest.raises(LexmillError, match=r"encode_nbest for a WordLevel model, not Unigram"):
        Tokenizer(models.WordLevel({"a": 0}, "a")).encode_nbest("a", 2)
    with pytest.raises(OptionError, match=r"^n is 1025 but must be from 0 to 1024$"):
        tokenizer().encode_nbest("", 1025)


def test_n_out_of_range_is_named() -> None:
    core = tokenizer()
    for encode_nbest in (core.encode_nbest, models.Unigram(PIECES, 0).encode_nbest, Unigram(PIECES, 0).encode_nbest):
        with pytest.raises(OptionRangeError, match=r"^n is -1 but must be at least 0"):
            encode_nbest("a", -1)
        with pytest.raises(OptionError, match=r"^n is 1025 but must be from 0 to 1024$"):
            encode_nbest("a", 1025)
