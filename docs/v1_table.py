"""Renders the table of docs/guides/tokenizers-1.0.md: the names of the stub of `tokenizers` 1.0, and lexmill.v1's.

`tests/hf1/stub_names.txt` holds these names and their signatures, so that the table needs no other package; `--peer`
reads them from the installed package's stub. The reasons for differences stand below. A difference without a reason, or
a reason without its name, stops the rendering.
"""

from __future__ import annotations

import argparse
import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from drop_in_names import (
    PEER,
    Signature,
    can_be_set,
    functions_of,
    has_member,
    kind_of,
    node_signature,
    shown_signature,
)
from drop_in_table import differences_of

from lexmill import v1

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "guides" / "tokenizers-1.0.md"
NAMES = ROOT / "tests" / "hf1" / "stub_names.txt"
BEGIN, END = "<!-- names -->", "<!-- /names -->"

ROOM = "if special tokens alone are more than `max_length`, the text stays whole, as in 0.23, and a warning says so"
PICKLE = "a pickle also has tokens, offsets and word ids"
DIFFERENT = {
    "Encoding.__reduce__": PICKLE,
    "Encoding._unpickle": PICKLE,
    "Padding.__new__": "padding to more than 2²⁸ tokens is an `OptionError`; there it ends the process",
    "Tokenizer.__reduce__": "the text in a pickle is of format 1.0",
    "Tokenizer.__repr__": "tells the size of the vocabulary, padding and truncation",
    "Tokenizer._unpickle": "takes files of format 1.0 too",
    "Tokenizer.decode": "shows a special token that the normalizer changes, as 0.23",
    "Tokenizer.encode": ROOM,
    "Tokenizer.encode_batch": ROOM,
    "Tokenizer.from_file": "takes files that Hugging Face cannot convert; text that is not UTF-8 is a `ValueError`",
    "Tokenizer.from_pretrained": "reads a local folder too",
    "Tokenizer.tokenize": ROOM,
    "__version__": "only under the name `tokenizers`, after `install`",
}
"""Names that do something else on purpose."""


def main() -> None:
    """Writes the table into the page, and before that the list of names if the peer's is wanted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", action="store_true", help="read the names from the stub of the installed package")
    if parser.parse_args().peer:
        NAMES.write_text(peer_names(), encoding="utf-8")
    PAGE.write_text(rendered(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


def peer_names() -> str:
    """The names of the installed package's stub with their signatures and kinds, a line each."""
    (stub,) = Path(str(import_module(PEER).__file__)).parent.glob("*.pyi")
    body = ast.parse(stub.read_text(encoding="utf-8")).body
    functions = dict(functions_of(body))
    lines = [f"{ast.unparse(node.target)}: constant" for node in body if isinstance(node, ast.AnnAssign)]
    lines += [f"{node.name}: class" for node in body if isinstance(node, ast.ClassDef)]
    for path, function in functions.items():
        decorators = {ast.unparse(item) for item in function.decorator_list}
        if "property" in decorators:
            lines.append(f"{path}: {'settable ' if f'{path}.setter' in functions else ''}property")
        elif not path.endswith(".setter"):
            kind = "static method" if "staticmethod" in decorators else "method"
            lines.append(f"{path}{spelled(node_signature(function))}: {kind}")
    return "".join(f"{line}\n" for line in sorted(lines, key=lambda line: line.replace(":", " ")))


def spelled(signature: Signature) -> str:
    """A signature as Python spells it, without annotations."""
    parts = []
    for item in signature.parameters:
        if item.by_keyword and "*" not in parts:
            parts.append("*")
        parts.append(item.name if item.default is None else f"{item.name}={item.default}")
    return f"({', '.join(parts)})"


def rendered(page: str) -> str:
    """The page with the table as it should be."""
    head, rest = page.split(BEGIN, 1)
    rows = list(all_rows())
    stale = set(DIFFERENT) - {path for path, _ in rows}
    if stale:
        raise SystemExit(f"reasons without a name: {', '.join(sorted(stale))}")
    lines = ["| name | here |", "|---|---|", *(f"| `{path}` | {here} |" for path, here in rows)]
    return "\n".join([f"{head}{BEGIN}", *lines, f"{END}{rest.split(END, 1)[1]}"])


def all_rows() -> Iterator[tuple[str, str]]:
    """For each name of the list the path and the difference.

    Raises:
        SystemExit: a name is missing or another kind of name, or a call written for the peer could fail.
    """
    for line in NAMES.read_text(encoding="utf-8").splitlines():
        name, _, kind = line.rpartition(": ")
        path, bracket, parameters = name.partition("(")
        theirs = None
        if bracket:
            (node,) = ast.parse(f"def function({parameters}: ...").body
            assert isinstance(node, ast.FunctionDef)
            theirs = node_signature(node)
        yield path, difference(path, kind, theirs)


def difference(path: str, kind: str, theirs: Signature | None) -> str:
    """The text of the column `here` for a name."""
    class_name, _, member = path.rpartition(".")
    owner = getattr(v1, class_name, None)
    notes = [f"different: {DIFFERENT[path]}"] if path in DIFFERENT else ["same"]
    if owner is None:
        if path not in DIFFERENT and not hasattr(v1, path):
            raise SystemExit(f"{path} is missing")
        return notes[0]
    if not has_member(owner, member):
        raise SystemExit(f"{path} is missing")
    is_method = kind_of(owner, member) != "attribute"
    if is_method != kind.endswith("method") or (can_be_set(owner, member) is True) != kind.startswith("settable"):
        raise SystemExit(f"{path} is another kind of name here")
    # Operators have no names of parameters that anyone uses.
    if theirs is not None and not (member.startswith("__") and member != "__new__"):
        ours = shown_signature(owner if member == "__new__" else getattr(owner, member))
        assert ours is not None
        if differs := list(differences_of(theirs, ours, {})):
            raise SystemExit(f"{path}: {'; '.join(differs)}")
        known = {item.name for item in theirs.parameters}
        if added := [f"`{item.name}`" for item in ours.parameters if item.name not in known]:
            notes.append(f"adds {', '.join(added)}")
    return "; ".join(notes)


if __name__ == "__main__":
    main()
