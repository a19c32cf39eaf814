"""Take the picture of the page for the documentation, in Chromium: python scripts/page_image.py [FILE]."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

import lnmap
from lnmap.datasets import bundled_pair

SERVE = "import sys; from lnmap.cli import main; sys.exit(main())"
VIEW, DRAWN = "translate?w=freedom", ".near li"
SIZE = {"width": 1200, "height": 848}


def main() -> None:
    path = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1] / "docs/images/page.png")
    pair = bundled_pair()
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root) / "en-fr"
        lnmap.align(pair.source, pair.target, pair.train, method="geomm", take="1k-unique", calibrate=True, out=folder)
        command = [sys.executable, "-c", SERVE, "serve", str(folder), "--port", "0", "--json"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            take(read_url(server), path)
            server.terminate()
    print(path)


def read_url(server: subprocess.Popen[str]) -> str:
    """Wait until the server is ready, and return its address."""
    text = ""
    for line in server.stdout:
        text += line
        if line.startswith("}"):
            return json.loads(text)["url"]
    raise SystemExit("the server did not start")


def take(url: str, path: Path) -> None:
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE, reduced_motion="reduce")
        page.goto(f"{url}#/en-fr/{VIEW}")
        page.locator(DRAWN).first.wait_for()
        page.wait_for_load_state("networkidle")
        page.wait_for_timeout(500)  # the labels of the map are placed
        page.screenshot(path=path)
        browser.close()


if __name__ == "__main__":
    main()
