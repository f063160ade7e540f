"""BPE models of SentencePiece's with unused pieces: the core against the reference, on every path."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from distributions import BPE, LETTERS, any_pieces, model_file
from lexmill import Tokenizer
from lexmill.errors import LexmillError, OptionError
from lexmill.reference.bpe_sentencepiece import Piece, SentencePieceBpe
from lexmill.reference.tokenizer import Tokenizer as Reference
from model_file import field, piece

BYTES = [Piece(f"<0x{byte:02X}>", 0.0, 6) for byte in range(256)]
FALLBACK = field(2, field(3, 2) + field(35, 1))


def read(folder: Path, data: bytes) -> Tokenizer:
    (folder / "m.model").write_bytes(data)
    return Tokenizer.from_spm(folder / "m.model")


# The ids are those of sentencepiece 0.2.3.
@pytest.mark.parametrize(
    ("pieces", "cases"),
    [
        # What is merged to an unused piece falls back into its halves.
        ({"ab": (-1.0, 5), "bc": (-2.0, 1), "abc": (-3.0, 5)}, {"ab": "a b", "abc": "a b c", "bcabc": "bc a b c"}),
        ({"ab": (-1.0, 1), "bc": (-2.0, 1), "abc": (-3.0, 5)}, {"abc": "ab c", "bcabc": "bc ab c", "cabc": "c ab c"}),
        # An unused character is unknown, but what it is merged to is not.
        ({"d": (-9.0, 5), "ad": (-2.0, 1)}, {"d": "<unk>", "ad": "ad", "da": "<unk> a", "addd": "ad <unk>"}),
        # Of equal scores the leftmost goes first.
        ({"ab": (-1.0, 1), "bc": (-1.0, 1), "cc": (-9.0, 5)}, {"abc": "ab c", "aabcc": "a ab c c", "cbc": "c bc"}),
    ],
    ids=["halves", "half", "characters", "ties"],
)
def test_unused_pieces_are_merged_and_cut_again(
    pieces: dict[str, tuple[float, int]], cases: dict[str, str], tmp_path: Path
) -> None:
    letters = [Piece("<unk>", 0.0, 2), *(Piece(letter, -10.0, 1) for letter in LETTERS)]
    tokenizer = read(tmp_path, model_file([*letters, *(Piece(text, *rest) for text, rest in pieces.items())], BPE))
    for text, expected in cases.items():
        assert " ".join(tokenizer.encode(text).tokens) == expected


@pytest.mark.parametrize("seed", range(20))
def test_core_matches_reference_on_every_path(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    has_bytes = random.random() < 0.5
    pieces = any_pieces(random, random.choice([[1, 5], [1, 1, 5, 4], [5]]), 25) + BYTES * has_bytes
    if not any(each.kind == 5 for each in pieces):
        pieces.append(Piece("ba", -3.0, 5))
        pieces = list({each.text: each for each in pieces}.values())
    reference = SentencePieceBpe(pieces, byte_fallback=has_bytes)
    tokenizer = read(tmp_path, model_file(pieces, FALLBACK if has_bytes else BPE))
    texts = [
        "".join(random.choices(LETTERS + "xé", [9] * 3 + [1] * 2, k=random.choice([0, 3, 30, 300]))) for _ in range(60)
    ]
    expected = [reference.tokenize(text) for text in texts]
    ids = [[token.id for token in tokens] for tokens in expected]
    again = Tokenizer.from_str(tokenizer.to_str())
    tokenizer.save_spm(tmp_path / "again.model")
    assert Tokenizer.from_spm(tmp_path / "again.model").to_str() == tokenizer.to_str()
    for each in (tokenizer, again):
        each.encode_special_tokens = True
        for _ in range(2):
            assert each.encode_batch_ids(texts) == ids
        assert [list(row) for row in each.encode_batch_arrays(texts)] == ids
        for text, tokens, encoding in zip(texts, expected, each.encode_batch(texts), strict=True):
            assert encoding.ids == each.encode(text).ids == [token.id for token in tokens]
            assert encoding.tokens == [token.value for token in tokens]
            if text.isascii():
                assert encoding.offsets == [token.offsets for token in tokens]
    whole = Reference.from_dict(json.loads(tokenizer.to_str()))
    whole.encode_special_tokens = True
    assert [whole.encode(text).ids for text in texts] == ids


def test_a_text_of_unused_pieces_is_not_quadratic(tmp_path: Path) -> None:
    pieces = [Piece("<unk>", 0.0, 2), *(Piece("a" * (1 << power), -float(power), 5) for power in range(1, 16))]
    pieces.append(Piece("a", -99.0, 1))
    tokenizer = read(tmp_path, model_file(pieces, BPE))
    assert tokenizer.encode_ids("a" * (1 << 18)) == [len(pieces) - 1] * (1 << 18)


def test_a_long_unused_piece_is_cut_without_recursion(tmp_path: Path) -> None:
    # Each piece is the one before it and one character more.
    pieces = [Piece("<unk>", 0.0, 2), Piece("a", -1.0, 1), Piece("b", -1.0, 1)]
    pieces += [Piece("a" + "b" * count, -float(count), 5) for count in range(1, 2000)]
    tokenizer = read(tmp_path, model_file(pieces, BPE))
    assert tokenizer.encode("a" + "b" * 1999).ids == [1, *[2] * 1999]


def model_json(**changes: object) -> str:
    model = {
        "type": "SentencePieceBPE",
        "vocab": {"a": 0, "aa": 1},
        "merges": [["a", "a"]],
        "sentencepiece_kinds": "15",
        "sentencepiece_scores": [0.0, -1.5],
        **changes,
    }
    return json.dumps({"model": model})


def test_scores_must_fit_the_tokens(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^3 scores for 2 tokens$"):
        Tokenizer.from_str(model_json(sentencepiece_scores=[0.0, 1.0, 2.0]))
    with pytest.raises(ValueError, match=r"score is inf but must be finite"):
        Tokenizer.from_str(model_json(sentencepiece_scores=[0.0, 1e300]))
    with pytest.raises(OptionError, match=r"score is NaN but must be finite"):
        read(tmp_path, piece("<unk>", 0.0, 2) + piece("a", float("nan")) + piece("b", 0.0, 5) + BPE)


def test_merges_without_their_scores_are_not_written(tmp_path: Path) -> None:
    tokenizer = read(tmp_path, model_file([Piece("<unk>", 0.0, 2), Piece("a", 0.0, 1), Piece("aa", 0.0, 5)], BPE))
    spec = json.loads(tokenizer.to_str())
    spec["model"]["merges"] = []
    with pytest.raises(OptionError, match=r"its merges are not those of its scores"):
        Tokenizer.from_str(json.dumps(spec)).save_spm(tmp_path / "again.model")


def test_any_json_of_such_a_model_encodes_or_is_refused() -> None:
    # Halves that are empty, or as long as the whole, and prefixes: no file may hang or crash.
    for changes in [
        {"vocab": {"": 0, "a": 1}, "merges": [["", "a"], ["a", ""]]},
        {"continuing_subword_prefix": "a", "vocab": {"a": 0, "aa": 1}, "merges": [["a", "aa"]]},
        {"end_of_word_suffix": "a"},
        {"unk_token": "missing", "sentencepiece_kinds": "55"},
    ]:
        tokenizer = Tokenizer.from_str(model_json(**changes))
        try:
            tokenizer.encode("aaaaab")
        except LexmillError:
            continue
