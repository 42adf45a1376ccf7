"""`python -m fwrl` does the same as `fwrl`. Ctrl-C also stops it cleanly during import and shutdown."""

from __future__ import annotations

import sys


def main() -> None:
    """Import and run the command line."""
    try:
        from fwrl.cli import main as command

        command()
    except KeyboardInterrupt:
        print("fwrl: stopped", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
