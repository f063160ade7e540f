"""The words of comments: the glossary's (docs/architecture.md), and nouns instead of relative clauses."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]

# Home-made words, each with the glossary's own.
INSTEAD = {
    r"lone(?! surrogate)": "isolated",
    r"(?<!look-)(?<!look_)behind": "after",
    r"fates?": "memo entry",
    r"stretch(es)?": "range, segment or run",
    r"goes_on|going_on": "is_continuation",
    r"crew": "parallelism",
    r"ledgers?": "merge deltas",
    r"clean_up|clean-ups?": "normalize",
    r"worthwhile": "amortized",
    r"few_ids": "inline ids",
    r"anew": "again",
}
FOLDERS = {
    "rust": (".rs",),
    "docs": (".md",),
    "python/lexmill": (".py", ".pyi"),
    "benches": (".rs", ".py"),
    "examples": (".py", ".md"),
}


def sources() -> list[Path]:
    """Everything that a reader of the code or of the docs reads."""
    found = [path for name, ends in FOLDERS.items() for path in (ROOT / name).rglob("*") if path.suffix in ends]
    return sorted([*found, *ROOT.glob("*.md")])


def test_home_made_words_are_gone() -> None:
    banned = re.compile(rf"\b({'|'.join(INSTEAD)})\b", re.IGNORECASE)
    found = [
        f"{path.relative_to(ROOT)}:{number}: {match[0]}"
        for path in sources()
        # What changed is told in the words of its time.
        if path.name != "CHANGELOG.md"
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        for match in banned.finditer(line)
    ]
    assert not found


# Marks of relative clauses in place of nouns.
CLAUSE = re.compile(r"\b(what(ever)?|whether|those (of|that)|that of)\b", re.IGNORECASE)
COMMENT = re.compile(r"^\s*//[/!]?(?P<text>.*)$", re.MULTILINE)


def test_comments_have_nouns() -> None:
    comments = [
        (path.relative_to(ROOT), comment["text"])
        for path in (ROOT / "rust").rglob("*.rs")
        for comment in COMMENT.finditer(path.read_text(encoding="utf-8"))
    ]
    clauses = [f"{path}:{text}" for path, text in comments if CLAUSE.search(text)]
    # A few are plain English: "checks whether the file exists".
    assert len(clauses) <= len(comments) // 100, "\n".join(clauses)
    assert not [f"{path}:{text}" for path, text in comments if text.startswith(" What ")]
