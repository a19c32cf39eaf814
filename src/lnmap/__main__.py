"""Run the command line: `lnmap`, and `python -m lnmap`."""

from __future__ import annotations

import sys


def main() -> int:
    """Load the command line and run it; Ctrl-C while it loads is no error to trace."""
    try:
        from lnmap import cli
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr)  # noqa: T201
        return 130
    return cli.main()


if __name__ == "__main__":
    sys.exit(main())
