"""`lnmap serve` as a user starts it: errors in one line, limits that hold, clients that misbehave."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import pytest
import torch
from tests.serve.serving import WORDS, Server, small_model

from lnmap import retrieve
from lnmap.cli import main
from lnmap.direction import Direction
from lnmap.progress import Silent
from lnmap.serve import run
from lnmap.serve.loaded import LoadedModel
from lnmap.serve.words import WordIndex, fold


@pytest.fixture(scope="module")
def model_folder(pair, tmp_path_factory) -> Path:
    return small_model(pair, tmp_path_factory.mktemp("models") / "en-fr")


@pytest.fixture(scope="module")
def server(model_folder):
    with Server(model_folder) as made:
        yield made


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{tmp}/none"], "there is no model folder"),
        (["{tmp}"], "holds no finished model"),
        (["{tmp}/broken"], "cannot be read"),
        (["{model}", "--port", "70000"], "--port cannot be 70000"),
        (["{model}", "--host", "no.such.host.invalid"], "is no address of this machine"),
        (["{model}", "--host", "192.0.2.1"], "cannot listen on port"),
        (["{model}", "--test", "{tmp}/none.txt"], "none.txt"),
    ],
)
def test_bad_input_is_one_line(model_folder, tmp_path, capsys, arguments, message):
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "model.json").write_text("{")
    filled = [argument.format(tmp=tmp_path, model=model_folder) for argument in arguments]
    port = [] if "--port" in arguments else ["--port", "0"]
    capsys.readouterr()
    assert main(["serve", *filled, *port]) == 2
    err = capsys.readouterr().err.strip()
    assert err.startswith("error: ")
    assert message in err
    assert "\n" not in err


def test_a_missing_package_is_named():
    program = "import sys; sys.modules['fastapi'] = None; from lnmap.cli import main; sys.exit(main(['serve', 'x']))"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert result.returncode == 5
    assert result.stderr.strip() == (
        "error: lnmap serve needs the package 'fastapi'; install it with: pip install 'lnmap[serve]'"
    )


def test_port_in_use_is_said_before_any_model_is_loaded(server, capsys, tmp_path):
    port = httpx.URL(server.url).port
    assert main(["serve", str(tmp_path / "none"), "--port", str(port)]) == 2
    err = capsys.readouterr().err
    assert f"cannot listen on port {port} of 127.0.0.1: Address already in use" in err
    assert "--port 0" in err


def test_only_this_machine_unless_asked():
    assert [run.is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "192.0.2.1", "x")] == [
        True, True, True, False, False, False,
    ]  # fmt: skip


def test_server_says_where_it_is_and_ends_cleanly(model_folder):
    with Server(model_folder, model_folder, "--host", "0.0.0.0") as server:
        assert server.ready["models"] == ["en-fr", "en-fr-2"]
        with server.client() as client:
            assert client.get("api/health").json()["status"] == "ok"
            assert client.get("api/health", headers={"host": "evil.example"}).status_code == 400
        code, err = server.stop()
    assert code == 0
    assert "everybody who can reach 0.0.0.0" in err
    assert "Traceback" not in err


def test_what_was_found_is_kept_for_the_next_server(model_folder, cache_folder, server):
    with server.client() as client:
        deadline = time.monotonic() + 60
        while client.get("api/models/en-fr/state").json()["backward"]["known"] < WORDS:
            assert time.monotonic() < deadline
            time.sleep(0.1)
    assert list((cache_folder / "serve").glob("*-best1.safetensors"))


def test_a_kept_lexicon_is_not_searched_again(model_folder, tmp_path, monkeypatch):
    monkeypatch.setenv("LNMAP_CACHE", str(tmp_path))

    def finish() -> LoadedModel:
        loaded = LoadedModel(model_folder, None, Silent())
        loaded.start()
        deadline = time.monotonic() + 60
        while len(list(tmp_path.glob("serve/*-best?.safetensors"))) < 2 or not all(
            loaded.best(direction).complete for direction in Direction
        ):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        loaded.stop()
        return loaded

    first = finish()
    with monkeypatch.context() as patch:
        patch.setattr(retrieve, "top_k", None)  # calling it would fail
        second = finish()
    for direction in Direction:
        assert torch.equal(first.best(direction).rows, second.best(direction).rows)
        assert torch.equal(first.best(direction).scores, second.best(direction).scores)
    for path in tmp_path.glob("serve/*-best?.safetensors"):
        path.write_bytes(b"broken")
    assert torch.equal(finish().best(Direction.FORWARD).rows, first.best(Direction.FORWARD).rows)


def test_bytes_that_are_no_request_do_no_harm(server):
    address = httpx.URL(server.url)
    length = b"POST /api/models/en-fr/marks HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -5\r\n\r\n"
    for data in (b"\0" * 100, b"GET / HTTP/1.1\r\n\r\n", length, b"GET /" + b"x" * 70_000):
        with socket.create_connection((address.host, address.port), timeout=10) as sock:
            sock.sendall(data)
            sock.shutdown(socket.SHUT_WR)
            answer = b""
            while part := sock.recv(65_536):
                answer += part
        assert not answer or answer.startswith((b"HTTP/1.1 4", b"HTTP/1.1 431"))
    with server.client() as client:
        assert client.get("api/health").status_code == 200


def test_many_idle_and_slow_and_vanishing_clients_leave_room_for_others(server):
    """Hundreds of open connections: silent ones, half a head, half a body, and clients that leave in the middle."""
    address = httpx.URL(server.url)
    half = [
        b"",
        b"GET /api/models HTTP/1.1\r\nHost: 127.",
        b"POST /api/models/en-fr/marks HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        b"Content-Length: 500\r\n\r\n{",
    ]
    socks = []
    for number in range(300):
        sock = socket.create_connection((address.host, address.port), timeout=10)
        sock.sendall(half[number % 3])
        socks.append(sock)
    for _ in range(30):
        with socket.create_connection((address.host, address.port), timeout=10) as sock:
            sock.sendall(b"GET /api/models/en-fr/map?word=house HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    slowest = 0.0
    with server.client() as client:
        for _ in range(50):
            began = time.perf_counter()
            assert client.get("api/models/en-fr/translate?word=house").status_code == 200
            slowest = max(slowest, time.perf_counter() - began)
    for sock in socks:
        sock.close()
    assert slowest < 10  # far from the 20 s after which the others are given up, on however busy a machine


def _drip(sock: socket.socket) -> int:
    """Send a byte every tenth of a second; give the number after which the other side hung up."""
    for number in range(200):
        try:
            sock.sendall(b"X")
            if not sock.recv(1):
                return number
        except TimeoutError:
            continue
        except OSError:
            return number
    raise AssertionError("the connection was never cut off")


def test_a_head_that_never_ends_is_cut_off(monkeypatch):
    """The protocol closes a connection that sends its head drop by drop, and no other."""
    import uvicorn

    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    monkeypatch.setattr(run.limits, "HEAD_SECONDS", 0.6)
    sock = run.listen("127.0.0.1", 0)
    config = uvicorn.Config(app, http=run.PatientProtocol, ws="none", lifespan="off", log_level="error")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]})
    thread.start()
    try:
        with socket.create_connection(sock.getsockname(), timeout=10) as slow:
            slow.settimeout(0.1)
            assert _drip(slow) > 2
        with socket.create_connection(sock.getsockname(), timeout=10) as steady:
            for _ in range(3):
                steady.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                assert steady.recv(1000).startswith(b"HTTP/1.1 204")
                time.sleep(0.3)
    finally:
        server.should_exit = True
        thread.join(10)


def test_parallel_clients_get_the_same_answers(server):
    with server.client() as client:
        words = [entry["source"] for entry in client.get("api/models/en-fr/lexicon?limit=20").json()["entries"]]
        expected = {word: client.get("api/models/en-fr/translate", params={"word": word}).json() for word in words}
    wrong: list[str] = []

    def ask() -> None:
        with server.client() as client:
            for word in words:
                if client.get("api/models/en-fr/translate", params={"word": word}).json() != expected[word]:
                    wrong.append(word)

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize(
    ("typed", "word"),
    [("elev", "élève"), ("ELEV", "élève"), ("שָׁל", "שלום"), ("ㅎㅏㄴ", None), ("東", "東京"), ("straß", "strasse")],
)
def test_completion_looks_through_marks_and_case(typed, word):
    index = WordIndex(["eleven", "élève", "שלום", "한국", "東京", "strasse"])
    found = [index.words[row] for row in index.complete(typed, 5)]
    assert word is None or word in found


def test_completion_puts_the_word_itself_first():
    index = WordIndex(["cats", "catalogue", "cat"])
    assert [index.words[row] for row in index.complete("cat", 3)] == ["cat", "cats", "catalogue"]
    assert index.complete("", 2) == [0, 1]


def test_spellings_take_bounded_time_whatever_is_asked():
    rng_words = [f"{a}{b}{c}" for a in "abcdefghij" for b in "klmnopqrst" for c in ("", "ing", "ed", "ness", "é")] * 40
    index = WordIndex([f"{word}{number}" for number, word in enumerate(rng_words)])
    for asked in ("akin", "x" * 200, "\u0301" * 200, "ak" * 100, " ", "💥" * 50):
        began = time.thread_time()
        index.spellings(asked)
        assert time.thread_time() - began < 0.5
    assert WordIndex(["dog", "do", "cat"]).spellings("dgo")[0] == "dog"
    assert WordIndex(["a"]).spellings("zzz") == []
    assert fold("É") == fold("e\u0301") == "e"
    assert json.dumps(WordIndex(["\u0301"]).folded)
