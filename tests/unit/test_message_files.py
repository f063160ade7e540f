"""Conversations in token files: ids and masks are the ones of arrays, in each layout and form."""

from __future__ import annotations

import json
import pickle
import struct
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("jinja2")

from lexmill import Tokenizer, open_tokens, pack_tokens
from lexmill.errors import OptionError
from lexmill.messages import tokenize_message_files, tokenize_messages
from message_runs import CHATS, FORMED, FORMS, Rows, byte_level, chats_file, end_to_end, rows_in, rows_of, rows_of_chats

tokenizer = pytest.fixture(scope="module")(byte_level)
source = pytest.fixture(scope="module")(chats_file)
expected = pytest.fixture(scope="module")(rows_of_chats)


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
