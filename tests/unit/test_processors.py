from __future__ import annotations

import pickle
from typing import Any

import pytest

from lexmill import Encoding
from lexmill.errors import OptionError
from lexmill.processors import (
    BertProcessing,
    ByteLevel,
    PostProcessor,
    RobertaProcessing,
    Sequence,
    TemplateProcessing,
)
from small import byte_level, letters

SPECIAL = [("[C]", 100), (101, "[S]"), {"id": "[T]", "ids": [7, 8], "tokens": ["t7", "t8"]}]


def template(single: Any = None, pair: Any = None) -> TemplateProcessing:
    return TemplateProcessing(single=single, pair=pair, special_tokens=SPECIAL)


def processed(processor: PostProcessor, *texts: str, add_special_tokens: bool = True) -> Encoding:
    tokenizer = letters()
    tokenizer.post_processor = processor
    return tokenizer.encode(*texts, add_special_tokens=add_special_tokens)


def offsets(processor: PostProcessor, text: str, *, add_prefix_space: bool) -> list[tuple[int, int]]:
    tokenizer = byte_level(("a", "b"), ("Ġ", "ab"), ("Ġ", "Ġ"), add_prefix_space=add_prefix_space)
    tokenizer.post_processor = processor
    return tokenizer.encode(text, add_special_tokens=False).offsets


class TestTemplate:
    @pytest.mark.parametrize(
        ("single", "tokens", "types"),
        [
            ("$A", "ab", [0, 0]),
            ("[C] $A [S]", "[C]ab[S]", [0, 0, 0, 0]),
            ("[C]:2 $A:3 [S]", "[C]ab[S]", [2, 3, 3, 0]),
            ("$5", "ab", [5, 5]),
            ("$ [T]:1", "abt7t8", [0, 0, 1, 1]),
            (["[C]", "$a"], "[C]ab", [0, 0, 0]),
            ("$A [S] $A", "ab[S]ab", [0, 0, 0, 0, 0]),
        ],
    )
    def test_single(self, single: Any, tokens: str, types: list[int]) -> None:
        encoding = processed(template(single), "ab")
        assert ("".join(encoding.tokens), encoding.type_ids) == (tokens, types)

    @pytest.mark.parametrize(
        ("pair", "tokens", "types", "sequences"),
        [
            (None, "abc", [0, 0, 1], [0, 0, 1]),
            ("[C] $A [S] $B:1 [S]:1", "[C]ab[S]c[S]", [0, 0, 0, 0, 1, 1], [None, 0, 0, None, 1, None]),
            ("$B:1 [S] $A", "c[S]ab", [1, 0, 0, 0], [1, None, 0, 0]),
        ],
    )
    def test_pair(self, pair: Any, tokens: str, types: list[int], sequences: list[int | None]) -> None:
        encoding = processed(template("$A", pair), "ab", "c")
        assert ("".join(encoding.tokens), encoding.type_ids, encoding.sequence_ids) == (tokens, types, sequences)

    def test_without_special_tokens_order_and_types_stay(self) -> None:
        encoding = processed(template("$A", "$B:1 [S] $A:4"), "ab", "c", add_special_tokens=False)
        assert ("".join(encoding.tokens), encoding.type_ids) == ("cab", [1, 4, 4])

    def test_special_tokens_are_masked_and_stand_nowhere(self) -> None:
        encoding = processed(template("[T] $A"), "a")
        assert (encoding.ids, encoding.special_tokens_mask) == ([7, 8, 0], [1, 1, 0])
        assert (encoding.offsets, encoding.word_ids) == ([(0, 0), (0, 0), (0, 1)], [None, None, 0])

    def test_overflowing_parts_are_framed_too(self) -> None:
        tokenizer = letters()
        tokenizer.post_processor = template("[C] $A")
        tokenizer.enable_truncation(2)
        assert [part.tokens for part in tokenizer.encode("ab").overflowing] == [["[C]", "b"]]

    def test_number_of_special_tokens_counts_ids(self) -> None:
        processor = template("[T] $A [S]", "$A [S] $B")
        assert [processor.num_special_tokens_to_add(pair) for pair in (False, True)] == [3, 1]

    @pytest.mark.parametrize("piece", ["$C", "$A:", "$-1", "$A:1:2", "[C]:x"])
    def test_malformed_pieces_are_named(self, piece: str) -> None:
        with pytest.raises(OptionError) as raised:
            template(piece)
        assert piece in str(raised.value)

    def test_unknown_special_tokens_are_named(self) -> None:
        with pytest.raises(OptionError, match=r"Missing SpecialToken\(s\) with id\(s\) `\[X\], \[Y\]`"):
            template("[X] $A [Y] [X]")

    def test_a_pair_needs_both_sequences(self) -> None:
        with pytest.raises(OptionError, match=r"\$A and \$B"):
            template("$A", "$A [S]")

    def test_second_sequence_of_a_single_text_is_an_error(self) -> None:
        with pytest.raises(OptionError, match=r"\$B"):
            processed(template("$B"), "ab")

    def test_single_can_be_changed(self) -> None:
        processor = template("$A")
        processor.single = "[C] $A"
        assert processed(processor, "a").tokens == ["[C]", "a"]

    @pytest.mark.parametrize(
        ("special", "error"),
        [({"ids": [1], "tokens": ["x"]}, ValueError), ({"id": "x", "ids": [1, 2], "tokens": ["x"]}, OptionError),
         (("x", 1, 2), TypeError), (("x", "1"), TypeError)],
    )  # fmt: skip
    def test_special_tokens_must_be_whole(self, special: Any, error: type[Exception]) -> None:
        with pytest.raises(error):
            TemplateProcessing(single="$A", special_tokens=[special])


