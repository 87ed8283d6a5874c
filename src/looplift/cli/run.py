"""``looplift run``: a script with its loops lifted, then the table of what became of them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from looplift.api import lift
from looplift.base.report import Report
from looplift.cli.hook import LiftingFinder
from looplift.cli.script import run_script
from looplift.cli.session import Session
from looplift.cli.table import print_table
from looplift.runtime import dispatch


def run_and_report(script: str, arguments: list[str], *, packages: list[str], json: Path | None) -> int:
    """The exit status of the script; 2 if it cannot be read."""
    if not os.path.isfile(script):
        print(f"looplift: can't open file {os.path.abspath(script)!r}: no such file", file=sys.stderr)
        return 2
    # before the script runs, which may change the working directory
    json = json.absolute() if json else None
    process, session = os.getpid(), Session(lift)
    dispatch.collect = True  # calls are timed
    if packages:
        sys.meta_path.insert(0, LiftingFinder(packages, session))
    status = run_script(script, arguments, session)
    if os.getpid() == process:
        sys.stdout.flush()
        records = session.records()
        if json:
            json.write_text(Report(records).to_json(), encoding="utf-8")
        print_table(records)
    return status
