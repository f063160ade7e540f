"""Random tokenizers on random inputs: every observable of Hugging Face `tokenizers`, which must be the same here."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import lexmill
from kept_ids import keeps_ids
from lexmill.errors import LexmillError
from lexmill.reference.byte_level import CHAR_TO_BYTE
from tokenizer_strategies import (
    CONTENTS,
    PADDINGS,
    PRE_TOKENIZERS,
    PROCESSORS,
    TEXTS,
    TRUNCATIONS,
    Spec,
    build,
    component,
    tokenizers,
)
from tokenizer_strategies import model as make_model

peer = pytest.importorskip("tokenizers")
pytestmark = [
    pytest.mark.external,
    pytest.mark.filterwarnings("ignore:Deprecated:DeprecationWarning"),
    # Random limits cut what is counted, and special tokens.
    pytest.mark.filterwarnings("ignore::lexmill.errors.LengthLimitWarning"),
    pytest.mark.filterwarnings("ignore::lexmill.errors.TruncationWarning"),
    # Random tokens are in the byte-level alphabet.
    pytest.mark.filterwarnings("ignore::lexmill.errors.ByteTokenWarning"),
]

# Encodings can overflow into hundreds of parts; the first few of each level show any difference.
SHOWN = 5
POSITIONS = [*range(12), 40, 1000]

WORDS = st.lists(TEXTS, max_size=4)
INPUTS = st.one_of(
    st.builds(lambda text: ((text, None), False), TEXTS),
    st.builds(lambda text, pair: ((text, pair), False), TEXTS, TEXTS),
    st.builds(lambda words: ((words, None), True), WORDS),
    st.builds(lambda words, pair: ((words, pair), True), WORDS, WORDS),
)


class Panic(Exception):
    """The peer gave up without an exception; lexmill may do what is sensible."""


def outcome(call: Callable[[], Any]) -> Any:
    """Returns what `call` returns, or the exception; a panic of the peer counts as `Panic`."""
    try:
        return call()
    except Exception as error:
        return error
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        return Panic(str(error))


def agree(call: Callable[[Any], Any], ours: Any, theirs: Any) -> None:
    """Checks that `call` comes out the same for two objects; exceptions agree if both raise, and in the builtin."""
    expected = outcome(lambda: call(theirs))
    found = outcome(lambda: call(ours))
    assert not isinstance(found, Panic), found
    if isinstance(expected, Panic):
        assert not isinstance(found, Exception) or isinstance(found, LexmillError), repr(found)
    elif isinstance(expected, Exception):
        assert isinstance(found, LexmillError | type(expected)), f"{found!r} where the peer raises {expected!r}"
        if type(expected) is not Exception:
            assert isinstance(found, type(expected)), f"{found!r} where the peer raises {expected!r}"
    else:
        assert found == expected


def view(encoding: Any, *, maps: bool = True) -> Spec:
    """Everything that an encoding answers; `maps` are left out where the peer's answers are random."""
    return {
        "ids": encoding.ids,
        "type_ids": encoding.type_ids,
        "tokens": encoding.tokens,
        "offsets": encoding.offsets,
        "word_ids": encoding.word_ids,
        "sequence_ids": encoding.sequence_ids,
        "special_tokens_mask": encoding.special_tokens_mask,
        "attention_mask": encoding.attention_mask,
        "n_sequences": encoding.n_sequences,
        "len": len(encoding),
        "maps": [
            (
                encoding.token_to_chars(at),
                encoding.token_to_sequence(at),
                encoding.token_to_word(at),
                [
                    (
                        encoding.char_to_token(at, sequence),
                        encoding.char_to_word(at, sequence),
                        encoding.word_to_chars(at, sequence),
                        encoding.word_to_tokens(at, sequence),
                    )
                    for sequence in range(3)
                ],
            )
            for at in POSITIONS
            if maps
        ],
        "n_overflowing": len(encoding.overflowing),
        "overflowing": [view(part, maps=maps) for part in encoding.overflowing[:SHOWN]],
    }


def is_clear(processor: Spec | None) -> bool:
    """Whether each token is of one sequence: ByteLevel after a template numbers the template's pieces as well."""
    stages = [stage["type"] for stage in processor["stages"]] if processor and "stages" in processor else []
    return "ByteLevel" not in stages[1:] or not {"TemplateProcessing", "RobertaProcessing"} & set(stages)


