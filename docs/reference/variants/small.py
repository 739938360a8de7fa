# The smallest programs that each variant takes: one builder for each, B (or D) is the result.
# docs/reference/variants.md shows what they become.
#
#   warpwright explain docs/reference/variants/small.py --kernel 'reg()'
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import R, S, TCol, TileLayout, TLane, cbx, laneid, mma_shared_layout, tid_in_wg, tx
from tvm.tirx.layout import wgmma_tile_layout

FRAGMENT = TileLayout(S[(8, 2, 4, 2) : (4 @ laneid, 2, 1 @ laneid, 1)])


# --- copy ---------------------------------------------------------------------------------------

def vec(bits):
    count = bits // 8

    @T.prim_func
    def kernel(A_ptr: T.handle, B_ptr: T.handle):
        A = T.match_buffer(A_ptr, (32, count), "uint8", align=32)
        B = T.match_buffer(B_ptr, (32, count), "uint8", align=32)
        T.device_entry()
        t = T.thread_id([32])
        own = T.alloc_local((count,), "uint8")
        Tx.copy(own[:], A[t, :], dispatch=f"vec_{bits}b")
        Tx.copy(B[t, :], own[:], dispatch=f"vec_{bits}b")

    return kernel


def gmem_smem():
    @T.prim_func
    def kernel(A_ptr: T.handle, B_ptr: T.handle):
        A = T.match_buffer(A_ptr, (64, 64), "float16")
        B = T.match_buffer(B_ptr, (64, 64), "float16")
        T.device_entry()
        T.thread_id([128])
        tile = T.alloc_shared((64, 64), "float16")
        Tx.cta.copy(tile[:, :], A[:, :])
        T.cuda.cta_sync()
        Tx.cta.copy(B[:, :], tile[:, :])

    return kernel


def ldstmatrix():
    @T.prim_func
    def kernel(A_ptr: T.handle, B_ptr: T.handle):
        A = T.match_buffer(A_ptr, (8, 16), "float16")
        B = T.match_buffer(B_ptr, (8, 16), "float16")
        T.device_entry()
        T.thread_id([32])
        tile = T.alloc_shared((8, 16), "float16")
        fragment = T.alloc_buffer((8, 16), "float16", scope="local", layout=FRAGMENT)
        Tx.cta.copy(tile[:, :], A[:, :])
        T.cuda.cta_sync()
        Tx.warp.copy(fragment[:, :], tile[:, :])
        T.cuda.cta_sync()
        Tx.warp.copy(B[:, :], fragment[:, :])

    return kernel


def reg():
    @T.prim_func
    def kernel(A_ptr: T.handle, B_ptr: T.handle):
        A = T.match_buffer(A_ptr, (128, 8), "float16")
        B = T.match_buffer(B_ptr, (128, 8), "float16")
        T.device_entry()
        T.thread_id([128])
        rows = T.alloc_buffer((128, 8), "float16", scope="local",
                              layout=TileLayout(S[(128, 8) : (1 @ tx, 1)]))
        Tx.cta.copy(rows[:, :], A[:, :])
        Tx.cta.copy(B[:, :], rows[:, :])

    return kernel


# A matrix of 16-bit elements and its transpose, as the fragments of matrix instructions hold it.
def movmatrix():
    @T.prim_func
    def kernel(A_ptr: T.handle, B_ptr: T.handle):
        A = T.match_buffer(A_ptr, (8, 8), "float16")
        B = T.match_buffer(B_ptr, (8, 8), "float16")
        T.device_entry()
        T.thread_id([32])
        rows = T.alloc_buffer((8, 8), "float16", scope="local",
                              layout=TileLayout(S[(8, 4, 2) : (4 @ laneid, 1 @ laneid, 1)]))
        columns = T.alloc_buffer((8, 8), "float16", scope="local",
                                 layout=TileLayout(S[(4, 2, 8) : (1 @ laneid, 1, 4 @ laneid)]))
        Tx.warp.copy(rows[:, :], A[:, :])
        Tx.warp.copy(columns[:, :], rows[:, :])
        Tx.warp.copy(B[:, :], columns[:, :])

    return kernel


