"""A real browser for the tests of the page: Chromium, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

playwright_api = pytest.importorskip("playwright.sync_api", reason="the page is tested with the package playwright")
expect = playwright_api.expect
expect.set_options(timeout=15_000)

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="the page is tested in Chromium, which is not installed (Debian: apt-get install chromium)"
)


@contextmanager
def launched() -> Iterator[playwright_api.Browser]:
    """Yield a browser without a window."""
    with playwright_api.sync_playwright() as driver:
        flags = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        made = driver.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield made
        made.close()
