"""The two kinds of spaces that the environments have: gymnasium's where it is installed, else these of the same shape."""
from __future__ import annotations

import numpy as np

try:
    from gymnasium.spaces import Box, Dict
except ImportError:
    class Box:  # type: ignore[no-redef]
        """Arrays between two bounds."""

        def __init__(self, low, high, shape=None, dtype=np.float32):
            self.dtype = np.dtype(dtype)
            self.shape = tuple(shape) if shape is not None else np.shape(low)
            self.low = np.broadcast_to(np.asarray(low, self.dtype), self.shape)
            self.high = np.broadcast_to(np.asarray(high, self.dtype), self.shape)
            self._random = np.random.default_rng()

        def seed(self, seed=None):
            """Starts the random numbers of sample()."""
            self._random = np.random.default_rng(seed)

        def sample(self):
            """A random element."""
            low, high = np.nan_to_num(self.low, neginf=-1e3), np.nan_to_num(self.high, posinf=1e3)
            return self._random.uniform(low, high).astype(self.dtype)

        def contains(self, x) -> bool:
            """Whether x is an element."""
            x = np.asarray(x)
            return x.shape == self.shape and bool(np.all(x >= self.low) and np.all(x <= self.high))

        __contains__ = contains

        def __repr__(self) -> str:
            return f"Box{self.shape}"

    class Dict(dict):  # type: ignore[no-redef]
        """Spaces by name."""

        @property
        def spaces(self):
            """The spaces."""
            return self

        def seed(self, seed=None):
            """Starts the random numbers of sample()."""
            for k, space in enumerate(self.values()):
                space.seed(None if seed is None else seed + k)

        def sample(self):
            """A random element."""
            return {name: space.sample() for name, space in self.items()}

        def contains(self, x) -> bool:
            """Whether x is an element."""
            return isinstance(x, dict) and x.keys() == self.keys() and all(self[name].contains(x[name]) for name in x)
