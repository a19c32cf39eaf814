"""The view of the model, in a real browser."""

from __future__ import annotations

from tests.serve.chromium import expect, needs_chromium

pytestmark = needs_chromium


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


def test_a_confidence_that_was_not_learnt_from_the_seed(open_page):
    """With few pairs the judge is the one learnt on other languages; "calibrated on 0 candidates" read as a fault."""
    page = open_page("en-fr")
    told = page.request.get(page.url.partition("#")[0] + "api/models/en-fr").json()
    page.route("**/api/models/en-fr", lambda route: route.fulfill(json={**told, "calibrated_on": 0}))
    page.goto(page.url.partition("#")[0] + "#/en-fr/model")
    page.reload()
    expect(page.locator("main")).to_contain_text("as learnt on other languages")
    expect(page.locator("main")).not_to_contain_text("calibrated on")
