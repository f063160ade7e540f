"""Ray Datasets and Spark data frames: what is trained from their counts, and their texts as ids."""

from __future__ import annotations

import os
import random
import signal
from pathlib import Path
from typing import Any

import pytest
from clusters import BYTE_LEVEL, Cluster, texts, trained

from lexmill import Tokenizer, count_words, errors, models, trainers
from lexmill._engines.frames import pieces

pa = pytest.importorskip("pyarrow")

TEXTS = texts(1, 400)


def shuffled() -> tuple[list[int], list[str]]:
    """The texts in another order, each with its place in the right one."""
    places = list(range(len(TEXTS)))
    random.Random(2).shuffle(places)
    return places, [TEXTS[place] for place in places]


def learnt(counts: Any) -> str:
    """What ties decide by first appearance."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = BYTE_LEVEL
    trainer = trainers.BpeTrainer(vocab_size=500, tie_break="first-seen", show_progress=False)
    tokenizer.train_from_counts(counts, trainer)
    return tokenizer.to_str()


@pytest.fixture(scope="session")
def frame(cluster: Cluster, request: pytest.FixtureRequest) -> Any:
    places, rows = shuffled()
    if cluster.name == "ray":
        import ray

        return ray.data.from_arrow(pa.table({"place": places, "text": rows})).repartition(3)
    session = request.getfixturevalue("spark_session")
    return session.createDataFrame(list(zip(places, rows, strict=True)), "place int, text string").repartition(3)


def test_counts_of_sorted_rows_teach_what_the_texts_teach(cluster: Cluster, frame: Any, tmp_path: Path) -> None:
    local = count_words(iterator=TEXTS, pre_tokenizer=BYTE_LEVEL)
    counts = cluster.count_words(
        frame, order="place", folder=tmp_path / "shared", pre_tokenizer=BYTE_LEVEL, first_source=5
    )
    assert [row[:2] for row in counts] == [row[:2] for row in local]
    assert (counts.texts, min(row[2] for row in counts)) == (len(TEXTS), 5)
    assert learnt(counts) == learnt(local)
    # Another order teaches something else, so the places matter.
    assert learnt(count_words(iterator=shuffled()[1], pre_tokenizer=BYTE_LEVEL)) != learnt(local)
    assert not list((tmp_path / "shared").iterdir())


def test_rows_without_an_order_are_refused(cluster: Cluster, frame: Any, tmp_path: Path) -> None:
    with pytest.raises(errors.OptionError, match="order is missing"):
        cluster.count_words(frame, folder=tmp_path / "shared")
    with pytest.raises(errors.OptionError, match="order is given but sources are files"):
        cluster.count_words([], folder=tmp_path / "shared", order="place")


def rows_of(cluster: Cluster, request: pytest.FixtureRequest, places: list[int | None], rows: list[str]) -> Any:
    if cluster.name == "ray":
        import ray

        table = pa.table({"place": pa.array(places, pa.int64()), "text": pa.array(rows, pa.string())})
        return ray.data.from_arrow(table)
    session = request.getfixturevalue("spark_session")
    return session.createDataFrame(list(zip(places, rows, strict=True)), "place int, text string")


def test_a_frame_without_rows_has_no_words(cluster: Cluster, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    counts = cluster.count_words(rows_of(cluster, request, [], []), order="place", folder=tmp_path)
    assert (len(counts), counts.texts) == (0, 0)


@pytest.mark.parametrize("wrong", ["equal", "null"])
def test_an_order_with_equal_values_is_refused(
    cluster: Cluster, request: pytest.FixtureRequest, tmp_path: Path, wrong: str
) -> None:
    places: list[int | None] = [None, 2, 1] if wrong == "null" else [1, 2, 1]
    reason = "is null in some rows" if wrong == "null" else "has the same value in several rows"
    rows = rows_of(cluster, request, places, ["a", "b", "c"])
    with pytest.raises(errors.OptionError, match=f"order is place, which {reason}"):
        cluster.count_words(rows, folder=tmp_path / "shared", order="place")
    assert not list((tmp_path / "shared").iterdir())


def test_a_dataset_gets_ids(ray_cluster: Cluster, tmp_path: Path) -> None:
    import ray

    import lexmill.ray

    tokenizer, (places, rows) = trained(), shuffled()
    (tmp_path / "tokenizer.json").write_text(tokenizer.to_str(), encoding="utf-8")
    dataset = ray.data.from_arrow(pa.table({"place": places, "text": rows})).repartition(3)
    for given in (tokenizer, tmp_path / "tokenizer.json"):
        found = lexmill.ray.tokenize_dataset(dataset, given, batch_size=50).to_pandas()
        assert len(found) == len(rows)
        for place, text, ids in zip(found["place"], found["text"], found["input_ids"], strict=True):
            assert text == TEXTS[place]
            assert list(ids) == tokenizer.encode(text).ids
    schema = lexmill.ray.tokenize_dataset(dataset, tokenizer, output_column="ids").schema()
    assert schema.names == ["place", "text", "ids"]
    assert schema.types[2].value_type == pa.uint16()


def test_a_killed_worker_changes_no_ids(ray_cluster: Cluster, tmp_path: Path) -> None:
    import ray

    import lexmill.ray

    tokenizer, marker = trained(), tmp_path / "killed"

    def die_once(table: pa.Table) -> pa.Table:
        if not marker.exists():
            marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return table

    dataset = (
        ray.data.from_arrow(pa.table({"text": TEXTS})).repartition(3).map_batches(die_once, batch_format="pyarrow")
    )
    found = lexmill.ray.tokenize_dataset(dataset, tokenizer).to_pandas()
    assert marker.exists()
    expected = sorted(tokenizer.encode(text).ids for text in TEXTS)
    assert sorted(list(ids) for ids in found["input_ids"]) == expected


def test_a_frame_gets_ids(spark_session: Any, tmp_path: Path) -> None:
    import lexmill.spark

    tokenizer, (places, rows) = trained(), shuffled()
    (tmp_path / "tokenizer.json").write_text(tokenizer.to_str(), encoding="utf-8")
    frame = spark_session.createDataFrame(list(zip(places, rows, strict=True)), "place int, text string")
    for given in (tokenizer, tmp_path / "tokenizer.json"):
        made = lexmill.spark.tokenize_frame(frame.repartition(3), given)
        assert made.schema.simpleString() == "struct<place:int,text:string,input_ids:array<int>>"
        found = made.collect()
        assert len(found) == len(rows)
        for row in found:
            assert row.text == TEXTS[row.place]
            assert row.input_ids == tokenizer.encode(row.text).ids
    with pytest.raises(errors.OptionError, match="output_column is text, which the frame has already"):
        lexmill.spark.tokenize_frame(frame, tokenizer, output_column="text")


def test_batches_for_spark_are_cut_by_bytes() -> None:
    batch = pa.record_batch({"text": ["x" * size for size in (10, 1000, 3, 3, 3, 400, 7)]})
    for limit in (1, 100, 450, 5_000):
        found = list(pieces(batch, limit))
        assert pa.Table.from_batches(found).to_pydict() == batch.to_pydict()
        assert all(piece.nbytes <= limit or piece.num_rows == 1 for piece in found)
    assert len(list(pieces(batch, 5_000))) == 1
