"""The folder of the data files."""

from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = ["data_home"]


def data_home(path: str | os.PathLike | None = None) -> Path:
    """Folder where data sets are looked for, and where downloads go.

    Files lie at ``<folder>/<set>/<file>``. The folder need not exist.

    Parameters
    ----------
    path : path or None, default=None
        The folder, if you know it. Otherwise the environment variable ``COLUMNIST_DATA`` names
        it; without that it is ``columnist`` in the user's cache: ``XDG_CACHE_HOME`` if set, else
        ``~/.cache``, ``~/Library/Caches`` (macOS) or ``%LOCALAPPDATA%`` (Windows).

    Returns
    -------
    pathlib.Path

    Examples
    --------
    >>> from columnist.datasets import data_home
    >>> data_home("data").name
    'data'
    """
    named = path if path is not None else os.environ.get("COLUMNIST_DATA")
    return Path(named).expanduser() if named else user_cache() / "columnist"


def user_cache() -> Path:
    """Where the platform keeps what programs can fetch again."""
    if named := os.environ.get("XDG_CACHE_HOME"):
        return Path(named).expanduser()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    return Path.home() / ".cache"
