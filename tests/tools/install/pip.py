#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a user of pip sees while the package is built, without -v: pip itself runs the back end of python/backend on a
terminal and without one, over a stand-in of scikit-build-core that prints what ninja prints and compiles nothing.

usage: pip.py SOURCE WORK   (SOURCE: the repository; WORK: a folder for it)
"""

import os
import pty
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

STEPS = 40
SCIKIT = f'''
import os, subprocess, sys, zipfile
__all__ = ["build_sdist", "build_wheel", "build_editable", "get_requires_for_build_wheel"]
def get_requires_for_build_wheel(config_settings=None): return []
def build_sdist(*args): raise NotImplementedError
def build_editable(*args): raise NotImplementedError
def build_wheel(folder, config_settings=None, metadata_directory=None):
    print("*** configuring", flush=True)
    if os.environ.get("BREAK"):
        raise SystemExit("the compiler is missing")
    steps = "for i in $(seq {STEPS}); do echo [$i/{STEPS}] Building CXX object $i.o; sleep 0.05; done"
    subprocess.run(["bash", "-c", steps], check=True)
    name = "toy-1.0-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(folder, name), "w") as out:
        out.writestr("toy.py", "")
        out.writestr("toy-1.0.dist-info/METADATA", "Metadata-Version: 2.1\\nName: toy\\nVersion: 1.0\\n")
        out.writestr("toy-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        out.writestr("toy-1.0.dist-info/RECORD", "")
    return name
'''
PROJECT = """
[build-system]
requires = []
build-backend = "shown_build"
backend-path = ["python/backend"]
[project]
name = "toy"
version = "1.0"
"""


def make_project(source: Path, work: Path) -> None:
    shutil.rmtree(work, ignore_errors=True)
    scikit = work / "scikit" / "scikit_build_core"
    scikit.mkdir(parents=True)
    (scikit / "__init__.py").touch()
    (scikit / "build.py").write_text(SCIKIT)
    project = work / "toy"
    shutil.copytree(source / "python" / "backend", project / "python" / "backend")
    (project / "scripts").mkdir()
    shutil.copy(source / "scripts" / "setup.sh", project / "scripts")
    (project / "pyproject.toml").write_text(PROJECT)


def on_terminal(words, environment):
    """Status and output of a program that has a terminal of its own."""
    child, terminal = pty.fork()
    if child == 0:
        os.execve(words[0], words, environment)
    seen = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:
            break
        if not piece:
            break
        seen += piece
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), seen.decode(errors="replace")


def without_terminal(words, environment):
    done = subprocess.run(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          stdin=subprocess.DEVNULL, start_new_session=True, text=True, check=False)
    return done.returncode, done.stdout


def expect(holds, what, seen):
    if not holds:
        sys.exit(f"{what}; pip showed:\n{seen!r}")
    print(f"ok: {what}")


def main(source: Path, work: Path) -> None:
    make_project(source, work)
    try:
        venv.create(work / "venv", with_pip=True)
    except subprocess.CalledProcessError:
        print("skipped: python3 cannot make a virtual environment (python3-venv)")
        return
    install = [str(work / "venv/bin/python"), "-m", "pip", "install", "--no-index", "--no-deps",
               "--no-build-isolation", "--force-reinstall", "--disable-pip-version-check"]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PIP_")}
    environment |= {"PYTHONPATH": str(work / "scikit"), "TERM": "xterm"}
    shown = re.compile(rf"warpwright: building (\d+)/{STEPS}")
    toy = str(work / "toy")

    status, seen = on_terminal([*install, toy], environment)
    counts = [int(each) for each in shown.findall(seen)]
    expect(status == 0 and "Successfully installed toy-1.0" in seen, "pip installs on a terminal", seen)
    expect(len(set(counts)) > STEPS / 2 and counts == sorted(counts) and counts[-1] == STEPS,
           "the terminal shows how far the build is", seen)
    last = seen.rindex("building")
    expect("\033[K\0338" in seen[last:], "the line is gone at the end", seen)

    status, seen = on_terminal([*install, "-v", toy], environment)
    expect(status == 0 and not shown.search(seen) and f"[{STEPS}/{STEPS}] Building" in seen,
           "with -v pip shows the steps, and nothing is drawn over them", seen)
    status, seen = on_terminal([*install, "-q", toy], environment)
    expect(status == 0 and not shown.search(seen), "with -q the terminal stays quiet", seen)

    status, seen = without_terminal([*install, toy], environment)
    expect(status == 0 and not shown.search(seen) and "Building CXX" not in seen,
           "without a terminal pip installs, and hides the build", seen)

    status, seen = on_terminal([*install, toy], environment | {"BREAK": "1"})
    expect(status != 0 and "the compiler is missing" in seen and "*** configuring" in seen,
           "a build that fails shows what it printed", seen)
    shutil.rmtree(work)


main(Path(sys.argv[1]), Path(sys.argv[2]))
