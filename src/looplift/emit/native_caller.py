"""The Python text that calls a kernel: it unpacks tensors and numbers, checks the outcome and packs the results."""

from __future__ import annotations

import re
from collections.abc import Iterable

from looplift.emit.native_entry import HOST, MAKER, Passed, arguments_of, codes_of, handed_out
from looplift.emit.native_signature import ArrayResult, Parameter, Result, Signature, tensors_of
from looplift.emit.native_types import MIXED, Scalar
from looplift.ir.grammar import Const, Var
from looplift.ir.kernel import OUTCOMES

_PYTHON = {"float64": "float", "int64": "int", "bool": "bool"}


def caller_text(
    name: str,
    inputs: tuple[Var, ...],
    signature: Signature,
    results: list[Result],
    stored: tuple[Var, ...],
    passed: list[Passed],
    *,
    doubts: bool,
) -> str:
    """``def name(inputs) -> (outputs)``. It needs ``torch``, ``entry``, ``library`` and ``failed``; with ``doubts``
    also ``careful_library``."""
    arguments = argument_names(inputs, signature)
    tensors = tensors_of(stored, signature)
    lines = [f"def {name}({', '.join(arguments.values())}):"]
    lines += [f"    {line}" for line in checks(signature, arguments, stored)]
    lines += [f"    {line}" for line in result_places(results)]
    lines += [f"    {line}" for line in called(passed, doubts)]
    lines += [f"    {line}" for line in bumps(tensors, arguments)]
    outputs = [returned(result, arguments) for result in results]
    lines.append(f"    return ({', '.join(outputs)}{',' if len(outputs) == 1 else ''})")
    return "\n".join([*function_lines(name, passed, doubts), "", "", *lines, ""])


def passed_values(
    inputs: tuple[Var, ...], signature: Signature, results: list[Result], stored: Iterable[Var], *, adopts: bool
) -> list[Passed]:
    """What a kernel is given and hands out, in the order of its C++ parameters; ``adopts``: also what others make."""
    given = passed_arguments(signature, argument_names(inputs, signature))
    flags = [Passed(">bool", parameter.changed) for parameter in tensors_of(tuple(stored), signature)]
    makers = [MAKER, Passed("o", "made")] if adopts else []
    return [HOST, *makers, *given, *passed_results(results), *flags]


PATIENCE = 3
"""So many calls that had to run again, and each is careful at once."""
_DOUBTFUL = list(OUTCOMES).index("doubtful")


def called(passed: list[Passed], doubts: bool) -> list[str]:
    """The call of the C++ function, and the names of what it hands out; one with ``doubts`` may have to run again."""
    arguments, handed = arguments_of(passed), handed_out(passed)
    failure = ["if type(found) is int:", "    raise failed(found)"]
    if doubts:
        failure[1:1] = [
            f"    if found >= {_DOUBTFUL}:",
            f"        found = again(found)({arguments})",
            "    if type(found) is int:",
            "        raise failed(found)",
        ]
        del failure[-1]
    call = f"found = {'chosen[-1]' if doubts else 'function'}({arguments})"
    return [call, *failure, *([f"{handed} = found"] if handed else [])]


def function_lines(name: str, passed: list[Passed], doubts: bool) -> list[str]:
    """The C++ function as Python calls it; of one that may have to run again also the one that does so with care."""
    lines = [f'codes = "{codes_of(passed)}"', f'function = entry(library, "{name}", codes)']
    if not doubts:
        return lines
    return [
        *lines,
        "chosen, doubts = [function], []",
        "",
        "",
        "def again(outcome):",
        f'    careful = entry(careful_library(), "{name}", codes)',
        f"    doubts.extend([outcome] * (outcome == {_DOUBTFUL}))",
        f"    if len(doubts) == {PATIENCE}:",
        "        chosen.append(careful)",
        "    return careful",
    ]


_MADE = re.compile(r"\w+_(new|grad|buffer|seed|packed|array|function|tracked|library)|(new|value)_\w+")
"""Names that callers make of those of inputs, results, types and kernels."""
_OWN = frozenset("""
context gradients going place there marks once is_doubtful overlaps share_memory keep_apart bool float getattr iter len
set sorted tuple RuntimeError
""".split())  # fmt: skip


def argument_names(inputs: tuple[Var, ...], signature: Signature) -> dict[Var, str]:
    """The Python name of each input, which is none that a caller has for anything else."""
    named = {parameter.var: parameter.name for parameter in signature.parameters}
    for var, name in named.items():
        if name in _OWN or _MADE.fullmatch(name):
            name = f"{name}_given"
            while name in named.values():
                name = f"{name}_"
            named[var] = name
    return {var: named.get(var, f"value_{position}") for position, var in enumerate(inputs)}


