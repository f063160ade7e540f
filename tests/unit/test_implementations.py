"""The ready-made tokenizers: what they are built of, what they train, and where they differ from Hugging Face's."""

from __future__ import annotations

import asyncio
import copy
import inspect
import json
import pickle
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import lexmill
from lexmill import (
    AddedToken,
    BertWordPieceTokenizer,
    ByteLevelBPETokenizer,
    CharBPETokenizer,
    SentencePieceBPETokenizer,
    SentencePieceUnigramTokenizer,
    Tokenizer,
    errors,
    models,
    normalizers,
)
from lexmill.implementations import BaseTokenizer
from model_file import field, piece

BERT = {token: at for at, token in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "##b", "ab"])}
LETTERS = {token: at for at, token in enumerate(["a", "b", "ab", "<unk>", "a</w>", "b</w>", "▁"])}
MERGES = [("a", "b")]
CORPUS = ["the cat sat on the mat", "the dog sat on the log"] * 3
TRAINED: list[type[Any]] = [
    BertWordPieceTokenizer,
    ByteLevelBPETokenizer,
    CharBPETokenizer,
    SentencePieceBPETokenizer,
    SentencePieceUnigramTokenizer,
]


def stages(tokenizer: BaseTokenizer) -> dict[str, Any]:
    parts: dict[str, Any] = json.loads(tokenizer.to_str())
    return {
        name: [stage["type"] for stage in part.get("normalizers", [part])] if part else []
        for name, part in parts.items()
        if name in ("normalizer", "pre_tokenizer", "post_processor", "decoder", "model")
    }


@pytest.mark.parametrize(
    ("tokenizer", "expected"),
    [
        (
            BertWordPieceTokenizer(BERT),
            [["BertNormalizer"], ["BertPreTokenizer"], ["BertProcessing"], ["WordPiece"], ["WordPiece"]],
        ),
        (BertWordPieceTokenizer(), [["BertNormalizer"], ["BertPreTokenizer"], [], ["WordPiece"], ["WordPiece"]]),
        (ByteLevelBPETokenizer(), [[], ["ByteLevel"], ["ByteLevel"], ["ByteLevel"], ["BPE"]]),
        (
            ByteLevelBPETokenizer(unicode_normalizer="nfc", lowercase=True),
            [["NFC", "Lowercase"], ["ByteLevel"], ["ByteLevel"], ["ByteLevel"], ["BPE"]],
        ),
        (CharBPETokenizer(), [["BertNormalizer"], ["BertPreTokenizer"], [], ["BPEDecoder"], ["BPE"]]),
        (
            CharBPETokenizer(unicode_normalizer="nfkc", lowercase=True, split_on_whitespace_only=True),
            [["NFKC", "BertNormalizer", "Lowercase"], ["WhitespaceSplit"], [], ["BPEDecoder"], ["BPE"]],
        ),
        (SentencePieceBPETokenizer(), [["NFKC"], ["Metaspace"], [], ["Metaspace"], ["BPE"]]),
        (
            SentencePieceUnigramTokenizer(),
            [["Nmt", "NFKC", "Replace"], ["Metaspace"], [], ["Metaspace"], ["Unigram"]],
        ),
    ],
)
def test_tokenizers_are_built_of_the_stages_of_their_kind(tokenizer: BaseTokenizer, expected: list[list[str]]) -> None:
    names = ["normalizer", "pre_tokenizer", "post_processor", "decoder", "model"]
    assert stages(tokenizer) == dict(zip(names, expected, strict=True))


def test_options_reach_the_stages() -> None:
    tokenizer = SentencePieceBPETokenizer(LETTERS, MERGES, replacement="_", add_prefix_space=False, fuse_unk=True)
    parts = json.loads(tokenizer.to_str())
    assert (parts["pre_tokenizer"]["replacement"], parts["pre_tokenizer"]["prepend_scheme"]) == ("_", "never")
    assert parts["model"]["fuse_unk"] is True
    bytes_ = json.loads(ByteLevelBPETokenizer(add_prefix_space=True, trim_offsets=True).to_str())
    assert (bytes_["pre_tokenizer"]["add_prefix_space"], bytes_["post_processor"]["trim_offsets"]) == (True, True)
    assert json.loads(CharBPETokenizer(suffix="@").to_str())["model"]["end_of_word_suffix"] == "@"


