from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from typing import Any

import pytest

from cases import load_cases, pairs
from engines import Engine
from lexmill import AddedToken, Tokenizer, models, pre_tokenizers, trainers
from lexmill.errors import EmptyCorpusError, OptionError, OptionRangeError

ENGLISH = ["low lower lowest", "new newer newest"]
GERMAN = ["klein kleiner", "neu neuer neueste"]


def tokenizer(model: Any = None) -> Tokenizer:
    made = Tokenizer(model or models.BPE())
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return made


def trainer(**options: Any) -> trainers.ParityBpeTrainer:
    return trainers.ParityBpeTrainer(**{"show_progress": False, "num_merges": 12, **options})


@pytest.mark.parametrize("case", load_cases("parity_bpe.json"))
@pytest.mark.parametrize("threads", [1, 3])
def test_golden(engine: Engine, case: dict[str, Any], threads: int) -> None:
    corpora, dev = ([pairs(words) for words in case[key] or []] for key in ("corpora", "dev"))
    learnt = engine.train_parity_bpe(corpora, dev or None, num_threads=threads, **case["options"])
    assert learnt == (case["vocab"], pairs(case["merges"]))


@pytest.mark.parametrize(
    ("dev", "options", "message"),
    [
        (1, {}, "number of dev sets is 1 but must be 2"),
        (None, {"ratio": [1.0]}, "length of ratio is 1 but must be 2"),
        (None, {"ratio": [1.0, 0.0]}, "ratio is 0 but must be a finite number above 0"),
        (None, {"ratio": [-1.0, 1.0]}, "ratio is -1 but must be a finite number above 0"),
        (None, {"variant": "windows"}, "Unknown variant 'windows'. Use 'base' or 'window'."),
        (None, {"variant": "window", "window_size": 0}, "window_size is 0 but must be at least 1"),
        (None, {"variant": "window", "alpha": 0.0}, "alpha is 0 but must be a finite number above 0"),
        (None, {"variant": "window", "alpha": float("inf")}, "alpha is inf but must be a finite number above 0"),
    ],
    ids=str,
)
def test_option_out_of_range_is_refused(engine: Engine, dev: int | None, options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError) as raised:
        engine.train_parity_bpe([[("ab", 1)]] * 2, None if dev is None else [[("ab", 1)]] * dev, **options)
    assert str(raised.value) == message


def test_no_corpus_is_refused(engine: Engine) -> None:
    with pytest.raises(OptionError, match="number of corpora is 0 but must be at least 1"):
        engine.train_parity_bpe([], None)


def test_options_that_the_variant_does_not_use_are_not_checked(engine: Engine) -> None:
    learnt = engine.train_parity_bpe([[("ab", 1)]], None, window_size=0, alpha=-1.0)
    assert learnt == (["a", "b", "ab"], [("a", "b")])
    assert engine.train_parity_bpe([[("ab", 1)]], [[("b", 1)]], ratio=[0.0, 1.0]) == learnt


def test_training_makes_a_plain_bpe_model() -> None:
    made = tokenizer(models.BPE(unk_token="<unk>", dropout=0.5))
    special = AddedToken("<s>", lstrip=True)
    trained = trainer(special_tokens=[special], end_of_word_suffix="</w>").train_from_iterator(made, [ENGLISH, GERMAN])
    assert trained is None
    assert made.token_to_id("<s>") == 0
    assert made.get_added_tokens_decoder()[0].lstrip
    assert isinstance(made.model, models.BPE)
    assert (made.model.unk_token, made.model.dropout, made.model.end_of_word_suffix) == (None, None, "</w>")
    assert "".join(made.encode("newest").tokens) == "newest</w>"


def test_another_kind_of_model_gives_way() -> None:
    model = models.WordLevel({"a": 0}, unk_token="a")
    made = tokenizer(model)
    trainer().train_from_iterator(made, [ENGLISH, GERMAN])
    assert isinstance(made.model, models.BPE)
    assert (type(model), model.unk_token) == (models.WordLevel, "a")


def test_a_shared_model_is_trained_for_all() -> None:
    model = models.BPE()
    one, other = tokenizer(model), tokenizer(model)
    trainer().train_from_iterator(one, [ENGLISH, GERMAN])
    assert one.get_vocab() == other.get_vocab() != {}


def test_texts_come_one_by_one_or_in_lists() -> None:
    one, other = tokenizer(), tokenizer()
    trainer().train_from_iterator(one, [iter(ENGLISH), GERMAN], dev_iterators=[ENGLISH, GERMAN])
    trainer().train_from_iterator(other, ([ENGLISH[:1], ENGLISH[1:]], (text for text in GERMAN)), [[ENGLISH], [GERMAN]])
    assert one.to_str() == other.to_str()


