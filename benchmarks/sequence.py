"""Time the commands of docs/tutorial.md on a million words per side, from two folders of text to a StarDict dictionary.

apt-get download libreoffice-help-en-us libreoffice-help-fr gimp-help-en gimp-help-fr
for package in *.deb; do dpkg -x "$package" root; done
python benchmarks/sequence.py root FOLDER

FOLDER gets what examples/tutorial has, and the pages of the packages; a FOLDER with en/ and fr/ is used as it is.
Commands in one line run at the same time, one per core.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

TUTORIAL = Path(__file__).parents[1] / "examples/tutorial"
PAGES = {"en": ("libreoffice/help/en-US", "gimp/2.0/help/en"), "fr": ("libreoffice/help/fr", "gimp/2.0/help/fr")}
STEPS = (
    ("vectors en --out en.vec", "vectors fr --out fr.vec --split-apostrophes"),
    ("check en.vec fr.vec --pairs pairs.txt",),
    ("align en.vec fr.vec --pairs pairs.txt --out en-fr",),
    ("evaluate en-fr --pairs test.txt",),
    ("ask en-fr --out sheet.csv --count 100",),
    ("induce en-fr --out en-fr.zip --format stardict --both --translations 3 --min-confidence 0.3 --languages en,fr",),
    ("induce en-fr --out en-fr.tsv --translations 3 --min-confidence 0.3",),
)
LNMAP = [sys.executable, "-c", "import sys; from lnmap.cli import main; sys.exit(main())"]


def prepare(root: Path, folder: Path) -> None:
    """Put the tutorial's files and the pages of the packages into a folder."""
    if (folder / "en").is_dir():
        return
    shutil.copytree(TUTORIAL, folder)
    for language, places in PAGES.items():
        for place in places:
            pages = root / "usr/share" / place
            for page in sorted(pages.rglob("*.html")):
                new = folder / language / place.replace("/", "-") / page.relative_to(pages)
                new.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(page, new)


def run(commands: tuple[str, ...], folder: Path) -> list[tuple[str, float, float]]:
    """Run commands at the same time; return each with its wall and CPU seconds."""
    started, running = time.monotonic(), {}
    for command in commands:
        log = (folder / f"{command.split()[0]}-{command.split()[1]}.log").open("wb")
        with log:
            process = subprocess.Popen([*LNMAP, *command.split()], cwd=folder, stdout=log, stderr=log)
        running[process.pid] = command
    found = []
    while running:
        pid, status, used = os.wait4(-1, 0)
        command = running.pop(pid)
        if status:
            raise SystemExit(f"lnmap {command} failed; see the logs in {folder}")
        found.append((command, time.monotonic() - started, used.ru_utime + used.ru_stime))
    return found


def main(root: Path, folder: Path) -> None:
    prepare(root, folder)
    print("| command | wall s | CPU s |\n|---|---:|---:|", flush=True)
    started, total = time.monotonic(), 0.0
    for step in STEPS:
        for command, wall, cpu in run(step, folder):
            print(f"| `lnmap {command}` | {wall:.0f} | {cpu:.0f} |", flush=True)
            total += cpu
    print(f"| together | {time.monotonic() - started:.0f} | {total:.0f} |\n")
    for log in sorted(folder.glob("*.log")):
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        print(f"== {log.stem}", *[line for line in lines if " left" not in line][-24:], sep="\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
