# SPDX-License-Identifier: Apache-2.0
"""`python -m warpwright check`: a script, or a function of a file, with its launches checked."""

from __future__ import annotations

import argparse
import contextlib
import json
import runpy
import sys
import traceback
from dataclasses import fields
from pathlib import Path
from typing import Any, Sequence
from unittest import mock

from ..errors import Error
from .findings import write_json
from .memory import caller
from .session import Options, Session

_FAILED = 2  # the exit status of what could not be run
_STARTERS = (__file__, runpy.__file__, "<frozen runpy>")


def main(words: Sequence[str]) -> int:
    try:
        return _check(_parser().parse_args(words))
    except KeyboardInterrupt:
        return 130
    except (Error, OSError, ValueError) as error:
        print(f"error: {str(error).strip()}", file=sys.stderr)
        return _FAILED


def add_options(add: Any, prefix: str = "--") -> None:
    """Adds the options that the command and the plugin of pytest share: those of `Options`."""

    for each in fields(Options):
        kind = {"type": type(each.default), "default": each.default}
        if each.default is False:
            kind = {"action": "store_true"}
        add(prefix + each.name.replace("_", "-"), **kind, **each.metadata)


def options_of(args: argparse.Namespace, prefix: str = "") -> dict[str, Any]:
    return {each.name: getattr(args, prefix + each.name) for each in fields(Options)}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m warpwright")
    commands = parser.add_subparsers(dest="command", required=True)
    check = commands.add_parser(
        "check",
        help="run Triton's kernels on the virtual GPU and say what they do wrong",
        epilog="exit status: 0 nothing was found, 1 something was, 2 it could not be run",
    )
    check.add_argument("program", metavar="SCRIPT.py[::FUNCTION]")
    check.add_argument("args", nargs="*", metavar="-- ARGUMENT", help="of the script")
    add_options(check.add_argument)
    check.add_argument("--json", action="store_true", help="print the report as JSON")
    check.add_argument("--sarif", metavar="FILE", help="write it for code hosts")
    check.add_argument("--write-baseline", metavar="FILE", help="write all there; exit status 0")
    return parser


def _check(args: argparse.Namespace) -> int:
    path, _, function = args.program.partition("::")
    if not Path(path).is_file():
        raise Error(f"there is no file `{path}`")
    session = Session(**options_of(args))
    printed = contextlib.redirect_stdout(sys.stderr) if args.json else contextlib.nullcontext()
    own = {"argv": [path, *args.args], "path": [str(Path(path).resolve().parent), *sys.path]}
    with session, printed, mock.patch.multiple(sys, **own):
        failed = _run(path, function)
    sys.stdout.flush()
    findings, status = session.findings, session.status or failed
    if args.write_baseline:
        findings.write_baseline(args.write_baseline)
        status = failed
    if args.sarif:
        write_json(args.sarif, findings.sarif())
    if args.json:
        print(json.dumps(findings.json(status, args.target), indent=2))
    else:
        print(findings.text(args.strict))
    return status


def _run(path: str, function: str) -> int:
    """Runs the program as Python would; _FAILED if it failed, having said why."""
    try:
        found = runpy.run_path(path, run_name=Path(path).stem if function else "__main__")
        if function:
            if not callable(found.get(function)):
                raise Error(f"`{path}` has no function `{function}`")
            found[function]()
        return 0
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        return 0 if end.code in (None, 0) else _FAILED
    except Error as error:
        print(f"error: {str(error).strip()}", file=sys.stderr)
        if place := caller(reversed(list(traceback.walk_tb(error.__traceback__)))):
            print(f"  {place.file}:{place.line}: {place.text}", file=sys.stderr)
    except Exception as error:
        trace = error.__traceback__
        # Without the frames that started the program.
        while trace is not None and trace.tb_frame.f_code.co_filename in _STARTERS:
            trace = trace.tb_next
        traceback.print_exception(type(error), error, trace)
    return _FAILED
