"""What a corpus will take, told from a sample."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

import pytest

from lexmill import count_words, errors, pre_tokenizers
from lexmill.estimation import estimate
from lexmill.sources import JsonLines


def corpus(path: Path, lines: int) -> None:
    draw = random.Random(1)
    numbers = (draw.paretovariate(0.7) for _ in range(lines * 10))
    words = [f"{min(int(number), 10**12):x}" for number in numbers]
    path.write_text("".join(" ".join(words[at : at + 10]) + "\n" for at in range(0, len(words), 10)))


def test_a_sample_tells_the_size_of_the_whole(tmp_path: Path) -> None:
    corpus(tmp_path / "1", 60_000)
    cut = pre_tokenizers.WhitespaceSplit()
    counts = count_words(tmp_path / "1", pre_tokenizer=cut)
    told = estimate(tmp_path / "1", pre_tokenizer=cut, sample=400_000)
    assert told.bytes == (tmp_path / "1").stat().st_size
    assert told.sampled_bytes < told.bytes / 2
    assert 0.9 < told.words / counts.total < 1.1
    assert 0.8 < told.distinct_words / len(counts) < 1.3
    assert 0.7 < told.training_memory / counts.training_memory() < 1.4
    assert told.longest[0][1] >= told.longest[-1][1] > 0
    assert told.counting_seconds > 0


def test_small_and_compressed_files_are_read_whole(tmp_path: Path) -> None:
    text = "".join(json.dumps({"text": f"a b {number}"}) + "\n" for number in range(50))
    (tmp_path / "1.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    told = estimate(JsonLines(tmp_path / "*.gz"), pre_tokenizer=pre_tokenizers.WhitespaceSplit())
    assert (told.words, told.distinct_words) == (150, 52)


@pytest.mark.parametrize("is_byte_level", [False, True])
def test_the_longest_words_are_text_and_their_lengths_bytes(tmp_path: Path, is_byte_level: bool) -> None:
    (tmp_path / "1").write_text("日本語 und abcdefgh\n", encoding="utf-8")
    cut = pre_tokenizers.ByteLevel(add_prefix_space=False) if is_byte_level else pre_tokenizers.WhitespaceSplit()
    told = estimate(tmp_path / "1", pre_tokenizer=cut)
    blank = " " if is_byte_level else ""
    expected = [("日本語", 9), (f"{blank}abcdefgh", 8 + is_byte_level), (f"{blank}und", 3 + is_byte_level)]
    assert sorted(told.longest[:3]) == sorted(expected)


def test_what_cannot_be_estimated_is_named(tmp_path: Path) -> None:
    with pytest.raises(errors.FileError, match="cannot open"):
        estimate(tmp_path / "none")
    with pytest.raises(errors.OptionError, match="files is '/dev/null' but must be files that can be read again"):
        estimate("/dev/null")
    (tmp_path / "empty").write_text("")
    with pytest.raises(errors.EmptyCorpusError, match="the sample holds no words"):
        estimate(tmp_path / "empty")
