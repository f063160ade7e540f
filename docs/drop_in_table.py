"""Renders docs/drop-in.md: every public name of Hugging Face `tokenizers`, and whether lexmill has it.

The tables go between the markers of that page. Names and signatures come from the installed packages; the reasons for
differences stand below. A difference without a reason, or a reason without a difference, stops the rendering.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from importlib import import_module
from pathlib import Path
from types import ModuleType

from drop_in_names import (
    OURS,
    PEER,
    SPECIAL,
    UNKNOWN,
    Signature,
    bases_of,
    can_be_set,
    has_member,
    home_of,
    kind_of,
    load,
    members_of,
    names_of,
    peer_modules,
    peer_signature,
    shown_signature,
)

PAGE = Path(__file__).parent / "drop-in.md"
VERSION = "0.23.3"
BEGIN, END = "<!-- names -->", "<!-- /names -->"
STATES = ["here", "different on purpose", "left out on purpose", "missing"]
LONGEST = 40
"""Characters of a default that the page shows."""
UNEXPLAINED = "no reason"
WITH_ITS_CLASS = "missing, with its class"
COMPILED = "only names the compiled part of that package"
MISSING: dict[str, str] = {}
"""Names that should be here."""
LEFT_OUT = {
    **{
        f"{name}.{name}": COMPILED
        for name in ("decoders", "models", "normalizers", "pre_tokenizers", "processors", "trainers")
    },
    "tools.visualizer.dirname": "a variable of the code that reads the style sheet",
    "tools.visualizer.f": "a closed file, left from reading the style sheet",
}
"""Names that are no part of the interface, each with the reason."""
RAISES = "an exception of the stage becomes a `LexmillError`"
COMES_THROUGH = "an exception of the function comes through, which is a panic there"
BEHAVIOUR = {
    "Tokenizer.encode_batch_fast": "gives full encodings, which cost nothing until they are read",
    "Tokenizer.from_pretrained": "reads a local folder too",
    "Tokenizer.train_from_iterator": "an error in the middle of the iterator leaves the model as it was",
    "NormalizedString.filter": COMES_THROUGH,
    "NormalizedString.for_each": COMES_THROUGH,
    "NormalizedString.map": COMES_THROUGH,
    "decoders.Decoder.custom": RAISES,
    "normalizers.Normalizer.custom": f"gets a `NormalizedString`, which stays valid; {RAISES}",
    "pre_tokenizers.PreTokenizer.custom": f"gets a `PreTokenizedString`, which stays valid; {RAISES}",
    "decoders.DecodeStream": "can be pickled; has `finish()`, which gives the rest of the text",
    "decoders.Strip": "removes all characters of a token if they match, which is a panic there",
    "implementations.base_tokenizer.BaseTokenizer.normalize": "gives the text itself if there is no normalizer",
    "implementations.char_level_bpe.CharBPETokenizer.train": "takes `suffix=None`, which is an error there",
    "implementations.sentencepiece_unigram.SentencePieceUnigramTokenizer.from_spm": (
        "needs no protobuf, and gives SentencePiece's ids"
    ),
    "models.Unigram": "`alpha` is the exponent; scores that are NaN or infinite and `nbest_size` above 1024 are errors",
    "normalizers.Replace": "can be pickled and copied",
    "pre_tokenizers.FixedLength": "a length of 0 is an `OptionError`, which is a panic there",
    "tools.visualizer.EncodingVisualizer": "its attribute is `annotation_converter`, there `annotation_coverter`",
    "tools.visualizer.EncodingVisualizer.__call__": "an empty text gives an empty page; names and labels are escaped",
    "tools.visualizer.css": "our own style sheet, for the same classes",
    "trainers.ParityBpeTrainer": "training always ends; ratios out of range are an `OptionError`",
    "trainers.ParityBpeTrainer.train_from_iterator": "an error in an iterator leaves the model as it was",
    "trainers.BpeTrainer": "counts have 64 bits; a `vocab_size` below the alphabet is an `OptionError`",
    "trainers.UnigramTrainer": "gives the same scores for any number of threads",
    "trainers.WordLevelTrainer": "a special token that is given twice keeps its id",
    "trainers.WordPieceTrainer": "gives the same ids in every run",
}
"""Names that do something else on purpose."""
SIGNATURES = {
    "AddedToken": "`None` is the opposite of `special`; without the argument, both libraries do the same",
    "Tokenizer.save": "`None` is `True` for version 1.0 of the format",
    "tools.visualizer.HTMLBody": "our own style sheet",
}
"""Why a signature differs. A gap is a difference that should not be."""


@dataclass(frozen=True)
class Row:
    """One name of the peer."""

    module: str
    name: str
    here: str
    signature: str

    @property
    def path(self) -> str:
        """The name from the package on."""
        return f"{self.module}.{self.name}".lstrip(".")

    @property
    def is_notable(self) -> bool:
        """Whether there is more to say than that all is equal."""
        if self.here == WITH_ITS_CLASS:
            return False
        return self.here != "here" or not self.signature.startswith(("-", "equal", "at "))


def main() -> None:
    """Writes the tables into the page, or compares them with it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="fail if the page is not what would be written")
    arguments = parser.parse_args()
    before = PAGE.read_text(encoding="utf-8")
    after = rendered(before)
    if arguments.check and after != before:
        raise SystemExit(f"{PAGE.name} is not what both packages give; run docs/drop_in_table.py")
    if after != before:
        PAGE.write_text(after, encoding="utf-8")


