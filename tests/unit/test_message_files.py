"""Conversations in token files: ids and masks are the ones of arrays, in each layout and form."""

from __future__ import annotations

import gzip
import importlib.util
import json
import pickle
import struct
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("jinja2")

from lexmill import Tokenizer, merge_token_files, open_tokens, pack_tokens, tokenize_files
from lexmill.errors import (
    FormatError,
    NoLossWarning,
    OptionError,
    OutputError,
    SkippedRecordsWarning,
    SpanError,
    TemplateError,
)
from lexmill.messages import tokenize_message_files, tokenize_messages
from lexmill.sources import ArrowStream, JsonLines, Lines
from message_runs import (
    FORMED,
    FORMS,
    Rows,
    as_lines,
    byte_level,
    conversations,
    end_to_end,
    rows_in,
    rows_of,
    write_chats,
)
from token_runs import contents

CHATS = conversations()
CHAT = [{"role": "user", "content": "ab"}, {"role": "assistant", "content": "cd"}]


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return byte_level()


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_chats(tmp_path_factory.mktemp("chats") / "chats.jsonl", CHATS)


@pytest.fixture(scope="module")
def expected(tokenizer: Tokenizer) -> Rows:
    return rows_of(tokenize_messages(tokenizer, CHATS, "chatml"))


@pytest.mark.parametrize(("format", "preset", "loss"), FORMED)
@pytest.mark.parametrize("part_bytes", [5_000, 1 << 27])
def test_files_hold_ids_and_masks_of_arrays(
    tmp_path: Path,
    tokenizer: Tokenizer,
    source: Path,
    expected: Rows,
    format: Any,
    preset: Any,
    loss: Any,
    part_bytes: int,
) -> None:
    files = tokenize_message_files(
        tokenizer, source, tmp_path, "chatml", loss=loss, format=format, preset=preset, part_bytes=part_bytes
    )
    wanted = end_to_end(expected) if preset == "nanogpt" else expected
    assert rows_in(files) == wanted
    assert rows_in(pickle.loads(pickle.dumps(files))) == wanted
    assert pickle.loads(pickle.dumps(files.mask))[0:0] == []
    files.verify()
    total = files.manifest["total"]
    assert total["loss_tokens"] == sum(sum(mask) for _, mask in expected)
    assert total["no_loss_documents"] == sum(not any(mask) for _, mask in expected) > 0
    assert len(files.manifest["parts"]) > 1 or part_bytes > 5_000
    assert files.mask.dtype == np.uint8


@pytest.mark.parametrize(("format", "preset"), FORMS)
def test_other_forms_are_refused_by_name(
    tmp_path: Path, tokenizer: Tokenizer, source: Path, format: Any, preset: Any
) -> None:
    for loss in {"mask", "labels", "ranges"}.difference(FORMS[format, preset]):
        name = "preset is llm.c" if preset == "llm.c" else f"loss is {loss}"
        with pytest.raises(OptionError, match=f"{name} but must be"):
            tokenize_message_files(tokenizer, source, tmp_path, "chatml", loss=loss, format=format, preset=preset)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_form_is_refused(tmp_path: Path, tokenizer: Tokenizer, source: Path) -> None:
    with pytest.raises(OptionError, match="loss is masks but must be mask, labels or ranges"):
        tokenize_message_files(tokenizer, source, tmp_path, "chatml", loss="masks")  # type: ignore[arg-type]


def test_files_beside_the_ids_are_as_programs_read_them(
    tmp_path: Path, tokenizer: Tokenizer, source: Path, expected: Rows
) -> None:
    mask = [one for _, mask in expected for one in mask]
    labels = [id if one else -100 for ids, mask in expected for id, one in zip(ids, mask, strict=True)]

    def written(loss: Any, **options: Any) -> Path:
        folder = tmp_path / "-".join([loss, *map(str, options.values())])
        tokenize_message_files(tokenizer, source, folder, "chatml", loss=loss, **options)
        return folder

    lengths = [len(ids) for ids, _ in expected]
    for loss, name, code, dtype, values in [
        ("mask", "loss_mask", 1, "u1", mask),
        ("labels", "labels", 4, "<i4", labels),
    ]:
        folder = written(loss, format="megatron")
        assert np.fromfile(folder / f"part-00000.{name}.bin", dtype).tolist() == values
        index = (folder / f"part-00000.{name}.idx").read_bytes()
        magic, version, found, count, entries = struct.unpack_from("<9sQBQQ", index)
        assert (magic, version, found, count, entries) == (b"MMIDIDX\0\0", 1, code, len(lengths), len(lengths) + 1)
        assert np.frombuffer(index, "<i4", count, 34).tolist() == lengths
        offsets = np.frombuffer(index, "<i8", count, 34 + 4 * count)
        assert offsets.tolist() == [sum(lengths[:at]) * np.dtype(dtype).itemsize for at in range(count)]
        array = np.load(written(loss, format="npy") / f"part-00000.{name}.npy")
        assert (array.dtype, array.tolist()) == (np.dtype(dtype), values)
    for preset, name in [("nanogpt", "train.loss_mask.bin"), ("datatrove", "part-00000.ds.loss")]:
        assert np.fromfile(written("mask", format="raw", preset=preset) / name, "u1").tolist() == mask
    assert (
        np.fromfile(written("mask", format="raw", preset="dolma") / "part-00000.loss_mask.npy", bool).tolist() == mask
    )


