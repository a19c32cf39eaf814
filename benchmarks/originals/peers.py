"""The original programs: where each comes from, and whether it is there.

No code of theirs is in this repository. Clone each repository at its commit into one folder, under its own name.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple


class Peer(NamedTuple):
    """A public repository."""

    address: str
    commit: str

    @property
    def name(self) -> str:
        """The folder that `git clone` makes."""
        return self.address.rpartition("/")[2]


VECMAP = Peer("artetxem/vecmap", "b82246f6c249633039f67fa6156e51d852bd73a3")
FASTTEXT = Peer("facebookresearch/fastText", "1142dc4c4ecbc19cc16eee5cdd28472e689267e6")
MUSE = Peer("facebookresearch/MUSE", "3159355b93f5c3c4883808ba785ba9d18d7f5e81")
GEOMM = Peer("anoopkunchukuttan/geomm", "901fc7e2151a7a2476b12d50cf83a4cd3c9aa639")
BLISS = Peer("joelmoniz/BLISS", "bb6f65b172eb5c80a794c322b8829a3fed4aa620")
AAE = Peer("taasnim/unsup-word-translation", "c507d30ef00ff8bcf8eda58050905ccfcc73f9d1")
C1 = Peer("cambridgeltl/ContrastiveBLI", "479108921464604aa857b80e3f64060b49e02c7e")
LNMAP = Peer("taasnim/lnmap", "bd508229579470076845c6be6df59aaefa1db84d")


def commit_of(clone: Path) -> str:
    """Return the commit of a clone, or of an unpacked copy with a file COMMIT."""
    if (clone / "COMMIT").exists():
        return (clone / "COMMIT").read_text().strip()
    command = ["git", "-C", str(clone), "rev-parse", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def missing(clones: Path, wanted: set[Peer]) -> list[str]:
    """Say what must be cloned or checked out before the originals can run."""
    found = []
    for peer in sorted(wanted):
        clone = clones / peer.name
        if not clone.is_dir():
            found.append(f"git clone https://github.com/{peer.address} && git -C {peer.name} checkout {peer.commit}")
        elif commit_of(clone) != peer.commit:
            found.append(f"git -C {peer.name} checkout {peer.commit}  # it stands at {commit_of(clone) or 'no commit'}")
    return found


def copied(clones: Path, peer: Peer, folder: Path) -> None:
    """Copy a clone, because the programs write into their own folders."""
    shutil.copytree(clones / peer.name, folder, ignore=shutil.ignore_patterns(".git", "tests", "website"))
