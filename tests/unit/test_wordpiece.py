from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cases import load, load_cases, tokens
from engines import Engine
from lexmill import Tokenizer, models, pre_tokenizers
from lexmill.errors import (
    FileError,
    FormatError,
    InputTypeError,
    InvalidUtf8Error,
    OptionError,
    OptionRangeError,
    VocabError,
)


@pytest.mark.parametrize("case", load_cases("wordpiece_encode.json"))
def test_golden(engine: Engine, case: dict[str, Any]) -> None:
    if "error" in case:
        with pytest.raises(VocabError) as raised:
            engine.encode_wordpiece(case["vocab"], case["word"], **case["options"])
        assert str(raised.value) == case["error"]
    else:
        assert engine.encode_wordpiece(case["vocab"], case["word"], **case["options"]) == tokens(case["tokens"])


def test_textbook_words(engine: Engine) -> None:
    golden = load("textbook.json")["wordpiece"]
    for word, expected in golden["encode_word"].items():
        assert [token for _, token, _ in engine.encode_wordpiece(golden["vocab"], word)] == expected


def test_long_words_of_a_large_vocabulary_are_cut_alike(engine: Engine) -> None:
    # Enough words for the compiled core to prepare its tables on the way.
    vocab = ["[UNK]", *"abc", *(f"##{first}{second}" for first in "abc" for second in "abc"), "##a"]
    word = "abcacbabca" * 9
    expected = engine.encode_wordpiece(vocab, word)
    assert [offsets[1] - offsets[0] for *_, offsets in expected] == [1, *[2] * 44, 1]
    tokenizer = Tokenizer(models.WordPiece({token: at for at, token in enumerate(vocab)}))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    for length in range(1, 90):
        own = tokenizer.encode(word[:length] + " x")
        found = engine.encode_wordpiece(vocab, word[:length])
        assert own.tokens == [*(token for _, token, _ in found), "[UNK]"]
        assert own.offsets == [*(offsets for *_, offsets in found), (length + 1, length + 2)]


def test_a_byte_level_pre_tokenizer_works_with_whole_words() -> None:
    tokenizer = Tokenizer(models.WordPiece({"[UNK]": 0, "Ġa": 1, "##Ã©": 2, "b": 3}))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    encoding = tokenizer.encode("aé aé x")
    assert encoding.tokens == ["Ġa", "##Ã©", "Ġa", "##Ã©", "[UNK]"]
    assert encoding.offsets == [(0, 1), (1, 2), (2, 4), (4, 5), (5, 7)]


def test_options_take_effect_on_the_tokenizer_around() -> None:
    tokenizer = Tokenizer(models.WordPiece({"[UNK]": 0, "?": 1, "a": 2, "##a": 3, "@a": 4}))
    tokenizer.model.unk_token = "?"
    assert tokenizer.encode("b").ids == [1]
    tokenizer.model.continuing_subword_prefix = "@"
    assert tokenizer.encode("aa").ids == [2, 4]
    tokenizer.model.max_input_chars_per_word = 1
    assert tokenizer.encode("aa").ids == [1]
    with pytest.raises(OptionRangeError, match="max_input_chars_per_word is -1 but must be at least 0"):
        tokenizer.model.max_input_chars_per_word = -1


def test_vocab_txt_goes_both_ways(tmp_path: Path) -> None:
    path = tmp_path / "vocab.txt"
    path.write_bytes("[UNK]\na \n##é\r\n\na\n".encode())
    expected = {"[UNK]": 0, "a": 4, "##é": 2, "": 3}
    assert models.WordPiece.read_file(str(path)) == expected
    model = models.WordPiece.from_file(path, unk_token="a")
    assert (model.unk_token, model.token_to_id("a"), model.id_to_token(1)) == ("a", 4, None)
    assert models.WordPiece(str(path)).token_to_id("##é") == 2
    # The id 1 has no token any more, so that later lines would move up.
    with pytest.raises(OptionError, match=r'vocab\.txt cannot hold token "##é" with id 2; save the whole tokenizer'):
        model.save(str(tmp_path), "x")
    assert not (tmp_path / "x-vocab.txt").exists()
    model = models.WordPiece({"[UNK]": 0, "##é": 1, "": 2, "a": 3})
    assert model.save(str(tmp_path), "x") == [str(tmp_path / "x-vocab.txt")]
    assert (tmp_path / "x-vocab.txt").read_text(encoding="utf-8") == "[UNK]\n##é\n\na\n"
    assert models.WordPiece.from_file(tmp_path / "x-vocab.txt").__getstate__() == model.__getstate__()


def test_wrong_files_and_vocabularies_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"cannot read .*absent"):
        models.WordPiece.from_file(tmp_path / "absent")
    (tmp_path / "latin").write_bytes(b"a\n\xff")
    with pytest.raises(InvalidUtf8Error, match="at byte 2"):
        models.WordPiece(tmp_path / "latin")
    with pytest.raises(InputTypeError, match="vocab must be a path, or a dict"):
        models.WordPiece({"a": -1})
    with pytest.raises(FormatError, match="the state is that of WordLevel, not of WordPiece"):
        models.WordPiece().__setstate__(models.WordLevel().__getstate__())


@pytest.mark.parametrize("key", ["unk_token", "continuing_subword_prefix", "max_input_chars_per_word", "vocab"])
def test_each_key_of_the_file_is_needed(key: str) -> None:
    model = {"unk_token": '"u"', "continuing_subword_prefix": '"##"', "max_input_chars_per_word": "9", "vocab": "{}"}
    text = ", ".join(f'"{name}": {value}' for name, value in model.items() if name != key)
    with pytest.raises(FormatError, match=f"missing field `{key}`"):
        Tokenizer.from_str(f'{{"model": {{"type": "WordPiece", {text}}}}}')


def test_repr_names_the_options() -> None:
    options = 'unk_token="u", continuing_subword_prefix="##", max_input_chars_per_word=100'
    assert repr(models.WordPiece({"a": 0}, unk_token="u")) == f'WordPiece({options}, vocab={{"a":0}})'
