"""What all pages share: threads that do not hold up each other."""

from __future__ import annotations

import asyncio
import threading

from fwrl.web import shared
from fwrl.web.shared import SharedState


def test_a_compilation_holds_up_no_change(monkeypatch):
    compiled = threading.Event()
    monkeypatch.setattr(shared, "pending", lambda: True)
    monkeypatch.setattr(shared, "compile_pending", lambda: compiled.wait(60))

    async def change_while_compiling() -> int:
        state = SharedState()
        state.compile_while_showing()
        await asyncio.sleep(0)  # the compilation has begun
        try:
            return await asyncio.wait_for(state.build(max, 2, 3), timeout=20)
        finally:
            compiled.set()
            state.close()

    assert asyncio.run(change_while_compiling()) == 3
