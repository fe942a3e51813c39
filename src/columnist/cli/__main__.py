"""``python -m columnist.cli``."""

import sys

from columnist.cli import main

if __name__ == "__main__":
    sys.exit(main())
