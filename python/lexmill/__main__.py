"""`python -m lexmill` is the command `lexmill`."""

import sys

from lexmill.cli import main

if __name__ == "__main__":
    sys.exit(main())
