"""The bytes of tokens and of lists of ids, and their relation to the text, for any decoder and any ids."""

from __future__ import annotations

import json
from random import Random

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from lexmill import Tokenizer
from lexmill.errors import InvalidUtf8Error, LexmillError, OptionError
from published import PUBLISHED, read
from whole_engines import Json, file_of
from whole_tokenizers import tokenizers

ROWS = 300


def marks_each_byte(decoder: object) -> bool:
    """True if U+FFFD stands for each byte that is no text, or for each byte of its run, as nowhere else."""
    return any(name in str(decoder) for name in ("ByteFallback", "SentencePiece"))


def check(tokenizer: Tokenizer, row: list[int], last: int, *, skips: bool) -> None:
    """Checks the laws for a list of ids and one more id."""
    decoded = tokenizer.decode_bytes(row, skip_special_tokens=skips)
    text = tokenizer.decode(row, skip_special_tokens=skips)
    if decoded.decode(errors="ignore").encode() == decoded:
        assert tokenizer.decode(row, skip_special_tokens=skips, errors="strict") == decoded.decode() == text
    else:
        with pytest.raises(InvalidUtf8Error):
            tokenizer.decode(row, skip_special_tokens=skips, errors="strict")
        assert "\ufffd" in text
        assert marks_each_byte(tokenizer.decoder) or decoded.decode(errors="replace") == text
    for errors in ("ignore", "backslashreplace", "surrogateescape"):
        read_by_python = decoded.decode(errors=errors)
        assert tokenizer.decode(row, skip_special_tokens=skips, errors=errors) == read_by_python
    try:
        adds = tokenizer.token_bytes(last)
    except OptionError:
        return
    if not skips and decoded and not ends_change(tokenizer.decoder):
        assert tokenizer.decode_bytes([*row, last], skip_special_tokens=False) == decoded + adds


def ends_change(decoder: object) -> bool:
    """True if the end of a text loses characters that its tokens have inside a text."""
    return "BPEDecoder" in str(decoder) or ("Strip" in str(decoder) and "stop=0" not in str(decoder))


@PUBLISHED
def test_bytes_of_published_tokenizers_follow_one_another(name: str) -> None:
    tokenizer, random = read(name), Random(name)
    try:
        listed = tokenizer.vocab_bytes()
    except OptionError:
        assert name == "llm-jp-v2.2"
        listed = [b""] * tokenizer.get_vocab_size()
    ids = [id_ for id_, own in enumerate(listed) if own is not None]
    assert {*ids} <= {*tokenizer.get_vocab().values()}
    for _ in range(ROWS):
        row, last = random.choices(ids, k=random.randrange(6)), random.choice(ids)
        check(tokenizer, row, last, skips=random.random() < 0.2)


@PUBLISHED
def test_bytes_of_encoded_text_are_its_bytes(name: str) -> None:
    tokenizer = read(name)
    if "ByteLevel" not in str(tokenizer.decoder) or tokenizer.normalizer is not None:
        pytest.skip("the text is not kept byte for byte")
    text = "  Déjà vu — 日本語のテキスト 🐈‍⬛ don't!\n\n\tx = 3.14\r\n"
    ids = tokenizer.encode(text, add_special_tokens=False).ids
    assert tokenizer.decode_bytes(ids) == text.encode()
    assert b"".join(map(tokenizer.token_bytes, ids)) == text.encode()


@given(spec=tokenizers(own=True), data=st.data())
def test_bytes_of_random_tokenizers_follow_one_another(spec: Json, data: st.DataObject) -> None:
    note(json.dumps(spec, ensure_ascii=False))
    try:
        tokenizer = Tokenizer.from_str(json.dumps(file_of(spec)))
    except LexmillError:
        return
    id_ = st.sampled_from(sorted(tokenizer.get_vocab().values()))
    row, last = data.draw(st.lists(id_, max_size=8)), data.draw(id_)
    check(tokenizer, row, last, skips=data.draw(st.booleans()))
