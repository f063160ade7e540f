"""Differences that are meant, each with where it is written down and a program that shows it.

What is not in this list and differs is a mistake.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from differential.outcomes import Raised
from differential.programs import Program, Step
from differential.run import Difference, first_difference
from differential.values import FOLDER, Call, Member, Name, Script, Subject, make
from implementation_calls import LETTERS, MERGES, PIECES
from kept_ids import loses_ids


@dataclass(frozen=True)
class Deliberate:
    """A difference that is meant.

    `written` is a phrase of docs/compatibility.md, or a name with a reason in docs/drop_in_table.py; `applies` tells
    whether a difference is this one; `example` shows it.
    """

    written: str
    applies: Callable[[Difference], bool]
    example: Program


def on(path: str, then: Callable[[Difference], bool] = lambda _: True) -> Callable[[Difference], bool]:
    """Differences about the names that a pattern matches whole."""
    pattern = re.compile(path)
    return lambda difference: bool(pattern.fullmatch(difference.step.path)) and then(difference)


def after(*actions: str) -> Callable[[Difference], bool]:
    """Differences that an operator shows."""
    return lambda difference: difference.step.action in actions


def refused(message: str) -> Callable[[Difference], bool]:
    """Calls that raise here, with a class and a message that a pattern finds."""
    return lambda difference: bool(errors(difference.ours, message))


def errors(seen: Any, message: str) -> list[Raised]:
    """Exceptions in an outcome, at any depth, whose class and message a pattern finds."""
    if isinstance(seen, Raised):
        return [seen] if re.search(message, f"{seen.name}: {seen.message}") else []
    return [error for item in seen for error in errors(item, message)] if isinstance(seen, list) else []


def both_raise(difference: Difference) -> bool:
    """Whether a call of two mistakes or more is reported for different ones."""
    return isinstance(difference.theirs, Raised) and isinstance(difference.ours, Raised)


def shows(pattern: str) -> Callable[[Difference], bool]:
    """Differences whose innermost values a pattern finds, first the peer's, then ours."""
    return lambda difference: bool(
        re.search(pattern, " | ".join(first_difference(difference.theirs, difference.ours)), re.S)
    )


def mentions(pattern: str) -> Callable[[Difference], bool]:
    """Differences of programs whose text a pattern finds."""
    return lambda difference: bool(re.search(pattern, str(difference.program), re.S))


def both(*conditions: Callable[[Difference], bool]) -> Callable[[Difference], bool]:
    return lambda difference: all(condition(difference) for condition in conditions)


def either(*conditions: Callable[[Difference], bool]) -> Callable[[Difference], bool]:
    return lambda difference: any(condition(difference) for condition in conditions)


def call(path: str, name: str, *arguments: Any, **keywords: Any) -> Step:
    """A call of a method of the subject."""
    return Step(path, "evaluate", Call(Member(Subject(), name), arguments, keywords))


def about(path: str, subject: Any, *steps: Step) -> Program:
    return Program(path, subject, steps)


def lookup(path: str) -> Program:
    return Program(path, None, (Step(path, "evaluate", Name(path)),))


MODEL = make("models.BPE", LETTERS, MERGES)
TOKENIZER = make("Tokenizer", MODEL)
WORDS = make("implementations.BaseTokenizer", make("Tokenizer", make("models.WordLevel", LETTERS, "<unk>")))
TRAINERS = r"trainers\.\w+"
TRAIN = r"(Tokenizer|implementations\.\w+\.\w+)\.train(_from_iterator)?"

BYTE_LEVEL = Step("Tokenizer.decoder.setter", "set", Subject(), ("decoder", make("decoders.ByteLevel")))

