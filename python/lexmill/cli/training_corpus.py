"""The corpus of a training: files, standard input or word counts, and the calls that learn from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lexmill import Tokenizer, WordCounts
from lexmill.cli.files import STANDARD, LineBatches, check_inputs, check_output, write_whole
from lexmill.cli.options import TrainingOptions
from lexmill.cli.outcome import UsageError
from lexmill.cli.progress import ProgressBar
from lexmill.cli.sources import Input, inputs_of, read_by, texts_of

__all__ = ["TrainingCorpus", "Ways", "saved_tokenizer"]


@dataclass(frozen=True)
class Ways:
    """The methods of a tokenizer that learn from files, from an iterator and from counts."""

    files: Callable[..., Any]
    iterator: Callable[..., Any]
    counts: Callable[..., Any]


@dataclass
class TrainingCorpus:
    """The texts that a tokenizer learns from.

    Attributes:
        options: the options of the command.
        inputs: the files; none for counts.
        size: bytes of all texts.
    """

    options: TrainingOptions
    inputs: Sequence[Input]
    size: int = field(init=False)

    def __post_init__(self) -> None:
        """Adds up the files."""
        self.size = sum(one.size for one in self.inputs)

    @classmethod
    def of(
        cls,
        options: TrainingOptions,
        choices: Mapping[str, bool],
        inputs: Sequence[Input] = (),
        base: str | None = None,
    ) -> TrainingCorpus:
        """The corpus that options name: FILES, word counts, or the files of domains, which are `inputs`.

        Args:
            options: the options.
            choices: the kinds of corpora that the command takes beside word counts, with True for each given kind.
            inputs: the files of domains.
            base: another file that the command reads.

        Raises:
            UsageError: there is none, or several; or an option has no meaning for it.
            FileError: a file is missing or must not be read, or the output must not be written.
        """
        if options.output == STANDARD and options.as_json:
            message = f"--json needs a file as --output, since {STANDARD} is stdout"
            raise UsageError(message)
        choices = {**choices, "--from-counts": options.from_counts is not None}
        if sum(choices.values()) != 1:
            message = f"give either {' or '.join(choices)}"
            raise UsageError(message)
        if options.folder is not None and (options.max_memory is None or options.from_counts is not None):
            message = "--folder is for the words of FILES that --max-memory does not hold"
            raise UsageError(message)
        if options.from_counts is not None:
            check_inputs([options.from_counts])
        inputs = inputs or inputs_of(options.files or [], options.read)
        others = [name for name in (options.from_counts, base) if name is not None]
        check_output(options.output, [*(one.name for one in inputs), *others])
        return cls(options, inputs)

    def progress(self) -> ProgressBar:
        """A bar, whose counts are of texts where they come from an iterator, and of bytes elsewhere."""
        is_streamed = any(one.is_stream for one in self.inputs)
        return ProgressBar(not self.options.as_json, in_bytes=() if is_streamed else ("count words",))

    def teach(self, ways: Ways, **given: object) -> Any:  # noqa: ANN401 (what the method returns)
        """Calls the method that learns from this corpus, with the options `given`, and returns its result."""
        options = self.options
        limits = {"max_memory": options.max_memory, "folder": options.folder}
        with self.progress() as progress:
            given = {**given, "on_progress": progress.callback, "num_threads": options.threads}
            if options.from_counts is not None:
                counts = WordCounts.load(options.from_counts)
                self.size = counts.bytes_read
                return ways.counts(counts, max_memory=options.max_memory, **given)
            if not any(one.is_stream for one in self.inputs):
                files = [read_by(one, options.read) for one in self.inputs]
                return ways.files(files, errors=options.read.errors.value, **limits, **given)
            streams = {
                one.name: LineBatches(one.name, options.read.errors.value) for one in self.inputs if one.is_stream
            }
            learnt = ways.iterator(texts_of(self.inputs, streams, options.read), **limits, **given)
            self.size += sum(stream.size for stream in streams.values())
            return learnt


def saved_tokenizer(tokenizer: Tokenizer, options: TrainingOptions) -> str:
    """Writes a tokenizer to the output, and returns its JSON."""
    saved = tokenizer.to_str(pretty=options.pretty)
    with write_whole(options.output) as stream:
        stream.write(saved.encode())
    return saved
