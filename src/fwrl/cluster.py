"""Pools on Dask clusters: the only module that imports Dask.

An address names a running scheduler. `local:3` starts three worker processes on this computer and stops them with the
command. If a worker dies, Dask gives its tasks to others. Results must not depend on the worker, so we check that every
worker has the same code and libraries as this process: once before anything runs, and again with every task, because
workers may join later.

A worker runs one task at a time even if it has several threads: results stay in memory between tasks, and reading a log
uses the threads itself.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import math
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from fwrl.errors import FwrlError, OptionError
from fwrl.installed import installed
from fwrl.pool import Pool

T = TypeVar("T")
R = TypeVar("R")

LOCAL = re.compile(r"local:(\d+)")
SCHEDULER = re.compile(r"(?:(?:tcp|tls|ws|wss)://)?(\[[0-9a-f:]+\]|[^\s/:]+):(\d+)")
LAST_PORT = 65535
MOST_LOCAL = 1000  # workers
TIMEOUT = 5  # seconds a scheduler has to answer
ASKED = 1.0  # seconds between requests for the number of workers
STARTING = 120  # seconds the workers of a local cluster have to start
NAMED = 5  # workers listed in a message
LOGGERS = ("distributed", "distributed.client", "distributed.worker", "distributed.nanny", "tornado", "asyncio")
DEATHS = 5  # local workers that may die on a task before Dask first gives it up
WATCHED = "1s"  # how often Dask checks how busy processes are; its default, 20 ms, costs 4 % of a core for two workers
# The environment of local workers. Dask's default also returns freed memory immediately (MALLOC_TRIM_THRESHOLD_), so
# each large array gets new pages, and fits take a tenth longer.
ONE_THREAD = {"OMP_NUM_THREADS": 1, "MKL_NUM_THREADS": 1, "OPENBLAS_NUM_THREADS": 1}
GRAPH = "1 TiB"  # planners to merge are sent inside tasks, and Dask would warn about their size
ONE_TASK = threading.Lock()
# Local workers run this first: the command handles Ctrl-C, then stops them.
IGNORE_INTERRUPTS = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"


@contextlib.contextmanager
def cluster_pool(address: str) -> Iterator[Pool]:
    """Open a pool of the workers of a Dask cluster.

    Args:
        address: a scheduler's address such as `tcp://10.0.0.7:8786`, or `local:N` for N processes here.
    """
    found = LOCAL.fullmatch(address)
    if found is not None and not 1 <= int(found[1]) <= MOST_LOCAL:
        raise OptionError(f"expected a local cluster of 1 to {MOST_LOCAL} workers, got {address!r}")
    with _quiet(), contextlib.ExitStack() as stack:
        if found is None:
            _check_reachable(address)
        server = stack.enter_context(_local_cluster(int(found[1]))) if found else address
        client = stack.enter_context(_client(server))
        if found:
            client.wait_for_workers(int(found[1]), timeout=STARTING)
        refuse_other_versions(client, address)
        yield _pool(client, address)


def _check_reachable(address: str) -> None:
    """Raise if no scheduler answers at `address`.

    A Dask client would retry endlessly if nothing listens there, and wait for ever if something else does.
    """
    found = SCHEDULER.fullmatch(address)
    if found is None or int(found[2]) > LAST_PORT:
        raise OptionError(
            f"expected the address of a Dask scheduler, such as tcp://10.0.0.7:8786, or local:3, got {address!r}"
        )
    try:
        socket.create_connection((found[1].strip("[]"), int(found[2])), TIMEOUT).close()
        asyncio.run(asyncio.wait_for(_identity(address), TIMEOUT))
    except Exception as error:  # the network failed, or another protocol answered
        reason = getattr(error, "strerror", None) or _first_sentence(error)
        raise OptionError(
            f"no Dask scheduler answers at {address!r} ({reason}); start one with: dask scheduler"
        ) from error


async def _identity(address: str) -> None:
    _, distributed = _dask()
    options = distributed.Security().get_connection_args("client")
    async with distributed.rpc(address, connection_args=options) as scheduler:
        await scheduler.identity(n_workers=0)


def _pool(client: Any, address: str) -> Pool:
    _, distributed = _dask()
    return Pool(
        client.get_executor(pure=False),
        WorkerCount(client),
        f"workers of {address}",
        functools.partial(checked_call, installed()),
        (distributed.KilledWorker,),
        threads=min(client.nthreads().values()),
    )


class WorkerCount:
    """The current number of workers; asks the scheduler at most once a second."""

    def __init__(self, client: Any) -> None:
        self._client, self._asked, self._count = client, -math.inf, 0

    def __call__(self) -> int:
        """Return the current number."""
        if time.monotonic() - self._asked > ASKED:
            self._count = int(self._client.scheduler_info(n_workers=0)["n_workers"])
            self._asked = time.monotonic()
        return self._count


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Silence Dask: the command line reports progress and errors itself."""
    dask, _ = _dask()
    before = {name: logging.getLogger(name).level for name in LOGGERS}
    for name in LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    settings = {
        "distributed.admin.large-graph-warning-threshold": GRAPH,
        "distributed.scheduler.allowed-failures": DEATHS,
        "distributed.worker.profile.enabled": False,
        "distributed.admin.tick.interval": WATCHED,
        "distributed.admin.system-monitor.interval": WATCHED,
        "distributed.nanny.pre-spawn-environ": ONE_THREAD,
    }
    try:
        with dask.config.set(settings):
            yield
    finally:
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)


