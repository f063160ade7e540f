from __future__ import annotations

import unicodedata
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from lexmill import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from small import byte_level

CORPUS = [
    "the cat and the hat",
    "it's 2024, don't!",
    "é e\u0301 日本語 👨\u200d👩\u200d👧 שלום",
    "a\r\nb\u00a0c",
    "a" * 50,
]
SAMPLES = [
    "", "a", "\u0301", "é", "e\u0301", "日本語",
    "👨\u200d👩\u200d👧", "שלום", "a\r\nb", "x\u00a0y", "a" * 300, "<s>the<s>",
    "\x00", " ", "  \n", "it's the 2024",
]  # fmt: skip
TEXTS = st.sampled_from(SAMPLES) | st.text(max_size=30) | st.lists(st.sampled_from(SAMPLES), max_size=5).map("".join)


def trained(pre_tokenizer: pre_tokenizers.PreTokenizer) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=320,
        special_tokens=["<s>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(CORPUS * 3, trainer)
    return tokenizer


BYTE_LEVEL = pre_tokenizers.ByteLevel(add_prefix_space=False)
TOKENIZERS = st.sampled_from(
    [
        trained(BYTE_LEVEL),
        trained(pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)),
        trained(pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), BYTE_LEVEL])),
        trained(pre_tokenizers.Sequence([BYTE_LEVEL, pre_tokenizers.Punctuation("merged_with_next")])),
        byte_level(("a", "a"), ("aa", "aa")),
    ]
)


@given(tokenizer=TOKENIZERS, text=TEXTS)
def test_decode_inverts_encode(tokenizer: Tokenizer, text: str) -> None:
    assert tokenizer.decode(tokenizer.encode(text).ids, skip_special_tokens=False) == text


@given(tokenizer=TOKENIZERS, text=TEXTS)
def test_offsets_slice_back_to_the_token(tokenizer: Tokenizer, text: str) -> None:
    encoding = tokenizer.encode(text)
    for token_id, (start, end) in zip(encoding.ids, encoding.offsets, strict=True):
        spelt = tokenizer.decode([token_id], skip_special_tokens=False)
        # A token that cuts a character covers the whole of it.
        assert spelt.strip("\ufffd") in text[start:end]
        assert spelt == text[start:end] or "\ufffd" in spelt


@given(tokenizer=TOKENIZERS, text=TEXTS)
def test_offsets_and_words_ascend_and_leave_nothing_out(tokenizer: Tokenizer, text: str) -> None:
    encoding = tokenizer.encode(text)
    starts = [start for start, _ in encoding.offsets]
    assert starts == sorted(starts)
    assert encoding.word_ids == sorted(encoding.word_ids)
    assert {at for start, end in encoding.offsets for at in range(start, end)} == set(range(len(text)))


@given(tokenizer=TOKENIZERS, text=TEXTS)
def test_ids_are_in_range_and_tokens_are_theirs(tokenizer: Tokenizer, text: str) -> None:
    encoding = tokenizer.encode(text)
    assert all(0 <= token_id < tokenizer.get_vocab_size() for token_id in encoding.ids)
    assert encoding.tokens == [tokenizer.id_to_token(token_id) for token_id in encoding.ids]


@given(tokenizer=TOKENIZERS, texts=st.lists(TEXTS, max_size=6), threads=st.sampled_from([1, 2, 7]))
def test_a_batch_is_its_texts_one_by_one(tokenizer: Tokenizer, texts: list[str], threads: int) -> None:
    one_by_one = [tokenizer.encode(text) for text in texts]
    batch = tokenizer.encode_batch(texts, num_threads=threads)
    assert [(e.ids, e.offsets, e.word_ids) for e in batch] == [(e.ids, e.offsets, e.word_ids) for e in one_by_one]
    ids = [encoding.ids for encoding in one_by_one]
    assert tokenizer.encode_batch_ids(texts, num_threads=threads) == ids
    assert [row.tolist() for row in tokenizer.encode_batch_arrays(texts, num_threads=threads)] == ids
    assert tokenizer.count_tokens(texts, num_threads=threads).tolist() == [len(row) for row in ids]
    assert tokenizer.decode_batch(ids, skip_special_tokens=False) == texts


