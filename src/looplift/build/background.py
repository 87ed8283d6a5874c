"""A C++ text in; a library of it that is compiled in a moment, and a faster one from a process of its own, out.

A typed program is a long text, which takes a second to compile as well as can be, and the third part of that with few
optimizations; a kernel takes half as long. Both libraries compute the same bits. So the first one runs until the second
is there: it is kept in the cache as any other, also where the process that wanted it has ended meanwhile. A first call
in which a short loop can run instead does not wait for the first one either.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from pathlib import Path

from looplift.build import compiler
from looplift.build.compiler import FEW_LIBRARIES, FLAGS, KERNELS, TIME_LIMIT, Options

QUICK = Options(tuple("-Og" if flag == "-O3" else flag for flag in FLAGS), FEW_LIBRARIES)
INTERVAL = 0.02
"""Seconds between two looks at the disk."""
PAUSE = 0.001
"""Seconds between two looks of one that waits."""
PROCESS = "process"
"""The file in a workplace with the number of the process that is at it."""

_SCRIPT = """\
trap '' HUP INT
cd {workplace} || exit
echo $$ > {process}
{first}
{{ {command} {few} || {command}; }} && mv {name}.cpp {name}.so .. && rm -f {quick}
rm -rf {workplace}
"""


_FIRST = "{{ {command} {few} || {command}; }} && mv {name}.cpp {name}.so .."


class Coming:
    """A library that is being compiled, by a process of ours or another's; ``first``: one that is there before it."""

    def __init__(self, library: Path, process: int | None, first: Path | None = None):
        self.library, self.process, self.first = library, process, first
        self.workplace = _workplace(library)
        self.looked = time.monotonic()
        self.latest = self.looked + TIME_LIMIT

    def is_over(self) -> bool:
        """Whether the library is there, or will never be."""
        now = time.monotonic()
        if now < self.looked + INTERVAL:
            return False
        self.looked = now
        return self._has_ended() or self.library.exists() or now > self.latest

    def has_first(self) -> bool:
        return self.first is not None and self.first.exists()

    def has_any(self) -> bool:
        """Whether a library is there, or will never be."""
        return self.library.exists() or self.has_first() or self.is_over()

    def wait(self, *, best: bool = False) -> None:
        """Until a library is there, or will never be; ``best``: until the best one is."""
        while not (self.library.exists() or (self.is_over() if best else self.has_any())):
            time.sleep(PAUSE)

    def _has_ended(self) -> bool:
        """Whether nobody is at it any more; a process that was killed leaves its folder."""
        if self.process is not None and _has_ended(self.process):
            return True
        return not (self.workplace.exists() and _is_at_work(self.workplace))


_running: set[int] = set()
"""Our processes of which it is not known yet that they have ended."""


def _has_ended(process: int) -> bool:
    with contextlib.suppress(ChildProcessError):  # it is our parent's, which has forked
        if process in _running and os.waitpid(process, os.WNOHANG)[0] != 0:
            _running.discard(process)
    return process not in _running


def _is_at_work(workplace: Path) -> bool:
    """Whether the process runs that a folder names; yes where it names none yet."""
    with contextlib.suppress(OSError, ValueError):
        process = int((workplace / PROCESS).read_text())
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return False
    return True


def is_wanted(source: str) -> bool:
    """Whether a text is to be compiled twice: not where ``LOOPLIFT_BACKGROUND`` is 0, or its best library is there."""
    allowed = os.name == "posix" and os.environ.get("LOOPLIFT_BACKGROUND") != "0"
    return allowed and not compiler.is_built(source)


def begin(source: str, *, quick: bool = False) -> Coming | None:
    """Have the best library of a text compiled, ``quick``: after one that takes a moment; None where the cache cannot
    be written."""
    directory, name = compiler.cache_directory(), f"kernel-{compiler.key(source)}"
    library, process = directory / f"{name}.so", None
    workplace = _workplace(library)
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        if _is_ours(workplace):
            (workplace / f"{name}.cpp").write_text(source)
            process = _started(workplace, name, source, quick)
    except OSError:
        shutil.rmtree(workplace, ignore_errors=True)
        return None
    return Coming(library, process, directory / f"{_quick(source)}.so" if quick else None)


def _workplace(library: Path) -> Path:
    return library.with_name(f"build-{library.stem}")


def _is_ours(workplace: Path) -> bool:
    """Whether no other process is at it; one that was killed may have left its folder."""
    try:
        workplace.mkdir()
    except FileExistsError:
        if time.time() - workplace.stat().st_mtime < TIME_LIMIT:
            return False
        os.utime(workplace)
    return True


def _started(workplace: Path, name: str, source: str, quick: bool) -> int:
    import shlex  # most processes build nothing

    first = _quick(source)
    if quick:
        (workplace / f"{first}.cpp").write_text(source)
    script = _SCRIPT.format(
        workplace=shlex.quote(str(workplace)), process=PROCESS, **_commands(KERNELS, name, source),
        first=_FIRST.format(**_commands(QUICK, first, source)) if quick else "", quick=f"../{first}.so ../{first}.cpp",
    )  # fmt: skip
    nowhere = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in range(3)]
    for process in tuple(_running):
        _has_ended(process)  # perhaps nobody else asks, and it stays a zombie
    process = os.posix_spawn("/bin/sh", ["sh", "-c", script], os.environ, file_actions=nowhere)
    _running.add(process)
    return process


def _quick(source: str) -> str:
    return f"kernel-{compiler.key(source, QUICK)}"


def _commands(options: Options, name: str, source: str) -> dict[str, str]:
    import shlex

    command = [compiler.compiler(), *options.flags, f"{name}.cpp", "-o", f"{name}.so"]
    return {"command": shlex.join(command), "few": shlex.join(compiler.few_libraries(source, options)), "name": name}
