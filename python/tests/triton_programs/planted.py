# SPDX-License-Identifier: Apache-2.0
"""The list of programs with a planted fault, and what they share."""

import torch

PROGRAMS = []


def normal(*shape, seed=1, dtype=torch.float32):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def program(function):
    PROGRAMS.append(function)
    return function
