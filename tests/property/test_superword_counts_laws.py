from __future__ import annotations

from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexmill import Tokenizer, count_words, merge_counts
from lexmill.models import BPE
from lexmill.pre_tokenizers import ByteLevel
from lexmill.trainers import BpeTrainer, SuperwordOptions
from superword_texts import SIZES, TIES, documents

CUT = ByteLevel(add_prefix_space=False)


def untrained() -> Tokenizer:
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = CUT
    return tokenizer


@pytest.mark.parametrize("algorithm", ["boundless", "superbpe"])
@given(
    parts=st.lists(documents(), min_size=1, max_size=4),
    order=st.randoms(use_true_random=False),
    sizes=SIZES,
    tie_break=TIES,
    max_memory=st.sampled_from([None, "64MB"]),
)
def test_merged_parts_train_as_the_texts_do(
    algorithm: str,
    parts: list[list[str]],
    order: Random,
    sizes: tuple[int, int],
    tie_break: str,
    max_memory: str | None,
) -> None:
    texts = [text for part in parts for text in part] + ["a b"]
    options = SuperwordOptions(30 + sizes[0], algorithm=algorithm)
    trainer = BpeTrainer(vocab_size=30 + sum(sizes), superwords=options, tie_break=tie_break, show_progress=False)
    expected = untrained()
    expected.train_from_iterator(texts, trainer, num_threads=1)
    parts[-1].append("a b")
    counts = [
        count_words(iterator=part, pre_tokenizer=CUT, superwords=options, first_source=number)
        for number, part in enumerate(parts)
    ]
    order.shuffle(counts)
    merged = merge_counts(counts)
    whole = count_words(iterator=texts, pre_tokenizer=CUT, superwords=options)
    assert (len(merged), merged.phrases, merged.total) == (len(whole), whole.phrases, whole.total)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "counts"
        merged.save(path)
        for learnt_from in (merged, type(merged).load(path), whole):
            tokenizer = untrained()
            tokenizer.train_from_counts(learnt_from, trainer, max_memory=max_memory, num_threads=2)
            assert tokenizer.to_str() == expected.to_str()


@pytest.mark.parametrize("algorithm", ["boundless", "superbpe"])
@given(texts=documents(), checkpoint_bytes=st.integers(1, 40))
def test_resumed_parts_count_as_the_whole(algorithm: str, texts: list[str], checkpoint_bytes: int) -> None:
    options = SuperwordOptions(0, algorithm=algorithm)
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "corpus.txt").write_text("".join(text + "\n" for text in texts), encoding="utf-8")
        saved = []
        for checkpoint in (None, folder / "parts"):
            counts = count_words(
                folder / "corpus.txt",
                pre_tokenizer=CUT,
                superwords=options,
                checkpoint=checkpoint,
                checkpoint_bytes=checkpoint_bytes,
            )
            counts.save(folder / "counts")
            saved.append((folder / "counts").read_bytes())
        assert saved[0] == saved[1]
