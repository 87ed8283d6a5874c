"""``looplift run``: whatever a script does, it does the same with its loops lifted."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import textwrap

import pytest


def write(folder, **files):
    for name, text in files.items():
        path = folder / (name.replace("__in__", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")


def call(folder, *words, text=""):
    command = [sys.executable, *words]
    return subprocess.run(command, cwd=folder, input=text, capture_output=True, text=True, timeout=120)


SERVER = """
import json, os, sys
import torch, looplift.cli.run, looplift.pipeline
from looplift.cli.main import main

for request in map(json.loads, sys.stdin):
    if child := os.fork():
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
        continue
    os.chdir(request["folder"])
    for descriptor, name in enumerate(("in", "out", "err")):
        os.dup2(os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC * (descriptor > 0)), descriptor)
    sys.stdin = open(0)
    sys.argv = ["looplift", *request["words"]]
    main()
"""


@pytest.fixture(scope="session")
def looplift():
    """The command, in forks of one process that has imported torch: it takes seconds to do so."""
    with subprocess.Popen([sys.executable, "-c", SERVER], stdin=-1, stdout=-1, text=True) as server:

        def run(folder, *words, text=""):
            (folder / "in").write_text(text)
            server.stdin.write(json.dumps({"folder": str(folder), "words": words}) + "\n")
            server.stdin.flush()
            status = int(server.stdout.readline())
            out, err = ((folder / name).read_text() for name in ("out", "err"))
            return subprocess.CompletedProcess(words, status, out, err)

        yield run
        server.stdin.close()


@pytest.fixture
def both(looplift):
    def run(folder, script, *arguments, options=(), text=""):
        """The script under plain Python and lifted."""
        write(folder, script=script)
        plain = call(folder, "script.py", *arguments, text=text)
        return plain, looplift(folder, "run", *options, "script.py", *arguments, text=text)

    return run


def assert_same(plain, lifted, *, traceback=True):
    assert lifted.stdout == plain.stdout, lifted.stderr
    assert lifted.returncode == plain.returncode
    if traceback:
        assert lifted.stderr.startswith(plain.stderr)


LOOPS = """
    import sys
    import torch

    torch.manual_seed(1)
    x = torch.rand(6)

    def squares(values):
        out = torch.zeros_like(values)
        for i in range(len(values)):
            out[i] = values[i] ** 2
        return out

    class Sums:
        def __init__(self, start):
            self.__start = start

        def over(self, values):
            total = self.__start
            for value in values:
                total = total + value
            return total

        @staticmethod
        def largest(values):
            best = values[0]
            for value in values:
                if value > best:
                    best = value
            return best

        @classmethod
        def pair(cls, values):
            return [cls(value).over(values) for value in values][:2]

        @property
        def twice(self):
            made = []
            for _ in range(2):
                made.append(self.__start)
            return made

    class More(Sums):
        def over(self, values):
            '''Doubled.'''
            for _ in range(2):
                result = super().over(values)
            return 2 * result

    def outer(scale):
        def inner(values):
            total = 0.0
            for value in values:
                total += scale * float(value)
            return total
        return inner

    def numbers(n):
        for i in range(n):
            yield i * i

    def countdown(n):
        for _ in range(1):
            if n:
                return countdown(n - 1)
        return "liftoff"

    print(squares(x), Sums(1.0).over(x), Sums.largest(x), Sums.pair(x), Sums(2).twice, More(1.0).over(x))
    print([outer(scale)(x) for scale in (1.0, 2.0, 3.0, 4.0)], list(numbers(4)), countdown(300))
    print(squares.__name__, squares.__module__, More.over.__doc__, Sums.over.__qualname__)

    total = 0.0
    for i in range(6):
        total += x[i]
    print(total, i)
    for i in range(0):
        never = i
    print(i, "never" in globals())
    rows = [x * k for k in range(3)]
    print(rows, "k" in globals())
    for i, row in enumerate(rows):
        text = '''two
      lines'''
        if i == 1:
            found = row.sum()
            break
    else:
        found = None
    print(i, found, repr(text))
    count = 0
    while count < 5:
        count += 1
    print(count)

    def current():
        return step
    for step in range(3):
        print(current(), end=" ")
    print()

    with torch.no_grad():
        for i in range(2):
            total = total * x[i]
    if __name__ == "__main__":
        for i in range(2):
            for j in range(2):
                print(i, j, sys.argv)
    print(sorted(name for name in dir() if not name.startswith("__")))
    print(sorted(name for name in globals() if "loop" in name.lower()))
