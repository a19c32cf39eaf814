"""Downloads from a real server that breaks connections, lies about sizes and serves what nobody asked for."""

from __future__ import annotations

import gzip
import io
import json
import os
import signal
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import numpy as np
import pytest
from tests.datasets.server import Site, serving

import lnmap
from lnmap import datasets
from lnmap.cli import main
from lnmap.datasets import download as downloading
from lnmap.datasets.download import Remote
from lnmap.datasets.verify import Ledger, sha256
from lnmap.errors import CatalogueError, DownloadError, OptionError, OutputError
from lnmap.experiments.tables import load_table
from lnmap.io.atomic import locked
from lnmap.progress import Silent

FACEBOOK, IXA = "/dl.fbaipublicfiles.com", "/ixa2.si.ehu.es/martetxe/vecmap"


def vectors(words: int = 400, dim: int = 10) -> bytes:
    numbers = np.random.default_rng(0).normal(size=(words, dim))
    lines = [f"w{row} " + " ".join(f"{value:.4f}" for value in line) for row, line in enumerate(numbers)]
    return (f"{words} {dim}\n" + "\n".join(lines) + "\n").encode()


DATA = vectors()
REMOTE = Remote("https://example.org/a/b.vec", "vectors/b.vec", "vectors")
AT = "/example.org/a/b.vec"


@pytest.fixture
def site(monkeypatch, tmp_path):
    with serving() as site:
        monkeypatch.setenv("LNMAP_DATA_MIRROR", site.address)
        monkeypatch.setenv("LNMAP_DATA", str(tmp_path / "data"))
        yield site


def fetch(folder: Path, accept: bool = False) -> list[float]:
    """Download without waiting, and return the pauses that would have been made."""
    pauses: list[float] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(downloading, "sleep", pauses.append)
        downloading.fetch(REMOTE, folder, Ledger(folder), Silent(), accept)
    return pauses


def _killed(*arguments: object) -> None:
    raise KeyboardInterrupt


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize(
    ("faults", "asked"),
    [
        ([], [None]),
        (["cut:4096"], [None, "bytes=4096-"]),
        (["cut:4096", "cut:8192", "status:503"], [None, "bytes=4096-", "bytes=12288-", "bytes=12288-"]),
        (["status:500", "status:429"], [None, None, None]),
        (["long:10"], [None, f"bytes={len(DATA)}-", None]),
    ],
)
def test_comes_whole_whatever_breaks(site, tmp_path, faults, asked):
    site.put(AT, DATA, *faults)
    pauses = fetch(tmp_path)
    assert (tmp_path / REMOTE.path).read_bytes() == DATA
    assert site.gets(AT) == asked
    assert len(pauses) == len(asked) - 1
    assert left(tmp_path) == ["b.vec", "lock.json"]
    assert Ledger(tmp_path).files[REMOTE.path]["sha256"] == sha256(tmp_path / REMOTE.path)


def test_server_that_ignores_ranges_sends_all_again(site, tmp_path):
    site.put(AT, DATA, "cut:5000", ranges=False)
    fetch(tmp_path)
    assert (tmp_path / REMOTE.path).read_bytes() == DATA
    assert len(site.gets(AT)) == 2


@pytest.mark.parametrize("heeds", [True, False], ids=["whole", "part-of-another"])
def test_file_that_changes_between_two_tries_is_not_mixed(site, tmp_path, heeds):
    page = site.put(AT, DATA, *["cut:5000"] * downloading.ATTEMPTS, ranges=False)
    with pytest.raises(DownloadError, match=r"ended at 5,000 of [\d,]+ bytes; 5,000 bytes are kept"):
        fetch(tmp_path)
    page.data, page.etag, page.ranges = DATA.replace(b"w", b"v"), '"two"', True
    page.heeds_if_range = heeds
    page.faults.clear()
    fetch(tmp_path)
    assert (tmp_path / REMOTE.path).read_bytes() == page.data


def test_a_kill_while_a_changed_file_starts_over_does_not_mix_versions(site, tmp_path, monkeypatch):
    page = site.put(AT, DATA, *["cut:5000"] * downloading.ATTEMPTS, ranges=False)
    with pytest.raises(DownloadError, match="5,000 bytes are kept"):
        fetch(tmp_path)
    page.data, page.etag, page.ranges = DATA.replace(b"w", b"v"), '"two"', True
    page.faults.clear()
    with monkeypatch.context() as patch:
        patch.setattr(Path, "touch", _killed)
        patch.setattr(Path, "write_bytes", _killed)
        with pytest.raises(KeyboardInterrupt):
            fetch(tmp_path)
    fetch(tmp_path)
    assert (tmp_path / REMOTE.path).read_bytes() == page.data


