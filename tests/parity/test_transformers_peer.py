"""transformers and datasets on lexmill: the same scripts on both backends, each in a process, and equal results."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from lexmill.cli import hook
from peers import ROOT, tokenizer_file

pytestmark = [
    pytest.mark.external,
    pytest.mark.slow,
    *(
        pytest.mark.skipif(find_spec(name) is None, reason=f"{name} is not installed: group `transformers`")
        for name in ["tokenizers", "transformers", "datasets", "jinja2"]
    ),
]

SCRIPT = ROOT / "tests" / "transformers_scenarios"
# The functions of its modules, and two keys of what they give.
SCENARIOS = [
    "loading",
    "batch_encoding",
    "calls",
    "overflow",
    "words",
    "added_tokens",
    "decoding",
    "streaming",
    "chat",
    "saving",
    "copies",
    "stages",
    "training",
    "conversion",
    "question_answering",
    "token_classification",
    "collators",
    "mapping",
    "fingerprints",
]
FAILED, HASHES = "failed", "hashes"
# Published tokenizers, and what their folders have in `tokenizer_config.json` where none is published beside.
TOKENIZERS: dict[str, dict[str, Any]] = {
    "gpt2": {"tokenizer_class": "GPT2Tokenizer", "model_max_length": 1024},
    "roberta-base": {"tokenizer_class": "RobertaTokenizer", "model_max_length": 512},
    "qwen2": {},
    "mistral-v1": {"tokenizer_class": "LlamaTokenizer", "add_bos_token": True, "add_eos_token": False},
    "phi-3-mini": {},
    "bert-base-uncased": {"tokenizer_class": "BertTokenizer", "do_lower_case": True},
    "bert-base-cased": {"tokenizer_class": "BertTokenizer", "do_lower_case": False},
    "t5-small": {"tokenizer_class": "T5Tokenizer", "model_max_length": 512},
    "xlnet-base-cased": {"tokenizer_class": "XLNetTokenizer"},
}
# Differences that are meant (docs/compatibility.md): an added token with letters of the byte alphabet decodes to
# itself, and a stream that was begun with ids does not repeat their text.
MEANT: dict[str, Callable[[str, str], bool]] = {
    "decoded": lambda own, other: own == other.replace("\ufffdt\ufffd", "été"),
    "begun": lambda own, other: own != "" and other.endswith(own),
}
# Of one process; it takes one or two where nothing else runs.
MINUTES = 30


@cache
def folder(name: str, scratch: Path) -> Path:
    """A folder as `save_pretrained` leaves it: a published tokenizer's files and a configuration."""
    published = tokenizer_file(name).parent
    made = scratch / name
    made.mkdir()
    for path in published.iterdir():
        (made / path.name).symlink_to(path.resolve())
    config = made / "tokenizer_config.json"
    if not config.exists():
        config.write_text(json.dumps(TOKENIZERS[name]), encoding="utf-8")
    return made


@cache
def results(backend: str, name: str, scratch: Path, scenarios: tuple[str, ...] = tuple(SCENARIOS)) -> dict[str, Any]:
    """What the scenarios give on one backend with one tokenizer."""
    made = folder(name, scratch)
    own = scratch / f"{name}, {backend}, {len(scenarios)}"
    own.mkdir()
    # Two processes of one backend must not agree by the order of sets.
    seed = str(len(scenarios))
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(own / "home"), "PYTHONHASHSEED": seed}
    command = [sys.executable, str(SCRIPT), backend, str(made), str(own), *scenarios]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=60 * MINUTES)
    assert done.returncode == 0, done.stderr[-4000:]
    return dict(json.loads(done.stdout.splitlines()[-1]))


@pytest.fixture(scope="session")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("transformers")


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("name", TOKENIZERS)
def test_installed_gives_the_results_of_the_peer(name: str, scenario: str, scratch: Path) -> None:
    assert_same(results("install", name, scratch)[scenario], results("peer", name, scratch)[scenario])


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("name", TOKENIZERS)
def test_accelerated_gives_the_results_of_the_peer(name: str, scenario: str, scratch: Path) -> None:
    assert_same(results("accelerate", name, scratch)[scenario], results("peer", name, scratch)[scenario])


@pytest.mark.parametrize("backend", ["install", "accelerate"])
@pytest.mark.parametrize("name", TOKENIZERS)
def test_fingerprints_are_those_of_another_process(name: str, backend: str, scratch: Path) -> None:
    first = results(backend, name, scratch)["fingerprints"]
    second = results(backend, name, scratch, ("fingerprints",))["fingerprints"]
    assert first[HASHES] == second[HASHES]


def test_a_hook_puts_lexmill_under_transformers_and_its_processes(scratch: Path) -> None:
    packages = scratch / "packages"
    packages.mkdir()
    hook.install_hook(packages)
    code = f"""
import site
site.addsitedir({str(packages)!r})
import datasets
from transformers import AutoTokenizer
fast = AutoTokenizer.from_pretrained({str(folder("gpt2", scratch))!r})
def module(row):
    import tokenizers
    return {{"module": tokenizers.Tokenizer.__module__, "ids": fast(row["text"])["input_ids"]}}
if __name__ == "__main__":
    rows = datasets.Dataset.from_dict({{"text": ["one", "two"]}}).map(module, num_proc=2, load_from_cache_file=False)
    print(type(fast._tokenizer).__module__, rows["module"][:], rows["ids"][:])
"""
    environment = {**os.environ, "LEXMILL_INSTALL": "1", "HF_HUB_OFFLINE": "1", "HF_HOME": str(scratch / "home")}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=60 * MINUTES)
    assert done.returncode == 0, done.stderr[-4000:]
    assert done.stdout.splitlines()[-1] == "lexmill ['lexmill', 'lexmill'] [[505], [11545]]"


def assert_same(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    """Compares all that a scenario gave; a failure shows the first places that differ."""
    for side in (ours, theirs):
        assert FAILED not in side, side[FAILED]
    found = [
        f"{path}\n  ours   {short(own)}\n  theirs {short(other)}"
        for key in sorted({*ours, *theirs} - {HASHES})
        for path, own, other in differences(ours.get(key), theirs.get(key), key)
        if not is_meant(path, own, other)
    ]
    if found:
        pytest.fail("\n".join([f"{len(found)} differences:", *found[:5]]))


def is_meant(path: str, own: Any, other: Any) -> bool:
    rules = [rule for name, rule in MEANT.items() if re.search(rf"\b{name}\[\d+\]$", path)]
    return isinstance(own, str) and isinstance(other, str) and any(rule(own, other) for rule in rules)


def differences(ours: Any, theirs: Any, path: str) -> list[tuple[str, Any, Any]]:
    """The innermost values that differ, each with its path."""
    if isinstance(ours, dict) and isinstance(theirs, dict) and ours.keys() == theirs.keys():
        return [found for key in ours for found in differences(ours[key], theirs[key], f"{path} / {key}")]
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        pairs = enumerate(zip(ours, theirs, strict=True))
        return [found for at, (own, other) in pairs for found in differences(own, other, f"{path}[{at}]")]
    return [] if ours == theirs and type(ours) is type(theirs) else [(path, ours, theirs)]


def short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) < 400 else f"{text[:400]} ..."
