"""Domains of a mixture, as `lexmill train` takes them: `--domain NAME=FILES`, `--weight NAME=NUMBER`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from lexmill import DomainTokens
from lexmill.cli.options import ReadOptions
from lexmill.cli.outcome import UsageError
from lexmill.cli.sources import Input, inputs_of

__all__ = ["Mixture", "mixture_of", "shown"]


@dataclass(frozen=True)
class Mixture:
    """The files of each domain, and the numbers by which they are mixed."""

    inputs: dict[str, list[Input]]
    weights: dict[str, Fraction] | None
    shares: dict[str, Fraction] | None

    @property
    def files(self) -> list[Input]:
        """The files of all domains."""
        return [one for inputs in self.inputs.values() for one in inputs]


def mixture_of(
    domains: Sequence[str], weights: Sequence[str] | None, shares: Sequence[str] | None, read: ReadOptions
) -> Mixture:
    """The mixture that the options describe; a domain that is named again has further files.

    Raises:
        UsageError: an option is no name with a value, a value is no number, or a domain is standard input.
        FileError: a file is missing or must not be read, or a folder or pattern has none.
    """
    files: dict[str, list[str]] = {}
    for option in domains:
        name, value = _pair("domain", option, "FILES")
        files.setdefault(name, []).append(value)
    mixture = Mixture(
        {name: inputs_of(own, read) for name, own in files.items()},
        _numbers("weight", weights),
        _numbers("share", shares),
    )
    for one in mixture.files:
        if one.is_stream:
            message = f"--domain has {one.name}, which can be read only once; count its words first"
            raise UsageError(message)
    return mixture


def shown(domains: Mapping[str, DomainTokens]) -> dict[str, dict[str, object]]:
    """The tokens of each domain as JSON values."""
    return {
        name: {
            "factor": domain.factor,
            "share": domain.share,
            "bytes": domain.bytes,
            "tokens": domain.tokens,
            "bytes_per_token": domain.bytes_per_token,
            "used": domain.used,
            "used_share": domain.used_share,
        }
        for name, domain in domains.items()
    }


def _numbers(option: str, values: Sequence[str] | None) -> dict[str, Fraction] | None:
    if not values:
        return None
    numbers: dict[str, Fraction] = {}
    for given in values:
        name, value = _pair(option, given, "NUMBER")
        try:
            numbers[name] = Fraction(value)
        except (ValueError, ZeroDivisionError):
            message = f"--{option} is {given} but must be NAME=NUMBER, such as {name}=3, {name}=0.5 or {name}=1/3"
            raise UsageError(message) from None
    return numbers


def _pair(option: str, given: str, value: str) -> tuple[str, str]:
    name, separator, text = given.partition("=")
    if not (name and separator and text):
        message = f"--{option} is {given} but must be NAME={value}"
        raise UsageError(message)
    return name, text
