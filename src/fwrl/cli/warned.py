"""Print fwrl's warnings as single lines, without the source line that issued them."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator

import typer

from fwrl.errors import FwrlWarning


@contextlib.contextmanager
def told_warnings() -> Iterator[None]:
    """Print fwrl's warnings on standard error, and pass other warnings on."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        if issubclass(warning.category, FwrlWarning):
            typer.echo(f"fwrl: {warning.message}", err=True)
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
