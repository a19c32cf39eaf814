"""Words that a page may stumble over, and how to look one up."""

from __future__ import annotations

import re

EVIL = "<img src=x onerror=document.body.dataset.pwned=1>"
ARABIC = [EVIL, "كتاب", "مدرسة", "שלום", "cafe\u0301", "=1+1", "a b", "x" * 120, *(f"لفظ{i}" for i in range(60))]
JAPANESE = ["<script>document.body.dataset.pwned=1</script>", "本", "学校", "平和", "喫茶店", "一足す一", "あ い",
            "長" * 60, *(f"語{i}" for i in range(60))]  # fmt: skip


def search(page, text: str) -> None:
    page.get_by_role("combobox", name=re.compile("^Word in")).first.fill(text)
    page.keyboard.press("Enter")
