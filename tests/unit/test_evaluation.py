"""`lexmill.evaluate`: its numbers equal the reference's, text by text, and cases worked out by hand."""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path
from typing import Any

import pytest

import lexmill
from evaluation_cases import check, word_level
from lexmill import Tokenizer, decoders, models, normalizers
from lexmill.errors import EmptyCorpusError, OptionError
from lexmill.evaluation import Evaluation
from report_cases import ALL, TEXTS, byte_level, unigram, whitespace_bpe, wordpiece, write_corpus
from small import letters


@pytest.fixture
def corpus(tmp_path: Path) -> list[Path]:
    return write_corpus(tmp_path)


@pytest.mark.parametrize("rule", ["whitespace", "unicode"])
def test_numbers_match_reference(rule: Any, corpus: list[Path]) -> None:
    pytest.importorskip("regex")
    given = {make.__name__: make() for make in [*ALL, word_level]}
    found = lexmill.evaluate(given, corpus, words=rule)
    check(found.corpora[0], given, TEXTS, rule)


def test_a_case_by_hand(tmp_path: Path) -> None:
    (tmp_path / "corpus.txt").write_text("ab abc\nab\n")
    # Line ends and blanks have no token: ids are a 0, b 1, c 2, ab 3.
    merged, single = letters("abc", ("a", "b")), letters("abc")
    evaluation = lexmill.evaluate({"merged": merged, "single": single}, tmp_path / "corpus.txt", alpha=2)
    (corpus,) = evaluation.corpora
    one, other = corpus.tokenizers
    assert (corpus.texts, corpus.bytes, corpus.characters) == (2, 10, 10)
    # Tokens of `merged`: ab | ab c | ab.
    assert (one.tokens, one.used, one.nsl, one.bytes_per_token) == (4, 2, 1, 2.5)
    assert one.shannon_entropy == pytest.approx(0.75 * math.log2(4 / 3) + 0.5)
    assert one.renyi_entropy == pytest.approx(-math.log2(9 / 16 + 1 / 16))
    assert one.renyi_efficiency == pytest.approx(-math.log2(10 / 16) / 2)
    assert one.renyi_efficiency_of_used == pytest.approx(-math.log2(10 / 16))
    assert (one.words.words, one.words.continued, one.words.whole, one.words.tokens_per_word) == (3, 1, 2, 4 / 3)
    # Tokens of `single`: a b | a b c | a b.
    assert (other.tokens, other.nsl, other.words.continued_share) == (7, 7 / 4, 1)
    # Nothing decodes to blanks as they were: the decoder puts one between all tokens.
    assert (one.round_trip.equal, one.round_trip.first_different) == (0, 0)
    # Boundaries of `merged`: ab| ab|c|.ab|. and of `single`: a|b| a|b|c|.a|b|. where . is a line end.
    (pair,) = corpus.agreements
    assert (pair.first_boundaries, pair.second_boundaries, pair.shared, pair.agreement) == (4, 7, 4, 4 / 7)
    (overlap,) = evaluation.overlaps
    assert (overlap.first_tokens, overlap.second_tokens, overlap.shared, overlap.overlap) == (4, 3, 3, 3 / 4)
    assert [(one.id, one.token, one.kind, one.made) for one in evaluation.vocabularies[0].candidates] == [
        (0, "a", "unused", 0),
        (1, "b", "unused", 0),
    ]


def evaluated(given: Any, corpus: Any, **options: Any) -> Evaluation:
    return lexmill.evaluate(given, corpus, **options)


def test_several_corpora_are_told_apart_and_vocabularies_know_them_all(corpus: list[Path]) -> None:
    both = evaluated(unigram(), {"first": corpus[0], "second": corpus[1:]})
    assert [one.name for one in both.corpora] == ["first", "second"]
    for numbers, texts in zip(both.corpora, (TEXTS[:3], TEXTS[3:]), strict=True):
        check(numbers, {"tokenizer": unigram()}, texts, "whitespace")
    whole = evaluated(unigram(), corpus)
    assert both.vocabularies == whole.vocabularies


