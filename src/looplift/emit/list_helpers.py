"""Helpers of statements over lists of numbers: indices, and numbers that tensors of a dtype hold."""

LISTS = {
    "_one_index": '''
def _one_index(place):
    """An index of a list, where a tensor reads one element as well."""
    if type(place) is int or isinstance(place, np.integer):
        return place
    whole = (torch.int64, torch.int32, torch.int16, torch.int8)
    if isinstance(place, torch.Tensor) and place.ndim == 0 and place.dtype in whole:
        return int(place)
    raise TypeError(f"{place!r} is no index of one element")
''',
    "_int64": '''
def _int64(number):
    """A number that an integer tensor holds as it is."""
    if type(number) is int and -(2**63) <= number < 2**63:
        return number
    raise TypeError(f"{number!r} is no integer of 64 bits")
''',
    "_bool": """
def _bool(truth):
    if type(truth) is bool:
        return truth
    raise TypeError(f"{truth!r} is no truth value")
""",
    "_float64": '''
def _float64(number):
    """A number that a tensor holds as it is; of NaN containers know one object from another, of
    infinities NumPy warns."""
    if type(number) is float and abs(number) < math.inf:
        return number
    if type(number) is int and -(2**63) <= number < 2**63:
        return float(number)
    raise TypeError(f"{number!r} is no number of 64 bits")
''',
    "_float32": '''
def _float32(number):
    """A number that a tensor rounds, and does not overflow at."""
    if type(number) is float and not 3.4028234663852886e38 < abs(number) < math.inf:
        return number
    if type(number) is int and -(2**53) <= number <= 2**53:
        return number
    raise TypeError(f"{number!r} is no number of 32 bits")
''',
    "_double": """
def _double(number):
    if type(number) is float:
        return number
    return float(_int64(number))
""",
    "_listed": '''
def _listed(table, dtype, rank, most):
    """The numbers of a table, to be stored to."""
    if table.dtype != dtype or table.ndim != rank or math.prod(table.shape) > most or (table != table).any():
        raise TypeError(f"a table of {table.dtype} and shape {tuple(table.shape)} is no list of these numbers")
    return table.tolist()
''',
    "_put_back": '''
def _put_back(table, numbers):
    """A table with the numbers that were stored."""
    array = np.array(numbers, str(table.dtype).removeprefix("torch.")).reshape(table.shape)
    if not np.array_equal(table.numpy() if isinstance(table, torch.Tensor) else table, array):
        table[...] = torch.from_numpy(array) if isinstance(table, torch.Tensor) else array
''',
}