# A row in each lane, then columns of two rows in pairs of lanes.
def shfl():
    @T.prim_func
    def kernel(A_ptr: T.handle, B_ptr: T.handle):
        A = T.match_buffer(A_ptr, (32, 2), "float32")
        B = T.match_buffer(B_ptr, (32, 2), "float32")
        T.device_entry()
        T.thread_id([32])
        rows = T.alloc_buffer((32, 2), "float32", scope="local",
                              layout=TileLayout(S[(32, 2) : (1 @ laneid, 1)]))
        columns = T.alloc_buffer((32, 2), "float32", scope="local",
                                 layout=TileLayout(S[(16, 2, 2) : (2 @ laneid, 1, 1 @ laneid)]))
        Tx.warp.copy(rows[:, :], A[:, :])
        Tx.warp.copy(columns[:, :], rows[:, :])
        Tx.warp.copy(B[:, :], columns[:, :])

    return kernel


# A row in each thread, then columns of eight rows: from warp to warp.
def smem():
    @T.prim_func
    def kernel(A_ptr: T.handle, B_ptr: T.handle):
        A = T.match_buffer(A_ptr, (128, 8), "float32")
        B = T.match_buffer(B_ptr, (128, 8), "float32")
        T.device_entry()
        T.thread_id([128])
        rows = T.alloc_buffer((128, 8), "float32", scope="local",
                              layout=TileLayout(S[(128, 8) : (1 @ tx, 1)]))
        columns = T.alloc_buffer((128, 8), "float32", scope="local",
                                 layout=TileLayout(S[(8, 16, 8) : (1, 8 @ tx, 1 @ tx)]))
        Tx.cta.copy(rows[:, :], A[:, :])
        Tx.cta.copy(columns[:, :], rows[:, :])
        Tx.cta.copy(B[:, :], columns[:, :])

    return kernel


# How many rows there are is known at launch only.
def fallback():
    @T.prim_func
    def kernel(A_ptr: T.handle, B_ptr: T.handle, rows: T.int32):
        A = T.match_buffer(A_ptr, (64, 8), "float16")
        B = T.match_buffer(B_ptr, (64, 8), "float16")
        T.device_entry()
        T.thread_id([32])
        Tx.warp.copy(B[0:rows, :], A[0:rows, :])

    return kernel


# --- copy_async -----------------------------------------------------------------------------------

def asynchronous(dtype):
    @T.prim_func
    def kernel(A_ptr: T.handle, B_ptr: T.handle):
        A = T.match_buffer(A_ptr, (64, 64), dtype)
        B = T.match_buffer(B_ptr, (64, 64), dtype)
        T.device_entry()
        T.thread_id([128])
        tile = T.alloc_shared((64, 64), dtype)
        Tx.cta.copy_async(tile[:, :], A.permute(1, 0)[:, :])
        T.ptx.cp_async.commit_group()
        T.ptx.cp_async.wait_group(0)
        T.cuda.cta_sync()
        Tx.cta.copy(B[:, :], tile[:, :])

    return kernel


def ldgsts():
    return asynchronous("float32")


def tma():
    @T.prim_func
    def kernel(A_ptr: T.handle, B_ptr: T.handle):
        A = T.match_buffer(A_ptr, (64, 64), "float16")
        B = T.match_buffer(B_ptr, (64, 64), "float16")
        T.device_entry()
        t = T.thread_id([32])
        tile = T.alloc_shared((64, 64), "float16")
        bar = T.alloc_shared((1,), "uint64")
        if t == 0:
            T.ptx.mbarrier.init(T.address_of(bar[0]), 1)
            T.ptx.fence.mbarrier_init()
            T.ptx.mbarrier.arrive.expect_tx(T.address_of(bar[0]), 8192)
            Tx.copy_async(tile[:, :], A[:, :], mbar=T.address_of(bar[0]))
            T.cuda.mbarrier_wait(T.address_of(bar[0]), 0)
        T.cuda.cta_sync()
        Tx.cta.copy(B[:, :], tile[:, :])

    return kernel


