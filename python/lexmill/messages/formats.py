"""Built-in chat templates: the published formats of plain conversations, written as short as they can be.

They have system, user and assistant turns. Tool calls, tools and documents differ from release to release of a model,
so a conversation with any is refused; the model's own template has them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

__all__ = ["FORMATS", "Format"]


class Format(NamedTuple):
    """A template and the variables that it reads.

    Attributes:
        template: the template in Jinja.
        variables: special tokens by their names.
    """

    template: str
    variables: dict[str, Any]


_WRITABLE = "message.content is defined and not message.tool_calls and not message.function_call"
"""True for a message whose content is all that there is to write, but for its thoughts."""
_REFUSED = (
    "message.tool_calls or message.function_call or (message.content is undefined and "
    "message.reasoning_content is undefined)"
)
"""True for a message that templates with thoughts have no form for."""
# The text of a message. Data sets may have contents of several parts.
_TEXT = (
    "{% macro text(message) %}{% if message.content is string %}{{ message.content }}{% else %}"
    "{% for part in message.content %}{{ part.text }}{% endfor %}{% endif %}{% endmacro %}"
    "{% macro refuse(message) %}{{ raise_exception('the built-in template has no form for a message of role ' ~ "
    "message.role ~ (' with tool calls' if message.tool_calls else ' with a function call' if message.function_call "
    "else ' without content' if message.content is undefined else '') ~ '; pass the template of the model') }}"
    "{% endmacro %}"
    "{% if tools %}{{ raise_exception('the built-in template has no form for tools; pass the template of the model') }}"
    "{% endif %}"
    "{% if documents %}{{ raise_exception('the built-in template has no form for documents; pass the template of the "
    "model') }}{% endif %}"
)


def _written(*parts: str) -> str:
    """An output of literal texts; `{}` stands for the text of the message and `{|trim}` for its trimmed text."""
    pieces = []
    for part in parts:
        if part in ("{}", "{|trim}"):
            pieces.append(f"text(message){part[1:-1]}")
        elif part:
            # A name of a variable, or a literal.
            pieces.append(part if part.endswith("_token") else json.dumps(part, ensure_ascii=False))
    return "".join(f"{{{{ {piece} }}}}" for piece in pieces)


def _format(
    turns: Mapping[str, tuple[str, ...]],
    prompt: str,
    *,
    begin: str = "",
    end: str = "",
    **variables: str,
) -> Format:
    """A template with a form for each role.

    Args:
        turns: literal texts and `{}` by roles.
        prompt: the header of an assistant.
        begin: Jinja at the beginning.
        end: Jinja at the end, if there is no generation prompt.
        variables: special tokens.
    """
    branches = "".join(
        f"{'{% elif' if number else '{% if'} message.role == '{role}' and {_WRITABLE} %}}{_written(*parts)}"
        for number, (role, parts) in enumerate(turns.items())
    )
    body = f"{{% for message in messages %}}{branches}{{% else %}}{{{{ refuse(message) }}}}{{% endif %}}{{% endfor %}}"
    last = f"{{% if add_generation_prompt %}}{_written(prompt)}{{% else %}}{end}{{% endif %}}"
    return Format(_TEXT + begin + body + last, variables)


def _same(before: str, middle: str, after: str, body: str = "{}", **names: str) -> dict[str, tuple[str, ...]]:
    """Turns that differ in the name of the role alone."""
    roles = {"system": "system", "user": "user", "assistant": "assistant", **names}
    return {role: (f"{before}{name}{middle}", body, after) for role, name in roles.items()}


_BOS = "{{ bos_token }}"
_CHATML = _same("<|im_start|>", "\n", "<|im_end|>\n")
_CHATML_PROMPT = "<|im_start|>assistant\n"
_QWEN = "You are Qwen, created by Alibaba Cloud. You are a helpful assistant."
# Thoughts are written from the last question on, and before that left out.
_QWEN_3 = (
    "{% set ns = namespace(question=-1) %}"
    "{% for message in messages %}"
    "{% if message.role == 'user' %}{% set ns.question = loop.index0 %}{% endif %}{% endfor %}"
    "{% if ns.question < 0 %}{% set ns.question = messages|length - 1 %}{% endif %}"
    "{% for message in messages %}{% if message.role not in ['system', 'user', 'assistant'] or " + _REFUSED + " %}"
    "{{ refuse(message) }}{% endif %}"
    "{{ '<|im_start|>' + message.role + '\\n' }}{% set body = text(message) %}{% if message.role == 'assistant' %}"
    "{% set thought = '' %}"
    "{% if message.reasoning_content is string %}{% set thought = message.reasoning_content %}"
    "{% elif '</think>' in body %}"
    "{% set thought = body.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') %}"
    "{% set body = body.split('</think>')[-1].lstrip('\\n') %}{% endif %}"
    "{% if loop.index0 > ns.question and (loop.last or thought) %}"
    "{{ '<think>\\n' + thought.strip('\\n') + '\\n</think>\\n\\n' }}"
    "{% set body = body.lstrip('\\n') %}{% endif %}{% endif %}"
    "{{ body }}{{ '<|im_end|>\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}"
    "{% if enable_thinking is defined and not enable_thinking %}{{ '<think>\\n\\n</think>\\n\\n' }}"
    "{% endif %}{% endif %}"
)
# The first turn of the user begins with the system's text.
_GEMMA = (
    "{{ bos_token }}{% for message in messages %}{% if not (" + _WRITABLE + ") %}{{ refuse(message) }}"
    "{% elif message.role == 'system' and loop.first %}"
    "{% elif message.role in ['user', 'assistant'] %}"
    "{{ '<start_of_turn>' + ('model' if message.role == 'assistant' else 'user') + '\\n' }}"
    "{% if loop.index0 == 1 and messages[0].role == 'system' %}{{ text(messages[0]) + '\\n\\n' }}{% endif %}"
    "{{ text(message)|trim + '<end_of_turn>\\n' }}{% else %}{{ refuse(message) }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<start_of_turn>model\\n' }}{% endif %}"
)
# Instructions of the system are the developer's. The analysis of the last turn alone is written.
_GPT_OSS = (
    "{{ '<|start|>system<|message|>You are ChatGPT, a large language model trained by OpenAI.\\n"
    "Knowledge cutoff: 2024-06\\nCurrent date: ' + strftime_now('%Y-%m-%d') + '\\n\\nReasoning: ' "
    "+ (reasoning_effort if reasoning_effort is defined else 'medium') + '\\n\\n"
    "# Valid channels: analysis, commentary, final. Channel must be included for every message.<|end|>' }}"
    "{% for message in messages %}{% if " + _REFUSED + " %}{{ refuse(message) }}"
    "{% elif message.role in ['system', 'developer'] and loop.first %}"
    "{% if message.content %}"
    "{{ '<|start|>developer<|message|># Instructions\\n\\n' + text(message) + '\\n\\n<|end|>' }}{% endif %}"
    "{% elif message.role == 'user' %}{{ '<|start|>user<|message|>' + text(message) + '<|end|>' }}"
    "{% elif message.role == 'assistant' %}{% set is_answer = loop.last and not add_generation_prompt %}"
    "{% if is_answer and message.thinking is defined %}"
    "{{ '<|start|>assistant<|channel|>analysis<|message|>' + message.thinking + '<|end|>' }}{% endif %}"
    "{{ '<|start|>assistant<|channel|>final<|message|>' + text(message) + ('<|return|>' if is_answer else '<|end|>') }}"
    "{% else %}{{ refuse(message) }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|start|>assistant' }}{% endif %}"
)
_MISTRAL = {"bos_token": "<s>", "eos_token": "</s>"}


def _mistral(space: str, body: str = "{}") -> dict[str, tuple[str, ...]]:
    return {"user": (f"[INST]{space}", "{}", "[/INST]"), "assistant": (space, body, "eos_token")}


def _mistral_7(space: str) -> dict[str, tuple[str, ...]]:
    return {"system": (f"[SYSTEM_PROMPT]{space}", "{}", "[/SYSTEM_PROMPT]"), **_mistral(space)}


FORMATS: dict[str, Format] = {
    "chatml": _format(_CHATML, _CHATML_PROMPT, bos_token="<|im_start|>", eos_token="<|im_end|>"),
    "command-r": _format(
        {
            role: (f"<|START_OF_TURN_TOKEN|><|{name}_TOKEN|>", body, "<|END_OF_TURN_TOKEN|>")
            for role, name, body in [
                ("system", "SYSTEM", "{}"),
                ("user", "USER", "{|trim}"),
                ("assistant", "CHATBOT", "{|trim}"),
            ]
        },
        "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",
        begin=_BOS,
        bos_token="<BOS_TOKEN>",
    ),
    # DeepSeek's bars are of full width, and its lines in the middle are U+2581.
    "deepseek-v3": _format(
        {
            "system": ("{}",),
            "user": ("<\uff5cUser\uff5c>", "{}"),
            "assistant": ("<\uff5cAssistant\uff5c>", "{}", "eos_token"),
        },
        "<\uff5cAssistant\uff5c>",
        begin=_BOS,
        bos_token="<\uff5cbegin\u2581of\u2581sentence\uff5c>",
        eos_token="<\uff5cend\u2581of\u2581sentence\uff5c>",
    ),
    "gemma": Format(_TEXT + _GEMMA, {"bos_token": "<bos>"}),
    "gpt-oss": Format(_TEXT + _GPT_OSS, {}),
    "llama-3": _format(
        _same("<|start_header_id|>", "<|end_header_id|>\n\n", "<|eot_id|>", "{|trim}"),
        "<|start_header_id|>assistant<|end_header_id|>\n\n",
        begin=_BOS,
        bos_token="<|begin_of_text|>",
        eos_token="<|eot_id|>",
    ),
    "mistral-v3": _format(_mistral(" ", "{|trim}"), "", begin=_BOS, **_MISTRAL),
    "mistral-v3-tekken": _format(_mistral(""), "", begin=_BOS, **_MISTRAL),
    "mistral-v7": _format(_mistral_7(" "), "", begin=_BOS, **_MISTRAL),
    "mistral-v7-tekken": _format(_mistral_7(""), "", begin=_BOS, **_MISTRAL),
    "phi-3": _format(
        _same("<|", "|>\n", "<|end|>\n"), "<|assistant|>\n", end="{{ eos_token }}", eos_token="<|endoftext|>"
    ),
    "phi-4": _format(_same("<|im_start|>", "<|im_sep|>", "<|im_end|>"), "<|im_start|>assistant<|im_sep|>"),
    "qwen-2.5": _format(
        _CHATML,
        _CHATML_PROMPT,
        begin="{% if messages[0].role != 'system' %}"
        + _written(f"<|im_start|>system\n{_QWEN}<|im_end|>\n")
        + "{% endif %}",
    ),
    "qwen-3": Format(_TEXT + _QWEN_3, {}),
    "zephyr": _format(
        {role: (f"<|{role}|>\n", "{}", "eos_token", "\n") for role in ("system", "user", "assistant")},
        "<|assistant|>\n",
        eos_token="</s>",
    ),
}
"""Built-in templates by their names."""
