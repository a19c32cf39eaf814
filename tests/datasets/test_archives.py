"""Archives from the network: those that lead out of their folder, link elsewhere or never end are refused."""

from __future__ import annotations

import io
import tarfile
import zipfile

import pytest

from lnmap.datasets.archives import gunzip, read_member
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


def test_members_are_found_by_the_end_of_their_path(tmp_path):
    archive = tar(tmp_path / "a.tar.gz", tarfile.TarInfo("x/one.txt"), tarfile.TarInfo("two.txt"))
    assert read_member(archive, "one.txt") == read_member(archive, "x/one.txt") == b"a b\n"
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as made:
        made.writestr("copy/deep/three.txt", "copy\n")
        made.writestr("deep/three.txt", "c d\n")
        made.writestr("deep/twenty-three.txt", "other\n")
        made.write(archive, "inner.tar.gz")
    assert read_member(tmp_path / "a.zip", "three.txt") == b"c d\n"
    assert read_member(tmp_path / "a.zip", "inner.tar.gz", "two.txt") == b"a b\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.tar.gz", "a.zip"]  # nothing is ever written


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
        read_member(archive, "good.txt")


@pytest.mark.parametrize("name", ["../one.txt", "/one.txt", "..\\one.txt", "link"])
def test_unsafe_zip_is_refused_whole(tmp_path, name):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("good.txt", "a b\n")
        info = zipfile.ZipInfo(name)
        info.external_attr = (0xA1FF if name == "link" else 0x81A4) << 16
        archive.writestr(info, "/etc/passwd")
    with pytest.raises(DownloadError, match=r"outside its folder|link or device"):
        read_member(tmp_path / "a.zip", "good.txt")


def test_bomb_is_stopped(tmp_path):
    archive = tar(tmp_path / "a.tar.gz", tarfile.TarInfo("big.txt"), data=bytes(3_000_000))
    assert archive.stat().st_size < 10_000
    with pytest.raises(DownloadError, match="more than 1 MB"):
        read_member(archive, "big.txt", most_bytes=1 << 20)


def test_too_many_members(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for number in range(10_001):
            archive.writestr(f"{number}", b"")
    with pytest.raises(DownloadError, match="more than 10,000 files"):
        read_member(tmp_path / "a.zip", "1")


@pytest.mark.parametrize("data", [b"", b"nothing of the kind", b"\x1f\x8b\x08broken", b"PK\x03\x04broken"])
def test_garbage(tmp_path, data):
    (tmp_path / "a.tar.gz").write_bytes(data)
    with pytest.raises(DownloadError, match=r"a\.tar\.gz (cannot be unpacked|holds no)"):
        read_member(tmp_path / "a.tar.gz", "x")


def test_broken_gzip():
    with pytest.raises(ValueError, match="broken gzip"):
        gunzip(b"\x1f\x8b\x08broken")


def test_missing_member(tmp_path):
    archive = tar(tmp_path / "a.tar.gz", tarfile.TarInfo("one.txt"))
    with pytest.raises(DownloadError, match=r"holds no two\.txt"):
        read_member(archive, "two.txt")