def test_repr_has_the_size_and_the_options() -> None:
    expected = "Tokenizer(vocabulary_size=7, model=SentencePieceBPE, unk_token=<unk>, replacement=▁, "
    assert repr(SentencePieceBPETokenizer(LETTERS, MERGES)) == f"{expected}add_prefix_space=True, dropout=None)"
    assert repr(BaseTokenizer(Tokenizer(models.BPE()))) == "Tokenizer(vocabulary_size=0, )"
    assert repr(BaseTokenizer(Tokenizer(models.BPE()), {"a": 1})) == "Tokenizer(vocabulary_size=0, a=1)"


def test_bert_encodes_and_decodes() -> None:
    tokenizer = BertWordPieceTokenizer(BERT)
    assert tokenizer.encode("AB aB").tokens == ["[CLS]", "ab", "ab", "[SEP]"]
    assert tokenizer.encode("ab", "a").type_ids == [0, 0, 0, 1, 1]
    assert tokenizer.encode(["a", "ab"], is_pretokenized=True, add_special_tokens=False).ids == [5, 7]
    assert [encoding.ids for encoding in tokenizer.encode_batch(["a", ("a", "ab")])] == [[2, 5, 3], [2, 5, 3, 7, 3]]
    assert tokenizer.decode([2, 5, 6, 3]) == "ab"
    assert tokenizer.decode_batch([[5], [7, 3]], skip_special_tokens=False) == ["a", "ab [SEP]"]
    assert tokenizer.num_special_tokens_to_add(is_pair=True) == 3
    assert [tokenizer.token_to_id("ab"), tokenizer.token_to_id("x"), tokenizer.id_to_token(6)] == [7, None, "##b"]
    assert tokenizer.post_process(tokenizer.encode("a", add_special_tokens=False)).ids == [2, 5, 3]


def test_special_tokens_of_the_vocabulary_are_added() -> None:
    assert sorted(BertWordPieceTokenizer(BERT, pad_token="none").get_added_tokens_decoder()) == [1, 2, 3, 4]
    added = CharBPETokenizer(LETTERS, MERGES, unk_token=AddedToken("<unk>", lstrip=True)).get_added_tokens_decoder()
    assert [(at, token.content, token.lstrip) for at, token in added.items()] == [(3, "<unk>", False)]


@pytest.mark.parametrize("option", ["sep_token", "cls_token"])
def test_bert_needs_its_separators_in_the_vocabulary(option: str) -> None:
    with pytest.raises(errors.InputTypeError, match=f"{option} is 'none', which is not in the vocabulary"):
        BertWordPieceTokenizer(BERT, **{option: "none"})


def test_truncation_and_padding_are_passed_on() -> None:
    tokenizer = BertWordPieceTokenizer(BERT)
    tokenizer.enable_truncation(3)
    tokenizer.enable_padding("left", length=4)
    assert tokenizer.truncation == {"max_length": 3, "stride": 0, "strategy": "longest_first", "direction": "right"}
    assert tokenizer.padding is not None
    assert tokenizer.encode("a a a").ids == [0, 2, 5, 3]
    tokenizer.no_truncation()
    tokenizer.no_padding()
    assert tokenizer.truncation is tokenizer.padding is None


def test_stages_can_be_replaced() -> None:
    tokenizer = BertWordPieceTokenizer(BERT)
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.post_processor = None
    tokenizer.model = models.WordLevel({"A": 0, "?": 1}, unk_token="?")
    assert tokenizer.encode("A b").ids == [0, 1]
    tokenizer.pre_tokenizer = None
    tokenizer.decoder = None
    assert isinstance(tokenizer.model, models.WordLevel)
    assert tokenizer.pre_tokenizer is tokenizer.decoder is tokenizer.post_processor is None


