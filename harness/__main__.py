"""`python -m harness` is `conform`."""

from harness.cli.main import main

main()
