"""A replayed recording gives the text and the ranges of the template for tool calls, parts, tools and numbers, too."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("jinja2")

from chat_templates import HOSTILE
from lexmill.messages import ChatTemplate
from lexmill.messages._masks import Mask, TextToLearn
from lexmill.messages._shapes import Openings
from lexmill.messages.conversations import Conversation, plain_conversation
from lexmill.messages.rendering import Renderer
from recorded import NOW, check_replays

LOOP = (
    "{% for tool in tools or [] %}[{{ tool | tojson }}]{% endfor %}"
    "{% for m in messages %}<{{ m.role }}>"
    "{% if m.content is string %}{{ m.content }}"
    "{% else %}{% for part in m.content or [] %}{{ part.text }}{% endfor %}{% endif %}"
    "{% for c in m.tool_calls or [] %}BODY{% endfor %}</s>\n{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)
CALLS = {
    "json": "{{ c.function.name }}{{ c.function.arguments | tojson }}",
    "indented": "{{ c.function.arguments | tojson(indent=2) }}",
    "all": "{{ c | tojson }}{{ c.id }}",
    "function": "{{ c.function.name }}{{ c.function | tojson(sort_keys=true) }}",
    "function indented": "{{ c.function.name }}{{ c.function | tojson(indent=1) }}",
    "items": "{% for k, v in c.function.arguments.items() %}{{ k }}={{ v }};{% endfor %}",
    "items of text": "{% for k, v in c.function.arguments | items %}{{ v if v is string else v | tojson }}{% endfor %}",
    "kinds": "{% for v in c.function.arguments.values() %}{{ v is mapping }}{{ v is number }}{{ v is sequence }}"
    "{{ v is none }}{{ v is true }}{{ v is float }}{% endfor %}{{ c.function.arguments is mapping }}",
    "truth": "{% if c.function.arguments %}A{{ c.function.arguments | tojson }}{% endif %}",
    "truth of values": "{% for v in c.function.arguments.values() %}{{ 'A' if v else 'B' }}{{ v }}{% endfor %}",
    "numbers": "{% for v in c.function.arguments.values() %}{% if v is number and v > 1 %}A{% endif %}{{ v }}"
    "{{ v == 1 }}{% endfor %}",
    "sums": "{% for v in c.function.arguments.values() %}{{ v + 1 if v is number else v ~ '' }}{% endfor %}",
    "length": "{{ c.function.arguments | length }}{{ c.function.name | length }}{{ c.id | length > 1 }}",
    "output": "{{ c.function.arguments }}",
    "outputs": "{{ c.function.arguments ~ '' }}{{ c.function.arguments | string }}",
    "stripped json": "{{ (c.function.arguments | tojson)[1:-1] }}",
    "key": "{{ {'a': 1}.get(c.function.name, 2) }}{{ c.function.arguments.a }}{{ c.function.arguments['a'] }}",
    "names": "{{ c.function.name in ['a', 'b'] }}{{ c.function.name in 'ab' }}{{ 'a' in c.function.arguments }}",
    "id first": "{{ c.id }}:{{ c.function.name }}",
    "type": "{{ c.type }}{{ c.function.arguments.type }}",
    "repeated": "{{ messages[0].content }}{{ c.function.name }}",
    "titled": "{{ c.function.name | title }}{{ c.function.name | indent(2) }}{{ c.function.name | center(9) }}",
    "tool again": "{{ c.function.name }}{{ tools[0].function.description }}",
    "argument of tools": "{% for t in tools or [] %}{{ t.function.description | trim }}{% endfor %}",
    "dictionary": "{{ dict(a=c.function.name, b=[c.function.arguments]) | tojson }}",
    "equal": "{{ c.function.arguments == {'a': 1} }}{{ c.function.name }}",
    "list of arguments": "{{ c.function.arguments | list | join(',') }}{{ c.function.arguments | dictsort | string }}",
    "sorted": "{% for k, v in c.function.arguments | dictsort %}{{ k }}{{ v | tojson }}{% endfor %}{{ c.id }}",
    "sorted by value": "{% for k, v in c.function.arguments | dictsort(by='value') %}{{ v }}{% endfor %}{{ c.id }}",
    "safe": "{{ c.function.arguments | tojson | safe }}{{ c.function.name | safe }}",
    "safe in sums": "{{ (c.function.name | safe) ~ '<' ~ c.id }}{{ [c.function.name | safe] | join('&') }}",
    "safe before more": "{{ ('<' if (c.function.name | safe | string) + c.id == 'ab' else '') ~ c.function.name }}",
    "stripped sum": "{{ ('<think></think>' ~ c.function.name) | trim }}{{ (' ' ~ c.function.name ~ '!') | trim }}"
    "{{ (' ' ~ m.content ~ ' ').lstrip() }}{{ (c.id ~ c.function.name).strip('a') }}",
    "generated": "{% generation %}{{ c.function.name }}{{ c.function.arguments | tojson }}{% endgeneration %}",
}
HEADERS = {
    "names of messages": "{% for m in messages %}<{{ m.role }}{{ m.name }}>{{ m.content }}</s>{% endfor %}",
    "ids of messages": "{% for m in messages %}<{{ m.role }}>{{ m.content }}{{ m.tool_call_id }}</s>{% endfor %}",
    "ids at the end": "{% for m in messages %}<{{ m.role }}>{{ m.content }}{{ m.tool_call_id }}{% endfor %}",
    "prompt": "{% for m in messages %}{{ m.name }}<{{ m.role }}>{{ m.content }}{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}",
    "weights": "{% for m in messages %}{% if m.weight %}{{ m.weight }}{% endif %}{{ m.content }}{% endfor %}",
    "weights summed": "{% for m in messages %}{{ m.weight + 1 }}{{ m.content }}{% endfor %}",
    "thoughts": "{% for m in messages %}<{{ m.role }}>{% if m.reasoning_content %}{{ m.reasoning_content.strip() }}|"
    "{% endif %}{{ m.content }}</s>{% endfor %}",
    "both stripped": "{% for m in messages %}<{{ m.role }}>{{ ((m.reasoning_content or '') ~ m.content) | trim }}"
    "</s>{% endfor %}",
    "parts": "{% for m in messages %}<{{ m.role }}>{% set ns = namespace(t='') %}{% for p in m.content %}"
    "{% set ns.t = ns.t ~ p.text %}{% endfor %}{{ ns.t | trim }}</s>{% endfor %}",
    "joined parts": "{% for m in messages %}<{{ m.role }}>{{ m.content | map(attribute='text') | join(' ') }}"
    "{% endfor %}",
    "length of parts": "{% for m in messages %}{{ m.content | length }}{{ m.content[0].text }}{% endfor %}",
    "documents": "{% for d in documents or [] %}{{ d.title }}{{ d | tojson }}{% endfor %}"
    "{% for m in messages %}{{ m.content }}{% endfor %}",
    "tools in a turn": "{% for m in messages %}<{{ m.role }}>{{ m.content }}{{ tools[0].function.description }}"
    "{% endfor %}",
    "no prompt": "{% for m in messages %}<{{ m.role }}>{% for c in m.tool_calls or [] %}"
    "{{ c.function.arguments | tojson }}{% endfor %}</s>{% endfor %}",
    "stripped first": "{% for m in messages %}<{{ m.role }}>{% for c in m.tool_calls or [] %}"
    "{{ (c.function.name ~ '!') | trim }}{% endfor %}</s>{% endfor %}",
    "first character": "{% for m in messages %}<{{ m.role }}>{{ m.content[0] }}|{{ m.content[1:] }}{% endfor %}",
    "conversation": "{{ messages | tojson }}",
    "tools as text": "{{ tools }}{{ tools | tojson(indent=2) }}{% for m in messages %}{{ m.content }}{% endfor %}",
}
TEMPLATES = {**{name: LOOP.replace("BODY", body) for name, body in CALLS.items()}, **HEADERS}

small = st.text("ab1 <>\n", max_size=3)
texts = st.one_of(small, small, st.sampled_from(HOSTILE))
leaves = st.one_of(small, st.integers(0, 3), st.sampled_from([0.5, True, False, None]))
values = st.one_of(leaves, st.lists(leaves, max_size=2), st.dictionaries(st.sampled_from(["a", "type"]), leaves))
arguments = st.one_of(st.dictionaries(st.sampled_from(["a", "b", "type"]), values, max_size=2), texts)


@st.composite
def calls(draw: st.DrawFn) -> dict[str, Any]:
    function = {"name": draw(texts), "arguments": draw(arguments)}
    return {"id": draw(small), "type": "function", "function": function}


@st.composite
def messages(draw: st.DrawFn, role: str, kind: str) -> dict[str, Any]:
    made: dict[str, Any] = {"role": role, "content": draw(texts)}
    if kind == "parts":
        made["content"] = [{"type": "text", "text": draw(texts)} for _ in range(draw(st.integers(1, 2)))]
    if kind == "thoughts" and role == "assistant":
        made["reasoning_content"] = draw(texts)
    if kind == "names":
        made |= {"name": draw(texts), "weight": draw(st.integers(0, 2)), "tool_call_id": draw(small)}
    if kind == "calls" and role == "assistant":
        made["tool_calls"] = draw(st.lists(calls(), min_size=1, max_size=2))
        made["content"] = draw(st.sampled_from(["", "", None, "so"]))
    return made


@st.composite
def batches(draw: st.DrawFn) -> list[Conversation]:
    """Conversations that are alike."""
    kind = draw(st.sampled_from(["calls", "calls", "parts", "thoughts", "names"]))
    roles = draw(st.sampled_from([["user", "assistant"], ["user", "assistant", "tool", "assistant"]]))
    has_tools = draw(st.booleans())
    found = []
    for _ in range(draw(st.integers(3, 5))):
        tools = [{"type": "function", "function": {"description": draw(texts), "days": draw(leaves)}}]
        documents = [{"title": draw(texts), "text": draw(small)}]
        conversation = [draw(messages(role, kind)) for role in roles]
        found.append(plain_conversation(conversation, *((tools, documents) if has_tools else ())))
    # The same once more, so that there is a second conversation of each shape, and a third.
    return [*found, *found, *found]


@pytest.fixture(autouse=True)
def without_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong replay is seen here and not by the comparison, which finds some of them at work."""
    monkeypatch.setattr(Renderer, "compare", lambda *_: None)


