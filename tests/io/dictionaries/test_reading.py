"""Dictionaries of other programs are told apart by their content and read; what is none is refused in one line."""

import gzip
import io
import json
import os
import struct
import threading
import zipfile

import pytest

from lnmap.errors import LexiconError, OptionError
from lnmap.io import read_lexicon

TMX = """<?xml version="1.0"?><!DOCTYPE tmx SYSTEM "tmx14.dtd"><tmx version="1.4"><header srclang="en"/><body>
<tu><tuv xml:lang="EN-US"><seg>dog</seg></tuv><tuv xml:lang="FR-FR"><seg> chien <bpt i="1">b</bpt></seg></tuv></tu>
<tu><tuv lang="en-us"><seg>R&amp;D</seg></tuv><tuv lang="fr-fr"><seg>R&#38;D</seg></tuv></tu>
<tu><tuv xml:lang="en-us"><seg>This is a long sentence, not one word.</seg></tuv>
<tuv xml:lang="fr-fr"><seg>Une phrase.</seg></tuv></tu></body></tmx>"""
BARE = "<tmx><tu><tuv lang='a'><seg>x</seg></tuv><tuv lang='b'><seg>y</seg></tuv></tu></tmx>"
LIFT = """<?xml version="1.0" encoding="UTF-8"?>
<lift version="0.13"><header><fields/></header>
<entry id="a"><lexical-unit><form lang="seh"><text>mbwa</text></form></lexical-unit>
 <sense id="1"><gloss lang="en"><text>dog</text></gloss><gloss lang="pt"><text>cachorro</text></gloss>
  <subsense><gloss lang="en"><text>hound</text></gloss></subsense></sense></entry>
<entry id="b" dateDeleted="2020-01-01"><lexical-unit><form lang="seh"><text>x</text></form></lexical-unit>
 <sense><gloss lang="en"><text>y</text></gloss></sense></entry>
<entry id="c"><lexical-unit><form lang="seh"><text>nyumba</text></form></lexical-unit></entry></lift>"""
DIX = """<?xml version="1.0"?><dictionary><alphabet>ab</alphabet><sdefs><sdef n="n"/></sdefs>
<pardefs><pardef n="p"><e><p><l>not</l><r>this</r></p></e></pardef></pardefs>
<section id="main" type="standard">
<e><p><l>dog<s n="n"/></l><r>chien<s n="n"/></r></p><par n="p"/></e>
<e r="LR"><p><l>ice<b/>cream<s n="n"/></l><r>glace</r></p></e>
<e><i>radio<s n="n"/></i></e>
<e><p><l>take<g><b/>off</g></l><r>partir</r></p></e>
<e i="yes"><p><l>old</l><r>vieux</r></p></e><e><re>[0-9]+</re></e></section></dictionary>"""
TEI = """<?xml version="1.0" encoding="UTF-8"?><?xml-stylesheet href="x"?><TEI xmlns="http://www.tei-c.org/ns/1.0">
<teiHeader/><text><body><entry><form><orth>dog</orth></form><gramGrp><pos>n</pos></gramGrp>
<sense><cit type="trans" xml:lang="fr"><quote>chien</quote><quote>chienne</quote></cit>
<cit type="example" xml:lang="en"><quote>my dog</quote>
<cit type="trans" xml:lang="fr"><quote>mon chien</quote></cit></cit></sense></entry></body></text></TEI>"""
DEFINED = "<TEI><entry><form><orth>abudu</orth></form><sense><def>worship, revere (God)</def></sense></entry></TEI>"
NYUMBA = """<sense><definition><form lang="en"><text>house; a building that people live in</text></form></definition>
</sense></entry></lift>"""
WORDS = [
    {
        "word": "dog",
        "lang_code": "en",
        "pos": "noun",
        "translations": [{"code": "fr", "word": "chien"}, {"code": "de", "word": "Hund"}, {"code": "fr"}],
        "senses": [{"glosses": ["a pet"], "translations": [{"lang_code": "fr", "word": "clebs"}]}],
    },
    {"word": "chien", "lang_code": "fr", "senses": [{"glosses": ["dog"]}]},
]
WIKTEXTRACT = "\n".join(map(json.dumps, WORDS)) + "\n"
GLOSSED = '{"word": "chien", "lang_code": "fr", "senses": [{"glosses": ["dog", "A nasty person."]}]}\n'
HUNALIGN = "chien @ dog\ncrème glacée @ ice cream\n"
MOSES = "chien dog 0.7\nchat cat 0.9\nclebs dog 0.3\n"
DOG = [("dog", "chien")]


