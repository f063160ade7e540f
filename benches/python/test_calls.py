"""What a call from Python costs: one short string, a batch, and results as lists of ints.

Each bench checks its result against the other library's first, and says so in `extra_info`.
"""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.bench

SHORT = "def tokenize(text: str) -> list[int]: pass\n"


@pytest.fixture
def reference(tokenizer_json: str) -> Any:
    """Hugging Face's tokenizer, whose ids are the right ones."""
    return pytest.importorskip("tokenizers").Tokenizer.from_str(tokenizer_json)


def call_of(tokenizer: Any, name: str) -> Any:
    """A method, or a skipped bench where the library has none."""
    call = getattr(tokenizer, name, None)
    if call is None:
        pytest.skip(f"{type(tokenizer).__module__} has no {name}")
    return call


@pytest.mark.benchmark(group="one short string")
def test_encode_one(benchmark: Any, tokenizer: Any, reference: Any) -> None:
    assert tokenizer.encode(SHORT).ids == reference.encode(SHORT).ids
    benchmark.extra_info["correct"] = True
    benchmark(tokenizer.encode, SHORT)


@pytest.mark.benchmark(group="one short string to ids")
def test_encode_one_and_read_ids(benchmark: Any, tokenizer: Any, reference: Any) -> None:
    assert tokenizer.encode(SHORT).ids == reference.encode(SHORT).ids
    benchmark.extra_info["correct"] = True
    benchmark(lambda: tokenizer.encode(SHORT).ids)


@pytest.mark.benchmark(group="one short string to ids")
def test_encode_ids(benchmark: Any, tokenizer: Any, reference: Any) -> None:
    encode_ids = call_of(tokenizer, "encode_ids")
    assert encode_ids(SHORT) == reference.encode(SHORT).ids
    benchmark.extra_info["correct"] = True
    benchmark(encode_ids, SHORT)


@pytest.mark.benchmark(group="decode one short string")
def test_decode_one(benchmark: Any, tokenizer: Any, reference: Any) -> None:
    ids = reference.encode(SHORT).ids
    assert tokenizer.decode(ids) == reference.decode(ids)
    benchmark.extra_info["correct"] = True
    benchmark(tokenizer.decode, ids)


@pytest.mark.benchmark(group="batch to encodings")
@pytest.mark.parametrize("call", ["encode_batch", "encode_batch_fast"])
def test_encode_batch(benchmark: Any, tokenizer: Any, reference: Any, texts: list[str], call: str) -> None:
    encode = call_of(tokenizer, call)
    assert [row.ids for row in encode(texts)] == [row.ids for row in reference.encode_batch(texts)]
    benchmark.extra_info.update(correct=True, bytes=sum(len(text.encode()) for text in texts))
    benchmark(encode, texts)


@pytest.mark.benchmark(group="batch to lists of ints")
def test_encode_batch_ids(benchmark: Any, tokenizer: Any, reference: Any, texts: list[str]) -> None:
    encode = call_of(tokenizer, "encode_batch_ids")
    assert encode(texts) == [row.ids for row in reference.encode_batch(texts)]
    benchmark.extra_info.update(correct=True, bytes=sum(len(text.encode()) for text in texts))
    benchmark(encode, texts)


@pytest.mark.benchmark(group="lists of ints beside arrays of the same ids, cached words")
@pytest.mark.parametrize("call", ["encode_batch_ids", "encode_batch_arrays"])
def test_lists_and_arrays(benchmark: Any, tokenizer: Any, reference: Any, texts: list[str], call: str) -> None:
    encode = call_of(tokenizer, call)
    ids = [token for row in reference.encode_batch(texts) for token in row.ids]
    assert [token for row in encode(texts) for token in row] == ids
    benchmark.extra_info.update(correct=True, ids=len(ids))
    benchmark(encode, texts)
    benchmark.extra_info["ns_per_id"] = benchmark.stats.stats.median / len(ids) * 1e9 if benchmark.stats else None


@pytest.mark.benchmark(group="batch to arrays")
def test_encode_batch_arrays(benchmark: Any, tokenizer: Any, reference: Any, texts: list[str]) -> None:
    encode = call_of(tokenizer, "encode_batch_arrays")
    assert list(encode(texts).ids) == [token for row in reference.encode_batch(texts) for token in row.ids]
    benchmark.extra_info.update(correct=True, bytes=sum(len(text.encode()) for text in texts))
    benchmark(encode, texts)
