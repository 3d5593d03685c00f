"""``python -m paper``: make the figures of the paper and judge its claims."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from vbdm import InputError, progress

from . import FIGURES
from .base import VERDICTS
from .reproduce import Reproduction, reproduce

EXAMPLES = """\
NAMES are figures, or "all". Each gives NAME.png and NAME.npz; claims.md says of every claim
what we find: reproduced, not reproduced, or on what it depends.

examples:
  python -m paper --quick                  all figures, smaller; about three minutes
  python -m paper all                      all figures as in the paper; up to forty minutes
  python -m paper ou_random --out check    one figure, into the folder check/

names:
"""
#: Exit codes, the same as those of the `vbdm` command.
FAILED, WRONG_USE, INTERRUPTED = 1, 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the figures that are named in the arguments; return the exit code."""
    options = parser().parse_args(arguments)
    if find_spec("matplotlib") is None:
        complain("Pictures need matplotlib. Install it with: pip install 'vbdm[plot]'")
        return WRONG_USE
    wanted = None if not options.names or "all" in options.names else options.names
    bar = progress.Bar(patience=0)
    shown = not options.quiet and sys.stderr.isatty()
    try:
        with progress.listening(whole_figures(bar) if shown else None):
            made = reproduce(wanted, options.out, options.quick)
    except KeyboardInterrupt:
        complain(f"Interrupted. Figures that were finished are in {options.out}.")
        return INTERRUPTED
    except (InputError, OSError) as error:
        complain(str(error))
        return WRONG_USE
    finally:
        bar.close()
    tell(made, options.quiet)
    return FAILED if made.failures else 0


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command's arguments."""
    made = argparse.ArgumentParser(
        "python -m paper",
        description="Make figures of the paper by its own settings, and judge its claims.",
        epilog=EXAMPLES + "".join(f"  {name}\n" for name in FIGURES),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("names", nargs="*", metavar="NAMES", help="which figures (default: all)")
    made.add_argument("--quick", action="store_true", help="smaller sets and fewer values of ε")
    made.add_argument(
        "-o", "--out", type=Path, default=Path("reproduction"), metavar="FOLDER",
        help="where numbers, pictures and claims go (default: reproduction)",
    )  # fmt: skip
    made.add_argument("-q", "--quiet", action="store_true", help="only errors")
    return made


def tell(made: Reproduction, quiet: bool) -> None:
    """Print how many claims have which verdict, and which figures failed."""
    for name, reason in made.failures.items():
        complain(f"{name}: {reason}", kind="failed")
    if quiet:
        return
    for name, claim in made.claims:
        print(f"{claim.verdict:15s} {name}: {claim.statement}")
    print()
    for kind in VERDICTS:
        print(f"{made.count(kind):3d} {kind}")
    print(f"Written: {made.folder / 'claims.md'} and {len(made.files) - 1} more files")


def complain(text: str, kind: str = "error") -> None:
    """Write a message to stderr."""
    print(f"{kind}: {text}", file=sys.stderr)


def whole_figures(listener: progress.Listener) -> progress.Listener:
    """Return a listener that passes on to another one which figure is made, and how far it is.

    The many reports from stages inside a figure are left out.
    """
    place = ""

    def listen(report: progress.Progress) -> None:
        nonlocal place
        if report.room == "figures":
            place = f"{report.note} ({report.done + 1} of {report.total})"
            listener(progress.Progress("figures", 0, 1, place if report.note else ""))
        elif report.room in FIGURES:
            listener(progress.Progress("figures", report.done, report.total, place))

    return listen


if __name__ == "__main__":
    for stream in (sys.stdout, sys.stderr):
        # On a terminal without Greek letters, print question marks instead of failing.
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    sys.exit(main())
