"""The Python text that calls a kernel: it unpacks tensors and numbers, checks the outcome and packs the results."""

from __future__ import annotations

from looplift.emit.native_signature import ArrayResult, Parameter, Result, Signature, tensors_of
from looplift.emit.native_types import MIXED, Scalar
from looplift.ir.grammar import Const, Var
from looplift.ir.kernel import OUTCOMES

CTYPES = {
    "float64": "c_double", "float32": "c_float", "int64": "c_int64", "int32": "c_int32", "int16": "c_int16",
    "int8": "c_int8", "uint64": "c_uint64", "uint32": "c_uint32", "uint16": "c_uint16", "uint8": "c_uint8",
    "bool": "c_bool",
}  # fmt: skip
_PYTHON = {"float64": "float", "int64": "int", "bool": "bool"}


def caller_text(
    name: str,
    inputs: tuple[Var, ...],
    signature: Signature,
    results: list[Result],
    stored: tuple[Var, ...],
    *,
    doubts: bool,
) -> str:
    """``def name(inputs) -> (outputs)``. It needs ``ctypes``, ``torch``, ``function``, ``host`` and ``failed``; with
    ``doubts`` also ``careful_library``."""
    arguments = argument_names(inputs, signature)
    lines = [f"def {name}({', '.join(arguments.values())}):"]
    lines += [f"    {line}" for line in checks(signature, arguments, stored)]
    tensors = tensors_of(stored, signature)
    lines += [f"    {line}" for line in result_places(results) + flag_places(tensors)]
    passed = passed_arguments(signature, arguments) + passed_results(results) + passed_flags(tensors)
    lines += [f"    {line}" for line in called(["host", *passed], doubts)]
    lines.append("    if outcome:\n        raise failed(outcome)")
    lines += [f"    {line}" for line in bumps(tensors, arguments)]
    outputs = [returned(result, arguments) for result in results]
    lines.append(f"    return ({', '.join(outputs)}{',' if len(outputs) == 1 else ''})")
    types = ", ".join(["ctypes.c_void_p", *argument_types(signature), *result_types(results, tensors)])
    head = [f"function.argtypes = [{types}]", "function.restype = ctypes.c_int", *array_dtypes(signature)]
    head += again(name) if doubts else []
    return "\n".join([*head, "", "", *lines, ""])


PATIENCE = 3
"""So many calls that had to run again, and each is careful at once."""
_DOUBTFUL = list(OUTCOMES).index("doubtful")


def called(passed: list[str], doubts: bool) -> list[str]:
    """The call of the C++ function; one with ``doubts`` may have to run again."""
    arguments = ", ".join(passed)
    if not doubts:
        return [f"outcome = function({arguments})"]
    return [
        f"outcome = chosen[-1]({arguments})",
        f"if outcome >= {_DOUBTFUL}:",
        f"    outcome = again(outcome)({arguments})",
    ]


def again(name: str) -> list[str]:
    """What a kernel that may have to run again needs: the function that looks at each operation."""
    return [
        "chosen, doubts = [function], []",
        "",
        "",
        "def again(outcome):",
        f"    careful = careful_library().{name}",
        "    careful.argtypes, careful.restype = function.argtypes, function.restype",
        f"    doubts.extend([outcome] * (outcome == {_DOUBTFUL}))",
        f"    if len(doubts) == {PATIENCE}:",
        "        chosen.append(careful)",
        "    return careful",
    ]


def argument_names(inputs: tuple[Var, ...], signature: Signature) -> dict[Var, str]:
    """The Python name of each input."""
    named = {parameter.var: parameter.name for parameter in signature.parameters}
    return {var: named.get(var, f"value_{position}") for position, var in enumerate(inputs)}


def argument_types(signature: Signature) -> list[str]:
    types: list[str] = []
    for parameter in signature.parameters:
        if parameter.ragged:
            types += ["ctypes.c_void_p", "ctypes.c_void_p", "ctypes.c_int64"]
        elif parameter.kind.family == "array":
            types.append("ctypes.c_void_p")
        elif parameter.is_pointer:
            extents = parameter.rank if parameter.kind.family == "list" else 2 * parameter.rank
            types += ["ctypes.c_void_p"] + ["ctypes.c_int64"] * extents
        else:
            types.append(f"ctypes.{CTYPES[parameter.scalar.name]}")
    return types


def checks(signature: Signature, arguments: dict[Var, str], stored: tuple[Var, ...]) -> list[str]:
    """The lines that make sure that the inputs are what the kernel was made for: it takes bare pointers."""
    lines: list[str] = []
    for parameter in signature.parameters:
        name = arguments.get(parameter.var) or item_text(parameter, arguments)
        match parameter.kind.family:
            case "tensor":
                lines += _tensor_check(parameter, name)
            case "array":
                lines += _array_check(parameter, name)
            case "list" if parameter.ragged:
                lines.append(f"{name}_packed = packed_rows({name}, {_PYTHON[parameter.scalar.name]})")
            case "list":
                writes = parameter.var in stored
                if parameter.scalar == MIXED:
                    lines.append(f"{name}_packed = packed_mixed({name}, {parameter.rank}, {writes})")
                    continue
                kind = _PYTHON[parameter.scalar.name]
                lines.append(f"{name}_packed = packed({name}, {parameter.rank}, {kind}, {writes})")
            case "int":
                lines.append(f"if not -0x8000000000000000 <= {name} < 0x8000000000000000:")
                lines.append("    raise failed(2)")
    return lines