def test_what_a_kill_leaves_beside_a_whole_file_is_removed(site, tmp_path):
    site.put(AT, DATA)
    fetch(tmp_path)
    for ending in (".part", ".part.json"):
        (tmp_path / (REMOTE.path + ending)).touch()
    fetch(tmp_path)
    assert left(tmp_path) == ["b.vec", "lock.json"]
    assert len(site.gets(AT)) == 1


def test_without_a_validator_nothing_is_continued(site, tmp_path):
    site.put(AT, DATA, "cut:5000", etag=None)
    fetch(tmp_path)
    assert site.gets(AT) == [None, None]
    assert (tmp_path / REMOTE.path).read_bytes() == DATA


def test_part_longer_than_the_file_is_dropped(site, tmp_path):
    site.put(AT, DATA)
    (tmp_path / "vectors").mkdir()
    (tmp_path / "vectors/b.vec.part").write_bytes(DATA + b"more")
    (tmp_path / "vectors/b.vec.part.json").write_text('{"validator": "\\"one\\"", "size": 5}')
    fetch(tmp_path)
    assert (tmp_path / REMOTE.path).read_bytes() == DATA


@pytest.mark.parametrize(
    ("data", "faults", "message"),
    [
        (DATA, ["html"], "web page"),
        (b"\n <html><head>", [], "web page"),
        (b'<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>', [], "web page"),
        (b"\x00\x01garbage" * 500, [], "first line"),
        (b"", [], "empty"),
        (DATA, ["status:404"], "404"),
        (DATA, ["status:403"], "403"),
        (DATA, ["short:7"], "middle of a line"),
    ],
)
def test_what_is_no_data_is_refused_at_once(site, tmp_path, data, faults, message):
    site.put(AT, data, *faults)
    with pytest.raises(DownloadError, match=message) as caught:
        fetch(tmp_path)
    assert len(str(caught.value).splitlines()) == 1
    assert len(site.gets(AT)) == 1
    assert left(tmp_path) == []


def test_gives_up_with_a_way_out(site, tmp_path):
    site.put(AT, DATA, *["status:503"] * 50)
    with pytest.raises(DownloadError, match=r"503.*put it at .*b\.vec$"):
        fetch(tmp_path)
    assert len(site.gets(AT)) == downloading.ATTEMPTS


def test_pauses_grow(site, tmp_path):
    site.put(AT, DATA, *["status:503"] * 4)
    assert fetch(tmp_path) == [1, 2, 4, 8]


def test_redirects_are_followed_but_not_anywhere(site, tmp_path):
    site.put(AT, DATA, "redirect:/elsewhere", "redirect:ftp://example.org/x", "redirect:file:///etc/passwd")
    site.put("/elsewhere", DATA)
    fetch(tmp_path)
    assert (tmp_path / REMOTE.path).read_bytes() == DATA
    for _ in range(2):
        (tmp_path / REMOTE.path).unlink(missing_ok=True)
        with pytest.raises(DownloadError, match=r"not safe to follow|answers 302"):
            fetch(tmp_path)


def test_changed_file_is_refused_until_it_is_accepted(site, tmp_path):
    page = site.put(AT, DATA)
    fetch(tmp_path)
    (tmp_path / REMOTE.path).unlink()
    page.data, page.etag = vectors(500), '"new"'
    with pytest.raises(DownloadError, match=r"not the file that was first downloaded.*pass accept_changed=True$"):
        fetch(tmp_path)
    assert not (tmp_path / REMOTE.path).exists()
    before = len(site.gets(AT))
    fetch(tmp_path, accept=True)
    assert len(site.gets(AT)) == before  # the bytes that were refused are still there
    assert (tmp_path / REMOTE.path).read_bytes() == page.data
    assert Ledger(tmp_path).files[REMOTE.path]["bytes"] == len(page.data)


def test_broken_lock_file(tmp_path):
    (tmp_path / "lock.json").write_text("{")
    with pytest.raises(CatalogueError, match="broken"):
        Ledger(tmp_path)


