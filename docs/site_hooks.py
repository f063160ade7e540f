"""Hooks of mkdocs: what the site needs and plain Markdown does not say.

Pages link to files of the repository that are not pages, such as `../README.md`. In the repository such a link is
relative; on the site it leads to the same file at `repo_url`.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

# Inline links and images with a relative target; `#section` alone stays.
LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#|/)([^)\s#]+)(#[^)\s]*)?(?=\))")

DOTTED_NAME = re.compile(r"(?<=<td><code>)[\w.]+(?=</code>)")


def on_page_markdown(markdown: str, *, page: Any, config: Any, **_: object) -> str:  # noqa: ANN401
    """Turns links that leave `docs_dir` into links to the repository.

    Raises:
        FileNotFoundError: the repository has no such file.
    """
    docs = Path(config.docs_dir)
    folder = posixpath.dirname(page.file.src_uri)

    def resolve(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(docs.name, folder, link[1]))
        if target.startswith(f"{docs.name}/"):
            return link[0]
        if not (docs.parent / target).exists():
            raise FileNotFoundError(f"{page.file.src_uri} links to {link[1]}, which is not in the repository")
        return f"{config.repo_url.rstrip('/')}/blob/main/{target}{link[2] or ''}"

    return LINK.sub(resolve, markdown)


def on_page_content(html: str, **_: object) -> str:
    """Lets the dotted names of a table break after a dot."""
    return DOTTED_NAME.sub(lambda name: name[0].replace(".", ".<wbr>"), html)
