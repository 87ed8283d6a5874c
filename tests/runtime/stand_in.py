"""A compiler that answers from a table: batched statements by the name of the function, written by hand."""

from looplift import pipeline
from looplift.base.errors import NotLiftable
from looplift.base.report import LoopRecord
from looplift.base.spans import Span
from looplift.runtime.variants import RegionCode


class StandIn:
    """Stands in for ``pipeline.compile_region``. What has no entry is refused."""

    def __init__(self, monkeypatch):
        self.answers = {}
        self.seen = []
        monkeypatch.setattr(pipeline, "compile_region", self)

    def answer(self, name, *statements, line=None, **options):
        """For regions of the function ``name`` (whose first statement is on ``line``): these statements."""
        self.answers[name, line] = lambda program, values: code_of(program, statements, options)

    def refuse(self, name, *, code="carried", at=0, line=None):
        def raise_refusal(program, values):
            raise NotLiftable(code, "it cannot be", Span(at and program.region.scope.function.lineno + at))

        self.answers[name, line] = raise_refusal

    def __call__(self, program, values, settings):
        region = program.region
        line = region.statements[0].lineno - region.scope.function.lineno
        self.seen.append((region.name, line, dict(values)))
        for key in ((region.name, line), (region.name, None)):
            if key in self.answers:
                return self.answers[key](program, values)
        raise NotLiftable("unknown-op", "no answer", Span(program.line))


def code_of(program, statements, options):
    decisions = [LoopRecord(program.file, line, "lanes") for line, _ in program.loops]
    return RegionCode(list(statements), decisions=decisions, **options)
