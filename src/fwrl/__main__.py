"""`python -m fwrl` is `fwrl`."""

from fwrl.cli import main

if __name__ == "__main__":
    main()
