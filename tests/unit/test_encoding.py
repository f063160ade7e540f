from __future__ import annotations

import copy
import pickle
import random
import struct

import pytest

from growth import assert_in_proportion
from lexmill import Encoding, processors
from lexmill.errors import FormatError, OptionError
from small import byte_level, letters


def pair() -> Encoding:
    """`[C] a b c [S] d [S]`, the words being `ab`, `c` and `d`."""
    tokenizer = letters()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A", pair="[C] $A [S] $B:1 [S]:1", special_tokens=[("[C]", 100), ("[S]", 101)]
    )
    return tokenizer.encode("ab c", "d")


def shown(encoding: Encoding) -> str:
    return "".join(encoding.tokens)


class TestColumns:
    def test_special_tokens_have_no_word_and_no_sequence(self) -> None:
        encoding = pair()
        assert encoding.tokens == ["[C]", "a", "b", "c", "[S]", "d", "[S]"]
        assert encoding.type_ids == [0, 0, 0, 0, 0, 1, 1]
        assert encoding.word_ids == [None, 0, 0, 1, None, 0, None]
        assert encoding.sequence_ids == [None, 0, 0, 0, None, 1, None]
        assert encoding.special_tokens_mask == [1, 0, 0, 0, 1, 0, 1]
        assert encoding.attention_mask == [1] * 7
        assert encoding.offsets == [(0, 0), (0, 1), (1, 2), (3, 4), (0, 0), (0, 1), (0, 0)]
        assert (len(encoding), encoding.n_sequences, encoding.overflowing) == (7, 2, [])

    def test_words_is_the_old_name_of_word_ids(self) -> None:
        with pytest.warns(DeprecationWarning, match="word_ids"):
            assert pair().words == pair().word_ids

    def test_empty_encoding_has_one_sequence(self) -> None:
        encoding = Encoding()
        assert (encoding.ids, encoding.n_sequences, len(encoding)) == ([], 1, 0)


class TestMaps:
    def test_characters_lead_to_tokens_of_their_own_sequence(self) -> None:
        encoding = pair()
        assert [encoding.char_to_token(at) for at in range(5)] == [1, 2, None, 3, None]
        assert [encoding.char_to_token(at, 1) for at in range(2)] == [5, None]
        assert [encoding.char_to_word(at) for at in range(5)] == [0, 0, None, 1, None]

    def test_tokens_lead_to_characters_words_and_sequences(self) -> None:
        encoding = pair()
        assert [encoding.token_to_chars(at) for at in (0, 3, 5, 7)] == [None, (3, 4), (0, 1), None]
        assert [encoding.token_to_word(at) for at in (0, 3, 5, 7)] == [None, 1, 0, None]
        assert [encoding.token_to_sequence(at) for at in (0, 3, 5, 7)] == [None, 0, 1, None]

    def test_words_lead_to_tokens_and_characters(self) -> None:
        encoding = pair()
        assert [encoding.word_to_tokens(word) for word in range(3)] == [(1, 3), (3, 4), None]
        assert [encoding.word_to_chars(word) for word in range(3)] == [(0, 2), (3, 4), None]
        assert (encoding.word_to_tokens(0, 1), encoding.word_to_chars(0, 1)) == ((5, 6), (0, 1))

    def test_first_of_the_tokens_of_a_character(self) -> None:
        encoding = byte_level().encode("é")
        assert (encoding.tokens, encoding.char_to_token(0)) == (["Ã", "©"], 0)

    def test_unknown_sequence_means_all_tokens(self) -> None:
        assert pair().char_to_token(0, 2) == 1

    @pytest.mark.parametrize("name", ["char_to_token", "token_to_chars", "word_to_tokens"])
    def test_negative_places_overflow(self, name: str) -> None:
        with pytest.raises(OverflowError):
            getattr(pair(), name)(-1)


class TestMerge:
    def test_offsets_grow_by_the_end_of_the_encoding_before(self) -> None:
        first, second = letters().encode("ab c"), letters().encode("d")
        assert Encoding.merge([first, second]).offsets == [(0, 1), (1, 2), (3, 4), (4, 5)]
        assert Encoding.merge([first, second], growing_offsets=False).offsets[3] == (0, 1)
        assert Encoding.merge([]).ids == []

    def test_every_part_meets_every_part_of_the_other(self) -> None:
        first, second = letters().encode("abc"), letters().encode("de")
        first.truncate(2)
        second.truncate(1)
        merged = Encoding.merge([first, second])
        assert shown(merged) == "abd"
        assert [shown(part) for part in merged.overflowing] == ["cd", "ce", "abe"]


