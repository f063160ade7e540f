"""Chat templates give the text, the ids and the masks of transformers, on random conversations."""

from __future__ import annotations

import os
import random
from datetime import datetime
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from chat_templates import CASES, HOSTILE, Messages
from lexmill import Tokenizer
from lexmill.errors import TemplateError
from lexmill.messages import FORMATS, ChatTemplate, tokenize_messages
from lexmill.messages._masks import TextToLearn
from lexmill.messages.conversations import plain_conversation
from lexmill.messages.tokens import encoded
from masks_by_characters import check_by_characters
from peers import FULL, tokenizer_file

pytestmark = [
    pytest.mark.external,
    *(
        pytest.mark.skipif(find_spec(name) is None, reason=f"{name} is not installed: group `transformers`")
        for name in ["transformers", "jinja2"]
    ),
]

CONVERSATIONS = 2000 if FULL else 200
# A folder of published templates, which are not in this repository.
PUBLISHED = sorted(Path(os.environ.get("LEXMILL_CHAT_TEMPLATES", "/nowhere")).glob("*.jinja"))
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "weather",
            "description": "The weather \u2014 <now> & here",
            "parameters": {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]},
        },
    }
]
# Everything that transformers gives a template beside messages, and values of all kinds.
WHOLE = """
{%- for tool in tools or [] %}{{ tool | tojson }}{{ tool.function | tojson(indent=2) }}
{% endfor %}
{%- for one in documents or [] %}{{ one.title ~ ': ' ~ one.text }}
{% endfor %}
{%- set ns = namespace(last=none, turns=0) %}
{%- for message in messages %}
{%- set ns.turns = ns.turns + 1 %}
<{{ loop.index0 }} {{ message.role }}{{ ' last' if loop.last }}>
{%- if message.reasoning_content is defined %}<think>{{ message.reasoning_content.strip() }}</think>{% endif %}
{%- for call in message.tool_calls or [] %}
<call>{{ call.function.name }} {{ call.function.arguments | tojson }}
{{- call.function.arguments.items() | list | length }}
{%- for name, value in call.function.arguments.items() %} {{ name }}={{ value }}{% endfor %}</call>
{%- endfor %}
{{- (message.content or '') | replace('a', '4') | trim }}
{%- if message.role == 'assistant' %}{% generation %} <end {{ ns.turns }}>{% endgeneration %}{% endif %}
{%- set ns.last = message.role %}
{%- endfor %}
{{ bos_token is defined }} {{ eos_token }} {{ level | default('none') }} {{ ns.last }}
{%- if add_generation_prompt %}<assistant>{% endif %}"""


def conversation(chance: random.Random, *, whole: bool) -> Messages:
    """A conversation of hostile contents; with calls of tools, thoughts and missing contents if `whole`."""

    def content() -> str:
        return "".join(chance.choice(HOSTILE) for _ in range(chance.choice([1, 1, 1, 3])))

    found: Messages = [{"role": "system", "content": content()}] if chance.random() < 0.5 else []
    for _ in range(chance.randint(1, 3)):
        found += [{"role": "user", "content": content()}, {"role": "assistant", "content": content()}]
        if whole and chance.random() < 0.5:
            found[-1][chance.choice(["reasoning_content", "thinking", "reasoning"])] = content()
        if whole and chance.random() < 0.5:
            given: dict[str, Any] = {"place": content(), "days": 3, "all": [1.5, None, True], "in": {"x": content()}}
            found[-1] |= {"content": None, "tool_calls": [{"function": {"name": "weather", "arguments": given}}]}
            found.append({"role": "tool", "name": "weather", "content": content()})
    return found


@cache
def theirs(name: str) -> Any:
    import transformers

    return transformers.AutoTokenizer.from_pretrained(tokenizer_file(name).parent)


