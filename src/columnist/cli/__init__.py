"""The command line: ``columnist select | apply | outliers | rank | compare | certify | clean | …``.

Importing this package loads nothing; :func:`main` loads Typer and Rich.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Parameters
    ----------
    arguments : sequence of str, optional
        Arguments after ``columnist``; those of this process by default.

    Returns
    -------
    int
        Exit code: 0 done, 1 the task failed, 2 bad input or usage.
    """
    try:
        from columnist.cli._app import run
    except KeyboardInterrupt:
        return 1
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("typer", "rich", "click"):
            raise
        print(
            f'error: the command line needs {error.name}: pip install "columnist[cli]"',
            file=sys.stderr,
        )
        return 2
    return run(arguments)