def _tensor_check(parameter: Parameter, name: str) -> list[str]:
    dtype, rank = f"torch.{parameter.scalar.name}", parameter.kind.rank
    message = f"{name} must be a {rank}-dimensional tensor of {dtype} on the CPU"
    wrong = f"{name}.dtype is not {dtype} or not {name}.is_cpu or {name}.dim() != {rank} or {name}.is_neg()"
    return [f"if {wrong}:", f'    raise TypeError("{message}")']


def _array_check(parameter: Parameter, name: str) -> list[str]:
    """A kernel looks itself at what else an array is."""
    scalar = parameter.scalar.name
    wrong = f"type({name}) is not numpy.ndarray or {name}.dtype is not dtype_of_{scalar}"
    other = f"not isinstance({name}, numpy.ndarray) or {name}.dtype != dtype_of_{scalar}"
    return [f"if ({wrong}) and ({other}):", f'    raise TypeError("{name} must be an array of {scalar}")']


def array_dtypes(signature: Signature) -> list[str]:
    """The dtypes that arrays are compared with."""
    names = {p.scalar.name for p in signature.parameters if p.kind.family == "array"}
    return [f'dtype_of_{name} = numpy.dtype("{name}")' for name in sorted(names)]


def item_text(parameter: Parameter, arguments: dict[Var, str]) -> str:
    """An item of a tuple that is an input."""
    owner, _, item = parameter.var.name.partition("[")
    return f"{next(text for var, text in arguments.items() if var.name == owner)}[{item}"


def passed_arguments(signature: Signature, arguments: dict[Var, str]) -> list[str]:
    """The arguments of the C++ function that stand for the inputs."""
    passed: list[str] = []
    for parameter in signature.parameters:
        passed += _passed(parameter, arguments.get(parameter.var, ""), arguments)
    return passed


def _passed(parameter: Parameter, name: str, arguments: dict[Var, str]) -> list[str]:
    if not name:
        return [item_text(parameter, arguments)]
    match parameter.kind.family:
        case "tensor":
            extents = [f"*{name}.shape", f"*{name}.stride()"] if parameter.kind.rank else []
            return [f"{name}.data_ptr()", *extents]
        case "array":
            return [f"array_at({name})"]
        case "numpy":
            return [f"{name}.item()"]
        case "list" if parameter.ragged:
            memory = [f"{name}_packed[{part}].buffer_info()[0]" for part in (0, 1)]
            return [*memory, f"len({name}_packed[2])"]
        case "list":
            return [f"{name}_packed[0].buffer_info()[0]", f"*{name}_packed[1]"]
    return [name]


# ---------------------------------------------------------------- results


def _is_tensor(result: Result) -> bool:
    return result.number.type.family == "tensor"


def result_places(results: list[Result]) -> list[str]:
    lines = []
    for result in results:
        if isinstance(result, ArrayResult):
            if not result.name:
                continue
            assert result.view is not None
            lines.append(f"{result.name} = (ctypes.c_int64 * {3 + result.view.rank})()")
        elif result.name and _is_tensor(result):
            lines.append(f"{result.name} = torch.empty((), dtype=torch.{result.number.type.name})")
        elif result.name:
            lines.append(f"{result.name} = ctypes.{CTYPES[result.number.type.name]}()")
        lines += [f"{flag} = ctypes.c_bool()" for flag in (result.flag, result.bound) if flag]
    return lines


def passed_results(results: list[Result]) -> list[str]:
    passed = []
    for result in results:
        if isinstance(result, ArrayResult):
            passed += [result.name] if result.name else []
        elif result.name:
            passed.append(f"{result.name}.data_ptr()" if _is_tensor(result) else f"ctypes.byref({result.name})")
        passed += [f"ctypes.byref({flag})" for flag in (result.flag, result.bound) if flag]
    return passed


def result_types(results: list[Result], tensors: list[Parameter]) -> list[str]:
    return ["ctypes.c_void_p"] * (len(passed_results(results)) + len(tensors))


def flag_places(tensors: list[Parameter]) -> list[str]:
    return [f"{parameter.changed} = ctypes.c_bool()" for parameter in tensors]


def passed_flags(tensors: list[Parameter]) -> list[str]:
    return [f"ctypes.byref({parameter.changed})" for parameter in tensors]


def bumps(tensors: list[Parameter], arguments: dict[Var, str]) -> list[str]:
    """Tell autograd that tensors were changed in place."""
    lines = []
    for parameter in tensors:
        name = arguments[parameter.var]
        lines += [f"if {parameter.changed}.value:", f"    torch.autograd.graph.increment_version({name})"]
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
            return f"numpy.{_numpy_name(result.number.type)}({result.name}.value)"
    return f"{result.name}.value"


def _numpy_name(scalar: Scalar) -> str:
    return "bool_" if scalar.is_bool else scalar.name


def _other(result: Result, arguments: dict[Var, str]) -> str:
    output = result.output
    assert output.other is not None
    if isinstance(output.init, Var):
        return arguments[output.init]
    if isinstance(output.init, Const):
        return _literal(output.init.value)
    value = f"{result.name}.item()" if _is_tensor(result) else f"{result.name}.value"
    return f"{output.other.family}({value})"


def _literal(value: bool | int | float) -> str:
    text = repr(value)
    return f"float({text!r})" if text.strip("-") in ("inf", "nan") else text