class TestRoberta:
    PROCESSOR = RobertaProcessing(("</s>", 2), ("<s>", 1))

    def test_frames_one_or_two_texts_all_of_type_0(self) -> None:
        single, pair = processed(self.PROCESSOR, "ab"), processed(self.PROCESSOR, "ab", "c")
        assert single.tokens == ["<s>", "a", "b", "</s>"]
        assert pair.tokens == ["<s>", "a", "b", "</s>", "</s>", "c", "</s>"]
        assert pair.type_ids == [0] * 7
        assert pair.sequence_ids == [None, 0, 0, None, None, 1, None]
        assert [self.PROCESSOR.num_special_tokens_to_add(is_pair) for is_pair in (False, True)] == [2, 4]

    def test_options_read_back(self) -> None:
        processor = RobertaProcessing(("</s>", 2), ("<s>", 1), trim_offsets=False)
        assert (processor.sep, processor.cls) == (("</s>", 2), ("<s>", 1))
        assert (processor.trim_offsets, processor.add_prefix_space) == (False, True)


class TestTrimming:
    @pytest.mark.parametrize(
        ("text", "expected"),
        # A single space that the pre-tokenizer put first stays in the offsets; all others go.
        [
            ("ab ab", [(0, 2), (3, 5)]),
            (" ab", [(0, 3)]),
            ("  ab", [(0, 0), (2, 4)]),
            ("  ", [(2, 2)]),
        ],
    )
    def test_with_prefix_space(self, text: str, expected: list[tuple[int, int]]) -> None:
        for processor in (ByteLevel(), TestRoberta.PROCESSOR):
            assert offsets(processor, text, add_prefix_space=True) == expected

    def test_without_prefix_space_the_first_one_goes_too(self) -> None:
        assert offsets(ByteLevel(add_prefix_space=False), " ab", add_prefix_space=True) == [(1, 3)]

    def test_can_be_turned_off(self) -> None:
        assert offsets(ByteLevel(trim_offsets=False), "ab ab", add_prefix_space=False) == [(0, 2), (2, 5)]


class TestSequence:
    def test_stages_run_in_turn(self) -> None:
        tokenizer = byte_level(("Ġ", "a"))
        tokenizer.post_processor = Sequence([ByteLevel(), template("[C] $A")])
        encoding = tokenizer.encode("b a")
        assert (encoding.tokens, encoding.offsets) == (["[C]", "b", "Ġa"], [(0, 0), (0, 1), (2, 3)])
        assert tokenizer.post_processor.num_special_tokens_to_add(False) == 1

    def test_stages_can_be_looked_at_and_changed(self) -> None:
        sequence = Sequence([ByteLevel(), template("[C] $A")])
        sequence[0].trim_offsets = False
        assert not sequence[0].trim_offsets
        with pytest.raises(IndexError):
            sequence[2]

    def test_empty_sequence_does_nothing(self) -> None:
        assert processed(Sequence([]), "ab", "c").type_ids == [0, 0, 1]


@pytest.mark.parametrize("processor", [BertProcessing(("</s>", 2), ("<s>", 1)), TestRoberta.PROCESSOR])
def test_padding_that_was_there_counts_as_text(processor: PostProcessor) -> None:
    encoding = letters().encode("a")
    encoding.pad(3)
    framed = processor.process(encoding)
    for view in (framed, pickle.loads(pickle.dumps(framed))):
        assert view.special_tokens_mask == [1, 0, 0, 0, 1]
        assert view.attention_mask == [1, 1, 1, 1, 1]
        assert view.tokens == ["<s>", "a", "[PAD]", "[PAD]", "</s>"]
        assert view.offsets == [(0, 0), (0, 1), (0, 0), (0, 0), (0, 0)]


def test_process_joins_encodings_by_itself() -> None:
    tokenizer = letters()
    encoding = template("$A", "$A [S] $B:1").process(tokenizer.encode("ab"), tokenizer.encode("c"))
    assert (encoding.tokens, encoding.type_ids) == (["a", "b", "[S]", "c"], [0, 0, 0, 1])
