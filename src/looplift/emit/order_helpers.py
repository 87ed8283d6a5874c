"""Small functions that emitted code may need for the order of numbers."""

from __future__ import annotations

ORDERS = {
    "free_of_nan": '''
def free_of_nan(values):
    """Whether all are numbers: so they are where their sum is one, else it may be of infinities."""
    return not bool(values.detach().sum().isnan()) or not bool(values.isnan().any())
''',
    "places_in_order": '''
def places_in_order(keys):
    """The places of numbers along the last dimension in their order; of equal ones the first comes first."""
    keys = keys.detach()
    try:
        numbers = keys.numpy()
    except (RuntimeError, TypeError):  # of what is only traced
        return keys.sort(dim=-1, stable=True)[1]
    places = torch.from_numpy(np.argsort(numbers, axis=-1))  # much faster than a stable sort
    found = keys.gather(-1, places)
    if bool((found[..., 1:] == found[..., :-1]).any()):  # where none are equal it is the same
        return torch.from_numpy(np.argsort(numbers, axis=-1, kind="stable"))
    return places
''',
    "PlacesInOrder": '''
class PlacesInOrder:
    """The places of numbers along the last dimension in their order, of which the first are found alone as long as no
    more are asked for."""

    def __init__(self, keys):
        self.keys, self.places = keys, None

    def first(self, count):
        """So many places, or more."""
        known = 0 if self.places is None else self.places.shape[-1]
        if self.places is None or known < min(count, self.keys.shape[-1]):
            places = self.smallest(max(count, 4 * known, 128))
            self.places = places_in_order(self.keys) if places is None else places
        return self.places

    def smallest(self, count):
        """The places of so many numbers; None where it would not be faster, or equal ones may be among them."""
        if 4 * count > self.keys.shape[-1] or not self.keys.numel():
            return None
        keys = self.keys.detach()
        try:
            places = torch.from_numpy(np.argpartition(keys.numpy(), count, -1)[..., :count + 1])
        except (RuntimeError, TypeError):  # of what is only traced
            return None
        found = keys.gather(-1, places)
        order = torch.from_numpy(np.argsort(found.numpy(), -1))
        found = found.gather(-1, order)
        apart = bool((found[..., 1:] > found[..., :-1]).all())
        return places.gather(-1, order)[..., :count] if apart else None
''',
}
