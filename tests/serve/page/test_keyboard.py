"""Every view with the keyboard alone: Tab, Enter, Space, arrows and letters, and no pointer."""

from __future__ import annotations

import re

from tests.serve.chromium import expect, needs_chromium
from tests.serve.page.pages import tab_to

from lnmap.model.marks import Marks

pytestmark = needs_chromium


def go(page, name: str) -> None:
    """Open a view by its link."""
    tab_to(page, page.get_by_role("link", name=name, exact=True).first)
    page.keyboard.press("Enter")


def marks(folders):
    return {pair: mark.mark for pair, mark in Marks(folders["en-fr"]).latest()[0].items()}


def test_the_content_is_one_key_away(open_page):
    page = open_page("en-fr/model")
    expect(page.locator(".card").first).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()


def test_translate(open_page, folders):
    page = open_page("en-fr/translate")
    field = page.get_by_role("combobox", name="Word in English")
    tab_to(page, field)
    page.keyboard.type("hous")
    expect(page.get_by_role("listbox").get_by_role("option").first).to_have_text("house")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("#headword")).to_have_text("house")
    second = page.locator(".candidate").nth(1)
    word = second.locator("a.word").inner_text()
    tab_to(page, second.get_by_role("button", name="wrong", exact=True))
    page.keyboard.press("Space")
    expect(page.locator(".dropped")).to_contain_text(word)
    tab_to(page, page.locator(".candidate").nth(1).get_by_role("button", name=re.compile("^Correct")))
    page.keyboard.press("Enter")
    expect(page.get_by_role("combobox", name="Right translation of house")).to_be_focused()
    page.keyboard.type("foyer")
    page.keyboard.press("Enter")
    expect(page.locator(".candidate").filter(has_text="foyer")).to_contain_text("added")
    assert marks(folders)["house", "foyer"] == "added"
    tab_to(page, page.locator(".plane"))
    page.keyboard.press("+")
    page.wait_for_function("Number(document.querySelector('.plane').dataset.zoom) > 1")
    tab_to(page, page.get_by_role("button", name="switch the direction"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("combobox", name="Word in French")).to_be_visible()


def test_ask(open_page, folders):
    page = open_page("en-fr/help")
    go(page, "Ask me")
    expect(page.locator("#asked")).to_be_focused()
    word = page.locator("#asked").inner_text()
    tab_to(page, page.locator(".choose").nth(1))
    page.keyboard.press("Enter")
    expect(page.locator("#last")).to_contain_text(word)
    expect(page.locator("#asked")).to_be_focused()
    tab_to(page, page.get_by_role("button", name="Undo"))
    page.keyboard.press("Enter")
    expect(page.locator("#asked")).to_have_text(word)
    assert marks(folders) == {}
    tab_to(page, page.get_by_role("button", name="Train again"))


def test_lexicon(open_page, folders):
    page = open_page("en-fr/help")
    go(page, "Lexicon")
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(50)
    tab_to(page, rows.first.get_by_role("button", name="right", exact=True))
    page.keyboard.press("r")
    page.keyboard.press("ArrowDown")
    expect(rows.nth(1).get_by_role("button", name="right", exact=True)).to_be_focused()
    page.keyboard.press("w")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Space")
    expect(page.locator("#counts")).to_have_text("2 right, 1 wrong, 0 added")
    page.keyboard.press("u")
    expect(page.locator("#counts")).to_have_text("1 right, 1 wrong, 0 added")
    page.get_by_role("searchbox").focus()
    for _ in range(40):  # back to the form at the top
        page.keyboard.press("Shift+Tab")
        if page.evaluate("document.activeElement.getAttribute('aria-label')") == "Word in English":
            break
    page.keyboard.type("house")
    page.keyboard.press("Enter")
    expect(page.get_by_role("combobox", name="Word in French")).to_be_focused()
    page.keyboard.type("foyer")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    expect(page.locator("#counts")).to_have_text("1 right, 1 wrong, 1 added")
    assert ("house", "foyer") in marks(folders)


def test_model_and_help(open_page):
    page = open_page("en-he/help")
    go(page, "Model")
    tab_to(page, page.get_by_role("button", name="Measure"))
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_contain_text("Gromov-Hausdorff distance0.")
    go(page, "Help")
    go(page, "Lexicon")
    expect(page.locator("tbody tr").first).to_be_visible()
