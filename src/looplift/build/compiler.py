"""C++ text to a shared library, by the system's compiler, kept on disk under a key of all that it depends on."""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import NamedTuple

from looplift.base.errors import NotLiftable

FLAGS = (
    "-O3", "-fPIC", "-shared", "-std=c++17", "-march=native", "-ffp-contract=off", "-fno-math-errno",
    "-fno-trapping-math", "-fwrapv", "-fno-strict-aliasing", "-fopenmp-simd", "-fno-exceptions",
    "-fno-tree-slp-vectorize", "-fvisibility-inlines-hidden", "-fno-semantic-interposition", "-pipe",
)  # fmt: skip
"""No fast math: every operation rounds as it is written. Integers wrap, and memory may be seen under two dtypes, as
in PyTorch; nobody reads errno or the processor's exception flags. Only a loop that says so adds in another order.
Neighbours that are stored one by one are not read as a pair in the next iteration, which would wait for both."""

FEW_LIBRARIES = ("-nodefaultlibs", "-lm", "-lgcc") if sys.platform == "linux" else ()
"""Kernels need nothing of the C++ library, and to link with it takes half as long as to compile one. The C library's
functions are in every process, and need not be looked for in a list of three thousand."""
_OF_SEVERAL_VERSIONS = re.compile(r"\bpthread_(?!self\b|t\b)")
"""What the C library has in more than one version, of which a linker that has not seen it takes the oldest."""


class Options(NamedTuple):
    """Of the compiler: ``few_libraries`` are tried first where there are any."""

    flags: tuple[str, ...]
    few_libraries: tuple[str, ...]


KERNELS = Options(FLAGS, FEW_LIBRARIES)
OF_USERS = Options(tuple(flag for flag in FLAGS if flag != "-fno-exceptions"), ())
"""What users write may throw, and use all of the C++ library; a number is rounded as in a kernel."""

TIME_LIMIT = 120

_IN_TEXT = r"\.cpp:\d+:\d+: (?:fatal )?error:"
"""What is said of a text that other libraries do not help."""


@cache
def compiler() -> str:
    """The path of the system's C++ compiler; raises NotLiftable if there is none."""
    for name in (os.environ.get("CXX", ""), "c++", "g++", "clang++"):
        if name and (path := shutil.which(name)):
            return path
    raise NotLiftable("backend", "no C++ compiler was found on this machine")


def cache_directory() -> Path:
    """Where compiled kernels are kept: ``$LOOPLIFT_CACHE``, or the user's cache directory."""
    if chosen := os.environ.get("LOOPLIFT_CACHE"):
        return Path(chosen)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "looplift"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "looplift"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "looplift"


@cache
def _temporary_directory() -> Path:
    """Where kernels go in this process when the cache cannot be written."""
    return Path(tempfile.mkdtemp(prefix="looplift-"))


def few_libraries(source: str, options: Options) -> tuple[str, ...]:
    """Those that are tried first for a text."""
    versioned = options.few_libraries and _OF_SEVERAL_VERSIONS.search(source)
    return (*options.few_libraries, "-lc") if versioned else options.few_libraries


class Refused(NotLiftable):
    """The compiler does not take a text; ``output`` is what it says."""

    def __init__(self, output: str):
        super().__init__("internal", f"the compiler refused a kernel: {output[:2000]}")
        self.output = output


def library(source: str, options: Options = KERNELS) -> Path:
    """The shared library of a C++ text; compiled if it is not in the cache, nor beside a program that was loaded."""
    if (built := _beside(source, options)) is not None:
        return built
    name = f"kernel-{key(source, options)}"
    found = cache_directory() / f"{name}.so"
    if _exists(found):
        return found
    try:
        return _compile(source, cache_directory(), name, options)
    except OSError:
        return _compile_in_temporary(source, name, options)


def is_built(source: str) -> bool:
    """Whether the library of a text is there."""
    return _beside(source, KERNELS) is not None or _exists(cache_directory() / f"kernel-{key(source)}.so")


beside: list[Path] = []
"""Folders of programs that were loaded: ``looplift build`` puts their libraries there, for machines like its own."""


def put_beside(source: str, directory: Path, options: Options = KERNELS) -> Path:
    """Copy the library of a text into a folder, where it is found without a compiler."""
    target = directory / f"kernel-{_key_of_machine(source, options)}.so"
    shutil.copyfile(library(source, options), target)
    return target


def _beside(source: str, options: Options) -> Path | None:
    if not beside:
        return None
    name = f"kernel-{_key_of_machine(source, options)}.so"
    return next((directory / name for directory in beside if _exists(directory / name)), None)


def _key_of_machine(source: str, options: Options) -> str:
    """A digest of what a compiled kernel depends on where it runs."""
    parts = [source, " ".join(options.flags), sys.platform, _machine()]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def rebuilt(source: str) -> Path:
    """The library of a text, compiled anew with all libraries: the one in the cache cannot be loaded."""
    return _compile_in_temporary(source, f"kernel-{key(source)}-anew", Options(KERNELS.flags, ()))


def _exists(path: Path) -> bool:
    try:
        return path.stat().st_size > 0
    except OSError:
        return False


def _compile_in_temporary(source: str, name: str, options: Options) -> Path:
    found = _temporary_directory() / f"{name}.so"
    return found if _exists(found) else _compile(source, _temporary_directory(), name, options)


def key(source: str, options: Options = KERNELS) -> str:
    """A digest of everything that a compiled kernel depends on."""
    parts = [source, _compiler_version(), " ".join(options.flags + options.few_libraries), _machine()]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


@cache
def _compiler_version() -> str:
    """The compiler's path, size and time of change: asking it for its version costs a process."""
    found = os.stat(os.path.realpath(compiler()))
    return f"{os.path.realpath(compiler())} {found.st_size} {found.st_mtime_ns}"


@cache
def _machine() -> str:
    """What ``-march=native`` depends on."""
    with contextlib.suppress(OSError), open("/proc/cpuinfo") as file:
        wanted = ("flags", "Features", "model name")
        lines = [line for line in file.read().split("\n\n")[0].splitlines() if line.startswith(wanted)]
        return "\n".join([platform.machine(), *lines])
    return f"{platform.machine()} {platform.processor()}"


def _compile(source: str, directory: Path, name: str, options: Options) -> Path:
    """Compile beside the target, then rename: other processes see all of the library or nothing."""
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    with tempfile.TemporaryDirectory(dir=directory, prefix="build-") as workplace:
        text, built = Path(workplace) / f"{name}.cpp", Path(workplace) / f"{name}.so"
        text.write_text(source)
        command = [compiler(), *options.flags, str(text), "-o", str(built)]
        few = few_libraries(source, options)
        try:
            _run([*command, *few], directory)
        except NotLiftable as refusal:
            if not few or re.search(_IN_TEXT, str(refusal)):
                raise
            _run(command, directory)
        os.replace(text, directory / text.name)
        os.replace(built, directory / built.name)
    return directory / f"{name}.so"


def _run(command: list[str], directory: Path) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT)
    except subprocess.TimeoutExpired:
        raise NotLiftable("backend", f"the compiler took longer than {TIME_LIMIT} seconds") from None
    if done.returncode == 0:
        return
    if shutil.disk_usage(directory).free < 2**20 or "No space left" in done.stderr:
        raise OSError(done.stderr)
    raise Refused(done.stderr)
