"""The page in a real browser: Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.serve.chromium import expect, needs_chromium, playwright_api
from tests.serve.serving import Server, small_model, subword_model

import lnmap
from lnmap.embeddings import Embeddings
from lnmap.io import DICTIONARY_FORMATS
from lnmap.lexicon import Lexicon
from lnmap.model.marks import JOURNAL, Marks

pytestmark = needs_chromium
EVIL = "<img src=x onerror=document.body.dataset.pwned=1>"
ARABIC = [EVIL, "كتاب", "مدرسة", "שלום", "cafe\u0301", "=1+1", "a b", "x" * 120, *(f"لفظ{i}" for i in range(60))]
JAPANESE = ["<script>document.body.dataset.pwned=1</script>", "本", "学校", "平和", "喫茶店", "一足す一", "あ い",
            "長" * 60, *(f"語{i}" for i in range(60))]  # fmt: skip


@pytest.fixture(scope="module")
def folders(pair, tmp_path_factory) -> dict[str, Path]:
    """Three models: real words, words that a page may stumble over, and words with subwords."""
    root = tmp_path_factory.mktemp("models")
    rng = np.random.default_rng(1)
    x = rng.normal(size=(len(ARABIC), 12))
    rotation = np.linalg.qr(rng.normal(size=(12, 12)))[0]
    source = Embeddings.from_arrays(ARABIC, x, path="wiki.ar.vec")
    target = Embeddings.from_arrays(JAPANESE, x @ rotation + 0.01 * rng.normal(size=x.shape), path="wiki.ja.vec")
    seed = Lexicon(list(zip(ARABIC, JAPANESE, strict=True))[8:])
    lnmap.align(source, target, seed, method="procrustes", out=root / "odd")
    spelt = subword_model(root)
    return {"en-fr": small_model(pair, root / "en-fr", calibrate=True), "odd": root / "odd", "spelt": spelt}


@pytest.fixture(scope="module")
def server(folders, pair, tmp_path_factory) -> Iterator[Server]:
    test = tmp_path_factory.mktemp("test") / "test.tsv"
    test.write_text("".join(f"{s}\t{t}\n" for s, t in pair.test), encoding="utf-8")
    with Server(*folders.values(), "--test", test) as made:
        yield made


@pytest.fixture
def open_page(browser, server, folders):
    """Open a view of the page; at the end nothing may have gone wrong in any of them."""
    for folder in folders.values():
        (folder / JOURNAL).unlink(missing_ok=True)
    contexts, trouble = [], []

    def make(view: str = "", width: int = 1200, **options) -> playwright_api.Page:
        context = browser.new_context(viewport={"width": width, "height": 850}, reduced_motion="reduce", **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("console", lambda said: trouble.append(said.text) if said.type == "error" else None)
        page.on("request", lambda asked: asked.url.startswith("http://127.0.0.1:") or trouble.append(asked.url))
        page.goto(f"{server.url}#/{view}")
        return page

    yield make
    for context in contexts:
        context.close()
    assert [text for text in trouble if not text.startswith("Failed to load resource")] == []


def search(page, text: str) -> None:
    page.get_by_role("combobox", name=re.compile("^Word in")).first.fill(text)
    page.keyboard.press("Enter")


def test_search_shows_translations_and_why(open_page, pair):
    page = open_page("en-fr/translate")
    field = page.get_by_role("combobox", name="Word in English")
    field.press_sequentially("hous")
    options = page.get_by_role("listbox").get_by_role("option")
    expect(options.first).to_have_text("house")
    expect(field).to_have_attribute("aria-expanded", "true")
    field.press("ArrowDown")
    expect(field).to_have_attribute("aria-activedescendant", options.first.get_attribute("id"))
    field.press("Enter")
    expect(page.get_by_role("heading", name="house", exact=True)).to_be_visible()
    first = page.locator(".candidate").first
    expect(first.locator("a.word")).to_have_text("maison")
    expect(first).to_contain_text(re.compile(r"given.*house.*returns.*model’s no. 1.*match 0\.\d\d.*closeness 0\.\d\d"))
    expect(page.get_by_role("heading", name="Nearest words in French")).to_be_visible()
    assert page.locator(".near li").count() == 20
    page.get_by_role("checkbox", name="given and marked translations").uncheck()
    expect(first).to_contain_text(re.compile(r"maison.*\d+ %.*house.*returns.*match 0\.\d\d.*closeness 0\.\d\d"))
    expect(first).not_to_contain_text("given")
    expect(page).to_have_title("Translate · en-fr · lnmap")


def test_direction_is_switched_and_the_back_button_goes_back(open_page):
    page = open_page("en-fr/translate?w=house")
    expect(page.locator(".candidate a.word").first).to_have_text("maison")
    page.get_by_role("button", name="switch the direction").click()
    expect(page.get_by_role("combobox", name="Word in French")).to_have_value("maison")
    expect(page.locator(".candidate a.word").first).to_have_text("house")
    page.go_back()
    expect(page.get_by_role("combobox", name="Word in English")).to_have_value("house")
    expect(page.locator(".candidate a.word").first).to_have_text("maison")  # the view is drawn after the box
    page.locator(".near").last.get_by_role("link").first.click()
    expect(page.get_by_role("combobox", name="Word in French")).to_be_visible()


def test_unknown_empty_and_huge_words_get_a_clear_answer(open_page):
    page = open_page("en-fr/translate")
    search(page, "goverment")
    expect(page.locator("#unknown")).to_contain_text("goverment is not in the vocabulary")
    page.get_by_role("link", name="government", exact=True).click()
    expect(page.get_by_role("heading", name="government", exact=True)).to_be_visible()
    page.goto(page.url.partition("#")[0] + "#/en-fr/translate?w=" + "y" * 5000)
    expect(page.locator("#unknown")).to_contain_text("could not be looked up")
    search(page, "   ")
    search(page, "water")
    expect(page.get_by_role("heading", name="water", exact=True)).to_be_visible()


def test_unknown_words_are_translated_by_their_subwords(open_page, folders):
    page = open_page("spelt/translate?w=misunderstandings")
    expect(page.locator("#headword")).to_have_text("misunderstandings")
    expect(page.locator("#rank")).to_have_text("not in the vocabulary: translated by its subwords")
    (expected,) = lnmap.load(folders["spelt"]).translate("misunderstandings", 8)
    expect(page.locator(".candidate a.word")).to_have_text(expected.words)
    expect(page.locator(".near li a").first).to_have_text(re.compile("^misunderstand"))
    expect(page.locator(".plane")).to_have_attribute("data-state", "after")


def test_map_is_hovered_zoomed_and_panned(open_page):
    page = open_page("en-fr/translate?w=house")
    plane = page.locator(".plane")
    expect(plane).to_have_attribute("data-state", "after")
    assert "maison" in plane.get_attribute("aria-label")
    place = lambda: page.locator(".point.word").first.get_attribute("transform")  # noqa: E731
    after = place()
    page.get_by_role("button", name="Before", exact=True).click()
    expect(plane).to_have_attribute("data-state", "before")
    page.wait_for_function("was => document.querySelector('.point.word').getAttribute('transform') !== was", arg=after)
    before = place()
    page.locator(".point.translation .area").first.hover()
    expect(page.locator(".tip")).to_contain_text("French, possible translation")
    box = plane.bounding_box()
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    page.mouse.wheel(0, -500)
    page.wait_for_function("Number(document.querySelector('.plane').dataset.zoom) > 1.5")
    page.wait_for_function("was => document.querySelector('.point.word').getAttribute('transform') !== was", arg=before)
    zoomed = place()
    page.mouse.down()
    page.mouse.move(box["x"] + 90, box["y"] + 60, steps=4)
    page.mouse.up()
    page.wait_for_function("was => document.querySelector('.point.word').getAttribute('transform') !== was", arg=zoomed)
    assert "w=house" in page.url  # a drag is no click
    plane.focus()
    page.keyboard.press("0")
    page.wait_for_function("was => document.querySelector('.point.word').getAttribute('transform') === was", arg=before)
    page.locator(".point.translation .area").first.click()
    expect(page.get_by_role("combobox", name="Word in French")).to_be_visible()


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


def test_a_translation_is_corrected_where_it_stands(open_page):
    page = open_page("en-fr/translate?w=house")
    answers = page.locator(".candidate a.word")
    expect(answers.first).to_have_text("maison")
    page.locator(".candidate").first.get_by_role("button", name="wrong", exact=True).click()
    expect(page.locator(".dropped")).to_contain_text("maison")
    expect(answers.first).not_to_have_text("maison")
    page.locator(".candidate").first.get_by_role("button", name=re.compile("^Correct")).click()
    page.get_by_role("combobox", name="Right translation of house").fill("foyer")
    page.get_by_role("button", name="Save").click()
    expect(answers.first).to_have_text("foyer")
    expect(page.locator(".candidate").first).to_contain_text("added")
    page.locator(".dropped li").filter(has_text="maison").get_by_role("button", name="wrong", exact=True).click()
    expect(page.locator(".candidate").nth(1)).to_contain_text("maison")
    page.get_by_role("checkbox", name="given and marked translations").uncheck()
    expect(answers.first).to_have_text("maison")


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


def test_model_card(open_page):
    page = open_page("en-fr/model")
    expect(page.get_by_role("heading", name="en-fr", exact=True)).to_be_visible()
    expect(page.locator("main")).to_contain_text("Orthogonal Procrustes")
    expect(page.locator("main")).to_contain_text("calibrated on")
    expect(page.locator(".bands").first).to_contain_text("ranks 1–1,000")
    expect(page.locator(".score").last).to_contain_text("the same test file with its columns exchanged")
    expect(page.locator(".score").first).not_to_contain_text("exchanged")
    page.get_by_label("Model", exact=True).select_option("odd")
    expect(page.get_by_role("heading", name="odd", exact=True)).to_be_visible()
    expect(page.locator("main")).to_contain_text("not calibrated")
    page.get_by_role("button", name="Measure").click()
    expect(page.locator("main")).to_contain_text("Gromov-Hausdorff distance0.")


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