# Shared memory that is aligned to 16 bytes: boxes of tensor maps want 128.
def bulk():
    @T.prim_func
    def kernel(A_ptr: T.handle, B_ptr: T.handle):
        A = T.match_buffer(A_ptr, (64, 64), "float16")
        B = T.match_buffer(B_ptr, (64, 64), "float16")
        T.device_entry()
        t = T.thread_id([32])
        tile = T.alloc_buffer((64, 64), "float16", scope="shared", align=16)
        bar = T.alloc_shared((1,), "uint64")
        if t == 0:
            T.ptx.mbarrier.init(T.address_of(bar[0]), 1)
            T.ptx.fence.mbarrier_init()
            T.ptx.mbarrier.arrive.expect_tx(T.address_of(bar[0]), 8192)
            Tx.copy_async(tile[:, :], A[:, :], mbar=T.address_of(bar[0]))
            T.cuda.mbarrier_wait(T.address_of(bar[0]), 0)
        T.cuda.cta_sync()
        Tx.cta.copy(B[:, :], tile[:, :])

    return kernel


# Each CTA of a pair gives its tile to the other one.
def dsmem(op):
    @T.prim_func
    def kernel(A_ptr: T.handle, B_ptr: T.handle):
        A = T.match_buffer(A_ptr, (2, 1024), "float32")
        B = T.match_buffer(B_ptr, (2, 1024), "float32")
        T.device_entry()
        T.cluster_id([1])
        rank = T.cta_id_in_cluster([2])
        t = T.thread_id([128])
        here = T.alloc_shared((1024,), "float32")
        there = T.alloc_shared((1024,), "float32")
        row = T.alloc_buffer((1024,), "float32", scope="local", layout=TileLayout(S[(2, 128, 4) : (4, 1 @ tx, 1)]))
        bar = T.alloc_shared((1,), "uint64")
        if t == 0:
            T.ptx.mbarrier.init(T.address_of(bar[0]), 1)
            T.ptx.fence.mbarrier_init()
        if op == "st_async":
            Tx.cta.copy(row, A[rank, :])
        else:
            Tx.cta.copy(here[:], A[rank, :])
        T.ptx["fence.proxy.async.shared::cta"]()
        T.cuda.cluster_sync()
        if op != "copy":
            if t == 0:
                T.ptx.mbarrier.arrive.expect_tx(T.address_of(bar[0]), 4096)
        if op == "copy":
            Tx.cta.copy(there[:], here[:], remote_cta_id=1 - rank)
        elif op == "copy_async":
            if t == 0:
                Tx.copy_async(there[:], here[:], remote_cta_id=1 - rank, mbar=T.address_of(bar[0]))
        else:
            Tx.cta.copy_async(there[:], row, remote_cta_id=1 - rank, mbar=T.address_of(bar[0]))
        if op == "copy":
            T.cuda.cluster_sync()
        else:
            T.cuda.mbarrier_wait(T.address_of(bar[0]), 0)
        Tx.cta.copy(B[rank, :], there[:])
        T.cuda.cluster_sync()

    return kernel


def st_async():
    return dsmem("st_async")


# cp.async moves 4 bytes at least; turned halves lie 2 by 2 bytes.
def sync():
    return asynchronous("float16")


def tensor_memory(through_shared):
    @T.prim_func
    def kernel(A_ptr: T.handle, B_ptr: T.handle):
        A = T.match_buffer(A_ptr, (128, 8), "float32")
        B = T.match_buffer(B_ptr, (128, 8), "float32")
        T.device_entry()
        warp = T.warp_id([4])
        t = T.thread_id([128])
        address = T.alloc_shared([1], "uint32")
        bar = T.alloc_shared([1], "uint64")
        staged = T.alloc_buffer((128, 8), "float32", scope="shared", align=128,
                                layout=TileLayout(S[(128, 2, 4) : (4, 512, 1)]))
        rows = T.alloc_buffer((128, 8), "float32", scope="local",
                              layout=TileLayout(S[(128, 8) : (1 @ tid_in_wg, 1)]))
        if warp == 0:
            T.ptx.tcgen05.alloc(T.address_of(address), n_cols=32, cta_group=1)
            T.ptx.tcgen05.relinquish_alloc_permit(cta_group=1)
        if t == 0:
            T.ptx.mbarrier.init(T.address_of(bar), 1)
        Tx.cta.copy(staged[:, :], A[:, :])
        Tx.cta.copy(rows[:, :], A[:, :])
        T.ptx.fence.proxy_async("shared::cta")
        T.cuda.cta_sync()
        tile = T.decl_buffer((128, 8), "float32", scope="tmem", allocated_addr=address[0],
                             layout=TileLayout(S[(128, 8) : (1 @ TLane, 1 @ TCol)]))
        if through_shared:
            if t == 0:
                Tx.copy_async(tile[:, :], staged[:, :])
                T.ptx.tcgen05.commit(T.address_of(bar), cta_group=1)
            T.cuda.mbarrier_wait(T.address_of(bar), 0)
            T.ptx.tcgen05.fence.after_thread_sync()
        else:
            Tx.wg.copy_async(tile[:, :], rows[:, :])
            T.ptx.tcgen05.wait.st()
        Tx.wg.copy_async(rows[:, :], tile[:, :])
        T.ptx.tcgen05.wait.ld()
        Tx.cta.copy(B[:, :], rows[:, :])
        T.ptx.tcgen05.fence.before_thread_sync()
        T.cuda.cta_sync()
        if warp == 0:
            T.ptx.tcgen05.fence.after_thread_sync()
            T.ptx.tcgen05.dealloc(address[0], n_cols=32, cta_group=1)

    return kernel


