"""Print the declared minimum versions as exact ones, which pip takes as constraints (``-c``).

They are read from pyproject.toml, where alone they are written.
"""

import re
import sys
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"
#: Libraries of libraries, whose newest versions are too new for the declared minima.
COMPANIONS = ["pyparsing<3.3"]  # matplotlib 3.8 calls it by names that are deprecated since
#: Libraries that the tests alone use to make tables; the other tools may be as new as they like.
TABLES = ("pandas", "polars")


def minima(project: dict) -> dict[str, str]:
    """Return the smallest version of each library that the project says it works with."""
    extras = project["optional-dependencies"]
    declared = list(project["dependencies"])
    for name, needs in extras.items():
        declared += [
            n for n in needs if name not in ("test", "measure", "docs") or n.startswith(TABLES)
        ]
    found = [re.fullmatch(r"([\w-]+)>=([\d.]+)", need) for need in declared]
    return {match[1]: match[2] for match in found if match}


if __name__ == "__main__":
    project = tomllib.loads(PYPROJECT.read_text())["project"]
    lines = [f"{name}=={version}" for name, version in sorted(minima(project).items())]
    sys.stdout.write("\n".join(lines + COMPANIONS) + "\n")