def muse(site: Site, pair: str = "en-fi") -> None:
    for part, pairs in (("0-5000", "w0 w0\nw1 w1\n"), ("5000-6500", "w2 w2\n")):
        site.put(f"{FACEBOOK}/arrival/dictionaries/{pair}.{part}.txt", pairs.encode())
    for language in pair.split("-"):
        site.put(f"{FACEBOOK}/fasttext/vectors-wiki/wiki.{language}.vec", vectors())


def vecmap(site: Site, languages: str = "en it") -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for part in ("train", "test"):
            data = f"house\tcasa\n{part}\tx\n".encode()
            info = tarfile.TarInfo(f"en-it.{part}.txt")
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    site.put(f"{IXA}/dictionaries.tar.gz", buffer.getvalue())
    for language in languages.split():
        site.put(f"{IXA}/{language}.emb.txt.gz", gzip.compress(vectors()))


def test_muse(site):
    muse(site)
    assert datasets.size("muse", ["en-fi"]) == 2 * len(vectors()) + 18
    with pytest.raises(CatalogueError, match=r"fetch it with: lnmap\.datasets\.get\('muse', \['en-fi'\]\)$"):
        datasets.files("muse", "en-fi")
    datasets.get("muse", ["en-fi"])
    found = datasets.files("muse", "en-fi")
    assert (found.limit, found.policy) == (200_000, "muse")
    assert len(lnmap.read(found.source, limit=found.limit)) == 400
    assert list(lnmap.read_lexicon(found.train)) == [("w0", "w0"), ("w1", "w1")]
    asked = len(site.log)
    datasets.get("muse", ["en-fi"])
    assert len(site.log) == asked
    assert datasets.size("muse", ["en-fi"]) == 0


def test_vecmap_is_unpacked_and_turned_round(site):
    vecmap(site)
    datasets.get("vecmap", ["it-en"])
    found = datasets.files("vecmap", "it-en")
    assert (found.limit, found.policy) == (None, "vecmap")
    assert list(lnmap.read_lexicon(found.train)) == [("casa", "house"), ("x", "train")]
    assert len(lnmap.read(found.source, policy=found.policy)) == 400
    datasets.get("vecmap", ["en-it"])
    assert list(lnmap.read_lexicon(datasets.files("vecmap", "en-it").test))[1] == ("test", "x")


