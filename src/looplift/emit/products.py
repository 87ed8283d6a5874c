"""Two factors and the letters of their dimensions in; their product by ``@``, where two dimensions are all, out."""

from __future__ import annotations

from looplift.emit.spelling import ATOM, PRODUCT
from looplift.emit.text import Text

Factor = tuple[Text, str]


def matrix_product(a: Factor, b: Factor, out: str) -> Text | None:
    """``a @ b``, either one transposed where it must be; None for products of another form."""
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
    return None


def _is_plain(letters: str) -> bool:
    return 1 <= len(letters) <= 2 and len(set(letters)) == len(letters)


def _turned(matrix: str) -> str:
    return matrix.removesuffix(".T") if matrix.endswith(".T") else f"{matrix}.T"
