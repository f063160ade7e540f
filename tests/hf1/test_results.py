"""One script in both packages, on published tokenizers, with random texts, pairs and options: equal results."""

from __future__ import annotations

import pickle
import random
from typing import Any

import pytest
from both import PACKAGES, PUBLISHED, load, outcome, three_lists

from peers import CORPORA, HARD, corpus_file, documents

ROUNDS = 60
# Cut, since they take long; the corpora have whole ones.
PIECES = [text[:60] for text in HARD]


class Choices:
    """Random calls, the same for both packages."""

    def __init__(self, seed: str, special: list[str]) -> None:
        self.random = random.Random(seed)
        self.pieces = [*PIECES, *special, "hello world", "the cat's 1234 mats", "Größe 東京"]

    def text(self) -> str:
        return self.random.choice(["", " "]).join(self.random.choices(self.pieces, k=self.random.randrange(6)))

    def item(self) -> Any:
        kind = self.random.randrange(4)
        return self.text() if kind < 2 else (tuple, list)[kind - 2]((self.text(), self.text()))

    def padding(self) -> Any:
        """Arguments of `Padding`; None for none, `...` for the tokenizer's."""
        pick = self.random.choice
        made = {
            "direction": pick(["left", "right"]),
            "pad_id": pick([0, 3, 70_000]),
            "pad_type_id": pick([0, 2]),
            "length": pick([None, None, 0, 3, 20]),
            "pad_to_multiple_of": pick([None, 0, 1, 8]),
        }
        return pick([..., None, made, made])

    def truncation(self, least: int) -> Any:
        """Arguments of `Truncation`; None for none, `...` for the tokenizer's."""
        pick = self.random.choice
        made = {
            "max_length": least + self.random.randrange(20),
            "strategy": pick(["longest_first", "only_first", "only_second"]),
            "direction": pick(["left", "right"]),
        }
        return pick([..., None, made, made])

    def options(self, special: int) -> dict[str, Any]:
        flags = {name: self.random.random() < 0.5 for name in ("add_special_tokens", "encode_special_tokens")}
        # Fewer tokens than the special ones are a difference that is meant (test_differences.py).
        least = special if flags["add_special_tokens"] else 0
        return {**flags, "padding": self.padding(), "truncation": self.truncation(least)}


def value_of(name: str, value: Any, package: Any) -> Any:
    """An argument in one of the packages."""
    return getattr(package, name.capitalize())(**value) if isinstance(value, dict) else value


def arguments(options: dict[str, Any], package: Any) -> dict[str, Any]:
    return {name: value_of(name, value, package) for name, value in options.items() if value is not ...}


def script(
    package: Any, tokenizer: Any, batch: list[Any], options: dict[str, Any], defaults: dict[str, Any]
) -> list[Any]:
    """The results of the calls: lists, texts, tokens, and the classes of errors."""
    for name, value in defaults.items():
        setattr(tokenizer, name, None if value is ... else value_of(name, value, package))
    given = arguments(options, package)
    encodings = outcome(lambda: tokenizer.encode_batch(batch, **given))
    results: list[Any] = [encodings] if isinstance(encodings, str) else [three_lists(row) for row in encodings]
    for item in batch[:2]:
        results.append(outcome(lambda item=item: three_lists(tokenizer.encode(item, **given))))
        results.append(outcome(lambda item=item: tokenizer.tokenize(item, **given)))
    for row in [] if isinstance(encodings, str) else encodings[:2]:
        copied = pickle.loads(pickle.dumps(row))
        results += [copied == row, copied == encodings[0], repr(copied), len(copied), bool(copied)]
        results += [copied.ids_array.tolist(), copied.attention_mask_array.dtype.name]
        for ids in (row, row.ids, row.ids_array):
            for skip in (False, True):
                results += [tokenizer.decode(ids, skip), tokenizer.decode_tokens(ids, skip_special_tokens=skip)]
    return results


@pytest.mark.parametrize("name", PUBLISHED)
def test_random_calls_give_equal_results(name: str) -> None:
    both = load(name)
    added = both[1]._engine.tokenizer.get_added_tokens_decoder().values()
    special = max(both[1]._engine.tokenizer.num_special_tokens_to_add(is_pair) for is_pair in (False, True))
    choices = Choices(name, [token.content for token in added][:4])
    raised = 0
    for _ in range(ROUNDS):
        batch = [choices.item() for _ in range(choices.random.randrange(5))]
        options = choices.options(special)
        defaults = {"padding": choices.padding(), "truncation": choices.truncation(special)}
        theirs, ours = (
            script(package, tokenizer, batch, options, defaults)
            for package, tokenizer in zip(PACKAGES, both, strict=True)
        )
        assert ours == theirs, (batch, options, defaults)
        raised += any(isinstance(result, str) and result.startswith("raises") for result in ours)
    # Few texts are too short for their strategy.
    assert raised < ROUNDS / 2


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_pickled_and_a_compiled_tokenizer_give_the_results(name: str) -> None:
    theirs, own = both = load(name)
    for package, tokenizer in zip(PACKAGES, both, strict=True):
        tokenizer.padding, tokenizer.truncation = package.Padding(length=20), package.Truncation(20)
    batch = [*PIECES, ("one", "two")]
    expected = [three_lists(row) for row in theirs.encode_batch(batch)]
    for made in (own, own.compile(), pickle.loads(pickle.dumps(own)), pickle.loads(pickle.dumps(own.compile()))):
        assert [three_lists(row) for row in made.encode_batch(batch)] == expected


@pytest.mark.parametrize("corpus", CORPORA)
@pytest.mark.parametrize("name", ["bert-base-uncased", "gpt2", "mistral-v1", "qwen2", "t5-small"])
def test_documents_have_equal_ids_and_texts(name: str, corpus: str) -> None:
    theirs, own = load(name)
    texts = documents(corpus_file(corpus))
    expected, found = theirs.encode_batch(texts), own.encode_batch(texts)
    for text, row, other in zip(texts, found, expected, strict=True):
        assert row.ids == other.ids, text[:200]
    assert list(map(own.decode, found)) == list(map(theirs.decode, expected))