@given(tokenizer=TOKENIZERS, text=TEXTS)
def test_every_character_leads_to_a_token_that_holds_it(tokenizer: Tokenizer, text: str) -> None:
    encoding = tokenizer.encode(text)
    for at in range(len(text)):
        token = encoding.char_to_token(at)
        assert token is not None
        start, end = encoding.offsets[token]
        assert start <= at < end
        assert encoding.char_to_word(at) == encoding.word_ids[token]


@given(tokenizer=TOKENIZERS, text=TEXTS)
def test_a_file_gives_the_same_tokenizer(tokenizer: Tokenizer, text: str) -> None:
    copy = Tokenizer.from_str(tokenizer.to_str(pretty=True))
    assert copy.encode(text).ids == tokenizer.encode(text).ids


FLAGS = st.fixed_dictionaries(
    {}, optional={name: st.booleans() for name in ("single_word", "lstrip", "rstrip", "normalized")}
)


@given(
    text=TEXTS,
    tokens=st.lists(st.tuples(st.sampled_from(["the", "<s>", "é", "a a", "\n", "hat"]), FLAGS), max_size=4),
)
def test_added_tokens_lose_no_character(text: str, tokens: list[tuple[str, dict[str, Any]]]) -> None:
    tokenizer = byte_level()
    tokenizer.add_tokens([AddedToken(content, **flags) for content, flags in tokens])
    offsets = tokenizer.encode(text).offsets
    assert {at for start, end in offsets for at in range(start, end)} == set(range(len(text)))


@given(text=TEXTS)
def test_nfc_decodes_to_the_normalized_text(text: str) -> None:
    tokenizer = byte_level()
    tokenizer.normalizer = normalizers.NFC()
    # The tables agree on what both know, and these texts hold nothing newer than the older of the two.
    expected = unicodedata.normalize("NFC", text)
    if all(unicodedata.category(char) != "Cn" for char in text) and text.isascii() | (len(expected) <= len(text)):
        assert tokenizer.decode(tokenizer.encode(text).ids) == expected


@given(text=TEXTS, max_length=st.integers(2, 9), stride=st.integers(0, 1))
def test_windows_cover_the_text(text: str, max_length: int, stride: int) -> None:
    tokenizer = byte_level(("a", "a"))
    whole = tokenizer.encode(text).ids
    tokenizer.enable_truncation(max_length, stride=stride)
    encoding = tokenizer.encode(text)
    windows = [encoding.ids, *(part.ids for part in encoding.overflowing)]
    assert all(len(window) <= max_length for window in windows)
    assert windows[0] + [token_id for window in windows[1:] for token_id in window[stride:]] == whole


@given(texts=st.lists(TEXTS, min_size=1, max_size=4), multiple=st.integers(1, 5))
def test_padding_makes_all_as_long_and_hides_nothing(texts: list[str], multiple: int) -> None:
    tokenizer = byte_level()
    expected = tokenizer.encode_batch_ids(texts)
    tokenizer.enable_padding(pad_id=999, pad_to_multiple_of=multiple)
    batch = tokenizer.encode_batch(texts)
    assert {len(encoding) for encoding in batch} == {len(batch[0])}
    assert len(batch[0]) % multiple == 0
    kept = [[token_id for token_id, mask in zip(e.ids, e.attention_mask, strict=True) if mask] for e in batch]
    assert kept == expected


@given(first=TEXTS, second=TEXTS)
def test_a_pair_is_its_texts_framed(first: str, second: str) -> None:
    tokenizer = byte_level()
    one, two = tokenizer.encode_batch_ids([first, second])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[C] $A", pair="[C] $A [S] $B:1", special_tokens=[("[C]", 300), ("[S]", 301)]
    )
    encoding = tokenizer.encode(first, second)
    assert encoding.ids == [300, *one, 301, *two]
    assert encoding.type_ids == [0] * (len(one) + 2) + [1] * len(two)
    assert encoding.sequence_ids == [None, *[0] * len(one), None, *[1] * len(two)]