def rendered(page: str) -> str:
    """The page with the tables as they should be."""
    head, rest = page.split(BEGIN, 1)
    return f"{head}{BEGIN}\n{tables(all_rows())}\n{END}{rest.split(END, 1)[1]}"


def tables(rows: list[Row]) -> str:
    """All that is not equal, then a table for each module."""
    refuse_wrong_reasons(rows)
    counts = {state: sum(row.here.startswith(state) for row in rows) for state in STATES}
    said = ", ".join(f"{counts[state]} are {state}" for state in STATES)
    text = ["## Differences", "", f"Of {len(rows)} names {said}.", ""]
    text += table([(row.path, row) for row in rows if row.is_notable])
    for module, members in itertools.groupby(rows, key=lambda row: row.module):
        text += ["", f"## {PEER}.{module}".rstrip("."), "", *table([(row.name, row) for row in members])]
    return "\n".join(text)


def table(rows: list[tuple[str, Row]]) -> list[str]:
    """Lines of a table of names."""
    return [
        "| name | lexmill | signature |",
        "|---|---|---|",
        *(f"| `{title}` | {row.here} | {row.signature} |" for title, row in rows),
    ]


def all_rows() -> list[Row]:
    """A row for each public name of the peer.

    Raises:
        SystemExit: a name is missing, or a signature differs, without a reason.
    """
    found = import_module(PEER).__version__
    if found != VERSION:
        raise SystemExit(f"{PEER} is {found} but the page is about {VERSION}")
    rows: list[Row] = []
    for module in peer_modules():
        theirs, ours = load(PEER, module), load(OURS, module)
        if theirs is None:
            raise SystemExit(f"{PEER}.{module} cannot be imported")
        for name in names_of(theirs):
            rows += rows_of_name(module, name, theirs, ours)
    return rows


def rows_of_name(module: str, name: str, theirs: ModuleType, ours: ModuleType | None) -> Iterator[Row]:
    """The row of a name of a module and, at home, those of its members."""
    value, home, path = getattr(theirs, name), home_of(getattr(theirs, name)), f"{module}.{name}".lstrip(".")
    if isinstance(value, ModuleType) and load(PEER, path) is value:
        yield Row(module, name, "here" if load(OURS, path) else absence(path), "-")
        return
    if not hasattr(ours, name):
        yield Row(module, name, absence(path), "-")
        if isinstance(value, type) and home == module:
            yield from (Row(module, f"{name}.{member}", WITH_ITS_CLASS, "-") for member in members_of(value))
        return
    own = getattr(ours, name)
    if home is not None and home != module:
        at = f"{home}.{name}".lstrip(".")
        if own is not getattr(load(OURS, home), name):
            raise SystemExit(f"{OURS}.{path} is not {OURS}.{at}")
        yield Row(module, name, "here", f"at `{at}`")
    elif isinstance(value, type) and home == module:
        if bases_of(value) != bases_of(own):
            raise SystemExit(f"{path} has other base classes: {bases_of(own)} for {bases_of(value)}")
        signature = "-" if issubclass(value, Enum) else compare(path, value, own)
        yield Row(module, name, presence(path), signature)
        for member in members_of(value):
            yield row_of_member(module, name, member, value, own)
    else:
        yield Row(
            module, name, presence(path), compare(path, value, own) if callable(value) and home is not None else "-"
        )


