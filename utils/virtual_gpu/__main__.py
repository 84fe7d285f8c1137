"""``python -m virtual_gpu script.py``: see command.py."""

from .command import main

if __name__ == "__main__":
    main()
