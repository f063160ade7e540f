"""Conversations in the shapes of data sets, as the messages that templates read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import NoneType
from typing import Any

from lexmill.errors import FormatError, InputTypeError, OptionError
from lexmill.messages._tracked import Origin, Tracked

__all__ = [
    "UNTRACKED",
    "Conversation",
    "conversation_of",
    "is_plain_json",
    "lone_surrogate",
    "plain_conversation",
    "plain_messages",
    "plain_value",
    "plain_variables",
    "tracked_messages",
]

_ROLES = {
    "human": "user",
    "user": "user",
    "gpt": "assistant",
    "chatgpt": "assistant",
    "bing": "assistant",
    "bard": "assistant",
    "assistant": "assistant",
    "system": "system",
    "tool": "tool",
    "observation": "tool",
    "function_response": "tool",
}
"""Speakers in ShareGPT's shape, and their roles."""
_CALL = "function_call"
_REASONING = ("reasoning_content", "thinking", "reasoning")
_BESIDE_CONTENT = (
    *("tool_calls", "function_call", "function_calls", "tool_plan"),
    *("tool_responses", "tool_results", "tools", "functions"),
    *_REASONING,
)
"""Fields that templates read from messages without content."""
_DEEPEST = 100
"""Levels of nesting in a value."""
UNTRACKED = frozenset(["role", "name", "tool_call_id", "type"])
"""Fields that templates write into headers."""


@dataclass(frozen=True)
class Conversation:
    """A conversation in OpenAI's shape.

    Attributes:
        messages: dictionaries with `role`, and mostly `content`.
        tools: JSON schemas of tools; None if there are none.
        documents: dictionaries with `title` and `text`; None if there are none.
        place: the file and the line or row, or the number, for messages of errors; not compared.
    """

    messages: list[dict[str, Any]]
    tools: list[Any] | None = None
    documents: list[Any] | None = None
    place: str = field(default="", compare=False)


_USUAL = ("messages", "text")
"""The field of conversations, and the default field of sources."""


def conversation_of(record: object, name: str = "messages", place: str = "", *, is_plain: bool = False) -> Conversation:
    """A conversation of a record: a list of messages, or an object that has it in a field or in `conversations`.

    Messages have OpenAI's shape (`role`, `content`, `tool_calls`) or ShareGPT's (`from`, `value`). Fields of an object
    may be JSON in a string, as columns of tables have it.

    Args:
        record: the record.
        name: the field.
        place: the place of the record.
        is_plain: the record has values of `plain_value` alone, as `is_plain_json` says.

    Raises:
        FormatError: the record has no messages, or one that cannot be read.
        InputTypeError: a value has a type that JSON does not have.
    """
    if isinstance(record, Conversation):
        return record if record.place else replace(record, place=place)
    if not isinstance(record, Mapping):
        return plain_conversation(record, place=place, is_plain=is_plain)
    # Another name is a choice, which no other field may replace.
    usual = ("messages", "conversations") if name in _USUAL else (name,)
    found = next((one for one in usual if record.get(one) is not None), None)
    if found is None:
        filled = ", ".join(str(one) for one in record if record[one] is not None)
        message = f"a record has values in the fields {filled or '(none)'} but must have one in {' or '.join(usual)}"
        raise FormatError(message)
    given = _with_system(_unpacked(record[found], found), record.get("system"))
    tools, documents = (_unpacked(record.get(one), one) for one in ("tools", "documents"))
    return plain_conversation(given, tools, documents, place, is_plain=is_plain)


def plain_conversation(
    messages: object, tools: object = None, documents: object = None, place: str = "", *, is_plain: bool = False
) -> Conversation:
    """A conversation of values of JSON.

    Args:
        messages: the messages.
        tools: JSON schemas of tools.
        documents: dictionaries with `title` and `text`.
        place: the place of the record.
        is_plain: all of these are values of `plain_value`.

    Raises:
        FormatError: a message cannot be read.
        InputTypeError: a value has a type that JSON does not have.
    """
    schemas: Any = tools if is_plain else plain_value(tools)
    texts: Any = documents if is_plain else plain_value(documents)
    return Conversation(plain_messages(messages, is_plain=is_plain), schemas, texts, place)


