"""The page for everybody: keyboard, phone, screen reader, light and dark, every script."""

from __future__ import annotations

import re

import pytest
from tests.serve.chromium import expect, needs_chromium
from tests.serve.page.pages import EVIL, JAPANESE, search

from lnmap.model.marks import Marks

pytestmark = needs_chromium


def test_everything_can_be_done_with_the_keyboard(open_page, folders):
    page = open_page("en-fr/model")
    expect(page.locator(".card").first).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    page.get_by_role("link", name="Lexicon").focus()
    page.keyboard.press("Enter")
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(50)
    rows.first.get_by_role("button", name="right", exact=True).focus()
    page.keyboard.press("r")
    page.keyboard.press("ArrowDown")
    expect(rows.nth(1).get_by_role("button", name="right", exact=True)).to_be_focused()
    page.keyboard.press("w")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Space")
    expect(page.locator("#counts")).to_have_text("2 right, 1 wrong, 0 added")
    page.keyboard.press("u")
    expect(page.locator("#counts")).to_have_text("1 right, 1 wrong, 0 added")
    page.get_by_role("combobox", name="Word in English").focus()
    page.keyboard.type("house")
    page.keyboard.press("Enter")
    expect(page.get_by_role("combobox", name="Word in French")).to_be_focused()
    page.keyboard.type("foyer")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    expect(page.locator("#counts")).to_have_text("1 right, 1 wrong, 1 added")
    assert ("house", "foyer") in Marks(folders["en-fr"]).latest()[0]


@pytest.mark.parametrize("view", ["translate?w=house", "lexicon", "model", "help"])
def test_narrow_screens_need_no_scrolling_sideways(open_page, view):
    page = open_page(f"en-fr/{view}", width=340, has_touch=True, is_mobile=True)
    expect(page.locator(".card").first).to_be_visible()
    page.wait_for_load_state("networkidle")
    assert page.evaluate("document.documentElement.scrollWidth") <= 340
    heights = "[...document.querySelectorAll('.mark, nav a, .swap')].map(e => e.getBoundingClientRect().height)"
    assert min(page.evaluate(heights)) >= 32


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_in_light_and_dark(open_page, scheme):
    page = open_page("en-fr/translate?w=house", color_scheme=scheme)
    expect(page.locator(".candidate").first).to_be_visible()
    ratios = page.evaluate(
        """() => {
          const light = (rgb) => rgb.map((v) => v / 255)
            .map((v) => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
            .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
          const parse = (text) => text.match(/[\\d.]+/g).slice(0, 3).map(Number);
          const back = (node) => {
            for (; node; node = node.parentElement) {
              const colour = getComputedStyle(node).backgroundColor;
              if (!/, 0\\)$/.test(colour)) return parse(colour);
            }
          };
          return [...document.querySelectorAll(".candidate a.word, .quiet, .scores, .back, nav a, h3, .swap, .chip")]
            .map((node) => [node.className, light(parse(getComputedStyle(node).color)), light(back(node))])
            .map(([name, a, b]) => [name, (Math.max(a, b) + .05) / (Math.min(a, b) + .05)]);
        }"""
    )
    assert len(ratios) > 20
    assert [found for found in ratios if found[1] < 4.5] == []
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (int(re.search(r"\d+", background).group()) > 128) == (scheme == "light")


def test_markup_in_words_stays_text(open_page):
    page = open_page("odd/lexicon?tokens=true")
    expect(page.locator("tbody")).to_contain_text(EVIL)
    expect(page.locator("tbody")).to_contain_text(JAPANESE[0])
    page.locator("tbody tr").first.get_by_role("button", name="right", exact=True).click()
    page.goto(page.url.partition("#")[0] + "#/odd/translate")
    search(page, EVIL)
    expect(page.locator("#headword")).to_have_text(EVIL)
    expect(page.locator(".candidate a.word").first).to_have_text(JAPANESE[0])
    page.locator(".point.word .area").first.hover()
    expect(page.locator(".tip")).to_contain_text(EVIL)
    search(page, EVIL + "?")
    expect(page.locator("#unknown")).to_contain_text(EVIL)
    assert page.evaluate("document.body.dataset.pwned") is None
    assert page.locator("main img, main script").count() == 0


def test_every_script_is_shown_in_its_own_direction_and_language(open_page):
    page = open_page("odd/translate")
    search(page, "كتاب")
    word = page.locator("#headword")
    expect(word).to_have_text("كتاب")
    assert word.evaluate("node => getComputedStyle(node).direction") == "rtl"
    assert word.get_attribute("lang") == "ar"
    answer = page.locator(".candidate a.word").first
    expect(answer).to_have_text("本")
    assert answer.get_attribute("lang") == "ja"
    assert answer.evaluate("node => getComputedStyle(node).direction") == "ltr"
    field = page.get_by_role("combobox", name="Word in Arabic")
    assert field.evaluate("node => getComputedStyle(node).direction") == "rtl"
    search(page, "caf\u00e9")  # typed composed, spelt decomposed in the vocabulary
    expect(word).to_have_text("cafe\u0301")
    expect(answer).to_have_text("喫茶店")
