"""The `vbdm` command: from a file to a results folder, and what can be done with it.

Each command is a function of its name in a module that is imported when it is called. Heavy
libraries are imported inside functions, so that ``vbdm --help`` is quick.

Exit codes: 0 for success; 1 for a numerical failure or a full disk; 2 for wrong use or input; 130
for Ctrl-C; 143 if the process was asked to end (SIGTERM).
"""

from __future__ import annotations

from .command_list import commands, main

__all__ = ["commands", "main"]
