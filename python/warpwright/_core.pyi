# SPDX-License-Identifier: Apache-2.0
from typing import Any, Sequence

__version__: str
__file__: str

class Kernel:
    name: str
    entry: str
    ptx: str
    target: str
    params: list[dict[str, Any]]
    is_loaded: bool
    def save(self) -> bytes: ...
    def form(self, name: str) -> str: ...
    def explain_text(self) -> str: ...
    def explain_json(self) -> str: ...
    def size_by(self, ptxas: str) -> tuple[int, int, int]: ...
    def call_on_sim(
        self, args: Sequence[Any], checks: str, schedule: str, limits: str
    ) -> tuple[str, str]: ...

def compile(path: str, text: str, kernel: str, target: str, prelude: str) -> Kernel: ...
def load(saved: str, path: str, text: str) -> Kernel: ...
def source_text(path: str) -> str: ...
def find_ptxas(path: str) -> str | None: ...
def target_names() -> list[str]: ...
def sim(
    ptx: str,
    args: Sequence[Any],
    kernel: str,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    cluster: tuple[int, int, int] | None,
    shared: int,
    checks: str,
    schedule: str,
    limits: str,
) -> tuple[str, str]: ...
def layout(
    notation: str, shape: str, ops: list[str], axes: list[str], dtype: str, format: str
) -> str: ...
def tune(
    path: str,
    kernel: str,
    spaces: list[str],
    wheres: list[str],
    args: list[str],
    expects: list[str],
    target: str,
    device: str,
    progress: Any,
) -> tuple[str, str]: ...
def layout_ops() -> list[tuple[str, str, str]]: ...