def encode(given_input: Any, add_special_tokens: bool, *, maps: bool = True) -> Callable[[Any], Spec]:
    (first, second), is_pretokenized = given_input
    return lambda tokenizer: view(
        tokenizer.encode(first, second, is_pretokenized=is_pretokenized, add_special_tokens=add_special_tokens),
        maps=maps,
    )


def both(spec: Spec) -> tuple[Any, Any]:
    """Builds the tokenizer with both libraries, which must agree on whether it can be built."""
    theirs = outcome(lambda: build(peer, spec))
    ours = outcome(lambda: build(lexmill, spec))
    assert not isinstance(ours, Panic), ours
    if isinstance(theirs, Exception):
        assert isinstance(theirs, Panic) or isinstance(ours, LexmillError), f"{ours!r} for {theirs!r}"
        assume(False)
    if isinstance(ours, Exception):
        raise ours
    assume(keeps_ids(theirs[0]))
    assert ours[1] == theirs[1], "numbers of tokens added"
    return ours[0], theirs[0]


def added(tokenizer: Any) -> Spec:
    decoder = tokenizer.get_added_tokens_decoder()
    return {
        token_id: (token.content, token.single_word, token.lstrip, token.rstrip, token.normalized, token.special)
        for token_id, token in decoder.items()
    }


@given(spec=tokenizers(), inputs=st.lists(INPUTS, min_size=1, max_size=4), special=st.booleans())
def test_encode(spec: Spec, inputs: list[Any], special: bool) -> None:
    ours, theirs = both(spec)
    for given_input in inputs:
        agree(encode(given_input, special, maps=is_clear(spec["post_processor"])), ours, theirs)


@given(spec=tokenizers(), texts=st.lists(TEXTS, max_size=4), pairs=st.booleans(), special=st.booleans())
def test_encode_batch(spec: Spec, texts: list[str], pairs: bool, special: bool) -> None:
    ours, theirs = both(spec)
    batch = [(text, text[::-1]) for text in texts] if pairs else texts
    maps = is_clear(spec["post_processor"])
    agree(lambda t: [view(e, maps=maps) for e in t.encode_batch(batch, add_special_tokens=special)], ours, theirs)
    agree(lambda t: [e.ids for e in t.encode_batch_fast(batch, add_special_tokens=special)], ours, theirs)
    words = [[text, "ab", text] for text in texts]
    agree(lambda t: [view(e, maps=maps) for e in t.encode_batch(words, is_pretokenized=True)], ours, theirs)
    agree(lambda t: [t.encode(text).ids for text in texts], ours, theirs)
    if spec["padding"] is None:
        expected = outcome(lambda: [e.ids for e in theirs.encode_batch(texts, add_special_tokens=special)])
        if not isinstance(expected, Exception):
            assert [row.tolist() for row in ours.encode_batch_arrays(texts, add_special_tokens=special)] == expected
            assert ours.encode_batch_ids(texts, add_special_tokens=special) == expected
            assert ours.count_tokens(texts, add_special_tokens=special).tolist() == [len(row) for row in expected]


@given(spec=tokenizers(), texts=st.lists(TEXTS, max_size=3), ids=st.lists(st.integers(0, 400), max_size=8))
def test_vocabulary_and_decode(spec: Spec, texts: list[str], ids: list[int]) -> None:
    ours, theirs = both(spec)
    for with_added in (False, True):
        agree(lambda t, w=with_added: t.get_vocab(with_added_tokens=w), ours, theirs)
        agree(lambda t, w=with_added: t.get_vocab_size(with_added_tokens=w), ours, theirs)
    agree(added, ours, theirs)
    agree(lambda t: [t.token_to_id(token) for token in CONTENTS], ours, theirs)
    agree(lambda t: [t.id_to_token(token_id) for token_id in range(320)], ours, theirs)
    encoded = [outcome(lambda text=text: theirs.encode(text).ids) for text in texts]
    spelled = ids_decoded_otherwise(spec, ours)
    rows = [row for row in (ids, *encoded) if isinstance(row, list) and spelled.isdisjoint(row)]
    for skip in (False, True):
        agree(lambda t, s=skip: [t.decode(row, skip_special_tokens=s) for row in rows], ours, theirs)
        agree(lambda t, s=skip: t.decode_batch(rows, skip_special_tokens=s), ours, theirs)


def ids_decoded_otherwise(spec: Spec, tokenizer: Any) -> set[int]:
    """Added tokens that the peer decodes to other bytes than their own, since it takes their characters for bytes."""
    if "ByteLevel" not in json.dumps(spec["decoder"]):
        return set()
    tokens = [(token_id, content) for token_id, (content, *_) in added(tokenizer).items()]
    return {token_id for token_id, content in tokens if not content.isascii() and CHAR_TO_BYTE.keys() >= set(content)}


