from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from lexmill import (
    AddedToken,
    Regex,
    Token,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)
from small import byte_level, letters

PARTS = [
    AddedToken("<x>", lstrip=True, special=True),
    Token(3, "abc", (1, 4)),
    models.BPE(vocab={"a": 0, "b": 1, "ab": 2}, merges=[("a", "b")], unk_token="a", byte_fallback=True),
    models.WordPiece({"a": 0, "@b": 1}, unk_token="a", max_input_chars_per_word=7, continuing_subword_prefix="@"),
    models.WordLevel({"a": 0}, unk_token="a"),
    normalizers.NFC(),
    normalizers.Sequence([normalizers.NFC()]),
    pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
    pre_tokenizers.Split(Regex(r"\d+"), "contiguous", invert=True),
    pre_tokenizers.Split("a", "removed"),
    pre_tokenizers.Whitespace(),
    pre_tokenizers.WhitespaceSplit(),
    pre_tokenizers.Digits(individual_digits=True),
    pre_tokenizers.Punctuation("removed"),
    pre_tokenizers.Sequence([pre_tokenizers.Digits(), pre_tokenizers.WhitespaceSplit()]),
    processors.ByteLevel(trim_offsets=False),
    processors.RobertaProcessing(("</s>", 2), ("<s>", 1), add_prefix_space=False),
    processors.TemplateProcessing(single="[C] $A", pair="$A [C] $B:1", special_tokens=[("[C]", 4)]),
    processors.Sequence([processors.ByteLevel()]),
    decoders.ByteLevel(),
    normalizers.BertNormalizer(clean_text=False, strip_accents=True),
    pre_tokenizers.BertPreTokenizer(),
    processors.BertProcessing(("[SEP]", 2), ("[CLS]", 1)),
    decoders.WordPiece("@@", cleanup=False),
    normalizers.NFKD(),
    normalizers.Nmt(),
    normalizers.Precompiled(b"\0\0\0\0abc"),
    pre_tokenizers.CharDelimiterSplit("é"),
    pre_tokenizers.UnicodeScripts(),
    pre_tokenizers.FixedLength(3),
    decoders.CTC("p", "w", cleanup=False),
    normalizers.Lowercase(),
    normalizers.Strip(right=False),
    normalizers.StripAccents(),
    normalizers.Prepend("x"),
    normalizers.Replace(Regex("a+"), "b"),
    normalizers.Sequence([normalizers.Prepend(), normalizers.Replace(" ", "▁")]),
    pre_tokenizers.Metaspace("_", "first", split=False),
    decoders.Replace("a", "b"),
    decoders.ByteFallback(),
    decoders.Fuse(),
    decoders.Strip("x", 1, 2),
    decoders.Metaspace("_", "never"),
    decoders.BPEDecoder("@@"),
    decoders.Sequence([decoders.Replace("▁", " "), decoders.Fuse()]),
    models.Unigram([("<unk>", 0.0), ("a", -1.5)], 0, byte_fallback=True),
    trainers.UnigramTrainer(vocab_size=9, special_tokens=["<s>"], unk_token="u", algorithm="exact-loss"),
    trainers.WordLevelTrainer(vocab_size=99, min_frequency=2, special_tokens=["<unk>"]),
    trainers.WordPieceTrainer(score="likelihood", min_pair_frequency=3, end_of_word_suffix="$", initial_alphabet=["a"]),
    trainers.WordPieceTrainer(score="likelihood-float64", tie_break="smallest-ids", continuing_subword_prefix="@"),
    trainers.BpeTrainer(vocab_size=99, special_tokens=["<s>"], tie_break="first-seen", initial_alphabet=["a"]),
]


@pytest.mark.parametrize("part", PARTS, ids=lambda part: type(part).__qualname__)
@pytest.mark.parametrize("copied", [lambda part: pickle.loads(pickle.dumps(part)), copy.copy, copy.deepcopy])
def test_parts_survive(part: Any, copied: Any) -> None:
    twin = copied(part)
    assert twin is not part
    assert type(twin) is type(part)
    assert repr(twin) == repr(part)


def test_tokenizer_survives_with_all_its_parts() -> None:
    tokenizer = byte_level(("a", "b"))
    tokenizer.add_special_tokens(["<s>"])
    tokenizer.post_processor = PARTS[15]
    tokenizer.enable_truncation(8)
    tokenizer.enable_padding(length=5)
    twin = pickle.loads(pickle.dumps(tokenizer))
    assert isinstance(twin, Tokenizer)
    assert twin.to_str() == tokenizer.to_str()
    assert twin.encode("<s>ab").ids == tokenizer.encode("<s>ab").ids
    twin.add_tokens(["<x>"])
    assert tokenizer.token_to_id("<x>") is None


def test_encoding_survives_with_maps_and_overflowing_parts() -> None:
    tokenizer = letters()
    tokenizer.post_processor = PARTS[15]
    tokenizer.enable_truncation(5)
    tokenizer.enable_padding(length=6, direction="left")
    encoding = tokenizer.encode("abcd", "efg")
    twin = pickle.loads(pickle.dumps(encoding))
    names = [
        "ids",
        "type_ids",
        "tokens",
        "offsets",
        "word_ids",
        "sequence_ids",
        "special_tokens_mask",
        "attention_mask",
    ]
    for ours, theirs in [(twin, encoding), *zip(twin.overflowing, encoding.overflowing, strict=True)]:
        assert [getattr(ours, name) for name in names] == [getattr(theirs, name) for name in names]
        assert ours.char_to_token(0, 1) == theirs.char_to_token(0, 1)


def test_regex_survives_as_a_pattern() -> None:
    pattern = pickle.loads(pickle.dumps(Regex("a+")))
    assert pre_tokenizers.Split(pattern, "isolated").pre_tokenize_str("baab") == [
        ("b", (0, 1)), ("aa", (1, 3)), ("b", (3, 4)),
    ]  # fmt: skip


def test_model_changed_through_a_copy_leaves_the_original_alone() -> None:
    model = models.BPE(vocab={"a": 0}, merges=[])
    twin = copy.deepcopy(model)
    twin.unk_token = "a"
    assert model.unk_token is None
