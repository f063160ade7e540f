"""SentencePiece loads each file that `save_spm` writes, and makes the same ids with it."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from lexmill import AddedToken, Tokenizer, models, normalizers, pre_tokenizers
from lexmill.errors import LexmillError

CHARACTERS = "abé日▁x"


def random_model(numbers: random.Random) -> models.Model:
    own = numbers.sample(CHARACTERS, numbers.randint(2, 5))
    pieces = ["".join(numbers.choices(own, k=numbers.randint(1, 3))) for _ in range(numbers.randint(2, 12))]
    spelling = numbers.choice(["<0x%02X>"] * 4 + ["<0x%02x>", "<0x%X>"])
    pieces += [spelling % byte for byte in range(numbers.choice([0, 0, 1, 255, 256, 256]))]
    pieces += numbers.choice([[], [], ["<s>"], ["[UD]"], ["a\0b"], ["<0x+A>"]])
    pieces.insert(numbers.randrange(len(pieces)), "<unk>")
    pieces = list(dict.fromkeys(pieces))
    has_fallback = numbers.random() < 0.5
    if numbers.random() < 0.5:
        scores = [(piece, -numbers.random() * 9) for piece in pieces]
        return models.Unigram(scores, unk_id=pieces.index("<unk>"), byte_fallback=has_fallback)
    vocab = {piece: number for number, piece in enumerate(pieces)}
    plain = [piece for piece in pieces if not piece.startswith("<")]
    splits = [(piece[:at], piece[at:]) for piece in plain for at in range(1, len(piece))]
    merges = [(left, right) for left, right in splits if left in vocab and right in vocab]
    return models.BPE(vocab, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=has_fallback)


def random_tokenizer(numbers: random.Random) -> Tokenizer:
    tokenizer = Tokenizer(random_model(numbers))
    spaces = normalizers.Replace(" ", "▁")
    match numbers.randrange(3):
        case 0:
            tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), spaces])
        case 1:
            tokenizer.normalizer = spaces
        case _:
            scheme = numbers.choice(["always", "never"])
            tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme, split=numbers.random() < 0.5)
    for token in ("[UD]", "ab"):
        if tokenizer.token_to_id(token) is not None:
            flag = numbers.random() < 0.2
            tokenizer.add_tokens([AddedToken(token, normalized=False, single_word=flag)])
    return tokenizer


def test_random_models_are_refused_or_make_the_same_ids(tmp_path: Path) -> None:
    sentencepiece = pytest.importorskip("sentencepiece")
    written = 0
    for seed in range(400):
        numbers = random.Random(seed)
        tokenizer = random_tokenizer(numbers)
        try:
            tokenizer.save_spm(tmp_path / "m.model")
        except LexmillError:
            continue
        written += 1
        peer = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "m.model"))
        for _ in range(8):
            # Metaspace adds no prefix to a text that begins with a space.
            parts = ["a", *numbers.choices([*"abéxzß日 ", "[UD]"], k=numbers.randrange(9))]
            text = "".join(parts)
            assert tokenizer.encode(text).ids == peer.encode(text), (seed, text)
    assert written > 40


@pytest.mark.parametrize(
    ("pieces", "has_fallback", "message"),
    [
        (["<0x41>"], True, "save_spm needs 256 byte pieces for byte_fallback, the model has 1"),
        (["a\0b"], False, "save_spm needs pieces with text and without NUL"),
    ],
)
def test_pieces_that_sentencepiece_refuses_are_named(
    tmp_path: Path, pieces: list[str], has_fallback: bool, message: str
) -> None:
    scores = [(piece, -1.0) for piece in ["<unk>", "a", *pieces]]
    tokenizer = Tokenizer(models.Unigram(scores, unk_id=0, byte_fallback=has_fallback))
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    with pytest.raises(LexmillError, match=message):
        tokenizer.save_spm(tmp_path / "m.model")
    assert not (tmp_path / "m.model").exists()
