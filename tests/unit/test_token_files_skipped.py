"""Broken records that are left out and counted, whatever cuts the run short; and runs that one of them has stopped."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from growth import assert_in_proportion
from lexmill import Tokenizer, WordCounts, count_words, merge_token_files, models, open_tokens, tokenize_files
from lexmill.errors import FormatError, InvalidUtf8Error, OutputError, SkippedRecordsWarning
from lexmill.pre_tokenizers import Whitespace
from lexmill.sources import Csv, JsonLines, Lines, Parquet, Source
from token_runs import contents

pytestmark = pytest.mark.filterwarnings("ignore::lexmill.errors.SkippedRecordsWarning")

ROWS = 30_000
OPTIONS: dict[str, Any] = {"part_bytes": 20_000}


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    tokenizer = Tokenizer(models.WordLevel({"a": 0, "b": 1}, unk_token="a"))
    tokenizer.pre_tokenizer = Whitespace()
    return tokenizer


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of several blocks; every third record is broken, also the first and the last ones."""
    folder = tmp_path_factory.mktemp("skipped")
    lines = "".join("{}\n" if at % 3 == 0 else f'{{"text": "{at} a b"}}\n' for at in range(ROWS + 1)).encode()
    (folder / "0.jsonl").write_bytes(lines)
    (folder / "1.jsonl.gz").write_bytes(gzip.compress(lines))
    rows = "".join("7\n" if at % 3 == 0 else f"{at},a b\n" for at in range(ROWS + 1))
    (folder / "2.csv").write_text(f"id,text\n{rows}")
    (folder / "3.jsonl").write_text("{}\n" * 100)
    (folder / "4.csv").write_text("id,text\n" + "7\n" * 100)
    return folder