@pytest.mark.parametrize("format", ["parquet", "arrow"])
def test_columns_are_as_pyarrow_reads_them(
    tmp_path: Path, tokenizer: Tokenizer, source: Path, expected: Rows, format: Any
) -> None:
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    arrays = tokenize_messages(tokenizer, CHATS, "chatml")
    ranges, splits = arrays.ranges()
    starts = [ranges[begin:end, 0].tolist() for begin, end in pairwise(splits)]
    ends = [ranges[begin:end, 1].tolist() for begin, end in pairwise(splits)]
    labels = [[id if one else -100 for id, one in zip(ids, mask, strict=True)] for ids, mask in expected]
    columns: dict[Any, dict[str, list[list[int]]]] = {
        "mask": {"loss_mask": [mask for _, mask in expected]},
        "labels": {"labels": labels},
        "ranges": {"loss_start": starts, "loss_end": ends},
    }
    for loss, wanted in columns.items():
        folder = tmp_path / loss
        tokenize_message_files(tokenizer, source, folder, "chatml", loss=loss, format=format, part_bytes=20_000)
        if format == "parquet":
            table = parquet.read_table(folder)
        else:
            streams = [pa.ipc.open_stream(path).read_all() for path in sorted(folder.glob("*.arrow"))]
            table = pa.concat_tables(streams)
        assert table.column_names == ["input_ids", *wanted]
        assert table.to_pydict() == {"input_ids": [ids for ids, _ in expected], **wanted}
        kind = pa.uint8() if loss == "mask" else pa.int32()
        assert all(table.schema.field(name).type.value_type == kind for name in wanted)


def test_datasets_open_the_columns(tmp_path: Path, tokenizer: Tokenizer, source: Path, expected: Rows) -> None:
    datasets = pytest.importorskip("datasets")
    tokenize_message_files(tokenizer, source, tmp_path / "out", "chatml", format="arrow", loss="labels")
    found = datasets.load_from_disk(str(tmp_path / "out"))
    assert found[3]["input_ids"] == expected[3][0]
    assert [one != -100 for one in found[3]["labels"]] == [bool(one) for one in expected[3][1]]


@pytest.mark.parametrize(("format", "preset", "loss"), FORMED)
def test_splits_and_a_shuffle_keep_masks_with_their_ids(
    tmp_path: Path, tokenizer: Tokenizer, source: Path, expected: Rows, format: Any, preset: Any, loss: Any
) -> None:
    tokenize_message_files(
        tokenizer,
        source,
        tmp_path,
        "chatml",
        loss=loss,
        format=format,
        preset=preset,
        validation=0.2,
        shuffle=True,
        seed=3,
    )
    found = [rows_in(open_tokens(tmp_path, split)) for split in ("train", "validation")]
    assert all(found)
    if preset == "nanogpt":
        assert sum(len(rows[0][0]) for rows in found) == sum(len(ids) for ids, _ in expected)
        return
    assert sorted([*found[0], *found[1]]) == sorted(expected)
    assert [*found[0], *found[1]] != expected


@pytest.mark.parametrize(
    ("format", "preset", "loss"), [("megatron", None, "mask"), ("megatron", None, "labels"), ("raw", "nanogpt", "mask")]
)
@pytest.mark.parametrize("validation", [0.0, 0.2])
def test_joined_parts_have_joined_masks(
    tmp_path: Path, tokenizer: Tokenizer, source: Path, format: Any, preset: Any, loss: Any, validation: float
) -> None:
    join = format == "megatron"
    every: dict[str, Any] = {"loss": loss, "format": format, "preset": preset, "validation": validation}
    whole = tokenize_message_files(tokenizer, source, tmp_path / "whole", "chatml", join=join, **every)
    parts = tokenize_message_files(
        tokenizer, source, tmp_path / "parts", "chatml", join=join, part_bytes=4_000, **every
    )
    assert rows_in(parts) == rows_in(whole)
    name = {"mask": "loss_mask", "labels": "labels"}[loss]
    assert not [path for path in tmp_path.rglob("part-*")]
    assert len(list((tmp_path / "parts").rglob(f"*.{name}.bin"))) == (2 if validation else 1)


