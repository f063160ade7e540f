"""Chat templates: from text, by name, or beside a tokenizer's file."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from lexmill._core import local_path
from lexmill._data.optional import optional_module
from lexmill.errors import FileError, FormatError, InputTypeError, LexmillError, OptionError, TemplateError
from lexmill.messages.formats import FORMATS

if TYPE_CHECKING:
    from jinja2 import Environment, Template, nodes

__all__ = ["ChatTemplate", "special_tokens_of"]

_CONFIG, _TOKENS = "tokenizer_config.json", "special_tokens_map.json"
_FILE, _FOLDER = "chat_template.jinja", "additional_chat_templates"
_SPECIAL = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")


@dataclass(frozen=True)
class ChatTemplate:
    """A chat template in Jinja, and the variables that it reads beside the messages.

    Attributes:
        text: the template.
        variables: values such as `bos_token`, which `apply_chat_template` of transformers takes from the tokenizer.
        name: the name for messages of errors.
    """

    text: str
    variables: Mapping[str, Any] = field(default_factory=dict)
    name: str = "the chat template"

    @classmethod
    def named(cls, name: str) -> ChatTemplate:
        """A built-in template.

        Raises:
            OptionError: there is no such template; the message has all names.
        """
        if name not in FORMATS:
            message = f"no built-in chat template is called {name!r}; there are {', '.join(sorted(FORMATS))}"
            raise OptionError(message)
        known = FORMATS[name]
        return cls(known.template, known.variables, name)

    @classmethod
    def from_path(cls, path: str | os.PathLike[str], name: str = "default") -> ChatTemplate:
        """The template of a tokenizer: `chat_template.jinja`, or else the one in `tokenizer_config.json`.

        Args:
            path: the tokenizer's folder, or a file in it such as `tokenizer.json`; or the file of a template, with a
                name that ends in `.jinja`.
            name: one of several templates, such as `tool_use`.

        Raises:
            FileError: a file cannot be read, or there is none with a template.
            FormatError: a file is no JSON of this kind.
            OptionError: there is no template of that name.
        """
        given = Path(local_path(path))
        folder = given if given.is_dir() else given.parent
        config = _json_of(folder / _CONFIG)
        variables = special_tokens_of(folder)
        if given.suffix == ".jinja":
            return cls(_text_of(given), variables, os.fspath(given))
        templates = _templates_in(config, folder)
        if not templates:
            message = f"{folder} has no chat template: neither {_FILE} nor chat_template in {_CONFIG}; pass a template"
            raise FileError(message)
        if name not in templates:
            message = f"{folder} has no chat template called {name!r}; there are {', '.join(sorted(templates))}"
            raise OptionError(message)
        return cls(templates[name], variables, os.fspath(folder))

    @classmethod
    def of(cls, given: ChatTemplate | str | os.PathLike[str]) -> ChatTemplate:
        """The template that is given: itself, its text, a built-in name, or a path as `Path`.

        Raises:
            InputTypeError: it is none of these.
            OptionError: a word is no built-in name.
        """
        if isinstance(given, ChatTemplate):
            return given
        if isinstance(given, os.PathLike):
            return cls.from_path(given)
        if not isinstance(given, str):
            message = f"template is a {type(given).__name__} but must be a ChatTemplate, a text, a name or a Path"
            raise InputTypeError(message)
        # A template without any tag writes the same text for all conversations.
        return cls(given) if "{" in given else cls.named(given)

    @cached_property
    def has_generation(self) -> bool:
        """True if the template marks the generated text by `{% generation %}` blocks."""
        nodes = _jinja2("jinja2.nodes")
        marks = self._parsed.find_all(nodes.ExtensionAttribute)
        return any(mark.name == "mark_generated" for mark in marks)

    @cached_property
    def is_random(self) -> bool:
        """True if the template may give two texts for one conversation."""
        nodes = _jinja2("jinja2.nodes")
        parsed = self._parsed
        names = [one.name for one in parsed.find_all(nodes.Filter)] + [one.name for one in parsed.find_all(nodes.Name)]
        # A filter may be given by its name, as to `map`.
        names += [one.value for one in parsed.find_all(nodes.Const)]
        return "random" in names or "lipsum" in names

    @cached_property
    def _parsed(self) -> nodes.Template:
        """The nodes of the template, which compiles."""
        return self.plain.environment.parse(self.text)

    @cached_property
    def plain(self) -> Template:
        """The compiled template as transformers compiles it."""
        return self._compiled("plain")

    @cached_property
    def tracking(self) -> Template:
        """The compiled template whose output is tracked."""
        return self._compiled("tracking")

    @cached_property
    def watching(self) -> Template:
        """The compiled template whose texts are watched, for recordings."""
        return self._compiled("watching")

    def __reduce__(self) -> tuple[object, ...]:
        """Pickles the text and the variables, without the compiled templates."""
        return ChatTemplate, (self.text, dict(self.variables), self.name)

    def _compiled(self, way: Literal["plain", "tracking", "watching"]) -> Template:
        _jinja2("jinja2")
        from lexmill.messages._environment import plain_environment, tracking_environment
        from lexmill.messages._watching import watching_environment

        environments = {"plain": plain_environment, "tracking": tracking_environment, "watching": watching_environment}
        environment = environments[way]()
        try:
            return environment.from_string(self.text)
        except LexmillError:
            raise
        # Jinja makes Python of a template, which Python's compiler may refuse, and both follow nesting by recursion.
        except Exception as error:
            raise TemplateError(f"{self.name} does not compile: {_fault(error, environment, self.text)}") from error


def _fault(error: Exception, environment: Environment, text: str) -> str:
    """The reason why a template does not compile, with its line if that is known."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, _jinja2("jinja2").TemplateSyntaxError):
        return f"line {error.lineno}: {error.message}"
    if isinstance(error, SyntaxError) and error.lineno is not None:
        return f"line {_line_of(error.lineno, environment, text)}: {error.msg}"
    return str(error) or type(error).__name__