def tcgen05_cp():
    return tensor_memory(True)


def tcgen05_ldst():
    return tensor_memory(False)


# --- gemm -----------------------------------------------------------------------------------------

def mma():
    d_frag = TileLayout(S[(2, 8, 4, 2) : (2, 4 @ laneid, 1 @ laneid, 1)])
    a_frag = d_frag.tile_to([16, 16], [16, 8])
    b_frag = TileLayout(S[(2, 4, 2, 8) : (2, 1 @ laneid, 1, 4 @ laneid)])

    @T.prim_func
    def kernel(A_ptr: T.handle, B_ptr: T.handle, D_ptr: T.handle):
        A = T.match_buffer(A_ptr, (16, 16), "float16")
        B = T.match_buffer(B_ptr, (16, 8), "float16")
        D = T.match_buffer(D_ptr, (16, 8), "float32")
        T.device_entry()
        T.warp_id([1])
        T.lane_id([32])
        a = T.alloc_buffer((16, 16), "float16", scope="local", layout=a_frag)
        b = T.alloc_buffer((16, 8), "float16", scope="local", layout=b_frag)
        d = T.alloc_buffer((16, 8), "float32", scope="local", layout=d_frag)
        Tx.warp.copy(a[:, :], A[:, :])
        Tx.warp.copy(b[:, :], B[:, :])
        Tx.warp.gemm(d, a, b, d)
        Tx.warp.copy(D[:, :], d[:, :])

    return kernel


def wgmma(op):
    shared = mma_shared_layout("float16", "32B", (64, 16))

    @T.prim_func
    def kernel(A_ptr: T.handle, B_ptr: T.handle, D_ptr: T.handle):
        A = T.match_buffer(A_ptr, (64, 16), "float16")
        B = T.match_buffer(B_ptr, (64, 16), "float16")
        D = T.match_buffer(D_ptr, (64, 64), "float32")
        T.device_entry()
        T.thread_id([128])
        a = T.alloc_buffer((64, 16), "float16", scope="shared", align=256, layout=shared)
        b = T.alloc_buffer((64, 16), "float16", scope="shared", align=256, layout=shared)
        d = T.alloc_buffer((64, 64), "float32", scope="local", layout=wgmma_tile_layout("D", (64, 64), "float32"))
        Tx.cta.copy(a, A)
        Tx.cta.copy(b, B)
        if op == "gemm":
            T.cuda.cta_sync()
            Tx.wg.gemm(d, a, b, d, transpose_B=True)
        else:
            T.ptx.fence.proxy_async("shared::cta")
            T.cuda.cta_sync()
            T.ptx.wgmma.fence()
            Tx.wg.gemm_async(d, a, b)
            T.ptx.wgmma.commit_group()
            T.ptx.wgmma.wait_group(0)
        Tx.cta.copy(D, d)

    return kernel


# --- elementwise ----------------------------------------------------------------------------------

# Of how many arguments `Tx.OP` is, `dst` not counted.
ARGUMENTS = {"fill": 0, "zero": 0, "memset": 0, "add": 2, "sub": 2, "mul": 2, "fdiv": 2,
             "maximum": 2, "minimum": 2, "fma": 3, "select": 3, "pow": 2, "clamp": 3, "where": 3,
             "equal": 2, "not_equal": 2, "less": 2, "less_equal": 2, "greater": 2,
             "greater_equal": 2, "logical_and": 2, "logical_or": 2, "logical_xor": 2,
             "bitwise_and": 2, "bitwise_or": 2, "bitwise_xor": 2, "left_shift": 2,
             "right_shift": 2}
