"""Runs programs under both libraries in step, and compares what comes of each."""

from __future__ import annotations

import asyncio
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from differential import outcomes
from differential.outcomes import Panic, Raised, outcome
from differential.programs import CLASS_OPERATORS, OPERATORS, Program, Step
from differential.values import Sandbox, evaluate

# Characters of a program that a report shows.
LONGEST = 3000


@dataclass(frozen=True)
class Difference:
    """A step that came out differently."""

    program: Program
    step: Step
    theirs: Any
    ours: Any

    def __str__(self) -> str:
        where = first_difference(self.theirs, self.ours)
        program = str(self.program)
        shown = program if len(program) < LONGEST else f"{program[:LONGEST]}..."
        return f"{self.step.path}:\n{shown}\n-- at: {self.step}\n  theirs {where[0]}\n  ours   {where[1]}"


@dataclass
class Tally:
    """What a run has seen."""

    compared: Counter[str] = field(default_factory=Counter)
    panics: Counter[str] = field(default_factory=Counter)
    differences: list[Difference] = field(default_factory=list)


class Pair(NamedTuple):
    """Both libraries, each with a folder."""

    theirs: Sandbox
    ours: Sandbox


def do(step: Step, sandbox: Sandbox) -> Any:
    """Does a step; what it returns counts."""
    if step.action == "evaluate":
        return (
            evaluate(step.value, sandbox) if ".async_" not in step.path else asyncio.run(awaited(step.value, sandbox))
        )
    value = evaluate(step.value, sandbox)
    given = evaluate(step.given, sandbox)
    if step.action == "set":
        return setattr(value, *given)
    if step.action == "delete":
        return delattr(value, given)
    if step.action in CLASS_OPERATORS:
        return CLASS_OPERATORS[step.action](value)
    return OPERATORS[step.action](value, given)


def is_shown(step: Step) -> bool:
    """Whether a step only looks at the subject."""
    return step.action in ("repr", "str", "format") or step.path.endswith(("__repr__", "__str__", "__getstate__"))


UNORDERED = {
    "pre_tokenizers.ByteLevel.alphabet",
    *(
        f"trainers.{name}.initial_alphabet"
        for name in ["BpeTrainer", "ParityBpeTrainer", "UnigramTrainer", "WordPieceTrainer"]
    ),
}
"""What the peer gives in the order of a hash."""


def is_random(step: Step, subject: Any) -> bool:
    """Whether what a step leaves is random in the peer, so that nothing after it can be compared."""
    if step.path == "Encoding.set_sequence_id":
        # A token may then be of two sequences, of which the peer names either.
        return True
    if step.path.rpartition(".")[2] not in ("train", "train_from_iterator"):
        return False
    if step.path.startswith("trainers."):
        # The tokenizer that it trains is dropped.
        return False
    model = getattr(subject, "_tokenizer", subject).model
    has_affix = any(getattr(model, name, None) for name in ("end_of_word_suffix", "continuing_subword_prefix"))
    # Letters as frequent as each other are kept at random, and those with an affix get random ids.
    return type(model).__name__ in ("WordPiece", "Unigram") or has_affix or "limit_alphabet" in str(step)


async def awaited(value: Any, sandbox: Sandbox) -> Any:
    return await evaluate(value, sandbox)


def nowhere(_: str) -> None:
    """Tells nobody which library runs."""


def run(program: Program, pair: Pair, tally: Tally, *, at: Callable[[str], None] = nowhere) -> None:
    """Runs a program until the libraries part, and looks at its subject after each step.

    `at` is told which library runs.
    """
    sandboxes = [pair.theirs, pair.ours]

    def in_both(call: Callable[[Sandbox], Any]) -> list[Any]:
        seen = []
        for sandbox in sandboxes:
            at(sandbox.library.__name__)
            seen.append(seen_of(lambda sandbox=sandbox: call(sandbox), sandbox))
        return seen

    if program.subject is not None:
        subjects: list[Any] = []
        seen = in_both(lambda sandbox: kept(subjects, evaluate(program.subject, sandbox)))
        made = Step(program.path, "evaluate", program.subject)
        if not compare(program, made, seen, tally) or len(subjects) < len(sandboxes):
            return
        sandboxes = [sandbox._replace(subject=subject) for sandbox, subject in zip(sandboxes, subjects, strict=True)]
    for step in program.steps:
        seen = in_both(lambda sandbox, step=step: do(step, sandbox))
        if step.path in UNORDERED:
            seen = [sorted(result, key=repr) if isinstance(result, list) else result for result in seen]
        # What is only shown otherwise changes nothing for the steps after it.
        if not compare(program, step, seen, tally) and not is_shown(step):
            return
        if is_random(step, sandboxes[0].subject):
            return
        if program.subject is not None and not compare(program, step, in_both(lambda sandbox: sandbox.subject), tally):
            return


def run_steps(program: Program, sandboxes: list[Sandbox], tally: Tally) -> None:
    """Runs all steps of a program on subjects that are there already, whatever comes of each."""
    for step in program.steps:
        compare(
            program,
            step,
            [seen_of(lambda sandbox=sandbox, step=step: do(step, sandbox), sandbox) for sandbox in sandboxes],
            tally,
        )


def cleaner(sandbox: Sandbox) -> Callable[[str], str]:
    return outcomes.cleaner(sandbox.folder, str(Path(str(sandbox.library.__file__)).parent))


def kept(subjects: list[Any], subject: Any) -> Any:
    subjects.append(subject)
    return subject


def seen_of(call: Any, sandbox: Sandbox) -> Any:
    """What a call comes to, and the kinds of warnings that it gives."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = outcome(call, cleaner(sandbox))
    kinds = sorted({warning.category.__name__ for warning in caught})
    return ["warned", kinds, result] if kinds else result


def compare(program: Program, step: Step, seen: list[Any], tally: Tally) -> bool:
    """Counts a comparison, and notes a difference; False if the program cannot go on."""
    theirs, ours = seen
    tally.compared[step.path] += 1
    if isinstance(theirs, Panic):
        tally.panics[step.path] += 1
        if isinstance(ours, Panic):
            tally.differences.append(Difference(program, step, theirs, ours))
        return False
    if not agree(theirs, ours):
        tally.differences.append(Difference(program, step, theirs, ours))
        return False
    return True


def agree(theirs: Any, ours: Any) -> bool:
    """Whether two outcomes are the same; exceptions are where ours is of all builtin classes of the peer's."""
    if isinstance(theirs, Panic):
        return not isinstance(ours, Panic)
    if isinstance(theirs, Raised) and isinstance(ours, Raised):
        return set(theirs.kinds) <= set(ours.kinds)
    if isinstance(theirs, list) and isinstance(ours, list):
        return len(theirs) == len(ours) and all(map(agree, theirs, ours))
    return type(theirs) is type(ours) and theirs == ours


def first_difference(theirs: Any, ours: Any) -> tuple[str, str]:
    """The innermost values that differ, short enough to read."""
    if isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        for one, other in zip(theirs, ours, strict=True):
            if not agree(one, other):
                return first_difference(one, other)
    if isinstance(theirs, str | bytes) and type(theirs) is type(ours):
        pairs = enumerate(zip(theirs, ours, strict=False))
        at = max(next((place for place, (a, b) in pairs if a != b), min(len(theirs), len(ours))) - 60, 0)
        return repr(theirs[at : at + 200]), repr(ours[at : at + 200])
    return repr(theirs)[:400], repr(ours)[:400]
