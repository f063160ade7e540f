"""Files counted and tokenized by Ray and by Spark: the bytes of one machine, also after a worker was killed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from clusters import BYTE_LEVEL, Cluster, corpus, saved, texts, trained, tree

from killed_sources import KilledOnce, Logged
from lexmill import WordCounts, count_words, errors, normalizers, open_tokens, pre_tokenizers, tokenize_files
from lexmill._engines.groups import plan
from lexmill.sources import JsonLines, Lines

SPLIT = "30KB"
"""Divides the files of `sources` into four groups, two of several files."""

FORMATS: dict[str, dict[str, Any]] = {
    "megatron": {"end_token": "<|end|>", "part_bytes": 5_000},
    "arrow": {"validation": 0.1, "seed": 7},
    "parquet": {"signed": True},
    "npy": {"pack": 64, "pad_token": 0},
    "mds": {"pack": 64, "packing": "best-fit", "pad_token": 0, "pack_columns": ["position_ids"]},
    "webdataset": {"validation": 0.1},
    "litdata": {"part_bytes": 5_000},
    "arrayrecord": {"part_bytes": 5_000},
    "nanogpt": {"format": "raw", "preset": "nanogpt", "validation": 0.2},
    "datatrove": {"format": "raw", "preset": "datatrove"},
    "dolma": {"format": "raw", "preset": "dolma"},
    "llm.c": {"format": "raw", "preset": "llm.c", "begin_token": "<|end|>"},
}


@pytest.mark.parametrize("group_bytes", [1, SPLIT, "1GB"])
def test_counts_are_those_of_one_process(
    cluster: Cluster, sources: list[Any], tmp_path: Path, group_bytes: int | str
) -> None:
    local = count_words(sources, pre_tokenizer=BYTE_LEVEL, first_source=3)
    counts = cluster.count_words(
        sources, folder=tmp_path / "shared", pre_tokenizer=BYTE_LEVEL, first_source=3, group_bytes=group_bytes
    )
    assert saved(counts, tmp_path) == saved(local, tmp_path)
    expected = {1: 7, SPLIT: len(plan(sources, group_bytes=30_000)), "1GB": 1}
    assert len(list((tmp_path / "shared").iterdir())) == expected[group_bytes]


def test_stages_and_limits_are_those_of_the_call(cluster: Cluster, sources: list[Any], tmp_path: Path) -> None:
    options: dict[str, Any] = {
        "normalizer": normalizers.BertNormalizer(),
        "pre_tokenizer": pre_tokenizers.BertPreTokenizer(),
        "added_tokens": ["a1"],
        "max_memory": "32MB",
    }
    counts = cluster.count_words(sources, folder=tmp_path / "shared", group_bytes=SPLIT, **options)
    assert saved(counts, tmp_path) == saved(count_words(sources, **options), tmp_path)


@pytest.mark.parametrize("layout", FORMATS)
def test_each_group_is_what_one_process_writes(
    cluster: Cluster, sources: list[Any], tmp_path: Path, layout: str
) -> None:
    tokenizer, options = trained(), {"format": layout, **FORMATS[layout]}
    tokens = cluster.tokenize(tokenizer, sources, tmp_path / "out", group_bytes=SPLIT, **options)
    groups = plan(sources, group_bytes=30_000)
    assert 2 < len(groups) < 7
    for group in groups:
        seed = {"seed": options.get("seed", 0) + group.first_source} if "validation" in options else {}
        local = tmp_path / "local" / f"{group.number:05}"
        tokenize_files(tokenizer, group.sources, local, **{**options, **seed})
        assert tree(tmp_path / "out" / local.name) == tree(local)
    manifest = ".manifest.parquet" if layout == "parquet" else "manifest.json"
    folders = {f"{group.number:05}" for group in groups}
    assert {path.name for path in (tmp_path / "out").iterdir()} == folders | {manifest}
    tokens.verify()
    if "validation" not in options and "pack" not in options and layout != "parquet":
        whole = tokenize_files(tokenizer, sources, tmp_path / "whole", **options)
        assert len(tokens) == len(whole)
        assert tokens.tokens == whole.tokens
        assert [window.tolist() for window in tokens.windows(1000)] == [
            window.tolist() for window in whole.windows(1000)
        ]
    if layout in ("megatron", "datatrove"):
        assert [ids.tolist() for ids in tokens] == [ids.tolist() for ids in whole]


def long_files(folder: Path) -> list[Path]:
    """Three files, each longer than what a pipe holds."""
    made = []
    for number in range(3):
        path = folder / f"{number}.txt"
        path.write_text("\n".join(texts(number, 6_000)), encoding="utf-8")
        made.append(path)
    return made


def test_counts_are_the_same_after_a_worker_was_killed(cluster: Cluster, tmp_path: Path) -> None:
    files = long_files(tmp_path)
    killed = KilledOnce(files, marker=str(tmp_path / "killed"))
    counts = cluster.count_words([killed], folder=tmp_path / "shared", pre_tokenizer=BYTE_LEVEL, group_bytes=1)
    assert (tmp_path / "killed").exists()
    assert saved(counts, tmp_path) == saved(count_words(files, pre_tokenizer=BYTE_LEVEL), tmp_path)
    assert all(name.endswith(".counts") for name in tree(tmp_path / "shared"))
    assert len(list((tmp_path / "shared").iterdir())) == 3


def test_tokens_are_the_same_after_a_worker_was_killed(cluster: Cluster, tmp_path: Path) -> None:
    files, tokenizer = long_files(tmp_path), trained()
    killed = KilledOnce(files, marker=str(tmp_path / "killed"))
    options: dict[str, Any] = {"part_bytes": 20_000, "end_token": "<|end|>"}
    tokens = cluster.tokenize(tokenizer, [killed], tmp_path / "out", group_bytes=1, **options)
    assert (tmp_path / "killed").exists()
    for number, file in enumerate(files):
        local = tmp_path / "local" / str(number)
        tokenize_files(tokenizer, Lines(file), local, **options)
        assert tree(tmp_path / "out" / f"{number:05}") == tree(local)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["00000", "00001", "00002", "manifest.json"]
    tokens.verify()


def test_a_job_that_is_run_again_does_nothing_twice(cluster: Cluster, tmp_path: Path) -> None:
    files = long_files(tmp_path)
    logged = Logged(files, log=str(tmp_path / "log"))
    first = cluster.count_words([logged], folder=tmp_path / "shared", group_bytes=1)
    cluster.tokenize(trained(), [logged], tmp_path / "out", group_bytes=1)
    assert sorted((tmp_path / "log").read_text().split()) == sorted(2 * [str(file) for file in files])
    # One of each is lost.
    next((tmp_path / "shared").iterdir()).unlink()
    (tmp_path / "out" / "00001" / "part-00000.bin").unlink()
    before = tree(tmp_path / "out")
    (tmp_path / "log").unlink()
    again = cluster.count_words([logged], folder=tmp_path / "shared", group_bytes=1)
    tokens = cluster.tokenize(trained(), [logged], tmp_path / "out", group_bytes=1, resume=True)
    assert len((tmp_path / "log").read_text().split()) == 2
    assert saved(again, tmp_path) == saved(first, tmp_path)
    assert {name: data for name, data in tree(tmp_path / "out").items() if name in before} == before
    tokens.verify()


def test_errors_of_workers_keep_their_types(cluster: Cluster, tmp_path: Path) -> None:
    (tmp_path / "0.jsonl").write_text('{"text": "a"}\n', encoding="utf-8")
    (tmp_path / "1.jsonl").write_text('{"text": "a"}\n{"text": 1}\n', encoding="utf-8")
    files = [tmp_path / "0.jsonl", tmp_path / "1.jsonl"]
    with pytest.raises(errors.FormatError, match=r"1\.jsonl, line 2"):
        cluster.count_words(JsonLines(files), folder=tmp_path / "shared", group_bytes=1)
    with pytest.raises(errors.FormatError, match=r"1\.jsonl, line 2"):
        cluster.tokenize(trained(), JsonLines(files), tmp_path / "out", group_bytes=1)
    with pytest.raises(errors.OutputError, match="its run is not finished"):
        open_tokens(tmp_path / "out")
    # What the other task has finished by then stays, and nothing else.
    assert [WordCounts.load(path).total for path in (tmp_path / "shared").iterdir()] in ([], [1])
    left = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert left in (["manifest.json"], ["00000", "manifest.json"])
    skipping = JsonLines(files, on_error="skip")
    with pytest.warns(errors.SkippedRecordsWarning, match=r"a record was left out: .*1\.jsonl"):
        counts = cluster.count_words(skipping, folder=tmp_path / "shared", group_bytes=1)
    assert counts.total == 2


def test_the_corpus_has_all_that_it_says(tmp_path: Path) -> None:
    assert len(count_words(corpus(tmp_path), pre_tokenizer=BYTE_LEVEL)) > 400
