"""JSON lines of conversations, drawn by a seed from the lines of corpora.

Texts have the lengths of public data sets: a conversation has a median of about 1.5 kB, and a tenth has more than 6 kB.
Each conversation has a kind, which stands in its field `kind`:

| kind | share | conversation |
|---|---|---|
| `plain` | 60 % | 2 to 30 turns of user and assistant; a third of them after a system's message |
| `thoughts` | 15 % | the same; each answer has `reasoning_content` |
| `tools` | 15 % | up to four tools; calls of one or two tools, their results, and an answer |
| `parts` | 10 % | as `plain`; contents are lists of parts of text, one in ten of two or three parts |
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

__all__ = ["KINDS", "generate"]

KINDS = {"plain": 60, "thoughts": 15, "tools": 15, "parts": 10}
_MOST_TURNS = 15
_SIZES = {"system": (90, 0.8), "user": (130, 1.0), "assistant": (450, 0.9), "thought": (400, 0.9), "tool": (150, 1.0)}
"""Medians of texts in bytes, and the deviations of their logarithms."""
_ARGUMENTS = ("city", "query", "limit", "unit", "path", "code", "filters", "verbose")
_NAMES = ("search", "weather", "run_code", "read_file", "book_table", "convert", "translate", "list_events")


class _Texts:
    """Texts of drawn lengths out of corpora."""

    def __init__(self, corpora: Sequence[Path], draw: random.Random) -> None:
        self._corpora = [path.read_bytes() for path in corpora]
        self._weights = [8, *[1] * (len(corpora) - 1)]
        self._draw = draw

    def text(self, kind: str) -> str:
        """Words from a random place of a corpus."""
        median, deviation = _SIZES[kind]
        size = max(1, min(int(median * self._draw.lognormvariate(0, deviation)), 40_000))
        (corpus,) = self._draw.choices(self._corpora, self._weights)
        at = corpus.rfind(b"\n", 0, self._draw.randrange(1, len(corpus))) + 1
        return corpus[at : at + size].decode(errors="ignore")


def generate(path: Path, size: int, seed: int, corpora: Sequence[Path], kinds: Sequence[str] = tuple(KINDS)) -> int:
    """Writes at least `size` bytes of conversations to `path`.

    Args:
        path: the file, which is replaced.
        size: bytes.
        seed: decides all draws.
        corpora: files of text; eight of ten texts or more are from the first.
        kinds: kinds of conversations; their shares are in the proportion of the table above.

    Returns:
        The number of conversations.
    """
    draw = random.Random(seed)
    texts = _Texts(corpora, draw)
    written = count = 0
    weights = [KINDS[kind] for kind in kinds]
    with path.open("wb") as file:
        while written < size:
            (kind,) = draw.choices(kinds, weights)
            line = json.dumps({"kind": kind, **_conversation(kind, texts, draw)}, ensure_ascii=False) + "\n"
            written += file.write(line.encode())
            count += 1
    return count


def _conversation(kind: str, texts: _Texts, draw: random.Random) -> dict[str, Any]:
    messages = [{"role": "system", "content": texts.text("system")}] if draw.random() < 1 / 3 else []
    turns = min(1 + int(draw.expovariate(0.8)), _MOST_TURNS)
    tools = [_tool(name, texts, draw) for name in draw.sample(_NAMES, draw.randint(1, 4))] if kind == "tools" else []
    for _ in range(turns):
        messages.append({"role": "user", "content": texts.text("user")})
        if tools:
            messages += _calls(tools, texts, draw)
        answer = {"role": "assistant", "content": texts.text("assistant")}
        if kind == "thoughts":
            answer["reasoning_content"] = texts.text("thought")
        messages.append(answer)
    if kind == "parts":
        messages = [one | {"content": _parts(one["content"], draw)} for one in messages]
    return {"messages": messages, "tools": tools} if tools else {"messages": messages}


def _parts(text: str, draw: random.Random) -> list[dict[str, str]]:
    cuts = sorted(draw.randrange(len(text) + 1) for _ in range(draw.choice([*[0] * 18, 1, 2])))
    places = [0, *cuts, len(text)]
    return [{"type": "text", "text": text[start:end]} for start, end in pairwise(places)]


def _tool(name: str, texts: _Texts, draw: random.Random) -> dict[str, Any]:
    names = draw.sample(_ARGUMENTS, draw.randint(1, 4))
    properties = {one: {"type": _type_of(one), "description": texts.text("system")[:80]} for one in names}
    parameters = {"type": "object", "properties": properties, "required": names[:1]}
    function = {"name": name, "description": texts.text("system"), "parameters": parameters}
    return {"type": "function", "function": function}


def _type_of(argument: str) -> str:
    return {"limit": "integer", "verbose": "boolean", "filters": "array"}.get(argument, "string")


def _calls(tools: Sequence[dict[str, Any]], texts: _Texts, draw: random.Random) -> list[dict[str, Any]]:
    """A message of the assistant with calls, and a message with the result of each."""
    chosen = [draw.choice(tools)["function"] for _ in range(draw.choice([1, 1, 1, 2]))]
    calls, results = [], []
    for function in chosen:
        number = f"call{draw.randrange(10**5):05d}"
        given = {name: _value(name, texts, draw) for name in function["parameters"]["properties"]}
        calls.append({"id": number, "type": "function", "function": {"name": function["name"], "arguments": given}})
        results.append(
            {"role": "tool", "tool_call_id": number, "name": function["name"], "content": texts.text("tool")}
        )
    return [{"role": "assistant", "content": "", "tool_calls": calls}, *results]


def _value(argument: str, texts: _Texts, draw: random.Random) -> object:
    if argument == "limit":
        return draw.randrange(1000)
    if argument == "verbose":
        return draw.random() < 0.5
    text = texts.text("user")[:200]
    return text.split()[:4] if argument == "filters" else text
