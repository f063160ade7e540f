"""Published families of tokenizers: their stages, and a vocabulary at hand to put the stages around.

Stages are those of the families' files, or of the code that makes the files. Most vocabularies are another family's:
what is compared and measured is how text is normalized and cut.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from families_of_bytes import FAMILIES_OF_BYTES
from families_of_pieces import FAMILIES_OF_PIECES
from families_of_words import FAMILIES_OF_WORDS
from family import Family

FAMILIES: dict[str, Family] = {
    family.name: family for family in (*FAMILIES_OF_BYTES, *FAMILIES_OF_PIECES, *FAMILIES_OF_WORDS)
}

# Families that the core refuses, and the part of the message that says so.
REFUSED = {"trinity": r"\G is not supported"}


def tokenizer_json(family: Family, file: Path) -> str:
    """The `tokenizer.json` of a family around the vocabulary of a file."""
    return with_stages(file, family.normalizer, family.pre_tokenizer)


def with_stages(file: Path, normalizer: Any, pre_tokenizer: Any) -> str:
    """The tokenizer of a file with other stages; `CHARSMAP` stands for the rules that the file itself has."""
    frame, rules = _frame(file)
    stages = {_NORMALIZER: _with_rules(normalizer, rules), _PRE_TOKENIZER: pre_tokenizer}
    for place, stage in stages.items():
        frame = frame.replace(json.dumps(place), json.dumps(stage), 1)
    return frame


def stages_of(file: Path) -> tuple[Any, Any]:
    """The normalizer and the pre-tokenizer of a file."""
    spec = json.loads(file.read_text(encoding="utf-8"))
    return spec["normalizer"], spec["pre_tokenizer"]


_NORMALIZER, _PRE_TOKENIZER = "the normalizer's place", "the pre-tokenizer's place"


# Large vocabularies are written once: a family differs in two short objects.
@cache
def _frame(file: Path) -> tuple[str, str | None]:
    spec = json.loads(file.read_text(encoding="utf-8"))
    rules = next(_rules(spec["normalizer"]), None)
    return json.dumps({**spec, "normalizer": _NORMALIZER, "pre_tokenizer": _PRE_TOKENIZER}), rules


def _rules(stage: Any) -> Any:
    if stage is not None:
        if stage["type"] == "Precompiled":
            yield stage["precompiled_charsmap"]
        for inner in stage.get("normalizers", []):
            yield from _rules(inner)


def _with_rules(stage: Any, rules: str | None) -> Any:
    if stage is None:
        return None
    if stage["type"] == "Precompiled":
        assert rules is not None, "the vocabulary's file has no rules of normalization"
        return {**stage, "precompiled_charsmap": rules}
    if "normalizers" in stage:
        return {**stage, "normalizers": [_with_rules(inner, rules) for inner in stage["normalizers"]]}
    return stage
