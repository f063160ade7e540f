"""Strings with lone surrogates, which UTF-8 cannot express: errors name the place; `replace` reads U+FFFD."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from lexmill import AddedToken, Regex, Tokenizer, count_words, models, normalizers, processors, trainers
from lexmill.errors import InputTypeError
from small import byte_level, letters

TEXTS = ["\ud800", "a\udfffb", "日\ud83d\ude00本", "🐈\ud800é", "é" * 200_000 + "\udc00"]


def replaced(text: str) -> str:
    return "".join("\ufffd" if 0xD800 <= ord(char) < 0xE000 else char for char in text)


CALLS: dict[str, Callable[..., Any]] = {
    "ids": lambda tokenizer, texts, **options: tokenizer.encode_batch_ids(texts, **options),
    "arrays": lambda tokenizer, texts, **options: tokenizer.encode_batch_arrays(texts, **options).ids.tolist(),
    "offsets": lambda tokenizer, texts, **options: tokenizer.encode_batch_arrays(
        texts, return_offsets=True, **options
    ).ids.tolist(),
    "counts": lambda tokenizer, texts, **options: tokenizer.count_tokens(texts, **options).tolist(),
    "words": lambda _, texts, **options: [word[:2] for word in count_words(iterator=texts, **options)],
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("threads", [1, 3])
def test_replace_reads_what_replacing_before_gives(call: str, threads: int) -> None:
    texts = ["plain", *TEXTS, *TEXTS]
    expected = CALLS[call](byte_level(), [replaced(text) for text in texts], num_threads=threads)
    assert CALLS[call](byte_level(), texts, errors="replace", num_threads=threads) == expected


@pytest.mark.parametrize("call", [name for name in CALLS if name != "words"])
def test_the_text_the_character_and_the_way_on_are_named(call: str) -> None:
    message = 'text 1: character 2 is the lone surrogate U+D83D, which UTF-8 cannot express; pass errors="replace"'
    with pytest.raises(InputTypeError, match=f"^{re.escape(message)}"):
        CALLS[call](byte_level(), ["a", "aé\ud83d"])


NOTE = r'character 1 is the lone surrogate U\+D800, .*encode\("utf-8", "replace"\)'
BAD = "a\ud800"
REFUSED: dict[str, tuple[Callable[[Tokenizer], Any], str]] = {
    "encode": (lambda tokenizer: tokenizer.encode(BAD), "TextInputSequence must be str: "),
    "pair": (lambda tokenizer: tokenizer.encode("a", BAD), "TextInputSequence must be str: "),
    "batch": (lambda tokenizer: tokenizer.encode_batch(["a", BAD]), r"TextEncodeInput must be .*: "),
    "words": (
        lambda tokenizer: tokenizer.encode(["a", BAD], is_pretokenized=True),
        r"PreTokenizedInputSequence must be .*: word 1: ",
    ),
    "batch of words": (
        lambda tokenizer: tokenizer.encode_batch([["a", BAD]], is_pretokenized=True),
        r"PreTokenizedEncodeInput must be .*: word 1: ",
    ),
    "add_tokens": (
        lambda tokenizer: tokenizer.add_tokens(["a", BAD]),
        r"Input must be a List\[Union\[str, AddedToken\]\]: token 1: ",
    ),
    "add_special_tokens": (lambda tokenizer: tokenizer.add_special_tokens([BAD]), "Input must be .*: token 0: "),
    "trainer": (
        lambda _: trainers.BpeTrainer(special_tokens=[BAD]),
        r"special_tokens must be a List\[Union\[str, AddedToken\]\]: token 0: ",
    ),
    "template": (lambda _: processors.TemplateProcessing(single=BAD), r"Expected Union\[str, List\[str\]\]: "),
    "pattern": (lambda _: normalizers.Replace(BAD, "b"), "pattern is of type str but must be str or Regex: "),
    "vocab": (lambda _: models.WordLevel({BAD: 0}, "a"), "vocab must be a path, .*: "),
}


@pytest.mark.parametrize(("call", "words"), REFUSED.values(), ids=list(REFUSED))
def test_calls_without_errors_name_the_character(call: Callable[[Tokenizer], Any], words: str) -> None:
    with pytest.raises(InputTypeError, match=f"^{words}{NOTE}"):
        call(letters())


def test_other_strings_raise_what_python_raises() -> None:
    for call in (letters().token_to_id, Regex, AddedToken, normalizers.NFC().normalize_str):
        with pytest.raises(UnicodeEncodeError, match="position 1"):
            call(BAD)
