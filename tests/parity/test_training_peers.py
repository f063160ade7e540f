"""Training must learn the vocabulary and the merges, in their order, that Hugging Face learns."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

import lexmill
from peers import CORPORA, FULL, corpus_file, difference, documents, stdlib_sources

pytestmark = pytest.mark.external

hf = pytest.importorskip("tokenizers", reason="install the dependency group `peers`")

# By pre-tokenizer, then by each option alone, then together.
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "byte level": ("ByteLevel", {"vocab_size": 32_000}),
    "whitespace": ("Whitespace", {"vocab_size": 8_000}),
    "whitespace split": ("WhitespaceSplit", {"vocab_size": 8_000}),
    "metaspace": ("Metaspace", {"vocab_size": 8_000}),
    "metaspace on normalized text": ("Metaspace", {"vocab_size": 8_000, "normalized": True}),
    "special tokens": ("Whitespace", {"vocab_size": 4_000, "special_tokens": ["<unk>", "e", "the"]}),
    "limit_alphabet": ("Whitespace", {"vocab_size": 4_000, "limit_alphabet": 40}),
    "limit_alphabet with initial_alphabet": (
        "Whitespace",
        {"vocab_size": 4_000, "limit_alphabet": 30, "initial_alphabet": ["\u20ac", "~", "z"]},
    ),
    "min_frequency": ("ByteLevel", {"vocab_size": 32_000, "min_frequency": 20}),
    "max_token_length": ("ByteLevel", {"vocab_size": 6_000, "max_token_length": 4}),
    "together": (
        "Whitespace",
        {
            "vocab_size": 3_000,
            "min_frequency": 3,
            "limit_alphabet": 60,
            "max_token_length": 6,
            "special_tokens": ["<unk>", "<s>"],
        },
    ),
}


def options_of(case: str, texts: Iterable[str]) -> dict[str, Any]:
    """The case's options, with room for the corpus' alphabet; a limited one ends where the next character is rarer.

    Among equally frequent characters Hugging Face drops any, so that two of its own trainings differ.
    """
    options = dict(CASES[case][1])
    counts = Counter(char for text in texts for char in text if not char.isspace())
    if "limit_alphabet" not in options:
        # A multilingual alphabet alone may be larger than the case's vocabulary, which is an error here.
        room = len(counts) + len(options.get("special_tokens", []))
        return {**options, "vocab_size": max(options["vocab_size"], room + 4_000 if room > 4_000 else 0)}
    counts.update(dict.fromkeys(options.get("initial_alphabet", []), sys.maxsize))
    by_count = sorted(counts.values(), reverse=True)
    limit = min(options["limit_alphabet"], len(by_count) - 1)
    while by_count[limit - 1] == by_count[limit]:
        limit -= 1
    return {**options, "limit_alphabet": limit}


def train(library: Any, case: str, *, files: list[str] | None = None, texts: list[str] | None = None) -> dict[str, Any]:
    """Trains, and returns the model as it is saved."""
    pre_tokenizer = CASES[case][0]
    options = dict(options_of(case, texts or [Path(file).read_text(encoding="utf-8") for file in files or []]))
    tokenizer = library.Tokenizer(library.models.BPE())
    if options.pop("normalized", False):
        of = library.normalizers
        stages = [of.NFKD(), of.StripAccents(), of.Lowercase(), of.Replace(library.Regex(r"\s+"), " "), of.Strip()]
        tokenizer.normalizer = of.Sequence(stages)
    if pre_tokenizer == "ByteLevel":
        tokenizer.pre_tokenizer = library.pre_tokenizers.ByteLevel(add_prefix_space=False)
        options = {"initial_alphabet": library.pre_tokenizers.ByteLevel.alphabet(), **options}
    else:
        tokenizer.pre_tokenizer = getattr(library.pre_tokenizers, pre_tokenizer)()
    trainer = library.trainers.BpeTrainer(show_progress=False, **options)
    if files is not None:
        tokenizer.train(files, trainer)
    else:
        tokenizer.train_from_iterator(texts, trainer)
    model: dict[str, Any] = json.loads(tokenizer.to_str())["model"]
    return model


def assert_same_model(ours: dict[str, Any], theirs: dict[str, Any], case: str) -> None:
    """Compares merges in order, then ids."""
    own, other = ([tuple(merge) for merge in model["merges"]] for model in (ours, theirs))
    if own != other:
        pytest.fail(difference("merges", own, other, case))
    assert ours["vocab"] == theirs["vocab"]


@pytest.fixture
def sample(tmp_path: Path) -> Iterator[Any]:
    """Writes a sample of a corpus to a file, or gives the whole corpus where all is to be compared."""

    def write(corpus: str) -> str:
        path = corpus_file(corpus)
        if not FULL:
            texts = documents(path)
            path = tmp_path / path.name
            path.write_text("".join(texts), encoding="utf-8", newline="\n")
        return str(path)

    return write


@pytest.mark.parametrize("corpus", CORPORA)
def test_byte_level_training_on_a_file_equals_hugging_face(corpus: str, sample: Any) -> None:
    files = [sample(corpus)]
    assert_same_model(*(train(library, "byte level", files=files) for library in (lexmill, hf)), "byte level")


@pytest.mark.parametrize("case", [case for case in CASES if case != "byte level"])
@pytest.mark.parametrize("corpus", ["english", "multilingual"])
def test_training_options_on_a_file_equal_hugging_face(corpus: str, case: str, sample: Any) -> None:
    files = [sample(corpus)]
    assert_same_model(*(train(library, case, files=files) for library in (lexmill, hf)), case)


@pytest.mark.parametrize("case", CASES)
def test_training_on_sources_equals_hugging_face(case: str) -> None:
    texts = stdlib_sources("[a-d]*.py")
    assert_same_model(*(train(library, case, texts=texts) for library in (lexmill, hf)), case)


def word_counts(texts: list[str]) -> list[tuple[str, int]]:
    """What the trainers see of texts cut at white space."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(word for word, _ in lexmill.pre_tokenizers.Whitespace().pre_tokenize_str(text))
    return list(counts.items())


