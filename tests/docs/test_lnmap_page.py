"""docs/lnmap.md shows what the stored results say."""

from scripts import lnmap_page

TEXT = lnmap_page.PAGE.read_text(encoding="utf-8")


def test_page_is_fresh():
    assert lnmap_page.page(TEXT) == TEXT, "run: python scripts/lnmap_page.py"


def test_cells_show_spread_and_unusual_numbers_of_seeds():
    assert lnmap_page.shown([]) == "not run"
    assert lnmap_page.shown([51.23]) == "51.2"
    assert lnmap_page.shown([50.0, 51.0, 52.0]) == "51.0 ± 1.0"
    assert lnmap_page.shown([50.0, 52.0]) == "51.0 ± 1.4 (2 seeds)"
