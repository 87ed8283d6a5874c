"""Functions of rows in the last dimension, as NumPy and torch have them for one row, for emitted code."""

ARRAYS = {
    "of_each": '''
def of_each(function, *columns):
    """A function of Python's, of the numbers of each lane: no digit differs, where one decides something."""
    lanes = [column.double() for column in columns if isinstance(column, torch.Tensor)]
    if any(one.shape != lanes[0].shape for one in lanes):
        lanes = torch.broadcast_tensors(*lanes)
    count = lanes[0].numel()
    if len(lanes) == 1 and count > 1024 and lanes[0].flatten()[:64].unique().numel() <= 16:  # few numbers, many times
        bits, places = lanes[0].contiguous().view(torch.int64).unique(return_inverse=True)  # 0.0 is not -0.0
        if 4 * bits.numel() < count:
            few = bits.view(torch.float64)
            return of_each(function, *(few if isinstance(one, torch.Tensor) else one for one in columns))[places]
    flat = iter([one.flatten().tolist() for one in lanes])
    numbers = [next(flat) if isinstance(one, torch.Tensor) else [float(one)] * count for one in columns]
    found = torch.from_numpy(np.fromiter(map(function, *numbers), np.float64, count))
    return found.to(lanes[0].device).view(lanes[0].shape)
''',
    "of_each_array": '''
def of_each_array(function, *columns):
    """A function of Python's, of the numbers of each lane: no digit differs, where one decides something."""
    columns = np.broadcast_arrays(*columns)
    found = [function(*numbers) for numbers in zip(*(column.ravel().tolist() for column in columns))]
    return np.array(found, dtype=np.float64).reshape(columns[0].shape)
''',
    "rounded_to": '''
def rounded_to(numbers, digits):
    """``round(x, digits)`` of each number: the double next to the decimal number next to it, ties to even."""
    factor = 10.0**digits
    products, limit = numbers * factor, 2.0**52
    a = numbers * 134217729.0 - (numbers * 134217729.0 - numbers)  # Dekker's halves, the products of which are exact
    b = factor * 134217729.0 - (factor * 134217729.0 - factor)
    rest = (a * b - products) + a * (factor - b) + (numbers - a) * b + (numbers - a) * (factor - b)
    near, size = products.round(), products.abs()
    beyond = products.trunc() + products.sign()
    ties = (rest != 0) & ((products - products.trunc()).abs() == 0.5)
    near = torch.where(ties, torch.where((rest > 0) == (products > 0), beyond, products.trunc()), near)
    odd = (rest.abs() == 0.5) & (products.fmod(2.0) != 0) & (size >= limit)
    near = torch.where(odd, near + 2 * rest, near)
    return torch.where(size < 2 * limit, near / factor, numbers)
''',
    "rounded_to_array": '''
def rounded_to_array(numbers, digits):
    """``round(x, digits)`` of each number: the double next to the decimal number next to it, ties to even."""
    return rounded_to(torch.from_numpy(np.ascontiguousarray(numbers)), digits).numpy()
''',
    "correlated": '''
def correlated(a, v, mode):
    """``np.correlate`` of vectors along the last dimension, the second one not longer."""
    count = v.shape[-1]
    if not 0 < count <= a.shape[-1]:
        raise RequirementFailed("an empty vector, or the second one is longer")
    if mode != "valid" and not np.isfinite(v).all():
        raise RequirementFailed("zeros around a vector, times what is not finite, are NaN")
    before, after = {"full": (count - 1, count - 1), "same": (count // 2, (count - 1) // 2), "valid": (0, 0)}[mode]
    a = np.pad(a, [*[(0, 0)] * (a.ndim - 1), (before, after)])
    length = a.shape[-1] - count + 1
    if count > 64:
        return np.einsum("...ij,...j->...i", np.lib.stride_tricks.sliding_window_view(a, count, axis=-1), v)
    total = a[..., :length] * v[..., :1]
    for k in range(1, count):
        total += a[..., k : k + length] * v[..., k : k + 1]
    return total
''',
    "convolved": '''
def convolved(a, v, mode):
    """``np.convolve`` of vectors along the last dimension."""
    if v.shape[-1] > a.shape[-1]:
        a, v = v, a
    return correlated(a, v[..., ::-1], mode)
''',
    "chained": '''
def chained(arrays, starts_with_vector, ends_with_vector):
    """``np.linalg.multi_dot`` of matrices in the last dimensions, in the order that costs least for their sizes."""
    arrays[0] = arrays[0][..., None, :] if starts_with_vector else arrays[0]
    arrays[-1] = arrays[-1][..., None] if ends_with_vector else arrays[-1]
    count, sizes = len(arrays), [*(one.shape[-2] for one in arrays), arrays[-1].shape[-1]]
    best = {(k, k): (0, k) for k in range(count)}
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            of_both = [(k, sizes[i] * sizes[k + 1] * sizes[j + 1]) for k in range(i, j)]
            best[i, j] = min((best[i, k][0] + best[k + 1, j][0] + cost, k) for k, cost in of_both)

    def product(i, j):
        k = best[i, j][1]
        return arrays[i] if i == j else product(i, k) @ product(k + 1, j)

    made = product(0, count - 1)
    made = made[..., 0] if ends_with_vector else made
    return made[..., 0] if starts_with_vector and ends_with_vector else made[..., 0, :] if starts_with_vector else made
''',
    "kronecker": '''
def kronecker(a, b, rank):
    """``np.kron`` of vectors or matrices in the last dimensions."""
    if rank == 1:
        made = a[..., :, None] * b[..., None, :]
        return made.reshape(made.shape[:-2] + (-1,))
    made = a[..., :, None, :, None] * b[..., None, :, None, :]
    return made.reshape(made.shape[:-4] + (a.shape[-2] * b.shape[-2], a.shape[-1] * b.shape[-1]))
''',
    "diagonal_matrices": '''
def diagonal_matrices(rows, k):
    """``np.diag`` of vectors in the last dimension."""
    count = rows.shape[-1]
    made = np.zeros((*rows.shape[:-1], count + abs(k), count + abs(k)), rows.dtype)
    places = np.arange(count)
    made[..., places + max(-k, 0), places + max(k, 0)] = rows
    return made
''',
    "counts_of_rows": '''
def counts_of_rows(rows, count, weights=None):
    """``np.bincount`` of vectors in the last dimension, whose integers are below ``count``."""
    lead = rows.shape[:-1]
    if count < 1 or (rows.size and not 0 <= rows.min() <= rows.max() < count):
        raise RequirementFailed("a row has a negative integer, or one that makes its counts longer")
    lanes = np.arange(int(np.prod(lead))).reshape((*lead, 1)) * count
    flat = (rows + lanes).ravel()
    given = None if weights is None else weights.ravel()
    return np.bincount(flat, given, minlength=int(np.prod(lead)) * count).reshape((*lead, count))
''',
    "counts_of_tensors": '''
def counts_of_tensors(rows, count, weights=None):
    """``torch.bincount`` of vectors in the last dimension, whose integers are below ``count``."""
    lead = rows.shape[:-1]
    if count < 1 or (rows.numel() and not 0 <= int(rows.min()) <= int(rows.max()) < count):
        raise RequirementFailed("a row has a negative integer, or one that makes its counts longer")
    lanes = torch.arange(lead.numel(), device=rows.device).reshape(*lead, 1) * count
    given = None if weights is None else weights.flatten()
    return torch.bincount((rows + lanes).flatten(), given, minlength=lead.numel() * count).view(*lead, count)
''',
    "histograms": '''
def histograms(rows, bins, span=None):
    """How many items of each vector in the last dimension are in each bin, the last of which is closed."""
    edges = np.histogram(np.empty(0, rows.dtype), bins, span)[1]
    count = len(edges) - 1
    places = np.searchsorted(edges, rows, "right") - 1
    places[rows == edges[-1]] = count - 1
    inside = (rows >= edges[0]) & (rows <= edges[-1])
    return counts_of_rows(np.where(inside, places, count), count + 1)[..., :-1]
''',
    "histograms_of_spans": '''
def histograms_of_spans(rows, count):
    """``np.histogram`` of each vector in the last dimension, between its least and its greatest item."""
    if not rows.shape[-1] or count < 1 or not np.isfinite(rows).all():
        raise RequirementFailed("a row without items, or with infinite ones")
    low, high = rows.min(-1), rows.max(-1)
    half = np.where(low == high, 0.5, 0.0).astype(rows.dtype)
    low, high = low - half, high + half
    edges = np.linspace(low, high, count + 1, axis=-1, dtype=rows.dtype)
    spans = (high - low)[..., None]
    places = np.minimum(((rows - low[..., None]) / spans * count).astype(np.intp), count - 1)
    places -= rows < np.take_along_axis(edges, places, -1)
    places += (rows >= np.take_along_axis(edges, places + 1, -1)) & (places != count - 1)
    return counts_of_rows(places, count), edges
''',
    "powers_of_rows": '''
def powers_of_rows(rows, count, increasing):
    """``np.vander`` of vectors in the last dimension."""
    made = np.ones((*rows.shape, count), np.promote_types(rows.dtype, int))
    made[..., 1:] = rows[..., None]
    made = np.multiply.accumulate(made, axis=-1)
    return made if increasing else made[..., ::-1]
''',
    "covariances": '''
def covariances(rows, less):
    """``np.cov`` of matrices in the last dimensions, whose rows are variables."""
    count = rows.shape[-1] - less
    if count <= 0:
        raise RequirementFailed("too few observations")
    rows = rows - rows.mean(-1, keepdims=True)
    return rows @ rows.swapaxes(-1, -2) / count
''',
    "correlations": '''
def correlations(rows):
    """``np.corrcoef`` of matrices in the last dimensions, whose rows are variables."""
    made = covariances(rows, 1)
    scale = np.sqrt(np.diagonal(made, axis1=-2, axis2=-1))
    return np.clip(made / scale[..., :, None] / scale[..., None, :], -1, 1)
''',
}
