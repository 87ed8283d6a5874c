"""The registry of reasons: why a loop stays as written, in words for its author, with what to do about it.

In the examples ``x``, ``y`` and ``out`` are vectors of ``n`` elements, ``m`` and ``rows`` are matrices of ``n`` rows
and columns, ``index`` and ``other`` hold ``n`` positions, ``values`` is a list of ``n`` Python floats; other names say
what is meant.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Reason:
    """One entry: ``refused`` is a short loop that stays for this reason, ``lifted`` one like it that lifts.

    The two are empty where no change of the loop is asked for.
    """

    code: str
    title: str
    explanation: str
    hint: str
    refused: str = ""
    lifted: str = ""


_ENTRIES = (
    Reason(
        "not-run",
        "the loop has not run yet",
        "A loop is looked at when it runs for the first time, with the values that it then has.",
        "call the function.",
    ),
    Reason(
        "unknown-call",
        "a call whose effects are not known",
        "The loop calls something that looplift cannot look into, such as a function of a C extension. It might print, "
        "draw random numbers or change data, so its calls must stay as they are: one per iteration, in order.",
        "use a function of torch, NumPy or math, or a Python function whose source can be read; "
        "if the call does not depend on the loop, move it in front of the loop.",
        "for i in range(n):\n    y[i] = c_extension.score(x[i].item())",
        "for i in range(n):\n    y[i] = torch.sigmoid(x[i])",
    ),
    Reason(
        "unknown-op",
        "no rule for an operation",
        "looplift knows this operation but has no batched form of it: nothing in torch does it for many inputs at "
        "once, or its result has a size that only the data can tell.",
        "say the same with operations on tensors of a fixed size, or move this statement into a loop of its own, "
        "so that the rest can be lifted.",
        "for i in range(n):\n    y[i] = len(torch.unique(m[i]))",
        "for i in range(n):\n    s = torch.sort(m[i]).values\n    y[i] = 1 + (s[1:] != s[:-1]).sum()",
    ),
    Reason(
        "carried",
        "each iteration needs the result of the one before",
        "A value goes from one iteration into the next, and not as a sum, product, minimum, maximum or a recurrence "
        "like h = a * h + b, which can be computed for all iterations at once. These iterations must run one "
        "after the other.",
        "if you can, carry a sum, a minimum, a maximum or h = a * h + b; else give the loop several independent "
        "sequences to work on: the loop over sequences is then batched, inside the steps.",
        "for i in range(n):\n    h = torch.linalg.solve(m, h)",
        "for i in range(n):\n    h = 0.9 * h + x[i]",
    ),
    Reason(
        "memory-dependence",
        "one iteration may read what another has written",
        "The loop writes to places that it also reads, and they are not known to be the same iteration's. "
        "Run together, the iterations would read old values.",
        "write to a new tensor instead of the one that is read, or read from a copy made before the loop.",
        "for i in range(1, n):\n    m[i] = torch.linalg.solve(m, m[i - 1])",
        "before = m.clone()\nfor i in range(1, n):\n    m[i] = torch.linalg.solve(before, before[i - 1])",
    ),
    Reason(
        "order",
        "writes may meet in one place, and their order matters",
        "Several iterations may write to the same element, and the result depends on which of them comes last. "
        "Batched writes have no order.",
        "accumulate with +=, or with a minimum or maximum, for which the order does not matter; "
        "or write through one statement and one index only.",
        "for i in range(n):\n    rows[index[i]] = torch.cummax(m[i], 0).values\n    rows[other[i]] = m[i]",
        "for i in range(n):\n    rows[index[i]] += torch.cummax(m[i], 0).values\n    rows[other[i]] += m[i]",
    ),
    Reason(
        "ragged-shape",
        "the shape differs from iteration to iteration",
        "A tensor made in the loop has another size in each iteration, and this operation has no form for rows of "
        "different lengths.",
        "keep the full size and mask what does not count, with torch.where or a multiplication by 0 and 1.",
        "for i in range(n):\n    y[i] = m[i][m[i] > 0].median()",
        "for i in range(n):\n    y[i] = torch.where(m[i] > 0, m[i], torch.nan).nanmedian()",
    ),
    Reason(
        "mixed-kinds",
        "a variable holds different kinds of values",
        "Depending on the iteration, a variable is a tensor, a number, a string or None, or a tensor of another dtype. "
        "A batch has one kind of value.",
        "start the variable with a value of the kind that the loop gives it.",
        'for i in range(n):\n    found.append(x[i] if x[i] > 0.5 else "none")',
        "for i in range(n):\n    y[i] = x[i] if x[i] > 0.5 else torch.nan",
    ),
    Reason(
        "two-libraries",
        "arrays of NumPy and tensors in one loop",
        "Where the operations on arrays give the same on tensors, such a loop runs over tensors in the memory of the "
        "arrays. Here one does not: it rounds otherwise and decides something, changes an array in place, may ask for "
        "a gradient, or has no such form.",
        "do the whole loop with one of the two: torch.from_numpy(x) before it, or x.numpy().",
        "for i in range(n):\n    if rows[i].numpy().mean() > 0:\n        y[i] = 1",
        "for i in range(n):\n    if rows[i].mean() > 0:\n        y[i] = 1",
    ),
    Reason(
        "two-devices",
        "tensors on several devices",
        "Some tensors of the loop are on the CPU and others on a device, or on two of them, and which value is where "
        "differs by iteration; together they could be neither here nor there.",
        "make all of them on one device: torch.zeros(n, device=x.device), or x.new_zeros(n).",
    ),
    Reason(
        "unsupported-syntax",
        "syntax without a rule",
        "The loop uses a construct of the language that looplift does not translate.",
        "say it with assignments, if, for, while, break, continue, return and calls.",
        "for i in range(n):\n    match rows[i].tolist():\n        case [0, *rest]:\n            y[i] = x[i]",
        "for i in range(n):\n    if rows[i, 0] == 0:\n        y[i] = x[i]",
    ),
    Reason(
        "unsupported-iterable",
        "a loop over something that cannot be listed beforehand",
        "The loop runs over an object that hands out its elements one by one, such as an open file or a queue, so the "
        "number of iterations is not known before they run.",
        "read the elements into a list or a tensor first, then loop over that.",
        "for line in open_file:\n    total = total + float(line) ** 2",
        "for value in values:\n    total = total + value**2",
    ),
    Reason(
        "unsupported-value",
        "a type of value without a rule",
        "The loop computes with objects that are neither tensors, arrays, numbers nor plain containers of these.",
        "convert them to floats, tensors or arrays before the loop.",
        "for i in range(n):\n    y[i] = float(decimals[i] * 2)",
        "for i in range(n):\n    y[i] = values[i] * 2",
    ),
    Reason(
        "training-step",
        "the loop trains",
        "Each iteration changes the parameters, and the next one uses the changed parameters: all iterations at once "
        "would be another training run. Or a backward pass leaves gradients that others add to, change or read. It is "
        "lifted where gradients are reset at the beginning of each iteration, and read behind one backward pass.",
        "nothing to do where the loop trains; loops inside it, for instance over the samples of a batch, are lifted "
        "by themselves. Else call zero_grad() first in each iteration and backward() once, or torch.autograd.grad.",
        "for i in range(n):\n    optimizer.zero_grad()\n    model(m[i]).sum().backward()\n    optimizer.step()",
        "loss = 0\nfor i in range(n):\n    loss = loss + model(m[i]).sum()\nloss.backward()\noptimizer.step()",
    ),
    Reason(
        "gradient",
        "a gradient in each iteration",
        "Each iteration calls torch.autograd.grad. It is lifted where the operations between the output and the input "
        "can run once more: none draws random numbers or changes a tensor in place, and none stands in a branch or in "
        "a loop of its own. It must be certain that the loop would not raise.",
        "use such operations, made in the same iteration, as torch.where in the place of a branch, or torch.func.grad "
        "under torch.vmap; a loop that needs its graph again needs retain_graph=True.",
        "for i in range(n):\n    loss = model(m[i]).sum()\n    if loss > 0:\n        loss = loss**2\n"
        "    found.append(torch.autograd.grad(loss, model.bias)[0])",
        "for i in range(n):\n    loss = model(m[i]).sum()\n    loss = torch.where(loss > 0, loss**2, loss)\n"
        "    found.append(torch.autograd.grad(loss, model.bias)[0])",
    ),
    Reason(
        "no-source",
        "the source cannot be read",
        "looplift works from the source text of a function, and there is none: it was made by exec or eval, or belongs "
        "to a compiled module.",
        "define the function in a file or in a notebook cell.",
        'exec("def scale():\\n    for i in range(n): y[i] = 2 * x[i]")',
        "def scale():\n    for i in range(n):\n        y[i] = 2 * x[i]",
    ),
    Reason(
        "no-loop",
        "there is no loop",
        "The function has no for or while loop and no comprehension, so there is nothing to lift. Loops in your "
        "functions, methods and modules that it calls are lifted with it, those of installed packages are not.",
        "lift the function that holds the loop.",
        "y = 2 * x",
        "for i in range(n):\n    y[i] = 2 * x[i]",
    ),
    Reason(
        "random-order",
        "the order of random draws depends on the data",
        "Which random numbers an iteration draws depends on what was computed before, so drawing them together would "
        "give other numbers than the loop.",
        "draw the same numbers in every iteration and select afterwards.",
        "for i in range(n):\n    while y[i] < torch.rand(()):\n        y[i] += 0.5",
        "for i in range(n):\n    y[i] = torch.where(torch.rand(()) < 0.5, x[i], 0.0)",
    ),
    Reason(
        "effect-order",
        "something visible happens between the computations",
        "The loop prints, appends to something shared or calls out while its data is half done, and what is seen then "
        "depends on how far the loop has come.",
        "move the printing or logging behind the loop, or let it show only values of its own iteration.",
        "for i in range(n):\n    y[i] = 2 * x[i]\n    print(y)",
        "for i in range(n):\n    y[i] = 2 * x[i]\nprint(y)",
    ),
    Reason(
        "too-small",
        "nothing to gain",
        "The loop has so few iterations, or does so much in each, that batching it would not make it faster.",
        "nothing to do.",
        "for i in range(2):\n    m = m @ m",
        "for i in range(n):\n    y[i] = m[i] @ x",
    ),
    Reason(
        "requirement",
        "the batched code does not hold for these values",
        "The values of this call break an assumption of the batched code, for instance a division by zero between "
        "Python numbers, which must raise. Nothing was changed by the attempt, and the original loop ran.",
        "if the loop raised, this is its own exception; else test for the special value before using it.",
        "for i in range(n):\n    y[i] = 1.0 / (values[i] - values[i])",
        "for i in range(n):\n    if values[i] != 0:\n        y[i] = 1.0 / values[i]",
    ),
    Reason(
        "verification",
        "the first call did not agree with the loop",
        "On its first call the batched code was compared with the loop and gave another result. The loop's result was "
        "used, and this function keeps its loop. This is a defect of looplift.",
        "please report it, with the function and the arguments; your results are those of the loop.",
    ),
    Reason(
        "internal",
        "a defect in looplift",
        "looplift failed on this loop. The loop ran as written, and its results are right.",
        "please report it, with the function and the arguments.",
    ),
    Reason(
        "recursion",
        "a function that calls itself",
        "The loop calls a function that calls itself, in a way that has no batched form.",
        "write it as a loop over levels or over a list of nodes, children first.",
        "def depth(node):\n    return 1 + max([depth(child) for child in node.children], default=0)",
        "for i in range(n - 1, 0, -1):\n    level[parent[i]] = max(level[parent[i]], level[i] + 1)",
    ),
    Reason(
        "generator",
        "a generator hands out one value at a time",
        "A function with yield runs only as far as its caller asks, so its iterations cannot be run beforehand.",
        "collect the values in a list and return it.",
        "def rows():\n    for i in range(n):\n        yield m[i].sum()",
        "def rows():\n    sums = []\n    for i in range(n):\n        sums.append(m[i].sum())\n    return sums",
    ),
    Reason(
        "exception-handling",
        "try or with inside the loop",
        "An iteration that catches exceptions or enters a context depends on what is raised when, and batched code "
        "raises at other moments. Only divisions of Python's numbers, math.log and math.sqrt, subscripts and keys of "
        "dicts are asked beforehand, in a try without finally whose exception has no name.",
        "test for the special case with if, and put with around the loop.",
        "for i in range(n):\n    try:\n        y[i] = 1 / values[i]\n    finally:\n        y[i] += 1",
        "for i in range(n):\n    try:\n        y[i] = 1 / values[i]\n    except ZeroDivisionError:\n        y[i] = 0",
    ),
    Reason(
        "backend",
        "not possible with the chosen backend",
        "This loop has a faster form, but not with the backend that was asked for.",
        'use backend="auto", which chooses for each loop.',
    ),
    Reason(
        "device",
        "no kernel for the device",
        "The tensors are on a device. A kernel for it is one loop over numbers whose iterations do not depend on one "
        "another, without gradients; NVRTC compiles it, through PyTorch.",
        'use backend="auto": the loop then runs on the device by PyTorch\'s own operations where it can.',
    ),
    Reason(
        "not-scalar",
        "a native kernel works on numbers only",
        "The iterations depend on one another, and a compiled kernel could run them fast, but the loop works on whole "
        "vectors or matrices, or on something other than numbers.",
        "write the inner work on single elements, with loops over them; or give the loop many sequences at once.",
        '@lift(backend="native")\ndef solve():\n    for i in range(n):\n        y[i] = torch.trace(m * x[i])',
        '@lift(backend="native")\ndef sines():\n    for i in range(n):\n        y[i] = math.sin(x[i].item())',
    ),
    Reason(
        "subclass",
        "not a plain tensor",
        "An argument is a subclass of Tensor, or is sparse, nested or quantized. Such tensors have rules of their own, "
        "which batched code would bypass.",
        "convert it first: x.as_subclass(torch.Tensor) for a subclass, x.to_dense() for a sparse tensor.",
        "sparse = m.to_sparse()\nfor i in range(n):\n    y[i] = sparse[i].sum()",
        "dense = m.to_sparse().to_dense()\nfor i in range(n):\n    y[i] = dense[i].sum()",
    ),
    Reason(
        "while-condition",
        "nothing says when the loop ends, except running it",
        "The condition of the while loop depends on something outside the data, or on a single sequence whose steps "
        "must follow one another.",
        "let the condition depend on values computed in the loop only; run several such sequences under one "
        "outer loop.",
        "while h.norm() > 1e-3:\n    h = torch.linalg.solve(m + m.T, h)",
        "for i in range(n):\n    v = x[i]\n    while v * v > 2.0:\n        v = 0.5 * v\n    y[i] = v",
    ),
    Reason(
        "integer-range",
        "integers of Python may exceed 64 bits",
        "Integers of Python have no limit, those of tensors and of native code have 64 bits. This one may grow beyond.",
        "keep it small, for instance by taking a remainder in each iteration.",
    ),
    Reason(
        "memory",
        "all iterations together would not fit into memory",
        "The values that all iterations compute at once would take more than the fourth part of the memory that is "
        "free, or than the number of bytes given as `memory`, and the loop cannot run piece by piece.",
        "give more `memory` if there is more; let the outermost loop end when its range does, and let each of its "
        "iterations store, append or sum values of its own.",
    ),
    Reason(
        "aliasing",
        "two names may share memory",
        "The loop writes to one tensor and reads another, and both may be views of the same memory, so that a write "
        "changes what a later iteration reads.",
        "make a copy with .clone() before the loop.",
        "tail = y[1:]\nfor i in range(n - 1):\n    tail[i] = 2 * y[i]",
        "tail = y[1:]\nhead = y.clone()\nfor i in range(n - 1):\n    tail[i] = 2 * head[i]",
    ),
)

REASONS: dict[str, Reason] = {entry.code: entry for entry in _ENTRIES}


def reason(code: str) -> Reason:
    """The entry with this code; KeyError if the registry has none."""
    if code not in REASONS:
        raise KeyError(f"no reason has the code {code!r}; they are listed in looplift/base/reasons.py")
    return REASONS[code]


def as_markdown() -> str:
    """The page ``docs/reasons.md``."""
    return "\n".join(["# Why a loop is kept", "", _PREFACE, *(_section(entry) for entry in _ENTRIES)])


_PREFACE = """A kept loop runs as written. The report names the line, one of these reasons, and what can be done.

In the examples `x`, `y` and `out` are vectors of `n` elements, `m` and `rows` are matrices of `n` rows and columns,
`index` and `other` hold `n` positions, `values` is a list of `n` Python floats. This page is generated from
`src/looplift/base/reasons.py`:

    python -c "from looplift.base.reasons import as_markdown; print(as_markdown(), end='')" > docs/reasons.md
"""


def _section(entry: Reason) -> str:
    text = f"## `{entry.code}`: {entry.title}\n\n{entry.explanation}\n\nWhat to do: {entry.hint}\n"
    if not entry.refused:
        return text
    return f"{text}\nKept:\n\n{_code(entry.refused)}\nLifted:\n\n{_code(entry.lifted)}"


def _code(text: str) -> str:
    return f"```python\n{text}\n```\n"
