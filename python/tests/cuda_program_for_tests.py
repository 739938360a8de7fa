"""A program as people write them: it says `device="cuda"`, and has a fault for each word it is given."""

import sys

import torch
import triton
import triton.language as tl


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr, MASKED: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if MASKED:
        mask = offsets < n
        x = tl.load(x_ptr + offsets, mask=mask)
        y = tl.load(y_ptr + offsets, mask=mask)
        tl.store(out_ptr + offsets, x + y, mask=mask)
    else:
        tl.store(out_ptr + offsets, tl.load(x_ptr + offsets) + tl.load(y_ptr + offsets))


@triton.jit
def row_sums(x_ptr, out_ptr, n, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + columns, mask=columns < n, other=0.0)
    tl.store(out_ptr + row // 2, tl.sum(x, axis=0))


def main(words):
    device = "cuda"
    assert torch.cuda.is_available()
    x, y = torch.rand(1000, device=device), torch.rand(1000, device=device)
    out = torch.empty_like(x)
    assert out.is_cuda and out.device == torch.device("cuda", 0)
    grid = lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)
    add[grid](x, y, out, 1000, BLOCK=256, MASKED="mask" not in words)
    assert torch.allclose(out.cpu(), x.cpu() + y.cpu())
    if "race" in words:
        rows = torch.rand(4, 100, device=device)
        sums = torch.empty(4, device=device)
        row_sums[(4,)](rows, sums, 100, rows.stride(0), BLOCK=128)
    if "empty" in words:
        never = torch.empty(1000, device=device)
        never[:500] = 1
        add[grid](x, never, out, 1000, BLOCK=256, MASKED=True)
    if "graph" in words:
        torch.cuda.CUDAGraph()
    print("sum", float(out.sum()) > 0)


if __name__ == "__main__":
    main(sys.argv[1:])
