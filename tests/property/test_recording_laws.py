"""A replayed recording gives the text and the ranges that the template itself gives."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("jinja2")

from chat_templates import CASES, HOSTILE, Messages
from lexmill.messages import FORMATS, ChatTemplate
from lexmill.messages._masks import TextToLearn
from lexmill.messages.conversations import plain_conversation
from lexmill.messages.rendering import Renderer
from recorded import NOW, check_replays

LOOP = "{% for m in messages %}<{{ m.role }}>BODY</s>{% endfor %}"

QUESTIONS = {
    "in": "{% if 'a' in m.content %}A{% endif %}{{ m.content }}",
    "needle": "{% if m.content in 'xaby' %}A{% endif %}{{ m.content }}",
    "needle of a list": "{% if m.content not in ['a', 'b'] %}A{% endif %}{{ m.content }}",
    "chained": "{% if 'a' < m.content in 'abc' %}A{% endif %}{{ m.content }}",
    "truth": "{{ m.content or 'nothing' }}",
    "not": "{% if not m.content %}none{% else %}{{ m.content }}{% endif %}",
    "equal": "{% if m.content == 'a' %}A{% elif 'b' == m.content %}B{% endif %}{{ m.content }}",
    "less": "{% if m.content < 'b' %}A{% endif %}{{ m.content }}",
    "start": "{% if m.content.startswith('a') and not m.content.endswith(('b', 'a')) %}A{% endif %}{{ m.content }}",
    "start of a literal": "{% if 'abc'.startswith(m.content) %}A{% endif %}{{ m.content }}",
    "length": "{{ m.content | length }}{{ m.content }}",
    "count": "{{ m.content.count('a') }}{{ m.content }}",
    "find": "{% if m.content.find('b') > 1 %}A{% endif %}{{ m.content }}",
    "trim": "{{ m.content | trim }}",
    "strip": "{{ m.content.strip('a') }}|{{ m.content.lstrip() }}|{{ m.content.rstrip('b') }}",
    "cases": "{{ m.content | upper }}{{ m.content.capitalize() }}{{ m.content | title }}",
    "slice": "{{ m.content[1:3] }}|{{ m.content[0] }}",
    "reverse": "{{ m.content[::-1] }}{{ m.content | reverse }}",
    "split": "{{ m.content.split('b')[-1] }}|{{ m.content.split('a') | length }}",
    "split with a name": "{{ m.content.split(sep='b')[0] }}",
    "partition": "{{ m.content.partition('a')[2] }}",
    "lines": "{% for line in m.content.splitlines() %}[{{ line }}]{% endfor %}",
    "characters": "{% for c in m.content %}{{ c }}.{% endfor %}",
    "replace": "{{ m.content | replace('a', 'xy') }}{{ m.content.replace('b', '') }}",
    "replace by itself": "{{ 'a-b' | replace('-', m.content) }}{{ 'ab'.replace('b', m.content) }}",
    "sum": "{{ '(' + m.content + ')' }}{{ m.content ~ m.content }}",
    "trimmed sum": "{{ (' ' ~ m.content ~ ' ') | trim }}",
    "question of a sum": "{% set s = '<' + m.content %}{% if 'a' in s %}A{% endif %}{{ s }}",
    "times": "{{ m.content * 2 }}",
    "percent": "{{ '%s!' % m.content }}{{ '%s' | format(m.content) }}",
    "format": "{{ '{}!'.format(m.content) }}",
    "join": "{{ ', '.join([m.content, 'x']) }}",
    "join of an iterator": "{{ '+'.join(messages | map(attribute='content')) }}",
    "padded": "{{ m.content.rjust(2, '.') }}",
    "join of all": "{{ messages | map(attribute='content') | join('+') }}",
    "json": "{{ m.content | tojson }}{{ messages | tojson }}",
    "output of a list": "{{ [m.content] }}",
    "number": "{{ m.content | int }}{{ m.content | length + 1 }}",
    "key": "{{ {'a': 'x', 'b': 'y'}[m.content] }}{{ {'a': 'x'}.get(m.content, 'none') }}",
    "key of a pair": "{{ {m.content: 1}['a'] }}",
    "default": "{{ m.content | default('x', true) }}{{ m.missing | default('y') }}",
    "macro": "{% macro w(t) %}[{{ t }}]{% endmacro %}{{ w(m.content) }}{{ w(m.content) | trim }}",
    "namespace": "{% set ns = namespace(t=m.content) %}{% set ns.t = ns.t ~ '.' %}{{ ns.t }}",
    "block": "{% set t %}{{ m.content }}!{% endset %}{{ t }}{% if 'a' in t %}A{% endif %}",
    "filter block": "{% filter upper %}{{ m.content }}{% endfilter %}",
    "changed": "{% if loop.changed(m.content) %}new{% endif %}{{ m.content }}",
    "neighbour": "{% if not loop.first and loop.previtem.content == m.content %}same{% endif %}{{ m.content }}",
    "sorted": "{% for c in [m.content, 'ab'] | sort %}{{ c }},{% endfor %}",
    "unique": "{% for c in [m.content, 'a'] | unique %}{{ c }},{% endfor %}",
    "selected": "{{ messages | selectattr('content', 'equalto', 'a') | list | length }}{{ m.content }}",
    "rejected": "{{ messages | rejectattr('content', 'in', 'abc') | list | length }}{{ m.content }}",
    "attribute": "{{ m.content.runs }}{{ m.content.parts }}{{ m.content.steps }}{{ m.content }}",
    "class": "{{ m.content.__class__ }}{{ m.content }}",
    "tests": "{{ m.content is string }}{{ m.content is iterable }}{{ m.content is lower }}{{ m.content }}",
    "test in": "{% if m.content is in 'abc' %}A{% endif %}{{ m.content }}",
    "words": "{{ m.content | wordcount }}{{ m.content | truncate(2) }}{{ m.content | indent }}",
    "escaped": "{{ m.content | e }}",
    "last": "{{ messages[-1].content }}{{ (messages | last).content }}",
    "order": "{% for k, v in m.items() %}{{ k }}={{ v }};{% endfor %}",
    "time": "{{ strftime_now('%Y') }}{{ m.content }}",
    "random": "{{ [m.content, 'x'] | random }}",
    "first": "{{ m.content | first }}{{ m.content | list | length }}",
    "concatenated condition": "{{ (m.content if m.content else 'x') + ('!' if 'b' in m.content ~ 'b' else '?') }}",
}
ALL = {
    **{name: CASES[name].template for name in CASES},
    **{f"format {name}": ChatTemplate.named(name).text for name in FORMATS},
    "another message": "{% for m in messages %}{{ m.role }}:{{ m.content }}{{ messages[0].content }}{% endfor %}",
    **{name: LOOP.replace("BODY", body) for name, body in QUESTIONS.items()},
}
small = st.text("ab \n", max_size=4)
contents = st.one_of(small, small, st.sampled_from(HOSTILE))


@st.composite
def batches(draw: st.DrawFn) -> list[Messages]:
    """Conversations of one shape."""
    roles = draw(st.sampled_from([["user", "assistant"], ["system", "user", "assistant"], ["user", "assistant"] * 2]))
    return [[{"role": role, "content": draw(contents)} for role in roles] for _ in range(draw(st.integers(3, 8)))]


@pytest.fixture(autouse=True)
def without_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong replay is seen here and not by the comparison, which finds some of them at work."""
    monkeypatch.setattr(Renderer, "compare", lambda *_: None)


