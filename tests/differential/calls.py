"""Calls of one whole tokenizer, which any tokenizer answers, and what an encoding answers."""

from __future__ import annotations

from random import Random
from typing import Any

from differential.programs import Step
from differential.values import FOLDER, Member, Subject, method

POSITIONS = [0, 1, 2, 5, 17, 400]
LENGTHS = [0, 1, 3, 9, 40]


def call(name: str, *arguments: Any, **keywords: Any) -> Step:
    """A call of a method of the tokenizer."""
    return Step(f"Tokenizer.{name}", "evaluate", method(Subject(), name, *arguments, **keywords))


def asked(encoding: Any, name: str, *arguments: Any, **keywords: Any) -> Step:
    """A call of a method of an encoding."""
    return Step(f"Encoding.{name}", "evaluate", method(encoding, name, *arguments, **keywords))


def calls_of(rng: Random, texts: list[str]) -> list[Step]:
    """Calls on all of the texts."""
    return [*encodings(texts), *methods_of_encodings(rng, texts), *limits(rng, texts)]


def calls_of_all(rng: Random, tokens: list[str]) -> list[Step]:
    """Calls about the whole tokenizer."""
    return [*vocabulary(rng, tokens), *files()]


def encodings(texts: list[str]) -> list[Step]:
    """Encoding and decoding, one by one and in batches."""
    pairs = list(zip(texts, reversed(texts), strict=True))
    words = [text.split(" ")[:40] for text in texts]
    steps = [call("encode", text) for text in texts]
    steps += [call("encode", text, add_special_tokens=False) for text in texts]
    steps += [call("encode", first, second) for first, second in pairs]
    steps += [call("encode", each, is_pretokenized=True) for each in words]
    steps += [call("encode", each, tuple(each[:3]), True, False) for each in words[:3]]
    steps += [
        call("encode_batch", texts), call("encode_batch", texts, add_special_tokens=False), call("encode_batch", pairs),
        call("encode_batch", words, is_pretokenized=True), call("async_encode_batch", texts), call("encode_batch", []),
    ]  # fmt: skip
    ids = [Member(method(Subject(), "encode", text), "ids") for text in texts]
    steps += [call("decode", each) for each in ids]
    steps += [call("decode", each, skip_special_tokens=False) for each in ids]
    # From the middle of a text on, where bytes may be no characters.
    steps += [call("decode", method(each, "__getitem__", slice(1, 30))) for each in ids]
    return [*steps, call("decode_batch", ids), call("async_decode_batch", ids, False)]


def vocabulary(rng: Random, tokens: list[str]) -> list[Step]:
    """Tokens and ids."""
    some = rng.sample(tokens, min(8, len(tokens)))
    ids = [*range(12), *(rng.randrange(2 * len(tokens) + 9) for _ in range(12)), 2**31, 2**32 - 1]
    return [
        *(call("token_to_id", token) for token in [*some, "", "zzzz", "[CLS]", "<s>", "</s>", "<unk>",
        "<|endoftext|>"]),
        *(call("id_to_token", token_id) for token_id in ids),
        *(call("decode", [token_id]) for token_id in ids),
        *(call("get_vocab", with_added_tokens=flag) for flag in (True, False)),
        *(call("get_vocab_size", flag) for flag in (True, False)),
        call("get_added_tokens_decoder"), *(call("num_special_tokens_to_add", flag) for flag in (True, False)),
        *(
            Step(f"Tokenizer.{name}", "evaluate", Member(Subject(), name))
            for name in ["normalizer", "pre_tokenizer", "post_processor", "decoder", "truncation", "padding"]
        ),
    ]  # fmt: skip


def methods_of_encodings(rng: Random, texts: list[str]) -> list[Step]:
    """Methods of encodings of single texts and pairs."""
    steps = []
    for text in texts[:4]:
        for encoding in (method(Subject(), "encode", text), method(Subject(), "encode", text, texts[-1][:50])):
            at = rng.choice(POSITIONS)
            steps += [asked(encoding, name, at) for name in ["token_to_chars", "token_to_word", "token_to_sequence"]]
            steps += [
                asked(encoding, name, at, sequence)
                for name in ["char_to_token", "char_to_word", "word_to_chars", "word_to_tokens"]
                for sequence in (0, 1)
            ]
            steps += [Step("Encoding.words", "evaluate", Member(encoding, "words")), asked(encoding, "__len__")]
            steps += [Step("Encoding", "pickle", encoding), Step("Encoding", "repr", encoding)]
    return steps


def limits(rng: Random, texts: list[str]) -> list[Step]:
    """Truncation and padding, with encodings after each."""
    steps = []
    short = [text[:300] for text in texts]
    for strategy in ["longest_first", "only_first", "only_second"]:
        options = {"stride": rng.choice([0, 1, 2]), "strategy": strategy, "direction": rng.choice(["left", "right"])}
        steps += [call("enable_truncation", rng.choice(LENGTHS), **options), call("encode", short[0])]
        steps += [call("encode", short[0], short[-1]), call("encode_batch", short[:3])]
    padding = {"length": rng.choice([None, 12]), "pad_to_multiple_of": rng.choice([None, 8]), "direction": "left"}
    steps += [call("enable_padding", pad_id=1, **padding), call("encode", short[0]), call("encode_batch", short[:3])]
    steps += [call("no_truncation"), call("encode_batch", short[:4]), call("no_padding")]
    parts = [method(Subject(), "encode", text, add_special_tokens=False) for text in short[:2]]
    return [*steps, call("post_process", parts[0]), call("post_process", parts[0], parts[-1], False)]


def files() -> list[Step]:
    """The tokenizer as a file and as a copy."""
    path = f"{FOLDER}/saved.json"
    return [
        call("to_str"), call("to_str", pretty=True), call("save", path, False), call("encode", "again"),
        *(Step("Tokenizer", name, Subject()) for name in ["pickle", "deepcopy", "=="]),
        Step("Tokenizer.encode_special_tokens.setter", "set", Subject(), ("encode_special_tokens", True)),
        call("encode", "<s>[CLS]<|endoftext|></s> a"),
        call("add_tokens", ["zzq", "qq z"]), call("encode", "a zzq qq z"), call("add_special_tokens", ["zzq", "[Q]"]),
        call("encode", "a[Q] zzq"), call("to_str"),
    ]  # fmt: skip
