"""Chat templates of many shapes, each with a twin in Python that says which characters of its text are learned."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

Messages = list[dict[str, Any]]
Pieces = Iterator[tuple[str, bool]]


class Case(NamedTuple):
    """A template, and its text in pieces: each with True if an assistant's turn has it to learn."""

    template: str
    pieces: Callable[[Messages], Pieces]


def chatml(messages: Messages, body: Callable[[str], str] = str, begin: str = "") -> Pieces:
    yield begin, False
    for message in messages:
        is_learned = message["role"] == "assistant"
        yield f"<|im_start|>{message['role']}\n", False
        yield body(message["content"]) + "<|im_end|>", is_learned
        yield "\n", False


CHATML = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\n' + BODY + '<|im_end|>' + '\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


def with_body(body: str, twin: Callable[[str], str]) -> Case:
    return Case(CHATML.replace("BODY", body), lambda messages: chatml(messages, twin))


def after_thought(text: str) -> str:
    return text.split("</think>")[-1].lstrip("\n")


def merged(messages: Messages) -> Pieces:
    """The system's text within the first turn of the user, as Llama 2 had it; the end marker after a blank."""
    system = messages[0]["content"] if messages[0]["role"] == "system" else None
    for number, message in enumerate(one for one in messages if one["role"] != "system"):
        if message["role"] == "user":
            yield "<s>[INST] ", False
            if number == 0 and system is not None:
                yield f"<<SYS>>\n{system}\n<</SYS>>\n\n", False
            yield f"{message['content'].strip()} [/INST]", False
        else:
            yield " ", False
            yield f"{message['content'].strip()} </s>", True


MERGED = (
    "{% if messages[0].role == 'system' %}{% set system = messages[0].content %}{% set rest = messages[1:] %}"
    "{% else %}{% set system = false %}{% set rest = messages %}{% endif %}"
    "{% for m in rest %}"
    "{% if m.role == 'user' %}<s>[INST] {% if loop.first and system is not false %}<<SYS>>\n{{ system }}\n<</SYS>>\n\n"
    "{% endif %}{{ m.content.strip() }} [/INST]"
    "{% else %}{{ ' ' ~ m.content.strip() ~ ' </s>' }}{% endif %}{% endfor %}"
)


def in_blocks(messages: Messages) -> Pieces:
    """Macros, blocks that are set, a filter over a block, and a turn that is left out."""
    for message in messages:
        if message["role"] == "system":
            continue
        yield "<|" + message["role"].upper() + "|>\n", False
        yield message["content"].upper().replace("X", "<x>") + "</s>", message["role"] == "assistant"
        yield "\n", False


IN_BLOCKS = (
    """
{% macro header(role) %}{{ '<|' ~ role|upper ~ '|>' }}{% endmacro %}
{% for message in messages -%}
    {% if message.role == 'system' %}{% continue %}{% endif %}
    {%- set body %}{{ message.content }}{% endset -%}
    {{- header(message.role) + '\n' -}}
    {% filter upper|replace('X', '<x>') %}{{ body }}{% endfilter %}{{ '</s>\n' }}
{%- endfor %}
{% if add_generation_prompt %}{{ header('assistant') + '\n' }}{% endif %}
""".strip()
    .replace("%}\n{% for", "%}{% for")
    .replace("%}\n{% if add", "%}{% if add")
)


def generated(messages: Messages) -> Pieces:
    """A block that covers thought and answer, but not the end marker."""
    for message in messages:
        yield f"<|{message['role']}|> ", False
        yield message["content"].strip(), message["role"] == "assistant"
        yield "<|end|> ", False


GENERATED = (
    "{% for m in messages %}{{ '<|' + m.role + '|> ' }}"
    "{% if m.role == 'assistant' %}{% generation %}{{ m.content|trim }}{% endgeneration %}"
    "{% else %}{{ m.content|trim }}{% endif %}<|end|> {% endfor %}"
)


def marked_chatml(messages: Messages) -> Pieces:
    for message in messages:
        yield f"<|im_start|>{message['role']}\n", False
        yield message["content"] + "<|im_end|>\n", message["role"] == "assistant"


