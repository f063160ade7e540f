"""Keywords, wrong values and what objects show of themselves, as Hugging Face has them."""

from __future__ import annotations

from typing import Any

import pytest

from lexmill import (
    AddedToken,
    NormalizedString,
    PreTokenizedString,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)
from lexmill.errors import OptionError

LETTERS = {letter: place for place, letter in enumerate("abcdefg")}


def test_keywords_have_hugging_faces_names() -> None:
    assert str(pre_tokenizers.Split(Regex(s="a"), "isolated")).startswith('Split(pattern=Regex("a")')
    assert PreTokenizedString(s="a").get_splits() == [("a", (0, 1), None)]
    assert str(decoders.Sequence(decoders_py=[])) == "Sequence(decoders=[])"
    assert str(pre_tokenizers.Sequence(pre_tokenizers=[])) == "Sequence(pretokenizers=[])"
    assert str(processors.Sequence(processors_py=[])) == "Sequence(processors=[])"
    assert normalizers.Normalizer.custom(obj=object()) is not None


@pytest.mark.parametrize("stage", [pre_tokenizers.ByteLevel, processors.ByteLevel, decoders.ByteLevel])
def test_stages_of_bytes_ignore_other_keywords(stage: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert str(stage(zzz=1)) == str(stage())
    assert capsys.readouterr().err == ""


def test_pad_notes_other_keywords(capsys: pytest.CaptureFixture[str]) -> None:
    encoding = Tokenizer(models.WordLevel(LETTERS, "a")).encode("a")
    encoding.pad(2, zzz=1)
    assert (len(encoding), capsys.readouterr().err) == (2, "Ignored unknown kwarg option zzz\n")


@pytest.mark.parametrize(
    "name", ["cache_capacity", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk", "byte_fallback"]
)
def test_options_of_bpe_are_not_none(name: str) -> None:
    with pytest.raises(TypeError):
        models.BPE(**{name: None})
    assert models.BPE(unk_token=None, dropout=None).unk_token is None


@pytest.mark.parametrize(
    "trainer", [trainers.BpeTrainer, trainers.WordPieceTrainer, trainers.WordLevelTrainer, trainers.UnigramTrainer]
)
def test_options_of_trainers_are_not_none(trainer: Any) -> None:
    with pytest.raises(TypeError):
        trainer(special_tokens=None)
    if hasattr(trainer, "initial_alphabet"):
        with pytest.raises(TypeError):
            trainer(initial_alphabet=None)
        with pytest.raises(OptionError, match='initial_alphabet is "ab": expected a string of length 1'):
            trainer().initial_alphabet = ["ab"]
    assert trainer(progress_format="jsonl").progress_format == "indicatif"


def test_a_model_alone_is_an_empty_bpe_model() -> None:
    model = models.Model()
    assert (type(model), str(model)) == (models.Model, str(models.BPE()))
    assert type(Tokenizer(model).model) is models.BPE


def test_a_vocabulary_and_merges_are_both_files_or_neither() -> None:
    with pytest.raises(OptionError, match="vocab is a path and merges is not"):
        models.BPE("vocab.json", [("a", "b")])
    with pytest.raises(OptionError, match="merges is a path and vocab is not"):
        models.BPE(LETTERS, "merges.txt")
    with pytest.raises(TypeError):
        models.BPE(5, [("a", "b")])


def test_save_warns_of_its_old_keyword(tmp_path: Any) -> None:
    with pytest.warns(DeprecationWarning, match="use prefix"):
        assert models.BPE().save(str(tmp_path), name="x")[0].endswith("x-vocab.json")


def test_str_is_short_and_repr_is_not() -> None:
    model = models.WordLevel(LETTERS, "a")
    assert str(model) == 'WordLevel(vocab={"a":0, "b":1, "c":2, "d":3, "e":4, ...}, unk_token="a")'
    assert '"g":6' in repr(model)
    assert str(normalizers.Prepend("é" * 51)) == f'Prepend(prepend="{"é" * 50}...")'
    # Hugging Face panics where a character would be cut.
    assert str(normalizers.Prepend("日" * 34)) == f'Prepend(prepend="{"日" * 33}...")'
    assert repr(normalizers.Prepend('a\n"')) == 'Prepend(prepend="a\n"")'


def test_a_tokenizer_shows_all_its_parts() -> None:
    tokenizer = Tokenizer(models.BPE({"a": 0, "b": 1, "ab": 2}, [("a", "b")]))
    tokenizer.enable_truncation(3)
    tokenizer.enable_padding(length=3)
    tokenizer.post_processor = processors.BertProcessing(("a", 0), ("b", 1))
    shown = repr(tokenizer)
    assert "truncation=TruncationParams(direction=Right, max_length=3, strategy=LongestFirst, stride=0)" in shown
    assert "padding=PaddingParams(strategy=Fixed(3), direction=Right, pad_to_multiple_of=None, pad_id=0" in shown
    assert 'post_processor=BertProcessing(sep=("a", 0), cls=("b", 1))' in shown
    assert shown.endswith('vocab={"a":0, "b":1, "ab":2}, merges=[("a", "b")]))')


def test_added_tokens_have_no_order() -> None:
    one, other = AddedToken("a"), AddedToken("b")
    assert [one < other, one > other, one <= other, one >= other] == [False] * 4
    assert one.__eq__(1) is NotImplemented
    with pytest.raises(TypeError):
        assert one < 1  # type: ignore[operator]


def test_a_state_without_normalized_leaves_it_to_follow_from_special() -> None:
    token = AddedToken("a", special=True)
    token.__setstate__({})
    assert not token.normalized
    token.special = False
    assert token.normalized


@pytest.mark.parametrize("name", ["map", "filter", "for_each"])
def test_callbacks_of_texts_must_be_callable(name: str) -> None:
    with pytest.raises(TypeError, match=f"`{name}` expect a callable .*, func is of type int"):
        getattr(NormalizedString(""), name)(5)


@pytest.mark.parametrize("name", ["normalize", "split", "tokenize"])
def test_callbacks_of_splits_must_be_callable(name: str) -> None:
    with pytest.raises(TypeError, match=f"`{name}` expect a callable .*, func is of type int"):
        getattr(PreTokenizedString("a"), name)(5)


def test_sequences_of_ids_are_sequences() -> None:
    tokenizer = Tokenizer(models.BPE())
    for wrong in ({}, "", {1}):
        with pytest.raises(TypeError):
            tokenizer.decode_batch(wrong)  # type: ignore[arg-type]


def test_a_pattern_cannot_be_set() -> None:
    with pytest.raises(Exception, match="Cannot set pattern"):
        pre_tokenizers.Split("a", "isolated").pattern = "b"
