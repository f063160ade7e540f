from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engines import Engine
from lexmill import Tokenizer, models, pre_tokenizers, trainers
from lexmill.errors import FileError, FormatError, OptionError, VocabError


def test_a_word_is_one_token_or_unknown(engine: Engine) -> None:
    vocab = ["<unk>", "é", "ab"]
    assert engine.encode_wordlevel(vocab, "ab") == [(2, "ab", (0, 2))]
    assert engine.encode_wordlevel(vocab, "éé") == [(0, "<unk>", (0, 4))]
    assert engine.encode_wordlevel(vocab, "b", unk_token="é") == [(1, "é", (0, 1))]


def test_a_missing_unknown_token_is_an_error_where_it_is_needed(engine: Engine) -> None:
    assert engine.encode_wordlevel(["a"], "a") == [(0, "a", (0, 1))]
    with pytest.raises(VocabError) as raised:
        engine.encode_wordlevel(["a"], "b")
    assert str(raised.value) == "token `<unk>` of unk_token is not in the vocabulary of 1 tokens"


def test_the_unknown_token_can_be_changed_on_the_tokenizer() -> None:
    tokenizer = Tokenizer(models.WordLevel({"<unk>": 0, "a": 1}))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    assert tokenizer.encode("a é").ids == [1, 0]
    tokenizer.model.unk_token = "a"
    assert tokenizer.encode("a é").ids == [1, 1]
    assert tokenizer.encode("a é").offsets == [(0, 1), (2, 3)]


def test_vocab_json_goes_both_ways(tmp_path: Path) -> None:
    model = models.WordLevel({"b": 5, "a": 0}, "a")
    assert model.save(str(tmp_path)) == [str(tmp_path / "vocab.json")]
    assert (tmp_path / "vocab.json").read_text(encoding="utf-8") == '{"a":0,"b":5}'
    assert models.WordLevel.read_file(tmp_path / "vocab.json") == {"a": 0, "b": 5}
    assert models.WordLevel.from_file(str(tmp_path / "vocab.json"), unk_token="b").unk_token == "b"
    assert models.WordLevel(str(tmp_path / "vocab.json")).token_to_id("b") == 5
    (tmp_path / "bad.json").write_text('{"a": "x"}', encoding="utf-8")
    with pytest.raises(FormatError, match=r"bad\.json\.a: expected an integer"):
        models.WordLevel.read_file(tmp_path / "bad.json")
    with pytest.raises(FileError):
        models.WordLevel.from_file(tmp_path / "absent")


def test_a_file_without_a_type_is_a_word_level_model() -> None:
    tokenizer = Tokenizer.from_str('{"model": {"vocab": {"a": 0}, "unk_token": "a"}}')
    assert repr(tokenizer.model) == 'WordLevel(vocab={"a":0}, unk_token="a")'
    with pytest.raises(FormatError, match="missing field `unk_token`"):
        Tokenizer.from_str('{"model": {"type": "WordLevel", "vocab": {}}}')


WORDS = [("b", 2), ("é", 2), ("a", 2), ("c", 3), ("d", 1)]


def test_frequent_words_come_first_and_equals_by_code_points(engine: Engine) -> None:
    assert engine.train_wordlevel(WORDS) == ["c", "a", "b", "é", "d"]
    assert engine.train_wordlevel(WORDS, min_frequency=2) == ["c", "a", "b", "é"]
    assert engine.train_wordlevel(WORDS, vocab_size=2) == ["c", "a"]


def test_special_tokens_keep_their_ids_and_count_once(engine: Engine) -> None:
    tokens = engine.train_wordlevel(WORDS, special_tokens=["<unk>", "b", "<unk>"], vocab_size=4)
    assert tokens == ["<unk>", "b", "c", "a"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"vocab_size": -1}, "vocab_size is -1 but must be at least 0"),
        ({"min_frequency": -1}, "min_frequency is -1 but must be at least 0"),
        (
            {"vocab_size": 1, "special_tokens": ["x", "y"]},
            "vocab_size is 1 but special tokens and initial alphabet need 2",
        ),
    ],
    ids=str,
)
def test_option_out_of_range_is_refused(engine: Engine, options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError) as raised:
        engine.train_wordlevel(WORDS, **options)
    assert str(raised.value).removesuffix(": can't convert negative int to unsigned") == message


def test_training_keeps_the_unknown_token() -> None:
    tokenizer = Tokenizer(models.WordLevel(unk_token="?"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.train_from_iterator(["b a b c"], trainers.WordLevelTrainer(special_tokens=["?"], show_progress=False))
    assert tokenizer.get_vocab() == {"?": 0, "b": 1, "a": 2, "c": 3}
    assert tokenizer.encode("a x").tokens == ["a", "?"]
    assert isinstance(tokenizer.model.get_trainer(), trainers.WordLevelTrainer)
