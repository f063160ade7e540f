from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("typer", reason="the command line is an extra")

from command_line import Run
from lexmill import Tokenizer, count_words, models, pre_tokenizers, trainers

NEW = "for x in xs: print(x)\n" * 20


@pytest.fixture
def new() -> str:
    Path("new.txt").write_text(NEW, encoding="utf-8")
    return "new.txt"


@pytest.mark.parametrize("replace", [None, "unused", "3"])
def test_learns_as_the_library_does(lexmill: Run, saved: str, new: str, replace: str | None) -> None:
    options = () if replace is None else ("--replace", replace)
    result = lexmill("continue", saved, new, "--vocab-size", "305", "--special-token", "<x>", *options, "--json")
    expected = Tokenizer.from_file(saved)
    trainer = trainers.BpeTrainer(vocab_size=305, special_tokens=["<x>"], show_progress=False)
    given: Any = int(replace) if replace == "3" else replace
    replaced = expected.continue_training([new], trainer, replace=given)
    assert Tokenizer.from_file("tokenizer.json").to_str() == expected.to_str()
    outcome = result.outcome
    assert isinstance(outcome.pop("seconds"), float)
    assert outcome == {
        "command": "continue",
        "ok": True,
        "output": "tokenizer.json",
        "vocab_size": expected.get_vocab_size(),
        "appended": expected.get_vocab_size() - 300,
        "replaced": {str(id_): token for id_, token in replaced.items()},
        "files": 1,
        "bytes": len(NEW),
    }


def test_stdin_counts_and_bounded_memory_teach_the_same(lexmill: Run, saved: str, new: str) -> None:
    tokenizer = Tokenizer.from_file(saved)
    added = list(tokenizer.get_added_tokens_decoder().values())
    count_words(new, pre_tokenizer=tokenizer.pre_tokenizer, added_tokens=added).save("new.counts")
    size = ("--vocab-size", "310", "--replace", "unused")
    found = set()
    for arguments in [(new,), ("-",), (new, "--max-memory", "1GB", "--folder", "."), ("--from-counts", "new.counts")]:
        assert lexmill("continue", saved, *arguments, *size, stdin=NEW.encode()).code == 0
        found.add(Path("tokenizer.json").read_bytes())
    assert len(found) == 1


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], 2, "give either FILES or --from-counts"),
        (["new.txt", "--from-counts", "new.txt"], 2, "give either FILES or --from-counts"),
        (["new.txt", "--replace", "-1"], 2, "--replace is '-1' but must be unused or a number of tokens"),
        (["new.txt", "--replace", "0" * 5000], 2, "but must be unused or a number of tokens"),
        (["new.txt", "--replace", "9" * 5000], 2, "but must be unused or a number of tokens"),
        (["new.txt", "--replace", "all"], 2, "--replace is 'all' but must be unused or a number of tokens"),
        (
            ["new.txt", "--character-coverage", "0.9"],
            2,
            "--character-coverage is not for a tokenizer whose model is BPE",
        ),
        (["new.txt", "--folder", "."], 2, "--folder is for the words of FILES that --max-memory does not hold"),
        (["new.txt", "--vocab-size", "299"], 1, "vocab_size is 299 but must be at least 300"),
        (["new.txt", "-o", "-", "--json"], 2, "--json needs a file as --output"),
        (["new.txt", "-o", "new.txt"], 2, "new.txt is an input and the output"),
        (["missing.txt"], 1, "missing.txt"),
    ],
)
def test_wrong_arguments(lexmill: Run, saved: str, new: str, arguments: list[str], code: int, message: str) -> None:
    size = [] if "--vocab-size" in arguments else ["--vocab-size", "310"]
    result = lexmill("continue", saved, *size, *arguments)
    assert (result.code, message in result.stderr + result.stdout.decode()) == (code, True), result
    assert not Path("tokenizer.json").exists()
    assert Path(new).read_text(encoding="utf-8") == NEW


def test_the_tokenizer_is_not_overwritten(lexmill: Run, saved: str, new: str) -> None:
    before = Path(saved).read_bytes()
    assert lexmill("continue", saved, new, "--vocab-size", "310", "-o", saved).code != 0
    assert Path(saved).read_bytes() == before


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        (models.WordLevel({"<unk>": 0}, unk_token="<unk>"), ("--forbid", "x"), "--forbid is not for"),
        (models.Unigram([("<unk>", 0.0)], unk_id=0), ("--min-frequency", "2"), "--min-frequency is not for"),
        (models.WordPiece({"[UNK]": 0}, unk_token="[UNK]"), ("--max-words", "2"), "max_words is 2 but must be None"),
        (models.WordLevel({"<unk>": 0}, unk_token="<unk>"), ("--min-frequency", "2"), None),
        (models.Unigram([("<unk>", 0.0)], unk_id=0), ("--character-coverage", "1"), None),
        (models.WordPiece({"[UNK]": 0}, unk_token="[UNK]"), ("--limit-alphabet", "40"), None),
    ],
)
def test_options_are_of_the_model(
    lexmill: Run, new: str, model: models.Model, options: tuple[str, ...], message: str | None
) -> None:
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.save("base.json")
    result = lexmill("continue", "base.json", new, "--vocab-size", "60", *options)
    assert (result.code == 0) == (message is None), result
    assert message is None or message in result.stderr
