"""The page on what is reproduced: fresh, complete, and its counts right."""

from __future__ import annotations

import pytest
from scripts import paper_claims, reproduction_page

from lnmap.experiments.tables import PAPER, load_table

TEXT = reproduction_page.PAGE.read_text(encoding="utf-8")


def test_page_is_fresh():
    assert reproduction_page.page(TEXT) == TEXT, "run: python scripts/reproduction_page.py"


def test_page_has_every_row_of_the_paper():
    lines = [line for line in TEXT.splitlines() if line.startswith("| ")]
    for name in PAPER:
        for system in dict.fromkeys(row.system for row in load_table(name).rows):
            wanted = f"{system.label} (`{system.name}`)"
            assert any(f" {wanted} |" in line and name[-1] in line.split("|")[1] for line in lines), (name, wanted)
    assert "| 1, 2 | GH Distance |" in TEXT


@pytest.mark.parametrize(
    ("departure", "expected"),
    [
        ("none known", "equal"),
        ("none known but other random numbers", "close"),
        ("shortened", "different"),
        (None, "not described"),
    ],
)
def test_rows_are_graded_by_what_the_method_says(departure, expected):
    assert reproduction_page.grade(departure) == expected


# Counted by hand from the printed tables.
@pytest.mark.parametrize(
    ("claim", "said", "verdict"),
    [
        ("1K Unique: better than all systems with a seed in 20 of 20", "18 wins, 1 tie (el-en), 1 loss (he-en)", "NOT"),
        ("5K Unique: better than the others in 14 of 20", "13 wins, 7 losses", "NOT"),
        ("5K All: best in 13 of 20", "12 wins, 1 tie (en-el)", "TIES"),
        ("better than Artetxe et al. (2018, ACL) in 18 of 20", "1k-unique: 10 wins, 1 tie (en-bn)", "PARTLY"),
        ("MUSE, 1K Unique: highest in 10 of 10", "10 wins", "HOLDS"),
        ("VecMap, 5K All: better than the others in 4 of 8", "3 wins, 5 losses", "NOT"),
        ("Conneau et al. (2018) without a seed fails in 12 of 20", "0.0 in 12 of 20", "HOLDS"),
        ("1K Unique: about 18 above Joulin et al. (2018)", "17.9", "HOLDS"),
        ("without reconstruction, ta and bn lose 2.5 and 6.4", "2.50 from, 6.40 to English", "HOLDS"),
        ("the same: Finnish in Table 3", "0 wins, 6 losses", "NOT"),
    ],
)
def test_claims_are_counted_right(claim, said, verdict):
    (found,) = (one for one in paper_claims.CLAIMS if one.text == claim)
    text, judged = found.check()
    assert text.startswith(said)
    assert judged == getattr(paper_claims, verdict)


def test_every_claim_is_on_the_page():
    for claim in paper_claims.CLAIMS:
        assert f"| {claim.section} | {claim.text} |" in TEXT
