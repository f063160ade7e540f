"""Options, texts and tokenizers that `tokenize_files` refuses or warns of."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any, get_args

import pytest

from lexmill import Tokenizer, models, tokenize_files
from lexmill.errors import EmptyCorpusWarning, FormatError, OptionError, SkippedRecordsWarning, VocabError
from lexmill.sources import JsonLines
from lexmill.token_files import Format, Preset
from token_corpus import END, FLAT, as_json, corpus_file, corpus_tokenizer, dtype_of, expected, wide
from token_layouts import LAYOUTS, READERS

tokenizer = pytest.fixture(scope="module")(corpus_tokenizer)
corpus = pytest.fixture(scope="module")(corpus_file)


def test_a_source_that_says_nothing_of_its_format_is_refused(tmp_path: Path, tokenizer: Tokenizer) -> None:
    with pytest.raises(OptionError, match=r"a\.txt does not say how texts are found in it"):
        tokenize_files(tokenizer, tmp_path / "a.txt", tmp_path / "out")


def test_no_documents_at_all(tmp_path: Path, tokenizer: Tokenizer) -> None:
    (tmp_path / "in.jsonl").write_bytes(as_json(["", ""]))
    for format, preset in LAYOUTS:
        out = tmp_path / f"{format}{preset}"
        options: dict[str, Any] = {"format": format, "preset": preset}
        with pytest.warns(EmptyCorpusWarning, match=r"from 1 input \(\S*in\.jsonl\), with 2 documents without tokens"):
            written = tokenize_files(tokenizer, tmp_path / "in.jsonl", out, **options)
        assert len(written) == written.tokens == 0
        assert written.manifest["total"]["empty"] == 2
        assert list(written.windows(1)) == []
        if (format, preset) in READERS and (format, preset) not in [*FLAT, ("raw", "datatrove"), ("raw", "dolma")]:
            assert READERS[format, preset](out, dtype_of(out)) == []


def test_broken_records_are_left_out_if_asked_for(tmp_path: Path, tokenizer: Tokenizer) -> None:
    (tmp_path / "in.jsonl").write_bytes(b'{"text": "a"}\n{"text": 1}\n{"text": "b"}\n')
    with pytest.raises(FormatError, match="line 2: invalid type"):
        tokenize_files(tokenizer, tmp_path / "in.jsonl", tmp_path / "1")
    with pytest.warns(SkippedRecordsWarning, match="a record was left out"):
        written = tokenize_files(tokenizer, JsonLines(tmp_path / "in.jsonl", on_error="skip"), tmp_path / "2")
    assert [ids.tolist() for ids in written] == expected(tokenizer, ["a", "b"])


def test_wrong_options_are_named(tmp_path: Path, tokenizer: Tokenizer, corpus: Path) -> None:
    cases: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({"format": "tfrecord"}, OptionError, "format is tfrecord but must be megatron, arrow"),
        ({"format": "raw"}, OptionError, "preset is absent but must be nanogpt"),
        ({"preset": "nanogpt"}, OptionError, "preset is nanogpt but must be absent unless format is raw"),
        ({"end_token": "<eos>"}, VocabError, "token `<eos>` of end_token is not in the vocabulary of 400 tokens"),
        ({"begin_token": 4000}, VocabError, "id 4000 is not in the vocabulary"),
        ({"begin_token": -1}, VocabError, "id -1 of begin_token is not in the vocabulary"),
        ({"validation": 1.0}, OptionError, "validation is 1 but must be from 0 to less than 1"),
        ({"part_bytes": 0}, OptionError, "part_bytes is 0 but must be from 1"),
        ({"seed": -1}, OptionError, "seed is -1 but must be from 0"),
        ({"signed": True}, OptionError, "signed is true but must be false unless format is arrow or parquet"),
        (
            {"format": "mds", "part_bytes": 1 << 28},
            OptionError,
            "at most 134217728: offsets in files of mds have 32 bits",
        ),
        ({"format": "litdata", "part_bytes": 1 << 28}, OptionError, "at most 134217728: offsets in files of litdata"),
        ({"format": "mds", "preset": "dolma"}, OptionError, "preset is dolma but must be absent unless format is raw"),
        (
            {"format": "raw", "preset": "gpt"},
            OptionError,
            r"must be nanogpt, datatrove, dolma or llm\.c with format raw",
        ),
        (
            {"pack": 8},
            OptionError,
            "must be absent unless format is arrow, parquet, npy, mds, webdataset, litdata or array",
        ),
        ({"pad_token": END}, OptionError, "pad_token is given but pack is not"),
        ({"resume": True, "overwrite": True}, OptionError, "at most one of them"),
    ]
    for options, error, message in cases:
        with pytest.raises(error, match=message):
            tokenize_files(tokenizer, corpus, tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_a_tokenizer_that_cuts_fills_up_or_samples_is_refused(
    tmp_path: Path, tokenizer: Tokenizer, corpus: Path
) -> None:
    truncating, padding = Tokenizer.from_str(tokenizer.to_str()), Tokenizer.from_str(tokenizer.to_str())
    truncating.enable_truncation(5)
    padding.enable_padding()
    sampling = Tokenizer(models.BPE({"a": 0}, [], dropout=0.1))
    for refused, message in ((truncating, "truncates"), (padding, "pads"), (sampling, "has dropout or sampling")):
        with pytest.raises(OptionError, match=message):
            tokenize_files(refused, corpus, tmp_path / "out")


def test_files_that_their_program_would_misread_are_refused(tmp_path: Path, tokenizer: Tokenizer, corpus: Path) -> None:
    raw: dict[str, Any] = {"format": "raw", "preset": "nanogpt"}
    message = "the largest id is 70000, but nanoGPT reads ids of 16 bits, up to 65535; take a tokenizer with fewer ids"
    with pytest.raises(OptionError, match=message):
        tokenize_files(wide(tokenizer), corpus, tmp_path / "1", **raw)
    data = json.loads(tokenizer.to_str())
    for last, is_refused in ((65_535, False), (65_536, True)):
        data["model"]["vocab"]["last"] = last
        limit = Tokenizer.from_str(json.dumps(data))
        if is_refused:
            with pytest.raises(OptionError, match=f"the largest id is {last}, but nanoGPT"):
                tokenize_files(limit, corpus, tmp_path / "2", **raw)
        else:
            assert tokenize_files(limit, corpus, tmp_path / "2", **raw).dtype == "uint16"
            shutil.rmtree(tmp_path / "2")
    with pytest.raises(OptionError, match=r"part_bytes is 4294967295 but must be at most 4294967294: a file of llm\.c"):
        tokenize_files(tokenizer, corpus, tmp_path / "3", format="raw", preset="llm.c", part_bytes=(1 << 32) - 1)
    # A vocabulary of this size is written in 32 bits, of which llm.c has a header of its own.
    wider: dict[str, Any] = {"format": "raw", "preset": "llm.c", "part_bytes": (1 << 32) - 1}
    assert tokenize_files(wide(tokenizer), corpus, tmp_path / "4", **wider).dtype == "uint32"
    assert not any((tmp_path / name).exists() for name in "123")


def test_every_layout_is_offered_in_python_as_in_rust(tmp_path: Path, tokenizer: Tokenizer, corpus: Path) -> None:
    with pytest.raises(OptionError) as caught:
        tokenize_files(tokenizer, corpus, tmp_path / "out", format="none")  # type: ignore[arg-type]
    listed = str(caught.value).partition("must be ")[2].replace(" or ", ", ").split(", ")
    assert listed == list(get_args(Format))
    assert {format for format, _ in LAYOUTS} == set(listed)
    assert {preset for _, preset in LAYOUTS} == {None, *get_args(Preset)}
