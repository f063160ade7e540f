from __future__ import annotations

import pytest

from lexmill.reference import byte_level


def test_mapping_is_one_to_one_over_all_bytes() -> None:
    assert sorted(byte_level.BYTE_TO_CHAR) == list(range(256))
    assert len(byte_level.CHAR_TO_BYTE) == 256
    assert all(byte_level.CHAR_TO_BYTE[char] == byte for byte, char in byte_level.BYTE_TO_CHAR.items())


@pytest.mark.parametrize(
    ("byte", "char"),
    # The first and last of each printable run, and the bytes just outside: the first, 33rd, 34th, 67th and 68th others.
    [
        (0x21, "!"), (0x7E, "~"), (0xA1, "¡"), (0xAC, "¬"), (0xAE, "®"), (0xFF, "ÿ"),
        (0x00, "\u0100"), (0x0A, "Ċ"), (0x20, "Ġ"), (0x7F, "\u0121"), (0xA0, "\u0142"), (0xAD, "\u0143"),
    ],
)  # fmt: skip
def test_printable_bytes_stand_for_themselves_and_others_follow_from_u0100(byte: int, char: str) -> None:
    assert byte_level.BYTE_TO_CHAR[byte] == char


def test_alphabet_is_sorted_by_code_point_and_not_by_byte() -> None:
    alphabet = byte_level.alphabet()
    assert alphabet == sorted(alphabet)
    assert (alphabet[0], alphabet[187], alphabet[188], alphabet[255]) == ("!", "ÿ", "\u0100", "\u0143")


@pytest.mark.parametrize(
    ("text", "chars"),
    [("", ""), ("a b", "aĠb"), ("\r\n", "čĊ"), ("é", "Ã©"), ("e\u0301", "eÌģ"), ("日", "æĹ¥"), ("🙂", "ðŁĻĤ")],
)
def test_text_is_spelt_by_its_utf8_bytes(text: str, chars: str) -> None:
    assert byte_level.to_chars(text) == chars
    assert byte_level.decode([chars]) == text


def test_character_split_between_tokens_is_whole_again() -> None:
    chars = byte_level.to_chars("é")
    assert byte_level.decode([chars[0], chars[1]]) == "é"


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"a\x80b", "a\ufffdb"),
        (b"\xe2\x82", "\ufffd"),  # the beginning of a character: one run
        (b"\xe2\x82A", "\ufffdA"),
        (b"\xf0\x9f\x98", "\ufffd"),
        (b"\xed\xa0\x80", "\ufffd\ufffd\ufffd"),  # a surrogate: no byte of it can begin a character
        (b"\xc0\xaf", "\ufffd\ufffd"),  # overlong
        (b"\xf4\x90\x80\x80", "\ufffd\ufffd\ufffd\ufffd"),  # above U+10FFFF
        (b"\xff", "\ufffd"),
    ],
)
def test_each_maximal_ill_formed_run_becomes_one_replacement(data: bytes, text: str) -> None:
    assert byte_level.decode([byte_level.to_chars(data)]) == text


def test_token_with_a_foreign_character_is_taken_as_text() -> None:
    assert byte_level.decode(["Ġ", "<日>Ġ", "a"]) == " <日>Ġa"
