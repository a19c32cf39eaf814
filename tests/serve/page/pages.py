"""Words that a page may stumble over, and how to look one up."""

from __future__ import annotations

import re

from tests.serve.chromium import expect

EVIL = "<img src=x onerror=document.body.dataset.pwned=1>"
ARABIC = [EVIL, "كتاب", "مدرسة", "שלום", "cafe\u0301", "=1+1", "a b", "x" * 120, *(f"لفظ{i}" for i in range(60))]
JAPANESE = ["<script>document.body.dataset.pwned=1</script>", "本", "学校", "平和", "喫茶店", "一足す一", "あ い",
            "長" * 60, *(f"語{i}" for i in range(60))]  # fmt: skip

HEBREW = {"house": "בית", "peace": "שלום!", "army": 'צה"ל', "usa": "ארה״ב", "covid-19": "קורונה-19", "(word)": "(מילה)"}


def search(page, text: str) -> None:
    page.get_by_role("combobox", name=re.compile("^Word in")).first.fill(text)
    page.keyboard.press("Enter")


def places(node, text: str | None = None) -> list[float]:
    """Return where each letter of an element, or of a text in it, stands from the left of the screen."""
    return node.evaluate(
        """(node, text) => {
          const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
          while (walker.nextNode()) {
            const at = text === null ? 0 : walker.currentNode.data.indexOf(text);
            if (at < 0 || !walker.currentNode.data) continue;
            return [...(text ?? walker.currentNode.data)].map((_, i) => {
              const range = document.createRange();
              range.setStart(walker.currentNode, at + i);
              range.setEnd(walker.currentNode, at + i + 1);
              return range.getBoundingClientRect().left;
            });
          }
          return [];
        }""",
        text,
    )


def tab_to(page, goal, most: int = 120) -> None:
    """Press Tab until an element has the focus."""
    expect(goal).to_be_visible()
    for _ in range(most):
        if goal.evaluate("node => node === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{goal} is not reached with the keyboard")