def _dask() -> tuple[Any, Any]:
    """Import `dask` and `distributed`, which are untyped."""
    try:
        import dask
        import distributed
    except ImportError as error:
        raise FwrlError(
            f"a cluster needs Dask, which isn't installed ({error}); install it with: pip install 'fwrl[cluster]'"
        ) from error
    return dask, distributed


@contextlib.contextmanager
def _local_cluster(workers: int) -> Iterator[Any]:
    _, distributed = _dask()
    cluster = distributed.LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",  # any free port: several clusters may run here
        preload=[IGNORE_INTERRUPTS],
        silence_logs=logging.CRITICAL,
    )
    try:
        yield cluster
    finally:
        cluster.close()


@contextlib.contextmanager
def _client(server: Any) -> Iterator[Any]:
    _, distributed = _dask()
    client = distributed.Client(server, timeout=TIMEOUT, set_as_default=False, name="fwrl")
    try:
        yield client
    finally:
        client.close(timeout=TIMEOUT)


def _first_sentence(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".") or type(error).__name__


def checked_call(expected: Mapping[str, str], function: Callable[[T], R], task: T) -> R:
    """Run a task on a worker; raise if the worker's versions differ from the `expected` ones."""
    if other := _differences(expected, installed()):
        raise FwrlError(_refusal([f"{_dask()[1].get_worker().name!r} has {other}"]))
    with ONE_TASK:
        return function(task)


def refuse_other_versions(client: Any, address: str) -> None:
    """Raise if a worker lacks fwrl or has different versions of it or its libraries; the message names the workers."""
    workers = client.scheduler_info(n_workers=-1)["workers"]
    if not workers:
        raise OptionError(f"the cluster at {address!r} has no workers; start some with: dask worker {address}")
    expected, odd = installed(), []

    # A nested function is sent as code, so a worker without fwrl can answer too.
    def ask() -> dict[str, str] | str:
        try:
            from fwrl.installed import installed

            return installed()
        except Exception as error:
            return str(error)

    for where, answer in sorted(client.run(ask).items()):
        other = f"no working fwrl ({answer})" if isinstance(answer, str) else _differences(expected, answer)
        if other:
            odd.append(f"{workers.get(where, {}).get('name', '')!r} at {where} has {other}")
    if odd:
        raise FwrlError(_refusal(odd))


def _refusal(odd: list[str]) -> str:
    more = f", and {len(odd) - NAMED} more" if len(odd) > NAMED else ""
    return f"worker {'; worker '.join(odd[:NAMED])}{more}; install the same versions there"


def _differences(expected: Mapping[str, str], found: Mapping[str, str]) -> str:
    """Describe which versions differ."""
    return ", ".join(
        f"{name} {found.get(name)} (here {version})" for name, version in expected.items() if found.get(name) != version
    )
