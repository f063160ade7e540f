"""A stage that a tokenizer hands out acts on the tokenizers that hold it, and on no others."""

from __future__ import annotations

import pickle
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from lexmill import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from lexmill.errors import OptionError
from small import byte_level, letters

# So many different pre-tokens that a cache grows.
MANY = " ".join(f"{number:x}th" for number in range(40_000))


def cached(tokenizer: Tokenizer) -> int:
    return tokenizer.cache_info()["bytes"]


def warm(**stages: Any) -> Tokenizer:
    tokenizer = byte_level(("t", "h"))
    for name, stage in stages.items():
        setattr(tokenizer, name, stage)
    tokenizer.encode("a")
    cold = cached(tokenizer)
    tokenizer.encode(MANY)
    assert cached(tokenizer) > cold
    return tokenizer


def stranger() -> Tokenizer:
    tokenizer = letters("abcdefghij", ("a", "b"), unk_token="a")
    inner = normalizers.Sequence([normalizers.Strip(), normalizers.Prepend("a")])
    tokenizer.normalizer = normalizers.Sequence([normalizers.Lowercase(), inner])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(), pre_tokenizers.WhitespaceSplit()])
    tokenizer.post_processor = processors.Sequence([processors.ByteLevel()])
    tokenizer.decoder = decoders.BPEDecoder()
    return tokenizer


def assign(path: str, value: Any) -> Callable[[Tokenizer], None]:
    """Sets a property; digits in the path are indices of sequences."""

    def change(tokenizer: Any) -> None:
        *parents, last = path.split(".")
        for name in parents:
            tokenizer = tokenizer[int(name)] if name.isdigit() else getattr(tokenizer, name)
        if last.isdigit():
            tokenizer[int(last)] = value
        else:
            setattr(tokenizer, last, value)

    return change


def train(tokenizer: Tokenizer) -> None:
    trainer = trainers.BpeTrainer(vocab_size=20, special_tokens=["<s>"], show_progress=False)
    tokenizer.train_from_iterator(["ab abc bcd"], trainer)


def refused(tokenizer: Tokenizer) -> None:
    with pytest.raises(OptionError, match="dropout"):
        tokenizer.model.dropout = 2.0


