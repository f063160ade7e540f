"""Evaluations of random tokenizers of all models have the numbers of the reference, or raise as encoding does.

Reports have the same numbers if they locate all tokens, and if only the tokens that need it.
"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from hypothesis import assume, given, note, settings

import lexmill
from evaluation_cases import check, plain
from lexmill import Tokenizer
from lexmill.errors import LexmillError
from lexmill.reports import Numbers
from small import letters
from whole_engines import Input, Json, read
from whole_tokenizers import cases


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("corpus") / "corpus.jsonl"


@given(case=cases(own=True))
def test_numbers_of_random_tokenizers_match_reference(path: Path, case: tuple[Json, list[Input]]) -> None:
    spec, inputs = case
    note(json.dumps(spec, ensure_ascii=False))
    texts = [one.text for one in inputs]
    # Samplers are refused.
    assume(any(texts) and not spec["model"].get("dropout") and not spec["model"].get("alpha"))
    tokenizer = read(lexmill, spec)
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    given = {"letters": letters("abc"), "it": tokenizer}
    try:
        for text in texts:
            plain(tokenizer).encode(text)
    except LexmillError as error:
        with pytest.raises(type(error)):
            lexmill.evaluate(given, path)
        return
    evaluation = lexmill.evaluate(given, path)
    check(evaluation.corpora[0], given, texts, "whitespace")
    assert json.loads(evaluation.to_json())["corpora"][0]["texts"] == len(texts)
    assert "letters, it" in evaluation.to_table()


@settings(max_examples=settings.default.max_examples // 4)
@given(case=cases(own=True))
def test_tokens_without_offsets_match_naive(path: Path, case: tuple[Json, list[Input]]) -> None:
    spec, inputs = case
    note(json.dumps(spec, ensure_ascii=False))
    texts = [one.text for one in inputs]
    assume(any(texts) and not spec["model"].get("dropout") and not spec["model"].get("alpha"))
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    given = {"letters": letters("abc"), "it": read(lexmill, spec)}
    try:
        naive = lexmill.report(given, path).numbers
    except LexmillError as error:
        with pytest.raises(type(error)):
            located_where_needed(given, path)
        return
    found = located_where_needed(given, path)
    assert (found.corpus, found.scripts) == (naive.corpus, naive.scripts)
    for one, other in zip(found.tokenizers, naive.tokenizers, strict=True):
        assert dataclasses.replace(one, curve=None) == dataclasses.replace(other, curve=None)


def located_where_needed(given: dict[str, Tokenizer], path: Path) -> Numbers:
    """The numbers of a corpus that counts as large, so that only the first text and mixed texts have offsets."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lexmill.evaluation.sample._WHOLE", 0)
        return lexmill.report(given, path, sample_every=1000).numbers
