"""Workers in processes of their own: an interrupt needs a main thread, a crash must not end all."""

from __future__ import annotations

import multiprocessing
import queue
import time
from collections.abc import Callable

from tests.soak.work import Plan, Report, work

__all__ = ["share"]

# A worker that is silent for so many seconds hangs: no problem may take that long.
_SILENCE = 300.0


def share(
    plans: list[Plan], tell: Callable[[Report], object], lose: Callable[[str], object]
) -> None:
    """Let every plan run in a process of its own.

    ``tell`` gets the reports; ``lose`` a message about every worker that died or hangs.
    """
    context = multiprocessing.get_context("spawn")
    news = context.Queue()
    places = [context.Value("q", 0) for _ in plans]
    workers = [
        # No daemons: those may not have workers of their own, which n_jobs asks for.
        context.Process(target=_worker, args=(plan, news, place))
        for plan, place in zip(plans, places, strict=True)
    ]
    for worker in workers:
        worker.start()
    heard = {i: time.monotonic() for i in range(len(workers))}
    while heard:
        try:
            i, report = news.get(timeout=1.0)
        except queue.Empty:
            _look_after(workers, places, heard, lose)
            continue
        if report is None:
            heard.pop(i, None)
        else:
            heard[i] = time.monotonic()
            tell(report)


def _look_after(workers, places, heard: dict[int, float], lose) -> None:
    """Workers that died or hang."""
    for i in list(heard):
        hangs = time.monotonic() > heard[i] + _SILENCE
        if workers[i].is_alive() and not hangs:
            continue
        what = "hangs" if hangs else f"died with status {workers[i].exitcode}"
        lose(f"a worker {what} at problem {places[i].value}")
        workers[i].kill()
        heard.pop(i)


def _worker(plan: Plan, news, place) -> None:
    parent = multiprocessing.parent_process()

    def started(index: int) -> None:
        place.value = index
        if parent is not None and not parent.is_alive():
            raise SystemExit("nobody listens any more")

    work(plan, lambda report: news.put((plan.first, report)), started)
    news.put((plan.first, None))
