"""`lexmill.report`: its numbers are those that plain loops over `tokenizer.encode` find."""

from __future__ import annotations

import collections
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lexmill
from lexmill import TokenArrays, Tokenizer
from lexmill.evaluation.portions import Portion
from lexmill.reports.measure import _Tally, measure
from lexmill.reports.scripts import script_names, scripts_of
from lexmill.reports.vocabulary import vocabulary_of
from lexmill.sources import Csv
from report_cases import (
    ALL,
    SPACE,
    TEXTS,
    byte_level,
    naive,
    pairs,
    script_of,
    unigram,
    whitespace_bpe,
    without_pre_tokenizer,
    wordpiece,
    words_of,
    write_corpus,
)


@pytest.fixture
def corpus(tmp_path: Path) -> list[Path]:
    return write_corpus(tmp_path)


@pytest.mark.parametrize("make", ALL, ids=lambda make: make.__name__)
def test_numbers_of_the_page_match_naive(make: Any, corpus: list[Path], tmp_path: Path) -> None:
    pytest.importorskip("plotly")
    tokenizer = make()
    lexmill.report({"it": tokenizer}, corpus).save(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    found = re.search('<script type="application/json" id="numbers">(.*?)</script>', page)
    assert found is not None
    numbers = json.loads(found[1])
    assert numbers == json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))

    expected = naive(tokenizer, TEXTS)
    counts = expected["ids"]
    total = sum(counts.values())
    (measured,) = numbers["tokenizers"]
    assert measured["tokens"] == total
    assert pairs(measured["text_lengths"]) == expected["lengths"]
    assert (measured["unknown_characters"], measured["unknown_tokens"]) == (
        expected["unknown"],
        counts[vocabulary_of(tokenizer).unknown or 0] if vocabulary_of(tokenizer).unknown is not None else 0,
    )
    scripts = {group["name"]: group for group in numbers["scripts"]}
    assert scripts.keys() == expected["scripts"].keys()
    for name, row in expected["scripts"].items():
        group = scripts[name]
        assert [group["bytes"], group["characters"], group["words"], *group["tokens"]] == row, name
    for number, texts in enumerate([TEXTS[:3], TEXTS[3:]]):
        group = numbers["files"][number]
        assert group == {
            "name": str(corpus[number]),
            "texts": len(texts),
            "bytes": sum(len(text.encode()) for text in texts),
            "characters": sum(map(len, texts)),
            "words": sum(len([word for word in SPACE.split(text) if word]) for text in texts),
            "tokens": [sum(naive(tokenizer, texts)["ids"].values())],
        }
    assert measured["unused"]["count"] == sum(id_ not in counts for id_ in tokenizer.get_vocab().values())
    ranked = sorted(counts, key=lambda id_: (-counts[id_], id_))
    assert [token["id"] for token in measured["most_frequent"]] == ranked[:200]
    for rank, share in zip(measured["coverage"]["ranks"], measured["coverage"]["shares"], strict=True):
        assert share == pytest.approx(sum(counts[id_] for id_ in ranked[:rank]) / total)
    assert {token["id"] for token in measured["unreachable"]["first"]}.isdisjoint(counts)


def spelled(tokenizer: Tokenizer, id_: int) -> bytes:
    """The bytes of a token, by the rules of all tokenizers here but the byte-level one."""
    token = tokenizer.id_to_token(id_) or ""
    if re.fullmatch("<0x..>", token):
        return bytes([int(token[3:5], 16)])
    return token.removeprefix("##").replace("▁", " ").encode()


@pytest.mark.parametrize(
    "make", [whitespace_bpe, unigram, wordpiece, without_pre_tokenizer], ids=lambda make: make.__name__
)
def test_lengths_of_tokens_match_naive(make: Any, corpus: list[Path]) -> None:
    tokenizer = make()
    (measured,) = json.loads(lexmill.report(tokenizer, corpus).to_json())["tokenizers"]
    counts = naive(tokenizer, TEXTS)["ids"]
    added = tokenizer.get_added_tokens_decoder()
    own = [id_ for id_ in tokenizer.get_vocab().values() if id_ not in added]
    sizes = {id_: len(spelled(tokenizer, id_)) for id_ in tokenizer.get_vocab().values()}
    expected = collections.Counter(sizes[id_] for id_ in own)
    assert pairs(measured["token_bytes"]) == dict(sorted(expected.items()))
    used: collections.Counter[int] = collections.Counter()
    for id_, count in counts.items():
        used[sizes[id_]] += count
    assert pairs(measured["used_bytes"]) == dict(sorted(used.items()))


def test_byte_level_tokens_have_the_bytes_of_their_characters(corpus: list[Path]) -> None:
    numbers = measure(byte_level(), corpus)
    (measured,) = numbers.tokenizers
    # Every byte and every character begins in one token.
    for lengths, total in (
        (measured.used_bytes, numbers.corpus.bytes),
        (measured.used_characters, numbers.corpus.characters),
    ):
        assert sum(length * count for length, count in zip(lengths.lengths, lengths.counts, strict=True)) == total
    tokenizer = byte_level()
    tokenizer.post_processor = None
    tokenizer.no_truncation()
    tokenizer.no_padding()
    ids = [id_ for text in TEXTS for id_ in tokenizer.encode(text).ids]
    assert measured.part_tokens == sum("\ufffd" in tokenizer.decode([id_]) for id_ in ids) > 0
    assert measured.byte_tokens == 0


