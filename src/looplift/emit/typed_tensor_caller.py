"""The Python text that gives a typed program the caller's tensors, and makes those that it hands out.

It needs ``torch``, ``ctypes``, ``deque``, ``RequirementFailed`` and ``_library``, and what gradients of gradients are
had by: ``loop``, ``begun``, ``second`` and ``of_the_loop``, of ``build/recalled.py``, or of WITHOUT_LOOP where no loop
is at hand. ``access``: of ``build/tensors.py``, or of WITHOUT_LOOP.
"""

CALLER = '''\
DTYPES = (torch.float32, torch.float64, torch.int64, torch.bool, torch.int32, torch.int16, torch.int8, torch.uint8)
CODES = {dtype: code for code, dtype in enumerate(DTYPES)}
CHANGED = "the gradient of a program that changed a tensor which asks for one cannot be differentiated again"
MODIFIED = "one of the variables needed for gradient computation has been modified by an inplace operation"


class Session:
    """The tensors of one call: those that were given, those that ask for gradients, and those that are handed out."""

    def __init__(self):
        self.given, self.copies, self.leaves, self.first, self.made, self.nodes = [], [], [], [], [], []
        self.changed, self.kept, self.call = [], [], None
        self.seen = set()
        self.count = 1

    def read(self, tensor):
        if type(tensor) not in (torch.Tensor, torch.nn.Parameter) or not tensor.is_cpu:
            return None
        if tensor.layout is not torch.strided or tensor.dtype not in CODES or tensor.is_neg():
            return None
        asks = tensor.requires_grad
        held = tensor
        if asks or not tensor.is_contiguous():
            held = tensor.detach().contiguous()
            self.copies.append(held)
        self.given.append(tensor)
        leaf = asks and torch.is_grad_enabled()
        if leaf:
            self.leaves.append(tensor)
            self.first.append(self.count)
            self.count += tensor.numel()
        return (held.data_ptr(), CODES[tensor.dtype], int(leaf), len(self.given) - 1, *tensor.shape)

    def make(self, about):
        place, dtype, nodes, count, shape, steps = about
        dtype = DTYPES[dtype]
        tensor = torch.empty_strided(shape, steps, dtype=dtype) if steps else torch.empty(shape, dtype=dtype)
        ctypes.memmove(tensor.data_ptr(), place, count * tensor.element_size())
        if nodes:
            known = torch.empty(count, dtype=torch.int64)
            ctypes.memmove(known.data_ptr(), nodes, 8 * count)
            self.made.append(tensor)
            self.nodes.append(known.as_strided(shape, steps).flatten() if steps else known)
        return tensor

    def view(self, place, offset, detached):
        """A tensor that was given, or an element of it. ``detached``: whether some views of it were."""
        tensor, index = self.given[place], []
        if detached and tensor.requires_grad:
            raise RequirementFailed("a view asks for a gradient if it was not detached, without a graph as well")
        if offset < 0 or not tensor.dim():
            return tensor
        if (place, offset) in self.seen:
            raise RequirementFailed("one view of an element, or two that are alike")
        self.seen.add((place, offset))
        for extent in reversed(tensor.shape):
            offset, rest = divmod(offset, extent)
            index.insert(0, rest)
        for place in index:
            tensor = tensor[place]
        return tensor

    def linked(self, tape):
        """The tensors that ask for gradients, without the graphs of those that take no part in what is handed out."""
        if all(leaf.is_leaf for leaf in self.leaves):
            return self.leaves
        _, reached = sweep(tape, [(nodes, torch.zeros(nodes.shape)) for nodes in self.nodes])
        places = zip(self.leaves, self.first)
        there = [bool(reached[first : first + leaf.numel()].any()) for leaf, first in places]
        return [leaf if takes_part or leaf.is_leaf else leaf.detach() for leaf, takes_part in zip(self.leaves, there)]

    def ready(self, written):
        """Whether what was written may be put into the tensors that were given."""
        self.changed = [(self.given[place], place, made) for place, made in written]
        storages = [tensor.untyped_storage().data_ptr() for tensor in self.given] if written else []
        for place, made in written:
            tensor = self.given[place]
            if storages.count(storages[place]) > 1 or (tensor.is_leaf and tensor.requires_grad):
                return False
            if tensor.is_inference() or not _own_places(tensor):
                return False
        return True

    def change(self):
        """The program itself writes to no tensor after it has kept it for backward."""
        for tensor, _, made in self.changed:
            tensor.copy_(made.view(tensor.shape))
        for one in self.kept:
            one[2] = one[1]._version


def places(about):
    """Where PyTorch puts the elements of a row that is sorted, or finds so many of the largest or smallest ones."""
    place, dtype, size, count, down, stable = about
    row = torch.empty(size, dtype=DTYPES[dtype])
    ctypes.memmove(row.data_ptr(), place, size * row.element_size())
    if count < 0:
        return tuple(row.sort(descending=bool(down), stable=bool(stable)).indices.tolist())
    return tuple(row.topk(count, largest=bool(down)).indices.tolist())


def _own_places(tensor):
    """Whether no two elements are at one place."""
    reach = 1
    for step, extent in sorted(zip(tensor.stride(), tensor.shape)):
        if extent > 1 and step < reach:
            return False
        reach += (extent - 1) * step
    return True


class Tape:
    def __init__(self, library):
        self.library, self.address = library, library.taken_tape()

    def __del__(self):
        self.library.release_tape(self.address)


def sweep(tape, given):
    """The gradients of all numbers on a tape, and which have one, from those of the nodes that are given."""
    count = tape.library.tape_size(tape.address)
    slopes, reached = torch.zeros(count, dtype=torch.float64), torch.zeros(count, dtype=torch.uint8)
    for nodes, gradient in given:
        slopes.index_add_(0, nodes, gradient.reshape(-1).double())
        reached[nodes] = 1
    tape.library.sweep_tape(tape.address, slopes.data_ptr(), reached.data_ptr())
    return slopes, reached


class Backward(torch.autograd.Function):
    @staticmethod
    def forward(context, session, tape, *leaves):
        context.set_materialize_grads(False)
        context.tape, context.nodes, context.first = tape, session.nodes, session.first
        changed = {id(one) for one, _, _ in session.changed}
        context.leaves = None if any(id(leaf) in changed for leaf in leaves) else leaves
        context.call, context.given = session.call, session.leaves
        context.shapes = [(leaf.shape, leaf.dtype) for leaf in leaves]
        context.held = session.kept = [[place, one.detach(), one._version] for place, one in session.held]
        context.save_for_backward(*([torch.empty(0)] if tape.library.tape_keeps(tape.address) else []))
        return tuple(session.made)

    @staticmethod
    def backward(context, *gradients):
        context.saved_tensors
        if any(one is not None and torch._C._functorch.is_legacy_batchedtensor(one) for one in gradients):
            return (None, None, *of_the_loop(context.call, context.given, context.given, gradients, True))
        with torch.no_grad():
            found = Backward.swept(context, gradients)
        if not torch.is_grad_enabled():
            return (None, None, *found)
        if context.leaves is None:
            raise RuntimeError(CHANGED)
        return (None, None, *second(context.call, context.leaves, context.given, tuple(found), gradients))

    @staticmethod
    def swept(context, gradients):
        given = zip(context.nodes, gradients)
        tape = context.tape
        slopes, reached = sweep(tape, [pair for pair in given if pair[1] is not None])
        for place, held, version in context.held:
            if held._version != version and tape.library.needs_old(tape.address, reached.data_ptr(), place):
                raise RuntimeError(MODIFIED)
        found = []
        for first, (shape, dtype) in zip(context.first, context.shapes):
            part = slice(first, first + shape.numel())
            found.append(slopes[part].to(dtype).view(shape) if reached[part].any() else None)
        if not slopes.sum().isfinite():
            return of_the_loop(context.call, context.given, found, gradients)
        return found


def make(source):
    library, where = _library(source), access(DTYPES)
    function = library.run_program
    function.restype, function.argtypes = ctypes.py_object, [ctypes.py_object, ctypes.c_int64]
    library.taken_tape.restype = ctypes.c_void_p
    library.release_tape.restype, library.release_tape.argtypes = None, [ctypes.c_void_p]
    library.tape_size.restype, library.tape_size.argtypes = ctypes.c_int64, [ctypes.c_void_p]
    library.tape_keeps.restype, library.tape_keeps.argtypes = ctypes.c_int64, [ctypes.c_void_p]
    library.is_held.restype, library.is_held.argtypes = ctypes.c_int64, [ctypes.c_int64]
    library.needs_old.restype = ctypes.c_int64
    library.needs_old.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64]
    library.sweep_tape.restype, library.sweep_tape.argtypes = None, [ctypes.c_void_p] * 3

    def program(*values):
        session, call = Session(), begun(loop, values) if {is_tracked_and_changes} else None
        hooks = session.read, session.make, session.view, session.ready, session.given, where, places{calls}
        result = function((RequirementFailed, deque, *values, *hooks), {limit})
        if session.made:
            session.held = [(place, one) for place, one in enumerate(session.given) if library.is_held(place)]
            if any(one.is_inference() for _, one in session.held):
                raise RequirementFailed("a tensor of inference mode, which backward cannot keep")
            tape = Tape(library)
            call = call or begun(loop, values)
            if call is not None and not session.changed:
                session.call = call.ends(result, values, session.made, session.given)
            Backward.apply(session, tape, *session.linked(tape))
        session.change()
        return result

    return program


program = make(source)
'''

