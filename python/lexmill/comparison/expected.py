"""The results of the reference library, on disk, and the first difference of another library's result."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .adapters import Adapter, Unsupported, load_adapter
from .digests import OFFSET_JOBS, Encoded, Numbers, Rows, digest_facts, expected_rows, rows_of, training_facts
from .measure import is_training, measure
from .texts import TextFile, documents, read_lines

if TYPE_CHECKING:
    from .task import Task

# The prepared texts: documents for most jobs, lines for `encode-one`.
DOCUMENTS, SHORT = "documents", "short"


def texts_of_job(job: str, corpus: Path) -> TextFile:
    """The prepared texts that a job reads."""
    return TextFile(corpus, SHORT if job == "encode-one" else DOCUMENTS)


def write(task: Task) -> dict[str, Any]:
    """Writes the reference's result for a job, some texts at a time, and returns its digest.

    Raises:
        Unsupported: the library is not installed, or cannot load the tokenizer.
    """
    adapter = load_adapter(task.library, task.threads)
    corpus = Path(task.corpus)
    row = {"version": adapter.version}
    if is_training(task.job):
        work = adapter.prepare_training(texts_of_job(task.job, corpus).path, corpus)
        facts = training_facts(adapter, task.job, getattr(adapter, task.job.replace("-", "_"))(work))
        if facts is None:
            raise Unsupported("gives no result to compare")
        _facts_file(task).write_text(json.dumps(_readable(facts)), encoding="utf-8")
        return row | {"digest": digest_facts(facts)}
    adapter.load(Path(task.tokenizer))
    encoded, parts = Encoded(task.job), []
    for part in expected_rows(adapter, task.job, _reference_texts(task)):
        encoded.add(part)
        parts.append(part)
    for name in _fields(task.job):
        np.save(_rows_file(task, name), _joined(name, [getattr(part, name) for part in parts]))
    return row | {"digest": encoded.hexdigest()}


def measure_and_compare(task: Task) -> dict[str, Any]:
    """Measures, and compares the result with the expected one; a difference is reported where it first occurs.

    The row's `correct` is None where results cannot be compared: another rule of training is documented.

    Raises:
        Unsupported: the library is not installed, cannot load the tokenizer or has no such call.
    """
    corpus, training = Path(task.corpus), is_training(task.job)
    texts = texts_of_job(task.job, corpus)

    def work_of(adapter: Adapter) -> Any:
        if training:
            return adapter.prepare_training(texts.path, corpus)
        return texts.path if task.job == "encode-file" else texts.read()

    tokenizer = None if training else Path(task.tokenizer)
    row, adapter, result = measure(task.library, task.job, task.threads, task.warm, tokenizer, work_of)
    if training:
        facts = training_facts(adapter, task.job, result)
        if facts is None:
            return row | {"correct": None}
        found = digest_facts(facts)
        difference = _first_other_fact(_readable(facts), json.loads(_facts_file(task).read_text(encoding="utf-8")))
    else:
        rows = rows_of(adapter, task.job, result)
        encoded = Encoded(task.job)
        encoded.add(rows)
        found = encoded.hexdigest()
        kept = {name: np.load(_rows_file(task, name), mmap_mode="r") for name in _fields(task.job)}
        difference = first_difference(task.job, rows, Rows(**kept))
    return row | {"digest": found, "correct": difference is None, "difference": difference}


def first_difference(job: str, own: Rows, expected: Rows) -> dict[str, Any] | None:
    """The first place where ids, numbers of tokens or offsets are others; documents and tokens count from 0."""
    if job == "encode-file":
        # One file is one row to some libraries and many to none.
        own, expected = (Rows(rows.ids, np.asarray([len(rows.ids)])) for rows in (own, expected))
    document = _first_unequal(own.lengths, expected.lengths)
    if job == "count-tokens":
        if document is None:
            return None
        counts = [_item(rows.lengths, document) for rows in (own, expected)]
        return {"document": document, "tokens": counts[0], "expected_tokens": counts[1]}
    ends = np.cumsum(expected.lengths)
    # Rows before the first of another length lie at the same places in both.
    same = len(expected.ids) if document is None else int(ends[document - 1]) if document else 0
    place = _first_unequal(own.ids[:same], expected.ids[:same])
    if place is not None:
        document = int(np.searchsorted(ends, place, side="right"))
    if document is not None:
        one, other = (_row(rows, document) for rows in (own, expected))
        token = _first_unequal(one, other)
        token = 0 if token is None else token
        ids = [_item(row, token) for row in (one, other)]
        return {"document": document, "token": token, "id": ids[0], "expected_id": ids[1]}
    if own.offsets is None or expected.offsets is None:
        return None
    pair = _first_unequal(own.offsets.reshape(-1), expected.offsets.reshape(-1))
    if pair is None:
        return None
    place = pair // 2
    document = int(np.searchsorted(ends, place, side="right"))
    return {
        "document": document,
        "token": place - (int(ends[document - 1]) if document else 0),
        "offsets": own.offsets[place].tolist(),
        "expected_offsets": expected.offsets[place].tolist(),
    }


def _first_unequal(one: Numbers, other: Numbers) -> int | None:
    """The first index at which two arrays differ, their ends included."""
    shared = min(len(one), len(other))
    unequal = np.flatnonzero(one[:shared] != other[:shared])
    if len(unequal):
        return int(unequal[0])
    return None if len(one) == len(other) else shared


def _row(rows: Rows, document: int) -> Numbers:
    start = int(rows.lengths[:document].sum())
    length = int(rows.lengths[document]) if document < len(rows.lengths) else 0
    return rows.ids[start : start + length]


def _item(numbers: Numbers, index: int) -> int | None:
    return int(numbers[index]) if index < len(numbers) else None


def _first_other_fact(own: list[Any], expected: list[Any]) -> dict[str, Any] | None:
    for place in range(max(len(own), len(expected))):
        one, other = (facts[place] if place < len(facts) else None for facts in (own, expected))
        if one != other:
            return {"merge": place, "pair": one, "expected_pair": other}
    return None


def _readable(facts: list[Any]) -> list[Any]:
    """Facts as JSON has them: bytes as text, with escapes for bytes that are not UTF-8."""

    def readable(part: Any) -> Any:
        return part.decode(errors="backslashreplace") if isinstance(part, bytes) else part

    return [[readable(part) for part in fact] for fact in facts]


def _reference_texts(task: Task) -> list[str]:
    texts = texts_of_job(task.job, Path(task.corpus))
    if task.job != "encode-file":
        return texts.read()
    if is_byte_level(Path(task.tokenizer)):
        return list(documents(read_lines(texts.path)))
    return [texts.path.read_text(encoding="utf-8")]


def is_byte_level(tokenizer: Path) -> bool:
    """True if cuts between documents leave the ids of a file as they are; see `texts.documents`."""
    definition = json.loads(tokenizer.read_text(encoding="utf-8"))
    return "ByteLevel" in json.dumps(definition.get("pre_tokenizer"))


def _fields(job: str) -> list[str]:
    return ["ids", "lengths", "offsets"] if job in OFFSET_JOBS else ["ids", "lengths"]


def _rows_file(task: Task, field: str) -> Path:
    return Path(task.corpus) / f"expected-{task.job}-{field}.npy"


def _facts_file(task: Task) -> Path:
    return Path(task.corpus) / f"expected-{task.job}.json"


def _joined(name: str, parts: list[Numbers]) -> Numbers:
    if parts:
        return np.concatenate(parts)
    return np.empty((0, 2) if name == "offsets" else 0, np.int64 if name == "lengths" else np.uint32)
