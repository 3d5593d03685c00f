"""How far an estimate is from a truth; used by tests and nothing else."""

import numpy as np

import vbdm


def relative_errors(eigenvalues, truth):
    """Relative errors of the nonzero eigenvalues."""
    return np.abs(np.asarray(eigenvalues)[1:] / np.asarray(truth)[1:] - 1)


def function_error(estimate, truth, kind="linear"):
    """Mean square error after alignment, the truth scaled to mean square 1."""
    truth = truth / np.sqrt(np.mean(truth**2, axis=0))
    return float(np.mean((vbdm.align(estimate, truth, kind) - truth) ** 2))
