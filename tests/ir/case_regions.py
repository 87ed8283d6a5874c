"""The regions of a program of benchmarks/cases, each run by Python and through the IR on the values that it meets.

``python tests/ir/case_regions.py`` prints a table: what became of each region of each case.
"""

from __future__ import annotations

import importlib.util
import io
import sys
import warnings
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import looplift
from looplift import pipeline
from looplift.analysis.probe import analyse
from looplift.base.compare import difference
from looplift.base.errors import NotLiftable
from looplift.frontend.translate import translate
from looplift.ir.spec import InvalidIR, check
from looplift.ops.interpret import run

sys.path.insert(0, str(Path(__file__).parent))
from running import copied, observed
from truth import wrong_facts

CASES = Path(__file__).parents[2] / "benchmarks" / "cases"
FILES = sorted(CASES.glob("*/*.py"))
LEFT_TO_THE_LOOP = {"mpnn_edge_gru_rounds"}
"""Cases whose tiny inputs do not meet what is required: a dict with default values is asked for keys that it lacks."""


@dataclass
class Regions:
    """What became of the regions of one case. ``wrong``: disagreements, each a defect."""

    refused: list[str] = field(default_factory=list)
    agree: list[str] = field(default_factory=list)
    analysed: list[str] = field(default_factory=list)
    facts: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def meet(self, program: Any, values: dict[str, Any], settings: Any) -> Any:
        """Stands in for the compiler: judges the region, and refuses it."""
        where = f"line {program.line}"
        try:
            self.judge(program, values, where)
            raise NotLiftable("internal", "judged")
        except NotLiftable as refusal:
            if refusal.message != "judged":
                self.refused.append(f"{where}: {refusal.code}, line {refusal.span.line}: {refusal.message}")
            raise
        except InvalidIR as invalid:
            self.wrong.append(f"{where}: invalid: {invalid}")
            raise NotLiftable("internal", "judged") from None
        except Exception as error:
            self.wrong.append(f"{where}: {type(error).__name__}: {error}")
            raise NotLiftable("internal", "judged") from None

    def judge(self, program: Any, values: dict[str, Any], where: str) -> None:
        why = self.disagreement(program, values)
        accepted = self.analyse(program, values, where)
        if why is None:
            self.agree.append(where)
        elif accepted:
            self.wrong.append(f"{where}: {why}")

    def disagreement(self, program: Any, values: dict[str, Any]) -> str | None:
        names = program.arguments
        ours, theirs = self.copied(names, values), self.copied(names, values)
        made = self.translated(program, ours)
        want = observed(lambda given: program.original(*given), tuple(theirs[name] for name in names))
        got = observed(lambda given: self.interpreted(program, made, ours), tuple(ours[name] for name in names))
        if got.error == "AssertionError" and (want.error or Path(program.file).stem in LEFT_TO_THE_LOOP):
            return None
        return difference(vars(got), vars(want), exact=True)

    def analyse(self, program: Any, values: dict[str, Any], where: str) -> bool:
        """Whether the analysis accepts the region; notes what it changes and what is wrong in its facts."""
        names = program.arguments
        probed, before, seen = (self.copied(names, values) for _ in range(3))
        facts, made = None, self.translated(program, probed)
        try:
            facts = analyse(made)
            self.analysed.append(where)
        except NotLiftable as refusal:
            self.refused.append(f"{where}: analysis: {refusal.code}, line {refusal.span.line}: {refusal.message}")
        changed = ({name: given[name] for name in names} for given in (probed, before))
        if (why := difference(*changed, exact=True)) is not None:
            self.wrong.append(f"{where}: the analysis changes its values: {why}")
        if facts is not None:
            self.facts += [f"{where}: {words}" for words in self.wrong_facts(program, seen)]
        return facts is not None

    def wrong_facts(self, program: Any, values: dict[str, Any]) -> list[str]:
        made = self.translated(program, values)
        facts = analyse(made)
        try:
            return wrong_facts(made, facts, values)
        except Exception as error:
            return [f"the run raises {type(error).__name__}"]

    def copied(self, names: tuple[str, ...], values: dict[str, Any]) -> dict[str, Any]:
        return values | copied({name: values[name] for name in names})

    def translated(self, program: Any, values: dict[str, Any]) -> Any:
        region = program.region
        made = translate(region.statements, values, list(program.live_out), file=program.file, name=program.name)
        check(made)
        return made

    def interpreted(self, program: Any, made: Any, values: dict[str, Any]) -> Any:
        results = run(made, values)
        for path in (key for key in results if "." in key):  # attributes that are set, and lists that grow
            exec(f"{path} = found", {**values, "found": results[path]})
        if program.returns:
            return results["return"]
        outs = [results[name] for name in program.live_out]
        return outs[0] if len(outs) == 1 else tuple(outs) if outs else None


def module_of(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(f"case_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def regions_of(path: Path) -> Regions:
    """Run the slow program of a case on tiny inputs, with each of its regions judged."""
    module, found = module_of(path), Regions()
    original: Callable = pipeline.compile_region
    pipeline.compile_region = found.meet
    try:
        with warnings.catch_warnings(), redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            try:
                looplift.lift(module.slow, verify="off")(*module.inputs("tiny"))
            except Exception as error:
                if not path.stem.startswith("trap_raise"):
                    found.wrong.append(f"the case raises {type(error).__name__}: {error}")
    finally:
        pipeline.compile_region = original
    return found


def main() -> None:
    for path in FILES:
        if len(sys.argv) > 1 and path.stem not in sys.argv[1:]:
            continue
        found = regions_of(path)
        counts = f"{len(found.agree)} agree, {len(found.analysed)} analysed, {len(found.refused)} refused"
        print(f"{path.parent.name}/{path.stem}: {counts}")
        for label in ("wrong", "facts", "refused"):
            for words in dict.fromkeys(getattr(found, label)):
                print(f"    {label}: {words}"[:230])


if __name__ == "__main__":
    main()