DELIBERATE = [
    Deliberate(
        "gives a `ByteTokenWarning`",
        lambda seen: seen.ours == ["warned", ["ByteTokenWarning"], seen.theirs],
        about("Tokenizer", TOKENIZER, BYTE_LEVEL, call("Tokenizer.add_tokens", "add_tokens", ["é"])),
    ),
    Deliberate(
        "an added token whose characters all belong to the byte-level alphabet",
        on(
            r"(Tokenizer|implementations\.\w+\.\w+)\.(async_)?decode(_batch)?",
            mentions("ByteLevel.*(Ġ|é)|(Ġ|é).*ByteLevel"),
        ),
        about(
            "Tokenizer",
            TOKENIZER,
            BYTE_LEVEL,
            call("Tokenizer.add_tokens", "add_tokens", ["ébb"]),
            call("Tokenizer.decode", "decode", [len(LETTERS)]),
        ),
    ),
    Deliberate(
        "an added token, once the model is trained or replaced",
        lambda seen: loses_ids(seen.theirs),
        about(
            "Tokenizer",
            TOKENIZER,
            call("Tokenizer.add_tokens", "add_tokens", ["zz"]),
            Step("Tokenizer.model.setter", "set", Subject(), ("model", make("models.WordLevel", {"a": 0}, "a"))),
        ),
    ),
    Deliberate("lexmill's version", on(r"(tokenizers\.)?__version__"), lookup("__version__")),
    Deliberate("tools.visualizer.css", on(r"tools\.visualizer\.css"), lookup("tools.visualizer.css")),
    Deliberate(
        "tools.visualizer.EncodingVisualizer",
        mentions("annotation_coverter"),
        about(
            "tools.visualizer.EncodingVisualizer",
            make("tools.visualizer.EncodingVisualizer", TOKENIZER, default_to_notebook=False),
            Step("tools.visualizer.EncodingVisualizer", "evaluate", Member(Subject(), "annotation_coverter")),
        ),
    ),
    Deliberate(
        "an empty text in the visualizer",
        on(r"tools\.visualizer\.EncodingVisualizer\.__call__", lambda seen: errors(seen.theirs, "IndexError") != []),
        about(
            "tools.visualizer.HTMLBody",
            None,
            Step(
                "tools.visualizer.EncodingVisualizer.__call__",
                "evaluate",
                Call(make("tools.visualizer.EncodingVisualizer", TOKENIZER, default_to_notebook=False), ("",)),
            ),
        ),
    ),
    Deliberate(
        "empty corpus",
        on(TRAIN, refused("EmptyCorpusError")),
        about("Tokenizer", TOKENIZER, call("Tokenizer.train", "train", [])),
    ),
    Deliberate(
        "`vocab_size` below the alphabet",
        on(TRAIN, refused("OptionError: vocab_size is")),
        about(
            "Tokenizer",
            TOKENIZER,
            call(
                "Tokenizer.train_from_iterator",
                "train_from_iterator",
                ["abc"],
                make("trainers.BpeTrainer", vocab_size=1),
            ),
        ),
    ),
    Deliberate(
        "an error in the middle of an iterator",
        on(TRAIN, either(both_raise, mentions(r"broken|surrogate|\[5\]|\[None\]|, 5\]|b'a'"))),
        about(
            "Tokenizer",
            TOKENIZER,
            call("Tokenizer.train_from_iterator", "train_from_iterator", Script("broken")),
        ),
    ),
    Deliberate(
        "`encode_batch_fast`",
        on(r".*\.(async_)?encode_batch_fast"),
        about("Tokenizer", TOKENIZER, call("Tokenizer.encode_batch_fast", "encode_batch_fast", ["ab"])),
    ),
    Deliberate(
        "lists of two words in the asynchronous batches",
        on(r".*\.async_encode_batch", lambda seen: errors(seen.theirs, "PreTokenizedInputSequence") != []),
        about(
            "Tokenizer",
            TOKENIZER,
            call("Tokenizer.async_encode_batch", "async_encode_batch", [["a", "b"]], is_pretokenized=True),
        ),
    ),
    Deliberate(
        "`normalize` of a ready-made tokenizer without a normalizer",
        on(
            r"implementations\.base_tokenizer\.BaseTokenizer\.normalize",
            lambda seen: errors(seen.theirs, "NoneType") != [],
        ),
        about(
            "implementations.base_tokenizer.BaseTokenizer",
            WORDS,
            call("implementations.base_tokenizer.BaseTokenizer.normalize", "normalize", "a"),
        ),
    ),
    Deliberate(
        "`DecodeStream`",
        on(r"decoders\.DecodeStream(\.__[gs]etstate__)?", after("pickle", "copy", "deepcopy", "evaluate")),
        about(
            "decoders.DecodeStream", make("decoders.DecodeStream"), Step("decoders.DecodeStream", "pickle", Subject())
        ),
    ),
    Deliberate(
        "`Replace` and `Precompiled` pickled or copied",
        both(
            after("pickle", "copy", "deepcopy"), lambda seen: errors(seen.theirs, "missing . required positional") != []
        ),
        about(
            "normalizers.Replace",
            make("normalizers.Replace", "a", "b"),
            Step("normalizers.Replace", "copy", Subject()),
        ),
    ),
    Deliberate(
        "`Regex` and `Token`",
        either(
            on(r"Regex|Token", after("repr", "str", "format", "unbound")),
            # Other objects may hold one.
            shows(r"<lib\.(Regex|Token) object>"),
            lambda seen: errors(seen.theirs, r"cannot pickle 'tokenizers\.(Regex|Token)'") != [],
        ),
        about("Token", make("Token", 1, "a", (0, 1)), Step("Token", "repr", Subject())),
    ),
    Deliberate(
        "the `repr` and the pickled state of trainers",
        on(
            TRAINERS + r"(\.__(repr|str|getstate|setstate)__)?",
            either(
                after("repr", "str", "format"),
                lambda seen: "state" in seen.step.path or "__repr__" in seen.step.path or "__str__" in seen.step.path,
            ),
        ),
        about(
            "trainers.BpeTrainer",
            make("trainers.BpeTrainer"),
            call("trainers.BpeTrainer.__getstate__", "__getstate__"),
        ),
    ),
    Deliberate(
        "the pickled state of an `Encoding`",
        on(r"Encoding\.__getstate__"),
        about("Encoding", Call(Member(TOKENIZER, "encode"), ("ab",)), call("Encoding.__getstate__", "__getstate__")),
    ),
    Deliberate(
        "`FixedLength(0)`",
        refused("OptionError: length is 0"),
        about("pre_tokenizers.FixedLength", make("pre_tokenizers.FixedLength", 0)),
    ),
    Deliberate(
        "`nbest_size=0`",
        on(r"models\.Unigram\.nbest_size", shows(r"^0 \| None")),
        about(
            "models.Unigram",
            make("models.Unigram", PIECES, 0, nbest_size=0),
            Step("models.Unigram.nbest_size", "evaluate", Member(Subject(), "nbest_size")),
        ),
    ),
    Deliberate(
        "a function for `PreTokenizedString.split` that raises",
        on(r"PreTokenizedString\.split", shows(r"^\['list'\] \| ")),
        about(
            "PreTokenizedString",
            make("PreTokenizedString", "a b"),
            call("PreTokenizedString.split", "split", Script("raising")),
        ),
    ),
    Deliberate(
        "ids in a `vocab.json` that are no numbers",
        on(r"models\.\w+(\.\w+)?", refused("FormatError")),
        about("models.WordLevel", make("models.WordLevel.read_file", f"{FOLDER}/tokenizer.json")),
    ),
    Deliberate(
        "text put before the first character, and changed later",
        on(r"NormalizedString\.\w+", mentions(r"(prepend|append|replace)\(")),
        about(
            "NormalizedString",
            make("NormalizedString", ""),
            call("NormalizedString.append", "append", "x"),
            call("NormalizedString.lowercase", "lowercase"),
        ),
    ),
]
DELIBERATE += [
    Deliberate(
        "arguments of wrong types in the visualizer",
        on(r"tools\.visualizer\..*", both_raise),
        about(
            "tools.visualizer.CharState",
            None,
            Step(
                "tools.visualizer.EncodingVisualizer.consecutive_chars_to_html",
                "evaluate",
                make("tools.visualizer.EncodingVisualizer.consecutive_chars_to_html", {"a": None}, "a", "b"),
            ),
        ),
    ),
    Deliberate(
        "AddedToken",
        on("AddedToken", mentions("normalized=None")),
        about("AddedToken", make("AddedToken", "a", normalized=None)),
    ),
    Deliberate(
        "Tokenizer.from_pretrained",
        on(r"Tokenizer\.from_pretrained"),
        about("Tokenizer", TOKENIZER, call("Tokenizer.from_pretrained", "from_pretrained", "")),
    ),
    Deliberate(
        "`NormalizedString.split` by an empty text",
        on(r"NormalizedString\.split", mentions(r"split\((pattern=)?''")),
        about(
            "NormalizedString",
            make("NormalizedString", "éa"),
            call("NormalizedString.split", "split", "", "removed"),
        ),
    ),
    Deliberate(
        "`async_encode`",
        on(r".*\.async_encode"),
        about(
            "Tokenizer",
            make("Tokenizer", make("models.WordLevel", LETTERS, "<unk>")),
            call("Tokenizer.async_encode", "async_encode", "é"),
        ),
    ),
    Deliberate(
        "`__setstate__` of a model or trainer with the state of another class",
        on(r"models\.Model\.__setstate__", refused("FormatError: the state is that of")),
        about(
            "models.BPE",
            make("models.BPE"),
            call("models.Model.__setstate__", "__setstate__", Call(Member(make("models.Unigram"), "__getstate__"))),
        ),
    ),
    Deliberate(
        "`TemplateProcessing.single` set later",
        either(
            on(
                r"processors\.TemplateProcessing\.single\.setter",
                refused("OptionError: (special_tokens is|Missing SpecialToken)"),
            ),
            on(r".*\.num_special_tokens_to_add", mentions(r"\('single', ")),
        ),
        about(
            "processors.TemplateProcessing",
            make("processors.TemplateProcessing"),
            Step("processors.TemplateProcessing.single.setter", "set", Subject(), ("single", "[X] $A")),
        ),
    ),
    Deliberate(
        "options that a stage's file leaves out",
        on(r"\w+\.\w+\.__setstate__", lambda seen: errors(seen.theirs, "unpickle") != [] and seen.ours is None),
        about(
            "decoders.Fuse",
            make("decoders.Fuse"),
            call("decoders.Decoder.__setstate__", "__setstate__", b'{"type":"ByteLevel"}'),
        ),
    ),
    Deliberate(
        "a `dropout` or an `alpha` that makes no sense",
        on(r"models\.\w+(\.\w+\.setter)?", refused("OptionError: (dropout|alpha) is ")),
        about(
            "models.BPE",
            make("models.BPE"),
            Step("models.BPE.dropout.setter", "set", Subject(), ("dropout", Script("nan"))),
        ),
    ),
    Deliberate(
        "a stage after `__setstate__` with the state of another class",
        either(
            lambda seen: seen.step.action == "set" and bool(errors(seen.ours, "Exception: this object was unpickled")),
            both(
                mentions(r"__setstate__\((state=)?"),
                either(after("len", "[]", "[] =", "iter", "in"), on(r"\w+\.Sequence(\.__(len|getitem|setitem)__)?")),
            ),
        ),
        about(
            "normalizers.Strip",
            make("normalizers.Strip"),
            call("normalizers.Normalizer.__setstate__", "__setstate__", b'{"type":"NFC"}'),
            Step("normalizers.Strip.left.setter", "set", Subject(), ("left", False)),
        ),
    ),
]


