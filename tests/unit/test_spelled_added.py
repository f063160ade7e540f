"""Added tokens of characters of the byte-level alphabet: decoded to themselves, or warned of."""

from __future__ import annotations

import json
import pickle
import warnings
from typing import Any

import pytest

from lexmill import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers
from lexmill.decoders import DecodeStream
from lexmill.errors import ByteTokenWarning
from lexmill.reference.tokenizer import Tokenizer as Reference
from small import byte_level

# Characters of the alphabet; some with plain ones; some with others.
CONTENTS = ["č", "naïve", "Ġhello", "éé", "¿qué?", "<|é|>", "<s>", "a b", "日本", "é 日", "ĠĠ"]


def ascii_bytes() -> Tokenizer:
    """A byte-level tokenizer that has the bytes of ASCII letters alone."""
    made = Tokenizer(models.BPE({char: id_ for id_, char in enumerate("abcdefgh")}, []))
    made.pre_tokenizer, made.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    return made


def texts(made: Tokenizer, ids: list[int]) -> list[str]:
    """The text by every call, and by the reference."""
    stream = DecodeStream()
    steps = [stream.step(made, id_) or "" for id_ in ids]
    reference = Reference.from_dict(json.loads(made.to_str()))
    return [
        made.decode(ids),
        *made.decode_batch([ids]),
        "".join(steps) + stream.finish(made),
        pickle.loads(pickle.dumps(made)).decode(ids),
        reference.decode(ids),
    ]


@pytest.mark.parametrize("normalized", [True, False])
@pytest.mark.parametrize("content", CONTENTS)
def test_an_added_token_decodes_to_itself(content: str, normalized: bool) -> None:
    made = ascii_bytes()
    made.add_tokens([AddedToken(content, normalized=normalized)])
    text = f"abc{content}a{content}{content}"
    assert set(texts(made, made.encode(text).ids)) == {text}


@pytest.mark.parametrize("content", CONTENTS)
def test_also_beside_all_bytes_unless_the_model_has_it(content: str) -> None:
    made = byte_level()
    is_byte = len(content) == 1
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made.add_tokens([content])
    assert [warning.category for warning in caught] == [ByteTokenWarning] * is_byte
    text = f"é{content}ab"
    expected = text.replace(content, "\r") if is_byte else text
    assert set(texts(made, made.encode(text).ids)) == {expected}


def test_a_byte_of_the_model_is_warned_of_once_and_keeps_its_text() -> None:
    made = byte_level()
    id_ = made.token_to_id("č")
    message = rf"^the added token 'č' has id {id_}, that of the model's token for the bytes of '\\r', so it decodes to "
    with pytest.warns(ByteTokenWarning, match=message) as caught:
        made.add_tokens(["<s>", "č"])
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert made.add_tokens(["č"]) == 0
    assert set(texts(made, made.encode("\r").ids)) == {"\r"}


def test_what_a_merge_makes_is_bytes() -> None:
    made = byte_level(("Ã", "©"))
    with pytest.warns(ByteTokenWarning, match="the added token 'Ã©' has id 256"):
        made.add_tokens(["Ã©"])
    assert made.decode([256]) == "é"


def test_a_token_that_the_model_never_makes_is_itself() -> None:
    made = Tokenizer(models.BPE({"a": 0, "naïve": 1}, []))
    made.decoder = decoders.ByteLevel()
    # Until it is added it may stand for anything.
    assert made.decode([1]) == "na\ufffdve"
    made.add_tokens(["naïve"])
    assert set(texts(made, [0, 1])) == {"anaïve"}


def test_words_taken_whole_are_bytes() -> None:
    made = Tokenizer(models.BPE({"a": 0, "Ã©": 1}, [], ignore_merges=True))
    made.decoder = decoders.ByteLevel()
    with pytest.warns(ByteTokenWarning, match="has id 1"):
        made.add_tokens(["Ã©"])
    assert set(texts(made, [1])) == {"é"}


def test_a_normalizer_that_spells_bytes() -> None:
    made = ascii_bytes()
    made.normalizer, made.pre_tokenizer = normalizers.ByteLevel(), None
    made.add_tokens([AddedToken("č", normalized=True), AddedToken("ï", normalized=False)])
    assert set(texts(made, made.encode("ačbï").ids)) == {"ačbï"}


@pytest.mark.parametrize(
    "decoder",
    [None, decoders.Fuse(), decoders.Metaspace(), decoders.WordPiece(), decoders.Sequence([decoders.Fuse()])],
)
def test_other_decoders_get_tokens_as_they_are(decoder: Any) -> None:
    made = ascii_bytes()
    made.add_tokens(["č"])
    assert made.decode([8]) == "č"
    if decoder is None:
        made.decoder = None
    else:
        made.decoder = decoder
    assert made.decode([8]) == "č"
    made.decoder = decoders.Sequence([decoders.ByteLevel(), decoders.Fuse()])
    assert made.decode([8]) == "č"


def test_what_is_decoded_follows_the_model() -> None:
    made = ascii_bytes()
    made.add_tokens(["č"])
    assert made.decode([8]) == "č"
    made.model = byte_level().model
    id_ = made.token_to_id("č")
    assert id_ is not None
    assert set(texts(made, [id_])) == {"\r"}
