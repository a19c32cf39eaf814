"""The formats of dictionaries."""

from __future__ import annotations

from pathlib import Path

from lnmap.errors import OptionError
from lnmap.io.dictionaries.apertium import Apertium
from lnmap.io.dictionaries.contract import Format
from lnmap.io.dictionaries.hunalign import Hunalign
from lnmap.io.dictionaries.lift import Lift
from lnmap.io.dictionaries.moses import Moses
from lnmap.io.dictionaries.page import Page
from lnmap.io.dictionaries.stardict import StarDict
from lnmap.io.dictionaries.tables import Csv, Json, Tsv
from lnmap.io.dictionaries.tei import Tei
from lnmap.io.dictionaries.tmx import Tmx
from lnmap.io.dictionaries.wiktextract import Wiktextract
from lnmap.io.dictionaries.yomitan import Yomitan

# Asked in this order what a file is. Lines of pairs come last: what is no other format is one of these, or broken.
READ: tuple[Format, ...] = (
    *(StarDict(), Page(), Lift(), Tmx(), Apertium(), Tei()),
    *(Wiktextract(), Json(), Hunalign(), Moses(), Csv(), Tsv()),
)
DICTIONARY_FORMATS: dict[str, Format] = {
    one.name: one
    for one in (Tsv(), Csv(), Json(), Hunalign(), StarDict(), Yomitan(), Lift(), Apertium(), Moses(), Tmx(), Page())
}
_ENDINGS = {"txt": "tsv", "json": "json", "ndjson": "json", "htm": "html", "xhtml": "html"}


def find_format(name: str | None, path: Path) -> Format:
    """Return a format by its name, or by how a file's name ends; tab-separated lines if that says nothing."""
    if name is None:
        ending = path.suffix.lower()
        known = {one.suffix: one.name for one in DICTIONARY_FORMATS.values() if one.suffix not in (".gz", ".zip")}
        name = known.get(ending) or _ENDINGS.get(ending.removeprefix("."), "tsv")
    if name not in DICTIONARY_FORMATS:
        raise OptionError(f"unknown dictionary format {name!r}; choose from {', '.join(DICTIONARY_FORMATS)}")
    return DICTIONARY_FORMATS[name]