@pytest.mark.parametrize("format", ["arrow", "parquet", "npy"])
@pytest.mark.parametrize("loss", ["mask", "labels", "ranges"])
@pytest.mark.parametrize("packing", ["concat", "best-fit", "best-fit-decreasing"])
def test_masks_are_packed_with_their_ids(
    tmp_path: Path, tokenizer: Tokenizer, source: Path, expected: Rows, format: Any, loss: Any, packing: Any
) -> None:
    if (format, loss) == ("npy", "ranges"):
        pytest.skip("npy has no ranges")
    pad = tokenizer.token_to_id("<pad>")
    files = tokenize_message_files(
        tokenizer, source, tmp_path, "chatml", loss=loss, format=format, pack=64, packing=packing, pad_token=pad
    )
    rows = rows_in(files)
    assert all(len(ids) == len(mask) == 64 for ids, mask in rows)
    tokens = sorted((id, one) for ids, mask in expected for id, one in zip(ids, mask, strict=True))
    packed = [(id, one) for ids, mask in rows for id, one in zip(ids, mask, strict=True)]
    padding = files.manifest["total"]["padding_tokens"]
    assert sorted(packed) == sorted([*tokens, *[(pad, 0)] * padding])
    if packing == "concat":
        assert packed[: len(tokens)] == [pair for ids, mask in expected for pair in zip(ids, mask, strict=True)]


def test_an_index_packs_masks_too(tmp_path: Path, tokenizer: Tokenizer, source: Path) -> None:
    tokenize_message_files(tokenizer, source, tmp_path / "out", "chatml", pack=64, packing="index")
    files = open_tokens(tmp_path / "out")
    pack_tokens(tmp_path / "out", length=64, out=tmp_path / "index")
    ids, masks = files.rows(tmp_path / "index", pad_id=3), files.mask.rows(tmp_path / "index", pad_id=0)
    assert len(ids) == len(masks)
    for row in range(len(ids)):
        together = [files.mask[document][start:end] for document, start, end in ids.slices(row).tolist()]
        found = masks[row]
        assert len(found) == len(ids[row]) == 64
        assert found[: sum(map(len, together))].tolist() == np.concatenate(together).tolist()


def test_wide_ids_and_roles(tmp_path: Path, tokenizer: Tokenizer, source: Path) -> None:
    data = json.loads(tokenizer.to_str())
    data["model"]["vocab"]["unused"] = 70_000
    wide = Tokenizer.from_str(json.dumps(data))
    for loss in ("mask", "labels"):
        files = tokenize_message_files(wide, source, tmp_path / loss, "chatml", mask=["user"], loss=loss, format="npy")
        assert files.dtype == np.uint32
        assert rows_in(files) == rows_of(tokenize_messages(wide, CHATS, "chatml", mask=["user"]))