CALLS = '''\
CALLS = (
{calls}
)


def library_call(which, kinds):
    """A function of numbers, and where the tensors are that it is called with before these."""
    function = CALLS[which]
    tensors = [torch.empty(shape, dtype=DTYPES[code], device="cpu") for code, *shape in kinds]
    return (lambda *numbers: function(*tensors, *numbers)), *(tensor.data_ptr() for tensor in tensors)


def read_result(found):
    """Where a tensor is, and of what kind."""
    if type(found) is not torch.Tensor or found.layout is not torch.strided or not found.is_cpu or found.is_neg():
        raise RequirementFailed("a function makes tensors of another kind")
    return (found.data_ptr(), CODES[found.dtype], *found.shape, *found.stride())


'''
"""What a program has that calls functions of the library."""

WITHOUT_LOOP = '''\
NO_SECOND = "the gradient of a program without its loop cannot be differentiated again"
loop = None


def access(dtypes):
    return 0


def begun(loop, values):
    return None


def of_the_loop(call, given, found, gradients, only=False):
    if only:
        raise RuntimeError(NO_SECOND)
    return found


def second(call, leaves, given, found, gradients):
    """Gradients that were asked for with a graph, but have none."""
    there = [one for one in found if one is not None]
    known = [one for one in (*leaves, *gradients) if one is not None]
    again = iter(Once.apply(len(there), *there, *known) if there else ())
    return tuple(None if one is None else next(again) for one in found)


class Once(torch.autograd.Function):
    @staticmethod
    def forward(context, count, *tensors):
        return tuple(one.clone() for one in tensors[:count])

    @staticmethod
    def backward(context, *gradients):
        raise RuntimeError(NO_SECOND)
'''
