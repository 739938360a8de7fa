# SPDX-License-Identifier: Apache-2.0
"""As faults.py, in Gluon, where waits, phases and fences between warps with roles are the author's. A kernel is right without a
FAULT; a program for each of its faults names the kind of finding, which a line of the kernel is marked with.

Triton orders what one group of warps does: it puts barriers and fences between stores to shared memory, loads, copies and products
itself, so none of those is left out here."""

import torch
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import async_copy
from triton.experimental.gluon.language.nvidia.blackwell import TensorMemoryLayout, allocate_tensor_memory, tcgen05_mma
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma, warpgroup_mma, warpgroup_mma_wait
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor
from triton_programs.planted import gluon_program, normal

copy_in = getattr(async_copy, "async_load", async_copy.async_copy_global_to_shared)  # since 3.8
load_tile = getattr(tma, "async_load", tma.async_copy_global_to_shared)
store_tile = getattr(tma, "async_store", tma.async_copy_shared_to_global)
HALF = torch.float16
ALL = ("sm_80", "sm_90a", "sm_100a", "sm_120a")


def tiles(tensor, block):
    return TensorDescriptor(tensor, list(tensor.shape), list(tensor.stride()), block, gl.NVMMASharedLayout(128, 16, 2))


# --- cp.async ---------------------------------------------------------------------------------------


@gluon.jit
def copied_rows_kernel(x, out, ROWS: gl.constexpr, N: gl.constexpr, FAULT: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([4], [32], [4], [0])
    at = gl.arange(0, N, layout=layout)
    ring = gl.allocate_shared_memory(gl.float32, [2, N], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    copy_in(ring.index(0), x + at)  # also
    if FAULT != "no commit":
        async_copy.commit_group()
    for row in range(ROWS):
        if row + 1 < ROWS:
            copy_in(ring.index((row + 1) % 2), x + (row + 1) * N + at)  # also
        async_copy.commit_group()
        if FAULT == "one copy too many in flight":
            async_copy.wait_group(2)
        elif FAULT != "no wait":
            async_copy.wait_group(1)
        value = ring.index(row % 2).load(layout)  # fault: async
        gl.store(out + row * N + at, value)


@gluon_program(copied_rows_kernel, {"no wait": "async", "one copy too many in flight": "async", "no commit": "async"}, targets=ALL)
def copied_rows(fault):
    x, out = normal(3, 512), torch.zeros(3, 512)
    copied_rows_kernel[(1,)](x, out, ROWS=3, N=512, FAULT=fault)
    return out, x


# --- the copy engine --------------------------------------------------------------------------------


@gluon.jit
def one_tile_kernel(source, out, FAULT: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1, 4], [2, 16], [4, 1], [1, 0])
    tile = gl.allocate_shared_memory(gl.float16, [64, 64], source.layout)
    arrived = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(arrived, count=1)
    mbarrier.expect(arrived, 64 * 64 if FAULT == "half of the bytes" else 64 * 64 * 2)
    load_tile(source, [0, 0], arrived, tile)  # fault: barrier
    if FAULT != "no wait":
        mbarrier.wait(arrived, 1 if FAULT == "wrong phase" else 0)
    value = tile.load(layout)  # fault: async
    rows = gl.arange(0, 64, layout=gl.SliceLayout(1, layout))
    columns = gl.arange(0, 64, layout=gl.SliceLayout(0, layout))
    gl.store(out + rows[:, None] * 64 + columns[None, :], value)


@gluon_program(one_tile_kernel, {"no wait": "async", "wrong phase": "async", "half of the bytes": "barrier"}, targets=ALL[1:])
def one_tile(fault):
    x, out = normal(64, 64, dtype=HALF), torch.zeros(64, 64, dtype=HALF)
    one_tile_kernel[(1,)](tiles(x, [64, 64]), out, FAULT=fault)
    return out, x


@gluon.jit
def ring_of_tiles_kernel(source, out, STEPS: gl.constexpr, FAULT: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1, 4], [2, 16], [4, 1], [1, 0])
    ring = gl.allocate_shared_memory(gl.float16, [2, 32, 64], source.layout)
    arrived = gl.allocate_shared_memory(gl.int64, [2, 1], mbarrier.MBarrierLayout())
    for stage in gl.static_range(2):
        mbarrier.init(arrived.index(stage), count=1)
    for stage in gl.static_range(2):
        mbarrier.expect(arrived.index(stage), 32 * 64 * 2)
        load_tile(source, [stage * 32, 0], arrived.index(stage), ring.index(stage))  # also
    rows = gl.arange(0, 32, layout=gl.SliceLayout(1, layout))
    columns = gl.arange(0, 64, layout=gl.SliceLayout(0, layout))
    for step in range(STEPS):
        if FAULT == "phase never flips":
            mbarrier.wait(arrived.index(step % 2), 0)
        else:
            mbarrier.wait(arrived.index(step % 2), step // 2 % 2)
        value = ring.index(step % 2).load(layout)  # fault: async
        if step + 2 < STEPS:
            fence_async_shared()
            mbarrier.expect(arrived.index(step % 2), 32 * 64 * 2)
            load_tile(source, [(step + 2) * 32, 0], arrived.index(step % 2), ring.index(step % 2))  # also
        gl.store(out + (step * 32 + rows[:, None]) * 64 + columns[None, :], value)


@gluon_program(ring_of_tiles_kernel, {"phase never flips": "async"}, targets=ALL[1:])
def ring_of_tiles(fault):
    x, out = normal(160, 64, dtype=HALF), torch.zeros(160, 64, dtype=HALF)
    ring_of_tiles_kernel[(1,)](tiles(x, [32, 64]), out, STEPS=5, FAULT=fault)
    return out, x


@gluon.jit
def stored_tiles_kernel(x, target, FAULT: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1, 4], [2, 16], [4, 1], [1, 0])
    rows = gl.arange(0, 64, layout=gl.SliceLayout(1, layout))
    columns = gl.arange(0, 64, layout=gl.SliceLayout(0, layout))
    at = x + rows[:, None] * 64 + columns[None, :]
    tile = gl.allocate_shared_memory(gl.float16, [64, 64], target.layout)
    tile.store(gl.load(at))  # also
    fence_async_shared()
    store_tile(target, [0, 0], tile)  # also
    if FAULT != "no wait before the next":
        tma.store_wait(0)
    tile.store(gl.load(at + 64 * 64))  # fault: async
    fence_async_shared()
    store_tile(target, [64, 0], tile)  # fault: async
    if FAULT != "no wait at the end":
        tma.store_wait(0)


