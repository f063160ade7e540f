"""Files of `lexmill tokenize` beside files made by the steps of Megatron-LM's `preprocess_data.py`.

The steps, by numpy alone: the ids of each text with the end token after them, if the text has ids; their lengths, their
places in bytes, and the number of sequences before each end of a document (Megatron Core's `IndexedDatasetBuilder`).
"""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest

from lexmill import Tokenizer, tokenize_files
from small import byte_level
from token_layouts import read_megatron

END = "<|endoftext|>"


def preprocessed(tokenizer: Tokenizer, texts: list[str]) -> tuple[bytes, bytes]:
    """The `.bin` and the `.idx` of the texts."""
    dtype, code = (np.uint16, 8) if tokenizer.get_vocab_size() < 65_500 else (np.int32, 4)
    rows, documents = [], [0]
    for text in texts:
        if ids := tokenizer.encode(text).ids:
            rows.append(np.array([*ids, tokenizer.token_to_id(END)], dtype))
        documents.append(len(rows))
    lengths = np.array([len(row) for row in rows], np.int32)
    places = np.cumsum([0, *(row.nbytes for row in rows)], dtype=np.int64)[:-1]
    header = b"MMIDIDX\0\0" + struct.pack("<QBQQ", 1, code, len(rows), len(documents))
    index = [lengths, places, np.array(documents, np.int64)]
    return b"".join(row.tobytes() for row in rows), header + b"".join(part.tobytes() for part in index)


def written(tmp_path: Path, tokenizer: Tokenizer, texts: list[str]) -> tuple[bytes, bytes]:
    source = tmp_path / "in.jsonl"
    source.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    tokenize_files(tokenizer, source, tmp_path / "out", end_token=END, join=True, part_bytes=500)
    return (tmp_path / "out" / "tokens.bin").read_bytes(), (tmp_path / "out" / "tokens.idx").read_bytes()


@pytest.fixture(params=["uint16", "int32"])
def tokenizer(request: pytest.FixtureRequest) -> Tokenizer:
    made = byte_level(("t", "h"), ("th", "e"))
    made.add_special_tokens([END])
    if request.param == "int32":
        made.add_tokens([f"<extra {number}>" for number in range(65_500 - made.get_vocab_size())])
    return made


TEXTS = [f"the cat {number} sat on " + "the mat " * (number % 40) for number in range(200)]


def test_both_files_have_the_bytes_of_megatron(tmp_path: Path, tokenizer: Tokenizer) -> None:
    assert written(tmp_path, tokenizer, TEXTS) == preprocessed(tokenizer, TEXTS)


def test_megatron_keeps_empty_documents_and_lexmill_leaves_them_out(tmp_path: Path, tokenizer: Tokenizer) -> None:
    texts = ["", *TEXTS[:3], "", "", TEXTS[3], ""]
    ours, theirs = written(tmp_path, tokenizer, texts), preprocessed(tokenizer, texts)
    assert ours == preprocessed(tokenizer, [text for text in texts if text])
    assert ours[0] == theirs[0]
    sequences = struct.unpack_from("<QQ", ours[1], 18), struct.unpack_from("<QQ", theirs[1], 18)
    assert sequences == ((4, 5), (4, 9))
    # Lengths and places of the sequences.
    assert ours[1][34 : 34 + 4 * 12] == theirs[1][34 : 34 + 4 * 12]
    dtype = "uint16" if tokenizer.get_vocab_size() < 65_500 else "int32"
    end = tokenizer.token_to_id(END)
    assert read_megatron(tmp_path / "out", dtype) == [[*tokenizer.encode(text).ids, end] for text in texts if text]
