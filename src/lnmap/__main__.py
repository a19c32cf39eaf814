"""Run the command line: `python -m lnmap` is the command `lnmap`."""

from __future__ import annotations

import sys

from lnmap.cli import main

if __name__ == "__main__":
    sys.exit(main())