class TestTruncate:
    def test_windows_share_the_stride(self) -> None:
        encoding = letters().encode("abcdef")
        encoding.truncate(3, stride=1)
        assert [shown(encoding), *map(shown, encoding.overflowing)] == ["abc", "cde", "ef"]

    def test_left_keeps_the_end(self) -> None:
        encoding = letters().encode("abcdef")
        encoding.truncate(4, direction="left")
        assert [shown(encoding), *map(shown, encoding.overflowing)] == ["cdef", "ab"]

    def test_short_enough_is_left_alone(self) -> None:
        encoding = letters().encode("abc")
        encoding.truncate(3)
        assert (shown(encoding), encoding.overflowing) == ("abc", [])

    def test_to_nothing_keeps_the_whole_as_overflowing(self) -> None:
        encoding = letters().encode("abc")
        encoding.truncate(0)
        assert [shown(encoding), *map(shown, encoding.overflowing)] == ["", "abc"]

    def test_sequences_are_forgotten(self) -> None:
        encoding = pair()
        encoding.truncate(3)
        assert (encoding.sequence_ids, encoding.n_sequences) == ([0, 0, 0], 1)

    def test_stride_must_be_below_the_length(self) -> None:
        with pytest.raises(OptionError, match="stride is 2"):
            letters().encode("abc").truncate(2, stride=2)

    def test_direction_must_be_known(self) -> None:
        with pytest.raises(OptionError, match="Invalid truncation direction value : up, use left or right"):
            letters().encode("abc").truncate(2, direction="up")


class TestPad:
    def test_both_directions(self) -> None:
        for direction, expected in [("left", "PPab"), ("right", "abPP")]:
            encoding = letters().encode("ab")
            encoding.pad(4, direction=direction, pad_id=5, pad_type_id=1, pad_token="P")
            assert shown(encoding) == expected
            assert sorted(encoding.ids) == [0, 1, 5, 5]

    def test_places_move_with_padding_on_the_left(self) -> None:
        encoding = pair()
        encoding.pad(9, direction="left")
        assert (encoding.char_to_token(0), encoding.char_to_token(0, 1)) == (3, 7)
        assert encoding.sequence_ids == [None, None, None, 0, 0, 0, None, 1, None]


def test_a_sequence_set_later_is_added_to_those_before() -> None:
    encoding = letters().encode("ab", "c")
    encoding.set_sequence_id(3)
    assert encoding.n_sequences == 3
    assert encoding.word_to_tokens(0, 3) == (0, 3)


def test_trimmed_spaces_belong_to_no_token() -> None:
    tokenizer = byte_level(("Ġ", "a"))
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=True)
    encoding = tokenizer.encode("b a")
    assert (encoding.offsets, encoding.char_to_token(1)) == ([(0, 1), (2, 3)], None)


def test_copies_of_merged_encodings_keep_all_offsets() -> None:
    tokenizer = letters("ab")
    tokenizer.post_processor = processors.TemplateProcessing("$A [S]", special_tokens=[("[S]", 1)])
    merged = Encoding.merge([tokenizer.encode("a", add_special_tokens=False), tokenizer.encode("b")], True)
    merged.pad(4)
    assert merged.offsets == [(0, 1), (1, 2), (1, 1), (0, 0)]
    for again in (copy.copy(merged), copy.deepcopy(merged), pickle.loads(pickle.dumps(merged))):
        assert again.offsets == merged.offsets
        assert again.attention_mask == merged.attention_mask


LOOK_UPS = [
    "token_to_chars",
    "token_to_word",
    "token_to_sequence",
    "char_to_token",
    "char_to_word",
    "word_to_tokens",
    "word_to_chars",
]


