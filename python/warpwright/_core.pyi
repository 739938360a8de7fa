# SPDX-License-Identifier: Apache-2.0
from typing import Any, Sequence

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
    def run(
        self,
        args: Sequence[Any],
        device: str,
        checks: str = "",
        schedule: str = "",
        limits: str = "",
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
def imported_files(path: str, text: str) -> list[tuple[str, str, str]]: ...
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
    device: str,
) -> tuple[str, str, str, str]: ...
class PlacedKernel:
    params: list[tuple[str, int]]  # name and bytes
    def launch(
        self,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        cluster: tuple[int, int, int] | None,
        shared: int,
        args: Sequence[bytes],
        memory: Sequence[tuple[int, int, int, int, str]],
        awaits: Sequence[int],
        checks: str,
        limits: str,
        sample: int,
        progress: Any,
    ) -> str: ...

def load_placed(ptx: str, kernel: str) -> PlacedKernel: ...
def encode_map(
    address: int,
    type: int,
    dims: Sequence[int],
    strides: Sequence[int],
    box: Sequence[int],
    swizzle: int,
    fill: int,
) -> bytes: ...
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
def run_counted(kernel: Kernel, args: Sequence[Any]) -> tuple[str, str, list[int]]: ...
def tune_size(question: Question) -> int: ...
def tune_part(question: Question, numbers: Sequence[int]) -> str: ...
def tune_whole(question: Question, trials: Sequence[str]) -> tuple[str, str]: ...

# Name, another name, whether the kernel writes it, whether it is a constant.
CallParam = tuple[str, str, bool, bool]

class Launcher:
    """What is called with arrays: calls like an earlier one need no Python, all others are `_call`."""

    def __call__(self, *args: Any, **named: Any) -> Any: ...
    def _learn(
        self, params: list[CallParam], constants: dict[str, Any], kernel: Kernel, values: Sequence[Any]
    ) -> None: ...

class BoundCall:
    """A kernel with its tensors: call it to launch it on their library's current stream."""

    def __call__(self) -> None: ...

def gpu_number(values: Sequence[Any]) -> int | None: ...
def call_on_gpu(kernel: Kernel, values: Sequence[Any], number: int) -> None: ...
def wait_for_gpu(kernel: Kernel, number: int) -> None: ...
def bind_on_gpu(kernel: Kernel, values: Sequence[Any], number: int) -> BoundCall: ...
def native_target(number: int) -> str: ...
def layout_ops() -> list[tuple[str, str, str]]: ...
