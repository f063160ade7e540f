"""Groups of files to folders of token files, and the manifest over them.

    out/manifest.json          the tokenizer, sources and options, and the folders; for Parquet, out/.manifest.parquet
    out/00000, out/00001, ...  for each group, the files that `lexmill.tokenize_files` writes

The manifest is written when the job begins, and again with the sums when all folders are there.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_type_hints

from lexmill._core import Tokenizer, __version__, read_token_manifest, write_token_manifest
from lexmill._data.corpus_warnings import warn_of_total
from lexmill._data.sizes import bytes_of
from lexmill._data.source_names import OneSource, sources_of
from lexmill._data.write_tokens import unfilled_splits
from lexmill._engines.groups import Group, plan
from lexmill._engines.jobs import Execute, Job, TokenizerJson, finish_groups
from lexmill._engines.shared_folder import locked, made_folder
from lexmill._types import OnProgress
from lexmill.errors import EmptyCorpusWarning, OptionError, OutputError
from lexmill.sources import Source
from lexmill.token_files import NAMED, TokenFiles, TokenOptions, open_tokens, tokenize_files

__all__ = ["TokenizeJob", "tokenize_groups"]

_HANDLING = re.compile(r", (?:errors|on_error)='[a-z]+'")
"""The options of a source for invalid bytes and broken records."""


@dataclass(frozen=True)
class TokenizeJob(Job):
    """Tokenizes the files of a group to a folder.

    Attributes:
        tokenizer: the tokenizer.
        options: the options of `lexmill.tokenize_files` that decide the contents of the files.
    """

    tokenizer: TokenizerJson
    options: TokenOptions

    def name(self, group: Group) -> str:
        """The number of the group; the manifest lists its files."""
        return f"{group.number:05}"

    def write(self, group: Group, folder: Path) -> Path:
        """Tokenizes as `lexmill.tokenize_files` does."""
        made, options = folder / "tokens", self.options.copy()
        if options.get("validation"):
            # Documents are drawn by their places, which count from the first file of a group: without another seed, all
            # groups would choose the same places.
            options["seed"] = (options.get("seed", 0) + group.first_source) % (1 << 63)
        sources = [source for source in group.sources if isinstance(source, Source)]
        tokenize_files(self.tokenizer.tokenizer(), sources, made, num_threads=self.num_threads, **options)
        return made

    def is_whole(self, path: Path) -> bool:
        """True if all files are there in the sizes that the manifest of the folder tells; else removes the folder."""
        try:
            manifest = open_tokens(path).manifest
            listed = dict(manifest["files"])
            for part in manifest["parts"]:
                listed |= part["files"]
            sizes = [(path / name).stat().st_size == entry["bytes"] for name, entry in listed.items()]
        except (OSError, KeyError, TypeError, AttributeError):
            sizes = [False]
        if not all(sizes):
            shutil.rmtree(path)
        return all(sizes)


def tokenize_groups(
    tokenizer: Tokenizer | str | os.PathLike[str],
    sources: OneSource | Sequence[OneSource],
    out: str | os.PathLike[str],
    execute: Execute,
    *,
    options: TokenOptions,
    resume: bool,
    overwrite: bool,
    group_bytes: int | str,
    num_threads: int,
    on_progress: OnProgress | None,
) -> TokenFiles:
    """Tokenizes files by the tasks of an engine; see `lexmill.ray.tokenize`."""
    if resume and overwrite:
        message = "resume and overwrite are True but at most one of them may be"
        raise OptionError(message)
    unknown = options.keys() - get_type_hints(TokenOptions).keys()
    if unknown:
        message = f"tokenize() got an unexpected keyword argument {min(unknown)!r}"
        raise TypeError(message)
    if options.get("packing") == "index":
        message = "packing is index, but a job has no index; call pack_tokens on its folder"
        raise OptionError(message)
    opened = sources_of(sources, NAMED)
    groups = plan(opened, group_bytes=bytes_of(group_bytes, "group_bytes") or 0)
    copy = TokenizerJson.of(tokenizer)
    # A run without sources refuses options that do not fit before anything is written, and tells the type of ids.
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", EmptyCorpusWarning)
        trial = tokenize_files(copy.tokenizer(), [], Path(folder) / "tokens", num_threads=1, **options)
    job = TokenizeJob(made_folder(out), __version__, num_threads, copy, options)
    with locked(job.folder):
        planned = _planned(job, groups, trial.manifest["options"])
        _prepare(job.folder, planned, resume=resume, overwrite=overwrite)
        told = finish_groups(job, groups, execute, on_progress)
        _finish(job.folder, planned)
    written = open_tokens(job.folder)
    total = written.manifest["total"]
    earlier = {**total, "skipped": total.get("skipped", 0) - told}
    inputs = [file.path for group in groups for file in group.files]
    warn_of_total(earlier, inputs, unfilled=unfilled_splits(written))
    return written


def _planned(job: TokenizeJob, groups: Sequence[Group], options: dict[str, Any]) -> dict[str, Any]:
    folders = {
        job.name(group): {"first_source": group.first_source, "inputs": [file.entry() for file in group.files]}
        for group in groups
    }
    return {
        "format_version": 1,
        "lexmill": job.lexmill,
        "tokenizer": job.tokenizer.fingerprint,
        "options": options,
        "folders": folders,
    }


def _prepare(folder: Path, planned: dict[str, Any], *, resume: bool, overwrite: bool) -> None:
    """Begins the folder, or checks that the same job began it."""
    json_text = read_token_manifest(folder)
    if json_text is None:
        others = sorted(other.name for other in folder.iterdir() if not other.name.startswith(".lexmill-"))
        if others:
            message = f"{folder}: it holds {others[0]}, which is no token file; choose a folder of its own"
            raise OutputError(message)
        _write(folder, planned)
        return
    found = _read(folder, json_text)
    if not resume and not overwrite:
        state = "" if "total" in found else " of a job that was not finished"
        message = f"{folder}: it holds token files{state}; pass resume=True to go on or overwrite=True to begin again"
        raise OutputError(message)
    if overwrite:
        for name in found["folders"]:
            shutil.rmtree(folder / Path(name).name, ignore_errors=True)
        _write(folder, planned)
        return
    finished = [name for name in found["folders"] if (folder / Path(name).name).exists()]
    difference = _difference(found, planned, finished)
    if difference is not None:
        message = f"{folder}: cannot resume: {difference}"
        raise OutputError(message)
    # Folders that are there stay as they were made.
    for name in finished:
        planned["folders"][name] = {key: found["folders"][name][key] for key in planned["folders"][name]}
    if "total" not in found and found["folders"] != planned["folders"]:
        _write(folder, planned)


def _finish(folder: Path, planned: dict[str, Any]) -> None:
    """Adds the sums of all folders, and puts the manifest in its place."""
    total: Counter[str] = Counter()
    folders = {}
    for name, entry in planned["folders"].items():
        held = open_tokens(folder / name).manifest["total"]
        total.update(held)
        folders[name] = {**entry, "total": held}
    _write(folder, {**planned, "folders": folders, "total": dict(total)})


def _write(folder: Path, manifest: dict[str, Any]) -> None:
    write_token_manifest(folder, json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")


def _read(folder: Path, json_text: str) -> dict[str, Any]:
    try:
        found = json.loads(json_text)
        if found["format_version"] == 1 and isinstance(found["folders"], dict):
            return dict(found)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        pass
    message = f"{folder}: its manifest is not from a job of this version"
    raise OutputError(message)


def _difference(found: dict[str, Any], planned: dict[str, Any], finished: Sequence[str]) -> str | None:
    """The differences between the job that was begun and this one, in words.

    Inputs of finished folders are bound. Others may change, and so may the handling of broken records.
    """
    for key in ("lexmill", "tokenizer"):
        if found.get(key) != planned[key]:
            name = "the version of lexmill" if key == "lexmill" else "the tokenizer"
            return f"{name} was {found.get(key)} but is {planned[key]}"
    for key, value in planned["options"].items():
        if found["options"].get(key) != value:
            return f"{key} was {found['options'].get(key)} but is {value}"
    # A finished job has a sum, and no input may be added to it.
    bound = found["folders"] if "total" in found else finished
    then, now = _inputs(found, bound), _inputs(planned, bound)
    for before, after in zip(then, now, strict=False):
        if before != after:
            return f"an input was {before} but is {after}"
    if len(then) != len(now):
        return f"there were {len(then)} inputs but are {len(now)}"
    if "total" in found and list(found["folders"]) != list(planned["folders"]):
        return f"there were {len(found['folders'])} groups but are {len(planned['folders'])}"
    return None


def _inputs(manifest: dict[str, Any], folders: Iterable[str]) -> list[tuple[str, Any]]:
    """The inputs of some folders, each with its folder, without the handling of broken records."""
    return [
        (name, {**entry, "source": _HANDLING.sub("", entry["source"])})
        for name in folders
        for entry in manifest["folders"].get(name, {"inputs": []})["inputs"]
    ]
