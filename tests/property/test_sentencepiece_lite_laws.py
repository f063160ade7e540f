from __future__ import annotations

import base64
import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from cases import load
from lexmill import Tokenizer
from lexmill.errors import LexmillError

FILES = [base64.b64decode(case["lite"]) for case in load("spm_lite.json")["cases"]]
# Offsets, lengths and vtables are at the beginning; the tries, which are not read, are the rest.
CHANGES = st.lists(st.tuples(st.integers(0, 600), st.integers(0, 255)), min_size=1, max_size=8)


@given(file=st.sampled_from(FILES), changes=CHANGES, end=st.integers(0, 4000))
def test_changed_files_are_read_or_refused(file: bytes, changes: list[tuple[int, int]], end: int) -> None:
    data = bytearray(file if end > 2000 else file[:end])
    for at, byte in changes:
        if at < len(data):
            data[at] = byte
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.spm.fb"
        path.write_bytes(bytes(data))
        try:
            tokenizer = Tokenizer.from_spm(path)
            tokenizer.decode(tokenizer.encode("the lowest <x>").ids)
            tokenizer.save_spm(path)
        except LexmillError:
            return
        assert Tokenizer.from_spm(path).get_vocab() == tokenizer.get_vocab()