def scrambled(text: str) -> str:
    """A tokenizer file with its keys in another order, which means the same."""
    return json.dumps(dict(reversed(json.loads(text).items())))


@given(spec=tokenizers(), text=TEXTS)
def test_files(spec: Spec, text: str) -> None:
    ours, theirs = both(spec)
    for pretty in (False, True):
        agree(lambda t, p=pretty: t.to_str(pretty=p), ours, theirs)
    ours_read = lexmill.Tokenizer.from_str(theirs.to_str())
    theirs_read = outcome(lambda: peer.Tokenizer.from_str(ours.to_str()))
    if isinstance(theirs_read, Exception):
        return
    agree(lambda t: t.to_str(), ours_read, theirs_read)
    agree(added, ours_read, theirs_read)
    maps = is_clear(spec["post_processor"])
    agree(encode(((text, None), False), True, maps=maps), ours_read, theirs_read)
    agree(lambda t: t.to_str(), lexmill.Tokenizer.from_str(scrambled(ours.to_str())), theirs_read)
    copies = pickle.loads(pickle.dumps(ours)), pickle.loads(pickle.dumps(theirs))
    # The peer's copy loses it.
    assert copies[0].encode_special_tokens == spec["encode_special_tokens"]
    copies[1].encode_special_tokens = spec["encode_special_tokens"]
    agree(lambda t: t.to_str(), *copies)
    agree(encode(((text, text), False), True, maps=maps), *copies)


@given(stage=PRE_TOKENIZERS, texts=st.lists(TEXTS, min_size=1, max_size=4))
def test_pre_tokenize_str(stage: Spec, texts: list[str]) -> None:
    ours, theirs = component(lexmill, "pre_tokenizers", stage), component(peer, "pre_tokenizers", stage)
    for text in texts:
        # The peer's empty Sequence makes one empty piece of an empty text.
        assume(text or stage.get("stages") != [])
        agree(lambda stage, text=text: stage.pre_tokenize_str(text), ours, theirs)


OPERATIONS = st.one_of(
    st.builds(
        lambda options: ("pad", options),
        st.fixed_dictionaries(
            {"length": st.integers(0, 15)},
            optional={"direction": st.sampled_from(["left", "right"]), "pad_id": st.integers(0, 9)},
        ),
    ),
    st.builds(
        lambda options: ("truncate", options),
        st.fixed_dictionaries(
            {"max_length": st.integers(0, 8)},
            optional={"stride": st.integers(0, 3), "direction": st.sampled_from(["left", "right"])},
        ),
    ),
    st.builds(lambda number: ("set_sequence_id", {"sequence_id": number}), st.integers(0, 3)),
    st.builds(lambda growing: ("merge", {"growing_offsets": growing}), st.booleans()),
    st.builds(lambda stage, special: ("process", {"stage": stage, "special": special}), PROCESSORS, st.booleans()),
    st.builds(lambda special: ("post_process", {"add_special_tokens": special}), st.booleans()),
    st.just(("pickle", {})),
)


def nests(spec: Spec, operation: Any) -> bool:
    """Whether the operation is RoBERTa's: of what overflowed twice, the peer keeps fewer parts."""
    name, options = operation
    stage = {"process": options.get("stage"), "post_process": spec["post_processor"]}.get(name)
    return "RobertaProcessing" in str(stage)


def apply(library: Any, tokenizer: Any, encodings: list[Any], operations: list[Any]) -> list[Spec]:
    """Does the operations to the first of the encodings, which are changed; returns all views of it."""
    encoding, *others = encodings
    views = []
    maps = True
    for name, options in operations:
        first, second = (1 + len(joined.overflowing) for joined in (encoding, others[0] if others else encoding))
        # A template has one of them twice, and all parts are joined with all: that would take all memory.
        if first * second * max(first, second) > 10_000:
            break
        # The second of a pair may have been a first before and count as both.
        maps = maps and not (others and "process" in name)
        if name == "merge":
            encoding = library.Encoding.merge([encoding, *others], **options)
        elif name == "process":
            maps = maps and is_clear(options["stage"])
            stage = component(library, "processors", options["stage"])
            if stage is not None:
                pair = others[0] if others else None
                encoding = stage.process(encoding, pair, add_special_tokens=options["special"])
        elif name == "post_process":
            encoding = tokenizer.post_process(encoding, others[0] if others else None, **options)
        elif name == "pickle":
            encoding = pickle.loads(pickle.dumps(encoding))
        elif name == "set_sequence_id":
            maps = False
            encoding.set_sequence_id(options["sequence_id"])
        else:
            getattr(encoding, name)(**options)
        views.append(view(encoding, maps=maps))
    return views


