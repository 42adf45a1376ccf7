"""The saved format of agents and planners."""

from fwrl.files.archive import Archive, check_archive, is_archive, open_archive, write_archive
from fwrl.files.atomic import replaced

__all__ = ["Archive", "check_archive", "is_archive", "open_archive", "replaced", "write_archive"]
