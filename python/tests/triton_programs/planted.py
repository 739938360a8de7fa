# SPDX-License-Identifier: Apache-2.0
"""The list of programs with a planted fault, and what they share."""

import pathlib
import re

import torch

PROGRAMS = []
GLUON = []  # as PROGRAMS; each knows its targets
GLUON_RIGHT = []  # the same kernels without the fault


def normal(*shape, seed=1, dtype=torch.float32):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def program(function):
    PROGRAMS.append(function)
    return function


def gluon_program(kernels, faults, targets=("sm_90a",), since=(3, 5)):
    """Makes a program of each fault, and the right one, of a function that launches kernels with a fault. `faults` says the kind
    of each, which lines of `kernels` are marked with; `since` is the first Triton whose Gluon has what they use."""

    def add(function):
        for fault, kind in {"": "", **faults}.items():
            def made(fault=fault):
                return function(fault)

            made.__name__ = "_".join([function.__name__, *fault.split()])
            made.__module__, made.kind, made.targets, made.since = function.__module__, kind, targets, since
            made.kernels = kernels if isinstance(kernels, tuple) else (kernels,)
            function.__globals__[made.__name__] = made
            (GLUON if fault else GLUON_RIGHT).append(made)
        return function.__globals__[function.__name__]

    return add


def marks(program) -> tuple[str, set[int]]:
    """The kind of a program's fault, and the lines of which one must be named: those of its last kernel, if it does not say which."""
    names = [name for name in program.__code__.co_names if name.endswith("_kernel")]
    kind, lines = getattr(program, "kind", ""), set()
    for kernel in getattr(program, "kernels", None) or [program.__globals__[names[-1]]]:
        source = pathlib.Path(kernel.fn.__code__.co_filename).read_text().splitlines()
        first = kernel.fn.__code__.co_firstlineno
        for number in range(first, len(source) + 1):
            text = source[number - 1]
            if number > first and re.match(r"@(program|triton|gluon)|def (?!\w+_kernel|" + kernel.fn.__name__ + ")", text):
                break
            found = re.search(r"# fault: ([\w, ]+)", text)
            kinds = found[1].split(", ") if found else []
            kind = kind or "".join(kinds)
            if kind in kinds or "# also" in text:
                lines.add(number)
    return kind, lines
