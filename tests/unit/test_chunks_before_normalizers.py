"""Text that is cut into chunks before its normalizer sees it: after much text, and while tokens are added."""

from __future__ import annotations

import pytest

from lexmill import AddedToken, Tokenizer, models, normalizers, pre_tokenizers
from lexmill.errors import TextTooLongError
from small import byte_level

TEXT = "The Quick brown fox, É and ﬁ: <|end|> a  New-York 日本 e\u0301 "
# Seams are derived after a megabyte.
MUCH = TEXT * 20_000


def folding() -> Tokenizer:
    tokenizer = byte_level()
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFKD(), normalizers.Lowercase(), normalizers.StripAccents()]
    )
    return tokenizer


def assert_as_staged(tokenizer: Tokenizer, text: str) -> None:
    assert tokenizer.encode_batch_ids([text, text])[1] == tokenizer._staged().encode_ids(text)


def test_much_text_has_the_ids_of_little_text() -> None:
    tokenizer = folding()
    before = tokenizer.encode_ids(TEXT)
    for _ in range(2):
        assert tokenizer.encode_ids(MUCH) == tokenizer._staged().encode_ids(MUCH)
    assert tokenizer.encode_ids(TEXT) == before


@pytest.mark.parametrize("content", ["<|end|>", "own", "the", "new-york", "k b", "É", "  "])
@pytest.mark.parametrize("single_word", [False, True])
def test_a_token_is_found(content: str, single_word: bool) -> None:
    tokenizer = folding()
    tokenizer.add_tokens([AddedToken(content, normalized=True, single_word=single_word)])
    assert_as_staged(tokenizer._with_all_tables(), TEXT)


def test_tokens_that_are_added_later_are_found() -> None:
    tokenizer = folding()
    for content in ("own", "<|end|>"):
        tokenizer.encode_ids(MUCH)
        tokenizer.add_tokens([AddedToken(content, normalized=True)])
        assert_as_staged(tokenizer, TEXT)
        tokenizer.encode_ids(MUCH)
        assert_as_staged(tokenizer, TEXT)


def growing(times: int, *, strips: bool) -> Tokenizer:
    tokenizer = Tokenizer(models.WordLevel({"a": 0, "?": 1}, "?"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    stages = [normalizers.Replace("x", "a " * times), normalizers.Lowercase()]
    tokenizer.normalizer = normalizers.Sequence([*stages, normalizers.Strip()] if strips else stages)
    return tokenizer._with_all_tables()


@pytest.mark.parametrize("strips", [False, True])
@pytest.mark.parametrize("ends", ["", " ", " \n x "])
def test_a_chunk_that_grows_much_takes_the_stages(strips: bool, ends: str) -> None:
    tokenizer = growing(40, strips=strips)
    assert_as_staged(tokenizer, ends + "B a x" + "x" * 20 + " a A? x a" + ends)
    assert_as_staged(tokenizer, ends + "Bb, aa. b, cc a x" + "x" * 20 + " a A? bb, x aa. b" + ends)


@pytest.mark.parametrize("strips", [False, True])
def test_the_segment_decides_whether_a_chunk_may_grow(strips: bool) -> None:
    tokenizer = growing(80, strips=strips)
    # 18 MB. The chunk alone may grow to 16 MiB, and the segment to 32 MB.
    text = "b " * 200_000 + "x" * 110_000
    assert tokenizer.count_tokens([text])[0] == 200_000 + 80 * 110_000
    with pytest.raises(TextTooLongError, match="the stages make more than"):
        tokenizer.count_tokens(["b " * 20_000 + "x" * 110_000])


def test_the_text_decides_whether_its_ends_may_grow() -> None:
    tokenizer = growing(1000, strips=True)
    # 20 MB. The first part alone may grow to 16 MiB, and the text to 38 MB.
    text = "x" * 10_000 + " b a c" * 100_000
    assert tokenizer.count_tokens([text])[0] == 1000 * 10_000 + 3 * 100_000
    # Each end makes 12 MB, and the text 24 MB.
    with pytest.raises(TextTooLongError, match="the stages make more than"):
        tokenizer.count_tokens(["x" * 6000 + " b a c " + "x" * 6000])


def test_the_rest_after_a_chunk_that_grows_begins_in_the_right_place() -> None:
    tokenizer = byte_level()
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Replace("x", "a" * 40), normalizers.Lowercase(), normalizers.Strip()]
    )
    # A seam after white space, which `Strip` must not take from the text before the seam.
    text = "  Some words here\n\nB" + "x" * 20 + " and more words  "
    assert_as_staged(tokenizer._with_all_tables(), text)
    assert_as_staged(tokenizer._with_all_tables(), text.replace("\n\n", "\n"))