# Some characters share their first bytes with white space.
@given(
    st.lists(st.text(st.sampled_from("aaab1.é東タЖ \n\x85\xa9\u2003\u2013\u3000、\u0301🦀ก"), max_size=20), max_size=6)
)
def test_scripts_match_naive(texts: list[str]) -> None:
    found = scripts_of(texts)
    expected: dict[str, list[int]] = {}
    labels = []
    for text in texts:
        words = words_of(text)
        if not words and text:
            row = expected.setdefault("white space only", [0, 0, 0])
            row[0] += len(text.encode())
            row[1] += len(text)
            labels += ["white space only"] * len(text)
        for start, end in words:
            name = script_of(text[start:end])
            row = expected.setdefault(name, [0, 0, 0])
            row[0] += len(text[start:end].encode())
            row[1] += end - start
            row[2] += 1
            labels += [name] * (end - start)
    names = script_names()
    rows = zip(found.script_bytes, found.script_characters, found.script_words, strict=True)
    assert {name: [*map(int, row)] for name, row in zip(names, rows, strict=True) if any(row)} == expected
    lengths = np.diff(np.append(found.starts, len(labels)))
    assert [names[label] for label in np.repeat(found.ranges.scripts, lengths)] == labels
    both = zip(found.ranges.splits[:-1], found.ranges.splits[1:], texts, strict=True)
    for at, (first, end, text) in enumerate(both):
        own, before = slice(first, end), int(found.text_starts[at])
        assert (np.diff(found.ranges.scripts[own].astype(int)) != 0).all()
        places = [len(text[: start - before].encode()) for start in found.starts[own].tolist()]
        assert found.ranges.places[own].tolist() == places
    assert found.words.tolist() == [len(words_of(text)) for text in texts]
    assert found.bytes.tolist() == [len(text.encode()) for text in texts]
    assert found.characters.tolist() == [len(text) for text in texts]


def test_tokens_without_characters_belong_to_the_word_where_they_stand() -> None:
    # A token of an empty text belongs to no word, and a token after the last character to the word before it.
    texts = ["", "a ж", "a"]
    offsets = np.array([[0, 0], [0, 0], [1, 3], [3, 3]], np.uint32)
    arrays = TokenArrays(np.zeros(4, np.uint16), np.array([0, 1, 4, 4]), offsets=offsets)
    tally = _Tally(0, "it", whitespace_bpe(), None)
    counts = tally.add([Portion(np.arange(3), texts, (arrays,))], scripts_of(texts))
    assert counts.tolist() == [1, 3, 0]
    found = zip(script_names(), tally.scripts.tolist(), strict=True)
    assert {name: count for name, count in found if count} == {"Latin": 1, "Cyrillic": 2}


def test_languages_are_groups(corpus: list[Path], tmp_path: Path) -> None:
    tokenizer = whitespace_bpe()
    numbers = measure(tokenizer, corpus[1], group_by="meta.lang")
    assert numbers.languages is not None
    for group in numbers.languages:
        texts = [text for at, text in enumerate(TEXTS[3:]) if "ab"[at % 2] == group.name]
        assert (group.texts, group.bytes) == (len(texts), sum(len(text.encode()) for text in texts))
        assert group.tokens == (sum(naive(tokenizer, texts)["ids"].values()),)
    assert sum(group.bytes for group in numbers.languages) == numbers.corpus.bytes
    table = tmp_path / "table.csv"
    table.write_text("lang,text\nx,a b\ny,c\nx,d\n")
    numbers = measure(tokenizer, Csv(table), group_by="lang")
    assert [(group.name, group.texts) for group in numbers.languages or ()] == [("x", 2), ("y", 1)]


def test_several_tokenizers_stand_side_by_side(corpus: list[Path]) -> None:
    both = measure({"one": byte_level(), "two": unigram()}, corpus)
    alone = [measure(byte_level(), corpus), measure(unigram(), corpus)]
    assert [tokenizer.name for tokenizer in both.tokenizers] == ["one", "two"]
    for number, numbers in enumerate(alone):
        assert [group.tokens[number] for group in both.scripts] == [group.tokens[0] for group in numbers.scripts]
        assert both.tokenizers[number].text_lengths == numbers.tokenizers[0].text_lengths


def test_samples_slice_back_to_the_text(corpus: list[Path]) -> None:
    for make in ALL:
        for sample in measure(make(), corpus).samples:
            ends = [0]
            for token in sample.tokens[0]:
                assert ends[-1] <= token.start <= token.end <= len(sample.text)
                ends.append(token.end)


def test_blocks_do_not_show(corpus: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    whole = lexmill.report(byte_level(), corpus, group_by=None).to_json()
    monkeypatch.setattr("lexmill.reports.texts._BLOCK", 1)
    assert lexmill.report(byte_level(), corpus).to_json() == whole


def test_texts_of_many_tokens_are_counted_too(corpus: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    (whole,) = measure(byte_level(), corpus).tokenizers
    monkeypatch.setattr("lexmill.reports.measure._FEW_TOKENS", 2)
    assert measure(byte_level(), corpus).tokenizers[0].text_lengths == whole.text_lengths


@pytest.mark.parametrize("make", ALL, ids=lambda make: make.__name__)
def test_offsets_of_a_few_texts_are_enough(make: Any, corpus: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    # Characters that most of the tokenizers do not know, in texts of one script.
    corpus.append(corpus[0].parent / "third.txt")
    corpus[-1].write_text("the cat\nωώ ω\n\nω\n", encoding="utf-8")
    whole = measure(make(), corpus, sample_every=100)
    # The corpus counts as large: only the first text and texts of several scripts have offsets.
    monkeypatch.setattr("lexmill.evaluation.sample._WHOLE", 0)
    few = measure(make(), corpus, sample_every=100)
    assert few.evaluation.corpora[0].sampled_texts == 1
    assert (few.files, few.scripts) == (whole.files, whole.scripts)
    (one,), (other,) = few.tokenizers, whole.tokenizers
    assert (one.unknown_characters, one.text_lengths) == (other.unknown_characters, other.text_lengths)
