from __future__ import annotations

import inspect
import pickle

import pytest

from lexmill import errors

BUILTINS = {
    errors.FileError: OSError,
    errors.MissingFileError: FileNotFoundError,
    errors.InvalidUtf8Error: ValueError,
    errors.EmptyCorpusError: ValueError,
    errors.OptionError: ValueError,
    errors.OptionRangeError: OverflowError,
    errors.FormatError: ValueError,
    errors.OutputError: OSError,
    errors.RegexError: ValueError,
    errors.RemotePathError: OSError,
    errors.VocabError: KeyError,
    errors.InputTypeError: TypeError,
    errors.IdRangeError: OverflowError,
    errors.TemplateError: ValueError,
    errors.SpanError: ValueError,
    errors.TextTooLongError: OverflowError,
}


def test_every_class_is_listed_here_and_public() -> None:
    classes = {value for _, value in inspect.getmembers(errors, inspect.isclass) if value.__module__ == errors.__name__}
    warnings = {cls for cls in classes if issubclass(cls, errors.CorpusWarning)} | {
        errors.LostStateWarning,
        errors.ByteTokenWarning,
    }
    assert errors.SkippedRecordsWarning in warnings
    assert classes == {errors.LexmillError, *warnings, *BUILTINS}
    assert {cls.__name__ for cls in classes} == set(errors.__all__)


@pytest.mark.parametrize(("cls", "builtin"), BUILTINS.items(), ids=lambda cls: cls.__name__)
class TestEachError:
    def test_is_caught_as_its_builtin_and_as_ours(self, cls: type[Exception], builtin: type[Exception]) -> None:
        for caught in (builtin, errors.LexmillError):
            with pytest.raises(caught):
                raise cls("id 7 is not in the vocabulary")

    def test_shows_the_plain_message(self, cls: type[Exception], builtin: type[Exception]) -> None:
        assert str(cls("id 7 is not in the vocabulary")) == "id 7 is not in the vocabulary"

    def test_survives_pickling(self, cls: type[Exception], builtin: type[Exception]) -> None:
        copy = pickle.loads(pickle.dumps(cls("message")))
        assert (type(copy), str(copy)) == (cls, "message")


def test_file_error_shows_its_sentence_whatever_else_it_carries() -> None:
    error = errors.FileError("cannot open corpus.txt: No such file or directory (os error 2)")
    error.errno, error.filename = 2, "corpus.txt"
    assert str(error) == "cannot open corpus.txt: No such file or directory (os error 2)"


def test_file_error_keeps_errno_and_filename() -> None:
    error = errors.FileError(2, "No such file or directory", "corpus.txt")
    assert (error.errno, error.filename) == (2, "corpus.txt")
