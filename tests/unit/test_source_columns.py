"""Texts from columns of Parquet files, of Arrow files and of Arrow objects."""

from __future__ import annotations

import gzip
import io
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lexmill import Tokenizer
from lexmill.errors import FileError, FormatError, InputTypeError, SkippedRecordsWarning
from lexmill.models import BPE
from lexmill.sources import Arrow, ArrowStream, JsonLines, Parquet, Source
from lexmill.trainers import BpeTrainer
from source_texts import COMPRESSIONS, TEXTS, as_json, trained


@pytest.fixture(params=COMPRESSIONS)
def compress(request: pytest.FixtureRequest) -> Callable[[bytes], bytes]:
    return COMPRESSIONS[request.param]


class TestColumns:
    """Columns of Parquet and Arrow, as pyarrow writes them."""

    @pytest.fixture
    def table(self) -> Any:
        pa = pytest.importorskip("pyarrow")
        columns = {
            "text": TEXTS,
            "meta": [{"text": text, "n": 1} for text in TEXTS],
            "large": pa.array(TEXTS, pa.large_string()),
            "view": pa.array(TEXTS, pa.string_view()),
            "binary": [text.encode() for text in TEXTS],
            "dictionary": pa.array(TEXTS).dictionary_encode(),
            "id": range(len(TEXTS)),
        }
        return pa.table(columns)

    NAMES = ("text", "meta.text", "large", "view", "binary", "dictionary")

    def as_arrow(self, table: Any, kind: str, compression: str | None) -> bytes:
        ipc = pytest.importorskip("pyarrow.ipc")
        stream = io.BytesIO()
        options = ipc.IpcWriteOptions(compression=compression)
        with getattr(ipc, f"new_{kind}")(stream, table.schema, options=options) as writer:
            writer.write_table(table, max_chunksize=5000)
        return stream.getvalue()

    @pytest.mark.parametrize("compression", ["none", "snappy", "zstd", "gzip", "lz4"])
    @pytest.mark.parametrize("options", [{}, {"data_page_version": "2.0", "row_group_size": 999}])
    def test_parquet(self, table: Any, compression: str, options: dict[str, Any], tmp_path: Path) -> None:
        parquet = pytest.importorskip("pyarrow.parquet")
        parquet.write_table(table, tmp_path / "x", compression=compression, data_page_size=9999, **options)
        for name in self.NAMES:
            assert list(Parquet(tmp_path / "x", column=name)) == TEXTS, name

    @pytest.mark.parametrize("kind", ["file", "stream"])
    @pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
    def test_arrow(
        self, table: Any, kind: str, compression: str | None, compress: Callable[[bytes], bytes], tmp_path: Path
    ) -> None:
        data = compress(self.as_arrow(table, kind, compression))
        (tmp_path / "x").write_bytes(data)
        for name in self.NAMES:
            assert list(Arrow(tmp_path / "x", column=name)) == TEXTS, name
        program = "from lexmill.sources import Arrow; print(sum(len(text) for text in Arrow('-')))"
        done = subprocess.run([sys.executable, "-c", program], input=data, capture_output=True, check=True)
        assert int(done.stdout) == sum(len(text) for text in TEXTS)

    def test_objects(self, table: Any) -> None:
        for name in self.NAMES:
            assert list(ArrowStream(table, column=name)) == TEXTS, name
            assert list(ArrowStream(table.slice(7), column=name)) == TEXTS[7:], name
        assert list(ArrowStream(table.to_reader())) == TEXTS
        assert list(ArrowStream(table["text"])) == TEXTS
        source = ArrowStream(table)
        assert (source == ArrowStream(table), source == ArrowStream(table, column="x")) == (True, False)
        assert hash(source) == hash(ArrowStream(table))
        assert repr(source) == "ArrowStream(data=<pyarrow.lib.Table>, column='text', errors='strict', on_error='raise')"
        assert list(pickle.loads(pickle.dumps(source))) == TEXTS

    def test_polars_and_duckdb(self) -> None:
        polars = pytest.importorskip("polars")
        assert list(ArrowStream(polars.DataFrame({"text": TEXTS}))) == TEXTS
        duckdb = pytest.importorskip("duckdb")
        assert list(ArrowStream(duckdb.sql("select 'a' || range as text from range(3)"))) == ["a0", "a1", "a2"]

    @pytest.mark.parametrize("threads", [1, 2])
    def test_training_learns_the_same(self, table: Any, threads: int, tmp_path: Path) -> None:
        pytest.importorskip("pyarrow.parquet").write_table(table, tmp_path / "p", row_group_size=5000)
        (tmp_path / "a").write_bytes(gzip.compress(self.as_arrow(table, "stream", None)))
        (tmp_path / "j").write_bytes(as_json(TEXTS))
        expected = trained([JsonLines(tmp_path / "j", field="meta.text")], threads)
        for source in [Parquet(tmp_path / "p"), Arrow(tmp_path / "a"), ArrowStream(table)]:
            assert trained([source], threads) == expected, source

    def test_progress_counts_bytes_of_files(self, table: Any, tmp_path: Path) -> None:
        pytest.importorskip("pyarrow.parquet").write_table(table, tmp_path / "p")
        (tmp_path / "a").write_bytes(self.as_arrow(table, "file", "zstd"))
        for source in [Parquet(tmp_path / "p"), Arrow(tmp_path / "a")]:
            seen: list[tuple[object, ...]] = []
            trainer = BpeTrainer(vocab_size=300, show_progress=False)
            Tokenizer(BPE()).train([source], trainer, on_progress=lambda *report, seen=seen: seen.append(report))
            size = Path(source.paths[0]).stat().st_size
            assert [report[1:3] for report in seen if report[0] == "count words"][-1] == (size, size)

    def test_what_is_wrong_is_named(self, table: Any, tmp_path: Path) -> None:
        pa = pytest.importorskip("pyarrow")
        parquet = pytest.importorskip("pyarrow.parquet")
        parquet.write_table(table, tmp_path / "p")
        (tmp_path / "a").write_bytes(self.as_arrow(table, "file", None))
        sources: list[Callable[[str], Source]] = [
            lambda name: Parquet(tmp_path / "p", column=name),
            lambda name: Arrow(tmp_path / "a", column=name),
            lambda name: ArrowStream(table, column=name),
        ]
        for source in sources:
            with pytest.raises(FormatError, match=r"there is no column `nope`, only text, meta\.text"):
                list(source("nope"))
            with pytest.raises(FormatError, match=r"(?i)column `id` holds int64 but must hold strings"):
                list(source("id"))
            with pytest.raises(FormatError, match="column `meta` holds"):
                list(source("meta"))
        nulls = pa.table({"text": ["a", None, b"\xff", "c"]}, schema=pa.schema({"text": pa.binary()}))
        parquet.write_table(nulls, tmp_path / "p")
        (tmp_path / "a").write_bytes(self.as_arrow(nulls, "stream", None))
        for broken in [Parquet, Arrow]:
            path = tmp_path / broken.__name__[0].lower()
            with pytest.raises(FormatError, match=f"{path.name}, row 1: the value is null"):
                list(broken(path))
            with pytest.warns(SkippedRecordsWarning, match="2 records .*row 1: .*row 2: the value is not valid UTF-8"):
                assert list(broken(path, on_error="skip")) == ["a", "c"]
            path.write_bytes(path.read_bytes()[:-100])
            with pytest.raises(FileError, match=f"cannot read .*{path.name}"):
                list(broken(path, on_error="skip"))
            path.write_bytes(b"plain text, and not a little of it")
            with pytest.raises(FileError, match=f"cannot read .*{path.name}"):
                list(broken(path))

    def test_an_error_of_the_producer_is_raised(self, table: Any) -> None:
        pa = pytest.importorskip("pyarrow")

        def batches() -> Iterator[Any]:
            yield table.to_batches()[0]
            message = "the disk is full"
            raise ValueError(message)

        for threads in [1, 2]:
            reader = pa.RecordBatchReader.from_batches(table.schema, batches())
            with pytest.raises(FormatError, match=r"Arrow stream: .*the disk is full"):
                trained([ArrowStream(reader)], threads)


def test_what_is_no_arrow_data_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputTypeError, match="data is of type list but must have __arrow_c_stream__"):
        list(ArrowStream([1]))  # type: ignore[arg-type]
    for source in [Parquet("-"), Parquet(tmp_path / "missing"), Arrow(tmp_path / "missing")]:
        with pytest.raises(FileError, match="cannot open"):
            list(source)
    (tmp_path / "x").write_bytes(b"{}")
    with pytest.raises(FileError, match="it is neither an Arrow file nor an Arrow stream"):
        list(Arrow(tmp_path / "x"))
    with pytest.raises(FileError, match=r"cannot read .*x: "):
        list(Parquet(tmp_path / "x"))
