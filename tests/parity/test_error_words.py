"""Words of Hugging Face's errors, which programs and tests look for: ours contain them."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

import lexmill

peer: Any = pytest.importorskip("tokenizers")
pytestmark = pytest.mark.external

VOCAB = {"a": 0, "b": 1, "ab": 2, "<unk>": 3}
MODELS: dict[str, Callable[[ModuleType], Any]] = {
    "BPE": lambda library: library.models.BPE(VOCAB, [("a", "b")]),
    "WordPiece": lambda library: library.models.WordPiece(VOCAB, unk_token="<unk>"),
    "WordLevel": lambda library: library.models.WordLevel(VOCAB, "<unk>"),
    "Unigram": lambda library: library.models.Unigram([("a", -1.0)], 0),
}


def tokenizer(library: ModuleType, model: str = "BPE") -> Any:
    return library.Tokenizer(MODELS[model](library))


def framed(library: ModuleType) -> Any:
    made = tokenizer(library)
    made.post_processor = library.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 8), ("[SEP]", 9)]
    )
    return made


def truncated(library: ModuleType, *texts: str, max_length: int = 1, **options: Any) -> Any:
    made = tokenizer(library)
    made.enable_truncation(max_length, **options)
    return made.encode(*texts)


CALLS: dict[str, Callable[[ModuleType], Any]] = {
    **{
        f"{cls} {name} {value!r}": lambda library, cls=cls, name=name, value=value: getattr(
            library.pre_tokenizers if cls != "Strip" else library.decoders, cls
        )(**{name: value})
        for cls, name in [("Metaspace", "replacement"), ("CharDelimiterSplit", "delimiter"), ("Strip", "content")]
        for value in ["", "ab", "\u0301e"]
    },
    **{
        f"initial_alphabet {cls}": lambda library, cls=cls: setattr(
            getattr(library.trainers, cls)(), "initial_alphabet", ["ab"]
        )
        for cls in ["BpeTrainer", "WordPieceTrainer", "UnigramTrainer", "ParityBpeTrainer"]
    },
    **{
        f"{trainer} on {model}": lambda library, trainer=trainer, model=model: tokenizer(
            library, model
        ).train_from_iterator(["a"], trainer=getattr(library.trainers, trainer)(show_progress=False))
        for model in MODELS
        for trainer in ["BpeTrainer", "WordPieceTrainer", "WordLevelTrainer", "UnigramTrainer"]
        if trainer.lower() != f"{model}trainer".lower()
    },
    **{
        f"template {single!r}": lambda library, single=single: library.processors.TemplateProcessing(single=single)
        # One token without an id: the peer names several in random order.
        for single in ["[CLS] $$ [SEP]", "$C", "$A:x", "[CLS] $A", "", 5]
    },
    **{
        f"pair {pair!r}": lambda library, pair=pair: library.processors.TemplateProcessing(pair=pair)
        for pair in [[], "", "$A", "[X] $B", "[X]"]
    },
    "prepend_scheme": lambda library: library.pre_tokenizers.Metaspace(prepend_scheme="x"),
    "behavior": lambda library: library.pre_tokenizers.Split("a", "Isolated"),
    "pattern": lambda library: setattr(library.pre_tokenizers.Split("a", "isolated"), "pattern", "b"),
    "variant": lambda library: library.trainers.ParityBpeTrainer(variant="x"),
    "special_tokens": lambda library: library.trainers.BpeTrainer(special_tokens=[1]),
    "special_tokens set": lambda library: setattr(library.trainers.BpeTrainer(), "special_tokens", [1]),
    "vocab_size": lambda library: library.trainers.BpeTrainer(vocab_size=-1),
    "length": lambda library: library.pre_tokenizers.FixedLength(-1),
    "add_tokens": lambda library: tokenizer(library).add_tokens(["a", "\ud800"]),
    "encode": lambda library: tokenizer(library).encode("\ud800"),
    "encode_batch": lambda library: tokenizer(library).encode_batch(["a", "\ud800"]),
    "words": lambda library: tokenizer(library).encode(["\ud800"], is_pretokenized=True),
    "decode None": lambda library: tokenizer(library).decode(None),
    "path": lambda library: library.Tokenizer.from_file(5),
    "save None": lambda library: tokenizer(library).save(None),
    "filter": lambda library: library.NormalizedString("a").filter(5),
    "map": lambda library: library.NormalizedString("a").map(5),
    "for_each": lambda library: library.NormalizedString("a").for_each(5),
    "split": lambda library: library.PreTokenizedString("a").split(5),
    "normalize": lambda library: library.PreTokenizedString("a").normalize(5),
    "tokenize": lambda library: library.PreTokenizedString("a").tokenize(5),
    "strategy": lambda library: tokenizer(library).enable_truncation(3, strategy="x"),
    "direction": lambda library: tokenizer(library).enable_padding(direction="x"),
    "truncate": lambda library: tokenizer(library).encode("ab a").truncate(1, direction="x"),
    "stride": lambda library: framed(library).enable_truncation(2, stride=1),
    "no second": lambda library: truncated(library, "abab", strategy="only_second"),
    "too short": lambda library: truncated(library, "a", "abab", strategy="only_first"),
    "buffer": lambda library: library.Tokenizer.from_buffer(b"x"),
    "state": lambda library: library.normalizers.NFC().__setstate__(b"x"),
    "state of a model": lambda library: MODELS["BPE"](library).__setstate__(b"x"),
    "state of a trainer": lambda library: library.trainers.BpeTrainer().__setstate__(b"x"),
    "state of a tokenizer": lambda library: tokenizer(library).__setstate__(b"x"),
}


def raised(library: ModuleType, call: Callable[[ModuleType], Any]) -> Exception:
    with pytest.raises(Exception) as info:  # noqa: PT011 - which one is the question
        call(library)
    return info.value


@pytest.mark.parametrize("call", CALLS.values(), ids=[ascii(name) for name in CALLS])
def test_class_and_words_are_there(call: Callable[[ModuleType], Any]) -> None:
    theirs, ours = raised(peer, call), raised(lexmill, call)
    assert isinstance(ours, type(theirs))
    words = str(theirs).rstrip(", .").replace("tokenizers.", "lexmill.")
    assert words in str(ours), (str(theirs), str(ours))


TYPES: dict[str, Callable[[ModuleType], Any]] = {
    "vocab": lambda library: library.models.BPE(vocab=5),
    "vocab of wrong ids": lambda library: library.models.BPE(vocab={"a": -1}),
    "merges": lambda library: library.models.BPE(merges=5),
    "merges of texts": lambda library: library.models.BPE(merges=["a"]),
    "pattern": lambda library: library.pre_tokenizers.Split(5, "isolated"),
    "slice": lambda library: library.NormalizedString("a").slice("x"),
}


@pytest.mark.parametrize("call", TYPES.values(), ids=list(TYPES))
def test_wrong_types_are_told_without_names_of_rust(call: Callable[[ModuleType], Any]) -> None:
    assert isinstance(raised(peer, call), TypeError)
    ours = raised(lexmill, call)
    assert isinstance(ours, TypeError)
    assert "variant" not in str(ours)
    assert "\n" not in str(ours)


def added(library: ModuleType, give: Callable[[Any], Any], **options: Any) -> tuple[bool, bool]:
    token = library.AddedToken("x", **options)
    give(token)
    return token.special, token.normalized


@pytest.mark.parametrize("options", [{}, {"normalized": True}, {"normalized": False}, {"special": True}])
@pytest.mark.parametrize(
    "cls", ["BpeTrainer", "WordPieceTrainer", "WordLevelTrainer", "UnigramTrainer", "ParityBpeTrainer"]
)
def test_tokens_given_as_special_become_special(cls: str, options: dict[str, bool]) -> None:
    def seen(library: ModuleType) -> list[tuple[bool, bool]]:
        trainer = getattr(library.trainers, cls)
        return [
            added(library, lambda token: tokenizer(library).add_tokens([token]), **options),
            added(library, lambda token: tokenizer(library).add_special_tokens([token]), **options),
            added(library, lambda token: trainer(special_tokens=[token]), **options),
            added(library, lambda token: setattr(trainer(), "special_tokens", [token]), **options),
        ]

    assert seen(lexmill) == seen(peer)


def test_a_prefix_that_is_taken_away_is_not_learnt() -> None:
    def learnt(library: ModuleType) -> tuple[Any, ...]:
        trainer = library.trainers.WordPieceTrainer(show_progress=False)
        trainer.continuing_subword_prefix = None
        made = library.Tokenizer(library.models.WordPiece(unk_token="[UNK]"))
        made.train_from_iterator(["ab ab abc"], trainer=trainer)
        return trainer.continuing_subword_prefix, sorted(made.get_vocab()), made.model.continuing_subword_prefix

    assert learnt(lexmill) == learnt(peer)


def test_a_stream_takes_none_for_false() -> None:
    assert lexmill.decoders.DecodeStream(skip_special_tokens=None) is not None
