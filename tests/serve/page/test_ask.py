"""The view that asks a speaker, in a real browser."""

from __future__ import annotations

import pytest
from tests.serve.chromium import expect, needs_chromium
from tests.serve.serving import Server, beginner

from lnmap.ask import Skipped
from lnmap.ask.answers import SKIPPED
from lnmap.model.marks import Marks

pytestmark = needs_chromium


@pytest.fixture(scope="module")
def folders(pair, tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "en-fr"
    beginner(pair, folder)
    return {"en-fr": folder}


@pytest.fixture(scope="module")
def server(folders):
    with Server(*folders.values()) as made:
        yield made


@pytest.fixture
def folder(folders):
    (folders["en-fr"] / SKIPPED).unlink(missing_ok=True)
    return folders["en-fr"]


def marks(folder):
    return {pair: mark.mark for pair, mark in Marks(folder).latest()[0].items()}


def question(page):
    """Return the word that is asked about and the candidates."""
    return page.locator("#asked").inner_text(), page.locator(".choose .word").all_inner_texts()


def test_questions_are_answered_by_click_by_word_undone_and_skipped(open_page, folder):
    page = open_page("en-fr/ask")
    heading = page.locator("#asked")
    expect(heading).to_be_visible()
    first, candidates = question(page)
    page.locator(".choose").nth(1).click()
    expect(page.locator("#last")).to_contain_text(f"1 answered. Last: {first} – {candidates[1]}")
    assert marks(folder) == {(first, candidates[1]): "right"}
    second, _ = question(page)
    assert second != first
    page.get_by_role("combobox", name="Another word in French").fill("nulle part, ailleurs")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#last")).to_contain_text(f"{second} – nulle part, ailleurs")
    unlearnt = "nulle part: no vector, so it is kept for the dictionary, but training learns nothing from it."
    expect(page.locator(".unlearnt")).to_have_text([unlearnt])
    third, shown = question(page)
    page.get_by_role("button", name="None of these").click()
    expect(page.locator("#last")).to_contain_text(f"{third}: none of these")
    assert marks(folder)[third, shown[0]] == "wrong"
    fourth, _ = question(page)
    page.get_by_role("button", name="Skip").click()
    expect(page.locator("#last")).to_contain_text(f"3 answered, 1 skipped. Last: {fourth}: skipped")
    assert set(Skipped(folder).words("source")) == {third, fourth}
    for word in (fourth, third, second):
        page.get_by_role("button", name="Undo").click()
        expect(heading).to_have_text(word)
    assert marks(folder) == {(first, candidates[1]): "right"}
    assert Skipped(folder).words("source") == []
    expect(page.locator("#trained")).to_have_text("1 mark is there to learn from.")
    page.reload()
    expect(heading).to_be_visible()
    assert question(page)[0] != first


def test_an_hour_of_questions_needs_only_the_number_keys(open_page, folder):
    page = open_page("en-fr/ask")
    asked = []
    for _ in range(12):
        expect(page.locator("#asked")).to_be_focused()
        word, candidates = question(page)
        page.keyboard.press("3")
        expect(page.locator("#last")).to_contain_text(f"{word} – {candidates[2]}")
        asked.append((word, candidates[2]))
    assert len(set(asked)) == 12
    assert marks(folder) == dict.fromkeys(asked, "right")
    expect(page.locator("#asked")).to_be_focused()
    page.keyboard.press("u")
    expect(page.locator("#asked")).to_have_text(asked[-1][0])
    page.keyboard.press("s")
    expect(page.locator("#last")).to_contain_text(f"{asked[-1][0]}: skipped")
    expect(page.locator("#asked")).to_be_focused()
    word, _ = question(page)
    page.keyboard.press("0")
    expect(page.locator("#last")).to_contain_text(f"{word}: none of these")
    page.get_by_role("combobox", name="Another word in French").focus()
    page.keyboard.type("su0")  # letters and numbers are no commands here
    word, _ = question(page)
    page.keyboard.press("Enter")
    expect(page.locator("#last")).to_contain_text(f"{word} – su0")


def test_the_other_direction_and_an_answer_that_is_lost(open_page, folder):
    page = open_page("en-fr/ask?d=backward")
    expect(page.get_by_label("Direction", exact=True)).to_have_value("backward")
    expect(page.locator("#asked")).to_have_attribute("lang", "fr")
    word, candidates = question(page)
    page.locator(".choose").first.click()
    expect(page.locator("#last")).to_contain_text(word)
    assert marks(folder) == {(candidates[0], word): "right"}
    page.route("**/answers", lambda route: route.abort())
    second, _ = question(page)
    page.locator(".choose").first.click()
    expect(page.locator("#toast")).to_contain_text("The answer was not saved")
    expect(page.locator("#asked")).to_have_text(second)
    assert len(marks(folder)) == 1
    page.unroute("**/answers")
    page.get_by_label("Direction", exact=True).select_option("forward")
    expect(page.locator("#asked")).to_have_attribute("lang", "en")