def read(tmp_path, data, languages=None, name="file"):
    path = tmp_path / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return read_lexicon(path, languages)


@pytest.mark.parametrize(
    ("data", "languages", "expected"),
    [
        (TMX, None, [*DOG, ("R&D", "R&D")]),
        (TMX, "fr,en", [("chien", "dog"), ("R&D", "R&D")]),
        (TMX.replace('<?xml version="1.0"?>', "").encode("utf-16"), None, [*DOG, ("R&D", "R&D")]),
        (LIFT, "seh,en", [("mbwa", "dog"), ("mbwa", "hound")]),
        (LIFT, ("seh", "pt"), [("mbwa", "cachorro")]),
        (DIX, None, [*DOG, ("ice cream", "glace"), ("radio", "radio"), ("take off", "partir")]),
        (TEI, None, [*DOG, ("dog", "chienne")]),
        (WIKTEXTRACT, "en,fr", [*DOG, ("dog", "clebs")]),
        (WIKTEXTRACT, "en,de", [("dog", "Hund")]),
        (WIKTEXTRACT, "fr,en", [("chien", "dog")]),
        (GLOSSED, None, [("chien", "dog")]),
        (DEFINED, None, [("abudu", "worship"), ("abudu", "revere")]),
        (LIFT.replace("</entry></lift>", NYUMBA), "seh,en", [("mbwa", "dog"), ("mbwa", "hound"), ("nyumba", "house")]),
        (HUNALIGN, None, [*DOG, ("ice cream", "crème glacée")]),
        (MOSES, None, [("cat", "chat"), *DOG, ("dog", "clebs")]),
        ('{"source": "dog", "target": "chien", "csls": 1}\n', None, DOG),
        ("dog,chien\nice cream,crème glacée\n", None, [*DOG, ("ice cream", "crème glacée")]),
        ('\ufeff"dog";"chien"\r\n"a ""b""";"x;y"\r\n', None, [*DOG, ('a "b"', "x;y")]),
        ("\ufeffsource,target,mark\r\ndog,chien,seed\r\n'=1,'-x,added\r\n", None, [*DOG, ("=1", "-x")]),
        ("source;target\r\ndog;chien\r\n", None, DOG),
        ('dog,chien\n"two\nlines",x\n', None, [*DOG, ("two\nlines", "x")]),
        (" \n" + BARE, None, [("x", "y")]),
    ],
)  # fmt: skip
def test_read(tmp_path, data, languages, expected):
    assert list(read(tmp_path, data, languages)) == expected


def test_packed(tmp_path):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("memory.tmx", TMX)
    for data in (gzip.compress(TMX.encode()), buffer.getvalue()):
        assert read(tmp_path, data).origin["format"] == "tmx"


@pytest.mark.parametrize(
    "text",
    [
        "<s> <s>\n",
        "{ {\n",
        "[ [\n",
        "@ @\n",
        "a b\n, ,\n",
        "0.5 0.5\n",
        "a\t0.5 x 0.5\n",
        "dog @home\n",
        "x y,z\na b\n",
        "1,000 1.000\n2,5 2.5\n",
    ],
)
def test_tokens_are_no_other_format(tmp_path, text):
    assert read(tmp_path, text).origin["format"] == "tsv"


def test_sentences_are_skipped_and_named(tmp_path):
    skipped = read(tmp_path, TMX).origin["skipped"]
    assert skipped == [[4, "a sentence instead of a word"]]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (LIFT, "more than two languages (en, pt); name the two with languages='en,fr'"),
        (WIKTEXTRACT, "more than two languages (en, fr, de)"),
        (TMX.replace("fr-fr", "de"), "more than two languages (en-us, fr-fr, de)"),
    ],
)
def test_which_languages(tmp_path, data, says):
    with pytest.raises(LexiconError) as caught:
        read(tmp_path, data)
    assert says in str(caught.value)
    with pytest.raises(LexiconError, match="holds no pairs of xx and yy"):
        read(tmp_path, data, "xx,yy")


@pytest.mark.parametrize("languages", ["en", "en,fr,de", "en,,", "en,en", "en,f r", "<,>", ["en"]])
def test_codes(tmp_path, languages):
    with pytest.raises(OptionError, match="two"):
        read(tmp_path, TMX, languages)