class TestInputs:
    def test_shapes_and_compression(self, tmp_path: Path, tokenizer: Tokenizer) -> None:
        share = [{"conversations": [{"from": "human", "value": "ab"}, {"from": "gpt", "value": "cd"}]}]
        (tmp_path / "a.jsonl").write_bytes(as_lines([{"messages": CHAT}]))
        (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(as_lines(share)))
        (tmp_path / "c.jsonl").write_bytes(b"\n" + as_lines([CHAT]) + b"\n")
        files = tokenize_message_files(
            tokenizer, [str(tmp_path / "*.jsonl"), tmp_path / "b.jsonl.gz"], tmp_path / "o", "chatml"
        )
        assert rows_in(files) == rows_of(tokenize_messages(tokenizer, [CHAT] * 3, "chatml"))
        assert [Path(entry["path"]).name for entry in files.manifest["inputs"]] == ["a.jsonl", "c.jsonl", "b.jsonl.gz"]

    @pytest.mark.parametrize("kind", ["parquet", "arrow"])
    def test_tables(self, tmp_path: Path, tokenizer: Tokenizer, expected: Rows, kind: str) -> None:
        pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        table = pa.table({"id": range(len(CHATS)), "messages": CHATS})
        path = tmp_path / f"chats.{kind}"
        if kind == "parquet":
            parquet.write_table(table, path, row_group_size=150)
        else:
            with pa.ipc.new_stream(path, table.schema) as stream:
                stream.write_table(table, max_chunksize=390)
        for workers in (1, 2):
            out = tmp_path / str(workers)
            files = tokenize_message_files(tokenizer, path, out, "chatml", num_workers=workers, part_bytes=5_000)
            assert rows_in(files) == expected
        assert contents(tmp_path / "1") == contents(tmp_path / "2")

    def test_a_dotted_field(self, tmp_path: Path, tokenizer: Tokenizer) -> None:
        (tmp_path / "a.jsonl").write_bytes(as_lines([{"data": {"chat": CHAT}}]))
        files = tokenize_message_files(
            tokenizer, JsonLines(tmp_path / "a.jsonl", field="data.chat"), tmp_path / "o", "chatml"
        )
        assert rows_in(files) == rows_of(tokenize_messages(tokenizer, [CHAT], "chatml"))

    def test_other_sources_are_refused(self, tmp_path: Path, tokenizer: Tokenizer) -> None:
        with pytest.raises(OptionError, match="holds texts, but conversations are read from"):
            tokenize_message_files(tokenizer, Lines(tmp_path / "a.txt"), tmp_path / "o", "chatml")
        if importlib.util.find_spec("pyarrow"):
            import pyarrow as pa

            stream = ArrowStream(pa.table({"messages": [CHAT]}), column="messages")
            with pytest.raises(OptionError, match="is read once"):
                tokenize_message_files(tokenizer, stream, tmp_path / "o", "chatml")

    def test_no_conversations(self, tmp_path: Path, tokenizer: Tokenizer) -> None:
        (tmp_path / "a.jsonl").write_bytes(b"\n")
        with pytest.warns(UserWarning, match="no tokens were written"):
            files = tokenize_message_files(tokenizer, tmp_path / "a.jsonl", tmp_path / "o", "chatml")
        assert (len(files), len(files.mask)) == (0, 0)


BROKEN: list[tuple[bytes, type[Exception], str]] = [
    (b'{"messages": [{"role": "us', FormatError, "line 3: no JSON"),
    (b'{"messages": []}', FormatError, "line 3: a conversation has no messages"),
    (b'{"text": "ab"}', FormatError, "line 3: a record has values in the fields text"),
    (b'{"messages": [{"from": "alien", "value": "x"}]}', FormatError, "line 3: message 0 is from 'alien'"),
    (b'{"messages": [{"content": "x"}]}', FormatError, "line 3: message 0 has the role None"),
    (
        b'{"messages": [{"role": "judge", "content": "x"}]}',
        TemplateError,
        "line 3: .*no form for a message of role judge",
    ),
]


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(("line", "error", "message"), BROKEN)
def test_broken_records_are_named_or_left_out(
    tmp_path: Path, tokenizer: Tokenizer, line: bytes, error: type[Exception], message: str, workers: int
) -> None:
    good = as_lines([{"messages": CHAT}])
    path = tmp_path / "in.jsonl"
    path.write_bytes(good + b"\n" + line + b"\n" + good + line + b"\n")
    template = "llama-3"
    with pytest.raises(error, match=f"in.jsonl, {message}"):
        tokenize_message_files(tokenizer, path, tmp_path / "o", template, num_workers=workers)
    with pytest.warns(SkippedRecordsWarning, match=f"2 records were left out: .*in.jsonl, {message}.*line 5"):
        files = tokenize_message_files(
            tokenizer, path, tmp_path / "o", template, on_error="skip", resume=True, num_workers=workers
        )
    assert files.manifest["total"]["skipped"] == 2
    assert rows_in(files) == rows_of(tokenize_messages(tokenizer, [CHAT] * 2, template))


def test_a_source_keeps_its_own_on_error(tmp_path: Path, tokenizer: Tokenizer) -> None:
    (tmp_path / "in.jsonl").write_bytes(b"{}\n" + as_lines([{"messages": CHAT}]))
    source = JsonLines(tmp_path / "in.jsonl", field="messages")
    with pytest.raises(FormatError, match="line 1"):
        tokenize_message_files(tokenizer, source, tmp_path / "o", "chatml", on_error="skip")


def test_text_that_cannot_be_followed_is_named(tmp_path: Path, tokenizer: Tokenizer) -> None:
    path = write_chats(tmp_path / "in.jsonl", [CHAT])
    template = "{% for m in messages %}{{ '%s' % m.content }}{% endfor %}"
    with pytest.raises(SpanError, match=r"in\.jsonl, line 1: the template applies operator %"):
        tokenize_message_files(tokenizer, path, tmp_path / "o", template)