def test_tokens_can_be_added() -> None:
    tokenizer = CharBPETokenizer(LETTERS, MERGES)
    assert (tokenizer.add_tokens(["new"]), tokenizer.add_special_tokens(["<s>", "ab"])) == (1, 2)
    assert tokenizer.get_vocab()["<s>"] == tokenizer.get_vocab_size() - 1
    assert tokenizer.get_vocab(with_added_tokens=False) == LETTERS


def test_normalize_without_a_normalizer_leaves_text_alone() -> None:
    assert ByteLevelBPETokenizer().normalize("É") == "É"
    assert ByteLevelBPETokenizer(lowercase=True).normalize("É") == "é"


@pytest.mark.parametrize("method", ["encode", "encode_batch", "decode", "decode_batch"])
def test_none_is_no_input(method: str) -> None:
    with pytest.raises(errors.OptionError, match="is None"):
        getattr(ByteLevelBPETokenizer(), method)(None)


def test_async_calls_await_the_others() -> None:
    async def results() -> tuple[list[list[int]], list[list[int]], list[str]]:
        tokenizer = BertWordPieceTokenizer(BERT)
        encoded = await tokenizer.async_encode_batch(["ab"])
        fast = await tokenizer.async_encode_batch_fast([["ab"]], is_pretokenized=True, add_special_tokens=False)
        decoded = await tokenizer.async_decode_batch([[7, 3]])
        return [encoding.ids for encoding in encoded], [encoding.ids for encoding in fast], decoded

    assert asyncio.run(results()) == ([[2, 7, 3]], [[7]], ["ab"])


def test_files_are_written_and_read(tmp_path: Path) -> None:
    tokenizer = CharBPETokenizer(LETTERS, MERGES, suffix="")
    paths = tokenizer.save_model(str(tmp_path), "x")
    assert [Path(path).name for path in paths] == ["x-vocab.json", "x-merges.txt"]
    for again in [CharBPETokenizer.from_file(*paths, suffix=""), CharBPETokenizer(*paths, suffix="")]:
        assert again.to_str() == tokenizer.to_str()
        assert repr(again) == repr(tokenizer)
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    assert Tokenizer.from_file(tmp_path / "tokenizer.json").get_vocab() == tokenizer.get_vocab()
    (vocab,) = BertWordPieceTokenizer(BERT).save_model(str(tmp_path))
    assert BertWordPieceTokenizer.from_file(vocab, lowercase=False).get_vocab() == BERT


@pytest.mark.parametrize("kind", [ByteLevelBPETokenizer, CharBPETokenizer, SentencePieceBPETokenizer])
def test_a_path_and_a_list_do_not_go_together(kind: type[Any]) -> None:
    with pytest.raises(errors.OptionError, match="vocab is a path and merges is not"):
        kind("vocab.json", MERGES)
    with pytest.raises(errors.OptionError, match="merges is a path and vocab is not"):
        kind(LETTERS, Path("merges.txt"))


@pytest.mark.parametrize("kind", TRAINED)
def test_training_from_texts_lists_and_files_is_the_same(kind: type[Any], tmp_path: Path) -> None:
    file = tmp_path / "corpus.txt"
    file.write_text(" ".join(CORPUS), encoding="utf-8")
    size = 270 if kind is ByteLevelBPETokenizer else 40
    saved = set()
    for texts in [[" ".join(CORPUS)], [[" ".join(CORPUS)]]]:
        tokenizer = kind()
        tokenizer.train_from_iterator(texts, vocab_size=size, show_progress=False, length=1)
        saved.add(tokenizer.to_str())
    for files in [str(file), file, [str(file)]]:
        tokenizer = kind()
        tokenizer.train(files, vocab_size=size, show_progress=False)
        saved.add(tokenizer.to_str())
    assert len(saved) == 1


@pytest.mark.parametrize("kind", TRAINED)
def test_trained_tokenizers_return_their_text(kind: type[Any]) -> None:
    tokenizer = kind()
    tokenizer.train_from_iterator(CORPUS, special_tokens=["[UNK]", "<unk>"], show_progress=False)
    assert tokenizer.decode(tokenizer.encode("the cat sat on the log").ids) == "the cat sat on the log"