LAUGHS = '<?xml version="1.0"?><!DOCTYPE tmx [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><tmx><body>&b;</body></tmx>'
OUTSIDE = '<?xml version="1.0"?><!DOCTYPE tmx [<!ENTITY a SYSTEM "file:///etc/passwd">]><tmx><body>&a;</body></tmx>'


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (LAUGHS, "declares entities"),
        (OUTSIDE, "declares entities"),
        (TMX[:300], "broken XML"),
        (TMX.replace("</tmx>", "</tmy>"), "broken XML"),
        (TMX.replace('version="1.0"', 'version="1.0" encoding="klingon"'), "XML"),
        ("<?xml version='1.0'?><rss><channel/></rss>", "an XML file of <rss>; TMX, LIFT, TEI and Apertium"),
        ("<?xml version='1.0'?>", "XML without an element"),
        ("<tmx>" + "<a>" * 100 + "</a>" * 100 + "</tmx>", "more than 64 deep"),
        ("<tmx><tu>" + "x" * 1_100_000 + "</tu></tmx>", "over 1,048,576 characters"),
        ("<tmx><tu>" + "<tuv/>" * 1_100_000 + "</tu></tmx>", "over 1,048,576 characters"),
        ("<tmx><body/></tmx>", "holds no pairs"),
        ('{"word": "x", "lang_code": "en"}\n', "holds no pairs"),
        ('{"source": 1, "target": "x"}\n', "no word pairs: 1 lines skipped (first: line 1, no object"),
        ("@ x @ \n @ y\n", "no word pairs"),
        ("StarDict's dict ifo file\nversion=2.4.2\n", "there is no file.idx"),
        ("<html><body>404</body></html>", "web page"),
        ("a,b\nc,d\n\"" + "x" * 200_000 + "\",y\n", "broken CSV"),
    ],
)  # fmt: skip
def test_refused_in_one_line(tmp_path, data, says):
    with pytest.raises(LexiconError) as caught:
        read(tmp_path, data)
    assert says in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def stardict(folder, articles, extra="sametypesequence=m\n", wide=False):
    """Write a dictionary as other programs do: not packed."""
    index, texts = b"", b""
    for word, text in articles:
        data = text if isinstance(text, bytes) else text.encode()
        index += word.encode() + b"\0" + struct.pack(">QI" if wide else ">II", len(texts), len(data))
        texts += data
    (folder / "d.idx").write_bytes(index)
    (folder / "d.dict").write_bytes(texts)
    facts = f"StarDict's dict ifo file\nversion=2.4.2\nbookname=x\nwordcount={len(articles)}\n{extra}"
    (folder / "d.ifo").write_text(facts)
    return folder / "d.ifo"


@pytest.mark.parametrize(
    ("text", "extra", "expected"),
    [
        ("1. chien, chienne; (fam.) clebs\n2) type", "sametypesequence=m\n", ["chien", "chienne", "clebs", "type"]),
        ("<b>chien</b> &amp; co<br>[n] toutou", "sametypesequence=h\n", ["chien", "& co", "toutou"]),
        (b"tdog\0mchien\0Wxxxx", "", ["dog", "chien"]),
        (b"dog\0chien", "sametypesequence=tm\n", ["dog", "chien"]),
        ("a carnivorous mammal kept by people", "sametypesequence=m\n", None),
    ],
)
def test_stardict_of_others(tmp_path, text, extra, expected):
    path = stardict(tmp_path, [("dog", text)], extra)
    if expected is None:
        with pytest.raises(LexiconError, match="holds no pairs"):
            read_lexicon(path)
        return
    assert list(read_lexicon(path)) == [("dog", word) for word in expected]
    assert list(read_lexicon(tmp_path)) == list(read_lexicon(path))


def test_stardict_with_wide_offsets_and_holes(tmp_path):
    path = stardict(tmp_path, [("dog", "chien")], "idxoffsetbits=64\nsametypesequence=m\n", wide=True)
    assert list(read_lexicon(path)) == DOG
    (tmp_path / "d.dict").write_bytes(b"")
    with pytest.raises(LexiconError, match=r"1 entries skipped \(first: entry 1, its article is missing"):
        read_lexicon(path)
    (tmp_path / "d.idx").write_bytes(b"dog\0\0\0")
    with pytest.raises(LexiconError, match="ends within an entry"):
        read_lexicon(path)