BOOLS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "logical_and",
         "logical_or", "logical_xor", "logical_not")
BITS = ("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not", "left_shift", "right_shift")


def elementwise(op):
    count = ARGUMENTS.get(op, 1)
    given = "int32" if op in BITS else "float32"
    made = "bool" if op in BOOLS else given

    @T.prim_func
    def kernel(A_ptr: T.handle, B_ptr: T.handle):
        A = T.match_buffer(A_ptr, (128, 8), given)
        B = T.match_buffer(B_ptr, (128, 8), made)
        T.device_entry()
        T.thread_id([128])
        rows = T.alloc_buffer((128, 8), given, scope="local",
                              layout=TileLayout(S[(128, 8) : (1 @ tx, 1)]))
        out = T.alloc_buffer((128, 8), made, scope="local",
                             layout=TileLayout(S[(128, 8) : (1 @ tx, 1)]))
        Tx.cta.copy(rows[:, :], A[:, :])
        if op == "zero":
            Tx.cta.zero(out)
        elif count == 0:
            getattr(Tx.cta, op)(out, T.float32(0))
        elif op == "select":
            Tx.cta.select(out, rows, rows, rows)
        else:
            getattr(Tx.cta, op)(out, *[rows for _ in range(count)])
        Tx.cta.copy(B[:, :], out[:, :])

    return kernel


# Of elements and results.
def types_of(op):
    if op in ("any", "all"):
        return "bool", "bool"
    return "float32", "int32" if op in ("argmax", "argmin") else "float32"


# A row in the registers of four lanes, its result in all of them.
def registers(op):
    of, to = types_of(op)

    @T.prim_func
    def kernel(A_ptr: T.handle, B_ptr: T.handle):
        A = T.match_buffer(A_ptr, (8, 16), of)
        B = T.match_buffer(B_ptr, (8,), to)
        T.device_entry()
        T.thread_id([32])
        rows = T.alloc_buffer((8, 16), of, scope="local",
                              layout=TileLayout(S[(8, 4, 4) : (4 @ laneid, 1 @ laneid, 1)]))
        out = T.alloc_buffer((8,), to, scope="local",
                             layout=TileLayout(S[8 : 4 @ laneid] + R[4 : 1 @ laneid]))
        Tx.warp.copy(rows[:, :], A[:, :])
        getattr(Tx.warp, op)(out, rows)
        Tx.warp.copy(B[:], out)

    return kernel


# Columns whose rows are in four warps; every thread gets all sums.
def warps(op):
    of, to = types_of(op)

    @T.prim_func
    def kernel(A_ptr: T.handle, B_ptr: T.handle):
        A = T.match_buffer(A_ptr, (128, 2), of)
        B = T.match_buffer(B_ptr, (2,), to)
        T.device_entry()
        T.thread_id([128])
        rows = T.alloc_buffer((128, 2), of, scope="local",
                              layout=TileLayout(S[(128, 2) : (1 @ tx, 1)]))
        out = T.alloc_buffer((2,), to, scope="local",
                             layout=TileLayout(S[2] + R[128 : 1 @ tx]))
        Tx.cta.copy(rows[:, :], A[:, :])
        getattr(Tx.cta, op)(out, rows, axes=0)
        Tx.cta.copy(B[:], out)

    return kernel


# Columns whose rows are in the threads of two CTAs; every thread gets both results, and CTA 0 writes them.
def cluster(op):
    of, to = types_of(op)

    @T.prim_func
    def kernel(A_ptr: T.handle, B_ptr: T.handle):
        A = T.match_buffer(A_ptr, (256, 2), of)
        B = T.match_buffer(B_ptr, (2,), to)
        T.device_entry()
        rank = T.cta_id_in_cluster([2])
        T.thread_id([128])
        own = T.alloc_buffer((128, 2), of, scope="local",
                             layout=TileLayout(S[(128, 2) : (1 @ tx, 1)]))
        rows = own.view(256, 2, layout=TileLayout(S[(2, 128, 2) : (1 @ cbx, 1 @ tx, 1)]))
        out = T.alloc_buffer((2,), to, scope="local")
        Tx.cta.copy(own[:, :], A[rank * 128 : rank * 128 + 128, :])
        getattr(Tx.cluster, op)(out, rows, axes=0)
        if rank == 0:
            Tx.cta.copy(B[:], out)

    return kernel


