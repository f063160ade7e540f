"""Built-in chat templates."""
from __future__ import annotations
from typing import Any, NamedTuple
__all__ = ["FORMATS", "Format"]
class Format(NamedTuple):
    template: str
    variables: dict[str, Any]
FORMATS: dict[str, Format] = {"chatml": Format("{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}", {})}
