"""Two factors and the letters of their dimensions in; their product by ``@``, where two dimensions are all, out."""

from __future__ import annotations

from itertools import takewhile

from looplift.emit.spelling import ATOM, PRODUCT
from looplift.emit.text import Text

Factor = tuple[Text, str]


def matrix_product(a: Factor, b: Factor, out: str, *, stacks: bool = False) -> Text | None:
    """``a @ b``, either one transposed where it must be; None for products of another form.

    With ``stacks`` also of as many matrices as both have in their first dimensions, which the product keeps.
    """
    for (left, rows), (right, columns) in ((a, b), (b, a)):
        summed = [letter for letter in rows if letter in columns]
        if len(summed) != 1 or summed[0] in out or not all(_is_plain(letters) for letters in (rows, columns)):
            continue
        kept = rows.replace(summed[0], ""), columns.replace(summed[0], "")
        if "".join(kept) != out:
            continue
        first = left.at(PRODUCT) if rows.endswith(summed[0]) else _turned(left.at(ATOM))
        second = right.at(PRODUCT + 1) if columns.startswith(summed[0]) else _turned(right.at(ATOM))
        return Text(f"{first} @ {second}", PRODUCT)
    return _product_of_stacks(a, b, out) if stacks else None


def _product_of_stacks(a: Factor, b: Factor, out: str) -> Text | None:
    lead = "".join(letters[0] for letters in takewhile(lambda found: len(set(found)) == 1, zip(a[1], b[1], out)))
    own = {factor: factor[1].removeprefix(lead) for factor in (a, b)}
    for left, right in ((a, b), (b, a)):
        rows, columns = own[left], own[right]
        summed = [letter for letter in rows if letter in columns]
        if not lead or len(summed) != 1 or summed[0] in out or len(rows) != 2 or not _is_plain(columns):
            continue
        if lead + rows.replace(summed[0], "") + columns.replace(summed[0], "") != out:
            continue
        if len(columns) == 1:  # of many products a row with a matrix takes a fraction of that with a column
            turned = left[0].at(PRODUCT + 1) if rows[0] == summed[0] else f"{left[0].at(ATOM)}.mT"
            return Text(f"({right[0].at(ATOM)}.unsqueeze(-2) @ {turned}).squeeze(-2)")
        first = left[0].at(PRODUCT) if rows[1] == summed[0] else f"{left[0].at(ATOM)}.mT"
        second = right[0].at(PRODUCT + 1) if columns[0] == summed[0] else f"{right[0].at(ATOM)}.mT"
        return Text(f"{first} @ {second}", PRODUCT)
    return None


def _is_plain(letters: str) -> bool:
    return 1 <= len(letters) <= 2 and len(set(letters)) == len(letters)


def _turned(matrix: str) -> str:
    return matrix.removesuffix(".T") if matrix.endswith(".T") else f"{matrix}.T"


def matrix_with_each(a: Factor, b: Factor, out: str) -> tuple[str, str] | None:
    """The texts of one matrix and of a stack of others, where a product is that of the one with each of these."""
    for (left, rows), (right, columns) in ((a, b), (b, a)):
        summed = [letter for letter in rows if letter in columns]
        apart = all(len(set(letters)) == len(letters) for letters in (rows, columns))
        if len(summed) != 1 or len(rows) != 2 or len(columns) < 3 or not apart:
            continue
        lead, own = columns[:-2], columns[-2:]
        if summed[0] in own and lead + rows.replace(summed[0], "") + own.replace(summed[0], "") == out:
            first = left.text if rows[1] == summed[0] else f"{left.at(ATOM)}.mT"
            return first, right.text if own[0] == summed[0] else f"{right.at(ATOM)}.mT"
    return None