# A row in the registers of four lanes, four elements side by side in each.
def scan_registers(op):
    @T.prim_func
    def kernel(A_ptr: T.handle, B_ptr: T.handle):
        A = T.match_buffer(A_ptr, (8, 16), "float32")
        B = T.match_buffer(B_ptr, (8, 16), "float32")
        T.device_entry()
        T.thread_id([32])
        rows = T.alloc_buffer((8, 16), "float32", scope="local",
                              layout=TileLayout(S[(8, 4, 4) : (4 @ laneid, 1 @ laneid, 1)]))
        Tx.warp.copy(rows[:, :], A[:, :])
        getattr(Tx.warp, op)(rows, rows)
        Tx.warp.copy(B[:, :], rows)

    return kernel


# A row in four warps.
def scan_warps(op):
    @T.prim_func
    def kernel(A_ptr: T.handle, B_ptr: T.handle):
        A = T.match_buffer(A_ptr, (512,), "float32")
        B = T.match_buffer(B_ptr, (512,), "float32")
        T.device_entry()
        T.thread_id([128])
        row = T.alloc_buffer((512,), "float32", scope="local",
                             layout=TileLayout(S[(128, 4) : (1 @ tx, 1)]))
        Tx.cta.copy(row[:], A[:])
        getattr(Tx.cta, op)(row, row)
        Tx.cta.copy(B[:], row)

    return kernel


def memory(op):
    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (64, 64), "float32")
        T.device_entry()
        T.thread_id([128])
        if op == "zero":
            Tx.cta.zero(B[:, :])
        else:
            getattr(Tx.cta, op)(B[:, :], T.float32(0))

    return kernel


# A tile in shared memory and one in global memory, into a third.
def mixed(op):
    count = ARGUMENTS.get(op, 1)
    given = "int32" if op in BITS else "float32"
    made = "bool" if op in BOOLS else given

    @T.prim_func
    def kernel(A_ptr: T.handle, B_ptr: T.handle):
        A = T.match_buffer(A_ptr, (64, 64), given)
        B = T.match_buffer(B_ptr, (64, 64), made)
        T.device_entry()
        T.thread_id([128])
        tile = T.alloc_buffer((64, 64), given, scope="shared")
        Tx.cta.copy(tile[:, :], A[:, :])
        T.cuda.cta_sync()
        getattr(Tx.cta, op)(B[:, :], *[(tile, A, tile)[i][:, :] for i in range(count)])

    return kernel


# A tile turned in place: the same bytes of shared memory, by rows and by columns.
def swizzled():
    @T.prim_func
    def kernel(A_ptr: T.handle, B_ptr: T.handle):
        A = T.match_buffer(A_ptr, (32, 8), "float32")
        B = T.match_buffer(B_ptr, (32, 8), "float32")
        T.device_entry()
        T.thread_id([32])
        rows = T.alloc_buffer((32, 8), "float32", scope="shared", layout=TileLayout(S[(32, 8) : (8, 1)]))
        turned = T.decl_buffer((32, 8), "float32", data=rows.data, scope="shared",
                               layout=TileLayout(S[(32, 8) : (1, 32)]))
        Tx.warp.copy(rows[:, :], A[:, :])
        T.cuda.warp_sync()
        Tx.warp.permute_layout(turned[:, :], rows[:, :])
        Tx.warp.copy(B[:, :], turned[:, :])

    return kernel


# Rows by number: of a table into a tile in shared memory, or of a tile into the table.
def indexed(op):
    is_gather = op == "gather"

    @T.prim_func
    def kernel(A_ptr: T.handle, rows_ptr: T.handle, B_ptr: T.handle):
        A = T.match_buffer(A_ptr, (64 if is_gather else 16, 32), "float32")
        rows = T.match_buffer(rows_ptr, (16,), "int32")
        B = T.match_buffer(B_ptr, (16 if is_gather else 64, 32), "float32")
        T.device_entry()
        T.thread_id([128])
        getattr(Tx.cta, op)(B[:, :], A[:, :], rows[:])

    return kernel
