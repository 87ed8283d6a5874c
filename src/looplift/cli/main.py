"""The command ``looplift``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    help="Run loops over PyTorch tensors and NumPy arrays as batched code.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

TO_THE_SCRIPT = {"allow_interspersed_args": False, "ignore_unknown_options": False}


@app.callback()
def _commands() -> None:
    """Keeps ``run`` a command of its own however many there are."""


@app.command(context_settings=TO_THE_SCRIPT)
def run(
    script: Annotated[Path, typer.Argument(help="A Python script.", dir_okay=False)],
    arguments: Annotated[
        list[str] | None, typer.Argument(help="Everything after the script is for the script.")
    ] = None,
    package: Annotated[list[str] | None, typer.Option(help="Lift loops in this package too; repeatable.")] = None,
    json: Annotated[Path | None, typer.Option(help="Write what became of each loop to this file.")] = None,
) -> None:
    """Run a script with its loops lifted; nothing on disk changes. Ends with a table, on standard error."""
    from looplift.cli.run import run_and_report

    raise typer.Exit(run_and_report(str(script), list(arguments or ()), packages=package or [], json=json))


@app.command()
def check(
    target: Annotated[str, typer.Argument(metavar="FILE.py:FUNCTION", help="The function with the loop.")],
    seconds: Annotated[float, typer.Option(help="Time for trials beyond the examples as given.")] = 20.0,
) -> None:
    """Try hard to tell a function from its lifted form.

    The file makes the arguments: a function "example_inputs()" or "inputs()" returns a tuple of them, or a list of
    such tuples.
    """
    from looplift.cli.check import check_target

    raise typer.Exit(check_target(target, seconds=seconds))


@app.command()
def build(
    target: Annotated[str, typer.Argument(metavar="FILE.py:FUNCTION", help="The function with the loop.")],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="The folder to write to.")],
    arguments: Annotated[
        str | None, typer.Option("--args", metavar="EXPRESSION", help='Example arguments, as "torch.randn(5, 3), 2".')
    ] = None,
    fixed: Annotated[bool, typer.Option("--fixed", help="For the sizes of the examples alone.")] = False,
) -> None:
    """Compile a function ahead of time: its program and kernels in a folder, to be read without its source.

    The arguments are examples: tensors of the dtypes and ranks that the program takes; sizes may be others, and numbers
    are part of the program. Without --args the file makes them: a function "example_inputs()" or "inputs()" returns a
    tuple of them, or a list of such tuples, of which the first counts.
    """
    from looplift.cli.build import build_target

    raise typer.Exit(build_target(target, output, arguments, fixed=fixed))


@app.command()
def cache(
    clear: Annotated[bool, typer.Option("--clear", help="Remove the kernels.")] = False,
    older_than: Annotated[float, typer.Option(metavar="DAYS", help="With --clear: only those made before.")] = 0.0,
) -> None:
    """List the compiled kernels that are kept on disk, or remove them.

    They are in $LOOPLIFT_CACHE, or in the user's cache folder. A kernel that is needed again is compiled again.
    """
    from looplift.cli.cache import clear_cache, show_cache

    raise typer.Exit(clear_cache(older_than) if clear else show_cache())


def main() -> None:
    """The entry point of the command."""
    app(prog_name="looplift")
