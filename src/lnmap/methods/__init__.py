"""Encode and map: every system behind one contract, and the registry that names them."""

from __future__ import annotations

from typing import Any

from lnmap.errors import OptionError
from lnmap.methods.aae import Aae, TwoWayAlignment
from lnmap.methods.auto import Auto
from lnmap.methods.base import Alignment, LinearAlignment, Method
from lnmap.methods.bliss import Bliss
from lnmap.methods.contrastive import Contrastive
from lnmap.methods.ensemble import EnsembleAlignment
from lnmap.methods.geomm import Geomm
from lnmap.methods.lnmap import LNMap
from lnmap.methods.lnmap.alignment import LatentAlignment
from lnmap.methods.muse import Muse
from lnmap.methods.muse_unsup import MuseUnsup
from lnmap.methods.procrustes import Procrustes
from lnmap.methods.rcsls import Rcsls
from lnmap.methods.vecmap import Artetxe2017, Artetxe2018Aaai, Artetxe2018Acl, VecmapSemi, VecmapSup

METHODS: dict[str, type[Method]] = {
    method.name: method
    for method in (
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
    )
}
ALIGNMENTS: dict[str, type[Alignment]] = {
    kind.kind: kind for kind in (LinearAlignment, LatentAlignment, TwoWayAlignment, EnsembleAlignment)
}
DEFAULT_METHOD = "auto"


def make_method(name: str, profile: str | None = None, values: dict[str, Any] | None = None) -> Method:
    """Build a method by name, from a profile's options and some of the caller's own."""
    cls = METHODS.get(name)
    if cls is None:
        raise OptionError(f"unknown method {name!r}; choose from {', '.join(METHODS)}")
    options = cls.Options()
    if profile is not None:
        if profile not in cls.profiles:
            known = ", ".join(cls.profiles) or "none"
            raise OptionError(f"method {name!r} has no profile {profile!r}; its profiles: {known}")
        options = options.with_values(cls.profiles[profile])
    return cls(options.with_values(values or {}))
