"""Wait for something to be so, not for a time: machines are busy."""

import time


def until(condition, seconds=60.0):
    """Return what a condition gives when that is true; fail if it is not within so many seconds."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, f"still not so after {seconds:g} s"
        time.sleep(0.02)
    return found
