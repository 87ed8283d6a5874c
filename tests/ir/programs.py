"""Small loop programs that show the grammar of what people write: ``PROGRAMS``."""

import control_programs  # noqa: F401
import value_programs  # noqa: F401
from registry import PROGRAMS, Program, matrix, vector

__all__ = ["PROGRAMS", "Program", "matrix", "vector"]
