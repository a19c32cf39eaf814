"""Security: requests that no page of ours sends, words that want to be more than words, calls that nobody may use."""

from __future__ import annotations

import ast
import csv
import io
import json
import shutil
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from tests.soak.figures import Budget, Figures
from tests.soak.network import post, server
from tests.soak.room import Room

import lnmap

FORMULAS = ("=1+1", "+1", "-2+3", "@sum(a1)", "=hyperlink(0)", "|calc", "%0", "＝1", "﹢1")
MARKUP = ("<script>alert(1)</script>", "{{7*7}}", "${7*7}", "../../etc/passwd", '"><img src=x onerror=1>', "a\u202eb")
_MODEL = "/api/models/model"
# name: method, path, headers, the statuses that are right
REQUESTS: dict[str, tuple[str, str, dict[str, str], tuple[int, ...]]] = {
    "another host": ("GET", f"{_MODEL}/state", {"Host": "evil.example"}, (400,)),
    "a host that begins like ours": ("GET", f"{_MODEL}/state", {"Host": "127.0.0.1.evil.example"}, (400,)),
    "a script of another site": ("GET", f"{_MODEL}/state", {"Origin": "http://evil.example"}, (403,)),
    "an image of another site": ("GET", f"{_MODEL}/state", {"Sec-Fetch-Site": "cross-site"}, (403,)),
    "a form of another site": ("POST", f"{_MODEL}/marks", {"Origin": "null"}, (403,)),
    "a form's text": ("POST", f"{_MODEL}/marks", {"Content-Type": "text/plain"}, (415, 422, 400)),
    "a path upwards": ("GET", "/../../../../etc/passwd", {}, (404,)),
    "a packed path upwards": ("GET", "/%2e%2e/%2e%2e/etc/passwd", {}, (404,)),
    "a path with a NUL": ("GET", "/api/models/%00", {}, (404,)),
    "a model outside": ("GET", "/api/models/..%2f..%2fetc", {}, (404,)),
    "a broken address": ("GET", f"{_MODEL}/translate?word=%ff", {}, (400,)),
    "another method": ("DELETE", f"{_MODEL}/marks", {}, (405,)),
    "a body of 1 GB": ("POST", f"{_MODEL}/marks", {"Content-Length": str(1 << 30)}, (413,)),
}


def _ask(address: tuple[str, int], method: str, path: str, headers: dict[str, str]) -> tuple[int, Any, bytes]:
    connection = HTTPConnection(*address, timeout=20)
    try:
        connection.putrequest(method, path, skip_host="Host" in headers)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        with connection.getresponse() as answer:
            return answer.status, answer.headers, answer.read()
    finally:
        connection.close()


def requests(room: Room, budget: Budget) -> Figures:
    """Foreign hosts and sites, paths that lead out, and words that are formulas, markup or templates."""
    figures = Figures()
    folder = room.folder / "attacked" / "model"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(room.model, folder)
    with server(room, folder) as (_, host, port):
        address = (host, port)
        for name, (method, path, headers, right) in REQUESTS.items():
            with figures.attempt():
                status, sent, _ = _ask(address, method, path, headers)
                if status not in right:
                    raise AssertionError(f"{name}: {status}")
                if "default-src 'none'" not in (sent["content-security-policy"] or ""):
                    raise AssertionError(f"{name}: an answer without a content security policy")
        for word in (*FORMULAS, *MARKUP):
            with figures.attempt():
                _mark(address, word)
        for kind in ("csv", "tsv"):
            with figures.attempt():
                _check_cells(_ask(address, "GET", f"{_MODEL}/marks/export?format={kind}", {})[2], kind)
    return figures


def _mark(address: tuple[str, int], word: str) -> None:
    connection = HTTPConnection(*address, timeout=20)
    status = post(connection, f"{_MODEL}/marks", {"source": word, "target": word, "mark": "added"})
    connection.close()
    _, headers, body = _ask(address, "GET", f"{_MODEL}/marks", {})
    if status == 201 and word not in {mark["source"] for mark in json.loads(body)["marks"]}:
        raise AssertionError(f"{word!r} came back as another word")
    if not headers["content-type"].startswith("application/json") or headers["x-content-type-options"] != "nosniff":
        raise AssertionError("an answer that a browser might take for a page")


def _check_cells(data: bytes, kind: str) -> None:
    text = data.decode("utf-8-sig")
    rows = list(csv.reader(io.StringIO(text), delimiter="," if kind == "csv" else "\t", quoting=csv.QUOTE_MINIMAL))
    bad = [cell for row in rows for cell in row if cell[:1] in tuple("=+-@|%＝﹢") and cell]
    if bad:
        raise AssertionError(f"a spreadsheet would run {bad[0]!r} of the {kind}")
    if len(rows) < len(FORMULAS):
        raise AssertionError("the words are not in the export")


def dictionary(room: Room, budget: Budget) -> Figures:
    """`induce` with words that are formulas: no cell begins like one, and the words are read back as they were."""
    import numpy as np

    from lnmap.io import read_lexicon

    figures = Figures()
    words = [*FORMULAS, *(f"w{row}" for row in range(40))]
    vectors = np.random.default_rng(0).normal(size=(len(words), 12))
    folder, out = room.folder / "formulas", room.fresh()
    lnmap.align((words, vectors), (words, vectors), "identical", method="procrustes", device="cpu", out=folder)
    with figures.attempt():
        ended = room.launcher.run(["induce", folder, "--out", out])
        if ended.code:
            raise AssertionError(ended.err)
        if {source for source, _ in read_lexicon(out)} != set(words):
            raise AssertionError("the words are not read back as they were")
        for line in out.read_text().splitlines()[1:]:
            bad = [cell for cell in line.split("\t")[:2] if cell[:1] in tuple("=+-@|%＝﹢")]
            if bad:
                raise AssertionError(f"a spreadsheet would run {bad[0]!r}")
    return figures


def calls(room: Room, budget: Budget) -> Figures:
    """No pickle, eval, shell or unsafe YAML in any module, by the rules of the tests."""
    from tests import test_layers as rules

    figures = Figures()
    for path in sorted(Path(lnmap.__file__).parent.rglob("*.py")):
        with figures.attempt():
            rules.test_nothing_unsafe((path, ast.parse(path.read_text(encoding="utf-8"))))
    return figures
