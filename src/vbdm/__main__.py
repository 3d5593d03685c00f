"""``python -m vbdm`` is the `vbdm` command."""

from .cli import main

if __name__ == "__main__":
    main()
