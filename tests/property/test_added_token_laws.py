"""Ids of tokens stay distinct and stable, whatever is done to a tokenizer and in whichever order."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from lexmill import AddedToken, Tokenizer, models, pre_tokenizers, processors, trainers
from lexmill.reference import added_tokens as reference

CONTENTS = ["<s>", "</s>", "<unk>", "the", "cat", "a", "b", "c", "x y"]
TOKENS = st.lists(st.sampled_from(CONTENTS), max_size=4)
# Dense, with holes, and far apart.
IDS = st.sampled_from([0, 0, 3, 1000, 2**32 - 6])
KINDS = st.sampled_from(["WordLevel", "WordPiece", "BPE"])


@st.composite
def vocabularies(draw: st.DrawFn) -> dict[str, int]:
    tokens = draw(st.lists(st.sampled_from(CONTENTS), unique=True, max_size=5))
    ids = draw(st.permutations(range(len(tokens))))
    jump, hole = draw(st.integers(0, 4)), draw(IDS)
    return {token: id_ + (hole if id_ >= jump else 0) for token, id_ in zip(tokens, ids, strict=True)}


OPERATIONS = st.one_of(
    st.tuples(st.just("add"), TOKENS, st.booleans()),
    st.tuples(st.just("model"), KINDS, vocabularies()),
    st.tuples(st.just("set in place"), st.just(None), vocabularies()),
    st.tuples(st.just("train"), TOKENS, st.sampled_from(["iterator", "shared"])),
    st.tuples(st.just("special tokens to the model"), st.booleans(), st.none()),
    st.tuples(st.just("encode"), st.none(), st.none()),
    st.tuples(st.just("copy"), st.sampled_from(["pickle", "deepcopy", "file"]), st.none()),
)


def model(kind: str, vocab: dict[str, int]) -> models.Model:
    if kind == "BPE":
        return models.BPE(vocab, [])
    return getattr(models, kind)(vocab, unk_token="<unk>")


def copied(tokenizer: Tokenizer, way: str) -> Tokenizer:
    if way == "file":
        return Tokenizer.from_str(tokenizer.to_str())
    return pickle.loads(pickle.dumps(tokenizer)) if way == "pickle" else copy.deepcopy(tokenizer)


def train(tokenizer: Tokenizer, special: list[str], way: str) -> None:
    if way == "shared":
        # The model is trained through another tokenizer, which has it too.
        other = Tokenizer(models.BPE())
        other.pre_tokenizer, other.model = tokenizer.pre_tokenizer, tokenizer.model
        tokenizer = other
    trainer: Any = {
        models.BPE: trainers.BpeTrainer,
        models.WordPiece: trainers.WordPieceTrainer,
        models.WordLevel: trainers.WordLevelTrainer,
    }[type(tokenizer.model)](special_tokens=special, show_progress=False)
    tokenizer.train_from_iterator(["the cat a the b"], trainer)


def own_vocab(tokenizer: Tokenizer) -> list[tuple[str, int]]:
    return sorted(tokenizer.get_vocab(with_added_tokens=False).items(), key=lambda item: item[1])


def apply(tokenizer: Tokenizer, twin: reference.AddedTokens, operation: tuple[Any, ...]) -> Tokenizer:
    """Does it to the tokenizer, and to the added tokens of the reference."""
    name, one, two = operation
    if name == "add":
        (tokenizer.add_special_tokens if two else tokenizer.add_tokens)(one)
        twin.add([token(content, special=two) for content in one], own_vocab(tokenizer))
    elif name == "model":
        tokenizer.model = model(one, two)
    elif name == "set in place":
        kind = type(tokenizer.model).__name__
        tokenizer.model.__setstate__(model(kind, two).__getstate__())
    elif name == "train":
        train(tokenizer, one, two)
        twin.renumber(own_vocab(tokenizer))
        if two == "iterator":
            twin.add([token(content, special=True) for content in one], own_vocab(tokenizer))
    elif name == "encode":
        tokenizer.token_to_id("a")
    elif name == "copy":
        tokenizer = copied(tokenizer, one)
    else:
        tokenizer.encode_special_tokens = one
    if name in ("model", "set in place"):
        twin.renumber(own_vocab(tokenizer))
    return tokenizer


def token(content: str, *, special: bool) -> reference.AddedToken:
    return reference.AddedToken(content, normalized=not special, special=special)


def check(tokenizer: Tokenizer, twin: reference.AddedTokens) -> None:
    vocab, added = tokenizer.get_vocab(), tokenizer.get_added_tokens_decoder()
    assert {id_: token.content for id_, token in added.items()} == {
        id_: token.content for id_, token in twin.tokens.items()
    }
    assert len(set(vocab.values())) == len(vocab) == tokenizer.get_vocab_size()
    for content, id_ in vocab.items():
        assert (tokenizer.token_to_id(content), tokenizer.id_to_token(id_)) == (id_, content)
    assert all(vocab[token.content] == id_ for id_, token in added.items())
    assert all(tokenizer.decode([id_], skip_special_tokens=False) == token.content for id_, token in added.items())
    for way in ("pickle", "deepcopy", "file"):
        again = copied(tokenizer, way)
        assert (again.get_vocab(), again.get_added_tokens_decoder(), again.to_str()) == (
            vocab,
            added,
            tokenizer.to_str(),
        )
        if way != "file":
            assert again.encode_special_tokens == tokenizer.encode_special_tokens
            assert again.cache_limit == tokenizer.cache_limit
            shown = [again.decode([id_]) for id_ in sorted(vocab.values())]
            assert shown == [tokenizer.decode([id_]) for id_ in sorted(vocab.values())]


@settings(max_examples=150, deadline=None)
@given(operations=st.lists(OPERATIONS, max_size=8))
def test_ids_are_distinct_and_the_same_in_copies_after_each_operation(operations: list[tuple[Any, ...]]) -> None:
    tokenizer, twin = Tokenizer(models.WordLevel({}, unk_token="<unk>")), reference.AddedTokens()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    for operation in operations:
        tokenizer = apply(tokenizer, twin, operation)
        check(tokenizer, twin)


@settings(max_examples=100, deadline=None)
@given(contents=TOKENS, vocab=vocabularies(), special=st.booleans())
def test_the_template_and_padding_keep_to_their_tokens(
    contents: list[str], vocab: dict[str, int], special: bool
) -> None:
    tokenizer = Tokenizer(models.WordLevel({}, unk_token="<unk>"))
    tokenizer.add_tokens([AddedToken(content, special=special) for content in ["<s>", "</s>", *contents]])
    ids = [(content, tokenizer.token_to_id(content)) for content in ("<s>", "</s>")]
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=ids)
    tokenizer.enable_padding(pad_id=1, pad_token="</s>", length=4)
    tokenizer.model = models.WordLevel(vocab, unk_token="<unk>")
    start, end = tokenizer.token_to_id("<s>"), tokenizer.token_to_id("</s>")
    assert tokenizer.encode("").ids == [start, end, end, end]
    saved = json.loads(tokenizer.to_str())
    assert saved["padding"]["pad_id"] == end
    assert saved["post_processor"]["special_tokens"]["<s>"]["ids"] == [start]
