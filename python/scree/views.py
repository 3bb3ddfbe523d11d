"""Views of memory that belongs to a world. A view works as an array as long as the world stands still and raises
afterwards, because other grains are in that memory then."""
from __future__ import annotations

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from scree.errors import StaleViewError


# Attributes of an array through which its memory would leave unguarded.
_DOORS = {"base", "ctypes", "data", "flags", "flat", "setflags"}


class View(NDArrayOperatorsMixin):
    """A read-only array without a copy, good until its world steps, loads, is reset or closed; then every use raises
    StaleViewError. Arithmetic, indexing and numpy's functions take it as an array and give plain arrays, which are
    copies and stay. `copy()` and `np.asarray` copy too."""

    __slots__ = ("_raw", "_generation", "_world")
    __array_priority__ = 1000

    def __init__(self, raw: np.ndarray, world):
        raw.flags.writeable = False
        self._raw, self._world, self._generation = raw, world, world._generation

    def _array(self) -> np.ndarray:
        if self._generation != self._world._generation:
            raise StaleViewError("the world has moved on since this view was taken: take it anew, or keep a copy()")
        self._world._check_idle()
        return self._raw

    def _keep(self, result):
        """What leaves a view shares no memory with it."""
        if isinstance(result, tuple):
            return tuple(self._keep(part) for part in result)
        if isinstance(result, np.ndarray) and np.may_share_memory(result, self._raw):
            return result.copy()
        return result

    def copy(self) -> np.ndarray:
        """A plain array that stays."""
        return self._array().copy()

    def __array__(self, dtype=None, copy=None):
        if copy is False:
            raise ValueError("a view hands out copies only: its memory changes when the world steps")
        return np.array(self._array(), dtype=dtype)

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        if any(isinstance(out, View) for out in kwargs.get("out", ())):
            raise ValueError("a view is read-only")
        return self._keep(getattr(ufunc, method)(*_plain(inputs), **_plain(kwargs)))

    def __array_function__(self, function, types, args, kwargs):
        return self._keep(function(*_plain(args), **_plain(kwargs)))

    def __getitem__(self, key):
        return self._keep(self._array()[_plain(key)])

    def __setitem__(self, key, value):
        raise ValueError("a view is read-only")

    def __len__(self) -> int:
        return len(self._array())

    def __iter__(self):
        return iter(self.copy())

    def __repr__(self) -> str:
        if self._generation != self._world._generation:
            return "<a view of a world that has moved on>"
        return f"View({self._raw!r})"

    def __getattr__(self, name):
        if name.startswith("_") or name in _DOORS:
            raise AttributeError(f"a view has no {name}: copy() has")
        found = getattr(self._array(), name)
        if callable(found):
            return lambda *args, **kwargs: self._keep(found(*_plain(args), **_plain(kwargs)))
        return self._keep(found)


def _plain(value):
    """Views in it replaced by their arrays, each checked."""
    if isinstance(value, View):
        return value._array()
    if type(value) in (list, tuple):
        return type(value)(_plain(part) for part in value)
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    return value