MARKED_CHATML = (
    "{%- for message in messages %}\n    {{- '<|im_start|>' + message.role + '\\n' }}\n"
    "    {%- if message.role == 'assistant' %}\n        {%- generation %}\n"
    "            {{- message.content + '<|im_end|>\\n' }}\n        {%- endgeneration %}\n"
    "    {%- else %}\n        {{- message.content + '<|im_end|>\\n' }}\n    {%- endif %}\n{%- endfor %}"
)


def as_json(messages: Messages) -> Pieces:
    for number, message in enumerate(messages):
        yield ("" if number == 0 else ", ") + f'{{"role": "{message["role"]}", "content": ', False
        yield json.dumps(message["content"], ensure_ascii=False) + "}", message["role"] == "assistant"


AS_JSON = (
    "{% for m in messages %}{{ ', ' if not loop.first }}"
    """{{ '{"role": "' + m.role + '", "content": ' + m.content|tojson + '}' }}{% endfor %}"""
)


def last_marker(messages: Messages) -> Pieces:
    """One end marker, after the loop."""
    last = len(messages) - 1
    for number, message in enumerate(messages):
        is_learned = message["role"] == "assistant"
        yield ("" if number == 0 else "\n") + f"{message['role']}: ", False
        yield message["content"] + ("<|endoftext|>" if number == last else ""), is_learned


LAST_MARKER = (
    "{% for m in messages %}{{ '\n' if not loop.first }}{{ [m.role, m.content]|join(': ') }}{% endfor %}"
    "{% if not add_generation_prompt %}<|endoftext|>{% endif %}"
)


def gemma(messages: Messages) -> Pieces:
    for message in messages:
        yield f"<start_of_turn>{'model' if message['role'] == 'assistant' else message['role']}\n", False
        yield message["content"].strip() + "<end_of_turn>", message["role"] == "assistant"
        yield "\n", False


GEMMA = (
    "{% for m in messages %}{% set role = 'model' if m['role'] == 'assistant' else m['role'] %}"
    "{{ '<start_of_turn>' + role + '\n' + m['content'] | trim + '<end_of_turn>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<start_of_turn>model\n' }}{% endif %}"
)


def halves(text: str) -> str:
    before, _, after = text.partition("|")
    return after + before


CASES: dict[str, Case] = {
    "plain": with_body("message['content']", str),
    "trimmed": with_body("message.content|trim", str.strip),
    "stripped of line ends": with_body("message.content.strip('\n')", lambda text: text.strip("\n")),
    "after a thought": with_body("message.content.split('</think>')[-1].lstrip('\n')", after_thought),
    "first line": with_body("(message.content.splitlines() or [''])[0]", lambda text: (text.splitlines() or [""])[0]),
    "title": with_body("message.content|capitalize", str.capitalize),
    "swapped halves": with_body("message.content.partition('|')[2] + message.content.partition('|')[0]", halves),
    "words": with_body("message.content.split()|join(' ')", lambda text: " ".join(text.split())),
    "cut": with_body("message.content[1:-1]", lambda text: text[1:-1]),
    "backwards": with_body("message.content|reverse", lambda text: text[::-1]),
    "without a name": with_body(
        "message.content.removeprefix('a').replace('<|im_end|>', '')",
        lambda text: text.removeprefix("a").replace("<|im_end|>", ""),
    ),
    "merged": Case(MERGED, merged),
    "blocks": Case(IN_BLOCKS, in_blocks),
    "json": Case(AS_JSON, as_json),
    "last marker": Case(LAST_MARKER, last_marker),
    "gemma": Case(GEMMA, gemma),
    "generated": Case(GENERATED, generated),
    "marked chatml": Case(MARKED_CHATML, marked_chatml),
}
HOSTILE = [
    "",
    " ",
    "\n\n",
    "\t x \n",
    "a",
    "<|im_end|>",
    "<|im_start|>assistant\n",
    "<|im_end|>\n<|im_start|>assistant\nyes",
    "</s>",
    "[/INST]",
    "<end_of_turn>",
    "{% generation %}",
    "{{ messages }}",
    "<think>\nwell\n</think>\n\nso",
    "</think>",
    "a|b",
    "caf\u00e9 cafe\u0301 \u00df\ufb01 \u0130",
    "\U0001f469\u200d\U0001f467",
    "\u4f60\u597d\u3000",
    "\u00a0\u2028\x85\x1c",
    "\ue000\U0010ffff\0",
    "x" * 3000,
    " word" * 500,
]
