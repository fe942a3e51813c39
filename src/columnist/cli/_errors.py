"""Exceptions as one line on standard error and an exit code."""

from __future__ import annotations

import os
import re
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from columnist.cli._text import visible

FAILED, BAD_INPUT = 1, 2

# Names in messages of the library, and the options of the command line that correspond to them.
_WORDS: tuple[tuple[str, str], ...] = (
    (r"\bheader=False", "--no-header"),
    (r"\bn_features_to_select='auto'", "-k auto"),
    (r"\bnon_numeric='(\w+)'", r"--non-numeric \1"),
    (r"\bColumnSelector\(missing='covariance'\)", "select --missing covariance"),
    (r"\bmissing='(\w+)'", r"--missing \1"),
    (r"\bformat='(\w+)'", r"--format \1"),
    (r"\bsearch='(\w+)'", r"--search \1"),
    (r"\btarget='X'", "--explain X"),
    (r"\btarget='y'", "--explain y"),
    (r"\bids=", "--id"),
    (r"(?<=') \(ids\)", ""),
    (r"(?<=' )\((target|drop)\)", r"(--\1)"),
    (r"(?<!['\w])tol\b(?=,| must)", "--tol"),
    (r", or an instance of columnist\.criteria\.Criterion\b", ""),
    (r"\blist_datasets\(\) has all\b", "columnist data list shows all"),
    (r"\b(header|drop|target|variable|format|delimiter)=(True|None)?(?!\w)", r"--\1"),
    (r"\bn_features_to_select\b", "-k"),
    (r"\btime_limit\b", "--time-limit"),
    (r"\bn_components=(\d+)", r"--components \1"),
    (r"\bn_components\b", "the number of components"),
    (r"\bn_outliers\b", "the number of outliers"),
    (r"\bmax_features\b", "--path"),
    (r"\bmax_gap\b", "--max-gap"),
    (r"\bn_solutions\b", "--solutions"),
    (r"\bsolution_tol\b", "--tolerance"),
    (r"\brandom_state\b", "--seed"),
    (r"\bsample_weight\b", "--weight"),
    (r"\bn_jobs\b", "--jobs"),
)


class BadInput(ValueError):
    """An input or option that cannot be used; the message says what to do."""


class Failed(Exception):
    """The task was understood but failed; the message says how."""


def guarded(work: Callable[[], Any]) -> int:
    """Run a command and return its exit code; 0 if it returns none."""
    try:
        return work() or 0
    except BrokenPipeError:
        return _reader_left()
    except (KeyboardInterrupt, EOFError):
        say_error("interrupted before anything was found; nothing was written")
        return FAILED
    except Failed as error:
        say_error(str(error))
        return FAILED
    except OSError as error:
        reason = in_options(error.strerror or str(error))
        return _bad(error, f"{error.filename}: {reason}" if error.filename else reason)
    except MemoryError as error:
        return _bad(error, in_options(f"not enough memory. {error}"))
    except BadInput as error:
        return _bad(error, str(error))
    except (ValueError, TypeError, ImportError) as error:
        return _bad(error, in_options(str(error) or type(error).__name__))
    except Exception as error:
        # Typer's own ways to end a command and to refuse an option pass through.
        if type(error).__module__.partition(".")[0] in ("typer", "click"):
            raise
        how = "this is a bug; run again with COLUMNIST_DEBUG=1 to see where"
        return _bad(error, f"unexpected {type(error).__name__}: {error} ({how})", FAILED)


def say_error(message: str) -> None:
    """One line on standard error."""
    text = " ".join(visible(part) for part in message.split())
    print(f"error: {text}", file=sys.stderr, flush=True)


def in_options(message: str) -> str:
    """A message of the library in terms of the command line."""
    for pattern, words in _WORDS:
        message = re.sub(pattern, words, message)
    return message


def _bad(error: BaseException, message: str, code: int = BAD_INPUT) -> int:
    if os.environ.get("COLUMNIST_DEBUG", "") not in ("", "0"):
        traceback.print_exception(error)
    say_error(message)
    return code


def _reader_left() -> int:
    """The reader of a pipe has closed it: end without a message."""
    quiet = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            with suppress(OSError, ValueError):
                os.dup2(quiet, stream.fileno())
    return 0