def zipped(files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data if isinstance(data, str | bytes) else json.dumps(data))
    return buffer.getvalue()


def test_stardict_in_an_archive(tmp_path):
    stardict(tmp_path, [("dog", "chien")])
    files = {f"../../evil/d{end}": (tmp_path / f"d{end}").read_bytes() for end in (".ifo", ".idx", ".dict")}
    assert list(read(tmp_path, zipped(files), name="x.zip")) == DOG
    files["other.ifo"] = b""
    with pytest.raises(LexiconError, match=r"holds 2 dictionaries; unpack it and give one of its \.ifo files"):
        read(tmp_path, zipped(files))


def test_yomitan_of_others(tmp_path):
    content = {"tag": "ol", "content": [{"tag": "li", "content": "clebs"}]}
    terms = [
        ["dog", "", "n", "", 0, ["chien", {"type": "text", "text": "toutou"}], 1, ""],
        ["dog", "", "n", "", 0, [{"type": "structured-content", "content": content}], 1, ""],
        ["cat", "", "n", "", 0, [{"type": "image", "path": "cat.png"}], 2, ""],
        ["broken"],
    ]
    data = zipped({"index.json": {"title": "x"}, "term_bank_2.json": terms, "term_bank_1.json": "{"})
    found = read(tmp_path, data)
    assert list(found) == [*DOG, ("dog", "toutou"), ("dog", "clebs")]
    assert [reason for _, reason in found.origin["skipped"]] == [
        "term_bank_1.json is no list in JSON",
        "a definition without text",
        "no term with definitions",
    ]


def test_bombs(tmp_path):
    for files in (
        {"index.json": "{}", "term_bank_1.json": b" " * 50_000_000 + b"[]"},
        {"d.ifo": b"StarDict's dict ifo file\n", "d.idx": bytes(50_000_000), "d.dict": b""},
    ):
        with pytest.raises(LexiconError, match="unpacks to more than a dictionary holds"):
            read(tmp_path, zipped(files))
    path = stardict(tmp_path, [("dog", "chien")])
    (tmp_path / "d.dict").unlink()
    (tmp_path / "d.dict.dz").write_bytes(gzip.compress(bytes(50_000_000)))
    with pytest.raises(LexiconError, match="unpacks to more than 100 times its size"):
        read_lexicon(path)


def test_a_folder_of_two_dictionaries(tmp_path):
    stardict(tmp_path, [("dog", "chien")])
    (tmp_path / "e.ifo").write_text("")
    with pytest.raises(LexiconError, match=r"holds 2 dictionaries; give one of them, such as .*d\.ifo"):
        read_lexicon(tmp_path)


def test_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for data in (TMX, "PK\x03\x04 b\n"):
        writer = threading.Thread(target=(tmp_path / "pipe").write_text, args=(data,))
        writer.start()
        assert len(read_lexicon(tmp_path / "pipe")) > 0
        writer.join()


def test_glosses_of_the_same_language_are_no_translations(tmp_path):
    """A language that Wiktionary is written in has tables of translations, and glosses in itself."""
    mute = json.dumps({"word": "hound", "lang_code": "en", "senses": [{"glosses": ["dog"]}]})
    with pytest.raises(LexiconError, match="holds no pairs of en and xx"):
        read(tmp_path, f"{mute}\n{WIKTEXTRACT}", "en,xx")


def test_segments_without_a_language_are_of_none(tmp_path):
    unit = "<tu><tuv><seg>x</seg></tuv><tuv xml:lang='fr-fr'><seg>y</seg></tuv></tu>"
    found = read(tmp_path, TMX.replace("<body>", f"<body>{unit}"))
    assert list(found) == [*DOG, ("R&D", "R&D")]
    assert found.origin["skipped"][0] == [1, "one language instead of two"]


def test_a_million_skipped_lines_are_counted_not_kept(tmp_path):
    found = read(tmp_path, "a b\n" + "x\n" * 5000)
    assert (len(found.origin["skipped"]), found.origin["skipped_in_all"]) == (1000, 5000)


def test_endless_words_are_skipped(tmp_path):
    found = read(tmp_path, f"a b\n{'x' * 2000} y\n")
    assert found.origin["skipped"] == [[2, "a word of 2,000 characters"]]
