"""Lines become words in every script that writes blanks."""

from __future__ import annotations

import unicodedata

import pytest

from lnmap.errors import InputError
from lnmap.text.scripts import Scripts
from lnmap.text.words import Tokenizer


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("The dog's Bone -- e-mail, 'quoted'!", ["the", "dog's", "bone", "e-mail", "quoted"]),
        ("L’homme & l'art", ["l'homme", "l'art"]),
        ("see https://example.org/a?b or me@example.org now", ["see", "or", "now"]),
        ("<b>bold</b> 3 < 4 <!-- no -->x", ["bold", "3", "4", "x"]),
        ("co\u00adoperate\ufeff zero\u200bwidth", ["cooperate", "zerowidth"]),
        ("हिन्दी में शब्द", ["हिन्दी", "में", "शब्द"]),
        ("می\u200cخواهم", ["می\u200cخواهم"]),
        ("Ελλάδα, Москва! שלום", ["ελλάδα", "москва", "שלום"]),
        ("snake_case a/b", ["snake", "case", "a", "b"]),
        ("...", []),
    ],
)
def test_words(line, words):
    assert Tokenizer().words(line) == words


def test_composed_and_decomposed_letters_are_the_same():
    assert Tokenizer().words(unicodedata.normalize("NFD", "École")) == ["école"]


def test_what_can_be_changed():
    assert Tokenizer(lower=False).words("The Dog.") == ["The", "Dog"]
    assert Tokenizer(split_apostrophes=True).words("l'homme d’un") == ["l", "homme", "d", "un"]
    assert Tokenizer(segmented=True).words("我 喜欢 U.S.A. 。") == ["我", "喜欢", "u.s.a.", "。"]


@pytest.mark.parametrize(
    ("line", "language", "tool"),
    [
        ("ฉันชอบกินข้าวผัดทุกวันตอนเช้า", "Thai", "pythainlp"),
        ("我喜欢每天早上吃炒饭", "Chinese or Japanese", "jieba"),
        ("わたしはまいあさごはんをたべます", "Chinese or Japanese", "fugashi"),
        ("ខ្ញុំចូលចិត្តញ៉ាំបាយរាល់ថ្ងៃ", "Khmer", "khmer-nltk"),
    ],
)
def test_scripts_without_blanks_are_noticed(line, language, tool):
    scripts = Scripts()
    scripts.look(Tokenizer().words(line))
    with pytest.raises(InputError, match=f"in {language}, which.*{tool}.*segmented=True"):
        scripts.refuse_unsegmented()


def test_a_text_with_many_names_in_other_letters():
    scripts = Scripts()
    scripts.look(
        Tokenizer().words("Debian GNU/Linux は、Debian プロジェクトが開発するディストリビューションです。apt dpkg")
    )
    with pytest.raises(InputError, match="Japanese"):
        scripts.refuse_unsegmented()


def test_segmented_text_passes():
    for line in ("我 喜欢 每天 早上 吃 炒饭", "ฉัน ชอบ กิน ข้าวผัด ทุกวัน", "안녕하세요 세계"):
        scripts = Scripts()
        scripts.look(Tokenizer().words(line))
        scripts.refuse_unsegmented()
        assert scripts.mixture() is None


def test_two_scripts_are_noticed():
    scripts = Scripts()
    scripts.look(["dog"] * 5 + ["собака"] * 5)
    assert "cyrillic" in (scripts.mixture() or "")


@pytest.mark.parametrize("part", ["a", "@", "a@", "<!--", "<a", "www", "a."])
def test_endless_lines_are_searched_once(part):
    """Were the rest of the line searched from each character, a million of them would take hours."""
    line = part * (1_000_000 // len(part))
    assert set("".join(Tokenizer().words(f"one {line} two"))) <= set("onetwaw.")


def test_mail_addresses_and_comments_without_an_end():
    line = "write to (me@example.org), a@b@c.de or @home <!-- not this"
    assert Tokenizer().words(line) == ["write", "to", "or", "home"]
