"""Security: forged requests, words that are code to somebody else, and calls that lnmap must not make."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from http.client import HTTPConnection
from typing import Any

import numpy as np
from tests.soak.figures import Budget, Figures
from tests.soak.lab import Lab
from tests.soak.network import Address, post, server
from tests.test_layers import MODULES, unsafe_uses

import lnmap
from lnmap.io import read_lexicon

FORMULAS = ("=1+1", "+1", "-2+3", "@sum(a1)", "=hyperlink(0)", "|calc", "%0", "＝1", "﹢1")
MARKUP = ("<script>alert(1)</script>", "{{7*7}}", "${7*7}", "../../etc/passwd", '"><img src=x onerror=1>', "a\u202eb")
_MODEL = "/api/models/model"
# name: method, path, headers, the right statuses
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


def _ask(address: Address, method: str, path: str, headers: dict[str, str]) -> tuple[int, Any, bytes]:
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


def requests(lab: Lab, budget: Budget) -> Figures:
    """Foreign hosts and sites, paths out of the site, and words that are formulas, markup or templates."""
    figures = Figures()
    with server(lab, lab.copy_of_model("attacked")) as (_, address):
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


def _mark(address: Address, word: str) -> None:
    connection = HTTPConnection(*address, timeout=20)
    status = post(connection, f"{_MODEL}/marks", {"source": word, "target": word, "mark": "added"})
    connection.close()
    _, headers, body = _ask(address, "GET", f"{_MODEL}/marks", {})
    if status == 201 and word not in {mark["source"] for mark in json.loads(body)["marks"]}:
        raise AssertionError(f"{word!r} came back as another word")
    if not headers["content-type"].startswith("application/json") or headers["x-content-type-options"] != "nosniff":
        raise AssertionError("an answer that a browser could show as a page")


def _check_formulas(cells: Iterable[str]) -> None:
    for cell in cells:
        if cell and cell[0] in "=+-@|%＝﹢":
            raise AssertionError(f"a spreadsheet would run {cell!r}")


def _check_cells(data: bytes, kind: str) -> None:
    text = data.decode("utf-8-sig")
    rows = list(csv.reader(io.StringIO(text), delimiter="," if kind == "csv" else "\t", quoting=csv.QUOTE_MINIMAL))
    _check_formulas(cell for row in rows for cell in row)
    if len(rows) < len(FORMULAS):
        raise AssertionError("the words are not in the export")


def dictionary(lab: Lab, budget: Budget) -> Figures:
    """`induce` with words that are formulas: no cell starts like one, and reading returns the words unchanged."""
    figures = Figures()
    words = [*FORMULAS, *(f"w{row}" for row in range(40))]
    vectors = np.random.default_rng(0).normal(size=(len(words), 12))
    folder, out = lab.folder / "formulas", lab.fresh()
    lnmap.align((words, vectors), (words, vectors), "identical", method="procrustes", device="cpu", out=folder)
    with figures.attempt():
        ended = lab.launcher.run(["induce", folder, "--out", out, "--all-tokens"])
        if ended.code:
            raise AssertionError(ended.err)
        if {source for source, _ in read_lexicon(out)} != set(words):
            raise AssertionError("other words are read than were written")
        _check_formulas(cell for line in out.read_text().splitlines()[1:] for cell in line.split("\t")[:2])
    return figures


def calls(lab: Lab, budget: Budget) -> Figures:
    """No pickle, eval, shell or unsafe YAML in any module."""
    figures = Figures()
    for path in MODULES:
        with figures.attempt():
            if found := unsafe_uses(path):
                raise AssertionError(f"{path.name}: {found[0]}")
    return figures