@pytest.mark.parametrize("make", [unigram, wordpiece, byte_level], ids=lambda make: make.__name__)
def test_blocks_and_threads_do_not_show(make: Any, corpus: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"it": make(), "other": whitespace_bpe()}
    whole = evaluated(given, corpus, num_threads=1)
    sampled = evaluated(given, corpus, sample_every=2)
    monkeypatch.setattr("lexmill.reports.texts._BLOCK", 1)
    assert evaluated(given, corpus, num_threads=4).to_json() == whole.to_json()
    # Of a large corpus, texts are sampled by their number.
    monkeypatch.setattr("lexmill.evaluation.sample._WHOLE", 60)
    blocks = evaluated(given, corpus, sample_every=2)
    monkeypatch.undo()
    monkeypatch.setattr("lexmill.evaluation.sample._WHOLE", 60)
    assert evaluated(given, corpus, sample_every=2) == blocks != sampled
    (numbers,) = blocks.corpora
    assert (numbers.texts, numbers.sampled_texts) == (7, 4)
    assert [one.tokens for one in numbers.tokenizers] == [one.tokens for one in whole.corpora[0].tokenizers]
    chosen = {"corpus": corpus[0].parent / "chosen.jsonl"}
    chosen["corpus"].write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS[::2]))
    (alone,) = evaluated(given, chosen, sample_every=1).corpora
    assert [one.words for one in numbers.tokenizers] == [one.words for one in alone.tokenizers]
    assert numbers.agreements == alone.agreements
    trips = zip(numbers.tokenizers, alone.tokenizers, strict=True)
    assert all(one.round_trip.equal == other.round_trip.equal for one, other in trips)
    for one, other in zip(numbers.tokenizers, alone.tokenizers, strict=True):
        first = other.round_trip.first_different
        assert one.round_trip.first_different == (None if first is None else 2 * first)


def test_the_manifest_has_hashes_versions_and_parameters(corpus: list[Path]) -> None:
    tokenizer = byte_level()
    evaluation = evaluated({"it": tokenizer}, corpus, alpha=math.inf)
    manifest = evaluation.manifest
    (own,) = manifest.tokenizers
    assert own.sha256 == hashlib.sha256(tokenizer.to_str().encode()).hexdigest()
    first, second = manifest.files
    assert (first.corpus, first.name, first.texts, first.bytes) == (
        "corpus",
        str(corpus[0]),
        3,
        corpus[0].stat().st_size,
    )
    assert first.sha256 == hashlib.sha256(corpus[0].read_bytes()).hexdigest()
    assert second.sha256 == hashlib.sha256("".join(TEXTS[3:]).encode()).hexdigest()
    assert manifest.parameters == {
        "alpha": "infinity",
        "words": "whitespace",
        "reference": "it",
        "base": None,
        "sample_every": 16,
    }
    assert manifest.versions["lexmill"] == lexmill.__version__
    assert json.loads(evaluation.to_json())["manifest"]["files"][0]["sha256"] == first.sha256
    pytest.importorskip("regex")
    assert "regex" in evaluated(tokenizer, corpus, words="unicode").manifest.versions


def test_the_reference_tokenizer_may_be_any(corpus: list[Path]) -> None:
    given = {"one": byte_level(), "two": unigram()}
    one, two = evaluated(given, corpus, reference="two").corpora[0].tokenizers
    assert (one.nsl, two.nsl) == (one.tokens / two.tokens, 1)


def test_byte_level_tokenizers_give_texts_back(corpus: list[Path]) -> None:
    tokenizer = byte_level()
    trip = evaluated(tokenizer, corpus).corpora[0].tokenizers[0].round_trip
    assert (trip.texts, trip.equal, trip.first_different) == (7, 7, None)
    tokenizer.decoder = decoders.Fuse()
    trip = evaluated(tokenizer, corpus).corpora[0].tokenizers[0].round_trip
    assert (trip.equal, trip.first_different) == (0, 0)


