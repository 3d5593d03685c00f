"""Run the examples of a page in one namespace, and compare what they print."""

import contextlib
import io
import re
from dataclasses import dataclass
from pathlib import Path

#: A block of Python or shell, and the block of text right after it, if any: what it prints.
BLOCK = re.compile(
    r"^```(python|sh)\n(.*?)^```$(?:\s*^```text\n(.*?)^```$)?", re.DOTALL | re.MULTILINE
)
NUMBER = re.compile(r"-?\d[\d,]*\.?\d*(?:e[+-]?\d+)?|-?\.\d+")


@dataclass(frozen=True)
class Block:
    """Some lines of code, what they should print, and where they stand."""

    language: str
    code: str
    printed: str | None
    line: int


def blocks_of(path):
    """Return the blocks of a page in their order."""
    text = Path(path).read_text(encoding="utf-8")
    return [
        Block(found[1], found[2], found[3], text.count("\n", 0, found.start()) + 2)
        for found in BLOCK.finditer(text)
    ]


def run_page(path, shell=None):
    """Execute the blocks of a page one after the other; return the names that they define.

    `shell` takes a command line to what it prints; without it only Python is run.
    """
    names = {"__name__": "__page__"}
    for block in blocks_of(path):
        if block.language == "python":
            printed = run_python(block, names, path)
            found = block.printed is None or alike(printed, block.printed)
        elif shell is not None:
            printed = "".join(shell(line) for line in block.code.splitlines() if line.strip())
            found = block.printed is None or all_lines(block.printed, printed)
        else:
            continue
        assert found, f"{path}:{block.line} prints\n{printed}"
    return names


def run_python(block, names, path):
    """Execute one block with the page's own line numbers, and return what it prints."""
    code = compile("\n" * (block.line - 1) + block.code, str(path), "exec")
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(code, names)
    return out.getvalue()


def all_lines(written, printed):
    """Tell whether every line of an excerpt is in the output, in order; … stands for some."""
    output = iter(printed.splitlines())
    wanted = [line for line in written.splitlines() if line.strip() not in ("", "…")]
    return all(any(alike(line, want) for line in output) for want in wanted)


def alike(printed, written):
    """Tell whether two texts agree in words, and in numbers to a few hundredths.

    Another processor may change the last digits of an estimate, far below its error bar.
    """
    words = ["".join(NUMBER.sub("#", text).split()) for text in (printed, written)]
    numbers = [
        [float(number.replace(",", "")) for number in NUMBER.findall(text)]
        for text in (printed, written)
    ]
    if words[0] != words[1]:
        return False
    return all(abs(a - b) <= 0.02 + 0.03 * abs(b) for a, b in zip(*numbers, strict=True))
