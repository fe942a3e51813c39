"""Files appear whole or not at all."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["atomic_folder", "atomic_path"]


@contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Write to a temporary neighbour that takes the place of ``path`` at the end.

    Parameters
    ----------
    path : str or path
        The file to write; its folder must exist. A symbolic link is followed.

    Yields
    ------
    Path
        An empty temporary file in the same folder, with the same extensions. It is moved to
        ``path`` when the block ends well and removed when it raises: then an older file at
        ``path`` stays as it was.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from columnist.io import atomic_path
    >>> with TemporaryDirectory() as folder:
    ...     with atomic_path(Path(folder) / "note.txt") as temporary:
    ...         _ = temporary.write_text("done")
    ...     (Path(folder) / "note.txt").read_text()
    'done'
    """
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(f"{path} is a folder, not a file.")
    handle, name = tempfile.mkstemp(
        prefix=f".{target.name[:40]}.", suffix="".join(target.suffixes[-2:]), dir=target.parent
    )
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        os.chmod(temporary, mode_of(target))
        sync(temporary)
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    with suppress(OSError):  # not every file system lets a folder be synchronised
        sync(target.parent)


@contextmanager
def atomic_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """The same for a folder: an older one at ``path`` stays until the new one is complete.

    Parameters
    ----------
    path : str or path
        The folder to write; the one around it must exist.

    Yields
    ------
    Path
        An empty temporary folder next to it.
    """
    target = Path(os.path.realpath(path))
    temporary = Path(tempfile.mkdtemp(prefix=f".{target.name[:40]}.", dir=target.parent))
    older = temporary.with_name(f"{temporary.name}.older")
    try:
        yield temporary
        os.chmod(temporary, mode_of(target, 0o777))
        if target.exists():
            os.rename(target, older)
        os.rename(temporary, target)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        if older.exists() and not target.exists():
            os.rename(older, target)
        raise
    shutil.rmtree(older, ignore_errors=True)


def mode_of(target: Path, usual: int = 0o666) -> int:
    """Permissions of the file that is replaced, or those a new file would get."""
    with suppress(FileNotFoundError):
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return usual & ~mask


def sync(path: Path) -> None:
    """Wait until a file or folder is on disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