def test_ratio_of_the_call_comes_before_that_of_the_trainer() -> None:
    one, other = tokenizer(), tokenizer()
    trainer(ratio=[1.0, 9.0]).train_from_iterator(one, [ENGLISH, GERMAN])
    trainer(ratio=[9.0, 1.0]).train_from_iterator(other, [ENGLISH, GERMAN], ratio=[1.0, 9.0])
    assert one.to_str() == other.to_str()
    trainer(ratio=[9.0, 1.0]).train_from_iterator(other, [ENGLISH, GERMAN])
    assert one.to_str() != other.to_str()


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_do_not_change_the_result(threads: int) -> None:
    one, other = tokenizer(), tokenizer()
    trainer().train_from_iterator(one, [ENGLISH * 9, GERMAN])
    trainer().train_from_iterator(other, [ENGLISH * 9, GERMAN], num_threads=threads)
    assert one.to_str() == other.to_str()


def test_an_empty_language_is_passed_over_and_no_words_at_all_are_an_error() -> None:
    made = tokenizer()
    trainer().train_from_iterator(made, [[], GERMAN, [""]])
    before = made.to_str()
    with pytest.raises(EmptyCorpusError):
        trainer().train_from_iterator(made, [[], [" "]], dev_iterators=[ENGLISH, GERMAN])
    assert made.to_str() == before


def test_an_error_in_an_iterator_leaves_the_model() -> None:
    def broken() -> Iterator[str]:
        yield "new"
        raise RuntimeError("boom")

    made = tokenizer()
    for train, dev in (([broken(), GERMAN], None), ([ENGLISH, GERMAN], [ENGLISH, broken()])):
        with pytest.raises(RuntimeError, match="boom"):
            trainer().train_from_iterator(made, train, dev)
    assert made.get_vocab_size() == 0


def test_arguments_of_a_wrong_type_are_refused() -> None:
    made: Any = tokenizer()
    any_trainer: Any = trainer()
    with pytest.raises(TypeError):
        any_trainer.train_from_iterator(models.BPE(), [ENGLISH])
    with pytest.raises(TypeError):
        any_trainer.train_from_iterator(made, "text")
    with pytest.raises(TypeError):
        any_trainer.train_from_iterator(made, [[3]])
    with pytest.raises(TypeError):
        made.train_from_iterator(ENGLISH, any_trainer)
    assert not isinstance(any_trainer, trainers.Trainer)


def test_options_are_read_and_set() -> None:
    made: Any = trainers.ParityBpeTrainer()
    values = {
        "num_merges": (32_000, 5),
        "min_frequency": (0, 2),
        "global_merges": (0, 3),
        "window_size": (100, 7),
        "alpha": (2.0, 0.5),
        "total_symbols": (False, True),
        "show_progress": (True, False),
        "limit_alphabet": (None, 9),
        "initial_alphabet": ([], ["a", "é"]),
        "continuing_subword_prefix": (None, "##"),
        "end_of_word_suffix": (None, "</w>"),
        "max_token_length": (None, 6),
    }
    for name, (default, value) in values.items():
        assert getattr(made, name) == default, name
        setattr(made, name, value)
        assert getattr(made, name) == value, name
    assert made.variant == "base"
    with pytest.raises(AttributeError):
        made.variant = "window"
    made.special_tokens = ["<s>"]
    assert [token.content for token in made.special_tokens] == ["<s>"]
    for wrong in (3, "x"):
        with pytest.raises(TypeError):
            made.special_tokens = [wrong] if wrong == 3 else wrong
    with pytest.raises(OptionRangeError):
        made.num_merges = -1
    with pytest.raises(OptionError):
        made.initial_alphabet = ["ab"]


def test_repr_names_the_options_of_the_method() -> None:
    assert repr(trainers.ParityBpeTrainer(5, "window", alpha=0.5)) == (
        'ParityBpeTrainer(num_merges=5, variant="window", min_frequency=0, global_merges=0, window_size=100, '
        "alpha=0.5, total_symbols=false)"
    )


def test_pickles_and_copies_keep_every_option() -> None:
    special = [AddedToken("<s>", lstrip=True), "b"]
    made = trainers.ParityBpeTrainer(
        5, "window", 2, [1.0, 2.5], 3, 7, 0.5, True, special, False, 9, ["a", "b"], "##", "</w>", 6
    )
    state = made.__getstate__()
    for other in (pickle.loads(pickle.dumps(made)), copy.copy(made), copy.deepcopy(made)):
        assert repr(other.__getstate__()) == repr(state)
        assert other.special_tokens[0].lstrip
    with pytest.raises(KeyError, match="num_merges"):
        made.__setstate__({})
    made.__setstate__({**state, "special_tokens": ["<s>"], "num_merges": 8})
    assert (made.num_merges, [token.content for token in made.special_tokens]) == (8, ["<s>"])