def plain_messages(messages: object, *, is_plain: bool = False) -> list[dict[str, Any]]:
    """Messages as values of JSON, in OpenAI's shape.

    Fields that are None are left out, and reasoning has all three names that templates read, as in transformers.

    Raises:
        FormatError: a message has no role, or a content that is not text.
        InputTypeError: a value has a type that JSON does not have.
    """
    if isinstance(messages, str | bytes) or not isinstance(messages, Sequence):
        message = f"messages are a {type(messages).__name__} but must be a list of dictionaries"
        raise InputTypeError(message)
    if not messages:
        message = "a conversation has no messages"
        raise FormatError(message)
    return [_message(number, one, is_plain) for number, one in enumerate(messages)]


def tracked_messages(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Messages whose text knows the message and the field that it comes from."""
    from lexmill.messages._borders import Message

    found: list[dict[str, Any]] = []
    for number, message in enumerate(messages):
        made = Message(
            (name, value if name in UNTRACKED else _tracked(value, Origin(number, name)))
            for name, value in message.items()
        )
        made._lexmill_number = number
        found.append(made)
    return found


def _tracked(value: Any, origin: Origin) -> Any:  # noqa: ANN401 (a value of JSON)
    if isinstance(value, str):
        return Tracked(value, ((0, len(value), origin),))
    if isinstance(value, dict):
        return {name: one if name == "type" else _tracked(one, origin) for name, one in value.items()}
    return [_tracked(one, origin) for one in value] if isinstance(value, list) else value


def _with_system(messages: Any, system: object) -> Any:  # noqa: ANN401 (a value of JSON)
    """Messages after the text of the system, which a record may have beside them.

    Raises:
        FormatError: it is no text, or the first message has another one.
    """
    if system is None or system == "":
        return messages
    if not isinstance(system, str):
        message = f"system is a {type(system).__name__} but must be a text; put it into a message of role system"
        raise FormatError(message)
    if isinstance(messages, str | bytes) or not isinstance(messages, Sequence):
        # These are refused later.
        return messages
    first = messages[0] if messages and isinstance(messages[0], Mapping) else {}
    if first.get("role", first.get("from")) != "system":
        return [{"role": "system", "content": system}, *messages]
    if first.get("content" if "role" in first else "value") != system:
        message = (
            "a record has a text in system, and another one in message 0, whose role is system; leave one of them out"
        )
        raise FormatError(message)
    return messages


def _message(number: int, given: object, is_plain: bool) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        message = f"message {number} is a {type(given).__name__} but must be a dictionary with role and content"
        raise InputTypeError(message)
    shaped = _of_sharegpt(number, given) if "role" not in given and "from" in given else given
    made: dict[str, Any]
    if is_plain:
        made = {name: value for name, value in shaped.items() if value is not None}
    else:
        made = {name: plain_value(value) for name, value in shaped.items() if value is not None}
    if not isinstance(made.get("role"), str):
        message = f"message {number} has the role {made.get('role')!r} but must have a string"
        raise FormatError(message)
    if "content" in made:
        _check_content(number, made["content"])
    elif not any(made.get(name) for name in _BESIDE_CONTENT):
        message = (
            f"message {number} has the fields {_names(given)} but no content; its text must be in content, or in value "
            "beside from; if your template reads another field, add an empty content"
        )
        raise FormatError(message)
    for name in _REASONING:
        if name in made:
            return {"thinking": made[name], **made, "reasoning_content": made[name]}
    return made


def _of_sharegpt(number: int, given: Mapping[str, Any]) -> dict[str, Any]:
    speaker, value = given["from"], given.get("value")
    others = {name: one for name, one in given.items() if name not in ("from", "value")}
    if speaker == _CALL:
        if value is None:
            message = f"message {number} is a {_CALL} but has no value; its fields are {_names(given)}"
            raise FormatError(message)
        _check_kept(number, given, "tool_calls")
        calls = _unpacked(value, f"the value of message {number}")
        functions = calls if isinstance(calls, list) else [calls]
        return {
            **others,
            "role": "assistant",
            "tool_calls": [{"type": "function", "function": one} for one in functions],
        }
    if not isinstance(speaker, str) or speaker not in _ROLES:
        known = ", ".join([*_ROLES, _CALL])
        message = f"message {number} is from {speaker!r} but must be from one of {known}"
        raise FormatError(message)
    _check_kept(number, given, "content")
    return {**others, "role": _ROLES[speaker], "content": value}


def _check_kept(number: int, given: Mapping[str, Any], name: str) -> None:
    """Refuses a field in OpenAI's shape that the value of a message in ShareGPT's shape would replace."""
    if given.get(name) and given[name] != given.get("value"):
        message = (
            f"message {number} mixes two shapes in the fields {_names(given)}; give it either from and value, or "
            f"role and {name}"
        )
        raise FormatError(message)


def _names(given: Mapping[str, Any]) -> str:
    return ", ".join(str(name) for name, value in given.items() if value is not None)


def _check_content(number: int, content: object) -> None:
    if isinstance(content, str):
        return
    if not isinstance(content, list):
        message = f"message {number} has a content of type {type(content).__name__} but must have text"
        raise FormatError(message)
    for part in content:
        fault = _fault_of(part)
        if fault:
            message = f"message {number} has a part of type {fault}"
            raise FormatError(message)


def _fault_of(part: object) -> str:
    """The type of a part of a content and its fault; empty without a fault."""
    kind = part.get("type") if isinstance(part, dict) else type(part).__name__
    if not isinstance(part, dict) or kind != "text":
        return f"{kind!r} in its content, but only parts of type 'text' are read"
    if "text" not in part:
        return "'text' in its content that has no text"
    if part["text"] is None:
        return "'text' in its content whose text is null"
    if not isinstance(part["text"], str):
        return f"'text' in its content whose text is a {type(part['text']).__name__} but must be a str"
    return ""


def _unpacked(value: Any, name: str) -> Any:  # noqa: ANN401 (a value of JSON)
    """A value, parsed if it is a string of JSON, and then checked: `is_plain_json` sees only the JSON around it.

    Raises:
        FormatError: the string is no JSON, or its value is none of `plain_value`.
    """
    if not isinstance(value, str):
        return value
    try:
        read = json.loads(value)
    # json refuses very long numbers (ValueError) and deep nesting (RecursionError).
    except (ValueError, RecursionError) as error:
        message = f"{name} is a string but no JSON: {error}"
        raise FormatError(message) from error
    return plain_value(read)


def is_plain_json(line: str) -> bool:
    """True if the JSON of a line has values of `plain_value` alone, seen without parsing the JSON.

    Only escapes can make a lone surrogate, and each level of nesting needs a bracket.
    """
    return "\\ud" not in line and "\\uD" not in line and line.count("{") + line.count("[") <= _DEEPEST


def plain_value(value: Any, depth: int = 0) -> Any:  # noqa: ANN401 (a value of JSON)
    """A value of JSON's own types: templates come from elsewhere, and call methods of all other objects.

    Raises:
        FormatError: it is nested too deeply, or has text that UTF-8 cannot express.
        InputTypeError: it is none.
    """
    if type(value) is str and value.isascii():
        return value
    if isinstance(value, str):
        text = str.__str__(value)
        if not text.isascii():
            _check_surrogates(text)
        return text
    if value is None or type(value) in (int, float, bool):
        return value
    if depth == _DEEPEST:
        message = f"a value is nested more than {_DEEPEST} levels deep"
        raise FormatError(message)
    if isinstance(value, Mapping):
        try:
            return {plain_value(name, depth + 1): plain_value(one, depth + 1) for name, one in value.items()}
        except InputTypeError:
            raise
        except TypeError as error:
            # A tuple is a list by now.
            message = "a template is given a tuple as a key of a dictionary, but reads texts and numbers as keys"
            raise InputTypeError(message) from error
    if isinstance(value, list | tuple):
        return [plain_value(one, depth + 1) for one in value]
    message = f"a template is given a {type(value).__name__}, but reads strings, numbers, lists and dictionaries alone"
    raise InputTypeError(message)


def plain_variables(variables: object) -> dict[str, Any]:
    """Variables of a template by their names, with values of JSON's own types.

    Raises:
        FormatError, InputTypeError: as `plain_value`; or they are no mapping.
        OptionError: a name is no text.
    """
    if not isinstance(variables, Mapping | NoneType):
        message = f"variables is a {type(variables).__name__} but must be a mapping of names and values"
        raise InputTypeError(message)
    for name in variables or {}:
        if not isinstance(name, str):
            message = f"variables has the name {name!r} of type {type(name).__name__}, but a name must be a str"
            raise OptionError(message)
    return dict(plain_value(variables or {}))


def _check_surrogates(text: str) -> None:
    found = lone_surrogate(text)
    if found:
        message = f"a text has {found}"
        raise FormatError(message)


def lone_surrogate(text: str) -> str:
    """The first lone surrogate of a text, for a message of an error; empty if there is none."""
    if text.isascii():
        return ""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        code = ord(text[error.start])
        return f"the lone surrogate U+{code:04X} at character {error.start:,}, which UTF-8 cannot express"
    return ""