def _line_of(made: int, environment: Environment, text: str) -> int:
    """The line of the template that became the line `made` of its Python. Jinja's `debug_info` pairs both."""
    found = re.search(r"^debug_info = '([\d=&]*)'$", environment.compile(text, raw=True), re.MULTILINE)
    pairs = [pair.split("=") for pair in found[1].split("&") if pair] if found else []
    return next((int(line) for line, begin in reversed(pairs) if int(begin) <= made), 1)


def _jinja2(module: str) -> Any:  # noqa: ANN401 (a module that may be absent)
    return optional_module(module, "chat templates need the package jinja2: pip install 'lexmill[messages]'")


def special_tokens_of(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The special tokens of a tokenizer's folder by their names, such as `bos_token`; none if no file names them.

    Raises:
        FormatError: a file is no JSON of this kind.
    """
    given = Path(local_path(path))
    folder = given if given.is_dir() else given.parent
    return _special_tokens(_json_of(folder / _TOKENS) | _json_of(folder / _CONFIG))


def _text_of(path: Path) -> str:
    try:
        # Line ends stay as they are.
        return path.read_bytes().decode()
    except OSError as error:
        message = f"{path}: {error.strerror}"
        raise FileError(message) from error
    except UnicodeDecodeError as error:
        message = f"{path} is not UTF-8: {error.reason} at byte {error.start}"
        raise FormatError(message) from error


def _json_of(path: Path) -> dict[str, Any]:
    """An object in a file; empty if there is no file."""
    if not path.is_file():
        return {}
    text = _text_of(path)
    try:
        read = json.loads(text)
    # json refuses very long numbers (ValueError) and deep nesting (RecursionError).
    except (ValueError, RecursionError) as error:
        message = f"{path} is no JSON: {error}"
        raise FormatError(message) from error
    if not isinstance(read, dict):
        message = f"{path} holds a {type(read).__name__} but must hold an object"
        raise FormatError(message)
    return read


def _special_tokens(config: Mapping[str, Any]) -> dict[str, Any]:
    """The special tokens of a configuration by their names. A token is a string, or an object with `content`."""
    found = {}
    for name, value in config.items():
        token = value.get("content") if isinstance(value, dict) else value
        if isinstance(token, str) and (name in _SPECIAL or (name.endswith("_token") and isinstance(value, dict))):
            found[name] = token
    return found


def _templates_in(config: Mapping[str, Any], folder: Path) -> dict[str, str]:
    """The templates of a tokenizer by their names. Files come before the configuration."""
    given = config.get("chat_template")
    found: dict[str, str] = {}
    if isinstance(given, str):
        found["default"] = given
    elif isinstance(given, list):
        try:
            found |= {str(one["name"]): str(one["template"]) for one in given}
        except (KeyError, TypeError) as error:
            message = f"chat_template in {folder / _CONFIG} must be a text, or a list of objects with name and template"
            raise FormatError(message) from error
    if (folder / _FILE).is_file():
        found["default"] = _text_of(folder / _FILE)
    for path in sorted((folder / _FOLDER).glob("*.jinja")):
        found[path.stem] = _text_of(path)
    return found