def merge_counts(words: list[tuple[str, int]], tokens: list[str]) -> list[int]:
    """How often each token of a trained vocabulary was merged, given the tokens in the order learnt.

    A token is made of the two that spell it at the time, whichever these are.
    """
    pieces = [([word[0], *("##" + char for char in word[1:])], count) for word, count in words]
    found = []
    for token in tokens:
        if len(token.removeprefix("##")) < 2:
            continue
        total = 0
        for symbols, count in pieces:
            at = 0
            while at + 1 < len(symbols):
                if symbols[at] + symbols[at + 1].removeprefix("##") == token:
                    symbols[at : at + 2] = [token]
                    total += count
                at += 1
        found.append(total)
    return found


def test_wordpiece_training_merges_as_often_as_hugging_face() -> None:
    # Which of several equally frequent pairs comes first is random there, and so are the ids of `##` symbols. Where two
    # such overlap, the first one takes from the count of the other, so a run there may differ from the next one, too.
    texts = stdlib_sources("[a]*.py")
    words = word_counts(texts)

    def learnt(library: Any) -> list[int]:
        tokenizer = library.Tokenizer(library.models.WordPiece())
        tokenizer.pre_tokenizer = library.pre_tokenizers.Whitespace()
        trainer = library.trainers.WordPieceTrainer(vocab_size=700, special_tokens=["[UNK]"], show_progress=False)
        tokenizer.train_from_iterator(texts, trainer)
        vocab = tokenizer.get_vocab()
        assert len(vocab) == 700
        return merge_counts(words, sorted(vocab, key=vocab.__getitem__))

    own = learnt(lexmill)
    assert own in (learnt(hf) for _ in range(8))


@pytest.mark.parametrize(
    "options",
    [{}, {"vocab_size": 500}, {"min_frequency": 5}, {"vocab_size": 900, "special_tokens": ["<unk>", "<s>"]}],
    ids=str,
)
def test_word_level_training_equals_hugging_face(options: dict[str, Any]) -> None:
    texts = stdlib_sources("[a-d]*.py")
    models = []
    for library in (lexmill, hf):
        tokenizer = library.Tokenizer(library.models.WordLevel(unk_token="<unk>"))
        tokenizer.pre_tokenizer = library.pre_tokenizers.Whitespace()
        tokenizer.train_from_iterator(texts, library.trainers.WordLevelTrainer(show_progress=False, **options))
        models.append(json.loads(tokenizer.to_str()))
    assert models[0] == models[1]


def test_training_does_not_depend_on_threads_or_files(tmp_path: Path) -> None:
    paths = []
    for number, text in enumerate(stdlib_sources("[a-b]*.py")):
        path = tmp_path / f"{number:03}.txt"
        path.write_text(text, encoding="utf-8", newline="\n")
        paths.append(str(path))
    models = [train(library, "byte level", files=paths) for library in (hf, lexmill, lexmill)]
    assert_same_model(models[1], models[0], "many files")
    assert models[1] == models[2]
