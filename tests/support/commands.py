"""Run the command line inside the test process, and look at what is on the disk."""

import numpy as np
from click.testing import CliRunner

from vbdm.cli import commands

#: What takes most of the time, left out.
FAST = ("--no-report", "--no-figures", "--no-sensitivity")


def vbdm_command(*arguments):
    """Run `vbdm` with these arguments."""
    return CliRunner().invoke(commands, [str(argument) for argument in arguments])


def done(*arguments):
    """Run `vbdm`, which must end well."""
    result = vbdm_command(*arguments)
    assert result.exit_code == 0, result.output
    return result


def write_csv(path, values, header):
    """Write numbers in full."""
    np.savetxt(path, values, "%.17g", ",", header=header, comments="")


def snapshot(folder):
    """Return the bytes of every file below a folder, and the names of all folders."""
    paths = sorted(folder.rglob("*"))
    return {
        path.relative_to(folder).as_posix(): None if path.is_dir() else path.read_bytes()
        for path in paths
    }
