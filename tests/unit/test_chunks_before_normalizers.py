"""Text that is cut into chunks before its normalizer sees it: after much text, and while tokens are added."""

from __future__ import annotations

from lexmill import AddedToken, Tokenizer, models, normalizers, pre_tokenizers
from small import byte_level

TEXT = "The Quick brown fox, É and ﬁ: <|end|> a  New-York 日本 e\u0301 "


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
    # Seams are derived after 256 kB.
    for _ in range(2):
        assert tokenizer.encode_ids(TEXT * 6000) == tokenizer._staged().encode_ids(TEXT * 6000)
    assert tokenizer.encode_ids(TEXT) == before


def test_tokens_that_are_added_later_are_found() -> None:
    tokenizer = folding()._with_all_tables()
    assert_as_staged(tokenizer, TEXT)
    # The beginning of a chunk, parts of chunks, a place that no seam may cut, and one that every text has.
    for content in ("<|end|>", "own", "the", "new-york", "k b", "É", "  "):
        tokenizer.add_tokens([AddedToken(content, normalized=True)])
        tokenizer.encode_ids(TEXT * 6000)
        assert_as_staged(tokenizer, TEXT)
    tokenizer.add_tokens([AddedToken("quick", normalized=True, single_word=True)])
    tokenizer.encode_ids(TEXT * 6000)
    assert_as_staged(tokenizer, TEXT)


def test_a_chunk_that_grows_too_much_takes_the_stages() -> None:
    tokenizer = Tokenizer(models.WordLevel({"a": 0, "?": 1}, "?"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.normalizer = normalizers.Sequence([normalizers.Replace("x", "a " * 40), normalizers.Lowercase()])
    tokenizer = tokenizer._with_all_tables()
    text = "B a x" + "x" * 20 + " a A?"
    assert tokenizer.encode_ids(text) == tokenizer._staged().encode_ids(text)
