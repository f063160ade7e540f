"""Token files as Ray and Spark read them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from clusters import texts, trained

from lexmill import tokenize_files

TEXTS = texts(3, 200)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS), encoding="utf-8")
    return path


def expected() -> list[list[int]]:
    tokenizer = trained()
    return sorted(ids for text in TEXTS if (ids := tokenizer.encode(text).ids))


def test_spark_reads_parquet_with_signed_ids(spark_session: Any, corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "tokens"
    tokenize_files(trained(), corpus, out, format="parquet", signed=True, part_bytes=20_000)
    frame = spark_session.read.parquet(*map(str, sorted(out.glob("*.parquet"))))
    assert frame.schema.simpleString() == "struct<input_ids:array<int>>"
    assert sorted(row.input_ids for row in frame.collect()) == expected()


@pytest.mark.usefixtures("ray_cluster")
@pytest.mark.parametrize("is_signed", [False, True])
def test_ray_reads_parquet(corpus: Path, tmp_path: Path, is_signed: bool) -> None:
    import ray

    out = tmp_path / "tokens"
    tokenize_files(trained(), corpus, out, format="parquet", signed=is_signed, part_bytes=20_000)
    dataset = ray.data.read_parquet([str(path) for path in sorted(out.glob("*.parquet"))])
    assert sorted(list(ids) for ids in dataset.to_pandas()["input_ids"]) == expected()
