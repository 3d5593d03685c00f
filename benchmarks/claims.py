"""The paper's figures, and what became of its claims: ``python benchmarks/claims.py``.

The same as ``make reproduce``, but that the table of claims can be saved; the page in ``docs`` is
made from it. In full it takes up to forty minutes; ``--quick`` has smaller sets.
"""

from __future__ import annotations

import sys
from pathlib import Path

import record


def main():
    sys.path.insert(0, str(record.HERE.parent))
    from paper import FIGURES
    from paper.reproduce import as_plain, reproduce

    parser = record.parser(__doc__)
    parser.add_argument("names", nargs="*", metavar="FIGURE", help=f"of {', '.join(FIGURES)}")
    parser.add_argument("--quick", action="store_true", help="smaller sets, fewer ε")
    parser.add_argument("--out", default="reproduction", help="folder for figures and numbers")
    options = record.given(parser, names=["left_right_symmetric"], quick=True)
    made = reproduce(options.names or None, Path(options.out), options.quick)
    for figure, claim in made.claims:
        print(f"{figure}: {claim.verdict}: {claim.statement}")
    record.save(options, as_plain(made, options.quick))
    if made.failures:
        raise SystemExit(f"could not be made: {made.failures}")


if __name__ == "__main__":
    main()
