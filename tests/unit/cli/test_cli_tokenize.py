"""`lexmill tokenize`: the files of the library, from names alone."""

from __future__ import annotations

import gzip
import json
import subprocess
from pathlib import Path

import pytest

from command_line import COMMAND, Run
from lexmill import Tokenizer, open_tokens

TEXTS = ["the cat", "", "sat on", "the mat"]


@pytest.fixture
def texts() -> None:
    lines = "".join(json.dumps({"text": text}) + "\n" for text in TEXTS)
    Path("in.jsonl").write_text(lines)
    Path("in.ndjson.gz").write_bytes(gzip.compress(lines.encode()))
    Path("in.tsv").write_text("id\ttext\n1\tthe cat\n")
    Path("in.txt").write_text("the cat\nsat\n")


@pytest.mark.usefixtures("texts")
def test_each_file_is_read_as_its_name_ends(lexmill: Run, saved: str) -> None:
    result = lexmill("tokenize", saved, "in.jsonl", "in.tsv", "in.txt", "in.ndjson.gz", "-o", "out")
    assert (result.code, result.stderr) == (0, "")
    tokenizer = Tokenizer.from_file(saved)
    texts = [text for text in [*TEXTS, "the cat", "the cat\n", "sat\n", *TEXTS] if text]
    assert [ids.tolist() for ids in open_tokens("out")] == [tokenizer.encode(text).ids for text in texts]


@pytest.mark.usefixtures("texts")
def test_outcome_and_options(lexmill: Run, saved: str) -> None:
    command = ("tokenize", saved, "in.jsonl", "-o", "out", "--format", "raw", "--preset", "nanogpt", "--end-token", "3")
    outcome = lexmill(*command, "--json").outcome
    assert outcome.pop("seconds")
    assert outcome == {
        "command": "tokenize",
        "ok": True,
        "output": "out",
        "format": "raw",
        "dtype": "uint16",
        "documents": 3,
        "tokens": open_tokens("out").tokens,
        "empty": 1,
        "skipped": 0,
        "parts": 1,
        "bytes": Path("in.jsonl").stat().st_size,
    }
    assert sorted(path.name for path in Path("out").iterdir()) == ["manifest.json", "train.bin"]
    again = lexmill(*command)
    assert again.code == 1
    assert "it holds token files; pass --resume to go on or --overwrite to begin again" in again.stderr
    assert lexmill(*command, "--resume").code == 0
    assert lexmill(*command[:-1], "2", "--overwrite").code == 0


@pytest.mark.usefixtures("texts")
def test_wrong_calls(lexmill: Run, saved: str) -> None:
    Path("in.dat").write_text("")
    Path("broken.jsonl").write_text("{}\n")
    result = lexmill("tokenize", saved, "in.dat", "-o", "out")
    assert (result.code, result.stderr) == (
        2,
        "error: in.dat does not say how texts are found in it; pass --input\n",
    )
    result = lexmill("tokenize", saved, "in.jsonl", "-o", "out", "--end-token", "<none>")
    assert result.code == 1
    assert "token `<none>` of end_token is not in the vocabulary" in result.stderr
    result = lexmill("tokenize", saved, "broken.jsonl", "-o", "out", "--on-error", "skip")
    assert (result.code, result.stderr) == (
        0,
        "warning: a record was left out: broken.jsonl, line 1: there is no field `text`\n"
        "warning: no tokens were written, from 1 input (broken.jsonl), with 1 broken record\n",
    )


def test_standard_input(saved: str) -> None:
    command = [*COMMAND, "tokenize", saved, "-", "--input", "lines", "-o", "out"]
    assert subprocess.run(command, input=b"the cat\nsat\n", check=True).returncode == 0
    assert len(open_tokens("out")) == 2
    result = subprocess.run([*command, "--resume"], input=b"the cat\nsat\n", capture_output=True, check=False)
    assert b"cannot resume: - can be read only once" in result.stderr


@pytest.mark.usefixtures("texts")
def test_encode_with_a_format_is_tokenize(lexmill: Run, saved: str) -> None:
    for command in ("tokenize", "encode"):
        options = ("--format=arrow", "--column", "text", "--offsets", "--shuffle", "--seed", "3", "--end-token", "1")
        result = lexmill(command, saved, "in.jsonl", "-o", command, *options)
        assert (result.code, result.stderr) == (0, "")
    found = [{path.name: path.read_bytes() for path in Path(command).iterdir()} for command in ("tokenize", "encode")]
    assert found[0] == found[1]
    assert "data-00000.arrow" in found[0]
    result = lexmill("encode", saved, "in.jsonl", "-o", "out", "--format", "megatron", "--row-splits", "x")
    assert (result.code, "no such option: --row-splits" in result.stderr.lower()) == (2, True)
    assert b"--format" in lexmill("encode", "--help").stdout


