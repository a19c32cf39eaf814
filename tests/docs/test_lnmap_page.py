"""docs/lnmap.md, nonlinear.md and settings.md show what the stored results say."""

import pytest
from scripts import lnmap_page

from lnmap.experiments import Results, Trial


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


def test_rows_of_another_revision_are_named(monkeypatch):
    monkeypatch.setattr(lnmap_page, "other_settings", lambda result: ["revision 0"] * (result["trial"]["seed"] == 0))
    found = lnmap_page.table("settings", "1k-unique", "auto")
    assert found.endswith("\n\nMade with revision 0: auto, default; auto, spelling=false.")
    monkeypatch.setattr(lnmap_page, "other_settings", lambda result: [])
    assert lnmap_page.table("settings", "1k-unique", "auto").endswith("|")


def test_results_that_a_plan_no_longer_speaks_of_are_not_shown(tmp_path, monkeypatch):
    trial = Trial("paper", "lnmap", "default", "en-fr", "en-fr", "1k-unique", "lnmap")
    stored = Results(tmp_path / "paper")
    for key, score in (("1" * 20, 10.0), ("2" * 20, 20.0)):
        stored.write(trial, key, {"status": "done", "scores": {"p@1": score}, "trial": trial.to_dict()})
        stored.remember([(trial, key)])
    monkeypatch.setattr(lnmap_page, "STORED", tmp_path)
    assert [result["scores"]["p@1"] for result in lnmap_page.results.__wrapped__("paper")] == [20.0]