def long_encodings(number: int) -> dict[str, Encoding]:
    """Encodings of about `number` tokens, each made in another way."""
    tokenizer = letters("abc é")
    half = tokenizer.encode("ab é" * (number // 6), "ab é" * (number // 6))
    cut, padded = tokenizer.encode("ab é" * (number // 2)), tokenizer.encode("ab é" * (number // 6))
    cut.truncate(number, stride=number // 2)
    padded.pad(number, direction="left")
    merged = Encoding.merge([tokenizer.encode("ab é")] * (number // 3))
    found = {"pair": half, "truncated": cut, "padded": padded, "merged": merged}
    return found | {f"{name}, unpickled": pickle.loads(pickle.dumps(each)) for name, each in found.items()}


@pytest.mark.parametrize("look_up", LOOK_UPS[:3])
def test_look_ups_of_tokens_take_no_longer_in_long_encodings(look_up: str) -> None:
    # A hundred times the tokens, in the time of at most four times as many: caches of the processor hold fewer of them.
    few, many = long_encodings(600), long_encodings(60_000)
    for name in few:

        def run(number: int, name: str = name) -> None:
            find, step = getattr((few if number == 1 else many)[name], look_up), 1 if number == 1 else 100
            for at in range(20_000):
                find(at % 500 * step)

        assert_in_proportion(run, 1, times=4)


@pytest.mark.parametrize("look_up", LOOK_UPS)
def test_look_ups_take_time_in_proportion(look_up: str) -> None:
    sizes = {number: long_encodings(number) for number in (20_000, 80_000)}
    for name in sizes[20_000]:

        def run(number: int, name: str = name) -> None:
            find = getattr(sizes[number][name], look_up)
            for at in range(0, 20_000, 20):
                find(at * (number // 20_000))

        assert_in_proportion(run, 20_000, times=4)


def state() -> bytes:
    encoding = pair()
    encoding.truncate(5, stride=1)
    encoding.pad(6)
    return encoding.__getstate__()


@pytest.mark.parametrize(
    ("damaged", "reason"),
    [
        (b"", "it has no bytes"),
        (b'{"pieces":[],"sequences":[],"overflowing":[]}', "an earlier version of lexmill wrote it"),
        (b"\x09\x00", "its layout is 9, and this version reads layout 1"),
        (state()[:-1], "its [0-9]+ bytes are damaged or incomplete"),
        (state() + b"\0", "its [0-9]+ bytes are damaged or incomplete"),
    ],
)
def test_states_that_cannot_be_read_say_why(damaged: bytes, reason: str) -> None:
    encoding = pair()
    with pytest.raises(FormatError, match=f"the pickled Encoding cannot be read: {reason}; encode its text again"):
        encoding.__setstate__(damaged)
    assert encoding.ids == pair().ids


def test_damaged_states_are_refused_or_read() -> None:
    whole, choices = state(), random.Random(5)
    for number in range(4000):
        damaged = bytearray(whole)
        for _ in range(choices.randint(1, 3)):
            damaged[choices.randrange(len(whole))] = choices.randrange(256)
        if number % 4 == 0:
            del damaged[choices.randrange(len(whole)) :]
        encoding = Encoding()
        try:
            encoding.__setstate__(bytes(damaged))
        except FormatError:
            continue
        for look_up in LOOK_UPS:
            getattr(encoding, look_up)(1)
        # Damage may ask for as much padding as `pad` gives at most.
        if len(encoding) < 1000:
            assert len(encoding.offsets) == len(encoding.tokens) == len(encoding.sequence_ids)
            joined = Encoding.merge([encoding, encoding, pair()])
            joined.truncate(3, stride=1)
            assert len(joined.offsets) == len(joined)


@pytest.mark.parametrize(
    "sequences",
    [[(0, 9, 12), (1, 5, 6)], [(0, 3, 1), (1, 5, 6)], [(1, 1, 4), (0, 5, 6)], [(0, 1, 4), (0, 5, 6)]],
    ids=["beyond the end", "end before start", "descending", "twice"],
)
def test_states_whose_sequences_have_no_tokens_are_refused(sequences: list[tuple[int, int, int]]) -> None:
    def tail(sequences: list[tuple[int, int, int]]) -> bytes:
        numbers = [len(sequences), *(number for sequence in sequences for number in sequence), 0]
        return struct.pack(f"<{len(numbers)}Q", *numbers)

    whole, own = pair().__getstate__(), tail([(0, 1, 4), (1, 5, 6)])
    assert whole.endswith(own)
    with pytest.raises(FormatError, match=r"the pickled Encoding cannot be read: its [0-9]+ bytes are damaged"):
        Encoding().__setstate__(whole.removesuffix(own) + tail(sequences))
