"""Send a play page its updates as time passes: frames, curves, verdicts and counts of known pairs.

The driver owns three things. The lock is held while the session is read or changed. The wake-up event is set when
there is something to do. The dirty flag says that something changed since the last frame.

Agents are touched on the first shared thread, with the lock held. The oracle is asked on the second one. A frame is
sent only after the page has drawn the last one, so nothing queues behind a slow browser. If a page draws nothing for a
while (a hidden tab), its agents pause.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from time import perf_counter
from typing import Any

from fwrl.errors import FwrlError
from fwrl.web.page import Connection, DisconnectedError
from fwrl.web.play.match import work_time
from fwrl.web.play.session import Session
from fwrl.web.play.view import EpisodeOptimum, Promise, judge, verdict
from fwrl.web.shared import CutOffError, SharedState
from fwrl.worlds import World

FRAME_GAP = 1 / 62  # least seconds between frames
UNWATCHED = 2.0  # seconds without a drawn frame after which the agents pause


class Report:
    """Something that is computed and sent now and then: at most every `gap` seconds, with rests `busy` times as long.

    `due` says that it may have changed since.
    """

    def __init__(
        self, gap: float, compute: Callable[[], Awaitable[None]], wake: Callable[[], None], busy: float = 6.0
    ) -> None:
        self.due = False
        self.failure: CutOffError | None = None  # computing took too long
        self._gap, self._compute, self._wake, self._busy = gap, compute, wake, busy
        self._at = -1.0
        self._task: asyncio.Task[None] | None = None

    @property
    def pending(self) -> float | None:
        """The time at which to begin, None if nothing is due or it is being computed."""
        if not self.due or (self._task is not None and not self._task.done()):
            return None
        return self._at

    def begin(self) -> None:
        """Compute and send it in a task."""
        self.due = False
        self._task = asyncio.create_task(self._run())

    async def _run(self) -> None:
        begun = perf_counter()
        try:
            await self._compute()
        except CutOffError as error:
            self.failure = error
        except (FwrlError, DisconnectedError):  # no optimum is known, or nobody is there: others notice that, too
            pass
        ended = perf_counter()
        self._at = ended + max(self._gap, self._busy * (ended - begun))
        asyncio.get_running_loop().call_soon(self._wake)  # once the task is done: it may be due again

    def close(self) -> None:
        if self._task is not None:
            self._task.cancel()


class Driver:
    """The session of one page, and what it is sent as time passes."""

    session: Session

    def __init__(self, connection: Connection, shared: SharedState) -> None:
        self._connection, self._shared = connection, shared
        self.lock, self._wake, self.begun = asyncio.Lock(), asyncio.Event(), asyncio.Event()
        self._dirty = True
        self._drawn = True  # whether the page has drawn the last frame
        self._frame_at = -1.0  # when the last one was sent
        self.knowledge_shown = False
        self._curves = Report(0.2, self._send_curves, self._wake.set)
        self._verdicts = Report(0.25, self._send_verdicts, self._wake.set)
        self._knowledge = Report(0.7, self._send_knowledge, self._wake.set)
        self._judging = Report(0.0, self._judge, self._wake.set, busy=0.0)
        self._reports = (self._judging, self._curves, self._verdicts, self._knowledge)

    def use(self, session: Session) -> None:
        self.session = session
        self.begun.set()

    def close(self) -> None:
        for report in self._reports:
            report.close()

    def acknowledge(self, frame: int) -> None:
        if self.begun.is_set() and frame == self.session.frames:
            self._drawn = True
            self._wake.set()

    def touch(self) -> None:
        """Note that what is drawn has changed."""
        self._dirty = self._curves.due = self._verdicts.due = True
        self._knowledge.due = self.knowledge_shown
        self._wake.set()

    def ask_judge(self) -> None:
        """Have the episode settings in use judged; the answer for older settings is dropped."""
        self._judging.due = True
        self._wake.set()

    async def _judge(self) -> None:
        current = self.session.match
        optimum = await self._shared.build(judge, current.task, current.settings)
        async with self.lock:
            if self.session.match is current and self.session.set_optimum(optimum):
                self.touch()

    async def _send_verdicts(self) -> None:
        async with self.lock:
            match, optimum, world = self.session.match, self.session.match.optimum, self.session.worlds
            if optimum is None:
                return
            promises = await self._shared.work(match.promises)
        sides = await self._shared.build(_verdicts, match.world, optimum, promises)
        if match is self.session.match and match.optimum is optimum:
            marks = {"world": world, "goal": match.goal, "start": promises[0].state}
            await self._connection.send({"type": "verdict", **marks, "sides": sides})

    async def _send_knowledge(self) -> None:
        async with self.lock:
            message = await self._shared.work(self.session.knowledge_message)
        await self._connection.send(message)

    async def drive(self) -> None:
        """Let the agents take the steps that are due, and send what is due, until cancelled."""
        await self.begun.wait()
        while True:
            self._wake.clear()
            now = perf_counter()
            unwatched = not self._drawn and now - self._frame_at > UNWATCHED
            moved = not unwatched and await self._advance(now)
            now = perf_counter()
            for report in self._reports:
                if report.failure is not None:
                    raise report.failure
                if report.pending is not None and report.pending <= now:
                    report.begin()
            if self._drawn and self._dirty and now - self._frame_at >= FRAME_GAP:
                await self._send_frame(now)
            elif not moved:
                await self._sleep(now, unwatched)

    async def _advance(self, now: float) -> bool:
        """Let the agents take the steps that are due; returns whether there were any."""
        async with self.lock:
            session = self.session
            steps = session.due(now)
            if steps <= 0:
                return False
            self.touch()
            try:
                await self._shared.work(session.advance, steps, work_time)
            except CutOffError:
                raise
            except Exception as error:  # the failure of an agent must not end its page
                session.play(False)
                await self._connection.send_error(f"the agents stopped: {error}")
            if session.playing and session.match.finished:
                session.play(False)
            if not session.playing:
                await self._connection.send(session.state_message())
            return True

    async def _send_frame(self, now: float) -> None:
        async with self.lock:
            self._dirty = self._drawn = False
            self._frame_at = now
            await self._connection.send_frame(await self._shared.work(self.session.frame))

    async def _send_curves(self) -> None:
        async with self.lock:
            curves = await self._shared.work(self.session.curve_message)
        if curves is not None:
            await self._connection.send(curves)

    async def _sleep(self, now: float, unwatched: bool) -> None:
        """Sleep until something is due or the wake-up event is set."""
        due = [report.pending for report in self._reports if report.pending is not None]
        if self._drawn and self._dirty:
            due.append(self._frame_at + FRAME_GAP)
        if self.session.moving and not unwatched:
            due.append(now + self.session.delay(now))
            if not self._drawn:
                due.append(self._frame_at + UNWATCHED)
        timeout = max(0.0, min(due) - now) + 0.001 if due else None
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                await self._wake.wait()


def _verdicts(world: World, optimum: EpisodeOptimum, promises: list[Promise]) -> list[dict[str, Any]]:
    return [verdict(world, optimum, promise) for promise in promises]
