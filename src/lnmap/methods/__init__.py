"""Encode and map: every method behind one contract, and the registry that names them.

To add a method to lnmap itself, write it in one file and add its class below. Another package registers one through
the entry point group `lnmap.methods`; docs/plugins.md has an example.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lnmap.errors import ModelError, OptionError
from lnmap.methods.registry import Registry

if TYPE_CHECKING:
    from lnmap.methods.base import Alignment, Method

# One line per method: its module and its class.
METHODS = Registry(
    "auto.Auto",
    "lnmap.LNMap",
    "procrustes.Procrustes",
    "muse.Muse",
    "rcsls.Rcsls",
    "vecmap.Artetxe2017",
    "vecmap.Artetxe2018Aaai",
    "geomm.Geomm",
    "kernel.Kernel",
    "vecmap.VecmapSup",
    "vecmap.VecmapSemi",
    "contrastive.Contrastive",
    "bliss.Bliss",
    "vecmap.Artetxe2018Acl",
    "muse_unsup.MuseUnsup",
    "aae.Aae",
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