def check(name: str, template: ChatTemplate, batch: list[Messages], **options: Any) -> None:
    peer = theirs(name)
    # transformers makes some tokenizers again, by rules of their classes.
    own = Tokenizer.from_str(peer.backend_tokenizer.to_str())
    given = {"chat_template": template.text, **peer.special_tokens_map, **template.variables, **options}
    tools = given.pop("tools", None)
    texts = [peer.apply_chat_template(one, tools=tools, tokenize=False, **given) for one in batch]
    records = [{"messages": one, "tools": tools, "documents": given.get("documents")} for one in batch]
    variables = {
        key: value for key, value in given.items() if key not in ("chat_template", "add_generation_prompt", "documents")
    }
    tokens = tokenize_messages(
        own,
        records,
        template,
        mask="assistant" if template.has_generation else lambda *_: False,
        variables=variables,
        add_generation_prompt=options.get("add_generation_prompt", False),
        return_texts=True,
    )
    assert tokens.texts == texts
    for row, messages in enumerate(batch):
        begin, end = tokens.row_splits[row : row + 2]
        expected = peer.apply_chat_template(
            messages, tools=tools, return_dict=True, return_assistant_tokens_mask=template.has_generation, **given
        )
        assert tokens.ids[begin:end].tolist() == expected["input_ids"]
        if template.has_generation:
            assert tokens.loss_mask[begin:end].tolist() == expected["assistant_masks"]


@pytest.mark.parametrize("name", CASES)
def test_text_ids_and_masks_are_those_of_transformers(name: str) -> None:
    chance = random.Random(name)
    batch = [conversation(chance, whole=False) for _ in range(CONVERSATIONS)]
    check("qwen2", ChatTemplate(CASES[name].template), batch)
    own = Tokenizer.from_str(theirs("qwen2").backend_tokenizer.to_str())
    tokens = tokenize_messages(own, batch, CASES[name].template, return_texts=True)
    check_by_characters(CASES[name], own, batch, tokens)


@pytest.mark.parametrize("prompt", [False, True])
@pytest.mark.parametrize("name", ["qwen2", "phi-3-mini"])
def test_tools_documents_and_variables_are_those_of_transformers(name: str, prompt: bool) -> None:
    chance = random.Random(f"{name} {prompt}")
    batch = [conversation(chance, whole=True) for _ in range(CONVERSATIONS)]
    documents = [{"title": "one", "text": "<a> & b"}]
    check(name, ChatTemplate(WHOLE), batch, tools=TOOLS, documents=documents, level=7, add_generation_prompt=prompt)


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_built_in_templates_run_in_transformers(name: str) -> None:
    chance = random.Random(name)
    batch = [conversation(chance, whole=False) for _ in range(CONVERSATIONS)]
    if name in ("mistral-v3", "mistral-v3-tekken"):
        batch = [[message for message in one if message["role"] != "system"] for one in batch]
    check("qwen2", ChatTemplate.named(name), batch)


def test_the_template_of_a_folder_is_the_one_of_transformers() -> None:
    path = tokenizer_file("qwen2")
    chance = random.Random("folder")
    batch = [conversation(chance, whole=False) for _ in range(CONVERSATIONS)]
    template = ChatTemplate.from_path(path.parent)
    assert template.text == theirs("qwen2").chat_template
    check("qwen2", template, batch)


@pytest.mark.skipif(not PUBLISHED, reason="LEXMILL_CHAT_TEMPLATES names no folder of templates")
@pytest.mark.parametrize("path", PUBLISHED, ids=lambda path: path.stem)
def test_published_templates_give_the_ids_and_masks_of_transformers(path: Path) -> None:
    """Templates refuse some conversations, and then refuse them here, too."""
    peer, chance = theirs("qwen2"), random.Random(path.stem)
    own = Tokenizer.from_str(peer.backend_tokenizer.to_str())
    template = ChatTemplate(path.read_text(encoding="utf-8"), {"bos_token": "<s>", "eos_token": "</s>"}, path.stem)
    mask = "assistant" if template.has_generation else lambda *_: False
    chosen = TextToLearn(template, mask, add_generation_prompt=False, variables=None)
    rendered, expected = [], []
    for number in range(CONVERSATIONS):
        messages = conversation(chance, whole=number % 2 == 0)
        tools = TOOLS if number % 4 == 0 else None
        given = plain_conversation(messages, tools)
        try:
            made = peer.apply_chat_template(
                messages,
                tools=tools,
                chat_template=template.text,
                return_dict=True,
                return_assistant_tokens_mask=template.has_generation,
                **template.variables,
            )
        # A template is a program, which may fail in any way.
        except Exception:
            with pytest.raises(TemplateError):
                chosen.ranges(given, datetime.now())
            continue
        rendered.append(chosen.ranges(given, datetime.now()))
        expected.append(made)
    tokens = encoded(own, rendered, return_texts=False, num_threads=None)
    for row, made in enumerate(expected):
        begin, end = tokens.row_splits[row : row + 2]
        assert tokens.ids[begin:end].tolist() == made["input_ids"]
        if template.has_generation:
            assert tokens.loss_mask[begin:end].tolist() == made["assistant_masks"]
