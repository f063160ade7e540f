from __future__ import annotations

import json
from typing import Any

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from lexmill import Regex, Tokenizer
from lexmill.models import BPE
from lexmill.pre_tokenizers import ByteLevel, Digits, PreTokenizer, Sequence, Split
from lexmill.reference.byte_level import to_chars
from lexmill.reference.superwords import train_boundless, train_superbpe
from lexmill.reference.words import GPT2_PATTERN
from lexmill.trainers import BpeTrainer, SuperwordOptions
from superword_texts import JOINS, SIZES, TIES, cut, documents


def model_of(tokenizer: Tokenizer) -> tuple[list[str], list[tuple[str, str]]]:
    vocab = tokenizer.get_vocab(with_added_tokens=False)
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    return sorted(vocab, key=vocab.__getitem__), [tuple(merge) for merge in merges]


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("algorithm", ["boundless", "superbpe"])
@given(
    texts=documents(),
    sizes=SIZES,
    tie_break=TIES,
    max_words=st.none() | st.integers(0, 5),
    bytes_alone=st.booleans(),
    min_frequency=st.integers(0, 3),
    max_token_length=st.none() | st.integers(4, 12),
)
def test_core_learns_what_the_reference_learns(
    threads: int,
    algorithm: str,
    texts: list[str],
    sizes: tuple[int, int],
    tie_break: str,
    max_words: int | None,
    bytes_alone: bool,
    min_frequency: int,
    max_token_length: int | None,
) -> None:
    texts = [*texts, "a b"]
    joins = JOINS[algorithm]
    weak = f"(?:{joins})+|{GPT2_PATTERN}"
    pre_tokenizer: PreTokenizer = ByteLevel(add_prefix_space=False)
    if not bytes_alone:
        split = Split(Regex(GPT2_PATTERN), "isolated")
        pre_tokenizer = Sequence([Digits(), split, ByteLevel(add_prefix_space=False, use_regex=False)])

    def digits(pattern: str, text: str) -> list[str]:
        pieces = [text] if bytes_alone else [piece for piece in regex.split(r"(\p{N}+)", text) if piece]
        return [pre_token for piece in pieces for pre_token in cut(pattern, piece)]

    mapped = lambda text: [to_chars(pre_token) for pre_token in digits(GPT2_PATTERN, text)]  # noqa: E731
    alphabet = len({char for text in texts for char in to_chars(text)})
    options: dict[str, Any] = {
        "initial_vocab_size": alphabet + sizes[0],
        "vocab_size": alphabet + sum(sizes),
        "tie_break": tie_break,
        "min_frequency": min_frequency,
        "max_token_length": max_token_length,
    }
    if algorithm == "boundless":
        pre_tokens = {pre_token for text in texts for pre_token in digits(GPT2_PATTERN, text)}
        eligible = {to_chars(pre_token) for pre_token in pre_tokens if regex.fullmatch(joins, pre_token)}
        expected = train_boundless(
            texts, mapped, lambda text: digits(weak, text), eligible.__contains__, max_words=max_words, **options
        )
    else:
        expected = train_superbpe(
            texts,
            mapped,
            lambda text: [to_chars(piece) for piece in digits(weak, text)],
            max_words=4 if max_words is None else max_words,
            **options,
        )
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = pre_tokenizer
    superwords = SuperwordOptions(options.pop("initial_vocab_size"), algorithm=algorithm, max_words=max_words)
    given_options = {name: value for name, value in options.items() if value is not None}
    trainer = BpeTrainer(superwords=superwords, show_progress=False, **given_options)
    tokenizer.train_from_iterator(texts, trainer, num_threads=threads)
    assert model_of(tokenizer) == expected
