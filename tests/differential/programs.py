"""Random programs: an object, and steps that call, read, set and compare it."""

from __future__ import annotations

import copy
import itertools
import operator
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from differential import parameters, pools, surface
from differential.values import Call, Member, Name, Script, Subject, method, spell


@dataclass(frozen=True)
class Step:
    """One thing that is done: `path` is the name of the peer's that it is about."""

    path: str
    action: str
    value: Any
    given: Any = None

    def __str__(self) -> str:
        if self.action == "evaluate":
            return spell(self.value)
        return f"{self.action} {spell(self.value)} {spell(self.given)}".replace(" None", "")


@dataclass(frozen=True)
class Program:
    """What is made first, and what is then done with it."""

    path: str
    subject: Any
    steps: tuple[Step, ...]

    def __str__(self) -> str:
        return "\n".join([f"subject = {spell(self.subject)}", *map(str, self.steps)])


SHARE_OF_HOSTILE = 0.25


# Steps of a program that are taken in turn, so that none is forgotten; the others are drawn.
IN_TURN = 3


def program(rng: Random, path: str, round_: int, steps: int) -> Program:
    """A program about an object of the class at `path`."""
    cls = surface.classes()[path]
    # Half of the objects are made without a mistake, or a rare step would have nothing to work on.
    subject = draw_subject(rng, cls, SHARE_OF_HOSTILE * (round_ % 2))
    draws = steps_of(cls)
    first = [draws[(round_ // 2 * IN_TURN + place) % len(draws)](rng) for place in range(IN_TURN) if draws]
    return Program(path, subject, (*first, *(draw_step(rng, cls) for _ in range(steps - len(first)))))


def steps_of(cls: surface.Class) -> list[Callable[[Random], Step]]:
    """All calls, reads and assignments that a class allows, each as a function that draws its values."""
    return [
        *(lambda rng, item=item: draw_method(rng, item) for item in cls.calls),
        *(lambda _, item=item: draw_read(item) for item in cls.attributes),
        *(lambda rng, item=item: draw_assignment(rng, item) for item in cls.attributes),
    ]


def draw_subject(rng: Random, cls: surface.Class, hostile: float) -> Any:
    own = parameters.SUBJECTS.get(cls.path)
    if own and (not hostile or rng.random() < 0.9):
        return own(rng)
    return draw_call(rng, Name(cls.path), cls.path, cls.parameters, hostile)


def draw_call(
    rng: Random, function: Any, path: str, taken: surface.Parameters, hostile: float = SHARE_OF_HOSTILE
) -> Call:
    """A call with some of the parameters, by position or keyword; a share is wrong somewhere."""
    positional: list[Any] = []
    keywords: dict[str, Any] = {}
    by_position = True
    together = parameters.TOGETHER.get(path, ())
    left_out = rng.random() < 0.1
    for parameter in taken:
        is_left_out = left_out if parameter.name in together else rng.random() < 0.5
        if parameter.default is not None and is_left_out:
            by_position = False
            continue
        value = parameters.draw_for(path, parameter.name)(rng)
        by_position = by_position and not parameter.by_keyword and rng.random() < 0.7
        if by_position:
            positional.append(value)
        else:
            keywords[parameter.name] = value
    if rng.random() < hostile:
        spoil(rng, path, positional, keywords, taken)
    return Call(function, tuple(positional), keywords)


def spoil(rng: Random, path: str, positional: list[Any], keywords: dict[str, Any], taken: surface.Parameters) -> None:
    """Makes one thing of a call wrong: a value, a number of arguments or a keyword."""
    places: list[tuple[Any, Any]] = [
        *((positional, place) for place in range(len(positional))),
        *((keywords, name) for name in keywords),
    ]
    kinds = ["value"] * 6 * bool(places) + ["keyword", "one more", "one less", "twice"]
    match rng.choice(kinds):
        case "value":
            container, place = rng.choice(places)
            name = taken[place].name if isinstance(place, int) else place
            container[place] = rng.choice(pools.HOSTILE + parameters.WRONG.get(f"{path}.{name}", []) * 5)
        case "keyword":
            keywords[rng.choice(["zzz", "content", "name", "vocab_size"])] = rng.choice(pools.HOSTILE)
        case "one more":
            positional.append(rng.choice(pools.HOSTILE))
        case "one less" if places:
            container, place = places[-1]
            del container[place]
        case "twice" if positional and taken:
            keywords[taken[0].name] = positional[0]


def draw_step(rng: Random, cls: surface.Class) -> Step:
    """A call, a property or an operator."""
    kinds = [
        *["call"] * 6 * bool(cls.calls), *["get"] * 2 * bool(cls.attributes), *["set"] * 2 * bool(cls.attributes),
        "operator",
        "class",
    ]  # fmt: skip
    match rng.choice(kinds):
        case "call":
            return draw_method(rng, rng.choice(cls.calls))
        case "get":
            return draw_read(rng.choice(cls.attributes))
        case "set":
            attribute = rng.choice(cls.attributes)
            if rng.random() < 0.05:
                return Step(attribute.path, "delete", Subject(), attribute.name)
            return draw_assignment(rng, attribute)
        case "operator":
            name = rng.choice([*OPERATORS])
            other = rng.choice(
                [Subject(), method(Script("copy"), "copy", Subject()), draw_subject(rng, cls, 0.0), *pools.HOSTILE[:20]]
            )
            return Step(cls.path, name, Subject(), other)
    return Step(cls.path, rng.choice([*CLASS_OPERATORS]), Name(cls.path))


def draw_read(attribute: surface.Method) -> Step:
    return Step(attribute.path, "evaluate", Member(Subject(), attribute.name))


def draw_assignment(rng: Random, attribute: surface.Method) -> Step:
    draw = parameters.draw_property(attribute.path, attribute.name)
    value = rng.choice(pools.HOSTILE) if rng.random() < SHARE_OF_HOSTILE else draw(rng)
    return Step(f"{attribute.path}.setter", "set", Subject(), (attribute.name, value))


def draw_method(rng: Random, called: surface.Method) -> Step:
    target = Member(Subject(), called.name)
    return Step(called.path, "evaluate", draw_call(rng, target, called.path, called.parameters))


def function_program(rng: Random, path: str) -> Program:
    """A program that calls a function of the package."""
    call = draw_call(rng, Name(path), path, surface.functions()[path])
    return Program(path, None, (Step(path, "evaluate", call),))


def name_program(path: str) -> Program:
    """A program that looks up a name of the package."""
    return Program(path, None, (Step(path, "evaluate", Name(path)),))


def _indexed(subject: Any, given: Any) -> Any:
    return subject[given]


def _set_index(subject: Any, given: Any) -> None:
    subject[0] = given


def _deleted_index(subject: Any, _: Any) -> None:
    del subject[0]


def _set_unknown(subject: Any, _: Any) -> None:
    subject.zzz = 1


def _pickled(subject: Any, _: Any) -> Any:
    return pickle.loads(pickle.dumps(subject))


def _is_hashed_alike(subject: Any, given: Any) -> Any:
    return hash(subject) == hash(subject), type(given) is type(subject) and hash(subject) == hash(given)


OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">=": operator.ge,
    "+": operator.add,
    # An object with indices alone may have no end.
    "in": lambda subject, given: given in itertools.islice(subject, 20),
    "len": lambda subject, _: len(subject),
    "bool": lambda subject, _: bool(subject),
    "int": lambda subject, _: int(subject),
    "iter": lambda subject, _: list(itertools.islice(subject, 20)),
    "next": lambda subject, _: next(subject),
    "call": lambda subject, given: subject(given),
    "hash": _is_hashed_alike,
    "repr": lambda subject, _: repr(subject),
    "str": lambda subject, _: str(subject),
    "format": lambda subject, _: f"{subject:>5}",
    "bytes": lambda subject, _: bytes(subject),
    "[]": _indexed,
    "[] =": _set_index,
    "del []": _deleted_index,
    "pickle": _pickled,
    "copy": lambda subject, _: copy.copy(subject),
    "deepcopy": lambda subject, _: copy.deepcopy(subject),
    "unknown": lambda subject, _: subject.zzz,
    "unknown =": _set_unknown,
    "class": lambda subject, _: type(subject),
    "bases": lambda subject, _: [base.__name__ for base in type(subject).__mro__],
    "with": lambda subject, _: subject.__enter__(),
}

CLASS_OPERATORS: dict[str, Callable[[Any], Any]] = {
    "subclass": lambda cls: type("Own", (cls,), {}).__name__,
    "made from subclass": lambda cls: type("Own", (cls,), {})(),
    "no object": lambda cls: cls.__new__(cls),
    "set on class": lambda cls: setattr(cls, "zzz", 1),
    "unbound": lambda cls: cls.__repr__(5),
}
