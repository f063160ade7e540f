"""Calls that encode, and what their results answer."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from common import (
    CONTEXT,
    PAIRS,
    SENTENCE,
    TEXTS,
    WORDS,
    attempt,
    digest,
    load,
    padded,
    parts_of,
    plain,
    scenario,
    swapped,
)


@scenario
def loading(folder: Path, _: Path) -> Iterator[tuple[str, Any]]:
    from tokenizers import Tokenizer
    from transformers import PreTrainedTokenizerFast

    file = str(folder / "tokenizer.json")
    ways: dict[str, Callable[[], Any]] = {
        "auto": lambda: load(folder),
        "auto, sides": lambda: load(folder, padding_side="left", truncation_side="left"),
        "auto, tokens": lambda: load(folder, pad_token="<my pad>", additional_special_tokens=["<x>"]),
        "auto, bos and eos": lambda: load(folder, add_bos_token=True, add_eos_token=True),
        "auto, prefix space": lambda: load(folder, add_prefix_space=True),
        "base": lambda: swapped(PreTrainedTokenizerFast.from_pretrained(folder)),
        "base, file": lambda: swapped(PreTrainedTokenizerFast(tokenizer_file=file)),
        "base, object": lambda: swapped(PreTrainedTokenizerFast(tokenizer_object=Tokenizer.from_file(file))),
        "base, object, tokens": lambda: swapped(
            PreTrainedTokenizerFast(
                tokenizer_object=Tokenizer.from_file(file), unk_token="<u>", pad_token="<p>", eos_token="<e>"
            )
        ),
    }
    for name, way in ways.items():
        try:
            fast = way()
        except Exception as error:
            yield name, {"raises": isinstance(error, Exception)}
            continue
        yield (
            name,
            {
                "class": type(fast).__name__,
                "repr": repr(fast),
                "file": parts_of(fast.backend_tokenizer.to_str()),
                "vocab": digest(sorted(fast.get_vocab().items())),
                "vocab, in order of ids": digest(sorted(fast.vocab.items(), key=lambda item: item[1])),
                "sizes": [len(fast), fast.vocab_size, fast.model_max_length, fast.is_fast],
                "special tokens": plain([fast.special_tokens_map, fast.all_special_tokens, fast.all_special_ids]),
                "added": plain([fast.added_tokens_decoder, fast.added_tokens_encoder, fast.get_added_vocab()]),
                "added by a call": [fast.num_special_tokens_to_add(False), fast.num_special_tokens_to_add(True)],
                "input names": fast.model_input_names,
                "calls": [attempt(fast, text) for text in TEXTS],
                "decoded": [attempt(fast.decode, fast(text)["input_ids"]) for text in TEXTS],
            },
        )


@scenario
def batch_encoding(folder: Path, _: Path) -> Iterator[tuple[str, Any]]:
    """All that a `BatchEncoding` answers about tokens, words and characters, also out of bounds."""
    fast = padded(load(folder))
    for name, batch, texts in [
        ("single", fast(SENTENCE), [[SENTENCE]]),
        ("batch", fast(TEXTS[2:8], padding=True), [[text] for text in TEXTS[2:8]]),
        ("pairs", fast([a for a, _ in PAIRS], [b for _, b in PAIRS], padding=True), PAIRS),
        ("words", fast(WORDS, is_split_into_words=True, padding=True), [[" ".join(words)] for words in WORDS]),
    ]:
        yield f"{name}: all", batch
        for row, sequences in enumerate(texts):
            length = len(batch["input_ids"][row] if name != "single" else batch["input_ids"])
            tokens = [*range(length), length, length + 5, -1, -length - 1]
            answers: dict[str, Any] = {
                "tokens": attempt(batch.tokens, row),
                "word_ids": attempt(batch.word_ids, row),
                "sequence_ids": attempt(batch.sequence_ids, row),
                "token_to_chars": [attempt(batch.token_to_chars, row, token) for token in tokens],
                "token_to_word": [attempt(batch.token_to_word, row, token) for token in tokens],
                "token_to_sequence": [attempt(batch.token_to_sequence, row, token) for token in tokens],
            }
            for sequence, text in enumerate(sequences):
                chars = [*range(len(text) + 2), -1]
                words = range(-1, len(text.split()) + 12)
                at = {"sequence_index": sequence}
                answers[f"char_to_token {sequence}"] = [attempt(batch.char_to_token, row, c, **at) for c in chars]
                answers[f"char_to_word {sequence}"] = [attempt(batch.char_to_word, row, c, **at) for c in chars]
                answers[f"word_to_chars {sequence}"] = [attempt(batch.word_to_chars, row, w, **at) for w in words]
                answers[f"word_to_tokens {sequence}"] = [attempt(batch.word_to_tokens, row, w, **at) for w in words]
            yield f"{name}: row {row}", answers
        yield f"{name}: one index", [attempt(call, 0) for call in (batch.char_to_token, batch.token_to_chars)]
        yield f"{name}: no row", [attempt(call, 99) for call in (batch.tokens, batch.word_ids, batch.sequence_ids)]
        copied = pickle.loads(pickle.dumps(batch))
        yield f"{name}: pickled", [copied, copied.encodings is not None and attempt(copied.word_ids, 0)]
        yield f"{name}: sliced", [attempt(lambda b=batch: b[0]), attempt(lambda b=batch: b[1:3]), batch.n_sequences]


@scenario
def calls(folder: Path, _: Path) -> Iterator[tuple[str, Any]]:
    fast = padded(load(folder))
    every = {
        "return_offsets_mapping": True,
        "return_special_tokens_mask": True,
        "return_token_type_ids": True,
        "return_length": True,
    }
    options: list[dict[str, Any]] = [
        {},
        every,
        {"add_special_tokens": False, **every},
        {"split_special_tokens": True},
        {"padding": "longest"},
        {"padding": "max_length", "max_length": 40},
        {"padding": True, "pad_to_multiple_of": 8},
        {"padding": "max_length", "max_length": 21, "pad_to_multiple_of": 8, "truncation": True},
        {"padding": True, "padding_side": "left", **every},
        {"padding": True, "padding_side": "right"},
        {"padding": True, "return_tensors": "np"},
        {"padding": True, "return_tensors": "np", "return_attention_mask": False, **every},
        {"truncation": True, "max_length": 7},
        {"truncation": "longest_first", "max_length": 9},
        {"truncation": "only_first", "max_length": 9},
        {"truncation": "only_second", "max_length": 9},
        {"truncation": True, "max_length": 0},
        {"truncation": True, "max_length": 1},
        {"truncation": True, "max_length": 3},
        {"truncation": "do_not_truncate", "max_length": 3},
        {"truncation": True, "max_length": 6, "padding": "max_length", "return_tensors": "np"},
    ]
    for option in options:
        yield f"texts, {option}", [attempt(fast, text, **option) for text in TEXTS]
        yield f"batch, {option}", attempt(fast, TEXTS, **option)
        yield f"pairs, {option}", attempt(fast, [a for a, _ in PAIRS], [b for _, b in PAIRS], **option)
        yield f"pair, {option}", [attempt(fast, a, b, **option) for a, b in PAIRS]
    yield "list of pairs", attempt(fast, PAIRS, padding=True)
    for side in ["left", "right"]:
        fast.truncation_side = side
        yield f"truncation side {side}", [attempt(fast, a, b, truncation=True, max_length=9) for a, b in PAIRS]
        fast.padding_side = side
        yield f"padding side {side}", attempt(fast, TEXTS, padding=True)
    yield "encode", [attempt(fast.encode, text, add_special_tokens=add) for text in TEXTS for add in (True, False)]
    yield "tokenize", [attempt(fast.tokenize, text, add_special_tokens=a) for text in TEXTS for a in (True, False)]
    yield "tokenize pair", [attempt(fast.tokenize, a, pair=b) for a, b in PAIRS]
    yield "target", attempt(fast, text_target=TEXTS[2:4])
    yield "text and target", attempt(fast, TEXTS[2:4], text_target=TEXTS[4:6])
    yield "wrong input", [attempt(fast, wrong) for wrong in (5, [5], None, [None], {"a": "b"}, [["a", 5]], b"a")]
    rows = [{"input_ids": fast(text)["input_ids"]} for text in TEXTS[2:6]]
    yield "pad", [attempt(fast.pad, rows, return_tensors="np"), attempt(fast.pad, rows, pad_to_multiple_of=16)]
    yield (
        "mask of ids",
        attempt(fast.get_special_tokens_mask, fast(SENTENCE)["input_ids"], already_has_special_tokens=True),
    )
    yield "state", plain([fast.backend_tokenizer.truncation, fast.backend_tokenizer.padding])


@scenario
def overflow(folder: Path, _: Path) -> Iterator[tuple[str, Any]]:
    fast = padded(load(folder))
    texts = [*TEXTS, CONTEXT[:600]]
    for length, stride in [(12, 0), (12, 3), (20, 8), (9, 5), (5, 4), (4, 9)]:
        shared = {"max_length": length, "stride": stride, "return_overflowing_tokens": True}
        for extra in [
            {"truncation": True},
            {"truncation": True, "padding": "max_length", "return_tensors": "np"},
            {"truncation": True, "padding": True, "return_offsets_mapping": True, "return_special_tokens_mask": True},
        ]:
            yield f"texts {shared | extra}", attempt(fast, texts, **shared, **extra)
            yield f"single {shared | extra}", attempt(fast, texts[-1], **shared, **extra)
        for truncation in ["longest_first", "only_first", "only_second"]:
            firsts, seconds = [a for a, _ in PAIRS], [b for _, b in PAIRS]
            yield f"pairs {shared} {truncation}", attempt(fast, firsts, seconds, truncation=truncation, **shared)
        fast.truncation_side = "left"
        yield f"left {shared}", attempt(fast, texts, truncation=True, **shared)
        yield f"left pairs {shared}", [attempt(fast, a, b, truncation="only_second", **shared) for a, b in PAIRS]
        fast.truncation_side = "right"
    words = CONTEXT[:300].split()
    yield (
        "words",
        attempt(
            fast,
            [words, words[:9]],
            is_split_into_words=True,
            truncation=True,
            max_length=16,
            stride=4,
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
        ),
    )


@scenario
def words(folder: Path, _: Path) -> Iterator[tuple[str, Any]]:
    """Text that comes as words, and what the two ways to name pairs of it give."""
    for options in [{}, {"add_prefix_space": True}]:
        fast = padded(load(folder, **options))
        shared = {"is_split_into_words": True, "return_offsets_mapping": True}
        yield f"rows {options}", [attempt(fast, row, **shared) for row in [*WORDS, [], [""]]]
        yield f"batch {options}", attempt(fast, WORDS, padding=True, **shared)
        yield f"pairs {options}", attempt(fast, WORDS, WORDS[::-1], padding=True, **shared)
        yield f"list {options}", attempt(fast, [(a, b) for a, b in zip(WORDS, WORDS[::-1], strict=True)], **shared)
        yield f"cut {options}", attempt(fast, WORDS, truncation=True, max_length=5, **shared)
        yield f"tokenize {options}", [attempt(fast.tokenize, row, is_split_into_words=True) for row in WORDS]
        yield f"without specials {options}", attempt(fast, WORDS, add_special_tokens=False, **shared)
