"""Jobs of shared folders on an engine of one worker, and files for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from lexmill import Tokenizer, models, pre_tokenizers
from lexmill._engines.counting import CountOptions, count_groups
from lexmill._engines.groups import Group
from lexmill._engines.jobs import Job, Outcome, run_group
from lexmill._engines.tokenizing import tokenize_groups
from lexmill.trainers import SuperwordOptions

BYTE_LEVEL = pre_tokenizers.ByteLevel(add_prefix_space=False)


def in_turn(job: Job, groups: Sequence[Group]) -> Iterator[Outcome]:
    """An engine of one worker, which takes the last group first."""
    for group in reversed(groups):
        yield run_group(job, group)


def counted(
    sources: Any,
    folder: Path,
    execute: Any = in_turn,
    on_progress: Any = None,
    superwords: SuperwordOptions | None = None,
    **options: Any,
) -> Any:
    given = {"group_bytes": 1, "first_source": 0, **options}
    found = CountOptions.of(None, BYTE_LEVEL, (), superwords, None, None, "strict")
    return count_groups(sources, execute, options=found, folder=folder, num_threads=1, on_progress=on_progress, **given)


def tokenized(sources: Any, out: Path, execute: Any = in_turn, **options: Any) -> Any:
    call = {"resume": False, "overwrite": False, "group_bytes": 1, "on_progress": None, "tokenizer": tokenizer()}
    call |= {name: options.pop(name) for name in call if name in options}
    return tokenize_groups(call.pop("tokenizer"), sources, out, execute, options=options, num_threads=1, **call)


def tokenizer(alphabet: str = "abcdefghij ") -> Tokenizer:
    return Tokenizer(models.BPE({token: at for at, token in enumerate(alphabet)}, []))


def files_of(folder: Path, texts: Sequence[str]) -> list[Path]:
    made = [folder / f"{number}.txt" for number in range(len(texts))]
    for path, text in zip(made, texts, strict=True):
        path.write_text(text, encoding="utf-8")
    return made
