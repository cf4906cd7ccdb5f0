"""`trainferry`, and `python -m trainferry` where its script is not on the PATH."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command; Ctrl-C while it is still being imported ends it without a word."""
    try:
        from trainferry.cli.main import main as run

        return run()
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
