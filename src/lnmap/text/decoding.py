"""Bytes to characters: the encoding of a text, whatever the person who named it knew of single files."""

from __future__ import annotations

import codecs

from lnmap.errors import InputError

_UTF8 = ("utf-8", "utf-8-sig")
_WIDE = ("utf-16", "utf-32")  # how their names begin; they have zero bytes in plain text
_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


def checked(encoding: str) -> str:
    """Return the name of an encoding that there is."""
    try:
        return codecs.lookup(encoding).name
    except LookupError as error:
        raise InputError(f"there is no encoding {encoding!r}; utf-8, windows-1252 and iso-8859-2 are some") from error


def is_binary(head: bytes, encoding: str) -> bool:
    """Whether a file that begins so is no text."""
    wide = checked(encoding).startswith(_WIDE) or head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return b"\0" in head and not wide


class Decoder:
    """Decode a text block by block: as UTF-8 where it is that, else by the encoding that was named.

    Other encodings hardly ever make valid UTF-8 with letters beyond ASCII: the first block with such letters decides.

    :param head: the first bytes, which may hold a byte-order mark.
    :ivar encoding: the one that is used.
    :ivar chosen: whether it is UTF-8 although another one was named.
    """

    def __init__(self, head: bytes, encoding: str) -> None:
        marked = next((name for mark, name in _MARKS.items() if head.startswith(mark)), None)
        self.encoding = marked or encoding
        self.chosen = False
        self._open = marked is None and checked(encoding) not in _UTF8
        self._decoder = codecs.getincrementaldecoder(checked(self.encoding))("replace")

    def decode(self, block: bytes, final: bool = False) -> str:
        """Return the characters of the next bytes; damaged ones become U+FFFD."""
        if self._open and not block.isascii():
            self._open = False
            if _is_utf8(block):
                self.chosen, self.encoding = True, "utf-8"
                self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        return self._decoder.decode(block, final)


def _is_utf8(block: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(block)
    except UnicodeDecodeError:
        return False
    return True