@gluon_program(stored_tiles_kernel, {"no wait before the next": "async", "no wait at the end": "async"}, targets=ALL[1:])
def stored_tiles(fault):
    x, out = normal(128, 64, dtype=HALF), torch.zeros(128, 64, dtype=HALF)
    stored_tiles_kernel[(1,)](x, tiles(out, [64, 64]), FAULT=fault)
    return out, x


# --- wgmma ------------------------------------------------------------------------------------------


@gluon.jit
def products_in_flight_kernel(a, b, out, FAULT: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1, 4], [2, 16], [4, 1], [1, 0])
    rows = gl.arange(0, 64, layout=gl.SliceLayout(1, layout))
    columns = gl.arange(0, 64, layout=gl.SliceLayout(0, layout))
    at = rows[:, None] * 64 + columns[None, :]
    shared: gl.constexpr = gl.NVMMASharedLayout(128, 16, 2)
    left = gl.allocate_shared_memory(gl.float16, [64, 64], shared, gl.load(a + at))
    right = gl.allocate_shared_memory(gl.float16, [64, 64], shared, gl.load(b + at))
    of_sums: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16])
    acc = gl.zeros([64, 64], gl.float32, layout=of_sums)
    fence_async_shared()
    acc = warpgroup_mma(left, right, acc, is_async=True)  # also
    if FAULT == "operand overwritten":
        left.store(gl.load(a + 64 * 64 + at))  # fault: async
        fence_async_shared()
        acc = warpgroup_mma(left, right, acc, is_async=True)
        acc = warpgroup_mma_wait(0, deps=(acc,))
    else:
        acc = warpgroup_mma_wait(0, deps=(acc,))
        left.store(gl.load(a + 64 * 64 + at))
        fence_async_shared()
        acc = warpgroup_mma(left, right, acc, is_async=True)
        acc = warpgroup_mma_wait(1 if FAULT == "one product too many in flight" else 0, deps=(acc,))  # also
    rows = gl.arange(0, 64, layout=gl.SliceLayout(1, of_sums))
    columns = gl.arange(0, 64, layout=gl.SliceLayout(0, of_sums))
    gl.store(out + rows[:, None] * 64 + columns[None, :], acc)  # also


