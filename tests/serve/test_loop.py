"""The loop of a lexicographer in a real browser: align, correct, align again."""

from __future__ import annotations

import json

from tests.serve.chromium import expect, needs_chromium
from tests.serve.serving import Server

import lnmap
from lnmap.cli import main

pytestmark = needs_chromium


def test_the_loop_of_a_lexicographer(browser, pair, tmp_path, capsys):
    """From two .vec files and a word list: align, correct twenty pairs in the page, align again, and score higher."""
    source, target = pair.source.head(1500), pair.target.head(1500)
    known = [(s, t) for s, t in pair.train if s in source and t in target]
    seed = known[:40]
    gold = {s: t for s, t in reversed(known) if s not in dict(seed)}
    lnmap.write(source, tmp_path / "en.vec")
    lnmap.write(target, tmp_path / "fr.vec")
    for name, pairs in (("seed.txt", seed), ("test.txt", [(s, t) for s, t in pair.test])):
        (tmp_path / name).write_text("".join(f"{s} {t}\n" for s, t in pairs), encoding="utf-8")
    align = ["align", tmp_path / "en.vec", tmp_path / "fr.vec", "--method", "procrustes", "--quiet"]

    def run(*arguments: object) -> str:
        capsys.readouterr()
        assert main([str(argument) for argument in arguments]) == 0
        return capsys.readouterr().out

    run(*align, "--pairs", tmp_path / "seed.txt", "--out", tmp_path / "first")
    with Server(tmp_path / "first") as server:
        context = browser.new_context(viewport={"width": 1200, "height": 900})
        page = context.new_page()
        page.goto(f"{server.url}#/first/lexicon")
        rows = page.locator("tbody tr")
        expect(rows).to_have_count(50)
        corrected = 0
        while corrected < 20:
            for number in range(rows.count()):
                row = rows.nth(number)
                english, french = (row.locator("a.word").nth(i).inner_text() for i in (0, 1))
                right = gold.pop(english, None)
                if right is None or corrected == 20:
                    continue
                correct = (english, french) in known
                row.get_by_role("button", name="right" if correct else "wrong", exact=True).click()
                if not correct:
                    page.get_by_role("combobox", name="Word in English").fill(english)
                    page.get_by_role("combobox", name="Word in French").fill(right)
                    page.get_by_role("button", name="Add", exact=True).click()
                    expect(page.locator("#toast")).to_contain_text(f"Added: {english} – {right}")
                corrected += 1
            page.get_by_role("button", name="Next").click()
            expect(rows.first).not_to_contain_text(english)
        with page.expect_download() as download:
            page.get_by_role("link", name="Seed with my marks").click()
        download.value.save_as(tmp_path / "corrected.tsv")
        context.close()
    assert len(lnmap.read_lexicon(tmp_path / "corrected.tsv")) == len(seed) + 20
    run(*align, "--pairs", tmp_path / "corrected.tsv", "--out", tmp_path / "second")
    scores = [
        json.loads(run("evaluate", tmp_path / name, "--pairs", tmp_path / "test.txt", "--json"))["p@1"]
        for name in ("first", "second")
    ]
    assert scores[1] > scores[0] + 3, scores
