"""Models of SentencePiece's, read and written, against the library itself."""

from __future__ import annotations

import os
import re
from pathlib import Path
from random import Random
from typing import Any

import pytest

import lexmill
from lexmill import Tokenizer, models, pre_tokenizers, trainers
from model_file import piece
from peers import CORPORA, DATA, HARD, corpus_file, difference, documents, stdlib_sources

pytestmark = pytest.mark.external

spm = pytest.importorskip("sentencepiece", reason="install the dependency group `peers`")

FILES = [
    "c4-t5-default/tokenizer.model",
    "llm-jp-v2.2/tokenizer.model",
    "mistral-v1/tokenizer.model",
    "opus-mt-en-mg/source.spm",
    "spm-test-en/tokenizer.model",
    "spm-test-ja/tokenizer.model",
    "t5-small/spiece.model",
    "xlnet-base-cased/spiece.model",
]


def pair(path: Path) -> tuple[Tokenizer, Any]:
    return Tokenizer.from_spm(path), spm.SentencePieceProcessor(model_file=str(path))


def check(ours: Tokenizer, theirs: Any, texts: list[str]) -> None:
    for text, own, other in zip(texts, ours.encode_batch_ids(texts), theirs.encode(texts), strict=True):
        if own != other:
            pytest.fail(difference("ids", own, other, text))


def published(name: str) -> tuple[Tokenizer, Any]:
    path = DATA / "tokenizers" / name
    if not path.is_file():
        pytest.skip(f"no tokenizers/{name} in {DATA}; set LEXMILL_DATA to the data folder")
    return pair(path)


@pytest.mark.parametrize("corpus", CORPORA)
@pytest.mark.parametrize("name", FILES)
def test_published_model_encodes_as_sentencepiece(name: str, corpus: str) -> None:
    texts = documents(corpus_file(corpus))
    lines = [line for text in texts for line in text.split("\n")]
    # Whole documents are one sentence: sums get long, and their last bits count.
    check(*published(name), [*lines, *texts[:8]])


@pytest.mark.parametrize("name", FILES)
def test_published_model_encodes_hard_texts_as_sentencepiece(name: str) -> None:
    # It takes zero bytes for the end of words.
    texts = [text for text in HARD if "\0" not in text]
    check(*published(name), [*texts, "▁", " ▁ a ▁", "a ▁ ", "▁▁a", "  ", "a  b   c ", "ｱﾞ é́ ﬁ́"])


@pytest.mark.parametrize("name", FILES)
def test_published_model_decodes_as_sentencepiece(name: str) -> None:
    ours, theirs = published(name)
    for text in ["Hello,  world", "One two. Three?", " a b "]:
        assert ours.decode(theirs.encode(text)) == theirs.decode(theirs.encode(text))
    random = Random(name)
    for _ in range(1000):
        ids = [random.choice([random.randrange(theirs.get_piece_size()), random.randrange(300)]) for _ in range(20)]
        assert ours.decode(ids) == theirs.decode(ids)


@pytest.mark.parametrize(
    "name", ["t5-small/spiece.model", "llm-jp-v2.2/tokenizer.model", "spm-test-ja/tokenizer.model"]
)
def test_what_is_written_again_encodes_alike(name: str, tmp_path: Path) -> None:
    ours, theirs = published(name)
    ours.save_spm(tmp_path / "again.model")
    again, loaded = pair(tmp_path / "again.model")
    texts = [line for text in documents(corpus_file("multilingual"))[:8] for line in text.split("\n")]
    assert loaded.encode(texts) == theirs.encode(texts)
    check(again, loaded, texts)


@pytest.mark.parametrize("model_type", ["unigram", "char", "bpe"])
def test_model_trained_there_encodes_alike_here(model_type: str, tmp_path: Path) -> None:
    sources = stdlib_sources("[a-c]*.py")
    options: dict[str, Any] = {"byte_fallback": True} if model_type == "bpe" else {}
    if model_type == "unigram":
        options = {"user_defined_symbols": ["def", "self.", "ret"], "control_symbols": ["<c>"]}
    spm.SentencePieceTrainer.train(
        sentence_iterator=iter(line for source in sources for line in source.splitlines()),
        model_prefix=str(tmp_path / "m"),
        model_type=model_type,
        vocab_size=150 if model_type == "char" else 900,
        hard_vocab_limit=False,
        remove_extra_whitespaces=model_type == "unigram",
        minloglevel=2,
        **options,
    )
    texts = [line for source in stdlib_sources("d*.py") for line in source.splitlines()][:3000]
    check(*pair(tmp_path / "m.model"), texts)


SYMBOLS = ["def", "self.", "①", "a b", "▁ret", "  x", "ab", "bca", "²", "é"]
# What hostile texts are made of: spaces of all kinds, symbols that overlap, control characters, what rules replace.
BITS = [
    *SYMBOLS, " ", "  ", "a", "b", "c", "abca", "ﬁ", "e\u0301", "▁", "▁▁", "ret", "x", "\u3000", "\u00a0", "\u200b",
    "\u2028", "\t", "\n", "\r\n", "\0", "\x07", "\x7f", "日本", "1", "23", "<s>", "<c>", "<unk>", "<0x41>", "\ufeff",
    "👩\u200d👧", "\u0301", "\uff21\uff22", "\u00b4", "¨", "ﷺ", "word", "the", "import", "\ufffd",
]  # fmt: skip