CHANGES: dict[str, Callable[[Tokenizer], object]] = {
    "normalizer": assign("normalizer", normalizers.Lowercase()),
    "no normalizer": assign("normalizer", None),
    "pre-tokenizer": assign("pre_tokenizer", pre_tokenizers.Whitespace()),
    "post-processor": assign("post_processor", processors.ByteLevel()),
    "decoder": assign("decoder", decoders.Fuse()),
    "model": assign("model", models.BPE()),
    "element of a sequence": assign("normalizer.0", normalizers.NFC()),
    "element from an inner sequence": assign("normalizer.1", normalizers.NFC()),
    "field of one from an inner sequence": assign("normalizer.2.prepend", "b"),
    "field of a pre-tokenizer": assign("pre_tokenizer.0.individual_digits", True),
    "field of a post-processor": assign("post_processor.0.trim_offsets", False),
    "field of a decoder": assign("decoder.suffix", "@"),
    "dropout": assign("model.dropout", 0.5),
    "unknown token": assign("model.unk_token", None),
    "cache limit": assign("cache_limit", 1),
    "special tokens to the model": assign("encode_special_tokens", True),
    "added tokens": lambda tokenizer: tokenizer.add_tokens(["ij"]),
    "added special tokens": lambda tokenizer: tokenizer.add_special_tokens(["<x>"]),
    "truncation": lambda tokenizer: tokenizer.enable_truncation(3),
    "padding": lambda tokenizer: tokenizer.enable_padding(length=9),
    "training": train,
    "unpickling": lambda tokenizer: pickle.loads(pickle.dumps(tokenizer)),
    "unpickling in place": lambda tokenizer: tokenizer.__setstate__(letters().__getstate__()),
    "unpickling a stage in place": lambda tokenizer: tokenizer.normalizer.__setstate__(b'{"type": "NFC"}'),
    "a new tokenizer": lambda _: byte_level(("a", "b")).encode("ab"),
    "an error": refused,
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_warm_caches_survive_what_is_done_to_another_tokenizer(change: Callable[[Tokenizer], object]) -> None:
    tokenizer, other = warm(), stranger()
    before = cached(tokenizer)
    other.encode("ab")
    change(other)
    other.encode("ab")
    assert cached(tokenizer) == before


@pytest.mark.parametrize(
    "change",
    [
        assign("post_processor", processors.ByteLevel()),
        assign("post_processor.trim_offsets", True),
        assign("decoder", decoders.Fuse()),
        assign("decoder.suffix", "@"),
        lambda tokenizer: tokenizer.enable_truncation(3),
        lambda tokenizer: tokenizer.no_truncation(),
        lambda tokenizer: tokenizer.enable_padding(length=9),
        lambda tokenizer: tokenizer.no_padding(),
        lambda tokenizer: tokenizer.add_tokens(["ij"]),
        lambda tokenizer: tokenizer.add_special_tokens(["<x>", "t"]),
        assign("encode_special_tokens", True),
        lambda tokenizer: setattr(tokenizer, "cache_limit", tokenizer.cache_limit),
        lambda tokenizer: setattr(tokenizer, "model", tokenizer.model),
        lambda tokenizer: setattr(tokenizer, "normalizer", tokenizer.normalizer),
        lambda tokenizer: setattr(tokenizer, "pre_tokenizer", tokenizer.pre_tokenizer),
        lambda tokenizer: setattr(tokenizer, "post_processor", tokenizer.post_processor),
        lambda tokenizer: setattr(tokenizer, "decoder", tokenizer.decoder),
    ],
)
def test_warm_caches_survive_changes_that_do_not_concern_them(change: Callable[[Tokenizer], None]) -> None:
    tokenizer = warm(post_processor=processors.ByteLevel(trim_offsets=False), decoder=decoders.BPEDecoder())
    before = cached(tokenizer)
    change(tokenizer)
    tokenizer.encode("a")
    assert cached(tokenizer) == before


def test_changes_after_the_model_are_seen() -> None:
    tokenizer = warm(post_processor=processors.ByteLevel(trim_offsets=False), decoder=decoders.BPEDecoder("</w>"))
    assert tokenizer.encode("a th").offsets == [(0, 1), (1, 2), (2, 4)]
    tokenizer.post_processor.trim_offsets = True
    assert tokenizer.encode("a th").offsets == [(0, 1), (2, 2), (2, 4)]
    tokenizer.decoder.suffix = "t"
    assert tokenizer.decode([ord("t") - ord("!"), 0]) == " !"


@pytest.mark.parametrize("change", ["dropout", "pre-tokenizer", "normalizer", "training", "cache limit"])
def test_changes_up_to_the_model_empty_the_caches(change: str) -> None:
    tokenizer = warm()
    before = cached(tokenizer)
    CHANGES[change](tokenizer)
    tokenizer.encode("a")
    assert cached(tokenizer) < before


def sharing(name: str, stage: Any) -> tuple[Tokenizer, Tokenizer]:
    tokenizers = letters("abcdefghij 01A", unk_token="j"), letters("jihgfedcba A10", unk_token="j")
    for tokenizer in tokenizers:
        tokenizer.post_processor = None
        setattr(tokenizer, name, stage)
        tokenizer.encode("ab")
    return tokenizers


def test_a_change_of_a_shared_stage_is_seen_by_all_who_hold_it() -> None:
    one, two = sharing("normalizer", normalizers.Prepend("c"))
    one.normalizer.prepend = "d"
    assert [t.encode("a").tokens for t in (one, two)] == [["d", "a"]] * 2
    one, two = sharing("pre_tokenizer", pre_tokenizers.Digits())
    assert [t.encode("a01").word_ids for t in (one, two)] == [[0, 1, 1]] * 2
    two.pre_tokenizer.individual_digits = True
    assert [t.encode("a01").word_ids for t in (one, two)] == [[0, 1, 2]] * 2
    one, two = sharing("decoder", decoders.BPEDecoder("a"))
    one.decoder.suffix = "b"
    assert [t.decode([t.token_to_id(c) for c in "bc"]) for t in (one, two)] == [" c"] * 2
    one, two = sharing("post_processor", processors.BertProcessing(("b", 1), ("c", 2)))
    two.post_processor.sep = ("d", 3)
    assert [t.encode("a").tokens for t in (one, two)] == [["c", "a", "d"]] * 2
    one, two = sharing("model", models.WordLevel({"a": 0, "b": 1}, unk_token="a"))
    one.model.unk_token = "b"
    assert [t.encode("x").ids for t in (one, two)] == [[1]] * 2
    two.train_from_iterator(["x y x"], trainers.WordLevelTrainer(show_progress=False))
    assert [t.encode("x").ids for t in (one, two)] == [[0]] * 2


def test_elements_of_an_inner_sequence_are_shared_by_all_who_hold_them() -> None:
    prepend = normalizers.Prepend("c")
    inner = normalizers.Sequence([normalizers.NFC(), prepend])
    one, two = letters(), letters()
    one.normalizer = normalizers.Sequence([inner])
    two.normalizer = normalizers.Sequence([normalizers.Lowercase(), normalizers.Sequence([inner])])

    def tokens() -> list[list[str]]:
        return [tokenizer.encode("a").tokens for tokenizer in (one, two)]

    assert tokens() == [["c", "a"]] * 2
    prepend.prepend = "d"
    assert tokens() == [["d", "a"]] * 2
    # A sequence takes the elements of an inner one in its place.
    assert str(two.normalizer) == 'Sequence(normalizers=[Lowercase(), NFC(), Prepend(prepend="d")])'
    two.normalizer[2].prepend = "e"
    assert tokens() == [["e", "a"]] * 2
    inner[1] = normalizers.Prepend("f")
    assert tokens() == [["e", "a"]] * 2
    two.normalizer[2] = normalizers.NFC()
    assert tokens() == [["e", "a"], ["a"]]
    with pytest.raises(OptionError, match="a normalizer in a sequence must not be a sequence"):
        two.normalizer[2] = inner


def test_a_stage_that_is_held_no_longer_leaves_warm_caches_alone() -> None:
    held, element = normalizers.Prepend("x"), normalizers.Prepend("y")
    tokenizer = warm(normalizer=normalizers.Sequence([element]))
    tokenizer.normalizer[0] = normalizers.NFC()
    tokenizer.normalizer = held
    tokenizer.normalizer = None
    tokenizer.encode(MANY)
    before = cached(tokenizer)
    held.prepend = element.prepend = "z"
    assert cached(tokenizer) == before


def test_a_sequence_cannot_hold_itself() -> None:
    inner = normalizers.Sequence([normalizers.NFC()])
    outer = normalizers.Sequence([inner])
    for sequence in (inner, outer):
        with pytest.raises(OptionError, match=r"^a normalizer in a sequence must not be a sequence$"):
            inner[0] = sequence
    # Twice the same element is no circle.
    twice = normalizers.Sequence([normalizers.NFC(), normalizers.Prepend("a")])
    twice[0] = twice[1]
    assert twice.normalize_str("b") == "aab"


@pytest.fixture
def restless() -> Iterator[None]:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.usefixtures("restless")
def test_after_racing_setters_the_last_state_counts() -> None:
    """Others encode all the time; whoever sets a stage sees its effect at once."""
    tokenizer = letters("abcdefghij", unk_token="j")
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("a")])
    done = threading.Event()
    wrong: list[object] = []

    def encode() -> None:
        while not done.is_set():
            tokens = tokenizer.encode("c").tokens
            if tokens not in (["a", "c"], ["b", "c"]):
                wrong.append(tokens)

    threads = [threading.Thread(target=encode) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        for turn in range(2000):
            letter = "ab"[turn % 2]
            if turn % 3 == 0:
                tokenizer.normalizer[0] = normalizers.Prepend(letter)
            elif turn % 3 == 1:
                tokenizer.normalizer[0].prepend = letter
            else:
                tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend(letter)])
            if (tokens := tokenizer.encode("c").tokens) != [letter, "c"]:
                wrong.append((turn, tokens))
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert wrong == []


@pytest.mark.usefixtures("restless")
def test_setters_of_several_fields_lose_none_of_each_other() -> None:
    bert = normalizers.BertNormalizer()
    names = ["clean_text", "handle_chinese_chars", "strip_accents", "lowercase"]

    def toggle(name: str) -> None:
        for turn in range(2001):
            setattr(bert, name, turn % 2 == 1)

    threads = [threading.Thread(target=toggle, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [getattr(bert, name) for name in names] == [False] * 4
