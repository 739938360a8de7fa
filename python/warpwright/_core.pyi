# SPDX-License-Identifier: Apache-2.0
from typing import Any, Callable, Sequence

__version__: str

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

File = tuple[str, str, str, str]  # module, path, text, prelude

def compile(
    path: str,
    text: str,
    kernel: str,
    target: str,
    prelude: str,
    module: str,
    files: Sequence[File],
) -> Kernel: ...
def load(saved: str, path: str, text: str, files: Sequence[File]) -> Kernel: ...
def source_text(path: str) -> str: ...
def find_ptxas(path: str) -> str | None: ...
def target_names() -> list[str]: ...
def dtype_names() -> list[str]: ...
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
class Question:
    def __init__(
        self,
        path: str,
        kernel: str,
        spaces: list[str],
        wheres: list[str],
        args: list[str],
        expects: list[str],
        target: str,
        device: str,
        text: str,
    ) -> None: ...

def tune(question: Question, progress: Any) -> tuple[str, str]: ...
def tune_size(question: Question) -> int: ...
def tune_part(question: Question, numbers: Sequence[int]) -> str: ...
def tune_whole(question: Question, trials: Sequence[str]) -> tuple[str, str]: ...

class BoundCall:
    """A kernel with its tensors: call it to launch it on PyTorch's current stream."""

    def __call__(self) -> None: ...

def call_on_gpu(kernel: Kernel, args: Sequence[Any], number: int, stream: int) -> None: ...
def bind_on_gpu(
    kernel: Kernel, args: Sequence[Any], number: int, streams: Callable[[int], int]
) -> BoundCall: ...
def native_target(number: int) -> str: ...
def layout_ops() -> list[tuple[str, str, str]]: ...
