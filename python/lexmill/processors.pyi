from collections.abc import Sequence as _Sequence
from typing import Any, TypeAlias, final

from typing_extensions import disjoint_base

from lexmill._core import Encoding

__all__ = ["BertProcessing", "ByteLevel", "PostProcessor", "RobertaProcessing", "Sequence", "TemplateProcessing"]

_Template: TypeAlias = str | _Sequence[str]
_SpecialToken: TypeAlias = tuple[str, int] | tuple[int, str] | dict[str, Any]

@disjoint_base
class PostProcessor:
    """Base class of all post-processors."""
    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        """How many special tokens a text or a pair gets."""
    def process(self, encoding: Encoding, pair: Encoding | None = None, add_special_tokens: bool = True) -> Encoding:
        """Adds special tokens to an encoding, or joins a pair."""
    def __getstate__(self) -> bytes: ...
    def __setstate__(self, state: bytes) -> None: ...

@final
class ByteLevel(PostProcessor):
    """Trims spaces from offsets.

    Args:
        add_prefix_space: leaves alone the offsets of a space that the pre-tokenizer put before the text; True by
            default.
        trim_offsets: False to trim nothing; True by default.
        use_regex: kept for files; without effect.
    """
    def __new__(
        cls, add_prefix_space: bool | None = None, trim_offsets: bool | None = None, use_regex: bool | None = None
    ) -> ByteLevel: ...
    @property
    def add_prefix_space(self) -> bool: ...
    @add_prefix_space.setter
    def add_prefix_space(self, value: bool) -> None: ...
    @property
    def trim_offsets(self) -> bool: ...
    @trim_offsets.setter
    def trim_offsets(self, value: bool) -> None: ...
    @property
    def use_regex(self) -> bool: ...
    @use_regex.setter
    def use_regex(self, value: bool) -> None: ...

@final
class RobertaProcessing(PostProcessor):
    """RoBERTa's arrangement: `<s> A </s>` and `<s> A </s></s> B </s>`.

    Args:
        sep: text and id of the token around sequences.
        cls_token: text and id of the first token.
        trim_offsets: takes spaces out of offsets.
        add_prefix_space: leaves alone the offsets of a space that the pre-tokenizer put before the text.
    """
    def __new__(
        cls,
        sep: tuple[str, int],
        cls_token: tuple[str, int],
        trim_offsets: bool = True,
        add_prefix_space: bool = True,
    ) -> RobertaProcessing: ...
    @property
    def sep(self) -> tuple[str, int]: ...
    @sep.setter
    def sep(self, value: tuple[str, int]) -> None: ...
    @property
    def cls(self) -> tuple[str, int]: ...
    @cls.setter
    def cls(self, value: tuple[str, int]) -> None: ...
    @property
    def trim_offsets(self) -> bool: ...
    @trim_offsets.setter
    def trim_offsets(self, value: bool) -> None: ...
    @property
    def add_prefix_space(self) -> bool: ...
    @add_prefix_space.setter
    def add_prefix_space(self, value: bool) -> None: ...
    def __getnewargs__(self) -> tuple[tuple[str, int], tuple[str, int]]: ...

@final
class TemplateProcessing(PostProcessor):
    """Special tokens and sequences arranged by a template.

    A template is a text of pieces with spaces between them, or a list of pieces: `$A` and `$B` are the sequences,
    any other piece is a special token, and `:1` after a piece gives its type id.

    Args:
        single: the template of one text, such as `[CLS] $A [SEP]`; `$A` if None.
        pair: the template of a pair, such as `[CLS] $A [SEP] $B:1 [SEP]:1`; `$A:0 $B:1` if None.
        special_tokens: pairs of text and id, or a dictionary with `id`, `ids` and `tokens` for one that stands for
            several.

    Raises:
        OptionError: a piece is malformed, or `special_tokens` lacks one of a template.
    """
    def __new__(
        cls,
        single: _Template | None = None,
        pair: _Template | None = None,
        special_tokens: _Sequence[_SpecialToken] | None = None,
    ) -> TemplateProcessing: ...
    @property
    def single(self) -> str: ...
    @single.setter
    def single(self, value: _Template) -> None: ...

@final
class Sequence(PostProcessor):
    """Post-processors one after the other.

    Args:
        processors_py: the post-processors, in their order. They stay shared.
    """
    def __new__(cls, processors_py: list[PostProcessor]) -> Sequence: ...
    def __getitem__(self, at: int, /) -> PostProcessor: ...
    def __setitem__(self, at: int, value: PostProcessor, /) -> None: ...
    def __getnewargs__(self) -> tuple[list[PostProcessor]]: ...

@final
class BertProcessing(PostProcessor):
    """BERT's arrangement: `[CLS] A [SEP]` and `[CLS] A [SEP] B [SEP]`.

    Args:
        sep: text and id of the token after each sequence.
        cls_token: text and id of the first token.
    """
    def __new__(cls, sep: tuple[str, int], cls_token: tuple[str, int]) -> BertProcessing: ...
    @property
    def sep(self) -> tuple[str, int]: ...
    @sep.setter
    def sep(self, value: tuple[str, int]) -> None: ...
    @property
    def cls(self) -> tuple[str, int]: ...
    @cls.setter
    def cls(self, value: tuple[str, int]) -> None: ...
    def __getnewargs__(self) -> tuple[tuple[str, int], tuple[str, int]]: ...
