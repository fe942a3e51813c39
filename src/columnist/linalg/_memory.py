"""Free memory, and a check before large allocations."""

from __future__ import annotations

import os


def check_memory(need: float, what: str, instead: str) -> None:
    """Raise unless ``need`` bytes are free; ``instead`` says what to do."""
    if need > available_memory():
        raise MemoryError(f"{what} needs about {need / 2**30:.1f} GB. {instead}")


def available_memory() -> int:
    """Bytes of free memory, or 4 GB if the system does not report it."""
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return 4 * 2**30
