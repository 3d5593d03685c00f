"""Numbers and counts as people read them: in messages, tables, pictures and the page."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .arrays import FloatArray

#: Numbers from 0.01 up to this one are written without a power of ten.
PLAIN = 1e5
#: Largest number of digits that are written; an estimate never has more.
MOST_DIGITS = 6


def listed(numbers: NDArray[np.intp], most: int = 8) -> str:
    """Return whole numbers in a phrase: "1, 2 and 3", or the first `most` of them and "…"."""
    names = [str(int(number)) for number in numbers[:most]]
    if len(numbers) > most:
        return ", ".join(names) + ", …"
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


def counted(n: int, noun: str) -> str:
    """Return "1 point" or "1,200 points"."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def one_of(things: Sized, one: str, many: str) -> str:
    """Return the word `one` if there is one thing, else the word `many`."""
    return one if len(things) == 1 else many


def rounded(value: float) -> str:
    """Return a rough size as text: one decimal below 10, else at most three digits.

    Examples
    --------
    >>> rounded(1968.3), rounded(4.441), rounded(52.2)
    ('1,970', '4.4', '52')
    """
    return f"{value:.1f}" if value < 10 else f"{float(f'{value:.3g}'):,.0f}"


def with_error(value: float, error: float | None) -> str:
    """Return "value ± error", with as many decimals as the error needs, at most three.

    Examples
    --------
    >>> with_error(2.0009, 0.0052), with_error(1.1323382, 4e-16), with_error(2.0, None)
    ('2.001 ± 0.005', '1.132', '2')
    """
    if not error or not np.isfinite(error):
        return f"{value:.3g}"
    if error < 0.0005:
        # Only points that are not random, such as a grid, have errors this small: show none.
        return f"{value:.3f}"
    digits = min(max(0, -int(np.floor(np.log10(error)))), 3)
    return f"{value:.{digits}f} ± {error:.{digits}f}"


def percent(share: float) -> str:
    """Return a share as a percentage: one decimal below 10 %, none above."""
    size = 100 * abs(share)
    if not np.isfinite(size):
        return "an unknown share"
    if size == 0 or size >= 9.95:
        return f"{size:.0f} %"
    return "less than 0.1 %" if size < 0.1 else f"{size:.1f} %"


def subscript(number: int) -> str:
    """Return a whole number in subscript digits."""
    return str(number).translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))


def power_of_ten(value: float, digits: int = 1) -> str:
    """Return a number as a multiple of a power of ten, with `digits` digits.

    Examples
    --------
    >>> power_of_ten(1.6e-06), power_of_ten(0.0)
    ('2·10⁻⁶', '0')
    """
    if value == 0:
        return "0"
    head, tail = f"{value:.{digits - 1}e}".split("e")
    head = f"{float(head):g}"
    raised = str(int(tail)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{head}·10{raised}" if head != "1" else f"10{raised}"


def minus(value: float) -> str:
    """Return a number with three digits and a true minus sign."""
    return f"{value:.3g}".replace("-", "−")


@dataclass(frozen=True)
class Style:
    """How all numbers of one column are written, so that they can be compared."""

    # Exponent of the power of ten by which all are divided; 0 for none.
    exponent: int = 0
    decimals: int = 3

    def show(self, value: float) -> str:
        """Return a number in this style; a dash for NaN and infinity."""
        if not np.isfinite(value):
            return "—"
        text = f"{value / 10.0**self.exponent:.{self.decimals}f}{self.power}"
        return "0" if value == 0 else text.replace("-", "−")

    def show_error(self, error: float) -> str:
        """Return an error in this style, or "less than …" if it would be rounded to 0."""
        least = 10.0 ** (self.exponent - self.decimals)
        if 0 < error < least / 2:
            return f"less than {self.show(least)}"
        return self.show(error)

    @property
    def power(self) -> str:
        """The power of ten as text; empty if there is none."""
        return f"·{power_of_ten(10.0**self.exponent)}" if self.exponent else ""


def common_style(
    values: Sequence[float] | FloatArray, errors: Sequence[float] | FloatArray
) -> Style:
    """Return the style of a column: two digits of its smallest error, one power of ten for all.

    Examples
    --------
    >>> style = common_style([0.0, -1.97256, -5.84], [0.0, 0.01027, 0.12])
    >>> style.show(-5.84), style.show_error(0.12), style.show_error(1e-9)
    ('−5.840', '0.120', 'less than 0.001')
    >>> common_style([-1.25e-6, -3.1e-5], [1e-8, 2e-7]).show(-3.1e-5)
    '−3.1000·10⁻⁵'
    """
    sizes = np.abs(np.asarray(values, dtype=np.float64))
    known = sizes[np.isfinite(sizes) & (sizes > 0)]
    if not known.size:
        return Style()
    top = int(np.floor(np.log10(known.max())))
    exponent = 0 if 1e-2 <= known.max() < PLAIN else top
    bars = np.asarray(errors, dtype=np.float64)
    bars = bars[np.isfinite(bars) & (bars > 0)]
    smallest = bars.min() if bars.size else known.max() * 1e-2
    wanted = 1 - int(np.floor(np.log10(smallest))) + exponent
    return Style(exponent, int(np.clip(wanted, 0, max(MOST_DIGITS - 1 - top + exponent, 0))))
