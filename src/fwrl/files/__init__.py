"""The file format of saved agents and planners, and all-or-nothing writing."""

from fwrl.files.archive import Archive, check_archive, is_archive, open_archive, write_archive
from fwrl.files.atomic import check_folder, output_file, replaced, scratch_folder
from fwrl.files.locks import LockedError, locked

__all__ = [
    "Archive",
    "LockedError",
    "check_archive",
    "check_folder",
    "is_archive",
    "locked",
    "open_archive",
    "output_file",
    "replaced",
    "scratch_folder",
    "write_archive",
]
