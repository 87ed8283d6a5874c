"""Modules that are imported when they are used."""

import subprocess
import sys

from looplift.emit import source, text

PROGRAM = """
import sys
from looplift.frontend import letters, matches
assert "looplift.frontend.letters" not in sys.modules
held = letters
assert callable(letters.letters_of)
real = sys.modules["looplift.frontend.letters"]
assert held.letters_of is real.letters_of
held.mark = 1
assert real.mark == 1
del held.mark
assert not hasattr(real, "mark") and not hasattr(held, "mark")
assert vars(held) is vars(real)
from looplift.frontend import letters as again
assert again is real
try:
    from looplift.frontend import no_such_module
    no_such_module.function
except ModuleNotFoundError:
    pass
else:
    raise AssertionError
"""


def test_deferred_modules_are_imported_on_first_use():
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)


def test_renderers_are_where_the_printer_looks_for_them():
    modules = set(source.RARER.values())
    for module in modules:
        assert set(module.RENDERERS) == {op for op, other in source.RARER.items() if other is module}
        assert not set(module.RENDERERS) & set(text.RENDERERS)
