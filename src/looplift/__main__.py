"""``python -m looplift`` is the command ``looplift``."""

from looplift.cli.main import main

if __name__ == "__main__":
    main()
