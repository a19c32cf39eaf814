"""The colours of a report, for light and dark screens."""

from __future__ import annotations

FONT = "'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', sans-serif"
# After Paul Tol's "muted" scheme, safe for colour-blind readers; the order keeps neighbours apart. LNMap is first.
SERIES = (
    *("#cc3311", "#332288", "#117733", "#0077bb", "#aa4499", "#8a8a1f", "#882255", "#2f9485"),
    *("#b27d00", "#555555", "#e0762f", "#6a8fc7", "#7a5230", "#000000"),
)
_DARK_SERIES = (
    *("#ff7a55", "#a89bf5", "#5fc77f", "#56b4e9", "#e08bd0", "#c5c55a", "#e0709e", "#6fd6c4"),
    *("#ecc766", "#b5b5b5", "#ffb27d", "#9dbdf0", "#c9a27f", "#ffffff"),
)
INK, MUTED, GRID, RULE, PAPER, BLACK = "#1a1a1a", "#666666", "#e3e3e3", "#b5b5b5", "#ffffff", "#1b1b1b"
_NAMES = ("ink", "muted", "grid", "rule", "paper", "black")  # black: on bars that are light in both themes
_DARK = ("#ededed", "#a5a5a5", "#333333", "#6a6a6a", "#16181c", BLACK)


def themes() -> tuple[dict[str, str], dict[str, str]]:
    """Return the colours of the light and the dark theme under the same names."""
    names = [*_NAMES, *(f"c{i}" for i in range(len(SERIES)))]
    light = (INK, MUTED, GRID, RULE, PAPER, BLACK, *SERIES)
    return dict(zip(names, light, strict=True)), dict(zip(names, (*_DARK, *_DARK_SERIES), strict=True))


def series(index: int) -> str:
    """Return the colour of a series."""
    return SERIES[index % len(SERIES)]
