"""Streams of ids: the text of a step, the text of the end, and how long both take."""

from __future__ import annotations

import copy
import pickle

import pytest

from growth import assert_in_proportion
from lexmill import Tokenizer, decoders, models
from lexmill.decoders import DecodeStream
from lexmill.errors import LexmillError, OptionError
from lexmill.reference import byte_level

SPACED, SPECIAL = 256, 257


@pytest.fixture(scope="module")
def made() -> Tokenizer:
    """A token a byte, whose id is the byte; one of a space and half a character; and a special one."""
    vocab = {byte_level.BYTE_TO_CHAR[byte]: byte for byte in range(256)}
    tokenizer = Tokenizer(models.BPE({**vocab, byte_level.to_chars(b" \xc3"): SPACED}, []))
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["<s>"])
    assert tokenizer.token_to_id("<s>") == SPECIAL
    return tokenizer


def test_a_prompt_that_ends_inside_a_character_is_not_given_again(made: Tokenizer) -> None:
    prompt, last = "secret é".encode()[:-1], "é".encode()[-1]
    stream = DecodeStream([*prompt])
    assert [stream.step(made, last), stream.finish()] == ["é", ""]
    # The bytes are shown as U+FFFD where they never become a character.
    stream = DecodeStream([*prompt])
    assert [stream.step(made, [*b"x"]), stream.finish()] == ["x", ""]
    assert DecodeStream([*prompt]).finish(made) == ""


def test_a_replacement_character_of_the_text_arrives(made: Tokenizer) -> None:
    stream = DecodeStream()
    assert [stream.step(made, id_) for id_ in "a\ufffdb".encode()] == ["a", None, None, "\ufffd", "b"]
    assert [stream.step(made, id_) for id_ in b"\xff\x80b"] == ["\ufffd", "\ufffd", "b"]


def test_text_before_half_a_character_comes_with_it(made: Tokenizer) -> None:
    stream = DecodeStream()
    assert [stream.step(made, id_) for id_ in (SPACED, 0xA9)] == [None, " é"]
    # But not for long, if no character is ever complete.
    steps = [stream.step(made, 0xC3) for _ in range(100)]
    assert max(at for at in range(100) if steps[at] is not None) > 50
    assert "".join(filter(None, steps)) + stream.finish() == "\ufffd" * 100


def test_the_end_gives_what_waits(made: Tokenizer) -> None:
    stream = DecodeStream()
    assert stream.step(made, [*b"a\xe4\xbd"]) is None
    # A stream that has ended begins a new text.
    assert [stream.finish(), stream.finish(), stream.step(made, 0xA0)] == ["a\ufffd", "", "\ufffd"]
    words = Tokenizer(models.WordLevel({"low</w>": 0, "er</w>": 1}, unk_token="low</w>"))
    words.decoder = decoders.BPEDecoder()
    assert [stream.step(words, 0), stream.step(words, 1), stream.finish()] == ["low", " er", ""]


def test_skipped_tokens_have_no_text(made: Tokenizer) -> None:
    stream = DecodeStream(skip_special_tokens=True)
    assert [stream.step(made, id_) for id_ in (SPECIAL, 0xC3, SPECIAL, 0xA9, 99_999)] == [None, None, None, "é", None]
    assert DecodeStream().step(made, SPECIAL) == "<s>"


def test_without_a_tokenizer_there_is_no_end(made: Tokenizer) -> None:
    with pytest.raises(OptionError, match="tokenizer is None but must be given"):
        DecodeStream([97]).finish()
    stream = DecodeStream()
    stream.step(made, 0xC3)
    assert copy.copy(stream).finish() == "\ufffd"
    again = pickle.loads(pickle.dumps(stream))
    with pytest.raises(OptionError, match="tokenizer is None but must be given"):
        again.finish()
    assert [again.step(made, 0xA9), stream.finish(made)] == ["é", "\ufffd"]


class Reversed:
    """A decoder that changes text which it has given."""

    def decode_chain(self, tokens: list[str]) -> list[str]:
        if "c" in tokens:
            raise ValueError("no c")
        return tokens[::-1]


def test_a_decoder_that_changes_its_text_is_an_error(made: Tokenizer) -> None:
    tokenizer = Tokenizer(models.WordLevel({"a": 0, "b": 1, "c": 2}, unk_token="a"))
    tokenizer.decoder = decoders.Decoder.custom(Reversed())
    stream = DecodeStream()
    assert stream.step(tokenizer, 0) == "a"
    for _ in range(2):
        # A step that fails leaves the stream as it was.
        with pytest.raises(LexmillError, match=r"Invalid prefix encountered while decoding stream\. Token ID: 1"):
            stream.step(tokenizer, 1)
        with pytest.raises(LexmillError, match="no c"):
            stream.step(tokenizer, 2)
    with pytest.raises(TypeError, match="StreamInput must be either an integer or a list of integers"):
        stream.step(tokenizer, "x")  # type: ignore[arg-type]


@pytest.mark.parametrize("id_", [0xFF, 0xC3, SPECIAL, 0x80], ids=["stray", "unfinished", "skipped", "inner"])
@pytest.mark.parametrize("decoder", ["by token", "by window"])
def test_steps_take_time_in_proportion(made: Tokenizer, id_: int, decoder: str) -> None:
    tokenizer = Tokenizer.from_str(made.to_str())
    if decoder == "by window":
        tokenizer.decoder = decoders.Sequence([decoders.Fuse(), decoders.ByteLevel()])

    def decode(number: int) -> None:
        stream = DecodeStream([97], skip_special_tokens=True)
        for _ in range(number):
            stream.step(tokenizer, id_)

    assert_in_proportion(decode, 8_000, times=4)
