"""From a Python function to a command: groups of options, and exceptions as exit codes."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints

import typer

from columnist.cli._errors import guarded

__all__ = ["command", "examples"]


def command(function: Callable[..., Any]) -> Callable[..., None]:
    """The function as Typer takes it.

    A parameter whose type is a dataclass stands for all its fields, so that commands share groups
    of options without repeating them. What the function raises becomes one line and an exit code.
    """
    hints = get_type_hints(function, include_extras=True)
    hints.pop("return", None)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    parameters = []
    for name, parameter in inspect.signature(function).parameters.items():
        if name in groups:
            parameters += _parameters_of(groups[name])
        else:
            keyword = inspect.Parameter.KEYWORD_ONLY
            parameters.append(parameter.replace(annotation=hints[name], kind=keyword))

    @wraps(function)
    def run(**values: Any) -> None:
        for name, group in groups.items():
            values[name] = group(**{f.name: values.pop(f.name) for f in fields(group)})
        code = guarded(lambda: function(**values))
        if code:
            raise typer.Exit(code)

    del run.__wrapped__
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined] # see inspect
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    return run


def _parameters_of(group: type) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            f.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=_default_of(f),
            annotation=hints[f.name],
        )
        for f in fields(group)
    ]


def _default_of(f) -> Any:
    if f.default is not MISSING:
        return f.default
    return f.default_factory() if f.default_factory is not MISSING else inspect.Parameter.empty


def examples(*lines: str, after: str = "") -> str:
    """The end of a help page: what to type, one example per line."""
    brackets = [line.replace("[", r"\[") for line in lines]
    parts = ["[bold]Examples[/bold]", *(f"  {line}" for line in brackets)]
    return "\n\n".join([*parts, *([" ", after] if after else [])])
