"""Programs run under Hugging Face `tokenizers` and under lexmill: every result and every exception is compared.

The list of what programs do comes from the peer (`differential/surface.py`), so that nothing is forgotten.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import assume, given, note, settings
from hypothesis import strategies as st

import lexmill
import lexmill.implementations
import lexmill.tools.visualizer
from differential import chunks, parameters, sandboxes, surface
from differential.calls import calls_of, calls_of_all
from differential.deliberate import DELIBERATE, Deliberate, reason
from differential.programs import Program
from differential.run import Tally, run, run_steps
from differential.values import Sandbox, make
from kept_ids import is_dense
from peers import CORPORA, DATA, FULL, HARD, ROOT, corpus_file, documents
from whole_engines import file_of
from whole_tokenizers import beyond_the_peer, cases, not_compared, stages

peer: Any = pytest.importorskip("tokenizers")
pytest.importorskip("tokenizers.tools.visualizer")
pytestmark = pytest.mark.external


SEED = 1
# Rounds of programs; each has one for every class.
ROUNDS = 600 if FULL else 70
CHUNKS = 6 if FULL else 2
LEAST = 20 if FULL else 1
# Texts of each corpus, their length in characters, and how many are in one batch.
DOCUMENTS = 10 if FULL else 1
LONGEST = 4000 if FULL else 300
SIZE = 4
PART = 4


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("differential")


@pytest.fixture(scope="module", autouse=True)
def in_folder(folder: Path) -> Iterator[None]:
    """Lets programs write their files where nobody minds."""
    before = Path.cwd()
    os.chdir(folder)
    yield
    os.chdir(before)


def unexplained(tally: Tally) -> list[str]:
    return [str(difference) for difference in tally.differences if reason(difference) is None]


def test_every_class_method_and_property_does_the_same(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = chunks.Report()
    tally = Tally()
    pair = sandboxes.pair(peer, lexmill, folder)
    for program in chunks.names():
        run(program, pair, tally)
    report.compared.update(tally.compared)
    report.unexplained += unexplained(tally)
    programs = ROUNDS * chunks.programs_of_round()
    for number in range(CHUNKS):
        bounds = number * programs // CHUNKS, (number + 1) * programs // CHUNKS
        report.add(chunks.run_chunk(SEED, *bounds, folder))
    with capsys.disabled():
        print(f"\n{report}")
    assert not report.unexplained, "\n\n".join([str(report), *report.unexplained[:10]])
    rare = {path: report.compared[path] for path in surface.all_paths() if report.compared[path] < least(path)}
    assert not rare, "compared too seldom"


def least(path: str) -> int:
    """How often a name has to be compared: once, if it only stands for what has another name."""
    classes = surface.classes()
    return LEAST if path in classes or path.rpartition(".")[0] in classes else 1


def test_all_that_the_peer_takes_is_drawn() -> None:
    taken = {parameter.name for cls in surface.classes().values() for parameter in cls.parameters}
    taken |= {item.name for cls in surface.classes().values() for call in cls.calls for item in call.parameters}
    known = {*parameters.BY_NAME, *(place.rpartition(".")[2] for place in parameters.BY_PLACE)}
    assert taken <= known
    assert len(surface.classes()) > 70
    assert len(surface.all_paths()) > 500


@pytest.mark.parametrize("entry", DELIBERATE, ids=lambda entry: ascii(entry.written))
def test_each_meant_difference_is_there_and_written_down(entry: Deliberate, folder: Path) -> None:
    tally = Tally()
    run(entry.example, sandboxes.pair(peer, lexmill, folder), tally)
    assert tally.differences, f"this is no difference any more:\n{entry.example}"
    assert entry.applies(tally.differences[0])
    page = (ROOT / "docs" / "compatibility.md").read_text(encoding="utf-8")
    reasons = {**surface.drop_in_table.BEHAVIOUR, **surface.drop_in_table.SIGNATURES}
    assert entry.written in reasons or entry.written in page


def published() -> list[str]:
    return sorted(path.parent.name for path in DATA.glob("tokenizers/*/tokenizer.json"))


@pytest.mark.parametrize("name", published())
def test_published_tokenizers_do_the_same(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(DATA / "tokenizers" / name / "tokenizer.json")
    loaded = [sandbox._replace(subject=sandbox.library.Tokenizer.from_file(path)) for sandbox in both(folder)]
    rng = Random(name)
    tally = Tally()
    texts = [text for corpus in CORPORA for text in rng.sample(documents(corpus_file(corpus)), DOCUMENTS)]
    texts = [text[:LONGEST] for text in [*texts, *(HARD if FULL else rng.sample(HARD, 4))]]
    made = make("Tokenizer.from_file", path)
    for start in range(0, len(texts), SIZE):
        run_steps(Program(name, made, tuple(calls_of(rng, texts[start : start + SIZE]))), loaded, tally)
    steps = calls_of_all(rng, sorted(loaded[0].subject.get_vocab()))
    if not is_dense(loaded[0].subject.get_vocab(with_added_tokens=False).values()):
        # Ids of later added tokens are there other ones after reading them again.
        steps = [step for step in steps if step.path != "Tokenizer.add_tokens"]
    # Of calls that take seconds on large vocabularies, each tokenizer gets some.
    steps = steps if FULL else steps[published().index(name) % PART :: PART]
    run_steps(Program(name, made, tuple(steps)), loaded, tally)
    with capsys.disabled():
        print(f"\n{name}: {tally.compared.total():,} comparisons, {tally.panics.total()} panics of the peer")
    assert not (found := unexplained(tally)), "\n\n".join(map(str, found[:5]))


def both(folder: Path) -> list[Sandbox]:
    return [*sandboxes.pair(peer, lexmill, folder)]


@settings(max_examples=200 if FULL else 6)
@given(case=cases(own=False), seed=st.integers(0, 2**32))
def test_random_tokenizers_do_the_same(folder: Path, case: tuple[Any, Any], seed: int) -> None:
    spec, inputs = case
    assume(beyond_the_peer(spec) is None and not not_compared(spec))
    file = file_of(spec)
    note(json.dumps(file, ensure_ascii=False))
    texts = [text for given_input in inputs for text in (given_input.text, given_input.pair) if text is not None]
    made = make("Tokenizer.from_str", json.dumps(file))
    subjects = [
        sandbox._replace(subject=sandbox.library.Tokenizer.from_str(json.dumps(file))) for sandbox in both(folder)
    ]
    vocab = spec["model"]["vocab"]
    assume(not isinstance(vocab, dict) or is_dense(vocab.values()))
    tokens = sorted(vocab) if isinstance(vocab, dict) else [piece for piece, _ in vocab]
    tally, rng = Tally(), Random(seed)
    steps = [*calls_of(rng, texts), *calls_of_all(rng, tokens)]
    if len([stage for stage in stages(spec["post_processor"], "processors") if stage["type"] != "ByteLevel"]) > 1:
        # The second template makes tokens part of two sequences, of which the peer names either, at random.
        steps = [step for step in steps if step.path != "Encoding.token_to_sequence"]
    run_steps(Program("Tokenizer", made, tuple(steps)), subjects, tally)
    assert not (found := unexplained(tally)), found[0]
