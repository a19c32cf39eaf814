"""numpy archives with the arrays `words` and `vectors`; nothing is ever unpickled."""

from __future__ import annotations

from typing import Any

import numpy as np

from lnmap.errors import InputError, VectorFileError
from lnmap.io.collect import Collector
from lnmap.io.formats.reader import Reader
from lnmap.io.memory import add_arrays
from lnmap.io.source import ByteSource


class NpzReader(Reader):
    """Read two arrays."""

    format = "npz"

    @classmethod
    def recognise(cls, source: ByteSource) -> Reader | None:
        """Recognise a zip archive of arrays."""
        return cls(source) if source.is_npz else None

    def read(self, collector: Collector) -> dict[str, Any]:
        """Add all rows at once."""
        path = self.source.path
        try:
            with np.load(path, allow_pickle=False) as archive:
                found = sorted(archive.files)
                if not {"words", "vectors"} <= set(found):
                    raise VectorFileError(f"{path} holds the arrays {found}; expected 'words' and 'vectors'")
                words, vectors = archive["words"], archive["vectors"]
        except VectorFileError:
            raise
        except Exception as error:  # numpy raises many kinds for a broken archive
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise VectorFileError(
                f"cannot read {path} as a numpy archive ({reason}); save it again with numpy.savez"
            ) from error
        try:
            add_arrays(words, vectors, collector)
        except InputError as error:
            raise VectorFileError(f"{path}: {error}") from error
        return {"lines": len(words)}
