"""Token files of shared jobs, whose tasks run one after the other in this process: resumption, layouts and refusals."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, get_type_hints

import pytest

import lexmill.ray
import lexmill.spark
from lexmill import errors, open_tokens, tokenize_files
from lexmill._engines.groups import Group
from lexmill._engines.jobs import Job, Outcome, run_group
from lexmill.sources import JsonLines, Lines
from lexmill.token_files import TokenOptions
from shared_jobs import files_of, in_turn, tokenized, tokenizer
from token_layouts import LAYOUTS, options_for


def test_an_interrupted_job_goes_on_where_it_was(tmp_path: Path) -> None:
    files = files_of(tmp_path, ["a b\n", "b c\n", "c d\n"])
    done: list[int] = []

    def logged(job: Job, groups: Sequence[Group]) -> Iterator[Outcome]:
        for outcome in in_turn(job, groups):
            done.append(outcome.number)
            yield outcome

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tokenized(Lines(files), tmp_path / "out", logged, on_progress=interrupt)
    with pytest.raises(errors.OutputError, match=r"a job that was not finished; pass resume=True"):
        tokenized(Lines(files), tmp_path / "out", logged)
    tokens = tokenized(Lines(files), tmp_path / "out", logged, resume=True)
    assert done == [2, 1, 0]
    assert [tokens[at].tolist() for at in range(3)] == [[0, 10, 1], [1, 10, 2], [2, 10, 3]]
    tokenized(Lines(files), tmp_path / "out", logged, resume=True)
    assert len(done) == 3
    # Parts that were lost are written again.
    (tmp_path / "out" / "00001" / "part-00000.idx").unlink()
    tokenized(Lines(files), tmp_path / "out", logged, resume=True).verify()
    assert done == [2, 1, 0, 1]


def test_another_job_does_not_go_on(tmp_path: Path) -> None:
    files, out = files_of(tmp_path, ["a b\n", "b c\n"]), tmp_path / "out"
    tokenized(Lines(files), out)
    with pytest.raises(errors.OutputError, match="it holds token files; pass resume=True to go on or overwrite=True"):
        tokenized(Lines(files), out)
    for message, call in {
        "the tokenizer was .* but is": {"tokenizer": tokenizer("abc ")},
        "end_token was None but is 3": {"end_token": 3},
        "dtype was uint16 but is int32": {"format": "parquet", "signed": True},
        "an input was .*00000.* but is .*'00000'.*'bytes': 4": {"sources": Lines(list(reversed(files)))},
        "there were 2 inputs but are 1": {"sources": Lines(files[0])},
    }.items():
        call = {"sources": Lines(files), **call}
        expected = message if call.get("format") is None else "format was megatron but is parquet"
        with pytest.raises(errors.OutputError, match=f"cannot resume: {expected}"):
            tokenized(call.pop("sources"), out, resume=True, **call)
    with pytest.raises(errors.OutputError, match="cannot resume: an input was"):
        tokenized(Lines(files), out, resume=True, group_bytes=100)
    assert tokenized(Lines(files[0]), out, overwrite=True).tokens == 3
    assert sorted(path.name for path in out.iterdir()) == ["00000", "manifest.json"]


def test_a_job_that_a_broken_record_stopped_goes_on(tmp_path: Path) -> None:
    whole, broken = '{"text": "a b"}\n{}\n', '{"text": "b"}\n{}\n'
    files = files_of(tmp_path, [whole.replace("{}\n", ""), broken, whole])
    done: list[int] = []

    def in_order(job: Job, groups: Sequence[Group]) -> Iterator[Outcome]:
        for group in groups:
            outcome = run_group(job, group)
            done.append(group.number)
            yield outcome

    for name in ("skipped", "mended"):
        done.clear()
        with pytest.raises(errors.FormatError):
            tokenized(JsonLines(files), tmp_path / name, in_order)
        assert done == [0, 1]
    with pytest.warns(errors.SkippedRecordsWarning):
        tokens = tokenized(JsonLines(files, on_error="skip"), tmp_path / "skipped", in_order, resume=True)
    assert (len(tokens), tokens.manifest["total"]["skipped"]) == (3, 2)
    with pytest.warns(errors.SkippedRecordsWarning, match="2 records were left out by earlier runs"):
        tokenized(JsonLines(files, on_error="skip"), tmp_path / "skipped", in_order, resume=True)
    for file in files[1:]:
        file.write_text('{"text": "a"}\n{"text": "b a b"}\n')
    tokens = tokenized(JsonLines(files), tmp_path / "mended", in_order, resume=True)
    assert (len(tokens), tokens.manifest["total"].get("skipped")) == (5, None)
    files[0].write_text('{"text": "changed"}\n')
    with pytest.raises(errors.OutputError, match=r"cannot resume: an input was .*0\.txt"):
        tokenized(JsonLines(files), tmp_path / "mended", in_order, resume=True)


def test_warnings_of_groups_are_those_of_the_whole(tmp_path: Path) -> None:
    files = files_of(tmp_path, ["", "a b\n"])
    assert tokenized(Lines(files), tmp_path / "1").tokens > 0
    with pytest.warns(errors.EmptyCorpusWarning, match=r"from 1 input \(\S*\), with no records"):
        tokenized(Lines(files[0]), tmp_path / "2")
    with pytest.warns(errors.RepeatedInputWarning):
        tokenized([Lines(files), Lines(files[1])], tmp_path / "3")


def test_a_job_of_parquet_files_has_no_other_file(tmp_path: Path) -> None:
    files, out = files_of(tmp_path, ["a b\n", "b c d\n"]), tmp_path / "out"
    assert len(tokenized(Lines(files), out, format="parquet")) == 2
    assert {path.suffix for path in out.rglob("*") if path.is_file()} == {".parquet"}
    assert len(tokenized(Lines(files), out, format="parquet", resume=True)) == 2


@pytest.mark.parametrize(("format", "preset"), LAYOUTS)
def test_a_job_writes_every_layout(tmp_path: Path, format: str, preset: str | None) -> None:
    files, layout = files_of(tmp_path, ["a b\n", "b c d\na\n"]), options_for(format, preset)
    job = tokenized(Lines(files), tmp_path / "job", **layout)
    alone = tokenize_files(tokenizer(), Lines(files), tmp_path / "alone", **layout)
    assert [ids.tolist() for ids in job.windows(2)] == [ids.tolist() for ids in alone.windows(2)]
    assert (len(job), job.dtype) == (3, alone.dtype)
    assert len(tokenized(Lines(files), tmp_path / "job", resume=True, **layout)) == 3
    job.verify()


def test_groups_are_packed_by_themselves_and_indexed_together(tmp_path: Path) -> None:
    files = files_of(tmp_path, ["abc\nab\nabcde\n", "a\nabcd\n"])
    options: dict[str, Any] = {"format": "npy", "pack": 4, "packing": "best-fit", "pad_token": 9}
    packed = tokenized(Lines(files), tmp_path / "packed", pack_columns=["document_ids"], **options)
    assert [row.tolist() for row in packed] == [[0, 1, 2, 4], [0, 1, 9, 9], [0, 1, 2, 3], [0, 9, 9, 9], [0, 1, 2, 3]]
    assert packed.manifest["total"]["rows"] == 5
    packed.verify()
    tokens = tokenized(Lines(files), tmp_path / "out")
    rows = lexmill.pack_tokens(tmp_path / "out", length=4, packing="best-fit", out=tmp_path / "rows")
    assert [row.tolist() for row in rows] == [[0, 1, 2, 4], [0, 1, 0], [0, 1, 2, 3], [0, 1, 2, 3]]
    assert len(tokens.rows(tmp_path / "rows")) == 4


def test_folders_of_something_else_are_refused(tmp_path: Path) -> None:
    files = files_of(tmp_path, ["a b\n"])
    with pytest.raises(errors.OutputError, match=r"it holds 0\.txt, which is no token file"):
        tokenized(Lines(files), tmp_path)
    tokenize_files(tokenizer(), Lines(files), tmp_path / "local")
    for options in ({"resume": True}, {"overwrite": True}, {}):
        with pytest.raises(errors.OutputError, match="its manifest is not from a job of this version"):
            tokenized(Lines(files), tmp_path / "local", **options)
    open_tokens(tmp_path / "local").verify()


def test_options_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    files = files_of(tmp_path, ["a b\n"])
    truncating = tokenizer()
    truncating.enable_truncation(3)
    for error, options in (
        (errors.OptionError, {"pack": 4}),
        (errors.OptionError, {"pack": 4, "packing": "index"}),
        (errors.VocabError, {"pack": 4, "packing": "best-fit", "format": "npy"}),
        (errors.OptionError, {"format": "raw"}),
        (errors.OptionError, {"resume": True, "overwrite": True}),
        (errors.VocabError, {"end_token": "nowhere"}),
        (errors.LexmillError, {"tokenizer": truncating}),
    ):
        with pytest.raises(error):
            tokenized(Lines(files), tmp_path / "out", **options)
    with pytest.raises(errors.OptionError, match="does not say how texts are found in it"):
        tokenized(files, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_folder_that_was_replaced_is_noticed_when_it_is_opened(tmp_path: Path) -> None:
    files, out = files_of(tmp_path, ["a b\n", "b c d\n"]), tmp_path / "out"
    tokens = tokenized(Lines(files), out)
    assert json.loads((out / "manifest.json").read_text())["total"] == {"documents": 2, "tokens": 8, "empty": 0}
    assert len(tokens.windows(3)) == 2
    assert tokens.windows(3)[1].tolist() == [1, 10, 2]
    (out / "00001").rename(out / "other")
    with pytest.raises(errors.OutputError, match="00001: it holds no token files"):
        open_tokens(out)
    (out / "00000").rename(out / "00001")
    (out / "other").rename(out / "00000")
    with pytest.raises(errors.OutputError, match=r"it is not as it was written: the manifest of .* has other sums"):
        open_tokens(out)


def test_options_of_a_job_are_options_of_tokenize_files() -> None:
    assert get_type_hints(TokenOptions).items() <= get_type_hints(tokenize_files).items()


@pytest.mark.parametrize("option", ["shuffle", "columns", "nothing"])
def test_an_option_that_no_job_takes_is_refused(tmp_path: Path, option: str) -> None:
    with pytest.raises(TypeError, match=f"unexpected keyword argument '{option}'"):
        tokenized([], tmp_path / "out", format="npy", **{option: True})
    assert not (tmp_path / "out").exists()
