"""Whatever the bytes, a reader gives vectors or one clear line."""

import gzip
import io
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from lnmap.embeddings import Embeddings
from lnmap.errors import LnmapError
from lnmap.io import read, write

fuzzing = settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
policies = st.sampled_from(["muse", "vecmap"])
limits = st.one_of(st.none(), st.integers(1, 4))

rng = np.random.default_rng(3)
EMBEDDINGS = Embeddings.from_arrays(["the", "Cat", "日本", "x"], rng.standard_normal((4, 3)))


def read_or_refuse(path, **options) -> None:
    refusal, found = "one line", None
    try:
        found = read(path, **options)
    except LnmapError as error:
        refusal = str(error)
    assert len(refusal.splitlines()) == 1
    if found is not None:
        assert len(found) == len(set(found.words)) >= 1
        assert np.isfinite(found.vectors).all()


@fuzzing
@given(st.binary(max_size=300), policies, limits)
@example(b"1 1\n", "muse", None)
@example(b"PK\x05\x06" + bytes(18), "muse", None)
@example(b"PK\x03\x04", "muse", None)
@example(b"\x1f\x8b", "muse", None)
@example(b"BZh91AY&SY", "muse", None)
@example(b"\xfd7zXZ\x00", "muse", None)
@example(b"\xba\x16\x4f\x2f", "muse", None)
@example(b"1 3\nw \x00\x00\x80\x7f", "muse", None)
@example(b"\r\r\r 1\n\x00 1\n", "muse", None)
def test_any_bytes(tmp_path, data, policy, limit):
    path = tmp_path / "any"
    path.write_bytes(data)
    read_or_refuse(path, policy=policy, limit=limit)


lines = st.text(st.sampled_from('01 .-e\t\r\nab"é\xa0'), max_size=60).map(str.encode)


@fuzzing
@given(st.sampled_from([b"", b"3 2\n", b"2 1 \r\n", b"\xef\xbb\xbf"]), lines, policies, limits)
def test_things_like_text(tmp_path, head, data, policy, limit):
    path = tmp_path / "any"
    path.write_bytes(head + data)
    read_or_refuse(path, policy=policy, limit=limit)


def samples() -> dict[str, bytes]:
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for kind, name in [
            ("vec", "vec"),
            ("vec", "a.gz"),
            ("vec", "a.xz"),
            ("vec", "a.bz2"),
            ("bin", "bin"),
            ("npz", "npz"),
        ]:
            path = Path(folder, name)
            write(EMBEDDINGS, path, kind)
            found[name] = path.read_bytes()
    buffer = io.BytesIO()
    np.savez_compressed(buffer, words=np.array(["a"]), vectors=np.eye(1))
    found["npz.packed"] = buffer.getvalue()
    found["bin.gz"] = gzip.compress(found["bin"])
    return found


SAMPLES = samples()
changes = st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), max_size=4)


@pytest.mark.parametrize("name", SAMPLES)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=changes, cut=st.integers(0, 10**6), policy=policies)
def test_damaged_files(tmp_path, name, changes, cut, policy):
    data = bytearray(SAMPLES[name])
    for place, value in changes:
        data[place % len(data)] = value
    path = tmp_path / "any"
    path.write_bytes(data if cut % 3 else data[: cut % len(data)])
    read_or_refuse(path, policy=policy)
