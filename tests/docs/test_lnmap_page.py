"""docs/lnmap.md, nonlinear.md and settings.md show what the stored results say."""

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


def test_means_need_every_cell():
    assert lnmap_page.mean_of([[50.0, 52.0], [40.0]]) == "45.5"
    assert lnmap_page.mean_of([[50.0], []]) == ""


def test_table_of_one_method_has_no_other_rows():
    found = lnmap_page.table("settings", "1k-unique", "auto")
    assert "| auto, default |" in found
    assert "contrastive" not in found


def test_empty_places_are_filled_and_the_text_after_them_stays():
    text = "<!-- moved -->\n<!-- end -->\n\nkept\n\n<!-- convergence -->\nold\n<!-- end -->\n"
    found = lnmap_page.page(text)
    assert "M moves by" in found
    assert "kept" in found
    assert "old" not in found
