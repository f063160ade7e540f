from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("typer", reason="the command line is an extra")

from command_line import TEXT, Run
from lexmill import Tokenizer
from lexmill.models import Unigram, WordPiece
from lexmill.normalizers import BertNormalizer
from lexmill.pre_tokenizers import BertPreTokenizer, Metaspace
from lexmill.trainers import UnigramTrainer, WordPieceTrainer


def test_saves_a_tokenizer_that_keeps_every_byte(lexmill: Run) -> None:
    assert lexmill("train", "text.txt", "--vocab-size", "280").code == 0
    tokenizer = Tokenizer.from_file("tokenizer.json")
    assert tokenizer.get_vocab_size() == 280
    assert tokenizer.decode(tokenizer.encode(TEXT).ids) == TEXT


@pytest.mark.parametrize("name", ["byte-level", "cl100k", "o200k", "whitespace", "whitespace-split"])
def test_every_pre_tokenizer_trains(lexmill: Run, name: str) -> None:
    assert lexmill("train", "text.txt", "--vocab-size", "290", "--pre-tokenizer", name).code == 0
    encoding = Tokenizer.from_file("tokenizer.json").encode("the mat")
    assert [token.strip("\u0120") for token in encoding.tokens] == ["the", "mat"]


def test_counts_the_bytes_of_stdin(lexmill: Run) -> None:
    outcome = lexmill("train", "text.txt", "-", "--vocab-size", "290", "--json", stdin=TEXT.encode()).outcome
    assert outcome["bytes"] == 2 * len(TEXT.encode())


def test_special_tokens_come_first(lexmill: Run) -> None:
    arguments = ("--vocab-size", "300", "--special-token", "<a>", "--special-token", "<b>", "--unk-token", "<u>")
    assert lexmill("train", "text.txt", *arguments).code == 0
    tokenizer = Tokenizer.from_file("tokenizer.json")
    assert [tokenizer.id_to_token(id_) for id_ in range(3)] == ["<u>", "<a>", "<b>"]


def test_stdin_trains_as_a_file_does(lexmill: Run) -> None:
    assert lexmill("train", "text.txt", "--vocab-size", "290", "-o", "a.json").code == 0
    assert lexmill("train", "-", "--vocab-size", "290", "-o", "b.json", stdin=TEXT.encode()).code == 0
    assert Path("a.json").read_bytes() == Path("b.json").read_bytes()


def test_prints_the_tokenizer_on_stdout(lexmill: Run) -> None:
    result = lexmill("train", "text.txt", "--vocab-size", "270", "-o", "-", "--no-pretty")
    assert result.code == 0
    assert Tokenizer.from_str(result.stdout.decode()).get_vocab_size() == 270


@pytest.mark.parametrize("score", ["frequency", "likelihood", "likelihood-float64"])
def test_trains_wordpiece(lexmill: Run, score: str) -> None:
    arguments = ("--model", "wordpiece", "--vocab-size", "99", "--score", score, "--normalizer", "bert")
    assert lexmill("train", "text.txt", *arguments).code == 0
    tokenizer = Tokenizer.from_file("tokenizer.json")
    trainer = WordPieceTrainer(vocab_size=99, special_tokens=["[UNK]"], score=score, show_progress=False)
    expected = Tokenizer(WordPiece())
    expected.normalizer, expected.pre_tokenizer = BertNormalizer(), BertPreTokenizer()
    expected.train(["text.txt"], trainer)
    assert tokenizer.get_vocab() == expected.get_vocab()
    assert tokenizer.decode(tokenizer.encode("the").ids) == "the"


def test_trains_wordlevel(lexmill: Run) -> None:
    result = lexmill("train", "text.txt", "--model", "wordlevel", "--vocab-size", "3", "--json")
    tokenizer = Tokenizer.from_file("tokenizer.json")
    assert tokenizer.get_vocab_size() == result.outcome["vocab_size"] == 3
    assert tokenizer.token_to_id("<unk>") == 0
    assert "merges" not in result.outcome


@pytest.mark.parametrize("algorithm", ["em", "exact-loss"])
def test_trains_unigram(lexmill: Run, algorithm: str) -> None:
    arguments = ("--model", "unigram", "--vocab-size", "60", "--algorithm", algorithm, "--max-piece-length", "9")
    assert lexmill("train", "text.txt", *arguments).code == 0
    tokenizer = Tokenizer.from_file("tokenizer.json")
    options: dict[str, Any] = {"algorithm": algorithm, "max_piece_length": 9}
    trainer = UnigramTrainer(vocab_size=60, special_tokens=["<unk>"], unk_token="<unk>", show_progress=False, **options)
    expected = Tokenizer(Unigram())
    expected.pre_tokenizer = Metaspace()
    expected.train(["text.txt"], trainer)
    assert tokenizer.get_vocab() == expected.get_vocab()
    assert tokenizer.decode(tokenizer.encode("the").ids) == "the"