def variables(name: str) -> dict[str, Any]:
    return dict(ChatTemplate.named(name.removeprefix("format ")).variables) if name.startswith("format ") else {}


@settings(max_examples=max(settings.default.max_examples // 12, 4))
@given(batch=batches(), has_prompt=st.booleans())
@pytest.mark.parametrize("name", sorted(ALL))
def test_replays_match_naive(name: str, batch: list[Messages], has_prompt: bool) -> None:
    template = ChatTemplate(ALL[name], variables(name))
    chosen = TextToLearn(template, "assistant", add_generation_prompt=has_prompt, variables=None)
    if name == "random":
        assert chosen._recordings is None
        return
    check_replays(chosen, template, [plain_conversation(messages) for messages in batch])


@pytest.mark.parametrize("name", ["chatml", "llama-3", "qwen-2.5", "qwen-3", "gemma", "phi-4", "deepseek-v3"])
def test_published_templates_are_replayed(name: str) -> None:
    chosen = TextToLearn(ChatTemplate.named(name), "assistant", add_generation_prompt=False, variables=None)
    for number in range(4):
        messages = [{"role": role, "content": f"text {number}"} for role in ("user", "assistant")]
        chosen.ranges(plain_conversation(messages), NOW)
    assert chosen._recordings is not None
    assert [[one.uses for one in made] for made in chosen._recordings._made.values()] == [[2]]
