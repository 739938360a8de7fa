# D = A @ B.T with the kernel that is fastest for the shape: the product to call on Hopper.
#
# `matmul(M, N, K)` estimates what each tile of gemm_hopper.py, each cluster, and each way to share K out by
# gemm_splitk.py takes, and builds the best of them. All have the parameters A, B and D, and those of
# gemm_hopper.py's epilogues if it is asked for one. `ctas` is the number of SMs.
#
# The numbers below are of an H200. They were fitted to the times of 590 kernels for 69 shapes, such as
#
#   warpwright tune examples/gemm_hopper.py --kernel 'build(2048, 2048, 2048, ctas=132, BM=?, BN=?)' \
#       --space BM=64,128 --space BN=64..256+32 --device cuda
#
# measures. Of the kernels measured for a shape the one that is picked takes 1.5 % longer than the fastest on average.
#
#   warpwright run examples/matmul.py --expect 'D ~= A @ B.T'
#   warpwright run examples/matmul.py --kernel 'matmul(M=72, N=136, K=1032, ctas=8)' --expect 'D ~= A @ B.T'
#   warpwright run examples/matmul.py --kernel 'matmul(M=200, N=136, K=72, ctas=4, bias=True, activation=relu)' --expect 'D ~= max(A @ B.T + bias, 0)'
#   warpwright compile examples/matmul.py --kernel 'matmul(8192, 8192, 8192)' --emit ptx
from tvm import DataType

from gemm_hopper import build, ceil_div, gelu, gelu_tanh, relu, silu, squared_relu
from gemm_splitk import build as build_split

# --- the table: microseconds of an H200 ---------------------------------------------------------------

kTiles = (256, 224, 192, 160, 128, 112, 96, 80, 64, 48, 32, 16)  # columns; others go out in chunks that conflict
kColumn, kTile = 0.00245, 0.0275  # of the tensor cores for 128 rows and 128 bytes of K: each column, and besides
kHalfTile = 0.0172  # more for a tile of 64 rows, which one warpgroup multiplies
kLine = 0.00113, 0.00098  # of each 128 bytes that a CTA loads: in the only round, and in several
kOut = 0.0038  # of a column on its way out
kStart = 2.3  # of a launch
kClearly = 0.985  # how much less others must take than larger tiles, which read less
kShared, kPart = 1.9, 1.21  # of adding up parts of K, and how much longer a step takes there
# CTAs that certainly run at a time in clusters: 128 in clusters of four or eight took two turns.
kTogether = {1: 132, 2: 132, 3: 120, 4: 120, 5: 110, 6: 108, 7: 112, 8: 112}


# A CTA waits for the tensor cores or for its rows, whichever takes longer. Rows that begin inside of a sector
# of 32 bytes take twice as many lines.
def estimate(M, N, steps, ctas, a_lines, b_lines, BM, BN, cluster=1, split=1):
    rounds = ceil_div(ceil_div(M, BM * cluster) * ceil_div(N, BN) * split, ctas // cluster)
    multiply = (kColumn * BN + kTile) * BM / 128 + (kHalfTile if BM == 64 else 0)
    load = (BM * a_lines + BN * b_lines / cluster) * kLine[min(rounds, 2) - 1]
    step = max(multiply, load) * (kPart if split > 1 else 1)
    each = ceil_div(steps, split) * step + kOut * BN * BM / 128
    return kStart + rounds * each + (kShared if split > 1 else 0)


# --- the choice -----------------------------------------------------------------------------------

# What a kernel of few rows or columns takes, or None: each CTA has 64 rows of the larger matrix, and reads them
# at the speed of memory.
def pick_few(M, N, ctas, line):
    few, many = min(M, N), max(M, N)
    if few > 128 or (few > 64 and ceil_div(many, 64) * 4 < ctas * 3):
        return None
    if few > 112:
        return {"BM": 64, "BN": 128, "BK": line}
    BN = ceil_div(few, 8) * 8
    return {"BM": 64, "BN": BN, "BK": line * (4 if BN <= 16 else 2), "swap": M < N}


# The parameters of the fastest kernel; those with a `split` are gemm_splitk.py's.
def pick(M, N, steps, ctas, line, a_lines, b_lines, widest, may_split):
    best, chosen = None, None
    for BM in (128, 64):
        for BN in [BN for BN in kTiles if BN <= widest]:
            # Reading less pays for rows inside of sectors alone.
            for cluster in (1, 2) if a_lines + b_lines > 2 and BM == 128 and M > 128 and ctas > 1 else (1,):
                time = estimate(M, N, steps, ctas, a_lines, b_lines, BM, BN, cluster)
                if best is None or time < kClearly * best:
                    best = time
                    chosen = {"BM": BM, "BN": BN, "BK": line * (2 if BM == 64 and BN <= 128 else 1), "cluster": cluster}
            for split in (2, 3, 4, 5, 6, 7, 8) if may_split and BN <= 160 else ():
                parts = ceil_div(M, BM) * ceil_div(N, BN) * split
                if BN % (8 * split) == 0 and steps >= 8 * split and parts <= min(ctas, kTogether[split]):
                    time = estimate(M, N, steps, ctas, a_lines, b_lines, BM, BN, 1, split)
                    if time < kClearly * best:
                        best, chosen = time, {"BM": BM, "BN": BN, "split": split}
    return chosen


def matmul(M=256, N=512, K=256, ctas=132, dtype="float16", trans_a=False, trans_b=True, promote=False, **options):
    size = DataType(dtype).bits // 8
    line = 128 // size  # elements in 128 bytes
    a_lines, b_lines = [1 if row * size % 32 == 0 else 2 for row in (M if trans_a else K, K if trans_b else N)]
    may_split = not promote and not [name for name in options if name not in ("out", "acc_dtype")]
    few = None if [name for name in ("bias", "row_scale", "residual") if name in options] else pick_few(M, N, ctas, line)
    picked = pick(M, N, ceil_div(K, line), ctas, line, a_lines, b_lines, 192 if promote else 256, may_split)
    if "split" in picked and few is None:
        return build_split(M, N, K, trans_a=trans_a, trans_b=trans_b, dtype=dtype, **picked, **options)
    return build(M, N, K, ctas=ctas, trans_a=trans_a, trans_b=trans_b, dtype=dtype, promote=promote,
                 **(few or picked), **options)


kernel = matmul(ctas=4)