@gluon_program(products_in_flight_kernel, {"operand overwritten": "async", "one product too many in flight": "async"})
def products_in_flight(fault):
    a, b, out = normal(2, 64, 64, dtype=HALF), normal(64, 64, seed=2, dtype=HALF), torch.zeros(64, 64)
    products_in_flight_kernel[(1,)](a, b, out, FAULT=fault)
    return out, (a[0].float() + a[1].float()) @ b.float()


# --- tensor memory ----------------------------------------------------------------------------------


@gluon.jit
def sums_kernel(a, b, out, FAULT: gl.constexpr):
    arrived = gl.allocate_shared_memory(gl.int64, [2, 1], mbarrier.MBarrierLayout())
    mbarrier.init(arrived.index(0), count=1)
    mbarrier.init(arrived.index(1), count=1)
    left = gl.allocate_shared_memory(gl.float16, [128, 64], a.layout)
    right = gl.allocate_shared_memory(gl.float16, [64, 64], b.layout)
    mbarrier.expect(arrived.index(0), (128 + 64) * 64 * 2)
    load_tile(a, [0, 0], arrived.index(0), left)  # also
    load_tile(b, [0, 0], arrived.index(0), right)  # also
    if FAULT != "no wait for the operands":
        mbarrier.wait(arrived.index(0), 0)
    acc = allocate_tensor_memory(gl.float32, [128, 64], TensorMemoryLayout([128, 64], col_stride=1))
    tcgen05_mma(left, right, acc, use_acc=FAULT == "sums that nothing set", mbarriers=[arrived.index(1)])  # fault: async, uninit
    if FAULT != "no wait for the product":
        mbarrier.wait(arrived.index(1), 0)
    value = acc.load()  # fault: async
    of_sums: gl.constexpr = value.type.layout
    rows = gl.arange(0, 128, layout=gl.SliceLayout(1, of_sums))
    columns = gl.arange(0, 64, layout=gl.SliceLayout(0, of_sums))
    gl.store(out + rows[:, None] * 64 + columns[None, :], value)  # also


@gluon_program(sums_kernel, {"no wait for the operands": "async", "no wait for the product": "async", "sums that nothing set": "uninit"},
               targets=("sm_100a",), since=(3, 8))
def sums(fault):
    a, b, out = normal(128, 64, dtype=HALF), normal(64, 64, seed=2, dtype=HALF), torch.zeros(128, 64)
    sums_kernel[(1,)](tiles(a, [128, 64]), tiles(b, [64, 64]), out, FAULT=fault)
    return out, a.float() @ b.float()


# --- mbarriers --------------------------------------------------------------------------------------


@gluon.jit
def barrier_that_waits_kernel(source, out, FAULT: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1, 4], [2, 16], [4, 1], [1, 0])
    tile = gl.allocate_shared_memory(gl.float16, [64, 64], source.layout)
    arrived = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(arrived, count=2 if FAULT == "a count too large" else 1)
    mbarrier.expect(arrived, 64 * 64 * 4 if FAULT == "more bytes than come" else 64 * 64 * 2)
    load_tile(source, [0, 0], arrived, tile)
    mbarrier.wait(arrived, 0)  # fault: barrier
    rows = gl.arange(0, 64, layout=gl.SliceLayout(1, layout))
    columns = gl.arange(0, 64, layout=gl.SliceLayout(0, layout))
    gl.store(out + rows[:, None] * 64 + columns[None, :], tile.load(layout))


@gluon_program(barrier_that_waits_kernel, {"a count too large": "barrier", "more bytes than come": "barrier"}, targets=ALL[1:])
def barrier_that_waits(fault):
    x, out = normal(64, 64, dtype=HALF), torch.zeros(64, 64, dtype=HALF)
    barrier_that_waits_kernel[(1,)](tiles(x, [64, 64]), out, FAULT=fault)
    return out, x