def test_unigram_has_no_least_frequency(lexmill: Run) -> None:
    result = lexmill("train", "text.txt", "--vocab-size", "60", "--model", "unigram", "--min-frequency", "2")
    assert (result.code, "--min-frequency is not for --model unigram" in result.stderr) == (2, True)


@pytest.mark.parametrize(
    ("model", "option", "value"),
    [
        ("bpe", "--seed-size", "9"),
        ("unigram", "--limit-alphabet", "9"),
        ("bpe", "--score", "likelihood"),
        ("wordlevel", "--tie-break", "first-seen"),
        ("wordlevel", "--limit-alphabet", "9"),
        ("wordpiece", "--max-token-length", "9"),
    ],
)
def test_an_option_of_another_model_is_refused(lexmill: Run, model: str, option: str, value: str) -> None:
    result = lexmill("train", "text.txt", "--vocab-size", "300", "--model", model, option, value)
    assert result.code == 2
    assert f"{option} is for --model" in result.stderr
    assert not Path("tokenizer.json").exists()


def test_reports_the_outcome_as_json(lexmill: Run) -> None:
    result = lexmill("train", "text.txt", "--vocab-size", "270", "--json")
    outcome = result.outcome
    assert outcome.pop("seconds") != 0
    assert outcome == {
        "command": "train",
        "ok": True,
        "output": "tokenizer.json",
        "model": "bpe",
        "vocab_size": 270,
        "merges": 14,
        "files": 1,
        "bytes": len(TEXT.encode()),
    }


def test_replaces_what_is_not_utf8_if_told(lexmill: Run) -> None:
    Path("bad.txt").write_bytes(b"good \xff bad " * 10)
    assert lexmill("train", "bad.txt", "--vocab-size", "260", "--errors", "replace").code == 0


def test_trains_on_domains(lexmill: Run) -> None:
    Path("text.txt").write_text(f"{TEXT}\n")
    Path("code.txt").write_text("x = 1\n" * 3)
    arguments = ("--domain", "en=text.txt", "--domain", "code=code.txt", "--vocab-size", "290")
    outcome = lexmill("train", *arguments, "--weight", "code=3/2", "--weight", "en=0.5", "--json").outcome
    assert {name: domain["factor"] for name, domain in outcome["domains"].items()} == {"en": 1, "code": 3}
    Path("whole.txt").write_text(f"{TEXT}\n" + "x = 1\n" * 9)
    assert outcome["files"] == 2
    mixed = Path("tokenizer.json").read_bytes()
    assert lexmill("train", "whole.txt", "--vocab-size", "290").code == 0
    assert Path("tokenizer.json").read_bytes() == mixed
    shares = lexmill("train", *arguments, "--share", "code=1", "--share", "en=3", "--json").outcome["domains"]
    assert round(shares["en"]["share"], 3) == 0.75


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--domain", "en"), "--domain is en but must be NAME=FILES"),
        (("--domain", "en=text.txt", "text.txt"), "give either FILES or --domain or --from-counts"),
        (("text.txt", "--weight", "en=3"), "--weight and --share are for --domain"),
        (("--domain", "en=text.txt", "--weight", "en=x"), "--weight is en=x but must be NAME=NUMBER, such as en=3"),
        (("--domain", "en=text.txt", "--weight", "fr=1"), "weights has 'fr' but must name domains: 'en'"),
        (("--domain", "en=-"), "which can be read only once"),
    ],
)
def test_wrong_domains_are_refused(lexmill: Run, arguments: tuple[str, ...], message: str) -> None:
    result = lexmill("train", *arguments, "--vocab-size", "290")
    assert result.code != 0
    assert message in result.stderr


def test_forbidden_and_initial_tokens(lexmill: Run) -> None:
    for model in ("bpe", "wordpiece", "unigram"):
        arguments = ("--model", model, "--vocab-size", "300", "--forbid", "at", "--initial-token", "zebra")
        assert lexmill("train", "text.txt", *arguments, "--pre-tokenizer", "whitespace-split").code == 0
        tokens = Tokenizer.from_file("tokenizer.json").get_vocab()
        assert "zebra" in tokens
        assert not any("at" in token for token in tokens)
