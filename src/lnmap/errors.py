"""Every error a user can meet, as one tree.

LnmapError
├── InputError            something handed in cannot be used
│   ├── VectorFileError   a file of word vectors
│   ├── LexiconError      a dictionary, or a seed rule applied to it
│   ├── OptionError       an option's name or value
│   ├── ModelError        a model folder
│   └── CatalogueError    a benchmark: unknown, or not on this machine yet
├── OutputError           a result cannot be written
├── TrainingError         training ran and gave nothing usable
├── DownloadError         data cannot be fetched
├── HubError              the Hub cannot be reached, or refuses
└── MissingExtraError     an optional dependency is not installed

Messages are one line: what was found, what was expected, what to do. The last part, the advice, names arguments in
braces, so that each front door can spell them its own way:

    LexiconError("there are 3 seed pairs, 10 are needed", advice="raise {limit} or pass {pairs:identical}")

reads "raise limit or pass pairs='identical'" in Python and "raise --limit or pass --pairs identical" on the command
line. A name with a blank is a command about a benchmark and its pairs: `{data get:muse en-fr}` reads
"lnmap.datasets.get('muse', ['en-fr'])" in Python and "lnmap data get muse --pairs en-fr" on the command line.
"""

from __future__ import annotations

from collections.abc import Callable

Spell = Callable[[str, str], str]  # name and value ("" for none) of an argument -> how to write it

_CALLS = {"data get": "lnmap.datasets.get", "data where": "lnmap.datasets.origins"}


def as_argument(name: str, value: str = "") -> str:
    """Write an argument as Python does: limit, pairs='identical', calibrate=True, options={'normalize': 'unit'}."""
    if not value:
        return name
    if name in _CALLS:
        benchmark, pairs = value.split(" ")
        return f"{_CALLS[name]}({benchmark!r}, {pairs.split(',')})"
    option, sign, setting = value.partition("=")
    if sign:
        return f"{name}={ {option: setting} }"
    return f"{name}={value if value in ('True', 'False', 'None') or value.isdecimal() else repr(value)}"


class LnmapError(Exception):
    """Base of all errors raised on purpose by this package.

    Messages quote names of files and words as they were found; whatever could break a line or steer a terminal is
    written as an escape.
    """

    exit_code = 1

    def __init__(self, problem: str, advice: str = "") -> None:
        self.problem, self.advice = _printable(problem), advice
        super().__init__(self.explain(as_argument))

    def explain(self, spell: Spell) -> str:
        """Return the whole message, with the arguments in the advice written by `spell`."""
        if not self.advice:
            return self.problem
        return f"{self.problem}; {_printable(self.advice.format_map(_Arguments(spell)))}"


class InputError(LnmapError):
    """Something handed in cannot be used."""

    exit_code = 2


class VectorFileError(InputError):
    """A file of word vectors cannot be read."""


class LexiconError(InputError):
    """A dictionary cannot be read, or leaves nothing to train or test on."""


class OptionError(InputError):
    """An option does not exist or its value is not allowed."""


class ModelError(InputError):
    """A model folder is missing, broken or of another version."""


class CatalogueError(InputError):
    """A benchmark or pair does not exist, or its files are not on this machine."""


class OutputError(LnmapError):
    """A result cannot be written."""

    exit_code = 3


class TrainingError(LnmapError):
    """Training ran and gave nothing usable."""

    exit_code = 4


class DownloadError(LnmapError):
    """Data cannot be fetched, or are not what they should be."""

    exit_code = 6


class HubError(LnmapError):
    """The Hub cannot be reached, does not have what was asked for, or refuses."""

    exit_code = 6


class MissingExtraError(LnmapError):
    """An optional dependency is not installed."""

    exit_code = 5

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs the package {package!r}; install it with: pip install 'lnmap[{extra}]'")


class _Argument:
    """An argument in a piece of advice: '{limit}', or '{pairs:identical}' with a value."""

    def __init__(self, name: str, spell: Spell) -> None:
        self._name, self._spell = name, spell

    def __format__(self, value: str) -> str:
        return self._spell(self._name, value)


class _Arguments(dict[str, _Argument]):
    """Every name that a piece of advice may mention."""

    def __init__(self, spell: Spell) -> None:
        super().__init__()
        self._spell = spell

    def __missing__(self, name: str) -> _Argument:
        return _Argument(name, self._spell)


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