# --- warps with roles -------------------------------------------------------------------------------


@gluon.jit
def produce(source, ring, full, free, STEPS: gl.constexpr, FAULT: gl.constexpr):
    for step in range(STEPS):
        if FAULT != "producer does not wait":
            mbarrier.wait(free.index(step % 2), 1 - step // 2 % 2)
        mbarrier.expect(full.index(step % 2), 32 * 64 * 2)
        load_tile(source, [step * 32, 0], full.index(step % 2), ring.index(step % 2))  # fault: async, fence


@gluon.jit
def consume(out, ring, full, free, STEPS: gl.constexpr, FAULT: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1, 4], [2, 16], [4, 1], [1, 0])
    rows = gl.arange(0, 32, layout=gl.SliceLayout(1, layout))
    columns = gl.arange(0, 64, layout=gl.SliceLayout(0, layout))
    for step in range(STEPS):
        if FAULT != "consumer does not wait":
            mbarrier.wait(full.index(step % 2), step // 2 % 2)  # fault: barrier
        value = ring.index(step % 2).load(layout)  # fault: race
        if FAULT != "no fence":
            fence_async_shared()
        if FAULT != "consumer does not arrive":
            mbarrier.arrive(free.index(step % 2), count=1)
        gl.store(out + (step * 32 + rows[:, None]) * 64 + columns[None, :], value)


@gluon.jit
def roles_kernel(source, out, STEPS: gl.constexpr, FAULT: gl.constexpr):
    ring = gl.allocate_shared_memory(gl.float16, [2, 32, 64], source.layout)
    full = gl.allocate_shared_memory(gl.int64, [2, 1], mbarrier.MBarrierLayout())
    free = gl.allocate_shared_memory(gl.int64, [2, 1], mbarrier.MBarrierLayout())
    for stage in gl.static_range(2):
        mbarrier.init(full.index(stage), count=1)
        mbarrier.init(free.index(stage), count=1)
    gl.warp_specialize([
        (consume, (out, ring, full, free, STEPS, FAULT)),
        (produce, (source, ring, full, free, STEPS, FAULT)),
    ], [1], [24])


@gluon_program((produce, consume), {"producer does not wait": "async", "consumer does not wait": "race", "no fence": "fence",
                                    "consumer does not arrive": "barrier"}, targets=ALL[1:], since=(3, 6))
def roles(fault):
    x, out = normal(160, 64, dtype=HALF), torch.zeros(160, 64, dtype=HALF)
    roles_kernel[(1,)](tiles(x, [32, 64]), out, STEPS=5, FAULT=fault)
    return out, x


@gluon.jit
def fill(x, tile, full, FAULT: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1, 4], [2, 16], [4, 1], [1, 0])
    rows = gl.arange(0, 64, layout=gl.SliceLayout(1, layout))
    columns = gl.arange(0, 64, layout=gl.SliceLayout(0, layout))
    tile.store(gl.load(x + rows[:, None] * 64 + columns[None, :]))
    if FAULT != "no fence":
        fence_async_shared()
    mbarrier.arrive(full, count=1)


@gluon.jit
def send(target, tile, full, FAULT: gl.constexpr):
    if FAULT != "no wait":
        mbarrier.wait(full, 0)
    store_tile(target, [0, 0], tile)  # fault: fence, race
    tma.store_wait(0)


@gluon.jit
def handed_over_kernel(x, target, FAULT: gl.constexpr):
    tile = gl.allocate_shared_memory(gl.float16, [64, 64], target.layout)
    full = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(full, count=1)
    gl.warp_specialize([(fill, (x, tile, full, FAULT)), (send, (target, tile, full, FAULT))], [1], [24])


@gluon_program((fill, send), {"no fence": "fence", "no wait": "race"}, targets=ALL[1:], since=(3, 6))
def handed_over(fault):
    x, out = normal(64, 64, dtype=HALF), torch.zeros(64, 64, dtype=HALF)
    handed_over_kernel[(1,)](x, tiles(out, [64, 64]), FAULT=fault)
    return out, x
