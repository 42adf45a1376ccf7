"""What several test files look for."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def movingai_maps() -> Path:
    """The folder of published maps and scenarios that lies beside the project."""
    folder = Path(__file__).resolve().parents[1].parent / "shared" / "maps"
    if not folder.is_dir():
        pytest.skip("no shared/maps folder beside the project")
    return folder