def test_the_first_different_text_has_its_number_in_the_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "corpus.txt").write_text("the cat\non\nThe mat\nThe end\n")
    tokenizer = byte_level()
    tokenizer.normalizer = normalizers.Lowercase()
    monkeypatch.setattr("lexmill.reports.texts._BLOCK", 1)
    trip = evaluated(tokenizer, tmp_path / "corpus.txt").corpora[0].tokenizers[0].round_trip
    assert (trip.texts, trip.equal, trip.first_different) == (4, 2, 2)
    # Of one block, every second text is sampled.
    monkeypatch.undo()
    monkeypatch.setattr("lexmill.evaluation.sample._WHOLE", 0)
    trip = evaluated(tokenizer, tmp_path / "corpus.txt", sample_every=2).corpora[0].tokenizers[0].round_trip
    assert (trip.texts, trip.equal, trip.first_different) == (2, 1, 2)


def test_empty_vocabularies(corpus: list[Path]) -> None:
    given = {"bpe": Tokenizer(models.BPE()), "level": Tokenizer(models.WordPiece({}, unk_token="[UNK]"))}
    evaluation = evaluated({"bpe": given["bpe"]}, corpus)
    (one,) = evaluation.corpora[0].tokenizers
    assert (one.tokens, one.used, one.nsl, one.bytes_per_token) == (0, 0, None, None)
    assert (one.shannon_entropy, one.renyi_entropy, one.renyi_efficiency) == (None, None, None)
    assert (one.words.continued, one.words.whole) == (0, 0)
    assert one.words.words > 0
    assert evaluation.vocabularies[0].candidates == ()
    assert evaluated(given, None).overlaps[0].overlap is None


def test_without_a_corpus_there_are_vocabularies_alone() -> None:
    evaluation = evaluated({"one": whitespace_bpe(), "two": unigram()}, None)
    assert (evaluation.corpora, evaluation.parallel) == ((), None)
    assert [one.residue for one in evaluation.vocabularies] == [None, None]
    assert {candidate.kind for one in evaluation.vocabularies for candidate in one.candidates} <= {"unreachable"}
    assert "vocabularies" in evaluation.to_table()


def test_arguments_outside_their_range_are_refused(corpus: list[Path], tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("")
    for options, message in (
        ({"alpha": -1}, "alpha is -1 but must be a number from 0 on"),
        ({"words": "spaces"}, "words is 'spaces'"),
        ({"reference": "other"}, "reference is 'other' but must be the name of a tokenizer: it"),
        ({"base": "eng"}, "base is 'eng' but there are no parallel files"),
        ({"sample_every": 0}, "sample_every is 0 but must be an integer of at least 1"),
        ({"sample_every": 2.5}, "sample_every is 2.5 but must be an integer of at least 1"),
        ({"sample_every": "3"}, "sample_every is '3' but must be an integer of at least 1"),
    ):
        with pytest.raises(OptionError, match=message):
            evaluated({"it": byte_level()}, corpus, **options)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="no tokenizer"):
        evaluated({}, corpus)
    with pytest.raises(EmptyCorpusError, match="the corpus has nothing to measure: 0 texts"):
        evaluated(byte_level(), tmp_path / "empty.txt")
    with pytest.raises(EmptyCorpusError, match="the corpus 'none' has nothing to measure"):
        evaluated(byte_level(), {"some": corpus, "none": tmp_path / "empty.txt"})


def test_progress_counts_the_bytes_of_all_corpora(corpus: list[Path], tmp_path: Path) -> None:
    (tmp_path / "lines").mkdir()
    (tmp_path / "lines" / "eng.txt").write_text("a\n")
    seen: list[Any] = []
    evaluated(
        byte_level(),
        {"a": corpus[0], "b": corpus[0]},
        parallel=tmp_path / "lines",
        on_progress=lambda *step: seen.append(step),
    )
    size = corpus[0].stat().st_size
    assert [step[:3] for step in seen] == [("read", done, 2 * size + 2) for done in (size, 2 * size, 2 * size + 2)]
