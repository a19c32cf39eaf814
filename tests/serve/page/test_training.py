"""The button that trains again, in a real browser: progress, cancel, the score, the swap."""

from __future__ import annotations

import re

import pytest
from tests.serve.chromium import expect, needs_chromium
from tests.serve.serving import Server, beginner

import lnmap
from lnmap.model.marks import JOURNAL, Marks

pytestmark = needs_chromium


@pytest.fixture(scope="module")
def learning(pair, tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "en-fr"
    return folder, beginner(pair, folder)


@pytest.fixture(scope="module")
def folders(learning):
    return {"en-fr": learning[0]}


@pytest.fixture(scope="module")
def server(learning):
    with Server(learning[0]) as made:
        yield made


@pytest.fixture
def lexicon(open_page, learning):
    """The lexicon of a model that has much to learn, with marks that it can learn from."""
    marks = Marks(learning[0])
    for pair in learning[1]:
        marks.add(*pair, "right")
    return open_page("en-fr/lexicon")


def test_training_shows_its_progress_and_can_be_cancelled(lexicon, learning):
    page, button = lexicon, lexicon.get_by_role("button", name="Train again")
    expect(page.locator("#trained")).to_have_text("50 marks are there to learn from.")
    button.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#trained")).to_contain_text("Training (")
    expect(page.get_by_role("progressbar", name="Progress of the training")).to_be_visible()
    expect(button).to_be_focused()
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator("#toast")).to_have_text("Cancelled. The model stays as it was.")
    expect(page.get_by_role("progressbar")).to_have_count(0)
    expect(page.locator("#trained")).to_have_text("50 marks are there to learn from.")
    assert len(lnmap.load(learning[0]).pairs) == 60


def test_training_swaps_the_model_and_shows_the_score(lexicon, learning):
    page = lexicon
    page.get_by_role("button", name="Train again").dblclick()
    expect(page.locator("#trained")).to_contain_text("Training (")
    row = page.locator("tbody tr").first
    row.get_by_role("button", name="wrong", exact=True).click()  # marks are taken meanwhile
    expect(page.locator("#counts")).to_have_text("50 right, 1 wrong, 0 added")
    score = re.compile(
        r"^Trained on 1\d\d pairs\. Of 10 newly marked words that were kept out for a test, the first answer was right "
        r"for \d+ \(\d+ %\) before and for \d+ \(\d+ %\) after\.$"
    )
    expect(page.locator("#trained")).to_have_text(score, timeout=60_000)
    expect(page.locator("#counts")).to_have_text("50 right, 1 wrong, 0 added")
    assert len(lnmap.load(learning[0]).pairs) >= 109
    assert len(Marks(learning[0]).latest()[0]) == 51


def test_without_marks_there_is_nothing_to_train(lexicon, learning):
    (learning[0] / JOURNAL).unlink()
    page = lexicon
    page.reload()
    expect(page.get_by_role("button", name="Train again")).to_have_attribute("aria-disabled", "true")
    page.get_by_text("The same on the command line").click()
    expect(page.locator("#retrain")).to_contain_text(f"--marks {learning[0].resolve()}")
