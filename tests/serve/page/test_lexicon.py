"""The view of the lexicon, in a real browser."""

from __future__ import annotations

import re

from tests.serve.chromium import expect, needs_chromium
from tests.serve.serving import Server

import lnmap
from lnmap.io import DICTIONARY_FORMATS
from lnmap.model.marks import Marks

pytestmark = needs_chromium


def test_two_tabs_see_each_others_marks(open_page, folders):
    one, two = open_page("en-fr/lexicon"), open_page("en-fr/lexicon")
    for page, row, name in ((one, 0, "right"), (two, 1, "wrong")):
        page.locator("tbody tr").nth(row).get_by_role("button", name=name, exact=True).click()
    for page in (one, two):
        rows = page.locator("tbody tr")
        expect(rows.nth(0).get_by_role("button", name="right", exact=True)).to_have_attribute("aria-pressed", "true")
        expect(rows.nth(1).get_by_role("button", name="wrong", exact=True)).to_have_attribute("aria-pressed", "true")
        expect(page.locator("#counts")).to_have_text("1 right, 1 wrong, 0 added")
    two.locator("tbody tr").nth(0).get_by_role("button", name="right", exact=True).click()  # take it back
    expect(one.locator("#counts")).to_have_text("0 right, 1 wrong, 0 added")
    assert [mark.mark for mark in Marks(folders["en-fr"]).latest()[0].values()] == ["wrong"]


def test_a_row_is_corrected_where_it_stands(open_page, folders):
    page = open_page("en-fr/lexicon")
    rows = page.locator("tbody tr")
    pairs = [[rows.nth(row).locator("a.word").nth(i).inner_text() for i in (0, 1)] for row in (2, 4)]
    rows.nth(2).get_by_role("button", name=re.compile("^Correct")).click()
    choices = page.get_by_role("form", name=f"Correct {pairs[0][0]}").locator(".chip")
    chosen = choices.nth(1).inner_text()
    choices.nth(1).click()
    expect(rows.nth(2).locator("a.word").nth(1)).to_have_text(chosen)
    expect(rows.nth(2)).to_contain_text("right")
    expect(rows.nth(2).get_by_role("button", name=re.compile("^Correct"))).to_be_focused()
    for _ in range(2):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("c")
    field = page.get_by_role("combobox", name=f"Right translation of {pairs[1][0]}")
    expect(field).to_be_focused()
    page.keyboard.type("nowhere to be found")
    page.keyboard.press("Enter")
    expect(rows.nth(4).locator("a.word").nth(1)).to_have_text("nowhere to be found")
    expect(page.locator("#counts")).to_have_text("1 right, 2 wrong, 1 added")
    marks = {pair: mark.mark for pair, mark in Marks(folders["en-fr"]).latest()[0].items()}
    assert marks == {
        (pairs[0][0], chosen): "right", tuple(pairs[0]): "wrong",
        (pairs[1][0], "nowhere to be found"): "added", tuple(pairs[1]): "wrong",
    }  # fmt: skip
    page.reload()
    expect(rows.nth(2).locator("a.word").nth(1)).to_have_text(chosen)
    expect(rows.nth(4).locator("a.word").nth(1)).to_have_text("nowhere to be found")
    rows.nth(5).get_by_role("button", name=re.compile("^Correct")).click()
    page.keyboard.press("Escape")
    expect(page.locator("form.correction")).to_have_count(0)
    expect(page.locator("#retrain")).to_contain_text(f"--marks {folders['en-fr'].resolve()}")


def test_frequent_and_unsure_words_first_and_help(open_page):
    page = open_page("en-fr/lexicon")
    page.get_by_label("Order").select_option("doubtful")
    expect(page.locator("tbody tr")).to_have_count(50)
    expect(page.locator("tbody tr").first).not_to_contain_text("given")
    page.get_by_role("link", name="What the numbers mean").click()
    expect(page.get_by_role("heading", name="Help", exact=True)).to_be_visible()
    expect(page.locator("main")).to_contain_text("How probable it is that the translation is right")


def test_lexicon_is_filtered_and_paged(open_page):
    page = open_page("en-fr/lexicon")
    expect(page.locator("#told")).to_contain_text("1–50 of 1,500")
    page.get_by_role("button", name="Next").click()
    expect(page.locator("#told")).to_contain_text("51–100 of 1,500")
    page.get_by_role("searchbox").fill("hous")
    expect(page.locator("tbody tr")).not_to_have_count(50)
    expect(page.locator("tbody")).to_contain_text("house")
    page.get_by_role("searchbox").fill("")
    page.get_by_label("Order").select_option("surest")
    expect(page.locator("#told")).to_contain_text("1–50 of 1,500")
    expect(page.locator("tbody tr").first).to_contain_text("given")
    page.get_by_role("checkbox", name="given and marked translations").uncheck()
    expect(page.locator("tbody tr").first).to_contain_text(re.compile(r"(9\d|100) %"))
    page.get_by_label("Direction", exact=True).select_option("backward")
    expect(page.locator("thead th").first).to_have_text("French")
    page.get_by_label("Marks").select_option("right")
    expect(page.locator("#told")).to_have_text("Nothing here")


def test_marks_are_taken_home(open_page, tmp_path):
    page = open_page("en-fr/lexicon")
    row = page.locator("tbody tr").first
    pair = tuple(row.locator("a.word").nth(i).inner_text() for i in (0, 1))
    row.get_by_role("button", name="right", exact=True).click()
    expect(page.locator("#counts")).to_have_text("1 right, 0 wrong, 0 added")
    with page.expect_download() as download:
        page.get_by_role("link", name="Only my marks").click()
    assert download.value.suggested_filename == "en-fr-marks.tsv"
    download.value.save_as(tmp_path / "pairs.tsv")
    assert lnmap.read_lexicon(tmp_path / "pairs.tsv").pairs == [pair]


def test_the_whole_dictionary_is_taken_home(open_page, tmp_path):
    page = open_page("en-fr/lexicon")
    expect(page.get_by_label("Format of the dictionary").locator("option")).to_have_count(len(DICTIONARY_FORMATS))
    page.get_by_label("Format of the dictionary").select_option("html")
    page.get_by_label("both directions").check()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download the whole dictionary").click()
    assert download.value.suggested_filename == "en-fr-dictionary-both.html"
    download.value.save_as(tmp_path / "x")
    assert (tmp_path / "x").read_text(encoding="utf-8").count("<h1>") == 2
    assert len(lnmap.read_lexicon(tmp_path / "x")) > 500


def test_a_server_that_goes_away_is_told(open_page, folders):
    with Server(folders["odd"]) as other:
        page = open_page("odd/lexicon")
        page.goto(f"{other.url}#/odd/lexicon")
        expect(page.locator("tbody tr")).not_to_have_count(0)
        page.route("**/*", lambda route: route.abort())
        page.locator("tbody tr").first.get_by_role("button", name="right", exact=True).click()
        expect(page.locator("#toast")).to_contain_text("The mark was not saved")
        expect(page.locator("#banner")).to_contain_text("not responding")
        first = page.locator("tbody tr").first.get_by_role("button", name="right", exact=True)
        expect(first).to_have_attribute("aria-pressed", "false")
        page.goto("about:blank")


def test_languages_without_a_name(open_page):
    field = open_page("spelt/lexicon").get_by_role("combobox", name="Word in the target language")
    expect(field).to_be_visible()
