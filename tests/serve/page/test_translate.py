"""The view that translates, in a real browser."""

from __future__ import annotations

import re

import pytest
from tests.serve.chromium import expect, needs_chromium
from tests.serve.page.pages import search

import lnmap

pytestmark = needs_chromium


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


def test_examples_are_words_that_say_something(open_page):
    page = open_page("en-fr/translate")
    examples = page.locator(".examples a")
    expect(examples).to_have_count(6)
    assert all(len(word) >= 5 for word in examples.all_inner_texts())


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


def test_a_slow_answer_does_not_come_back(open_page):
    page = open_page("en-fr/help")
    page.route("**/map?*", lambda route: (page.wait_for_timeout(400), route.continue_()))
    page.evaluate("location.hash = '#/en-fr/translate?w=house'")
    expect(page.locator(".result")).to_have_attribute("aria-busy", "true")
    page.evaluate("location.hash = '#/en-fr/translate'")
    expect(page.locator(".examples a").first).to_be_visible()
    page.wait_for_timeout(600)
    expect(page.locator("#headword")).to_have_count(0)


def test_the_way_back_comes_later_and_moves_nothing(open_page):
    page = open_page("en-fr/help")
    late = re.compile(r"/translate[?](?!.*back=false)")
    page.route(late, lambda route: (page.wait_for_timeout(500), route.continue_()))
    page.evaluate("location.hash = '#/en-fr/translate?w=house'")
    first = page.locator(".candidate").first
    expect(first.locator("a.word")).to_have_text("maison")
    assert page.locator(".candidate .back").count() == 0
    link = first.locator("a.word").element_handle()
    expect(page.locator(".candidate .back")).to_have_count(8)
    assert link.evaluate("node => node.isConnected")
    expect(first.locator(".back")).to_contain_text("house")


@pytest.mark.parametrize("text", ["house", "goverment"])
def test_an_answer_that_is_broken_off_in_the_middle_is_no_answer(open_page, text):
    page = open_page("en-fr/help")
    page.evaluate(  # the headers are there, the body is not read before the word has changed
        """() => {
          const read = Response.prototype.json;
          const slow = /[/]map[?]|w(ord)?=goverment/;
          Response.prototype.json = async function () {
            if (slow.test(this.url)) {
              document.body.dataset.began = "yes";
              await new Promise((done) => setTimeout(done, 400));
            }
            return read.call(this);
          };
        }"""
    )
    page.evaluate("text => { location.hash = `#/en-fr/translate?w=${text}`; }", text)
    expect(page.locator("body")).to_have_attribute("data-began", "yes")
    page.evaluate("location.hash = '#/en-fr/translate'")
    expect(page.locator(".examples a").first).to_be_visible()
    page.wait_for_timeout(600)
    expect(page.locator(".examples a").first).to_be_visible()
    expect(page.locator("#unknown")).to_have_count(0)


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
    drawn = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
    page.evaluate(drawn)  # the state is named before the next frame shows it
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
