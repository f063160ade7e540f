"""Tokens and ids as bytes, decoder by decoder, and the errors of bytes that are not UTF-8."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from lexmill import AddedToken, Tokenizer, decoders, models
from lexmill.errors import IdRangeError, InputTypeError, InvalidUtf8Error, OptionError, VocabError


def tokenizer(tokens: list[str], decoder: decoders.Decoder | None) -> Tokenizer:
    """A tokenizer whose tokens have the ids of their places."""
    made = Tokenizer(models.WordLevel({token: id_ for id_, token in enumerate(tokens)}, tokens[0]))
    made.decoder = decoder
    return made


LLAMA = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]

CASES: list[tuple[Callable[[], decoders.Decoder | None], list[str], list[bytes], bytes]] = [
    (decoders.ByteLevel, ["Ġa", "Ã", "日"], [b" a", b"\xc3", "日".encode()], b" a\xc3\xe6\x97\xa5"),
    (lambda: decoders.Sequence(LLAMA), ["▁a", "<0xC3>", "▁"], [b" a", b"\xc3", b" "], b"a\xc3 "),
    (decoders.WordPiece, ["##a", "##b", "c", "."], [b"a", b"b", b" c", b"."], b"##ab c."),
    (decoders.Metaspace, ["▁a", "▁b", "c"], [b" a", b" b", b"c"], b"a bc"),
    (decoders.BPEDecoder, ["a", "b</w>", "c</w>"], [b"a", b"b ", b"c "], b"ab c"),
    (lambda: None, ["a", "b"], [b" a", b" b"], b"a b"),
    (lambda: decoders.Strip("a", 1, 0), ["aab", "ab"], [b"ab", b"b"], b"abb"),
    (decoders.Fuse, ["a", "b"], [b"a", b"b"], b"ab"),
    (lambda: decoders.SentencePiece("?", byte_fallback=True), ["?", "▁a", "<0xE2>"], [" ⁇ ".encode(), b" a", b"\xe2"],
     " ⁇  a".encode() + b"\xe2"),
]  # fmt: skip


@pytest.mark.parametrize(("decoder", "tokens", "own", "whole"), CASES)
def test_a_token_has_the_bytes_that_it_adds_inside_a_text(
    decoder: Callable[[], decoders.Decoder | None], tokens: list[str], own: list[bytes], whole: bytes
) -> None:
    made = tokenizer(tokens, decoder())
    assert made.vocab_bytes() == own == [made.token_bytes(id_) for id_ in range(len(tokens))]
    assert made.decode_bytes(range(len(tokens))) == whole


def test_a_token_of_a_decoder_that_sees_several_has_no_bytes() -> None:
    class Own:
        def decode_chain(self, tokens: list[str]) -> list[str]:
            return tokens[::-1]

    for decoder in (decoders.CTC(), decoders.Decoder.custom(Own()), decoders.Sequence([*LLAMA[1:], decoders.CTC()])):
        made = tokenizer(["a", "b"], decoder)
        with pytest.raises(OptionError, match="decode_bytes gives the bytes of a list of ids"):
            made.token_bytes(0)
        with pytest.raises(OptionError, match="depend on the tokens beside it"):
            made.vocab_bytes()
        assert made.decode_bytes([0, 1, 1]) == made.decode([0, 1, 1]).encode()


def test_errors_are_those_of_python() -> None:
    made = tokenizer(["Ã", "a"], decoders.ByteLevel())
    assert [made.decode([1, 0]), made.decode([1, 0], errors="replace")] == ["a\ufffd"] * 2
    assert made.decode([1, 0], errors="ignore") == "a"
    assert made.decode([1, 0], errors="backslashreplace") == r"a\xc3"
    assert made.decode([0], errors="surrogateescape") == "\udcc3"
    assert made.decode_batch([[0], [1]], errors="ignore") == ["", "a"]
    with pytest.raises(InvalidUtf8Error, match="not valid UTF-8 at byte 1"):
        made.decode([1, 0], errors="strict")
    with pytest.raises(InvalidUtf8Error):
        made.decode_batch([[1], [0]], errors="strict")
    for wrong in ("", "stricter", "re\0place", "é"):
        with pytest.raises((OptionError, ValueError)):
            made.decode([1], errors=wrong)
    with pytest.raises(TypeError):
        made.decode([1], errors=None)  # type: ignore[arg-type]


def test_default_text_of_a_wrong_run_is_hugging_faces() -> None:
    made = tokenizer(["<0x61>", "<0xFF>"], decoders.ByteFallback())
    assert made.decode([0, 1]) == "\ufffd\ufffd"
    assert made.decode([0, 1], errors="backslashreplace") == r"a\xff"


def test_ids_without_a_token_and_special_tokens() -> None:
    made = tokenizer(["a", "b"], decoders.Fuse())
    made.add_special_tokens([AddedToken("<s>", special=True)])
    assert made.vocab_bytes() == [b"a", b"b", b"<s>"]
    assert made.decode_bytes([0, 2, 7]) == b"a"
    assert made.decode_bytes(np.array([0, 2]), skip_special_tokens=False) == b"a<s>"
    with pytest.raises(VocabError):
        made.decode_bytes([7], strict=True)
    with pytest.raises(VocabError):
        made.token_bytes(7)
    with pytest.raises(IdRangeError):
        made.token_bytes(-1)
    with pytest.raises(IdRangeError):
        made.token_bytes(1 << 32)
    for wrong in ("a", None, 1.5):
        with pytest.raises(InputTypeError):
            made.decode_bytes([wrong])  # type: ignore[list-item]


def test_a_vocabulary_with_a_huge_id_is_no_list() -> None:
    made = Tokenizer(models.WordLevel({"a": 0, "b": 4_000_000_000, "c": 3}, "a"))
    made.decoder = decoders.Fuse()
    assert made.token_bytes(4_000_000_000) == b"b"
    with pytest.raises(OptionError, match="the largest id is 4000000000 but must be below 16777216"):
        made.vocab_bytes()
    assert tokenizer(["a"], decoders.Fuse()).vocab_bytes() == [b"a"]
    holes = Tokenizer(models.WordLevel({"a": 0, "c": 2}, "a"))
    assert holes.vocab_bytes() == [b" a", None, b" c"]
    assert Tokenizer(models.BPE()).vocab_bytes() == []
