"""What pyproject.toml asks for, as pip reads it: the only list of requirements there is.

::

    python tools/requirements.py build lint   # what a build needs, and a group of tools
    python tools/requirements.py test         # an extra, without the package itself
    python tools/requirements.py --oldest     # every stated lower bound, as constraints
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"
REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)(\[(?P<extras>[^]]*)\])?\s*(>=\s*(?P<oldest>[\w.]+))?")


def main(arguments: list[str] | None = None) -> int:
    """Print one requirement per line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="build, a group or an extra")
    parser.add_argument("--oldest", action="store_true", help="lower bounds, as constraints")
    options = parser.parse_args(arguments)
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))
    try:
        lines = oldest(project) if options.oldest else named(project, options.names)
    except KeyError as error:
        parser.error(f"pyproject.toml has no extra and no group {error}")
    print("\n".join(lines))
    return 0


def named(project: dict, names: list[str]) -> list[str]:
    """Requirements of extras and groups, those of the package itself included in extras."""
    lines: dict[str, None] = {}
    for name in names:
        lines.update(dict.fromkeys(_one(project, name)))
    return list(lines)


def oldest(project: dict) -> list[str]:
    """Every lower bound of the package, its extras and its build, as an exact version."""
    extras = project["project"]["optional-dependencies"]
    lines = list(project["project"]["dependencies"]) + _build(project)
    for name in extras:
        lines += _extra(project, name)
    bounds: dict[str, str] = {}
    for line in lines:
        name, bound = _bound(line)
        if bounds.setdefault(name, bound) != bound:
            raise ValueError(f"{name}: bounds {bounds[name]} and {bound} differ")
    lines = [f"{name}=={bound}" for name, bound in bounds.items()]
    return sorted(lines + project["dependency-groups"]["oldest"])


def _one(project: dict, name: str) -> list[str]:
    if name == "build":
        return _build(project)
    if name in project["dependency-groups"]:
        return list(project["dependency-groups"][name])
    return list(project["project"]["dependencies"]) + list(_extra(project, name))


def _build(project: dict) -> list[str]:
    return project["build-system"]["requires"] + project["dependency-groups"]["build"]


def _extra(project: dict, name: str) -> Iterator[str]:
    """Requirements of an extra; an extra of the package itself stands for its own."""
    for line in project["project"]["optional-dependencies"][name]:
        found = _parsed(line)
        if found["name"] == project["project"]["name"]:
            for other in found["extras"].split(","):
                yield from _extra(project, other.strip())
        else:
            yield line


def _bound(line: str) -> tuple[str, str]:
    found = _parsed(line)
    if found["oldest"] is None:
        raise ValueError(f"{line!r} states no lower bound")
    return found["name"], found["oldest"]


def _parsed(line: str) -> re.Match[str]:
    found = REQUIREMENT.fullmatch(line.strip())
    if found is None:
        raise ValueError(f"{line!r} is not of the form name[extras]>=version")
    return found


if __name__ == "__main__":
    sys.exit(main())
