"""docs/lnmap.md and docs/nonlinear.md show what the stored results say."""

import pytest
from scripts import lnmap_page


@pytest.mark.parametrize("path", lnmap_page.PAGES, ids=lambda path: path.name)
def test_page_is_fresh(path):
    text = path.read_text(encoding="utf-8")
    assert lnmap_page.page(text) == text, "run: python scripts/lnmap_page.py"


def test_cells_show_spread_and_unusual_numbers_of_seeds():
    assert lnmap_page.shown([]) == "not run"
    assert lnmap_page.shown([51.23]) == "51.2"
    assert lnmap_page.shown([50.0, 51.0, 52.0]) == "51.0 ± 1.0"
    assert lnmap_page.shown([50.0, 52.0]) == "51.0 ± 1.4 (2 seeds)"
