"""How right the eigenvalues are: problem × N × seed, by each method, nothing tuned.

``python benchmarks/accuracy.py`` prints for each sample the mean relative error of the first five
eigenvalues; the error of the first group of eigenfunctions; the share of truths inside the 95 %
intervals; the dimension that was found; points that were limited; seconds. The oracle is the
default method at the best ε of a grid. The seeds had no say in any choice.
"""

from __future__ import annotations

from time import perf_counter

import numpy as np

import record
import vbdm
from problems import PROBLEMS
from vbdm.trust.epsilon_scan import wide_enough

#: ε of the oracle's grid, in units of the automatic one.
GRID = 2.0 ** (np.arange(-4, 5) / 2)


def five(eigenvalues, truth):
    """Return the mean relative error of the first five nonzero eigenvalues."""
    return float(np.abs(np.asarray(eigenvalues)[1:6] / truth.eigenvalues[1:6] - 1).mean())


def subspace(eigenfunctions, truth, parameters):
    """Return the mean square error of the first group after the best linear map."""
    group = truth.groups[1][truth.groups[1] < 6]
    exact = truth.eigenfunctions(parameters)[:, group]
    exact = exact / np.sqrt(np.mean(exact**2, axis=0))
    return float(np.mean((vbdm.align(eigenfunctions[:, group], exact) - exact) ** 2))


def solved(sample, truth, method):
    """Return operator, spectrum, and what both methods are judged by."""
    started = perf_counter()
    op = vbdm.estimate_operator(sample.points, sample.operator, method=method)
    spectrum = op.spectrum(6)
    return op, spectrum, {
        "error": five(spectrum.eigenvalues, truth),
        "subspace": subspace(spectrum.eigenfunctions, truth, sample.parameters),
        "dim": op.dim, "seconds": perf_counter() - started,
    }  # fmt: skip


def ours(sample, truth):
    op, spectrum, row = solved(sample, truth, "resolved")
    low, high = spectrum.intervals()[1:].T
    known = truth.eigenvalues[1:6]
    inside = (low <= known) & (known <= high)
    return op, {**row, "covered": inside.mean(), "limited": spectrum.unresolved.sum()}


def oracle(op, truth):
    """Return the error at the best ε of the grid, neighbours searched again where needed."""
    found = [wide_enough(op, factor * op.epsilon) for factor in GRID]
    return min(five(op.spectrum(6).eigenvalues, truth) for op in found if op is not None)


def line(row):
    """Print a row of the table; what a method has not is left empty."""
    cells = [
        f"{row[key]:{form}}" if key in row else " " * int(form.split(".")[0])
        for key, form in COLUMNS.items()
    ]
    print(f"{row['problem']:13s} {row['points']:6d} {row['seed']:5d}  {row['method']:8s}", *cells,
          flush=True)  # fmt: skip


#: Columns with figures, and how they are printed.
COLUMNS = {
    "error": "7.4f", "subspace": "7.4f", "covered": "5.2f", "dim": "5.2f", "limited": "5.0f",
    "seconds": "7.2f",
}  # fmt: skip


def rows_of(name, n, seed, with_oracle):
    """Yield a row for each method on one sample."""
    sample = PROBLEMS[name](n, seed)
    truth = sample.truth(6)
    op, row = ours(sample, truth)
    yield {"method": "vbdm", **row}
    yield {"method": "paper", **solved(sample, truth, "paper")[-1]}
    if with_oracle:
        yield {"method": "oracle", "error": oracle(op, truth)}


def main():
    parser = record.parser(__doc__)
    parser.add_argument("--problems", nargs="*", default=list(PROBLEMS), help="only these")
    parser.add_argument("--points", type=int, nargs="+", default=[2000, 10_000])
    parser.add_argument("--seeds", type=int, nargs="+", default=[701, 702, 703])
    parser.add_argument("--no-oracle", action="store_true", help="skip the search for the best ε")
    options = record.given(parser, problems=["circle", "S3"], points=[400], seeds=[1])
    print("problem            N  seed  method  ", *(f"{key:>7s}" for key in COLUMNS))
    rows = []
    for name in options.problems:
        for n in options.points:
            for seed in options.seeds:
                for row in rows_of(name, n, seed, not options.no_oracle):
                    rows.append({"problem": name, "points": n, "seed": seed, **row})
                    line(rows[-1])
    for n in options.points:
        for method in dict.fromkeys(row["method"] for row in rows):
            errors = [row["error"] for row in rows if (row["points"], row["method"]) == (n, method)]
            print(f"N = {n}, {method}: geometric mean {np.exp(np.mean(np.log(errors))):.4f}, "
                  f"worst {max(errors):.3f}")  # fmt: skip
    record.save(options, rows)


if __name__ == "__main__":
    main()
