"""What the tests of checks share: findings by name, and a scan over ε that is made up."""

from dataclasses import fields, replace

import numpy as np

from vbdm.trust.diagnose import diagnose
from vbdm.trust.epsilon_scan import EpsilonScan
from vbdm.trust.error_bars import ErrorParts


def found_in(spectrum, name, scan=None):
    """Return the finding of this name."""
    return next(finding for finding in diagnose(spectrum, scan) if finding.name == name)


def light_of(spectrum, name, scan=None):
    """Return the light of the finding of this name; it must have words."""
    finding = found_in(spectrum, name, scan)
    assert finding.words
    return finding.light


def with_errors(spectrum, **shares):
    """Return a copy whose total errors have these parts, as shares of the eigenvalues; others 0.

    All members of a group move alike, so its mean has the same relative error.
    """
    n = len(spectrum.eigenvalues)
    rates = np.abs(spectrum.eigenvalues)
    sizes = {field.name: shares.get(field.name, 0.0) * rates for field in fields(ErrorParts)}
    copy = replace(spectrum)
    covariance = np.outer(sizes["sampling"], sizes["sampling"]).reshape(n, n)
    groups, parts = spectrum.errors.groups, ErrorParts(**sizes)
    return knowing(copy, groups=groups, covariance=covariance, parts=parts)


def knowing(spectrum, **values):
    """Return the spectrum, whose error bars know these values: they are not computed."""
    spectrum.errors._known.update(values)
    return spectrum


def made_up_scan(rates, errors=0.001, n_points=600, totals=0.002):
    """Return decay rates at half, once, twice … an ε as a scan: no eigenfunctions."""
    values = -np.asarray(rates, dtype=float)
    m, n = values.shape
    return EpsilonScan(
        epsilons=2.0 ** np.arange(m),
        eigenvalues=values,
        standard_errors=np.full((m, n), errors),
        total_errors=np.full((m, n), totals),
        rows=np.arange(0),
        eigenfunctions=np.empty((m, 0, n), dtype=np.float32),
        n_points=n_points,
        chosen=1,
    )
