"""What cannot be had while rows live in blocks is refused in the same words everywhere."""

from __future__ import annotations

from ..errors import InputError


def not_in_blocks(what: str, received: str, because: str) -> InputError:
    """Return the error for something that needs all rows in one block.

    Parameters
    ----------
    what : str
        Beginning of the sentence that ends with "cannot be had from rows in blocks".
    received : str
        What was asked for.
    because : str
        Why, as a sentence.
    """
    return InputError(
        f"{what} cannot be had from rows in blocks; received {received}. {because} Keep all rows "
        "in one block, run='memory', if they fit there; or take a random subset of the "
        "points, and other points through the extension."
    )


class NeedsLists(InputError):
    """Lists of neighbours are needed, which do not live in blocks."""


def no_lists(received: str) -> NeedsLists:
    """Return the error for something that needs lists of neighbours."""
    return NeedsLists(
        str(
            not_in_blocks(
                "Lists of neighbours",
                received,
                "There the pairs of points are those within the kernel's reach, and of neighbours "
                "only distances are kept.",
            )
        )
    )