@pytest.mark.usefixtures("texts")
def test_columns_and_joined_files(lexmill: Run, saved: str) -> None:
    command = ("tokenize", saved, "in.tsv", "-o", "1", "--format", "parquet", "--column", "id:int64")
    assert lexmill(*command).code == 0
    assert open_tokens("1").manifest["options"]["columns"] == {"id": "int64"}
    result = lexmill("tokenize", saved, "in.tsv", "-o", "2", "--column", "id")
    assert (result.code, "columns is given but must be absent unless" in result.stderr) == (1, True)
    for folder in ("3", "4"):
        assert lexmill("tokenize", saved, "in.jsonl", "-o", folder, "--join").code == 0
    assert sorted(path.name for path in Path("3").iterdir()) == ["manifest.json", "tokens.bin", "tokens.idx"]
    outcome = lexmill("merge-tokens", "3", "4", "-o", "5", "--json").outcome
    assert (outcome["documents"], outcome["folders"]) == (6, 2)
    assert len(open_tokens("5")) == 6
    again = lexmill("merge-tokens", "3", "4", "-o", "5")
    assert (again.code, "pass --overwrite to begin again" in again.stderr) == (1, True)
    assert lexmill("merge-tokens", "3", "-o", "5", "--overwrite").code == 0


@pytest.mark.usefixtures("texts")
def test_rows_and_an_index_and_their_shares(lexmill: Run, saved: str) -> None:
    packed = ("--pack", "8", "--packing", "best-fit", "--pad-token", "0")
    command = ("tokenize", saved, "in.jsonl", "-o", "rows", "--format", "npy", *packed, "--pack-column", "document_ids")
    outcome = lexmill(*command, "--json").outcome
    assert outcome["rows"] == len(open_tokens("rows"))
    assert outcome["padding_share"] == round(outcome["padding_tokens"] / (8 * outcome["rows"]), 6)
    shares = {"cut_share", "concat_cut_share", "concat_padding_share"}
    assert all(0 <= outcome[name] < 1 for name in shares)
    assert Path("rows/part-00000.document_ids.npy").exists()
    assert lexmill("tokenize", saved, "in.jsonl", "-o", "tokens").code == 0
    index = ("pack-tokens", "tokens", "-o", "index", "--length", "8", "--packing", "best-fit")
    found = lexmill(*index, "--json").outcome
    assert {name: found[name] for name in shares} == {name: outcome[name] for name in shares}
    assert len(open_tokens("tokens").rows("index")) == found["rows"] == outcome["rows"]
    assert lexmill(*index, "--overwrite", "--seed", "3").code == 0
    for arguments, message in (
        (index, "it holds an index; pass --overwrite to replace it"),
        ((*index[:-1], "index", "--overwrite"), "packing is index but must be concat"),
        (("pack-tokens", "none", "-o", "other", "--length", "8"), "none: it holds no token files"),
    ):
        result = lexmill(*arguments)
        assert (result.code, message in result.stderr) == (1, True), result.stderr


@pytest.mark.usefixtures("texts")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["tokenize", "TOKENIZER", "in.jsonl", "-o", "-"], "the output must be a folder, not stdout (-)"),
        (["encode", "TOKENIZER", "in.jsonl", "--format", "npy", "-o", "-"], "the output must be a folder"),
        (["merge-tokens", "in", "-o", "-"], "the output must be a folder"),
        (["pack-tokens", "in", "-o", "-", "--length", "8"], "the output must be a folder"),
        (["tokenize", "TOKENIZER", "in.jsonl", "-o", ""], "the name of a folder is empty"),
        (
            ["tokenize", "TOKENIZER", "in.tsv", "-o", "out", "--column", "id", "--column", "id:int64"],
            "column id is named twice",
        ),
    ],
)
def test_no_folder_and_a_column_twice(lexmill: Run, saved: str, options: list[str], message: str) -> None:
    result = lexmill(*(saved if option == "TOKENIZER" else option for option in options))
    assert (result.code, message in result.stderr) == (2, True), result.stderr
    assert not Path("-").exists()
