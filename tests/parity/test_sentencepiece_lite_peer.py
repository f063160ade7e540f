"""`.spm.fb` files against the files of SentencePiece's converter: the same bytes, and the same tokenizer."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from lexmill import Tokenizer
from model_file import field, piece

pytestmark = pytest.mark.external

TEXT = Path(__file__).read_text(encoding="utf-8").splitlines() + ["naïve café", "東京都 大阪府 東京", "Привет мир"] * 3
OPTIONS: list[dict[str, Any]] = [
    {"model_type": "unigram"},
    {"model_type": "unigram", "byte_fallback": True, "treat_whitespace_as_suffix": True, "pad_id": 3},
    {"model_type": "unigram", "user_defined_symbols": ["import", "por"], "unk_id": 4, "unk_surface": "?"},
    {"model_type": "bpe"},
    {"model_type": "bpe", "byte_fallback": True, "user_defined_symbols": ["th", "the", "e"]},
    {"model_type": "bpe", "add_dummy_prefix": False, "normalization_rule_name": "identity"},
]


def train(**options: Any) -> bytes:
    spm = pytest.importorskip("sentencepiece", minversion="0.2.3", reason="install the dependency group `peers`")
    model = io.BytesIO()
    spm.SentencePieceTrainer.train(
        sentence_iterator=iter(TEXT),
        model_writer=model,
        minloglevel=2,
        vocab_size=600,
        hard_vocab_limit=False,
        **options,
    )
    return model.getvalue()


@pytest.mark.parametrize("options", OPTIONS)
def test_files_are_read_as_the_model_and_written_with_the_same_bytes(options: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "their.model").write_bytes(train(**options))
    spm = pytest.importorskip("sentencepiece")
    tokenizer = Tokenizer.from_spm(tmp_path / "their.model")
    spm.convert_to_flatbuffer(model_file=tmp_path / "their.model", output_file=tmp_path / "their.spm.fb")
    assert Tokenizer.from_spm(tmp_path / "their.spm.fb").to_str() == tokenizer.to_str()
    # Of the name of the rules, and of BPE scores, the tokenizer keeps nothing; the model that it writes has the same.
    tokenizer.save_spm(tmp_path / "our.model")
    tokenizer.save_spm(tmp_path / "our.spm.fb")
    expected = spm.convert_to_flatbuffer(model_file=tmp_path / "our.model")
    assert (tmp_path / "our.spm.fb").read_bytes() == expected


def test_pieces_that_are_never_made_have_no_flag(tmp_path: Path) -> None:
    spm = pytest.importorskip("sentencepiece", minversion="0.2.3", reason="install the dependency group `peers`")
    # `abcd` is never made, since `bc` is merged first.
    scores = {"a": -9.0, "b": -9.0, "c": -9.0, "d": -9.0, "bc": -1.0, "ab": -2.0, "cd": -3.0, "abcd": -4.0}
    pieces = [("<unk>", 0.0, 2), *((text, score, 1) for text, score in scores.items())]
    data = b"".join(piece(*each) for each in pieces) + field(2, field(3, 2)) + field(3, field(3, 0))
    (tmp_path / "m.model").write_bytes(data)
    Tokenizer.from_spm(tmp_path / "m.model").save_spm(tmp_path / "our.model")
    Tokenizer.from_spm(tmp_path / "m.model").save_spm(tmp_path / "our.spm.fb")
    expected = spm.convert_to_flatbuffer(model_file=tmp_path / "our.model")
    assert (tmp_path / "our.spm.fb").read_bytes() == expected
    flags = bytes(text != "abcd" for text, *_ in pieces)
    assert flags in expected