def is_long(_: int, message: Any) -> bool:
    return len(message.get("content") or "") > 1


masks: st.SearchStrategy[Mask] = st.sampled_from(["assistant", ["assistant", "tool"], "user", is_long])


@settings(max_examples=max(settings.default.max_examples // 16, 5))
@given(batch=batches(), has_prompt=st.booleans(), mask=masks)
@pytest.mark.parametrize("name", sorted(TEMPLATES))
def test_nested_replays_match_naive(name: str, batch: list[Conversation], has_prompt: bool, mask: Mask) -> None:
    template = ChatTemplate(TEMPLATES[name])
    chosen = TextToLearn(template, mask, add_generation_prompt=has_prompt, variables=None)
    check_replays(chosen, template, batch)


@given(batch=batches(), data=st.data())
def test_fields_are_the_values_beside_the_shape(batch: list[Conversation], data: st.DataObject) -> None:
    openings = Openings()
    for one in batch[:4]:
        _, found = openings.shape_of(one)
        _, fields, _ = openings.watched(one)
        assert [id(field.value) for field in fields] == [id(value) for value in found]
        if fields:
            openings.open(data.draw(st.sampled_from(fields)))


@pytest.mark.parametrize("order", [1, -1, "empty first"])
@pytest.mark.parametrize("name", sorted(TEMPLATES))
def test_other_values_of_one_shape_match_naive(name: str, order: int | str) -> None:
    template = ChatTemplate(TEMPLATES[name])
    chosen = TextToLearn(template, "assistant", add_generation_prompt=False, variables=None)
    values = [("x", 0), ("a", 2), ("<assistant>", 1), ("a<&", 0.5), (" y ", 3), ("", 7), ("bb", 5)]
    batch = []
    for text, number in sorted(values) if isinstance(order, str) else values[::order]:
        inner = {"a": text, "b": number, "c": [number, text]}
        call = {"id": text, "type": "function", "function": {"name": text, "arguments": inner}}
        content: Any = [{"type": "text", "text": text}] if "part" in name else text
        turn = {"content": content, "name": text, "tool_call_id": text, "weight": number, "reasoning_content": text}
        messages = [{"role": "user", **turn}, {"role": "assistant", **turn, "tool_calls": [call]}]
        tools = [{"type": "function", "function": {"description": text, "days": number}}]
        batch.append(plain_conversation(messages, tools, [{"title": text, "text": text}]))
    check_replays(chosen, template, [one for one in batch for _ in range(2)] + batch)


@pytest.mark.parametrize("name", ["tools in a turn", "ids at the end", "names of messages", "prompt", "id first"])
def test_neutral_texts_may_hold_prompts_and_white_space(name: str) -> None:
    template = ChatTemplate(TEMPLATES[name])
    for order in permutations(["<assistant>", " ", "x", "x "]):
        chosen = TextToLearn(template, "assistant", add_generation_prompt=False, variables=None)
        batch = []
        for text in order:
            call = {"id": text, "type": "function", "function": {"name": "f"}}
            answer = {"role": "assistant", "content": "b", "name": text, "tool_call_id": text, "tool_calls": [call]}
            tools = [{"function": {"description": text}}]
            batch.append(plain_conversation([{"role": "user", "content": "a", "name": "u"}, answer], tools))
        check_replays(chosen, template, [one for one in batch for _ in range(2)] + batch)


@pytest.mark.parametrize("name", ["no prompt", "indented", "stripped first", "both stripped", "parts"])
def test_texts_may_be_empty_or_absent(name: str) -> None:
    """Texts of white space are stripped away, and arguments without a text have no origin."""
    template = ChatTemplate(TEMPLATES[name])
    values = [(" ", {"a": 1}), ("", {"a": 1}), ("b ", {"a": 1}), ("x", {"a": "x"}), ("x", {"type": "x"})]
    for order in permutations(values, 3):
        chosen = TextToLearn(template, ["assistant"], add_generation_prompt=False, variables=None)
        batch = []
        for text, arguments_of_call in order:
            call = {"id": "", "type": "function", "function": {"name": text, "arguments": arguments_of_call}}
            answer: dict[str, Any] = {"role": "assistant", "tool_calls": [call]}
            if name in ("both stripped", "parts"):
                answer["content"] = text if name == "both stripped" else [{"text": text, "type": "text"}] * 2
                answer["reasoning_content"] = text.strip()
            batch.append(plain_conversation([{"role": "user", "content": "a"}, answer]))
        check_replays(chosen, template, [one for one in batch for _ in range(2)] + batch)


def tool_conversation(number: int) -> Conversation:
    given: dict[str, Any] = {"place": f"city {number}", "days": number, "on": [f"day {number}"]}
    call = {"id": f"call{number}", "type": "function", "function": {"name": "weather", "arguments": given}}
    return plain_conversation(
        [
            {"role": "user", "content": f"question {number}"},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"call{number}", "name": "weather", "content": f"{number} degrees"},
            {"role": "assistant", "content": [{"type": "text", "text": f"It is {number}."}]},
        ],
        [{"type": "function", "function": {"name": "weather", "description": f"weather {number}"}}],
    )


@pytest.mark.parametrize(
    "name",
    ["json", "indented", "function", "function indented", "items", "truth", "kinds", "id first", "safe", "generated"],
)
def test_tool_calls_are_replayed(name: str) -> None:
    """Each call has other arguments and numbers, and each conversation other tools."""
    chosen = TextToLearn(ChatTemplate(TEMPLATES[name]), "assistant", add_generation_prompt=False, variables=None)
    for number in range(20):
        chosen.ranges(tool_conversation(number), NOW)
    assert chosen._recordings is not None
    assert sum(one.uses for made in chosen._recordings._made.values() for one in made) > 5


def test_a_function_that_chooses_turns_is_replayed() -> None:
    chosen = TextToLearn(ChatTemplate.named("chatml"), is_long, add_generation_prompt=False, variables=None)
    for number in range(10):
        chosen.ranges(
            plain_conversation([{"role": "user", "content": "long"}, {"role": "assistant", "content": ""}]), NOW
        )
        chosen.ranges(plain_conversation([{"role": "user", "content": str(number)}]), NOW)
    assert chosen._recordings is not None
    assert [[one.uses for one in made] for made in chosen._recordings._made.values()] == [[8], [8]]
