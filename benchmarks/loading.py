"""Time the reading of a text file of word vectors: this package, polars alone, and loops like those of other programs.

    python benchmarks/loading.py [--rows 200000] [--dim 300] [--repeat 3] [--gensim]

Each reader runs in a fresh process after its imports; CPU seconds are user + system time of all its threads, the least
of several runs.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

GENSIM_SHARE = 10  # gensim reads a tenth of the rows; its time is multiplied


def make_file(path: Path, rows: int, dim: int) -> None:
    """Write numbers of five significant digits, each followed by a blank, as fastText does."""
    rng = np.random.default_rng(0)
    line = "%.5g " * dim + "\n"
    with path.open("w", encoding="ascii") as file:
        file.write(f"{rows} {dim}\n")
        for row in range(rows):
            file.write(f"w{row} " + line % tuple((rng.standard_normal(dim) * 0.1).tolist()))


def polars_alone(path: str, rows: int, dim: int):
    import polars

    yield
    numbers = {str(column): polars.Float32 for column in range(dim)}
    schema = {"word": polars.String, **numbers, "rest": polars.String}
    table = polars.read_csv(path, separator=" ", has_header=False, skip_rows=1, quote_char=None, schema=schema)
    yield table["word"].to_list(), table.select(list(numbers)).to_numpy()


def ours(path: str, rows: int, dim: int, cache: bool = True):
    import polars  # noqa: F401

    import lnmap.io

    yield
    found = lnmap.io.read(path, cache=cache)
    yield found.words, found.vectors


def ours_uncached(path: str, rows: int, dim: int):
    yield from ours(path, rows, dim, cache=False)


def loop_like_muse(path: str, rows: int, dim: int):
    """Split each line once, parse its numbers to float64, keep the rows in a list."""
    yield
    words, vectors, seen = [], [], {}
    with open(path, encoding="utf-8", errors="ignore") as file:
        next(file)
        for line in file:
            word, numbers = line.rstrip().split(" ", 1)
            word = word.lower()
            vector = np.fromstring(numbers, sep=" ")
            if np.linalg.norm(vector) == 0:
                vector[0] = 0.01
            if word not in seen:
                seen[word] = len(words)
                words.append(word)
                vectors.append(vector[None])
    yield words, np.concatenate(vectors, 0).astype(np.float32)


def loop_like_vecmap(path: str, rows: int, dim: int):
    """Parse each line with numpy into a row of one float32 array."""
    yield
    words, vectors = [], np.empty((rows, dim), np.float32)
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        next(file)
        for row, line in enumerate(file):
            word, numbers = line.split(" ", 1)
            words.append(word)
            vectors[row] = np.fromstring(numbers, sep=" ", dtype=np.float32)
    yield words, vectors


def gensim_text(path: str, rows: int, dim: int):
    from gensim.models import KeyedVectors

    yield
    keyed = KeyedVectors.load_word2vec_format(path, limit=rows // GENSIM_SHARE)
    yield keyed.index_to_key, keyed.vectors


READERS = {
    "polars alone": polars_alone,
    "lnmap, first (fills cache)": ours,
    "lnmap, second (from cache)": ours,
    "lnmap, cache=False": ours_uncached,
    "loop like MUSE's": loop_like_muse,
    "loop like VecMap's": loop_like_vecmap,
}


def cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def measure(name: str, path: str, rows: int, dim: int) -> None:
    """Run one reader in this process and print what it took."""
    reader = {**READERS, "gensim": gensim_text}[name](path, rows, dim)
    next(reader)
    wall, before = time.perf_counter(), cpu()
    words, vectors = next(reader)
    taken = {"cpu": cpu() - before, "wall": time.perf_counter() - wall}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    assert vectors.dtype == np.float32
    assert len(words) == len(vectors)
    print(json.dumps({**taken, "peak": peak, "check": float(np.asarray(vectors[:1000], np.float64).sum())}))


def run(name: str, path: Path, rows: int, dim: int, environment: dict[str, str]) -> dict[str, float]:
    command = [sys.executable, __file__, "--measure", name, "--path", str(path), "--rows", str(rows), "--dim", str(dim)]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def best_of(repeat: int, path: Path, rows: int, dim: int, environment: dict[str, str]) -> dict[str, dict[str, float]]:
    """Run all readers in turn, several times, and keep the least that each took."""
    found: dict[str, dict[str, float]] = {}
    for _ in range(repeat):
        shutil.rmtree(environment["LNMAP_CACHE"], ignore_errors=True)
        for name in READERS:
            taken = run(name, path, rows, dim, environment)
            found[name] = min(taken, found.get(name, taken), key=lambda one: one["cpu"])
    return found


def compare(rows: int, dim: int, repeat: int, with_gensim: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "words.vec")
        make_file(path, rows, dim)
        time.sleep(2.5)  # a file changed a moment ago would be hashed again at the second reading
        environment = {**os.environ, "LNMAP_CACHE": str(Path(folder, "cache"))}
        print(f"{rows:,} x {dim} text, {path.stat().st_size / 1e6:.0f} MB\n")
        print("| reader | CPU s | wall s | peak MB | CPU / polars alone |\n|---|---|---|---|---|")
        found = best_of(repeat, path, rows, dim, environment)
        base = found["polars alone"]["cpu"]
        if with_gensim:
            found["gensim"] = run("gensim", path, rows, dim, environment)
            for field in ("cpu", "wall"):
                found["gensim"][field] *= GENSIM_SHARE
    for name, taken in found.items():
        label = f"gensim, {rows // GENSIM_SHARE:,} rows x {GENSIM_SHARE}" if name == "gensim" else name
        print(
            f"| {label} | {taken['cpu']:.2f} | {taken['wall']:.2f} | {taken['peak']:.0f} | {taken['cpu'] / base:.2f} |"
        )
    report(found)


def report(found: dict[str, dict[str, float]]) -> None:
    first, second = found["lnmap, first (fills cache)"], found["lnmap, second (from cache)"]
    loops = min(found["loop like MUSE's"]["cpu"], found["loop like VecMap's"]["cpu"])
    ratio = first["cpu"] / found["polars alone"]["cpu"]
    print(f"\nfirst reading / polars alone: {ratio:.2f} (target at most 1.30)")
    print(f"second reading: {second['cpu']:.2f} CPU s, {second['wall']:.2f} s (target under 0.50)")
    print(f"faster loop / first reading: {loops / first['cpu']:.1f} (target at least 4)")
    same = all(np.isclose(taken["check"], first["check"], rtol=1e-6) for taken in found.values())
    print(f"all readers gave the same numbers: {'yes' if same else 'NO'}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--dim", type=int, default=300)
    parser.add_argument("--repeat", type=int, default=3, help="take the least CPU time of this many runs")
    parser.add_argument("--gensim", action="store_true", help="time gensim too, on a tenth of the rows")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    parser.add_argument("--path", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        measure(given.measure, given.path, given.rows, given.dim)
    else:
        compare(given.rows, given.dim, given.repeat, given.gensim)


if __name__ == "__main__":
    main()