def test_damaged_gzip_is_refused(site):
    vecmap(site)
    damaged = bytearray(gzip.compress(vectors()))
    damaged[len(damaged) // 2] ^= 0xFF
    site.put(f"{IXA}/it.emb.txt.gz", bytes(damaged))
    with pytest.raises(DownloadError, match="cannot be unpacked"):
        datasets.get("vecmap", ["en-it"])


def test_files_put_there_by_hand_are_checked_and_recorded(site):
    muse(site)
    folder = datasets.data_folder() / "muse"
    (folder / "vectors").mkdir(parents=True)
    (folder / "vectors/wiki.en.vec").write_bytes(DATA)
    (folder / "vectors/wiki.fi.vec").write_bytes(b"<html>")
    with pytest.raises(DownloadError, match="web page"):
        datasets.get("muse", ["en-fi"])
    assert (folder / "vectors/wiki.fi.vec").exists()  # what a person put there is theirs to remove
    (folder / "vectors/wiki.fi.vec").write_bytes(DATA)
    datasets.get("muse", ["en-fi"])
    assert not site.gets(f"{FACEBOOK}/fasttext/vectors-wiki/wiki.en.vec")
    assert Ledger(folder).files["vectors/wiki.fi.vec"]["bytes"] == len(DATA)


def test_too_little_disk_is_said_before_the_download(site):
    muse(site)
    site.pages[f"{FACEBOOK}/fasttext/vectors-wiki/wiki.en.vec"].announce = 10**15
    with pytest.raises(OutputError, match=r"1000000\.00 GB are needed"):
        datasets.get("muse", ["en-fi"])
    assert not [method for method, _, _ in site.log if method == "GET"]


def test_second_process_is_refused(site):
    muse(site)
    with locked(datasets.data_folder() / "muse"), pytest.raises(CatalogueError, match="another process"):
        datasets.get("muse", ["en-fi"])


def test_killed_download_is_continued(site, tmp_path):
    muse(site)
    at = f"{FACEBOOK}/fasttext/vectors-wiki/wiki.fi.vec"
    page = site.put(at, vectors(5000), slow_s=0.02)
    command = [sys.executable, "-c", "from lnmap.cli import main; main()", "data", "get", "muse", "--pairs", "en-fi"]
    target = datasets.data_folder() / "muse/vectors/wiki.fi.vec"
    part = target.with_name("wiki.fi.vec.part")
    with subprocess.Popen(command, env={**os.environ}, stderr=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 60
        while not (part.is_file() and part.stat().st_size > 40_000) and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
    kept = part.stat().st_size
    assert 40_000 < kept < len(page.data)
    assert not target.exists()
    page.slow_s = 0.0
    assert subprocess.run(command, env={**os.environ}, capture_output=True, check=False).returncode == 0
    assert site.gets(at) == [None, f"bytes={kept}-"]
    assert target.read_bytes() == page.data


def test_without_a_network(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("LNMAP_DATA", str(tmp_path))
    monkeypatch.setenv("LNMAP_DATA_MIRROR", "http://127.0.0.1:9")
    monkeypatch.setattr(downloading, "sleep", lambda seconds: None)
    assert main(["data", "get", "muse", "--pairs", "en-fi"]) == 6
    told = capsys.readouterr().err
    assert "lnmap data where muse --pairs en-fi lists their addresses" in told
    assert len(told.splitlines()) == 1
    assert main(["data", "where", "muse", "--pairs", "en-fi", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert rows[2] == {
        "address": "https://dl.fbaipublicfiles.com/fasttext/vectors-wiki/wiki.en.vec",
        "path": str(tmp_path / "muse/vectors/wiki.en.vec"),
        "here": False,
    }


def test_changed_file_on_the_command_line(site, capsys):
    muse(site)
    assert main(["data", "get", "muse", "--pairs", "en-fi"]) == 0
    (datasets.data_folder() / "muse/vectors/wiki.fi.vec").unlink()
    site.put(f"{FACEBOOK}/fasttext/vectors-wiki/wiki.fi.vec", vectors(500), etag='"new"')
    capsys.readouterr()
    assert main(["data", "get", "muse", "--pairs", "en-fi"]) == 6
    assert capsys.readouterr().err.strip().endswith("pass --accept-changed")
    assert main(["data", "get", "muse", "--pairs", "en-fi", "--accept-changed"]) == 0


@pytest.mark.parametrize(("status", "size"), [(405, 0), (501, 0), (404, None)])
def test_server_without_head(site, status, size):
    """A size that cannot be asked for is no reason to fail; a missing file is."""
    muse(site)
    for page in site.pages.values():
        page.head_status = status
    if size is None:
        with pytest.raises(DownloadError, match="answers 404"):
            datasets.size("muse", ["en-fi"])
    else:
        assert datasets.size("muse", ["en-fi"]) == size
        datasets.get("muse", ["en-fi"])


def test_mirror_must_be_an_address(monkeypatch, tmp_path):
    monkeypatch.setenv("LNMAP_DATA_MIRROR", "file:///etc")
    with pytest.raises(OptionError, match="LNMAP_DATA_MIRROR"):
        fetch(tmp_path)


def test_unknown_names_list_what_exists():
    with pytest.raises(CatalogueError, match="there are: muse, vecmap, open"):
        datasets.pairs("x")
    for ask in (datasets.size, datasets.get, datasets.origins):
        with pytest.raises(CatalogueError, match="no pair 'en-xx'; there are: en-fr, fr-en, en-fi"):
            ask("open", ["en-xx"])


@pytest.mark.parametrize(
    ("benchmark", "tables"),
    [("muse", ["table1", "table2", "table4"]), ("vecmap", ["table3"])],
)
def test_every_direction_of_the_paper_is_there(benchmark, tables):
    directions = {cell.direction for name in tables for cell in load_table(name).cells}
    assert directions == set(datasets.pairs(benchmark))


def test_data_folder(monkeypatch):
    monkeypatch.setenv("LNMAP_DATA", "/a")
    assert datasets.data_folder() == Path("/a")
    monkeypatch.delenv("LNMAP_DATA")
    monkeypatch.setenv("XDG_DATA_HOME", "/b")
    assert datasets.data_folder() == Path("/b/lnmap")
    monkeypatch.delenv("XDG_DATA_HOME")
    assert datasets.data_folder() == Path.home() / ".local/share/lnmap"
