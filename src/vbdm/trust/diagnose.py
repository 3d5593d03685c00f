"""All checks in one table, and its readers: the list of findings, the warnings, the doubts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..base.checks import an
from ..base.kept import kept_with
from ..engines.engine import at_work
from ..errors import InputError, warn_user
from ..operator.operator import Operator
from ..progress import LOGGER
from ..spectrum.spectrum import Spectrum
from . import operator_checks as of_operator
from . import spectrum_checks as of_spectrum
from .epsilon_scan import EpsilonScan
from .findings import Finding, Findings
from .spectrum_checks import plateau

Judge = Callable[[Any], Finding | None]


@dataclass(frozen=True)
class Check:
    """One line of the table of checks."""

    #: Function that returns a `Finding`, or None if the check does not apply.
    judge: Judge
    #: What it looks at: "operator" or "spectrum".
    subject: str
    #: Whether it is made as soon as the result exists, to warn if its finding has a warning class;
    #: others are made when findings are asked for.
    warns: bool = False


#: In the order in which findings are shown. A new check is a function in `operator_checks` or
#: `spectrum_checks`, and a line here.
CHECKS = (
    Check(of_spectrum.connected_pieces, "spectrum", warns=True),
    Check(of_spectrum.unresolved_points, "spectrum", warns=True),
    Check(of_spectrum.tail, "spectrum"),
    Check(of_operator.neighbor_lists, "operator", warns=True),
    Check(of_operator.search_recall, "operator"),
    Check(of_spectrum.solver_residuals, "spectrum"),
    Check(of_spectrum.error_bars, "spectrum"),
    Check(of_spectrum.independence, "spectrum"),
    Check(of_spectrum.weak_links, "spectrum", warns=True),
    Check(of_operator.error_exponents, "operator", warns=True),
    Check(of_operator.columns, "operator", warns=True),
    Check(of_operator.dimension, "operator", warns=True),
    Check(of_operator.spacing, "operator"),
    Check(of_operator.weights, "operator", warns=True),
    Check(of_operator.density_tail, "operator", warns=True),
    Check(of_operator.boundary, "operator"),
)
#: The plateau over ε, which needs a scan, is shown after this check.
BEFORE_PLATEAU = of_spectrum.solver_residuals


@at_work("error bars")
def diagnose(spectrum: Spectrum, scan: EpsilonScan | None = None) -> Findings:
    """Judge a result by all checks.

    Parameters
    ----------
    spectrum : Spectrum
        The result; its operator is judged as well.
    scan : EpsilonScan, optional
        From `vbdm.scan_epsilon`; without it nothing is said about the plateau over ε.

    Returns
    -------
    tuple of Finding
        One for each check that applies, always in the same order.

    Examples
    --------
    >>> op = vbdm.estimate_operator(vbdm.datasets.sphere(600, random_state=0).points)
    >>> first = diagnose(op.spectrum(4))[0]
    >>> first.light, first.words
    ('green', 'All 600 points are connected.')
    """
    if not isinstance(spectrum, Spectrum):
        raise InputError(
            f"`diagnose` judges a spectrum; received {type(spectrum).__name__}. Call "
            "vbdm.diagnose(op.spectrum(10))."
        )
    if scan is not None:
        an(EpsilonScan, "Call vbdm.scan_epsilon(spectrum).")(scan, "scan")
    found: list[Finding | None] = []
    for check in CHECKS:
        found.append(judged(check, spectrum.operator if check.subject == "operator" else spectrum))
        if check.judge is BEFORE_PLATEAU and scan is not None:
            found.append(plateau(spectrum, scan))
    return Findings(finding for finding in found if finding is not None)


def judged(check: Check, subject: Operator | Spectrum) -> Finding | None:
    """Return what a check finds in a result. The check looks once, and the result remembers."""
    return kept_with(subject, f"finding {check.judge.__name__}", lambda: check.judge(subject))


def warn_of(subject: Operator | Spectrum) -> None:
    """Issue the warnings about an operator or a spectrum that was just made."""
    LOGGER.info("%r", subject)
    kind = "operator" if isinstance(subject, Operator) else "spectrum"
    for check in CHECKS:
        finding = judged(check, subject) if check.warns and check.subject == kind else None
        if finding is not None and finding.warning is not None:
            warn_user(finding.words, finding.warning)


def doubtful_modes(spectrum: Spectrum) -> dict[int, list[str]]:
    """Return what is doubtful about single eigenvalues, by their numbers, from checks that warn."""
    quick = (check for check in CHECKS if check.warns and check.subject == "spectrum")
    return flags_of([found for check in quick if (found := judged(check, spectrum)) is not None])


def flags_of(findings: Sequence[Finding]) -> dict[int, list[str]]:
    """Return what is doubtful about single eigenvalues, by their numbers."""
    flags: dict[int, list[str]] = {}
    for finding in findings:
        for number, words in finding.flags.items():
            flags.setdefault(number, []).append(words)
    return flags
