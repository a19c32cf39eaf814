"""Archives from the network: what would leave the folder, link elsewhere or never end is refused."""

from __future__ import annotations

import io
import tarfile
import zipfile

import pytest

from lnmap.datasets.unpack import unpack
from lnmap.errors import DownloadError


def tar(path, *members: tarfile.TarInfo, data: bytes = b"a b\n"):
    with tarfile.open(path, "w:gz") as archive:
        for member in members:
            member.size = len(data) if member.isfile() else 0
            archive.addfile(member, io.BytesIO(data) if member.isfile() else None)
    return path


def special(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def test_wanted_files_are_written_and_no_others(tmp_path):
    out = tmp_path / "out"
    archive = tar(tmp_path / "a.tar.gz", tarfile.TarInfo("x/one.txt"), tarfile.TarInfo("two.txt"))
    unpack(archive, out, ["one.txt"])
    assert [path.name for path in out.iterdir()] == ["one.txt"]
    assert (out / "one.txt").read_bytes() == b"a b\n"
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as made:
        made.writestr("deep/three.txt", "c d\n")
    unpack(tmp_path / "a.zip", out, ["three.txt"])
    assert (out / "three.txt").read_bytes() == b"c d\n"


@pytest.mark.parametrize(
    "member",
    [
        tarfile.TarInfo("../one.txt"),
        tarfile.TarInfo("a/../../one.txt"),
        tarfile.TarInfo("/tmp/one.txt"),
        tarfile.TarInfo("C:\\one.txt"),
        special("one.txt", tarfile.SYMTYPE, "/etc/passwd"),
        special("one.txt", tarfile.LNKTYPE, "../secret"),
        special("one.txt", tarfile.CHRTYPE),
        special("one.txt", tarfile.FIFOTYPE),
    ],
    ids=["up", "up-inside", "absolute", "drive", "symlink", "hardlink", "device", "pipe"],
)
def test_unsafe_tar_is_refused_whole(tmp_path, member):
    archive = tar(tmp_path / "a.tar.gz", tarfile.TarInfo("good.txt"), member)
    with pytest.raises(DownloadError, match=r"outside its folder|link or device"):
        unpack(archive, tmp_path / "out", ["good.txt"])
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["../one.txt", "/one.txt", "..\\one.txt", "link"])
def test_unsafe_zip_is_refused_whole(tmp_path, name):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("good.txt", "a b\n")
        info = zipfile.ZipInfo(name)
        info.external_attr = (0xA1FF if name == "link" else 0x81A4) << 16
        archive.writestr(info, "/etc/passwd")
    with pytest.raises(DownloadError, match=r"outside its folder|holds a link"):
        unpack(tmp_path / "a.zip", tmp_path / "out", ["good.txt"])
    assert not (tmp_path / "out").exists()


def test_bomb_is_stopped(tmp_path):
    archive = tar(tmp_path / "a.tar.gz", tarfile.TarInfo("big.txt"), data=bytes(3_000_000))
    assert archive.stat().st_size < 10_000
    with pytest.raises(DownloadError, match="more than it may"):
        unpack(archive, tmp_path / "out", ["big.txt"], most_bytes=1_000_000)
    assert not list((tmp_path / "out").iterdir())


@pytest.mark.parametrize("data", [b"", b"nothing of the kind", b"\x1f\x8b\x08broken", b"PK\x03\x04broken"])
def test_garbage(tmp_path, data):
    (tmp_path / "a.tar.gz").write_bytes(data)
    with pytest.raises(DownloadError, match=r"cannot be unpacked|holds no"):
        unpack(tmp_path / "a.tar.gz", tmp_path / "out", ["x"])


def test_missing_member(tmp_path):
    archive = tar(tmp_path / "a.tar.gz", tarfile.TarInfo("one.txt"))
    with pytest.raises(DownloadError, match=r"holds no two\.txt"):
        unpack(archive, tmp_path / "out", ["two.txt"])
