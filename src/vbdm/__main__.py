"""``python -m vbdm`` is the `vbdm` command; this is where its process begins."""

import os
import signal
from typing import Any

#: The exit code of a process that was interrupted by Ctrl-C, as shells have it.
INTERRUPTED = 130


def main() -> None:
    """Run the command that this process was called with.

    While its modules are imported, Ctrl-C ends the process at once and without words: there is
    nothing yet to clean up. A process that was started to ignore Ctrl-C (``nohup``) still does.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, leave)
    from .cli import main as run

    run()


def leave(*_: Any) -> None:
    """End the process."""
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()