"""


def test_loops_of_all_kinds(both, tmp_path):
    plain, lifted = both(tmp_path, LOOPS, "one", "--two", "--json", "three")
    assert plain.returncode == 0, plain.stderr
    assert_same(plain, lifted)
    assert_same(plain, call(tmp_path, "-m", "looplift", "run", "script.py", "one", "--two", "--json", "three"))
    assert re.search(r"script.py +\d+", lifted.stderr)


def test_the_script_sees_what_the_interpreter_shows(both, tmp_path):
    script = """
        import os, pickle, sys, warnings
        from dataclasses import dataclass
        import beside

        @dataclass
        class Point:
            x: int

        def total(values):
            s = 0
            for v in values:
                s += v
            return s

        main = sys.modules["__main__"]
        print(__name__, __file__, __package__, __spec__, __doc__, main.__dict__ is globals())
        print(sys.argv, sys.path[0] == os.path.dirname(os.path.abspath(__file__)), beside.LOADED)
        print(pickle.loads(pickle.dumps(Point(3))), pickle.loads(pickle.dumps(total)) is total)
        print(input(), sys.excepthook is sys.__excepthook__)
    """
    write(tmp_path, beside="LOADED = 0\nfor k in range(3):\n    LOADED += k\n")
    plain, lifted = both(tmp_path, script, "-x", "--help", "--", "y", text="typed\n")
    assert plain.returncode == 0, plain.stderr
    assert_same(plain, lifted)


FAILURES = {
    "in a module loop": """
        values = [2, 1, 0]
        for value in values:
            print(1 / value)
    """,
    "in an indented module loop": """
        values = [2, 1, 0]
        if __name__ == "__main__":
            for value in values:
                print(1 / value)
    """,
    "in a function": """
        def inverse(values):
            made = []
            for value in values:
                made.append(1 / value)
            return made

        inverse([1, 0])
    """,
    "in a function called by a module loop": """
        def inverse(value):
            for _ in range(1):
                value = 1 / value
            return value

        for value in [1, 0]:
            inverse(value)
    """,
    "with a cause": """
        def inverse(values):
            for value in values:
                try:
                    1 / value
                except ZeroDivisionError as error:
                    raise ValueError("no inverse") from error

        inverse([1, 0])
    """,
    "of a name": """
        for k in range(2):
            print(missing)
    """,
    "of a name bound later": """
        for k in range(2):
            if k:
                total = total + 1
    """,
    "of syntax": "for k in range(2)\n    pass\n",
    "exit with a number": "import sys\nfor k in range(3):\n    sys.exit(k + 4)\n",
    "exit with a message": "import sys\nprint('out')\nsys.exit('a message')\n",
    "own hook": """
        import sys
        sys.excepthook = lambda kind, error, trace: print("hook", kind, error)
        for k in range(2):
            1 / k
    """,
}


@pytest.mark.parametrize("name", FAILURES)
def test_failures(both, tmp_path, name):
    plain, lifted = both(tmp_path, FAILURES[name])
    assert plain.returncode != 0
    assert_same(plain, lifted)


def test_state_after_a_caught_exception(both, tmp_path):
    script = """
        total = 0
        try:
            for i in range(5):
                total += i
                if i == 3:
                    raise ValueError(i)
        except ValueError as error:
            print(i, total, error)
    """
    assert_same(*both(tmp_path, script))


def test_tracebacks_that_the_script_prints(both, tmp_path):
    script = """
        import logging, sys, threading, traceback

        def inverse(values):
            made = []
            for value in values:
                made.append(1 / value)
            return made

        for values in ([1], [0]):
            try:
                inverse(values)
            except ZeroDivisionError:
                traceback.print_exc(file=sys.stdout)
                logging.exception("logged")
        thread = threading.Thread(target=inverse, args=([0],), name="worker")
        thread.start()
        thread.join()
    """
    plain, lifted = both(tmp_path, script)
    assert "in inverse" in plain.stdout and "worker" in plain.stderr
    assert_same(plain, lifted)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_multiprocessing(both, tmp_path, method):
    script = f"""
        import multiprocessing

        def total(n):
            s = 0
            for i in range(n):
                s += i
            return s

        if __name__ == "__main__":
            with multiprocessing.get_context("{method}").Pool(2) as pool:
                print(pool.map(total, [1, 2, 3]))
    """
    plain, lifted = both(tmp_path, script)
    assert_same(plain, lifted)
    tables = [lifted.stderr.count(text) for text in ("what became of it", "no loop was reached")]
    assert sum(tables) == 1


def test_threads_are_waited_for(both, tmp_path):
    script = """
        import threading, time

        def work():
            time.sleep(0.3)
            for i in range(2):
                print(i)

        threading.Thread(target=work).start()
        print("main is done")
    """
    plain, lifted = both(tmp_path, script)
    assert_same(plain, lifted)


def test_packages(both, tmp_path):
    write(
        tmp_path,
        tools__in____init__="from .sums import total\nTABLE = []\nfor k in range(3):\n    TABLE.append(k)\n",
        tools__in__sums="""
            from .deep.base import START

            def total(values):
                s = START
                for v in values:
                    s = s + v
                return s
        """,
        tools__in__deep__in____init__="",
        tools__in__deep__in__base="START = 1\n",
        other="def double(values):\n    return [2 * v for v in values]\n",
    )
    script = """
        import inspect, other, tools
        print(tools.total([1, 2]), tools.TABLE, other.double([1]), tools.sums.__file__, tools.__path__)
        print(inspect.getsource(tools.total), inspect.signature(tools.total))
    """
    found = tmp_path / "found.json"
    plain, lifted = both(tmp_path, script, options=("--package", "tools", "--json", str(found)))
    assert_same(plain, lifted)
    loops = json.loads(found.read_text())["loops"]
    assert {(loop["file"].rpartition("/")[2], loop["function"]) for loop in loops} >= {("sums.py", "total")}
    assert not any("other.py" in loop["file"] for loop in loops)


def test_json_has_one_row_for_each_loop(both, tmp_path):
    script = """
        import torch

        def squares(values):
            out = torch.zeros(len(values))
            for i in range(len(values)):
                out[i] = values[i] ** 2
            return out

        def lazily(n):
            for i in range(n):
                yield i

        squares(torch.rand(4))
        squares(torch.rand(5))
        total = 0.0
        for value in torch.rand(3):
            total = total + value
    """
    found = tmp_path / "found.json"
    _, lifted = both(tmp_path, script, options=("--json", str(found)))
    assert lifted.returncode == 0, lifted.stderr
    loops = json.loads(found.read_text())["loops"]
    assert {loop["line"] for loop in loops} <= {3, 5, 10, 16}
    assert [(loop["line"], loop["code"]) for loop in loops if loop["line"] == 10] == [(10, "generator")]
    assert all(loop["file"] == str(tmp_path / "script.py") for loop in loops)
    assert [loop["function"] for loop in loops if loop["line"] == 16] in ([], ["<module>"])


def test_a_script_that_is_not_there(looplift, tmp_path):
    done = looplift(tmp_path, "run", "nowhere.py")
    assert done.returncode == 2
    assert "can't open file" in done.stderr


def test_help(looplift, tmp_path):
    done = looplift(tmp_path, "run", "--help")
    assert done.returncode == 0
    assert "--package" in done.stdout and "--json" in done.stdout