def checks(signature: Signature, arguments: dict[Var, str], stored: tuple[Var, ...]) -> list[str]:
    """The lines that make sure that the inputs are what the kernel was made for: it takes bare pointers."""
    lines: list[str] = []
    for parameter in signature.parameters:
        name = arguments.get(parameter.var) or item_text(parameter, arguments)
        match parameter.kind.family:
            case "list" if parameter.ragged:
                lines.append(f"{name}_packed = packed_rows({name}, {_PYTHON[parameter.scalar.name]})")
            case "list":
                writes = parameter.var in stored
                if parameter.scalar == MIXED:
                    lines.append(f"{name}_packed = packed_mixed({name}, {parameter.rank}, {writes})")
                    continue
                kind = _PYTHON[parameter.scalar.name]
                lines.append(f"{name}_packed = packed({name}, {parameter.rank}, {kind}, {writes})")
    return lines


def item_text(parameter: Parameter, arguments: dict[Var, str]) -> str:
    """An item of a tuple that is an input."""
    owner, _, item = parameter.var.name.partition("[")
    return f"{next(text for var, text in arguments.items() if var.name == owner)}[{item}"


def passed_arguments(signature: Signature, arguments: dict[Var, str]) -> list[Passed]:
    """What stands for the inputs."""
    return [one for parameter in signature.parameters for one in passed_argument(parameter, arguments)]


_CODES = {"float64": "d", "float32": "d", "bool": "b", "uint64": "u"}


def passed_argument(parameter: Parameter, arguments: dict[Var, str]) -> list[Passed]:
    name = arguments.get(parameter.var, "")
    number = _CODES.get(parameter.scalar.name, "q")
    if not name:
        return [Passed(number, item_text(parameter, arguments))]
    match parameter.kind.family:
        case "tensor":
            return [Passed(f"t:{parameter.scalar.name}:{parameter.kind.rank}", name)]
        case "array":
            return [Passed(f"a:{parameter.scalar.name}", name)]
        case "numpy":
            return [Passed(number, f"{name}.item()")]
        case "list":
            parts = (0, 1) if parameter.ragged else (0,)
            memory = [Passed("p", f"{name}_packed[{part}].buffer_info()[0]") for part in parts]
            if parameter.ragged:
                return [*memory, Passed("q", f"len({name}_packed[2])")]
            return memory + [Passed("q", f"{name}_packed[1][{axis}]") for axis in range(parameter.rank)]
    return [Passed(number, name)]


# ---------------------------------------------------------------- results


def _is_tensor(result: Result) -> bool:
    return result.number.type.family == "tensor"


def result_places(results: list[Result]) -> list[str]:
    """The tensors of one element that a kernel is given to hand a number out in."""
    named = [r for r in results if not isinstance(r, ArrayResult) and r.name and _is_tensor(r)]
    return [f"{result.name} = torch.empty((), dtype=torch.{result.number.type.name})" for result in named]


def passed_results(results: list[Result]) -> list[Passed]:
    passed = []
    for result in results:
        if isinstance(result, ArrayResult):
            assert result.view is not None
            length = 3 + result.view.rank if result.adopted is None else 1
            passed += [Passed(f">{length}", result.name)] if result.name else []
        elif result.name and _is_tensor(result):
            passed.append(Passed("p", f"{result.name}.data_ptr()"))
        elif result.name:
            passed.append(Passed(f">{result.number.type.name}", result.name))
        passed += [Passed(">bool", flag) for flag in (result.flag, result.bound) if flag]
    return passed


def bumps(tensors: list[Parameter], arguments: dict[Var, str]) -> list[str]:
    """Tell autograd that tensors were changed in place."""
    lines = []
    for parameter in tensors:
        name = arguments[parameter.var]
        lines += [f"if {parameter.changed}:", f"    torch.autograd.graph.increment_version({name})"]
    return lines


def returned(result: Result, arguments: dict[Var, str]) -> str:
    output = result.output
    if output.same_as is not None:
        return arguments[output.same_as]
    text = _typed(result)
    if output.other is not None:
        text = f"{text} if {result.flag} else {_other(result, arguments)}"
    if result.bound:
        text = f"({text}) if {result.bound} else {'None' if output.may_be_none else 'NotImplemented'}"
    return text


def _typed(result: Result) -> str:
    match result.number.type.family:
        case "tensor":
            return result.name
        case "numpy":
            return f"numpy.{_numpy_name(result.number.type)}({result.name})"
    return result.name


def _numpy_name(scalar: Scalar) -> str:
    return "bool_" if scalar.is_bool else scalar.name


def _other(result: Result, arguments: dict[Var, str]) -> str:
    output = result.output
    assert output.other is not None
    if isinstance(output.init, Var):
        return arguments[output.init]
    if isinstance(output.init, Const):
        return _literal(output.init.value)
    value = f"{result.name}.item()" if _is_tensor(result) else result.name
    return f"{output.other.family}({value})"


def _literal(value: bool | int | float) -> str:
    text = repr(value)
    return f"float({text!r})" if text.strip("-") in ("inf", "nan") else text
