"""Word counts on disk: bounded memory, parts of a corpus, and what is learnt from them."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lexmill import (
    Tokenizer,
    WordCounts,
    count_words,
    errors,
    merge_counts,
    models,
    normalizers,
    pre_tokenizers,
    trainers,
)
from lexmill.sources import JsonLines, Lines

BYTE_LEVEL = pre_tokenizers.ByteLevel(add_prefix_space=False)


def corpus(folder: Path, files: int, seed: int) -> list[Path]:
    """Files in which each word comes a few times, many tie, and some are long."""
    draw = random.Random(seed)
    words = [draw.choice("abcdeé中 ") * draw.randint(1, 30) + str(number) for number in range(400)]
    made = []
    for number in range(files):
        path = folder / f"{number}.txt"
        lines = [" ".join(draw.choices(words, k=draw.randint(0, 20))) for _ in range(40)]
        path.write_text("\n".join(lines), encoding="utf-8")
        made.append(path)
    return made


def trained(model: Any, trainer: Any, stages: Any, learn: Any) -> str:
    tokenizer = Tokenizer(model)
    tokenizer.normalizer, tokenizer.pre_tokenizer = stages
    learn(tokenizer, trainer)
    return tokenizer.to_str()


TRAINERS = {
    "bpe": lambda: (models.BPE(), trainers.BpeTrainer(vocab_size=400, show_progress=False)),
    "bpe-first-seen": lambda: (
        models.BPE(),
        trainers.BpeTrainer(vocab_size=400, show_progress=False, tie_break="first-seen"),
    ),
    "wordpiece": lambda: (
        models.WordPiece(unk_token="[UNK]"),
        trainers.WordPieceTrainer(vocab_size=400, show_progress=False, special_tokens=["[UNK]"]),
    ),
    "wordpiece-likelihood": lambda: (
        models.WordPiece(unk_token="[UNK]"),
        trainers.WordPieceTrainer(vocab_size=300, show_progress=False, special_tokens=["[UNK]"], score="likelihood"),
    ),
    "unigram": lambda: (models.Unigram(), trainers.UnigramTrainer(vocab_size=150, show_progress=False)),
    "wordlevel": lambda: (
        models.WordLevel(unk_token="[UNK]"),
        trainers.WordLevelTrainer(vocab_size=99, show_progress=False),
    ),
}
STAGES = {
    "byte-level": lambda: (None, BYTE_LEVEL),
    "bert": lambda: (normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()),
    "metaspace": lambda: (normalizers.NFKC(), pre_tokenizers.Metaspace()),
}


@pytest.mark.parametrize("stages", STAGES)
@pytest.mark.parametrize("trainer", TRAINERS)
def test_counts_teach_what_texts_teach(tmp_path: Path, trainer: str, stages: str) -> None:
    files = corpus(tmp_path, 5, 1)
    normalizer, pre_tokenizer = STAGES[stages]()
    counts = count_words(files, normalizer=normalizer, pre_tokenizer=pre_tokenizer, max_memory="64MB")
    parts = [
        count_words([path], normalizer=normalizer, pre_tokenizer=pre_tokenizer, first_source=number)
        for number, path in enumerate(files)
    ]
    random.Random(3).shuffle(parts)
    from_texts = trained(*TRAINERS[trainer](), STAGES[stages](), lambda t, how: t.train([str(f) for f in files], how))
    for given in (counts, merge_counts(parts)):
        assert (
            trained(*TRAINERS[trainer](), STAGES[stages](), lambda t, how, c=given: t.train_from_counts(c, how))
            == from_texts
        )


def test_parts_merged_in_any_order_give_the_same_bytes(tmp_path: Path) -> None:
    files = corpus(tmp_path, 64, 2)
    whole = count_words(files, pre_tokenizer=BYTE_LEVEL)
    whole.save(tmp_path / "whole.counts")
    for number, path in enumerate(files):
        count_words(path, pre_tokenizer=BYTE_LEVEL, first_source=number).save(tmp_path / f"{number}.counts")
    names = [tmp_path / f"{number}.counts" for number in range(64)]
    for seed in range(5):
        random.Random(seed).shuffle(names)
        some = merge_counts(names[: seed + 1], max_memory=0)
        merge_counts([some, *names[seed + 1 :]]).save(tmp_path / "merged.counts")
        assert (tmp_path / "merged.counts").read_bytes() == (tmp_path / "whole.counts").read_bytes()


@pytest.mark.parametrize("threads", [1, 2])
def test_bounded_memory_and_threads_do_not_show(tmp_path: Path, threads: int) -> None:
    draw = random.Random(4)
    path = tmp_path / "many.txt"
    # More distinct words than the tables of 32 MB hold, so that runs are written.
    path.write_text("\n".join(f"{draw.getrandbits(64):x} {draw.randint(0, 9)}" for _ in range(600_000)))
    stages = {"pre_tokenizer": pre_tokenizers.WhitespaceSplit()}
    count_words(path, **stages, max_memory="32MB", num_threads=threads).save(tmp_path / "bounded")
    count_words(Lines(path), **stages).save(tmp_path / "unbounded")
    assert (tmp_path / "bounded").read_bytes() == (tmp_path / "unbounded").read_bytes()


def test_counts_hold_words_counts_and_places(tmp_path: Path) -> None:
    (tmp_path / "1").write_text("b a\na\n")
    (tmp_path / "2").write_text("c b\n")
    counts = count_words(
        [tmp_path / "1", tmp_path / "2"], pre_tokenizer=pre_tokenizers.WhitespaceSplit(), first_source=7
    )
    assert [(word, count, source) for word, count, source, _ in counts] == [("a", 2, 7), ("b", 2, 7), ("c", 1, 8)]
    places = {word: place for word, _, _, place in counts}
    assert places["b"] < places["a"]
    assert (len(counts), counts.total, counts.texts, counts.bytes_read) == (3, 5, 3, 10)
    assert repr(counts) == "WordCounts(words=3, total=5, texts=3)"
    assert json.loads(counts.stages)["pre_tokenizer"] == {"type": "WhitespaceSplit"}
    counts.save(tmp_path / "counts")
    assert list(WordCounts.load(tmp_path / "counts")) == list(counts)


def test_counts_are_arrow_data(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    draw = random.Random(5)
    (tmp_path / "1").write_text(" ".join(f"{draw.getrandbits(20):x}" for _ in range(100_000)))
    counts = count_words(tmp_path / "1", pre_tokenizer=pre_tokenizers.WhitespaceSplit())
    table = pyarrow.table(counts)
    assert table.column_names == ["word", "count", "source", "place"]
    assert len(table.column("word").chunks) > 1
    assert list(zip(*(column.to_pylist() for column in table.columns), strict=True)) == list(counts)


def test_words_of_byte_level_stages_are_those_of_the_model(tmp_path: Path) -> None:
    (tmp_path / "1").write_text("é é\n")
    words = [word for word, *_ in count_words(tmp_path / "1", pre_tokenizer=BYTE_LEVEL)]
    assert sorted(words) == sorted(["Ã©", "ĠÃ©", "Ċ"])


def test_added_tokens_are_words_as_in_a_tokenizer_that_is_trained_again(tmp_path: Path) -> None:
    (tmp_path / "1").write_text("ab<s> ab<x> abab" * 9)
    tokenizers = []
    for _ in range(2):
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = BYTE_LEVEL
        tokenizer.add_special_tokens(["<s>"])
        tokenizer.add_tokens(["<x>"])
        tokenizers.append(tokenizer)
    trainer = trainers.BpeTrainer(vocab_size=30, show_progress=False)
    tokenizers[0].train([str(tmp_path / "1")], trainer)
    with pytest.raises(errors.OptionError, match="the list of added tokens"):
        tokenizers[1].train_from_counts(count_words(tmp_path / "1", pre_tokenizer=BYTE_LEVEL), trainer)
    tokens = tokenizers[1].get_added_tokens_decoder().values()
    counts = count_words(tmp_path / "1", pre_tokenizer=BYTE_LEVEL, added_tokens=tokens)
    tokenizers[1].train_from_counts(counts, trainer)
    assert tokenizers[1].to_str() == tokenizers[0].to_str()


def test_rare_words_are_trimmed_with_their_number(tmp_path: Path) -> None:
    (tmp_path / "1").write_text("a b b c c c")
    counts = count_words(tmp_path / "1", pre_tokenizer=pre_tokenizers.WhitespaceSplit()).trim(2)
    assert [word for word, *_ in counts] == ["b", "c"]
    assert (counts.total, counts.dropped_words, counts.dropped_total) == (5, 1, 1)


def test_iterators_are_counted_before_files(tmp_path: Path) -> None:
    (tmp_path / "1").write_text("b")
    counts = count_words(tmp_path / "1", iterator=["a a", ["b"]], pre_tokenizer=pre_tokenizers.WhitespaceSplit())
    assert [(word, count, source) for word, count, source, _ in counts] == [("a", 2, 0), ("b", 2, 0)]


def test_other_stages_and_damaged_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "1").write_text("a b")
    counts = count_words(tmp_path / "1", pre_tokenizer=BYTE_LEVEL)
    other = count_words(tmp_path / "1")
    tokenizer = Tokenizer(models.BPE())
    with pytest.raises(errors.OptionError, match="the pre-tokenizer of the word counts is"):
        tokenizer.train_from_counts(counts, trainers.BpeTrainer(show_progress=False))
    with pytest.raises(errors.LexmillError, match="cannot be merged: the pre-tokenizer differs"):
        merge_counts([counts, other])
    with pytest.raises(errors.LexmillError, match="no word counts to merge"):
        merge_counts([])
    with pytest.raises(errors.FormatError, match="does not hold word counts"):
        WordCounts.load(tmp_path / "1")
    counts.save(tmp_path / "counts")
    data = (tmp_path / "counts").read_bytes()
    (tmp_path / "cut").write_bytes(data[:-1])
    with pytest.raises(errors.FormatError, match="cut off or damaged"):
        WordCounts.load(tmp_path / "cut")
    with pytest.raises(errors.FileError, match="No such file"):
        WordCounts.load(tmp_path / "none")
    with pytest.raises(errors.FileError, match="write word counts to"):
        count_words(tmp_path / "1", folder=tmp_path / "nowhere")


def test_bad_memory_is_named(tmp_path: Path) -> None:
    (tmp_path / "1").write_text("a b")
    for wrong in ["1 parsec", "", "-1", -1]:
        with pytest.raises(errors.OptionError, match="max_memory is"):
            count_words(tmp_path / "1", max_memory=wrong)
    with pytest.raises(
        errors.OptionError, match="max_memory is 1000000 but must be at least 12582912 bytes for 1 threads"
    ):
        count_words(tmp_path / "1", max_memory="1MB", num_threads=1)


def test_training_that_would_take_too_much_does_not_start(tmp_path: Path) -> None:
    (tmp_path / "1").write_text(" ".join(f"{number:x}" for number in range(20_000)) + " 0" * 9 + " 1 1")
    counts = count_words(tmp_path / "1", pre_tokenizer=pre_tokenizers.WhitespaceSplit())
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    trainer = trainers.BpeTrainer(vocab_size=30, show_progress=False)
    assert 20_000 * 20 < counts.training_memory(trainer) - (24 << 20) < 20_000 * 40
    with pytest.raises(
        errors.OptionError, match=r"max_memory is 25500000 but must be at least .* 20000 distinct words"
    ) as refused:
        tokenizer.train_from_counts(counts, trainer, max_memory="25.5MB")
    needed = counts.trim(2).training_memory(trainer)
    told = f"trim(2) keeps 2 of 20000 words, needs {needed} and drops 19998 of 20011 counted"
    assert told in str(refused.value)
    assert f"at least {counts.training_memory(trainer)}, about what" in str(refused.value)
    assert tokenizer.get_vocab_size() == 0
    with pytest.raises(errors.OptionError, match="as no trimming makes"):
        tokenizer.train_from_counts(counts, trainer, max_memory=1)
    tokenizer.train_from_counts(counts.trim(2), trainer, max_memory="25.5MB")
    assert tokenizer.get_vocab_size() == 2


MEASURE = """
import sys
from lexmill import Tokenizer, WordCounts, models, pre_tokenizers, trainers

