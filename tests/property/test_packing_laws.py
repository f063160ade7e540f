"""Rows of the core are the rows of the reference, and hold every token once."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexmill import pack_tokens
from lexmill.reference.packing import document_order
from packing_cases import PAD, filled, reference_rows, tokens_of, write_documents

# Each example syncs files.
FEW = settings(max_examples=40)
LENGTHS = st.lists(st.integers(1, 30), min_size=1, max_size=40)
PACKINGS = st.sampled_from(["concat", "best-fit", "best-fit-decreasing"])


@FEW
@given(LENGTHS, st.integers(1, 24), PACKINGS, st.one_of(st.none(), st.integers(0, (1 << 63) - 1)))
def test_an_index_is_that_of_the_reference(lengths: list[int], length: int, packing: str, seed: int | None) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        tokens_of(folder, lengths)
        index = pack_tokens(folder / "tokens", length=length, packing=packing, seed=seed, out=folder / "rows")  # type: ignore[arg-type]
        found = [[tuple(part) for part in index.slices(row).tolist()] for row in range(len(index))]
    assert found == reference_rows(lengths, length, packing, seed)
    every = sorted((document, at) for document, start, end in chain.from_iterable(found) for at in range(start, end))
    assert every == [(document, at) for document, tokens in enumerate(lengths) for at in range(tokens)]


@FEW
@given(LENGTHS, st.integers(1, 24), PACKINGS)
def test_files_have_the_rows_of_the_reference(lengths: list[int], length: int, packing: str) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        documents = write_documents(folder / "texts.txt", lengths)
        files = tokens_of(folder, lengths, format="npy", pack=length, packing=packing, pad_token=PAD)
        found = [row.tolist() for row in files]
    assert found == filled(documents, reference_rows(lengths, length, packing), length)


@given(st.integers(0, 300), st.integers(0, (1 << 64) - 1))
def test_an_order_has_every_document_once(count: int, seed: int) -> None:
    assert sorted(document_order(count, seed)) == list(range(count))


@pytest.mark.parametrize("decreasing", [False, True])
def test_a_document_that_fits_is_never_cut(decreasing: bool) -> None:
    rows = reference_rows([5, 7, 3, 9, 20, 1], 10, "best-fit-decreasing" if decreasing else "best-fit")
    cut = {document for document, start, _ in chain.from_iterable(rows) if start}
    assert cut == {4}
