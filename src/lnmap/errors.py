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

Messages are one line: what was found, what was expected, what to do.
"""

from __future__ import annotations


class LnmapError(Exception):
    """Base of all errors raised on purpose by this package.

    Messages quote names of files and words as they were found; whatever could break a line or steer a terminal is
    written as an escape.
    """

    exit_code = 1

    def __init__(self, message: str) -> None:
        shown = (c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in message)
        super().__init__("".join(shown))


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
