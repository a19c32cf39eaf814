"""Encode and map: every method behind one contract, and the registry that names them.

To add a method of lnmap's own, write it in one file and name its class below. Another package registers one through
the entry point group `lnmap.methods`; docs/plugins.md has an example.
"""

from __future__ import annotations

from typing import Any

from lnmap.errors import ModelError, OptionError
from lnmap.methods.aae import Aae
from lnmap.methods.auto import Auto
from lnmap.methods.base import Alignment, Method
from lnmap.methods.bliss import Bliss
from lnmap.methods.contrastive import Contrastive
from lnmap.methods.geomm import Geomm
from lnmap.methods.lnmap import LNMap
from lnmap.methods.muse import Muse
from lnmap.methods.muse_unsup import MuseUnsup
from lnmap.methods.procrustes import Procrustes
from lnmap.methods.rcsls import Rcsls
from lnmap.methods.registry import Registry
from lnmap.methods.vecmap import Artetxe2017, Artetxe2018Aaai, Artetxe2018Acl, VecmapSemi, VecmapSup

METHODS = Registry(
    [
        Auto,
        LNMap,
        Procrustes,
        Muse,
        Rcsls,
        Artetxe2017,
        Artetxe2018Aaai,
        Geomm,
        VecmapSup,
        VecmapSemi,
        Contrastive,
        Bliss,
        Artetxe2018Acl,
        MuseUnsup,
        Aae,
    ]
)
DEFAULT_METHOD = "auto"


def find_method(name: str) -> type[Method]:
    """Return a method's class by name."""
    if name in METHODS:
        return METHODS[name]
    for plugin in METHODS.broken:
        if plugin.name == name:
            raise OptionError(str(plugin))
    raise OptionError(f"unknown method {name!r}; choose from {', '.join(METHODS)}")


def make_method(name: str, profile: str | None = None, values: dict[str, Any] | None = None) -> Method:
    """Build a method by name, from a profile's options and some of the caller's own."""
    cls = find_method(name)
    options = cls.Options()
    if profile is not None:
        if profile not in cls.profiles:
            known = ", ".join(cls.profiles) or "none"
            raise OptionError(f"method {name!r} has no profile {profile!r}; its profiles: {known}")
        options = options.with_values(cls.profiles[profile])
    return cls(options.with_values(values or {}))


def alignment_class(kind: str) -> type[Alignment]:
    """Return the class that rebuilds an alignment of a kind from its state."""
    found = METHODS.alignment(kind)
    if found is None:
        why = "".join(f"; {plugin}" for plugin in METHODS.broken)
        raise ModelError(
            f"no installed method knows alignments of the kind {kind!r}{why}; install the package that does"
        )
    return found
