"""Sweeps: independent simulations on several engines at the same time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from typing import TypeVar

from ..engine import Gpus, adapters, selected_gpus
from .engine import AnyEngine, Engine, OpenEngine, open_engine

Point = TypeVar("Point")
Result = TypeVar("Result")

AHEAD = 4
"""How many points of each engine are begun before their results are needed."""


def gpus(selection: Gpus = "all") -> list[Engine]:
    """Returns an engine for each GPU of a selection: ``"all"``, their number, or a list of indices or names.

    :raises kvrm.EngineError: the host has no such GPUs.
    """
    return [Engine("gpu", str(index)) for index in selected_gpus(selection)]


def sweep(
    run: Callable[[Point, OpenEngine], Result], points: Iterable[Point], engines: Iterable[AnyEngine] | None = None
) -> Iterator[Result]:
    """Calls a function for each point, such as a seed or parameters, on several engines at the same time, and yields the results in
    the order of the points.

    Each engine takes the next point when it is ready. Results do not depend on the number of engines, as a network gives the
    same spikes on each. Points are read only a few ahead of the caller.

    >>> from kvrm.spiking import Simulation, networks, sweep
    >>> def rate(seed, engine):
    ...     simulation = Simulation(networks.vogels_abbott(neurons=400, seed=seed), engine)
    ...     simulation.record()
    ...     simulation.run(1000)
    ...     return simulation.rates().mean()
    >>> [round(float(value), 2) for value in sweep(rate, [1, 2, 3], engines=["reference"] * 2)]
    [13.25, 13.5, 13.55]

    :param run: it gets a point and an engine, in one of several threads.
    :param engines: the engines, each of which runs one point at a time. By default they are all GPUs, or all cores of the CPU if
        there is none. With a GPU twice, the host prepares a network while another one runs; with ``["reference"] * n``, ``n`` cores
        run a network each.
    :raises kvrm.EngineError: an engine cannot be opened.
    :raises Exception: what the function raises for the first point that fails. No point is begun afterwards.
    """
    if engines is None:
        has_gpu = any(adapter.can_run_lanes and adapter.kind != "software" for adapter in adapters())
        engines = gpus() if has_gpu else [Engine("parallel")]
    opened = [open_engine(engine) for engine in engines]
    if not opened:
        raise ValueError("engines: expected at least one")
    return _results(run, iter(points), opened)


def _results(
    run: Callable[[Point, OpenEngine], Result], points: Iterator[Point], engines: list[OpenEngine]
) -> Iterator[Result]:
    free: SimpleQueue[OpenEngine] = SimpleQueue()
    for engine in engines:
        free.put(engine)

    def run_on_next(point: Point) -> Result:
        # There are as many threads as engines.
        engine = free.get()
        try:
            return run(point, engine)
        finally:
            free.put(engine)

    pool = ThreadPoolExecutor(len(engines), "kvrm-sweep")
    begun: deque[Future[Result]] = deque()
    try:
        for point in points:
            begun.append(pool.submit(run_on_next, point))
            if len(begun) == AHEAD * len(engines):
                yield begun.popleft().result()
        while begun:
            yield begun.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)
