"""Mixtures of domains: weights, shares, and the tokens of each domain."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from lexmill import (
    DomainTokens,
    Tokenizer,
    WordCounts,
    count_words,
    errors,
    merge_counts,
    models,
    pre_tokenizers,
    trainers,
)
from lexmill._data.mixtures import factors_of_shares, factors_of_weights

SPLIT = pre_tokenizers.WhitespaceSplit()


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    texts = {"en": "ab ab c\n", "hi": "अआ अआ ab\n", "code": "x=1\n"}
    paths = {name: tmp_path / f"{name}.txt" for name in texts}
    for name, path in paths.items():
        path.write_text(texts[name], encoding="utf-8")
    return paths


@pytest.fixture
def counts(files: dict[str, Path]) -> dict[str, WordCounts]:
    return {name: count_words(path, pre_tokenizer=SPLIT) for name, path in files.items()}


def bpe(pre_tokenizer: Any = SPLIT) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizer
    return tokenizer


def trainer(**options: Any) -> trainers.BpeTrainer:
    return trainers.BpeTrainer(vocab_size=12, show_progress=False, **options)


def test_weights_multiply_counts_and_domains_number_the_sources(counts: dict[str, WordCounts]) -> None:
    mixed = merge_counts(counts, weights={"en": 3, "code": 0})
    assert [(word, count, source) for word, count, source, _ in mixed] == [("ab", 7, 0), ("c", 3, 0), ("अआ", 2, 1)]
    # Numbers of texts and of bytes are those that were read.
    assert (mixed.total, mixed.texts, mixed.bytes_read) == (12, 2, 8 + 17)
    backwards = merge_counts(dict(reversed(counts.items())))
    assert [(word, source) for word, _, source, _ in backwards] == [("ab", 1), ("c", 2), ("x=1", 0), ("अआ", 1)]


def test_sources_of_a_domain_stay_apart(files: dict[str, Path]) -> None:
    two = count_words([files["code"], files["hi"]], pre_tokenizer=SPLIT, first_source=4)
    one = count_words(files["en"], pre_tokenizer=SPLIT)
    mixed = merge_counts({"two": two, "one": one})
    assert {word: source for word, _, source, _ in mixed} == {"x=1": 4, "अआ": 5, "ab": 5, "c": 6}


def test_counts_of_a_mixture_may_be_files(tmp_path: Path, counts: dict[str, WordCounts]) -> None:
    counts["en"].save(tmp_path / "en.counts")
    given = {**counts, "en": tmp_path / "en.counts"}
    assert list(merge_counts(given, weights={"hi": 2})) == list(merge_counts(counts, weights={"hi": 2}))


@pytest.mark.parametrize(
    ("weights", "factors"),
    [
        ({"a": 2, "b": 4}, {"a": 2, "b": 4}),
        ({"a": Fraction(1, 2), "b": Fraction(2, 3)}, {"a": 3, "b": 4}),
        ({"a": 0, "b": Fraction(1, 3)}, {"a": 0, "b": 1}),
    ],
)
def test_fractions_are_multiplied_by_their_common_denominator(weights: dict[str, Any], factors: dict[str, int]) -> None:
    assert factors_of_weights({name: Fraction(weight) for name, weight in weights.items()}) == factors


def test_a_float_is_the_decimal_number_that_it_prints(counts: dict[str, WordCounts]) -> None:
    by_float = merge_counts(counts, weights={"en": 0.1, "hi": 0.3, "code": 1})
    assert list(by_float) == list(merge_counts(counts, weights={"en": 1, "hi": 3, "code": 10}))


def test_shares_are_parts_of_the_bytes() -> None:
    sizes = {"a": 300, "b": 100, "c": 7}
    shares = {"a": Fraction(1), "b": Fraction(1), "c": Fraction(0)}
    assert factors_of_shares(shares, sizes) == {"a": 1000, "b": 3000, "c": 0}
    # 1500.5 becomes 1501.
    assert factors_of_shares({"a": Fraction(1), "b": Fraction(1)}, {"a": 3001, "b": 2000}) == {"a": 1000, "b": 1501}


def test_training_tells_the_tokens_of_each_domain(files: dict[str, Path]) -> None:
    tokenizer = bpe()
    told = tokenizer.train(files, trainer(), shares={"en": 0.5, "hi": 0.3, "code": 0.2})
    assert list(told) == ["en", "hi", "code"]
    assert math.isclose(sum(domain.share for domain in told.values()), 1)
    for domain, share in zip(told.values(), [0.5, 0.3, 0.2], strict=True):
        assert math.isclose(domain.share, share, rel_tol=1e-3)
    for name, path in files.items():
        text = path.read_text(encoding="utf-8")
        ids = tokenizer.encode(text).ids
        size = sum(len(word.encode()) for word in text.split())
        assert told[name] == DomainTokens(
            factor=told[name].factor,
            share=told[name].share,
            bytes=size,
            tokens=len(ids),
            used=len(set(ids)),
            bytes_per_token=size / len(ids),
            used_share=len(set(ids)) / tokenizer.get_vocab_size(),
            words_without_tokens=0,
        )


def test_bytes_of_byte_level_words_are_those_of_the_text(files: dict[str, Path]) -> None:
    tokenizer = bpe(pre_tokenizers.ByteLevel(add_prefix_space=False))
    told = tokenizer.train(files, trainers.BpeTrainer(vocab_size=40, show_progress=False))
    assert [domain.bytes for domain in told.values()] == [path.stat().st_size for path in files.values()]


def test_words_without_tokens_are_counted(files: dict[str, Path]) -> None:
    tokenizer = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = SPLIT
    how = trainers.WordLevelTrainer(vocab_size=1, special_tokens=[], show_progress=False)
    told = tokenizer.train(files, how)
    assert [(domain.tokens, domain.words_without_tokens) for domain in told.values()] == [(2, 1), (1, 2), (0, 1)]
    assert told["code"].bytes_per_token is None


@pytest.mark.parametrize("memory", [None, "64MB"])
def test_bounded_memory_and_threads_do_not_show(memory: str | None, files: dict[str, Path]) -> None:
    texts = []
    for threads in (1, 2):
        tokenizer = bpe()
        given = {"en": [files["en"]], "hi": files["hi"], "code": str(files["code"])}
        tokenizer.train(given, trainer(), weights={"hi": 1.5}, max_memory=memory, num_threads=threads)
        texts.append(tokenizer.to_str())
    plain = bpe()
    plain.train(files, trainer(), weights={"hi": Fraction(3, 2)})
    assert texts == [plain.to_str()] * 2


def test_min_frequency_is_compared_with_weighted_counts(files: dict[str, Path]) -> None:
    tokenizer = bpe()
    tokenizer.train({"en": files["en"]}, trainer(min_frequency=4))
    assert tokenizer.get_vocab_size() == 3
    tokenizer.train({"en": files["en"]}, trainer(min_frequency=4), weights={"en": 2})
    assert tokenizer.get_vocab_size() == 4


def test_an_error_leaves_the_model_as_it_was(files: dict[str, Path]) -> None:
    tokenizer = bpe()
    tokenizer.train(files, trainer())
    before = tokenizer.to_str()

    def stop(stage: str, *_: object) -> None:
        if stage == "measure domains":
            raise KeyError(stage)

    with pytest.raises(KeyError, match="measure domains"):
        tokenizer.train(files, trainer(min_frequency=9), on_progress=stop)
    assert tokenizer.to_str() == before


def test_progress_names_the_stages(files: dict[str, Path]) -> None:
    stages: dict[str, None] = {}
    bpe().train(files, trainer(), on_progress=lambda stage, *_: stages.setdefault(stage))
    assert {"count words", "merge pairs", "measure domains"} <= set(stages)


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"weights": {"fr": 1}}, "weights has 'fr' but must name domains: 'en', 'hi', 'code'"),
    ({"weights": {"en": -1}}, r"weights\['en'\] is -1 but must be an int, a Fraction or a finite float, at least 0"),
    ({"weights": {"en": math.nan}}, r"weights\['en'\] is nan but"),
    ({"weights": {"en": True}}, r"weights\['en'\] is True but"),
    ({"weights": {"en": "3"}}, r"weights\['en'\] is '3' but"),
    ({"weights": {"en": 0, "hi": 0, "code": 0.0}}, "weights is 0 for every domain"),
    ({"weights": {"en": 2**63}}, "more than 18446744073709551615 in all.*round them"),
    ({"weights": {"en": 1e-300}}, "more than 18446744073709551615 in all"),
    ({"shares": {"en": 1}}, "shares has no 'hi' but must name every domain"),
    ({"shares": {"en": 0, "hi": 0, "code": 0}}, "shares is 0 for every domain"),
    ({"shares": {"en": 1}, "weights": {"en": 1}}, "weights and shares are both given"),
]


@pytest.mark.parametrize(("options", "message"), WRONG)
def test_wrong_weights_are_refused(
    options: dict[str, Any], message: str, files: dict[str, Path], counts: dict[str, WordCounts]
) -> None:
    for call in (
        lambda: bpe().train(files, trainer(), **options),
        lambda: bpe().train_from_counts(counts, trainer(), **options),
        lambda: merge_counts(counts, **options),
    ):
        with pytest.raises(errors.OptionError, match=message):
            call()


def test_weights_need_domains(files: dict[str, Path], counts: dict[str, WordCounts]) -> None:
    with pytest.raises(errors.OptionError, match="there are no domains"):
        bpe().train({}, trainer())
    untyped: Any = bpe()
    for call in (
        lambda: untyped.train(list(files.values()), trainer(), weights={"en": 2}),
        lambda: untyped.train_from_counts(counts["en"], trainer(), shares={"en": 2}),
    ):
        with pytest.raises(errors.OptionError, match="the texts have no domains; pass a dictionary"):
            call()
    with pytest.raises(errors.OptionError, match="the counts have no names; pass a dictionary"):
        merge_counts(list(counts.values()), weights={"en": 2})


def test_a_domain_without_words_is_refused(tmp_path: Path, files: dict[str, Path]) -> None:
    (tmp_path / "empty").write_text("\n")
    with pytest.raises(errors.EmptyCorpusError, match="the domain 'fr' holds no words: 1 texts, 1 bytes were read"):
        bpe().train({**files, "fr": tmp_path / "empty"}, trainer())


def test_domains_of_other_stages_are_refused(files: dict[str, Path], counts: dict[str, WordCounts]) -> None:
    other = count_words(files["hi"], pre_tokenizer=pre_tokenizers.Whitespace())
    with pytest.raises(errors.LexmillError, match="the pre-tokenizer differs"):
        merge_counts({"en": counts["en"], "hi": other})


def test_a_wrong_trainer_is_refused_before_counting(files: dict[str, Path]) -> None:
    with pytest.raises(errors.OptionError, match="UnigramTrainer can only train a Unigram"):
        bpe().train({**files, "fr": Path("missing")}, trainers.UnigramTrainer())


def test_trimmed_counts_are_not_mixed(counts: dict[str, WordCounts]) -> None:
    with pytest.raises(errors.LexmillError, match="rare words are missing"):
        merge_counts({"en": counts["en"].trim(2), "hi": counts["hi"]})