def row_of_member(module: str, name: str, member: str, value: type, own: type) -> Row:
    """The row of a method, property or attribute of a class."""
    path = f"{module}.{name}.{member}".lstrip(".")
    title = f"{name}.{member}"
    if not has_member(own, member):
        return Row(module, title, absence(path), "-")
    kinds = kind_of(value, member), kind_of(own, member)
    if kinds[0] != kinds[1]:
        return Row(module, title, presence(path), reasoned(path, [f"a {kinds[1]}, there a {kinds[0]}"]))
    if kinds[0] != "attribute" and (member not in SPECIAL or member == "__call__"):
        return Row(module, title, presence(path), compare(path, getattr(value, member), getattr(own, member)))
    settable = [can_be_set(cls, member) for cls in (value, own)]
    differs = None not in settable and settable[0] != settable[1]
    said = "can be set, there it cannot" if settable[1] else "cannot be set, there it can"
    return Row(module, title, presence(path), reasoned(path, [said]) if differs else "-")


def presence(path: str) -> str:
    """The cell of the column `lexmill` for a name that lexmill has."""
    return f"different on purpose: {BEHAVIOUR[path]}" if path in BEHAVIOUR else "here"


def absence(path: str) -> str:
    """The cell of the column `lexmill` for a name that lexmill does not have."""
    if path in LEFT_OUT:
        return f"left out on purpose: {LEFT_OUT[path]}"
    return f"missing: {MISSING.get(path, UNEXPLAINED)}"


def reasoned(path: str, differences: list[str]) -> str:
    """Differences of a signature with their reason."""
    return f"{'; '.join(differences)}: {SIGNATURES.get(path, UNEXPLAINED)}"


def compare(path: str, value: object, own: object) -> str:
    """The cell of the column `signature` for two functions or classes."""
    theirs, ours = peer_signature(path, value), shown_signature(own)
    if theirs is None or ours is None:
        return "not told"
    renamed = dict(zip(ours.names(by_keyword=False), theirs.names(by_keyword=False), strict=False))
    differences = list(differences_of(theirs, ours, renamed))
    known = {item.name for item in theirs.parameters} | set(renamed)
    added = [f"`{item.name}`" for item in ours.parameters if item.name not in known]
    adds = [f"adds {', '.join(added)}"] if added else []
    return "; ".join([*([reasoned(path, differences)] if differences else []), *adds]) or "equal"


def differences_of(theirs: Signature, ours: Signature, renamed: dict[str, str]) -> Iterator[str]:
    """What a call written for the peer could notice.

    Args:
        theirs: the signature there.
        ours: the signature here.
        renamed: our parameters that go by position, each with the name there of the one at its place.
    """
    own = {renamed.get(item.name, item.name): item for item in ours.parameters}
    for item in theirs.parameters:
        if item.name not in own:
            yield f"has no `{item.name}`"
            continue
        mine = own.pop(item.name)
        if mine.name != item.name:
            yield f"`{mine.name}`, there `{item.name}`"
        if mine.by_keyword and not item.by_keyword:
            yield f"`{item.name}` goes by keyword only"
        if item.default not in (UNKNOWN, mine.default):
            defaults = [f"`{default}`" if default else "none" for default in (mine.default, item.default)]
            if max(map(len, defaults)) > LONGEST:
                yield f"another default of `{item.name}`"
            else:
                yield f"default of `{item.name}`: {', there '.join(defaults)}"
    yield from (f"needs `{item.name}`" for item in own.values() if item.default is None)
    if theirs.other_keywords and not ours.other_keywords:
        yield "takes no other keywords"


def refuse_wrong_reasons(rows: list[Row]) -> None:
    """Stops if a difference has no reason, or a reason no difference."""
    unexplained = [row for row in rows if UNEXPLAINED in row.here + row.signature]
    if unexplained:
        raise SystemExit(
            "\n".join(["no reason is given for", *(f"{row.path}: {row.here}; {row.signature}" for row in unexplained)])
        )
    absent = {row.path for row in rows if row.here.startswith(("left out", "missing"))}
    there = {row.path for row in rows} - absent
    differing = {row.path for row in rows if SIGNATURES.get(row.path, UNEXPLAINED) in row.signature}
    stale = [*({*MISSING, *LEFT_OUT} - absent), *(set(BEHAVIOUR) - there), *(set(SIGNATURES) - differing)]
    if stale:
        raise SystemExit(f"reasons without a difference: {', '.join(sorted(stale))}")


if __name__ == "__main__":
    main()
