"""Make the texts of the tutorial from Debian's package debian-handbook.

apt-get download debian-handbook && dpkg -x debian-handbook_*.deb handbook
python texts.py
"""

from __future__ import annotations

import lzma
from pathlib import Path

from lnmap.text.sources import Reader

PAGES = Path("handbook/usr/share/doc/debian-handbook/html")


def main() -> None:
    """Write one text per language; English lines that were never translated are left out of the French one."""
    lines = {}
    for code, name in (("en-US", "en"), ("fr-FR", "fr")):
        found = (
            line for page in sorted((PAGES / code).glob("*.html")) for line in Reader("utf-8").lines(page, named=True)
        )
        lines[name] = list(dict.fromkeys(" ".join(line.split()) for line in found if len(line.split()) > 3))
    english = set(lines["en"])
    lines["fr"] = [line for line in lines["fr"] if line not in english]
    for name, text in lines.items():
        Path(name).mkdir(exist_ok=True)
        with lzma.open(f"{name}/handbook.txt.xz", "wt", encoding="utf-8", preset=9) as file:
            file.write("\n".join(text) + "\n")


if __name__ == "__main__":
    main()
