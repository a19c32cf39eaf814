"""The page for everybody: keyboard, phone, screen reader, light and dark, every script."""

from __future__ import annotations

import re

import pytest
from tests.io.dictionaries.programs import NODE, needs_file
from tests.serve.chromium import expect, needs_chromium
from tests.serve.page.pages import EVIL, HEBREW, JAPANESE, places, search

pytestmark = needs_chromium
AXE = NODE / "axe-core/axe.min.js"
VIEWS = {  # and what is there when each has been drawn
    "en-fr/translate": ".examples a",
    "en-fr/translate?w=house": ".near li",
    "en-fr/translate?w=goverment": "#unknown .chip",
    "en-fr/ask": "#asked",
    "en-fr/lexicon": "tbody tr",
    "en-fr/model": ".bands",
    "en-fr/help": ".card",
    "en-he/ask": "#asked",
    "odd/translate?w=" + "x" * 120: ".near li",
}


@needs_file(AXE)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(open_page, scheme):
    page, found = open_page("en-fr/translate?w=house", color_scheme=scheme), []
    page.evaluate(AXE.read_text(encoding="utf-8"))
    for view, ready in VIEWS.items():
        page.evaluate("view => { location.hash = view; }", f"#/{view}")
        expect(page.locator(ready).first).to_be_visible()
        if view == "en-fr/lexicon":
            page.locator("tbody tr").nth(1).get_by_role("button", name=re.compile("^Correct")).click()
            expect(page.locator(".correction .chip").first).to_be_visible()
        page.wait_for_load_state("networkidle")
        seen = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
        assert len(seen["passes"]) > 10
        found += [
            (view, rule["id"], node["target"], node["failureSummary"])
            for rule in seen["violations"]
            if rule["impact"] in ("serious", "critical")
            for node in rule["nodes"]
        ]
    assert found == []


@pytest.mark.parametrize("view", VIEWS)
def test_a_phone_needs_no_scrolling_sideways(open_page, view):
    page = open_page(view, width=360, has_touch=True, is_mobile=True)
    expect(page.locator(VIEWS[view]).first).to_be_visible()
    page.wait_for_load_state("networkidle")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    small = """[...document.querySelectorAll("button, nav a, select, summary, .combo input")]
      .filter((node) => node.checkVisibility()).map((node) => [node.outerHTML, node.getBoundingClientRect()])
      .filter(([, box]) => box.height < 32 || box.left < 0 || box.right > 360).map(([text]) => text)"""
    assert page.evaluate(small) == []


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


def test_hebrew_stands_from_right_to_left_and_everything_else_does_not(open_page):
    page = open_page("en-he/translate?w=peace")
    answer = page.locator(".candidate a.word").first
    expect(answer).to_have_text("שלום!")
    assert answer.evaluate("node => getComputedStyle(node).direction") == "rtl"
    assert places(answer) == sorted(places(answer), reverse=True)  # the sign at the end stands at the left
    scores = page.locator(".candidate .scores").first
    for text in ("match", "closeness"):
        assert places(scores, text) == sorted(places(scores, text))
    label = page.locator(".point.translation text").first
    assert label.evaluate("node => node.getStartPositionOfChar(1).x > node.getStartPositionOfChar(4).x")
    page.get_by_role("button", name="switch the direction").click()
    field = page.get_by_role("combobox", name="Word in Hebrew")
    assert field.evaluate("node => getComputedStyle(node).direction") == "rtl"
    for english, hebrew in HEBREW.items():
        search(page, hebrew)
        head = page.locator("#headword")
        expect(head).to_have_text(hebrew)
        letters = [place for place, letter in zip(places(head), hebrew, strict=True) if not letter.isdigit()]
        assert letters == sorted(letters, reverse=True), hebrew
        expect(page.locator(".candidate a.word").first).to_have_text(english)


def test_hebrew_and_english_keep_their_order_in_lists_and_sentences(open_page):
    page = open_page("en-he/ask")
    expect(page.locator(".choose").first).to_be_visible()
    for part in page.locator(".choose").all():
        number, word = (part.locator(name).bounding_box()["x"] for name in ("kbd", ".word"))
        assert number < word
    word, field = page.locator("#asked").inner_text(), page.get_by_role("combobox", name="Another word in Hebrew")
    field.fill("שלום!, בית")
    page.keyboard.press("Enter")
    expect(page.locator("#last")).to_contain_text(f"{word} – ")
    asked, first, second = (node.bounding_box()["x"] for node in page.locator("#last .word").all())
    assert asked < first < second
    page.goto(page.url.partition("#")[0] + "#/en-he/lexicon?direction=backward")
    row = page.locator("tbody tr").filter(has_text='צה"ל')
    hebrew, english = (row.locator("a.word").nth(i) for i in (0, 1))
    assert places(hebrew) == sorted(places(hebrew), reverse=True)
    assert places(english) == sorted(places(english))
    assert hebrew.bounding_box()["x"] < english.bounding_box()["x"] < row.locator(".marks").bounding_box()["x"]
    page.get_by_role("combobox", name="Word in English").fill("house")
    page.get_by_role("combobox", name="Word in Hebrew").fill("מעון?")
    page.get_by_role("button", name="Add", exact=True).click()
    toast = page.locator("#toast")
    expect(toast).to_contain_text("house")
    assert places(toast, "מעון?") == sorted(places(toast, "מעון?"), reverse=True)
    assert places(toast, "house")[-1] < places(toast, "מעון?")[-1]
