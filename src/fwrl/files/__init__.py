"""The saved format of agents and planners, and files that are written all or nothing."""

from fwrl.files.archive import Archive, check_archive, is_archive, open_archive, write_archive
from fwrl.files.atomic import Partials, check_folder, output_file, partial_results, replaced, scratch_folder
from fwrl.files.locks import LockedError, locked

__all__ = [
    "Archive",
    "LockedError",
    "Partials",
    "check_archive",
    "check_folder",
    "is_archive",
    "locked",
    "open_archive",
    "output_file",
    "partial_results",
    "replaced",
    "scratch_folder",
    "write_archive",
]
