"""SentencePiece's unused pieces, sampling and decoding, on random models against the library itself."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from distributions import BPE, LETTERS, TWO_WAYS, any_pieces, assert_fits, model_file, of_bpe, of_unigram
from lexmill import Tokenizer, decoders
from lexmill.reference.bpe_sentencepiece import Piece
from model_file import field, piece
from peers import charsmap, stdlib_sources

pytestmark = pytest.mark.external

spm = pytest.importorskip("sentencepiece", reason="install the dependency group `peers`")

FULL = os.environ.get("LEXMILL_PARITY") == "full"
BYTES = [Piece(f"<0x{byte:02X}>", 0.0, 6) for byte in range(256)]
DRAWS = 10_000


def pair(folder: Path, data: bytes) -> tuple[Tokenizer, Any]:
    (folder / "m.model").write_bytes(data)
    return Tokenizer.from_spm(folder / "m.model"), spm.SentencePieceProcessor(model_file=str(folder / "m.model"))


def flags(random: Random) -> bytes:
    """Options of a normalizer."""
    return b"".join(field(number, random.randrange(2)) for number in (3, 4, 5) if random.random() < 0.7)


@pytest.mark.parametrize("seed", range(200 if FULL else 30))
def test_unused_pieces_of_any_model_encode_alike(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    has_bytes = random.random() < 0.5
    pieces = any_pieces(random, random.choice([[1, 5], [1, 1, 5, 4], [5]]), random.choice([5, 25, 60]))
    pieces += [Piece("▁", -99.0, random.choice([1, 5])), Piece("▁a", -5.0, random.choice([1, 5])), Piece("d", 0.0, 5)]
    # Of models that leave spaces as they are, none is written.
    normalizer = flags(random) + field(5, 1)
    fields = [field(2, field(3, 2) + field(35, int(has_bytes))), field(3, normalizer)]
    data = b"".join(piece(*each) for each in pieces + BYTES * has_bytes) + b"".join(fields)
    ours, theirs = pair(tmp_path, data)
    lengths = [1, 3, 10, 40, 400]
    texts = [
        "".join(random.choices(LETTERS + " dxé", [9] * 3 + [3, 1, 1, 1], k=random.choice(lengths))) for _ in range(99)
    ]
    expected = theirs.encode(texts)
    again = Tokenizer.from_str(ours.to_str())
    again.encode_special_tokens = True
    ours.save_spm(tmp_path / "again.model")
    saved = spm.SentencePieceProcessor(model_file=str(tmp_path / "again.model"))
    assert ours.encode_batch_ids(texts) == expected
    assert again.encode_batch_ids(texts) == expected
    assert saved.encode(texts) == expected


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_trained_model_with_unused_pieces_encodes_alike(share: float, tmp_path: Path) -> None:
    lines = [line for source in stdlib_sources("[a-c]*.py") for line in source.splitlines()]
    spm.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_prefix=str(tmp_path / "t"), model_type="bpe", vocab_size=900, minloglevel=2
    )
    trained = spm.SentencePieceProcessor(model_file=str(tmp_path / "t.model"))
    random = Random(share)
    kinds = [2, 3, 3, *(5 if random.random() < share else 1 for _ in range(3, 900))]
    pieces = [piece(trained.id_to_piece(id_), trained.get_score(id_), kind) for id_, kind in enumerate(kinds)]
    ours, theirs = pair(tmp_path, b"".join(pieces) + BPE)
    texts = [line for source in stdlib_sources("d*.py") for line in source.splitlines() if "\0" not in line]
    assert ours.encode_batch_ids(texts) == theirs.encode(texts)


def either(ours: Tokenizer, theirs: Any, **options: Any) -> list[Callable[[str], list[tuple[int, ...]]]]:
    """Draws of both libraries."""
    return [
        lambda text: [tuple(ids) for ids in ours.encode_batch_ids([text] * DRAWS)],
        lambda text: [tuple(theirs.encode(text, enable_sampling=True, **options)) for _ in range(DRAWS)],
    ]


@pytest.mark.parametrize("seed", range(40 if FULL else 8))
def test_samples_of_bpe_have_the_same_distribution(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    spm.set_random_generator_seed(seed)
    pieces = any_pieces(random, [[1], [1, 1, 5]][seed % 2], 20, longest=3)
    ours, theirs = pair(tmp_path, model_file(pieces, BPE))
    alpha = random.choice([0.1, 0.3, 0.6])
    ours.model.alpha, ours.model.seed = alpha, seed
    text = "".join(random.choices(LETTERS, k=7))
    expected = of_bpe(pieces, text, alpha)
    for draw in either(ours, theirs, alpha=alpha):
        assert_fits(draw(text), expected)


def test_samples_of_an_unused_piece_fall_into_its_last_halves(tmp_path: Path) -> None:
    spm.set_random_generator_seed(1)
    ours, theirs = pair(tmp_path, model_file(TWO_WAYS, BPE))
    ours.model.alpha, ours.model.seed = 0.4, 1
    expected = of_bpe(TWO_WAYS, "abcabc", 0.4)
    for draw in either(ours, theirs, alpha=0.4):
        assert_fits(draw("abcabc"), expected)


@pytest.mark.parametrize("seed", range(40 if FULL else 8))
@pytest.mark.parametrize("nbest_size", [-1, 2, 7])
def test_samples_of_unigram_have_the_same_distribution(nbest_size: int, seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    spm.set_random_generator_seed(seed)
    pieces = [each._replace(score=-6 * random.random()) for each in any_pieces(random, [1], 20)]
    ours, theirs = pair(tmp_path, model_file(pieces))
    alpha = random.choice([0.1, 0.5, 1.0])
    ours.model.alpha, ours.model.nbest_size, ours.model.seed = alpha, nbest_size, seed
    texts = ("".join(random.choices(LETTERS, k=6)) for _ in range(100))
    found = ((text, of_unigram(pieces, text, alpha, nbest_size)) for text in texts)
    text, expected = next((text, expected) for text, expected in found if expected and len(expected) > 1)
    for draw in either(ours, theirs, alpha=alpha, nbest_size=nbest_size):
        assert_fits(draw(text), expected)


SURFACES = [b"", field(44, b""), field(44, "▁?".encode()), field(44, b"<unk>")]
RULES = charsmap({"a": "bc", " \u2047 ": "?", "  ": "x", "dd": "", "e": " ", "▁": "y", " z": "z ", "\ufffd": "!"})
PIECES = [
    *[Piece("<unk>", 0.0, 2), Piece("<s>", 0.0, 3), Piece("</s>", 0.0, 3), Piece("éx", -6.0, 4), Piece("▁u", 0.0, 4)],
    *[
        Piece("n▁n", -3.0, 5),
        *(Piece(text, -1.0, 1) for text in ["▁", "▁▁", "a", "▁a", "b▁", "▁▁c", "<0x4a>", " ", "d", "e", "z"]),
    ],
]


@pytest.mark.parametrize("seed", range(300 if FULL else 40))
def test_any_ids_decode_alike(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    has_bytes = random.random() < 0.5
    options = [
        field(3, 1 + seed % 4),
        field(24, random.randrange(2)),
        field(35, int(has_bytes)),
        random.choice(SURFACES),
    ]
    fields = [field(2, b"".join(options)), field(3, flags(random))]
    if has_rules := random.random() < 0.4:
        fields.append(field(5, random.choice([b"", field(2, RULES), field(2, RULES)]) + flags(random)))
    data = b"".join(piece(*each) for each in PIECES + BYTES * has_bytes) + b"".join(fields)
    ours, theirs = pair(tmp_path, data)
    again = Tokenizer.from_str(ours.to_str())
    choices = [*range(len(PIECES)), *(len(PIECES) + byte for byte in b"\xe2\x96\x81\xc3\xa9 x\xff\xf0\x9f" * has_bytes)]
    for _ in range(200):
        ids = random.choices(choices, k=random.randrange(12))
        text = theirs.decode(ids)
        assert ours.decode(ids) == again.decode(ids) == text, ids
        if not has_rules and not has_bytes:
            stream = decoders.DecodeStream(skip_special_tokens=True)
            assert "".join(stream.step(ours, id_) or "" for id_ in ids) == text, ids


def test_what_is_decoded_alike_is_written_again(tmp_path: Path) -> None:
    random = Random(1)
    for surface in SURFACES:
        for rules in (b"", field(5, field(2, RULES) + flags(random))):
            data = b"".join(piece(*each) for each in PIECES) + field(2, surface) + rules
            ours, theirs = pair(tmp_path, data)
            ours.save_spm(tmp_path / "again.model")
            saved = spm.SentencePieceProcessor(model_file=str(tmp_path / "again.model"))
            for _ in range(100):
                ids = random.choices(range(len(PIECES)), k=random.randrange(12))
                assert saved.decode(ids) == theirs.decode(ids), ids


def test_file_of_a_decoder_is_read_by_hugging_face(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers", reason="install the dependency group `peers`")
    pieces = [each for each in PIECES if each.kind in {1, 2, 3}]
    ours, _ = pair(tmp_path, b"".join(piece(*each) for each in pieces))
    assert tokenizers.Tokenizer.from_str(ours.to_str()).decode([4, 5, 3]) == ours.decode([4, 5, 3])
