"""Continued training: golden cases, and tokenizers that keep their ids and learn new tokens."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import lexmill
from continued_tokenizers import KINDS, NEW, OLD, check_peer, failure, trained
from lexmill import Tokenizer, count_words, models, pre_tokenizers, trainers
from lexmill.errors import EmptyCorpusError, OptionError
from lexmill.reference.continued_bpe import continue_bpe
from lexmill.reference.continued_unigram import continue_unigram
from lexmill.reference.continued_wordpiece import continue_wordpiece
from lexmill.reference.replaced import replace_unigram, replace_wordlevel, replace_wordpiece
from lexmill.reference.replaced_bpe import replace_bpe
from lexmill.reference.wordlevel import continue_wordlevel
from lexmill.reports.vocabulary import reach_of, vocabulary_of

CASES: list[dict[str, Any]] = json.loads(Path("tests/golden/continued.json").read_text(encoding="utf-8"))["cases"]


def reference(case: dict[str, Any]) -> Any:
    words, options = [tuple(word) for word in case["words"]], dict(case["options"])
    if "replace" in case:
        return replacing_reference(case, words, {**options, "most": case["replace"]})
    if case["model"] == "BPE":
        merges = [tuple(merge) for merge in case["merges"]]
        vocab, merges = continue_bpe(words, case["vocab"], merges, **options)
        return {"vocab": vocab, "merges": [list(merge) for merge in merges]}
    if case["model"] == "WordPiece":
        return {"vocab": continue_wordpiece(words, case["vocab"], added_tokens=["[UNK]"], **options)}
    if case["model"] == "Unigram":
        pieces = [tuple(piece) for piece in case["vocab"]]
        return {"vocab": [piece for piece, _ in continue_unigram(words, pieces, excluded=["<unk>"], **options)]}
    return {"vocab": continue_wordlevel(words, case["vocab"], **options)}


def replacing_reference(case: dict[str, Any], words: Any, options: dict[str, Any]) -> Any:
    if case["model"] == "BPE":
        merges = [tuple(merge) for merge in case["merges"]]
        vocab, merges, gone = replace_bpe(words, case["vocab"], merges, **options)
        return {"vocab": vocab, "merges": [list(merge) for merge in merges], "replaced": named(gone)}
    if case["model"] == "WordPiece":
        vocab, gone = replace_wordpiece(words, case["vocab"], added_tokens=["[UNK]"], **options)
        return {"vocab": vocab, "replaced": named(gone)}
    if case["model"] == "Unigram":
        pieces, gone = replace_unigram(words, [tuple(piece) for piece in case["vocab"]], unk_id=0, **options)
        return {"vocab": [piece for piece, _ in pieces], "replaced": named(gone)}
    vocab, gone = replace_wordlevel(words, case["vocab"], **options)
    return {"vocab": vocab, "replaced": named(gone)}


def named(replaced: dict[int, str]) -> dict[str, str]:
    """Replaced tokens as JSON has them."""
    return {str(id_): token for id_, token in replaced.items()}


def core(case: dict[str, Any]) -> Any:
    vocab, options = case["vocab"], case["options"]
    model: Any = {
        "BPE": lambda: models.BPE(vocab, [tuple(merge) for merge in case["merges"]]),
        "WordPiece": lambda: models.WordPiece(vocab, unk_token="[UNK]"),
        "Unigram": lambda: models.Unigram([tuple(piece) for piece in vocab], unk_id=0),
        "WordLevel": lambda: models.WordLevel(vocab, unk_token="<unk>"),
    }[case["model"]]()
    trainer = getattr(trainers, case["model"].replace("BPE", "Bpe") + "Trainer")(**options)
    words = [tuple(word) for word in case["words"]]
    most = case.get("replace")
    continued, gone = lexmill._core.continue_training_words(model, words, trainer, replace=most)
    found = json.loads(Tokenizer(continued).to_str())["model"]
    replaced = {} if most is None else {"replaced": named(gone)}
    if case["model"] == "Unigram":
        return {"vocab": [piece for piece, _ in found["vocab"]], **replaced}
    return {**{name: found[name] for name in ("vocab", "merges") if name in found}, **replaced}


@pytest.mark.parametrize("engine", [reference, core])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_golden_cases(case: dict[str, Any], engine: Any) -> None:
    if "error" in case:
        with pytest.raises(OptionError) as caught:
            engine(case)
        assert str(caught.value) == case["error"]
    else:
        assert engine(case) == case["result"]


@pytest.mark.parametrize("kind", KINDS)
def test_ids_templates_and_old_text_stay(kind: str) -> None:
    tokenizer = trained(kind)
    before, old = tokenizer.get_vocab(), tokenizer.encode(OLD[0]).ids
    size = tokenizer.get_vocab_size() + 20
    tokenizer.continue_training_from_iterator(NEW, vocab_size=size)
    after = tokenizer.get_vocab()
    assert len(before) < len(after) <= size
    assert before.items() <= after.items()
    assert sorted(after.values()) == list(range(len(after)))
    assert tokenizer.encode("<s>the</s>").ids[:2] == [before["<s>"]] * 2
    if kind != "WordPiece":
        assert tokenizer.encode(OLD[0]).ids == old
    assert max(tokenizer.encode("hund").ids) >= len(before)
    copy = Tokenizer.from_str(tokenizer.to_str())
    assert copy.get_vocab() == after
    assert copy.encode(NEW[1]).ids == tokenizer.encode(NEW[1]).ids


@pytest.mark.external
@pytest.mark.parametrize("kind", KINDS)
def test_the_peer_reads_the_same_ids(kind: str) -> None:
    tokenizer = trained(kind)
    tokenizer.continue_training_from_iterator(NEW, vocab_size=tokenizer.get_vocab_size() + 20)
    check_peer(tokenizer)


@pytest.mark.parametrize("kind", KINDS)
def test_texts_give_every_new_token(kind: str) -> None:
    tokenizer = trained(kind)
    before = set(tokenizer.get_vocab().values())
    tokenizer.continue_training_from_iterator(NEW, vocab_size=tokenizer.get_vocab_size() + 20)
    reach = reach_of(tokenizer, vocabulary_of(tokenizer))
    assert before.issuperset(token.id for token in reach.unreachable)
    if kind != "WordPiece":
        assert before.issuperset(reach.undecided)


@pytest.mark.parametrize("kind", KINDS)
def test_the_present_size_changes_nothing(kind: str) -> None:
    tokenizer = trained(kind)
    before = tokenizer.to_str()
    tokenizer.continue_training_from_iterator(NEW, vocab_size=tokenizer.get_vocab_size())
    assert tokenizer.to_str() == before


@pytest.mark.parametrize("kind", KINDS)
def test_files_iterators_and_counts_teach_the_same(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "new.txt"
    path.write_text("\n".join(NEW) + "\n", encoding="utf-8")
    found = []
    for threads in (1, 3):
        tokenizer = trained(kind)
        size = tokenizer.get_vocab_size() + 20
        tokenizer.continue_training([path], vocab_size=size, num_threads=threads)
        found.append(tokenizer.to_str())
        tokenizer = trained(kind)
        tokenizer.continue_training_from_iterator(NEW, vocab_size=size, num_threads=threads)
        found.append(tokenizer.to_str())
        tokenizer = trained(kind)
        counts = count_words(
            path,
            pre_tokenizer=tokenizer.pre_tokenizer,
            added_tokens=list(tokenizer.get_added_tokens_decoder().values()),
        )
        tokenizer.continue_training_from_counts(counts, vocab_size=size, num_threads=threads)
        found.append(tokenizer.to_str())
    assert len(set(found)) == 1


def test_special_tokens_of_the_trainer_come_first() -> None:
    tokenizer = trained("BPE")
    size = tokenizer.get_vocab_size()
    trainer = trainers.BpeTrainer(vocab_size=size + 20, special_tokens=["<new>", "<s>"], show_progress=False)
    tokenizer.continue_training_from_iterator(NEW, trainer)
    assert tokenizer.token_to_id("<new>") == size
    assert tokenizer.encode("der<new>hund", add_special_tokens=False).tokens.count("<new>") == 1


def test_progress_is_told_and_can_end_the_training() -> None:
    tokenizer, stages = trained("Unigram"), []
    tokenizer.continue_training_from_iterator(
        NEW, vocab_size=tokenizer.get_vocab_size() + 20, on_progress=lambda stage, *_: stages.append(stage)
    )
    assert "estimate" in stages

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    tokenizer = trained("BPE")
    before = tokenizer.to_str()
    with pytest.raises(KeyboardInterrupt):
        tokenizer.continue_training_from_iterator(NEW, vocab_size=100, on_progress=interrupt)
    assert tokenizer.to_str() == before


def test_errors_name_the_value_the_limit_and_the_way() -> None:
    assert str(failure("BPE")) == "vocab_size is None but must be a number of tokens if there is no trainer"
    size = trained("BPE").get_vocab_size()
    assert str(failure("BPE", vocab_size=size + 1)).startswith(
        f"vocab_size is {size + 1} but must be at least {size + 7}: the tokenizer has {size} tokens, new special tokens"
    )
    assert "at least 0" in str(failure("BPE", vocab_size=-1))
    assert isinstance(failure("BPE", texts=[], vocab_size=99), EmptyCorpusError)
    assert "UnigramTrainer can only train a Unigram" in str(failure("BPE", trainers.UnigramTrainer()))
    exact = trainers.UnigramTrainer(vocab_size=99, algorithm="exact-loss", show_progress=False)
    assert str(failure("Unigram", exact)).startswith(
        "algorithm is exact-loss but must be em where training is continued"
    )
    sparse = trainers.UnigramTrainer(vocab_size=99, use_sparse_pruning=True, show_progress=False)
    assert str(failure("Unigram", sparse)).startswith("use_sparse_pruning is true but must be false where training")
    shared = trainers.BpeTrainer(vocab_size=99, auto_character_coverage=True, show_progress=False)
    assert str(failure("BPE", shared)).startswith("auto_character_coverage is true but must be false where training")
    phases = trainers.BpeTrainer(vocab_size=99, superwords=trainers.SuperwordOptions(50), show_progress=False)
    assert str(failure("BPE", phases)).startswith(
        "superwords is SuperwordOptions(50) but must be absent where training"
    )
    suffix = trainers.WordPieceTrainer(vocab_size=99, end_of_word_suffix="</w>", show_progress=False)
    assert str(failure("WordPiece", suffix)).startswith("end_of_word_suffix is </w> but must be empty")


def test_counts_of_other_stages_are_refused() -> None:
    tokenizer = trained("BPE")
    counts = count_words(iterator=NEW, pre_tokenizer=pre_tokenizers.ByteLevel())
    with pytest.raises(OptionError, match="the pre-tokenizer of the word counts"):
        tokenizer.continue_training_from_counts(counts, vocab_size=99)


@pytest.mark.parametrize("kind", KINDS)
def test_bounded_memory_teaches_the_same(kind: str, tmp_path: Path) -> None:
    texts = [" ".join(f"{word}{number % 977}" for word in NEW[0].split()) for number in range(40_000)]
    found = []
    for max_memory in (None, "600MB"):
        tokenizer = trained(kind)
        size = tokenizer.get_vocab_size() + 60
        tokenizer.continue_training_from_iterator(
            texts, vocab_size=size, max_memory=max_memory, folder=tmp_path, num_threads=2
        )
        found.append(tokenizer.to_str())
    assert found[0] == found[1]
    assert not list(tmp_path.iterdir())


def test_too_little_memory_is_refused() -> None:
    assert "max_memory" in str(failure("BPE", vocab_size=99, max_memory=1))


@pytest.mark.parametrize("size", [(1 << 30) + 1, (1 << 63) - 1])
def test_a_size_beyond_all_ids_is_refused_as_given(size: int) -> None:
    for replace in (None, "unused"):
        message = f"vocab_size is {size} but must be at most {1 << 30}"
        assert str(failure("BPE", vocab_size=size, replace=replace)) == message


def test_new_tokens_have_as_many_words_as_allowed() -> None:
    def tokenizer() -> Tokenizer:
        made = Tokenizer(models.BPE())
        made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
        options: dict[str, Any] = {"initial_alphabet": pre_tokenizers.ByteLevel.alphabet(), "show_progress": False}
        made.train_from_iterator(["by the way"], trainers.BpeTrainer(vocab_size=256, **options))
        return made

    def longest(**options: Any) -> int:
        made = tokenizer()
        made.continue_training_from_iterator(["by the way by the way"] * 9, vocab_size=290, **options)
        return max(len(token.replace("\u0120", " ").split()) for token in made.get_vocab())

    assert longest() == 6
    assert longest(max_words=2) == 2
    assert longest(max_words=1) == 1
    assert "max_words is 2 but must be None" in str(failure("Unigram", vocab_size=99, max_words=2))
    assert "max_words is -2 but must be at least 0" in str(failure("BPE", vocab_size=99, max_words=-2))