@given(spec=tokenizers(), texts=st.lists(TEXTS, min_size=1, max_size=3), operations=st.lists(OPERATIONS, max_size=4))
def test_operations_on_encodings(spec: Spec, texts: list[str], operations: list[Any]) -> None:
    assume(is_clear(spec["post_processor"]))
    operations = [operation for at, operation in enumerate(operations) if at == 0 or not nests(spec, operation)]
    ours, theirs = both({**spec, "padding": None})

    def encodings(tokenizer: Any) -> list[Any]:
        return [tokenizer.encode(text, add_special_tokens=False) for text in texts]

    expected = outcome(lambda: apply(peer, theirs, encodings(theirs), operations))
    found = outcome(lambda: apply(lexmill, ours, encodings(ours), operations))
    assert not isinstance(found, Panic), found
    if isinstance(expected, Exception):
        assert isinstance(expected, Panic) or isinstance(found, LexmillError), f"{found!r} for {expected!r}"
    else:
        assert found == expected


@given(spec=tokenizers(), later=tokenizers(), text=TEXTS)
def test_parts_set_later(spec: Spec, later: Spec, text: str) -> None:
    ours, theirs = both(spec)
    for kind, attribute in [
        ("normalizers", "normalizer"),
        ("pre_tokenizers", "pre_tokenizer"),
        ("processors", "post_processor"),
        ("decoders", "decoder"),
    ]:
        for library, tokenizer in ((lexmill, ours), (peer, theirs)):
            setattr(tokenizer, attribute, component(library, kind, later[attribute]))
        maps = is_clear(spec["post_processor"]) and is_clear(later["post_processor"])
        agree(encode(((text, None), False), True, maps=maps), ours, theirs)
    for library, tokenizer in ((lexmill, ours), (peer, theirs)):
        model = outcome(lambda library=library: make_model(library, later["model"]))
        if isinstance(model, Exception):
            return
        tokenizer.model = model
        tokenizer.no_truncation()
        tokenizer.no_padding()
    agree(lambda t: t.add_tokens(["zz", "yy"]), ours, theirs)
    assume(keeps_ids(theirs))
    agree(added, ours, theirs)
    agree(lambda t: t.get_vocab(), ours, theirs)
    agree(encode(((text, text), False), True, maps=is_clear(later["post_processor"])), ours, theirs)
    agree(lambda t: t.to_str(), ours, theirs)


@given(spec=tokenizers(), texts=st.lists(TEXTS, max_size=4), specials=st.lists(st.sampled_from(CONTENTS), max_size=3))
def test_training_in_place(spec: Spec, texts: list[str], specials: list[str]) -> None:
    ours, theirs = both(spec)
    options = {"vocab_size": 300, "special_tokens": specials, "show_progress": False}

    def train(library: Any, tokenizer: Any) -> Any:
        tokenizer.train_from_iterator(texts, library.trainers.BpeTrainer(**options))
        return tokenizer.to_str()

    expected, found = outcome(lambda: train(peer, theirs)), outcome(lambda: train(lexmill, ours))
    if isinstance(expected, Exception):
        assert isinstance(expected, Panic) or isinstance(found, LexmillError), f"{found!r} for {expected!r}"
        return
    # The peer trains an empty vocabulary where lexmill says that there is nothing to learn from.
    assume(not isinstance(found, lexmill.errors.EmptyCorpusError))
    assume(keeps_ids(theirs))
    assert found == expected
    maps = is_clear(spec["post_processor"])
    agree(encode((("".join(texts), None), False), True, maps=maps), ours, theirs)
    agree(added, ours, theirs)


@given(truncation=TRUNCATIONS, padding=PADDINGS, processor=PROCESSORS)
def test_options_read_back(truncation: Spec, padding: Spec, processor: Spec | None) -> None:
    def options(library: Any) -> Any:
        tokenizer = library.Tokenizer(library.models.BPE())
        tokenizer.post_processor = component(library, "processors", processor)
        counts = [tokenizer.num_special_tokens_to_add(is_pair) for is_pair in (False, True)]
        tokenizer.enable_padding(**padding)
        tokenizer.enable_truncation(**truncation)
        return tokenizer.truncation, tokenizer.padding, counts, tokenizer.to_str()

    agree(options, lexmill, peer)
