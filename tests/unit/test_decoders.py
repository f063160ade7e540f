from __future__ import annotations

import json
from typing import Any

import pytest

from lexmill import Regex, Tokenizer, decoders, models
from lexmill.decoders import BPEDecoder, ByteFallback, ByteLevel, Decoder, Fuse, Metaspace, Replace, Sequence, Strip
from lexmill.errors import FormatError, OptionError, OptionRangeError


@pytest.mark.parametrize(
    ("decoder", "tokens", "expected"),
    [
        (Replace("▁", " "), ["▁a", "▁▁b"], " a  b"),
        (Replace(Regex("a*"), "x"), ["baab", "", "c"], "xbxbxxcx"),
        (Replace("ab", "x"), ["a", "b"], "ab"),
        (ByteFallback(), ["<0xC3>", "<0xA9>", "a", "<0x62>"], "éab"),
        # All bytes of a run or none.
        (ByteFallback(), ["<0x61>", "<0xFF>"], "\ufffd\ufffd"),
        (ByteFallback(), ["<0xE2>", "<0x96>"], "\ufffd\ufffd"),
        (ByteFallback(), ["<0xE2>", "x", "<0x96>"], "\ufffdx\ufffd"),
        (ByteFallback(), ["<0x1>", "<0xGG>", "<0x612>", "<0xé>"], "<0x1><0xGG><0x612><0xé>"),
        (ByteFallback(), ["<0x+A>"], "\n"),
        (Fuse(), [], ""),
        (Fuse(), ["a", "b"], "ab"),
        (Strip(), [" a "], " a "),
        (Strip(" ", 1, 0), [" a ", "  b"], "a  b"),
        (Strip("x", 2, 1), ["xxxaxx", "ax", ""], "xaxa"),
        # The other library panics where a token is used up from both ends.
        (Strip("x", 1, 1), ["x", ""], ""),
        (Metaspace(), ["▁a▁", "▁b"], "a b"),
        (Metaspace("_", "first"), ["_a", "_b▁"], "a b▁"),
        (Metaspace("_", "never"), ["_a", "_b"], " a b"),
        (BPEDecoder(), ["a", "b</w>", "c</w>"], "ab c"),
        (BPEDecoder(""), ["ab", "c"], " a b c"),
        (BPEDecoder(), [], ""),
        (Sequence([]), ["a", "b"], "ab"),
        (Sequence([Strip(" ", 1, 0), Fuse()]), [" a", " b"], "ab"),
        (Sequence([Fuse(), Strip(" ", 1, 0)]), [" a", " b"], "a b"),
        (Sequence([ByteLevel(), Replace(" a", "x")]), ["Ġ", "a"], "x"),
    ],
)
def test_text(decoder: Decoder, tokens: list[str], expected: str) -> None:
    assert decoder.decode(tokens) == expected


def test_options_read_back() -> None:
    strip, metaspace, bpe = Strip(), Metaspace(), BPEDecoder()
    strip.content, strip.start, strip.stop = "x", 1, 2
    metaspace.replacement, metaspace.prepend_scheme, metaspace.split = "_", "never", False
    bpe.suffix = "@"
    assert (strip.content, strip.start, strip.stop) == ("x", 1, 2)
    assert (metaspace.replacement, metaspace.prepend_scheme, metaspace.split) == ("_", "never", False)
    assert (strip.decode(["xaxxx"]), metaspace.decode(["_a"]), bpe.decode(["a@", "b@"])) == ("ax", " a", "a b")


@pytest.mark.parametrize(
    ("decoder", "expected"),
    [
        (Replace(Regex("a"), "b"), 'Replace(pattern=Regex("a"), content="b")'),
        (Strip("x", 1, 2), 'Strip(content="x", start=1, stop=2)'),
        (Metaspace(), 'Metaspace(replacement="▁", prepend_scheme=always, split=True)'),
        (BPEDecoder(), 'BPEDecoder(suffix="</w>")'),
        (Sequence([Fuse(), ByteFallback()]), "Sequence(decoders=[Fuse(), ByteFallback()])"),
    ],
)
def test_repr(decoder: Decoder, expected: str) -> None:
    assert repr(decoder) == str(decoder) == expected


def test_a_sequence_has_neither_length_nor_items() -> None:
    for ask in (len, lambda sequence: sequence[0]):
        with pytest.raises(TypeError):
            ask(Sequence([Fuse()]))


def test_bad_options_are_refused() -> None:
    with pytest.raises(OptionError, match='content is "ab": expected a string of length 1'):
        Strip("ab")
    with pytest.raises(OptionError, match='replacement is "": expected a string of length 1'):
        Metaspace("")
    with pytest.raises(
        OptionError, match=r"prepend_scheme: x is an unknown variant, should be one of \['first', 'never', 'always'\]"
    ):
        Metaspace(prepend_scheme="x")
    with pytest.raises(OptionRangeError, match="left is -1 but must be at least 0"):
        Strip(left=-1)
    with pytest.raises(OverflowError):
        Strip().stop = -1


@pytest.mark.parametrize(
    ("definition", "message"),
    [
        ({"type": "Strip"}, "decoder: `content` is missing"),
        (
            {"type": "Strip", "content": "xx", "start": 0, "stop": 0},
            'decoder.content: expected a single character, found "xx"',
        ),
        ({"type": "Strip", "content": "x", "start": -1, "stop": 0}, "decoder.start: expected an integer from 0"),
        ({"type": "BPEDecoder"}, "decoder: `suffix` is missing"),
        ({"type": "Metaspace"}, "decoder: `replacement` is missing"),
        (
            {"type": "Sequence", "decoders": [{"type": "Fuse"}, {"type": "X"}]},
            r"decoder.decoders\[1\]: unknown decoder `X`",
        ),
    ],
)
def test_a_malformed_definition_is_refused_with_its_place(definition: Any, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        Tokenizer.from_str(json.dumps({"decoder": definition, "model": {"type": "BPE", "vocab": {}, "merges": []}}))


def test_a_tokenizer_decodes_with_what_was_set_last() -> None:
    tokenizer = Tokenizer(models.BPE(vocab={"▁a": 0, "▁": 1, "<0xC3>": 2, "<0xA9>": 3}, merges=[]))
    assert tokenizer.decode([0, 1]) == "▁a ▁"
    tokenizer.decoder = Sequence([Replace("▁", " "), ByteFallback(), Fuse(), Strip(" ", 1, 0)])
    assert tokenizer.decode([0, 0, 2, 3]) == "a aé"
    assert tokenizer.decode([0, 2, 0]) == "a\ufffd a"
    assert tokenizer.decode_batch([[1, 1], []]) == [" ", ""]


def test_ctc_drops_repeats_and_gaps() -> None:
    labels = ["<pad>", "h", "h", "<pad>", "e", "l", "<pad>", "l", "o", "|", "|", "y", " n't"]
    assert decoders.CTC().decode(labels) == "hello yn't"
    assert decoders.CTC(cleanup=False).decode(labels) == "hello|y n't"
    assert decoders.CTC("h", "l", True).decode(labels) == "<pad><pad>e <pad> o|yn't"
