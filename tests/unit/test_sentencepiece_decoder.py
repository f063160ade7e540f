"""Decoding as in SentencePiece: the core against the reference, and what files keep of it."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from lexmill import Tokenizer, decoders
from lexmill.errors import FormatError, OptionError
from lexmill.reference.tokenizer import Tokenizer as Reference
from model_file import field, piece
from peers import charsmap

PIECES = [("<unk>", 0.0, 2), ("<s>", 0.0, 3), ("▁", -1.0, 1), ("▁▁a", -2.0, 1), ("a", -1.0, 1), ("▁b", -3.0, 1)]
BYTES = [(f"<0x{byte:02X}>", 0.0, 6) for byte in range(256)]
RULES = charsmap({"a": "xyz", "b ": "", " \u2047 ": "?", "\ufffd": "!"})


AS_IT_STANDS = field(2, RULES) + b"".join(field(number, 0) for number in (3, 4, 5))


def model_file(*fields: bytes, pieces: list[tuple[str, float, int]] = PIECES) -> bytes:
    return b"".join(piece(*each) for each in pieces) + b"".join(fields)


def read(folder: Path, data: bytes) -> Tokenizer:
    (folder / "m.model").write_bytes(data)
    return Tokenizer.from_spm(folder / "m.model")


def flags(prefix: int, extra: int) -> bytes:
    return field(3, field(3, prefix) + field(4, extra))


# The texts are those of sentencepiece 0.2.3.
@pytest.mark.parametrize(
    ("data", "ids", "text"),
    [
        (model_file(), [0, 4, 0], " ⁇ a ⁇ "),
        (model_file(field(2, field(44, "▁?".encode()))), [5, 0, 4], "b▁?a"),
        (model_file(field(2, field(44, b""))), [0, 5], "b"),
        (model_file(), [2, 2, 3, 2, 5], " a  b"),
        (model_file(flags(1, 0)), [2, 2, 1, 5], "  b"),
        (model_file(flags(0, 1)), [2, 1, 5], "b"),
        (model_file(flags(0, 0)), [2, 5], "  b"),
        (model_file(field(5, AS_IT_STANDS)), [4, 0, 5, 3], "xyz?  xyz"),
        # By default spaces are treated as by a normalizer.
        (model_file(field(5, field(2, RULES))), [4, 5], "▁xyz▁b"),
        (model_file(field(5, field(3, 1))), [4, 5], "a b"),
    ],
)
def test_ids_become_the_text_of_sentencepiece(data: bytes, ids: list[int], text: str, tmp_path: Path) -> None:
    tokenizer = read(tmp_path, data)
    assert tokenizer.decode(ids) == text
    assert tokenizer.decode_batch([ids, ids]) == [text, text]
    assert Tokenizer.from_str(tokenizer.to_str()).decode(ids) == text
    tokenizer.save_spm(tmp_path / "again.model")
    again = Tokenizer.from_spm(tmp_path / "again.model")
    assert again.to_str() == tokenizer.to_str()
    assert again.decode(ids) == text


def test_bytes_do_not_join_across_control_pieces(tmp_path: Path) -> None:
    tokenizer = read(tmp_path, model_file(field(2, field(35, 1)), pieces=PIECES + BYTES))
    first = len(PIECES)
    assert tokenizer.decode([first + 0xC3, first + 0xA9, first + 0xE2, 4]) == "é\ufffda"
    assert tokenizer.decode([first + 0xC3, 1, first + 0xA9]) == "\ufffd\ufffd"


def test_special_tokens_other_than_the_unknown_one_are_left_out(tmp_path: Path) -> None:
    tokenizer = read(tmp_path, model_file())
    assert tokenizer.decode([1, 4, 0]) == "a ⁇ "
    assert tokenizer.decode([1, 4, 0], skip_special_tokens=False) == "<s>a ⁇ "


@pytest.mark.parametrize("seed", range(10))
def test_core_matches_reference(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    pieces = [*PIECES, ("éx", -1.0, 4), ("<0x4a>", -1.0, 1), ("▁▁", -1.0, 5), *BYTES]
    options = [field(35, 1)] + [field(44, "▁?".encode())] * random.randrange(2)
    rules = [field(2, RULES), *(field(number, random.randrange(2)) for number in (3, 4, 5))]
    fields = [field(2, b"".join(options)), flags(random.randrange(2), random.randrange(2))]
    fields += [field(5, b"".join(rules))] * random.randrange(2)
    tokenizer = read(tmp_path, model_file(*fields, pieces=pieces))
    spec = json.loads(tokenizer.to_str())
    # The reference does not specify how such a model encodes.
    del spec["model"]["sentencepiece_kinds"]
    reference = Reference.from_dict(spec)
    choices = [*range(9), *(9 + byte for byte in b"\xe2\x96\x81\xc3\xa9 x\xff\xf0\x9f")]
    for _ in range(300):
        ids = random.choices(choices, k=random.randrange(10))
        for skip in (True, False):
            assert tokenizer.decode(ids, skip) == reference.decode(ids, skip), ids


def test_a_stream_gives_the_text_of_all_ids(tmp_path: Path) -> None:
    for fields in (b"", flags(1, 0), flags(0, 1), flags(0, 0)):
        tokenizer = read(tmp_path, model_file(fields))
        random = Random(1)
        for _ in range(300):
            ids = random.choices(range(len(PIECES)), k=random.randrange(12))
            stream = decoders.DecodeStream(skip_special_tokens=True)
            assert "".join(stream.step(tokenizer, id_) or "" for id_ in ids) == tokenizer.decode(ids), ids


def test_file_has_stages_for_other_readers_too(tmp_path: Path) -> None:
    decoder = json.loads(read(tmp_path, model_file()).to_str())["decoder"]
    assert [stage["type"] for stage in decoder["decoders"]] == ["Replace", "Fuse", "Strip"]
    assert (decoder["type"], decoder["sentencepiece"]["unk_surface"]) == ("Sequence", " ⁇ ")
    # Without the rules the text would be another one, so other readers are to refuse it.
    decoder = json.loads(read(tmp_path, model_file(field(5, field(2, RULES)))).to_str())["decoder"]
    assert decoder["type"] == "SentencePiece"


def test_options_can_be_set() -> None:
    decoder = decoders.SentencePiece("?", "!", byte_fallback=True, precompiled_charsmap=RULES)
    assert decoder.decode(["▁a", "?", "<0x61>"]) == "xyz!xyz"
    decoder.unk_surface, decoder.unk_token, decoder.add_dummy_prefix = "-", None, False
    decoder.byte_fallback, decoder.remove_extra_whitespaces = False, False
    options: list[Any] = [decoder.unk_surface, decoder.unk_token, decoder.add_dummy_prefix, decoder.byte_fallback]
    assert options == ["-", None, False, False]
    assert decoder.decode(["▁", "?", "<0x61>"]) == " ?<0xyz61>".replace("xyz", "x")
    with pytest.raises(FormatError, match="precompiled_charsmap"):
        decoders.SentencePiece(precompiled_charsmap=b"\xff")


def test_rules_that_a_model_file_has_no_place_for_are_not_written(tmp_path: Path) -> None:
    spec = json.loads(read(tmp_path, model_file(field(5, field(2, RULES)))).to_str())
    spec["decoder"]["denormalizer"]["treat_whitespace_as_suffix"] = True
    with pytest.raises(OptionError, match=r"^save_spm cannot express these rules of denormalization$"):
        Tokenizer.from_str(json.dumps(spec)).save_spm(tmp_path / "again.model")
