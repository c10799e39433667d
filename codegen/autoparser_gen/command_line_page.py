"""docs/command_line.md, made from click's own description: `python -m autoparser_gen.command_line_page`.

A test compares the file with what this prints.
"""

from __future__ import annotations

import click

from autoparser_gen.cli import COMMANDS, PROGRAM, command

_HEAD = f"""# The command line

Made from the commands themselves by `python -m autoparser_gen.command_line_page`. `{PROGRAM} --help`
says the same.
"""


def page() -> str:
    """The page in Markdown: a section with a table of options for each command."""
    return "\n".join([_HEAD, *(_section(each) for each in (command, *COMMANDS.values()))])


def _section(each: click.Command) -> str:
    context = click.Context(each, info_name=each.name, **each.context_settings)
    paragraphs = (each.help or "").split("\n\n")
    rows = [option for option in each.get_params(context) if isinstance(option, click.Option)]
    table = ["| option | what it does |", "|---|---|", *(_row(option, context) for option in rows)]
    parts = [
        f"## `{each.name}`",
        f"    {each.get_usage(context).removeprefix('Usage: ')}",
        *(" ".join(paragraph.split()) for paragraph in paragraphs),
        "\n".join(table),
        each.epilog or "",
    ]
    return "\n\n".join(parts) + "\n"


def _row(option: click.Option, context: click.Context) -> str:
    record = option.get_help_record(context)
    assert record is not None  # there are no hidden options
    names, words = (" ".join(text.split()).replace("|", "\\|") for text in record)
    return f"| `{names}` | {words} |"


if __name__ == "__main__":
    click.echo(page(), nl=False)
