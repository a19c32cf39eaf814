"""What marks cost `lnmap serve`: memory and processor time per mark, of a real server process.

    python benchmarks/marks.py [--words 2000] [--marks 10000] [--times 5]

A number of marks is appended to the journal of a model at a time, as other servers of the same model do; the server
reads them when it is asked for a translation. First every mark is of a new pair, then they are of the same pairs again.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

import lnmap
from lnmap.model.marks import JOURNAL
from serve import Client, Server, make_model


def lines(words: list[str], start: int, count: int, mark: str) -> str:
    """Marks of pairs, `count` of them from a number on; each word has several answers after some time."""
    made = ((words[n % len(words)], f"{words[n * 7 % len(words)][::-1]}{n}") for n in range(start, start + count))
    when = "2026-01-01T00:00:00.000Z"
    return "".join(json.dumps({"source": s, "target": t, "mark": mark, "time": when}) + "\n" for s, t in made)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--words", type=int, default=2000, help="words per language")
    parser.add_argument("--marks", type=int, default=10_000, help="marks at a time")
    parser.add_argument("--times", type=int, default=5, help="how often, of either kind")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "model")
        make_model(given.words, folder)
        words = list(lnmap.load(folder).source.words)
        server = Server(folder)
        try:
            client = Client(server.port, "model")
            for number in range(200):
                client.ask(("GET", f"translate?word={words[number % len(words)]}", None))
            print(f"{'marks':>8}  {'of which pairs':>14}  {'MB':>7}  {'bytes per mark':>14}  {'CPU, µs per mark':>16}")
            before, cpu, pairs = server.memory(), server.cpu(), 0
            for number in range(2 * given.times):
                new = number < given.times
                start = pairs if new else (number - given.times) * given.marks
                pairs += given.marks if new else 0
                with (folder / JOURNAL).open("a") as file:
                    file.write(lines(words, start, given.marks, "added" if new or number % 2 else "right"))
                assert client.ask(("GET", f"translate?word={words[number]}", None)) == 200
                now, used = server.memory(), server.cpu()
                each, time = (now - before) * 2**20 / given.marks, (used - cpu) * 1e6 / given.marks
                print(f"{(number + 1) * given.marks:8,}  {pairs:14,}  {now:7.1f}  {each:14,.0f}  {time:16,.0f}")
                before, cpu = now, used
        finally:
            server.process.kill()
            server.process.wait()


if __name__ == "__main__":
    main()