def any_options(random: Random) -> dict[str, Any]:
    flags = ["byte_fallback", "treat_whitespace_as_suffix", "add_dummy_prefix", "remove_extra_whitespaces"]
    return {
        **{flag: random.random() < 0.5 for flag in [*flags, "split_digits", "allow_whitespace_only_pieces"]},
        "normalization_rule_name": random.choice(["nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf", "identity"]),
        "user_defined_symbols": random.choice([[], SYMBOLS, SYMBOLS[:3]]),
        "control_symbols": random.choice([[], ["<c>", "x"]]),
    }


@pytest.mark.parametrize("seed", range(40 if os.environ.get("LEXMILL_PARITY") == "full" else 5))
@pytest.mark.parametrize("model_type", ["unigram", "bpe", "word", "char"])
def test_any_options_encode_any_text_alike(model_type: str, seed: int, tmp_path: Path) -> None:
    random = Random(f"{model_type} {seed}")
    lines = [line for source in stdlib_sources("a*.py") for line in source.splitlines()][:2000]
    options = any_options(random)
    spm.SentencePieceTrainer.train(
        sentence_iterator=iter([*lines, *["foo 123 bar", "東京 大阪", "naïve ﬁne ½ é"] * 30]),
        model_prefix=str(tmp_path / "m"),
        model_type=model_type,
        vocab_size=500,
        hard_vocab_limit=False,
        minloglevel=2,
        **options,
    )
    texts = ["".join(random.choices(BITS, k=random.randrange(10))) for _ in range(500)]
    ours, theirs = pair(tmp_path / "m.model")
    check(ours, theirs, texts)
    from_json = Tokenizer.from_str(ours.to_str())
    from_json.encode_special_tokens = True
    check(from_json, theirs, texts)
    # What is written again is read alike by both.
    ours.save_spm(tmp_path / "again.model")
    ours, again = pair(tmp_path / "again.model")
    check(ours, theirs, texts)
    assert again.encode(texts) == theirs.encode(texts)


@pytest.mark.parametrize("seed", range(100 if os.environ.get("LEXMILL_PARITY") == "full" else 10))
def test_long_sums_of_any_scores_are_rounded_alike(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    size = 10.0 ** random.randrange(6)
    words = {"".join(random.choices("abc", k=random.randrange(2, 6))): None for _ in range(random.randrange(25))}
    above = random.choice([0.0, 0.0, 0.5, 1.0])
    # With few of them, ways tie but for rounding.
    few = [random.random() - 1 + above for _ in range(random.choice([1, 3, 100]))]
    pieces = [(word, random.choice(few) * size * random.choice([1, 2, 3]), 1) for word in ["a", "b", "c", *words]]
    user_defined = [(word, 0.0, 4) for word in ("ca", "cc", "abb")[: random.randrange(4)] if word not in words]
    data = b"".join(piece(*each) for each in [("<unk>", 0.0, 2), ("▁", -1.0, 1), *pieces, *user_defined])
    (tmp_path / "m.model").write_bytes(data)
    texts = ["".join(random.choices("abc", k=count)) for count in (60, 3000, 30_000)]
    texts += ["".join(random.choices(["a", "b", "c", "x", "ab a", "  "], k=20_000))]
    check(*pair(tmp_path / "m.model"), texts)


@pytest.mark.parametrize("splits", [True, False])
def test_model_trained_here_encodes_alike_there(splits: bool, tmp_path: Path) -> None:
    tokenizer = Tokenizer(models.Unigram())
    metaspace = pre_tokenizers.Metaspace()
    tokenizer.pre_tokenizer = (
        pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), metaspace]) if splits else metaspace
    )
    trainer = trainers.UnigramTrainer(
        vocab_size=900, special_tokens=["<s>"], unk_token="<unk>", show_progress=False, initial_alphabet=["é"]
    )
    tokenizer.train_from_iterator(stdlib_sources("[a-c]*.py"), trainer)
    tokenizer.save_spm(tmp_path / "m.model")
    loaded = spm.SentencePieceProcessor(model_file=str(tmp_path / "m.model"))
    assert loaded.get_piece_size() == tokenizer.get_vocab_size()
    lines = [line.lstrip(" ") for source in stdlib_sources("d*.py") for line in source.splitlines()][:3000]
    check(Tokenizer.from_spm(tmp_path / "m.model"), loaded, lines)
    # Pieces of a run of one character score the same in any order, but for rounding: to 64 bits here, to 32 there.
    check(tokenizer, loaded, [line for line in lines if not re.search(r"(.)\1\1", line)])


def test_saved_json_keeps_the_rules_of_sentencepiece() -> None:
    ours, theirs = published("t5-small/spiece.model")
    again = lexmill.Tokenizer.from_str(ours.to_str())
    again.encode_special_tokens = True
    check(again, theirs, [text for text in HARD if "\0" not in text])
