"""What can go wrong, as exceptions."""
from __future__ import annotations

from scree._scree import ffi, lib


class Error(Exception):
    """Base of all errors of scree. `file`, `line` and `column` say where, as far as it is known; `message` says what.
    str() is the line that the program would print."""

    def __init__(self, message: str, file: str | None = None, line: int | None = None, column: int | None = None):
        place = ":".join(str(part) for part in (file, line, column) if part)
        super().__init__(f"{place}: {message}" if place else message)
        self.message, self.file, self.line, self.column = message, file or None, line or None, column or None


class SimulationError(Error):
    """The simulation cannot go on: a blow-up, a solve that fails."""


class InputError(Error, ValueError):
    """A scene, mesh, checkpoint or other file is wrong."""


class ArgumentError(Error, ValueError):
    """A call was given something that it cannot work with."""


class OutputError(Error, OSError):
    """A file could not be written."""


class OutOfMemoryError(Error, MemoryError):
    """The machine, or the world's limit, has not enough memory."""


class ClosedError(Error):
    """The world was closed."""


class BusyError(Error):
    """Another thread is in the middle of a call on the same world."""


class StaleViewError(Error):
    """A view was used after the world had moved on. Take it anew, or copy what is to be kept."""


_KINDS = {lib.SCREE_FAILED: SimulationError, lib.SCREE_NO_MEMORY: OutOfMemoryError,
          lib.SCREE_BAD_ARGUMENT: ArgumentError, lib.SCREE_BAD_INPUT: InputError, lib.SCREE_CANNOT_WRITE: OutputError,
          lib.SCREE_INTERRUPTED: SimulationError}


def text(pointer) -> str:
    """A C string."""
    return ffi.string(pointer).decode("utf-8", "replace") if pointer != ffi.NULL else ""


def failure(error) -> Error:
    """The exception of a ScreeError."""
    return _KINDS.get(error.status, Error)(text(error.message), text(error.file), error.line, error.column)


def check(status: int, error) -> None:
    """Raises what the call has described."""
    if status != lib.SCREE_OK:
        if error.status == lib.SCREE_OK:
            error.status = status
        raise failure(error)
