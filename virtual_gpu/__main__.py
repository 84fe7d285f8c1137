"""The command ``python -m virtual_gpu script.py``; see programs/command.py."""

from .programs.command import main

if __name__ == "__main__":
    main()
