"""Chat templates give the text, the ids and the masks of transformers, on random conversations."""

from __future__ import annotations

import random
from functools import cache
from importlib.util import find_spec
from typing import Any

import pytest

from chat_templates import CASES, HOSTILE, Messages
from lexmill import Tokenizer
from lexmill.messages import FORMATS, ChatTemplate, tokenize_messages
from peers import tokenizer_file

pytestmark = [
    pytest.mark.external,
    *(
        pytest.mark.skipif(find_spec(name) is None, reason=f"{name} is not installed: group `transformers`")
        for name in ["transformers", "jinja2"]
    ),
]

CONVERSATIONS = 200
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