def test_conversations_without_a_loss_are_counted_and_told(tmp_path: Path, tokenizer: Tokenizer) -> None:
    path = write_chats(tmp_path / "in.jsonl", [CHAT, CHAT[:1]])
    with pytest.warns(NoLossWarning, match="none of 2 conversations has a token to learn: chatml writes no text"):
        files = tokenize_message_files(tokenizer, path, tmp_path / "none", "chatml", mask="model")
    assert files.manifest["total"]["no_loss_documents"] == 2
    assert "loss_tokens" not in files.manifest["total"]
    assert not any(mask.any() for mask in files.mask)
    total = tokenize_message_files(tokenizer, path, tmp_path / "one", "chatml").manifest["total"]
    assert total["no_loss_documents"] == 1


class TestRefused:
    def test_chance(self, tmp_path: Path, tokenizer: Tokenizer, source: Path) -> None:
        for template in ["{{ [1, 2]|random }}", "{{ lipsum() }}", "{{ [[1, 2]]|map('random')|join }}"]:
            with pytest.raises(OptionError, match="uses random or lipsum"):
                tokenize_message_files(tokenizer, source, tmp_path, template)
        said = "a random word {% for m in messages %}{{ m.content }}{% endfor %}"
        assert len(tokenize_message_files(tokenizer, source, tmp_path, said)) == len(CHATS)

    def test_functions_that_no_process_finds(self, tmp_path: Path, tokenizer: Tokenizer, source: Path) -> None:
        with pytest.raises(OptionError, match="cannot be sent to other processes"):
            tokenize_message_files(tokenizer, source, tmp_path, "chatml", mask=lambda *_: True, num_workers=2)

    def test_options(self, tmp_path: Path, tokenizer: Tokenizer, source: Path) -> None:
        with pytest.raises(TypeError, match="unexpected keyword argument 'end_token'"):
            tokenize_message_files(tokenizer, source, tmp_path, "chatml", end_token=1)  # type: ignore[call-arg]
        with pytest.raises(OptionError, match="num_workers is 0 but must be at least 1"):
            tokenize_message_files(tokenizer, source, tmp_path, "chatml", num_workers=0)
        cutting = Tokenizer.from_str(tokenizer.to_str())
        cutting.enable_truncation(4)
        with pytest.raises(OptionError, match="truncates"):
            tokenize_message_files(cutting, source, tmp_path, "chatml")

    def test_masks_of_texts_and_merged_masks(self, tmp_path: Path, tokenizer: Tokenizer, source: Path) -> None:
        (tmp_path / "in.txt").write_text("ab\n")
        texts = tokenize_files(tokenizer, Lines(tmp_path / "in.txt"), tmp_path / "texts")
        with pytest.raises(OptionError, match="it has no loss masks"):
            _ = texts.mask
        tokenize_message_files(tokenizer, source, tmp_path / "chats", "chatml")
        with pytest.raises(OutputError, match="it has loss masks, but only files without masks are merged"):
            merge_token_files([tmp_path / "chats"], tmp_path / "all")

    def test_a_changed_file_of_masks(self, tmp_path: Path, tokenizer: Tokenizer, source: Path) -> None:
        files = tokenize_message_files(tokenizer, source, tmp_path, "chatml")
        path = tmp_path / "part-00000.loss_mask.bin"
        path.write_bytes(path.read_bytes()[:-1])
        with pytest.raises(OutputError, match="loss_mask"):
            files.verify()
        with pytest.raises(OutputError, match=r"loss_mask\.bin: it holds"):
            _ = open_tokens(tmp_path).mask[0]


def test_the_time_is_kept(tmp_path: Path, tokenizer: Tokenizer) -> None:
    path = write_chats(tmp_path / "in.jsonl", [CHAT])
    template = "{{ strftime_now('%Y-%m-%d') }}{% for m in messages %}{{ m.role }}:{{ m.content }};{% endfor %}"
    then = datetime(2001, 2, 3)
    files = tokenize_message_files(tokenizer, path, tmp_path / "o", template, now=then)
    assert rows_in(files) == rows_of(tokenize_messages(tokenizer, [CHAT], template, now=then))
    again = tokenize_message_files(tokenizer, path, tmp_path / "o", template, resume=True)
    assert rows_in(again) == rows_in(files)
    with pytest.raises(OutputError, match="cannot resume: now was"):
        tokenize_message_files(tokenizer, path, tmp_path / "o", template, resume=True, now=datetime(2001, 2, 4))