BROKEN = 3 * (ROWS // 3 + 1) + 200


def sources(folder: Path, **handling: Any) -> list[Source]:
    handling = {"on_error": "skip", **handling}
    made: list[Source] = [JsonLines([folder / "0.jsonl", folder / "1.jsonl.gz"], **handling)]
    # One file of broken records lies between others.
    made += [Csv(folder / "4.csv", **handling), Csv(folder / "2.csv", **handling)]
    return [*made, JsonLines(folder / "3.jsonl", **handling)]


class StopError(Exception):
    """Raised to cut a run short."""


def cut_short(calls: int) -> Any:
    left = [calls]

    def stop(*_: object) -> None:
        left[0] -= 1
        if not left[0]:
            raise StopError

    return stop


@pytest.mark.parametrize("shuffle", [False, True])
def test_they_are_counted_over_interruptions(tmp_path: Path, tokenizer: Tokenizer, folder: Path, shuffle: bool) -> None:
    options = {**OPTIONS, "shuffle": shuffle, "validation": 0.1}
    whole = tokenize_files(tokenizer, sources(folder), tmp_path / "whole", num_threads=1, **options)
    assert whole.manifest["total"]["skipped"] == BROKEN
    parts = whole.manifest["parts"]
    assert sum(part.get("skipped", 0) for part in parts) == BROKEN
    # Two neighbouring parts of about as many records have about as many broken ones.
    assert shuffle or max(part.get("skipped", 0) for part in parts) < BROKEN / 3
    out, interruptions = tmp_path / "out", 0
    for calls in (3, 2, 4, 3, 5, 4):
        try:
            tokenize_files(tokenizer, sources(folder), out, resume=True, on_progress=cut_short(calls), **options)
        except StopError:
            interruptions += 1
    assert interruptions > 1
    with pytest.warns(SkippedRecordsWarning) as told:
        tokenize_files(tokenizer, sources(folder), out, resume=True, **options)
    assert [warning.message.records for warning in told] == [BROKEN]  # type: ignore[union-attr]
    assert contents(out) == contents(tmp_path / "whole")


def test_merged_runs_have_the_sum(tmp_path: Path, tokenizer: Tokenizer, folder: Path) -> None:
    for name in ("1", "2"):
        tokenize_files(tokenizer, sources(folder), tmp_path / name)
    merged = merge_token_files([tmp_path / "1", tmp_path / "2"], tmp_path / "merged")
    assert merged.manifest["total"]["skipped"] == 2 * BROKEN


def test_the_first_ones_are_named_in_the_order_of_files(tmp_path: Path, tokenizer: Tokenizer) -> None:
    for number in range(3):
        (tmp_path / f"{number}.jsonl").write_text('{"text": "a"}\n' * (3 - number) + "{}\n" * 4)
    files = [tmp_path / f"{number}.jsonl" for number in range(3)]
    with pytest.warns(SkippedRecordsWarning) as told:
        tokenize_files(tokenizer, JsonLines(files, on_error="skip"), tmp_path / "out")
    shown = [message.split(",")[0][-7:] for message in str(told[0].message).split(": ", 1)[1].split("; ")]
    assert shown == ["0.jsonl"] * 4 + ["1.jsonl"] * 4 + ["2.jsonl"] * 2 + ["..."]


class TestGoingOn:
    """After a record that is broken, with other handling of such records or with a file that was mended."""

    @pytest.fixture(params=["tokenize", "shuffle", "count"])
    def work(self, request: pytest.FixtureRequest, tokenizer: Tokenizer, tmp_path: Path) -> Any:
        def run(given: Sequence[Source], name: str, **options: Any) -> Any:
            if request.param == "count":
                counts = count_words(
                    given, pre_tokenizer=Whitespace(), checkpoint=tmp_path / name, checkpoint_bytes=20_000, **options
                )
                counts.save(tmp_path / f"{name}.counts")
                return (tmp_path / f"{name}.counts").read_bytes()
            shuffled = request.param == "shuffle"
            tokenize_files(tokenizer, given, tmp_path / name, shuffle=shuffled, part_bytes=10_000, **options)
            # Manifests tell how each input was read.
            return {key: data for key, data in contents(tmp_path / name).items() if key != "manifest.json"}

        return run

    @pytest.fixture
    def files(self, tmp_path: Path) -> list[Path]:
        # More than one block of each: parts are finished before the broken record is read.
        whole, broken = tmp_path / "whole.jsonl", tmp_path / "broken.jsonl"
        whole.write_text('{"text": "a b"}\n' * 200_000)
        broken.write_text('{"text": "b"}\n' * 3 + "{}\n")
        return [whole, broken]

    def stopped(self, work: Any, files: list[Path], error: type[Exception] = FormatError) -> None:
        with pytest.raises(error):
            work([JsonLines(path) for path in files], "out")

    def test_broken_records_may_be_left_out(self, work: Any, files: list[Path]) -> None:
        self.stopped(work, files)
        skipping: list[Source] = [JsonLines(path, on_error="skip") for path in files]
        with pytest.warns(SkippedRecordsWarning, match="a record was left out"):
            resumed = work(skipping, "out", resume=True)
        assert resumed == work(skipping, "other")

    def test_they_may_be_left_out_of_a_file_that_was_begun(self, work: Any, files: list[Path]) -> None:
        with files[0].open("a") as file:
            file.write("{}\n")
        self.stopped(work, files[:1])
        skipping: list[Source] = [JsonLines(files[0], on_error="skip")]
        resumed = work(skipping, "out", resume=True)
        assert resumed == work(skipping, "other")

    def test_invalid_bytes_may_be_replaced(self, work: Any, files: list[Path]) -> None:
        files[1].write_bytes(b"a\xff\n")
        with pytest.raises(InvalidUtf8Error):
            work([Lines(path) for path in files], "out")
        replacing: list[Source] = [Lines(path, errors="replace") for path in files]
        assert work(replacing, "out", resume=True) == work(replacing, "other")

    def test_a_file_that_was_not_begun_may_be_mended_left_out_or_followed(self, work: Any, files: list[Path]) -> None:
        self.stopped(work, files)
        files[1].write_text('{"text": "b a"}\n')
        third = files[0].with_name("third.jsonl")
        third.write_text('{"text": "b"}\n')
        given: list[Source] = [JsonLines(path) for path in [*files, third]]
        assert work(given, "out", resume=True) == work(given, "other")

    def test_a_file_that_was_begun_may_not_change(self, work: Any, files: list[Path]) -> None:
        self.stopped(work, files)
        files[0].write_text('{"text": "a b"}\n' * 200_001)
        with pytest.raises(OutputError, match=r"cannot resume: the input \S*whole\.jsonl had 3200000 bytes but has"):
            work([JsonLines(path) for path in files], "out", resume=True)
        with pytest.raises(OutputError, match=r"cannot resume: an input was \S*whole\.jsonl"):
            work([JsonLines(files[1])], "out", resume=True)


def test_a_finished_run_takes_no_other_inputs(tmp_path: Path, tokenizer: Tokenizer) -> None:
    one, two = tmp_path / "1.jsonl", tmp_path / "2.jsonl"
    one.write_text('{"text": "a"}\n')
    two.write_text('{"text": "b"}\n')
    tokenize_files(tokenizer, JsonLines(one), tmp_path / "out")
    before = contents(tmp_path / "out")
    with pytest.raises(OutputError, match="there were 1 inputs but are 2"):
        tokenize_files(tokenizer, JsonLines([one, two]), tmp_path / "out", resume=True)
    tokenize_files(tokenizer, JsonLines(one, on_error="skip"), tmp_path / "out", resume=True)
    assert contents(tmp_path / "out") == before


def test_a_resumed_count_tells_of_all_records(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text("{}\n" * 5 + '{"text": "a b"}\n' * 300_000 + "{}\n" * 2)

    def counted(**options: Any) -> WordCounts:
        source = JsonLines(path, on_error="skip")
        return count_words(
            source, pre_tokenizer=Whitespace(), checkpoint=tmp_path / "parts", checkpoint_bytes=100_000, **options
        )

    def stop(*_: object) -> None:
        if (tmp_path / "parts" / "part-00000.counts").exists():
            raise StopError

    with pytest.raises(StopError):
        counted(on_progress=stop)
    with pytest.warns(SkippedRecordsWarning, match="7 records were left out"):
        counted(resume=True)
    with pytest.warns(SkippedRecordsWarning, match="7 records were left out by earlier runs"):
        counted(resume=True)


def test_parquet_values_are_counted_over_interruptions(tmp_path: Path, tokenizer: Tokenizer) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    texts = [None if at % 5 == 0 else "a b" for at in range(40_000)]
    pq.write_table(pa.table({"text": texts}), tmp_path / "in.parquet", row_group_size=1000)
    source, out = Parquet(tmp_path / "in.parquet", on_error="skip"), tmp_path / "out"
    with pytest.raises(StopError):
        tokenize_files(tokenizer, source, out, on_progress=cut_short(3), **OPTIONS)
    tokenize_files(tokenizer, source, out, resume=True, **OPTIONS)
    assert open_tokens(out).manifest["total"]["skipped"] == 8000


def test_time_grows_with_the_files_of_a_source(tmp_path: Path, tokenizer: Tokenizer) -> None:
    paths = [tmp_path / f"{number}.jsonl" for number in range(4000)]
    for path in paths:
        path.write_text('{"text": "a"}\n')
    out = tmp_path / "out"

    def run(count: int) -> None:
        tokenize_files(tokenizer, JsonLines(paths[:count]), out, overwrite=True, num_threads=1)

    assert_in_proportion(run, 2000)


def test_manifests_of_earlier_versions_have_no_skipped_records(tmp_path: Path, tokenizer: Tokenizer) -> None:
    (tmp_path / "in.jsonl").write_text('{"text": "a"}\n')
    tokenize_files(tokenizer, JsonLines(tmp_path / "in.jsonl"), tmp_path / "out")
    assert "skipped" not in json.loads((tmp_path / "out" / "manifest.json").read_text())["total"]
