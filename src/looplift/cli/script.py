"""A script and its arguments in, its exit status out: run as the interpreter runs it, with its loops lifted."""

from __future__ import annotations

import builtins
import importlib.util
import os
import sys
import threading
import types
from importlib.machinery import SourceFileLoader

from looplift.cli.session import Session
from looplift.runtime.script import clean_tracebacks, print_exception


def run_script(path: str, arguments: list[str], session: Session) -> int:
    """Run the file as ``__main__``; tracebacks are printed, the exit status is the interpreter's."""
    file = os.path.abspath(path)
    sys.argv[:] = [path, *arguments]
    if not sys.flags.safe_path:
        sys.path[0] = os.path.dirname(os.path.realpath(path))
    sys.excepthook = sys.__excepthook__  # typer has its own
    clean_tracebacks()
    module = _main_module(file)
    _replaced.append(sys.modules["__main__"])
    sys.modules["__main__"] = module
    status = _status_of(lambda: exec(_code(file, session), module.__dict__))
    _wait_for_threads()
    return status


_replaced: list[types.ModuleType] = []
"""The command's own main module: without a reference it would lose its globals."""


def _main_module(file: str) -> types.ModuleType:
    module = types.ModuleType("__main__")
    module.__file__ = file
    module.__loader__ = SourceFileLoader("__main__", file)
    module.__builtins__ = builtins  # pyright: ignore[reportAttributeAccessIssue]
    module.__cached__ = None  # pyright: ignore[reportAttributeAccessIssue]
    module.__annotations__ = {}
    return module


def _code(file: str, session: Session) -> types.CodeType:
    with open(file, "rb") as stream:
        source = stream.read()
    try:
        return session.rewrite(source, importlib.util.decode_source(source), file)
    except UnicodeDecodeError:
        return compile(source, file, "exec", dont_inherit=True)  # raises the interpreter's own SyntaxError


def _status_of(run) -> int:
    try:
        run()
    except SystemExit as ending:
        return _exit_status(ending.code)
    except KeyboardInterrupt as error:
        print_exception(error)
        return 130
    except BaseException as error:
        sys.stdout.flush()
        print_exception(error)
        return 1
    return 0


def _exit_status(code: object) -> int:
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF
    sys.stdout.flush()
    print(code, file=sys.stderr)
    return 1


def _wait_for_threads() -> None:
    """The interpreter waits for them before it ends, and their loops belong into the table."""
    for thread in threading.enumerate():
        if not thread.daemon and thread is not threading.current_thread() and thread.is_alive():
            thread.join()
