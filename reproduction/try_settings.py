"""Run the experiments: ``python -m reproduction.try_settings [names]``."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import asdict
from importlib import import_module

from benchmarks.store import Stored
from columnist.datasets import data_home
from reproduction.data import Data
from reproduction.experiments import EXPERIMENTS, FOLDER, Trial, groups

__all__ = ["main"]


def trials_of(name: str, data: Data) -> Iterator[Trial]:
    """Run an experiment."""
    run: Callable[[Data], Iterator[Trial]] = getattr(
        import_module(f"reproduction.{EXPERIMENTS[name]}"), name
    )
    return run(data)


def main() -> None:
    """Run experiments, store them, and say what the best settings give."""
    parser = argparse.ArgumentParser(prog="python -m reproduction.try_settings")
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join(EXPERIMENTS))
    for name in parser.parse_args().names or EXPERIMENTS:
        stored = Stored(name, FOLDER)
        stored.put(map(asdict, trials_of(name, Data(data_home()))), by=("group",))
        for group, found in groups(Trial(**row) for row in stored.rows).items():
            print(f"{name}, {group}: {found.best} gives {len(found.met)} of {found.size}")


if __name__ == "__main__":
    main()
