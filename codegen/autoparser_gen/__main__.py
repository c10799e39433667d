"""`python -m autoparser_gen`."""

from autoparser_gen.cli import main

main()