def resident(key):
    return next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith(key))

kind, options = sys.argv[2], eval(sys.argv[3])
trainer = getattr(trainers, f"{kind}Trainer" if kind != "BPE" else "BpeTrainer")(show_progress=False, **options)
tokenizer = Tokenizer(getattr(models, kind)())
tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
counts = WordCounts.load(sys.argv[1])
told, before = counts.training_memory(trainer, 2), resident("VmRSS")
tokenizer.train_from_counts(counts, trainer, num_threads=2)
print(told / (resident("VmHWM") - before))
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("BPE", {"vocab_size": 32_000}),
        ("BPE", {"vocab_size": 32_000, "tie_break": "first-seen"}),
        ("WordPiece", {"vocab_size": 32_000}),
        ("WordPiece", {"vocab_size": 32_000, "score": "likelihood"}),
        ("WordLevel", {"vocab_size": 32_000}),
        ("Unigram", {"vocab_size": 32_000}),
    ],
)
def test_the_memory_that_is_told_is_little_more_than_what_training_takes(
    kind: str, options: dict[str, object], tmp_path: Path
) -> None:
    choose = random.Random(5)
    parts = [a + b for a in "bcdfghklmnpqrstvwzéäøß" for b in ("a", "e", "io", "ü", "ou")]
    words = ("".join(choose.choices(parts, k=choose.randrange(2, 7))) for _ in range(1_500_000))
    (tmp_path / "1").write_text(" ".join(words), encoding="utf-8")
    counts = count_words(tmp_path / "1", pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=False))
    counts.save(tmp_path / "counts")
    command = [sys.executable, "-c", MEASURE, str(tmp_path / "counts"), kind, repr(options)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert 1.0 <= float(done.stdout) <= 1.5


def test_counting_tells_progress_and_can_be_stopped(tmp_path: Path) -> None:
    (tmp_path / "1.jsonl").write_text('{"text": "a"}\n' * 9)
    seen: list[tuple[str, int, int, float | None, int | None]] = []
    source = JsonLines(tmp_path / "1.jsonl", field="text")
    count_words(source, on_progress=lambda *progress: seen.append(progress))
    assert seen[-1][:4] == ("count words", 126, 126, 0.0)
    if sys.platform == "linux":
        resident = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        assert 0.5 * resident < seen[-1][4] < 2 * resident

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        count_words(source, on_progress=stop)


def test_no_words_are_no_error_until_something_is_to_be_learnt(tmp_path: Path) -> None:
    (tmp_path / "1").write_text("")
    counts = count_words(tmp_path / "1")
    assert (len(counts), list(counts)) == (0, [])
    with pytest.raises(errors.EmptyCorpusError):
        Tokenizer(models.BPE()).train_from_counts(counts, trainers.BpeTrainer(show_progress=False))
