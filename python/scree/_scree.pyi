"""The compiled module: cffi makes its names when it is imported."""
from typing import Any

ffi: Any
lib: Any
