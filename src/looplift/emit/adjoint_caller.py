"""The Python text of a kernel's autograd function: forward with a tape, backward from it."""

from __future__ import annotations

import math

from looplift.base.data import dataclass
from looplift.emit.expanded import Bounds
from looplift.emit.native_caller import (
    argument_names,
    checks,
    item_text,
    passed_argument,
    passed_arguments,
    passed_results,
    result_places,
    returned,
)
from looplift.emit.native_entry import HOST, Passed, arguments_of, codes_of, handed_out
from looplift.emit.native_signature import Parameter, Result, Signature
from looplift.ir.grammar import Var
from looplift.ir.kernel import OUTCOMES, Kernel


@dataclass(frozen=True)
class Kept:
    """What backward passes keep. ``tensors``: those whose values the kernel's reads, and for which results the loop
    always keeps them for its own, so that changing one before is an error there too. ``ends``: the results and stored
    tensors that go backward once, as the loop always keeps something for them, which is freed then."""

    tensors: dict[Var, set[Var]]
    ends: set[Var]


MODIFIED = "one of the variables needed for gradient computation has been modified by an inplace operation"


class AdjointCaller:
    """Defines ``name(*inputs) -> (*outputs, *stored)``.

    It needs ``ctypes``, ``torch``, ``entry``, ``library``, ``tracked_library``, ``is_doubtful``, ``Tape``, ``once`` and
    ``failed``.
    """

    def __init__(
        self,
        kernel: Kernel,
        signature: Signature,
        results: list[Result],
        active,
        roots,
        reaches,
        kept: Kept,
        finite: Bounds,
    ):
        self.kernel = kernel
        self.finite = finite
        self.signature = signature
        self.results = results
        self.active = active
        self.roots = roots
        self.reaches = reaches
        self.names = argument_names(kernel.inputs, signature)
        self.saved = kept.tensors
        self.stored = {var: f"{self.names[var]}_new" for var in kernel.stored}
        self.shaped = [v for v in self.stored if self._is_tensor(v)]
        self.shaped += [p.var for p in signature.parameters if self._read_only(p) and p.var not in self.saved]
        self.graded = [r for r in results if r.name and r.output.var in active]
        self.ends = [*(r.output.var if r in self.graded else None for r in results), *self.stored]
        self.saved = {var: ends & {*self.ends} for var, ends in self.saved.items()}
        self.once = {place for place, end in enumerate(self.ends) if end in kept.ends}
        self.is_one = len(self.once) == 1 == len(self.graded) + sum(var in active for var in self.stored)

    def text(self) -> str:
        return "\n".join([*self.functions(), "", "", *self.function(), "", "", *self.entry(), ""])

    # ------------------------------------------------------------ the C++ functions

    def functions(self) -> list[str]:
        """Those of the two passes; that of the second backward pass is compiled when it is first needed."""
        name = self.kernel.name
        return [
            f'forward_function = entry(library, "{name}_forward", "{codes_of(self.passed())}")',
            f'backward_function = entry(library, "{name}_backward", "{codes_of(self.passed_back())}")',
            "",
            "",
            f"def {name}_tracked():",
            f'    return entry(tracked_library(), "{name}_tracked", "{codes_of(self.passed_back(tracked=True))}")',
        ]

    def passed(self) -> list[Passed]:
        given = passed_arguments(self.signature, {**self.names, **self.stored})
        return [HOST, *given, *passed_results(self.results), Passed("p", "ctypes.addressof(tape)")]

    def passed_back(self, *, tracked: bool = False) -> list[Passed]:
        passed = [HOST]
        for parameter in self.signature.parameters:
            passed += (
                self._shape_of(parameter) if parameter.var in self.shaped else passed_argument(parameter, self.names)
            )
        passed.append(Passed("p", "ctypes.addressof(context.tape)"))
        for result in self.graded:
            passed.append(Passed("d", f"{result.name}_seed"))
            passed += [Passed("q", f"{result.name}_grad is not None")] if tracked else []
        passed += [Passed("p", f"{self.names[var]}_buffer.data_ptr()") for var in self.roots]
        return passed + ([Passed("p", "ctypes.addressof(marks)")] if tracked else [])

    def _shape_of(self, parameter: Parameter) -> list[Passed]:
        shape = f"context.shapes[{self.shaped.index(parameter.var)}]"
        numbers = [Passed("q", f"{shape}[{place}]") for place in range(2 * parameter.kind.rank)]
        return [Passed("p", "None"), *numbers]

    # ------------------------------------------------------------ the autograd function

    def function(self) -> list[str]:
        arguments = ", ".join(["context", *self.names.values()])
        return [
            f"class {self.kernel.name}_function(torch.autograd.Function):",
            "    @staticmethod",
            f"    def forward({arguments}):",
            *(f"        {line}" for line in self._forward()),
            "",
            "    @staticmethod",
            "    @once",
            "    def backward(context, *gradients):",
            *(f"        {line}" for line in self._backward()),
        ]

    def _forward(self) -> list[str]:
        lines = checks(self.signature, self.names, self.kernel.stored)
        for var, new in self.stored.items():
            copies = "clone()" if self.signature.of(var).kind.family == "tensor" else "copy()"
            lines.append(f"{new} = {self.names[var]}.{copies}")
        lines += result_places(self.results)
        lines.append("tape = Tape()")
        lines.append(f"found = forward_function({arguments_of(self.passed())})")
        lines += ["if type(found) is int:", "    raise failed(found)"]
        if handed := handed_out(self.passed()):
            lines.append(f"{handed} = found")
        lines += self._remember()
        return [*lines, f"return {self._tuple(self._outputs())}"]

    def _alias_checks(self) -> list[str]:
        """Tensors that are stored into must share memory with no other, or their copies would not."""
        lines = []
        tensors = [v for v in self.kernel.inputs if v in self.names and self._is_tensor(v)]
        for var in self.stored:
            if not self._is_tensor(var):
                continue
            others = [self.names[other] for other in tensors if other is not var]
            conditions = [f"share_memory({self.names[var]}, {', '.join(others)})"] if others else []
            if self.signature.of(var).kind.rank:
                conditions.append(f"overlaps({self.names[var]})")
            if conditions:
                lines += [f"if {' or '.join(conditions)}:", "    raise failed(10)"]
        return lines

    def _checks_of_numbers(self) -> list[str]:
        """Inputs of rows that are partly read must be finite: autograd multiplies gradients of zero by them."""
        lines = []
        for var, top in self.finite:
            name = self.names.get(var) or item_text(self.signature.of(var), self.names)
            holds = f"torch.isfinite({name}.detach().sum(dtype=torch.float64))"
            if top < math.inf:
                holds = f"({name}.detach().abs() <= {top}).all()"
            lines += [f"if not {holds}:", f"    raise failed({[*OUTCOMES].index('doubtful')})"]
        return lines

    def _is_tensor(self, var: Var) -> bool:
        return var not in self.signature.fixed and self.signature.of(var).kind.family == "tensor"

    def _remember(self) -> list[str]:
        """What the backward pass needs: the tensors that it reads, the shapes of the others."""
        read = [self.names[v] + ("" if ends else ".detach().clone()") for v, ends in self.saved.items()]
        numbers = [self.names[var] for var in self.kernel.inputs if not self._is_tensor(var)]
        lines = ["context.tape = tape", *self._save(read)]
        lines.append(f"context.numbers = {self._tuple(numbers)}")
        lines.append(f"context.everything = {self._tuple(list(self.names.values()))}")
        tensors = [(place, name) for place, (var, name) in enumerate(self.names.items()) if self._has_version(var)]
        versions = ", ".join(f"{place}: {name}._version" for place, name in tensors)
        lines.append(f"context.every_version = {{{versions}}}")
        shaped = [self.stored.get(var, self.names[var]) for var in self.shaped]
        shapes = [f"(*{name}.shape, *{name}.stride())" for name in shaped]
        lines.append(f"context.shapes = {self._tuple(shapes)}")
        flat = [self._result_name(r) for r in self.results if r.name and r.output.var not in self.active]
        flat += [new for var, new in self.stored.items() if var not in self.active and self._is_tensor(var)]
        if flat := [name for name in flat if name]:
            lines.append(f"context.mark_non_differentiable({', '.join(flat)})")
        lines.append("context.set_materialize_grads(False)")
        return lines

    def _has_version(self, var: Var) -> bool:
        return any(p.var is var and p.kind.family == "tensor" for p in self.signature.parameters)

    def _save(self, read: list[str]) -> list[str]:
        """Each of several results may go backward once: nothing is freed then, but what tells that one did."""
        freed = ["torch.empty(0)"] if self.once else []
        if self.is_one:
            return [f"context.save_for_backward({', '.join(read or freed)})"]
        lines = [f"context.save_for_backward({freed[0]})", "context.gone = set()"] if freed else []
        if read:
            lines.append(f"context.saved = {self._tuple(read)}")
        if versions := [f"{name}._version" for name in self._watched()]:
            lines.append(f"context.versions = {self._tuple(versions)}")
        return lines

    def _restore(self) -> list[str]:
        read = self._tuple([self.names[var] for var in self.saved])
        if self.is_one:
            return [f"{read if self.saved else '_'} = context.saved_tensors"]
        lines = []
        if self.once:
            lines = [
                f"going = {{place for place in {sorted(self.once)} if gradients[place] is not None}}",
                "if going & context.gone:",
                "    context.saved_tensors  # raises if it was freed",
                "context.gone |= going",
            ]
        if self.saved:
            lines.append(f"{read} = context.saved")
        return lines + self._check_versions()

    def _watched(self) -> dict[str, set[int]]:
        """The tensors that the loop always keeps, and the places of the results for which it does."""
        places = {end: place for place, end in enumerate(self.ends)}
        kept = {self.names[var]: {places[end] for end in ends} for var, ends in self.saved.items()}
        return {name: found for name, found in kept.items() if found}

    def _check_versions(self) -> list[str]:
        lines = []
        for number, (name, places) in enumerate(self._watched().items()):
            given = " or ".join(f"gradients[{place}] is not None" for place in sorted(places))
            lines += [
                f"if {name}._version != context.versions[{number}] and ({given}):",
                f"    raise RuntimeError({MODIFIED!r})",
            ]
        return lines

    def _read_only(self, parameter) -> bool:
        return parameter.kind.family == "tensor" and parameter.var not in self.stored

    def _result_name(self, result: Result) -> str:
        return result.name if result.number.type.family == "tensor" else ""

    def _outputs(self) -> list[str]:
        return [returned(result, {**self.names, **self.stored}) for result in self.results] + list(self.stored.values())

    def _tuple(self, items: list[str]) -> str:
        return f"({', '.join(items)}{',' if len(items) == 1 else ''})"

    # ------------------------------------------------------------ backward

    def _backward(self) -> list[str]:
        lines = []
        numbers = [self.names[var] for var in self.kernel.inputs if not self._is_tensor(var)]
        lines += self._restore()
        if numbers:
            lines.append(f"{self._tuple(numbers)} = context.numbers")
        lines += self._gradients_in()
        lines += self._buffers()
        lines.append(f"found = backward_function({arguments_of(self.passed_back())})")
        lines += ["if type(found) is int:", "    raise RuntimeError('the backward pass was interrupted')"]
        lines += self._tracked()
        given = [self._gradient_out(var) for var in self.kernel.inputs]
        return [*lines, f"return {self._tuple(given)}"]

    def _tracked(self) -> list[str]:
        """Where gradients are all zeros or not finite, which are there at all is found out in a second pass."""
        counted = [self.names[var] for var in self.roots if var in self.reaches]
        if not counted:
            return []
        doubts = " or ".join(f"is_doubtful({name}_buffer)" for name in counted)
        starts = [f"int({self.stored[v]}_grad is not None)" if v in self.stored else "0" for v in self.roots]
        passed = arguments_of(self.passed_back(tracked=True))
        return [
            f"there = (True,) * {len(self.roots)}",
            f"if {doubts}:",
            f"    there = marks = (ctypes.c_int * {len(self.roots)})({', '.join(starts)})",
            *(f"    {line}" for line in self._buffers()),
            f"    if type({self.kernel.name}_tracked()({passed})) is int:",
            "        raise RuntimeError('the backward pass was interrupted')",
        ]

    def _gradients_in(self) -> list[str]:
        places = [*(f"{r.name}_grad" if r in self.graded else "_" for r in self.results)]
        places += [f"{new}_grad" for new in self.stored.values()]
        lines = [f"{self._tuple(places)} = gradients"] if places else []
        for result in self.graded:
            lines.append(f"{result.name}_seed = 0.0 if {result.name}_grad is None else {result.name}_grad.item()")
        return lines

    def _buffers(self) -> list[str]:
        """A dense gradient for each tensor: what comes in for a stored one, zeros for the others."""
        lines = []
        for var in self.roots:
            name, scalar = self.names[var], self.signature.of(var).scalar
            dtype = "torch.float64" if scalar.name == "float64" else "torch.float32"
            shape = f"{name}.shape"
            if var in self.shaped:
                shape = f"context.shapes[{self.shaped.index(var)}][:{self.signature.of(var).kind.rank}]"
            lines.append(f"{name}_buffer = torch.zeros({shape}, dtype={dtype})")
            if var in self.stored:
                incoming = f"{self.stored[var]}_grad"
                lines += [f"if {incoming} is not None:", f"    {name}_buffer.copy_({incoming})"]
        return lines

    def _gradient_out(self, var: Var) -> str:
        """None where no result that has a gradient depends on the input."""
        if var not in self.roots or var not in self.reaches:
            return "None"
        incoming = [f"{r.name}_grad" for r in self.graded if r.output.var in self.reaches[var]]
        incoming += [f"{new}_grad" for stored, new in self.stored.items() if stored in self.reaches[var]]
        if not incoming:
            return "None"
        buffer = f"{self.names[var]}_buffer"
        if self.signature.of(var).scalar.is_half:
            buffer += f".to(torch.{self.signature.of(var).scalar.name})"
        given = " or ".join(f"{name} is not None" for name in incoming)
        if len(incoming) > 1:
            given = f"({given})"
        return f"{buffer} if {given} and there[{self.roots.index(var)}] else None"

    # ------------------------------------------------------------ the entry

    def entry(self) -> list[str]:
        arguments, passed = ", ".join(self.names.values()), ", ".join(map(self._passed, self.names))
        return [
            f"def {self.kernel.name}({arguments}):",
            *(f"    {line}" for line in [*self._alias_checks(), *self._checks_of_numbers()]),
            f"    return {self.kernel.name}_function.apply({passed})",
        ]

    def _passed(self, var: Var) -> str:
        """A tensor that no gradient reaches asks for none in what the kernel makes; of what the loop writes into the
        second derivative needs what was there before."""
        name, kinds = self.names[var], [p.kind for p in self.signature.parameters if p.var is var]
        floats = any(kind.family == "tensor" and "float" in str(kind.dtype) for kind in kinds)
        text = f"{name}.detach()" if floats and self._gradient_out(var) == "None" else name
        if var in self.stored:
            text += ".clone()" if self._has_version(var) else ".copy()"
        return text