def test_special_tokens_of_training_have_the_first_ids() -> None:
    tokenizer = BertWordPieceTokenizer()
    tokenizer.train_from_iterator(CORPUS, show_progress=False)
    assert [tokenizer.token_to_id(token) for token in ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]] == [0, 1, 2, 3, 4]


def test_words_may_be_trained_without_a_suffix() -> None:
    tokenizer = CharBPETokenizer()
    tokenizer.train_from_iterator(CORPUS, suffix=None, show_progress=False)
    assert tokenizer.encode("the cat").tokens == ["the", "cat"]


def unigram_file(path: Path, kind: int = 1) -> Path:
    pieces = piece("<unk>", 0.0, 2) + piece("▁a", -1.0) + piece("b", -2.0) + piece("▁", -3.0)
    path.write_bytes(pieces + field(2, field(3, kind)))
    return path


def test_from_spm_has_the_ids_of_the_file(tmp_path: Path) -> None:
    path = unigram_file(tmp_path / "unigram.model")
    tokenizer = SentencePieceUnigramTokenizer.from_spm(str(path))
    assert tokenizer.encode(" ab  a ").ids == Tokenizer.from_spm(path).encode(" ab  a ").ids == [1, 2, 1]
    assert repr(tokenizer) == "Tokenizer(vocabulary_size=4, model=SentencePieceUnigram)"


def test_from_spm_takes_unigram_models_only(tmp_path: Path) -> None:
    with pytest.raises(errors.FormatError, match="holds a BPE model and not a Unigram model"):
        SentencePieceUnigramTokenizer.from_spm(unigram_file(tmp_path / "bpe.model", kind=2))


def test_tokenizers_are_pickled_and_copied() -> None:
    tokenizer = BertWordPieceTokenizer(BERT, lowercase=False)
    for again in [pickle.loads(pickle.dumps(tokenizer)), copy.deepcopy(tokenizer)]:
        assert (repr(again), again.to_str()) == (repr(tokenizer), tokenizer.to_str())


def test_training_leaves_the_defaults_alone() -> None:
    defaults = {
        (kind, name): copy.deepcopy(item.default)
        for kind in TRAINED
        for name, item in inspect.signature(kind.train).parameters.items()
    }
    for kind in TRAINED:
        kind().train_from_iterator(CORPUS, show_progress=False)
    assert defaults == {
        (kind, name): item.default
        for kind in TRAINED
        for name, item in inspect.signature(kind.train).parameters.items()
    }


# Names beside the tokenizers.


def test_unicode_normalizers_are_found_by_name() -> None:
    assert list(normalizers.NORMALIZERS) == ["nfc", "nfd", "nfkc", "nfkd"]
    assert isinstance(normalizers.unicode_normalizer_from_str("nfkd"), normalizers.NFKD)
    with pytest.raises(errors.OptionError, match="unicode normalizer is 'NFC' but must be one of nfc, nfd, nfkc, nfkd"):
        normalizers.unicode_normalizer_from_str("NFC")


def test_enumerations_have_the_words_of_options() -> None:
    assert [item.value for item in lexmill.OffsetReferential] == ["original", "normalized"]
    assert [item.value for item in lexmill.OffsetType] == ["byte", "char"]
    for behavior in lexmill.SplitDelimiterBehavior:
        shown = behavior.value.replace("_", "")
        assert lexmill.pre_tokenizers.Punctuation(behavior.value).behavior == shown


@pytest.mark.parametrize(
    "path",
    [
        "tokenizers",
        "implementations.base_tokenizer",
        "implementations.bert_wordpiece",
        "implementations.byte_level_bpe",
        "implementations.char_level_bpe",
        "implementations.sentencepiece_bpe",
        "implementations.sentencepiece_unigram",
        "tools.visualizer",
        *("decoders", "models", "normalizers", "pre_tokenizers", "processors", "trainers"),
    ],
)
def test_import_paths_are_there(path: str) -> None:
    assert import_module(f"lexmill.{path}").__name__ == f"lexmill.{path}"


def test_compiled_names_are_those_of_the_package() -> None:
    compiled = import_module("lexmill.tokenizers")
    assert all(getattr(compiled, name) is getattr(lexmill, name) for name in compiled.__all__)
