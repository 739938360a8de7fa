# SPDX-License-Identifier: Apache-2.0
"""What the checks of the text share. A check is a function from the root of a repository to its problems:
(path, line, rule, message). Imported, never run."""

import tempfile
from pathlib import Path


def show(problems, root):
    """Prints `file:line: rule: message` for each. The exit status: 1 if there was any."""
    status = 0
    for path, line, rule, message in problems:
        print(f"{path.relative_to(root)}:{line}: {rule}: {message}")
        status = 1
    return status


def write_tree(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def found_in(check, files):
    """What the check finds in a tree of these files: (rule, file, line) of each."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write_tree(root, files)
        return [(rule, path.relative_to(root).as_posix(), line) for path, line, rule, _ in check(root)]


def self_test(check, cases):
    """Whether the check finds what is planted, and nothing else: (title, files, expected). The exit status."""
    wrong = 0
    for title, files, expected in cases:
        found = found_in(check, files)
        if found != expected:
            print(f"self-test: {title}: expected {expected}, found {found}")
            wrong += 1
    print(f"self-test: {len(cases) - wrong} of {len(cases)} cases as expected")
    return 1 if wrong else 0