PARITY = "trainers.ParityBpeTrainer"
WINDOW = make(PARITY, variant="window", alpha=0.0)
DELIBERATE += [
    Deliberate(
        "special tokens in a pickled `ParityBpeTrainer`",
        both(on(PARITY, after("pickle", "copy", "deepcopy")), shows(r"AddedToken")),
        about(
            PARITY,
            make(PARITY, special_tokens=[make("AddedToken", "<s>", rstrip=True)]),
            Step(PARITY, "copy", Subject()),
        ),
    ),
    Deliberate(
        "`ParityBpeTrainer` with a wrong `ratio`, `alpha` or `window_size`",
        on(PARITY + r"\.train_from_iterator", refused("OptionError: (number of ratios|ratio|alpha|window_size) is ")),
        about(PARITY, WINDOW, call(f"{PARITY}.train_from_iterator", "train_from_iterator", TOKENIZER, [["ab ab"]])),
    ),
    Deliberate(
        "`max_length` below the number of special tokens",
        # A tokenizer is assembled, unpickled and shown with its truncation too.
        lambda seen: isinstance(seen.ours, list) and seen.ours[:2] == ["warned", ["TruncationWarning"]],
        about(
            "Tokenizer",
            Call(
                Script("assembled"),
                (
                    make("models.BPE", LETTERS, MERGES),
                    {"post_processor": make("processors.BertProcessing", ("[SEP]", 2), ("[CLS]", 1))},
                    {},
                    [],
                ),
            ),
            call("Tokenizer.enable_truncation", "enable_truncation", 1),
        ),
    ),
    Deliberate(
        "or nothing where a `vocab.txt` should be",
        on(
            r"(models\.WordPiece|.*\.BertWordPieceTokenizer)(\.\w+)?",
            refused("FormatError: .*(this is|there is nothing)"),
        ),
        about("models.WordPiece", make("models.WordPiece.read_file", f"{FOLDER}/tokenizer.json")),
    ),
    Deliberate(
        "overflowing encodings of joined sequences",
        refused("OptionError: number of overflowing encodings is "),
        about(
            "Tokenizer",
            TOKENIZER,
            call("Tokenizer.enable_truncation", "enable_truncation", 2),
            call("Tokenizer.encode", "encode", "ab" * 300, "ab" * 300),
        ),
    ),
]


def reason(difference: Difference) -> Deliberate | None:
    """The entry that a difference is meant by; None if it is a mistake."""
    return next((entry for entry in DELIBERATE if entry.applies(difference)), None)
