# SPDX-License-Identifier: Apache-2.0
# The classes for kernels that TVM keeps in tvm.backend.cuda.lang, written in the language itself:
# barriers, the stages of a ring, roles of warps, tile schedulers. A source that names one is
# compiled together with this file; errors and findings inside it point to the user's call.
# `warpwright reference library` prints it.
from tvm.script import tirx as T


class PipelineState:
    # Where a thread is in a ring of stages: the stage, and the phase of its barriers.
    def __init__(self, depth, phase=None):
        self.depth = depth
        self.stage = T.local_scalar("int32")
        self.phase = T.local_scalar("int32")
        if phase is not None:
            self.init(phase)

    @T.inline
    def init(self, phase):
        self.stage = 0
        self.phase = phase

    @T.inline
    def advance(self):
        if self.depth == 1:
            self.phase = self.phase ^ 1
        else:
            self.stage = self.stage + 1
            if self.stage == self.depth:
                self.stage = 0
                self.phase = self.phase ^ 1


class MBarrier:
    # One mbarrier for each stage, in a pool of shared memory.
    def __init__(self, pool, depth, phase_offset=0, leader=None):
        self.buf = pool.alloc((depth,), "uint64", align=8)
        self.depth = depth
        self.phase_offset = phase_offset
        self.leader = T.cuda.thread_rank() == 0 if leader is None else leader

    @T.inline
    def init(self, count):
        if self.leader:
            for stage in T.unroll(self.depth):
                T.ptx.mbarrier.init(self.buf.ptr_to([stage]), count)

    @T.inline
    def wait(self, stage, phase):
        T.cuda.mbarrier_wait(
            self.buf.ptr_to([stage]), phase ^ self.phase_offset if self.phase_offset != 0 else phase
        )

    @T.inline
    def arrive(self, stage, remote=None, pred=None, count=None):
        T.ptx.mbarrier.arrive(self.buf.ptr_to([stage]), remote=remote, pred=pred, count=count)

    def ptr_to(self, index):
        return self.buf.ptr_to(index)


class TMABar(MBarrier):
    # Bytes complete a phase: the arrival says how many to expect.
    @T.inline
    def arrive(self, stage, tx_count=None, remote=None, pred=None):
        if tx_count is None:
            T.ptx.mbarrier.arrive(self.buf.ptr_to([stage]), remote=remote, pred=pred)
        else:
            T.ptx.mbarrier.arrive.expect_tx(
                self.buf.ptr_to([stage]), tx_count, remote=remote, pred=pred
            )


class TCGen05Bar(MBarrier):
    # Products and copies of tensor memory arrive when they are done; one thread says so.
    @T.inline
    def arrive(self, stage, cta_group=1, cta_mask=None, pred=None):
        T.ptx.tcgen05.commit(self.buf.ptr_to([stage]), cta_group, cta_mask, pred=pred)


_BARRIERS = {"mbar": MBarrier, "tma": TMABar, "tcgen05": TCGen05Bar}


class Pipeline:
    # For each stage of a ring a barrier that says it is full, and one that says it is empty.
    def __init__(
        self,
        pool,
        stages,
        full,
        empty,
        init_full=1,
        init_empty=1,
        empty_phase_offset=0,
        leader=None,
    ):
        for kind in (full, empty):
            assert (
                kind in _BARRIERS
            ), f"a barrier of kind {kind!r}, expected 'mbar', 'tma' or 'tcgen05'"
        self.stages = stages
        self.full = _BARRIERS[full](pool, stages, leader=leader)
        self.full.init(init_full)
        self.empty = _BARRIERS[empty](pool, stages, phase_offset=empty_phase_offset, leader=leader)
        self.empty.init(init_empty)

# A role says when it holds and what it does first; `with role:` makes the branch.
class WarpRole:
    # `with role:` is for one warp, which first takes or gives back registers.
    def __init__(self, warp_id_var, warp_id_val, regs=None, increase=False):
        self.warp_id_var = warp_id_var
        self.warp_id_val = warp_id_val
        self.regs = regs
        self.increase = increase

    def role_holds(self):
        return self.warp_id_var == self.warp_id_val

    @T.inline
    def role_begins(self):
        if self.regs is not None:
            T.ptx.setmaxnreg(self.increase, self.regs)


class WarpgroupRole:
    # The same for a warpgroup, or for those from a first to before a last.
    def __init__(self, wg_id_var, wg_id_val, regs=None, increase=False):
        self.wg_id_var = wg_id_var
        self.wg_id_val = wg_id_val
        self.regs = regs
        self.increase = increase

    def role_holds(self):
        if isinstance(self.wg_id_val, tuple):
            first, last = self.wg_id_val
            return T.And(first <= self.wg_id_var, self.wg_id_var < last)
        return self.wg_id_var == self.wg_id_val

    @T.inline
    def role_begins(self):
        if self.regs is not None:
            T.ptx.setmaxnreg(self.increase, self.regs)

# --- tile schedulers ---
#
# They say which tile a CTA or cluster works on, and which one next. Each maps the numbers 0, 1, 2,
# ... to tiles; a persistent kernel starts at its own number and goes on in steps of how many there
# are.


class BaseTileScheduler:
    # A number, and the tile that a subclass says it stands for.
    def __init__(self, prefix):
        self.m_idx = T.local_scalar("int32")
        self.n_idx = T.local_scalar("int32")
        self.linear_idx = T.local_scalar("int32")

    @T.inline
    def update_current_m_n_idx(self, linear_idx):
        pass

    @T.inline
    def init(self, linear_init):
        self.linear_idx = linear_init
        self.update_current_m_n_idx(linear_init)

    @T.inline
    def next_tile(self, step):
        self.linear_idx = self.linear_idx + step
        self.update_current_m_n_idx(self.linear_idx)

    def valid(self, total_tiles):
        return self.linear_idx < total_tiles


def _parts(whole, part):
    # How many whole parts there are, of a number that may be known at launch only.
    return whole // part if isinstance(whole, int) else T.truncdiv(whole, part)


def _known(value, number):
    return isinstance(value, int) and value == number


def _divisor(value):
    # For a division that is not used where the number is 0.
    return max(value, 1) if isinstance(value, int) else T.max(value, 1)


def _positive(**numbers):
    for name, value in numbers.items():
        assert (
            not isinstance(value, int) or value > 0
        ), f"{name} is {value}, expected a number above 0"


class ClusterPersistentScheduler2D(BaseTileScheduler):
    # Rows of tiles in groups: down a column of the group, then to the next column, then the next
    # group. With `serpentine`, square blocks of tiles in columns of blocks, down and up in turn;
    # then the tiles that remain at the right, then those at the bottom.
    def __init__(
        self,
        prefix,
        num_m_tiles,
        num_n_tiles,
        num_clusters,
        l2_group_size=8,
        cluster_m=1,
        cluster_n=1,
        serpentine=False,
    ):
        BaseTileScheduler.__init__(self, prefix)
        _positive(num_m_tiles=num_m_tiles, num_n_tiles=num_n_tiles, num_clusters=num_clusters)
        _positive(l2_group_size=l2_group_size, cluster_m=cluster_m, cluster_n=cluster_n)
        self.work_idx = self.linear_idx
        self.tile_count = T.local_scalar("int32")
        self.tile_idx = self.tile_count
        self._num_clusters = num_clusters
        self._size = l2_group_size
        self._cluster_m = cluster_m
        self._cluster_n = cluster_n
        self._serpentine = serpentine
        self._rows = _parts(num_m_tiles + (cluster_m - 1), cluster_m)
        self._cols = (num_n_tiles + cluster_n - 1) // cluster_n
        self._groups = _parts(self._rows, l2_group_size)
        self._last_rows = self._rows - self._groups * l2_group_size
        self._total = self._rows * (self._cols * cluster_m * cluster_n)

    @T.inline
    def _place(self, row, col, work_idx):
        self.m_idx = row * self._cluster_m + work_idx % self._cluster_m
        self.n_idx = col * self._cluster_n + work_idx // self._cluster_m % self._cluster_n

    @T.inline
    def _place_group(self, tile, work_idx):
        span = T.meta_var(self._size * self._cols)
        self._place(
            tile // span * self._size + tile % span % self._size,
            tile % span // self._size,
            work_idx,
        )

    @T.inline
    def _place_last_rows(self, tile, work_idx):
        rest: T.let = tile - self._groups * (self._size * self._cols)
        rows = T.meta_var(_divisor(self._last_rows))
        self._place(self._groups * self._size + rest % rows, rest // rows, work_idx)

    @T.inline
    def _update_groups(self, tile, work_idx):
        if _known(self._groups, 0):
            self._place_last_rows(tile, work_idx)
        elif _known(self._last_rows, 0):
            self._place_group(tile, work_idx)
        elif tile < self._groups * (self._size * self._cols):
            self._place_group(tile, work_idx)
        else:
            self._place_last_rows(tile, work_idx)

    @T.inline
    def _update_blocks(self, tile, work_idx):
        size = T.meta_var(self._size)
        across = T.meta_var(self._cols // self._size)
        right = T.meta_var(self._cols - self._cols // self._size * self._size)
        in_blocks = T.meta_var(self._groups * (across * size * size))
        in_right = T.meta_var(self._rows * right)
        if tile < in_blocks:
            block: T.let = tile // (size * size)
            inside: T.let = tile % (size * size)
            down: T.let = block % _divisor(self._groups)
            col: T.let = block // _divisor(self._groups)
            row: T.let = T.Select(col % 2 == 0, down, self._groups - 1 - down)
            self._place(row * size + inside // size, col * size + inside % size, work_idx)
        elif tile < in_blocks + in_right:
            rest: T.let = tile - in_blocks
            width = T.meta_var(_divisor(right))
            self._place(rest // width, across * size + rest % width, work_idx)
        else:
            rest: T.let = tile - in_blocks - in_right
            rows = T.meta_var(_divisor(self._last_rows))
            self._place(self._groups * size + rest % rows, rest // rows, work_idx)

    @T.inline
    def update_current_m_n_idx(self, work_idx):
        tile = T.meta_var(work_idx // (self._cluster_m * self._cluster_n))
        if self._serpentine:
            self._update_blocks(tile, work_idx)
        else:
            self._update_groups(tile, work_idx)

    @T.inline
    def init(self, cluster_id):
        self.linear_idx = cluster_id
        self.tile_count = 0
        self.update_current_m_n_idx(self.linear_idx)

    @T.inline
    def next_tile(self):
        self.next_tile_stride(self._num_clusters)

    @T.inline
    def next_tile_stride(self, stride):
        self.linear_idx = self.linear_idx + stride
        self.tile_count = self.tile_count + 1
        self.update_current_m_n_idx(self.linear_idx)

    def valid(self):
        return self.linear_idx < self._total


class GroupMajor3D(BaseTileScheduler):
    # The same groups of rows for tiles in three dimensions: down the rows, then along n, then k.
    def __init__(self, prefix, m_tiles, n_tiles, k_tiles, group_rows, step=1):
        BaseTileScheduler.__init__(self, prefix)
        _positive(
            m_tiles=m_tiles, n_tiles=n_tiles, k_tiles=k_tiles, group_rows=group_rows, step=step
        )
        self.k_idx = T.local_scalar("int32")
        self.tile_idx = T.local_scalar("int32")
        self._n = n_tiles
        self._k = k_tiles
        self._size = group_rows
        self._step = step
        self._groups = _parts(m_tiles, group_rows)
        self._last_rows = m_tiles - self._groups * group_rows
        self._total = m_tiles * (n_tiles * k_tiles)

    @T.inline
    def _place(self, first_row, rows, rest):
        self.m_idx = first_row + rest % rows
        self.n_idx = rest // rows % self._n
        self.k_idx = rest // rows // self._n

    @T.inline
    def update_current_m_n_idx(self, linear_idx):
        span = T.meta_var(self._size * self._n * self._k)
        rows = T.meta_var(_divisor(self._last_rows))
        if linear_idx < self._groups * span:
            self._place(linear_idx // span * self._size, self._size, linear_idx % span)
        else:
            self._place(self._groups * self._size, rows, linear_idx - self._groups * span)

    @T.inline
    def init(self, linear_init):
        self.linear_idx = linear_init
        self.tile_idx = 0
        self.update_current_m_n_idx(self.linear_idx)

    @T.inline
    def next_tile(self):
        self.next_tile_stride(self._step)

    @T.inline
    def next_tile_stride(self, stride):
        self.linear_idx = self.linear_idx + stride
        self.tile_idx = self.tile_idx + 1
        self.update_current_m_n_idx(self.linear_idx)

    def valid(self):
        return self.linear_idx < self._total


class IndexedTripleTileScheduler(BaseTileScheduler):
    # Tiles from lists in memory; each SM has a part of them.
    def __init__(self, prefix, b_indices, h_indices, q_indices, tiles_indptr):
        BaseTileScheduler.__init__(self, prefix)
        self.b_indices = b_indices
        self.h_indices = h_indices
        self.q_indices = q_indices
        self.tiles_indptr = tiles_indptr
        self.b_idx = T.local_scalar("int32")
        self.h_idx = T.local_scalar("int32")
        self.q_idx = T.local_scalar("int32")
        self.linear_lim = T.local_scalar("int32")

    @T.inline
    def _load(self):
        # Behind the last tile there is nothing to read.
        if self.linear_idx < self.linear_lim:
            self.b_idx = self.b_indices[self.linear_idx]
            self.h_idx = self.h_indices[self.linear_idx]
            self.q_idx = self.q_indices[self.linear_idx]

    @T.inline
    def init(self, sm):
        self.linear_idx = self.tiles_indptr[sm]
        self.linear_lim = self.tiles_indptr[sm + 1]
        self._load()

    @T.inline
    def next_tile(self):
        self.linear_idx = self.linear_idx + 1
        self._load()

    def valid(self):
        return self.linear_idx < self.linear_lim


class FlashAttentionLinearScheduler(BaseTileScheduler):
    # Blocks of rows, then heads, then batches.
    def __init__(self, prefix, num_batches, num_heads, num_m_blocks, num_ctas):
        BaseTileScheduler.__init__(self, prefix)
        _positive(
            num_batches=num_batches,
            num_heads=num_heads,
            num_m_blocks=num_m_blocks,
            num_ctas=num_ctas,
        )
        self.batch_idx = T.local_scalar("int32")
        self.head_idx = T.local_scalar("int32")
        self.m_block_idx = T.local_scalar("int32")
        self._heads = num_heads
        self._blocks = num_m_blocks
        self._num_ctas = num_ctas
        self._total = num_batches * num_heads * num_m_blocks

    @T.inline
    def update_current_m_n_idx(self, linear_idx):
        self.m_block_idx = linear_idx % self._blocks
        self.head_idx = linear_idx // self._blocks % self._heads
        self.batch_idx = linear_idx // (self._blocks * self._heads)

    @T.inline
    def init(self, cta_id):
        self.linear_idx = cta_id
        self.update_current_m_n_idx(self.linear_idx)

    @T.inline
    def next_tile(self):
        self.linear_idx = self.linear_idx + self._num_ctas
        self.update_current_m_n_idx(self.linear_idx)

    def valid(self):
        return self.linear_idx < self._total


class FlashAttentionLPTScheduler(BaseTileScheduler):
    # For causal attention: the blocks with the most work first, `l2_swizzle` heads side by side.
    def __init__(self, prefix, num_batches, num_heads, num_m_blocks, l2_swizzle, num_ctas=None):
        BaseTileScheduler.__init__(self, prefix)
        _positive(
            num_batches=num_batches,
            num_heads=num_heads,
            num_m_blocks=num_m_blocks,
            l2_swizzle=l2_swizzle,
        )
        self.batch_idx = T.local_scalar("int32")
        self.head_idx = T.local_scalar("int32")
        self.m_block_idx = T.local_scalar("int32")
        self._heads = num_heads
        self._blocks = num_m_blocks
        self._swizzle = l2_swizzle
        self._num_ctas = num_ctas
        self._all_heads = num_batches * num_heads
        self._total = num_batches * num_heads * num_m_blocks

    @T.inline
    def update_current_m_n_idx(self, linear_idx):
        span = T.meta_var(self._swizzle * self._blocks)
        whole = T.meta_var(self._all_heads // self._swizzle)
        section: T.let = linear_idx // span
        inside: T.let = linear_idx % span
        # The last section may have fewer heads.
        width: T.let = T.Select(
            section < whole, self._swizzle, max(self._all_heads % self._swizzle, 1)
        )
        head: T.let = section * self._swizzle + inside % width
        self.batch_idx = head // self._heads
        self.head_idx = head % self._heads
        self.m_block_idx = self._blocks - 1 - inside // width

    @T.inline
    def init(self, cta_id):
        self.linear_idx = cta_id
        self.update_current_m_n_idx(self.linear_idx)

    @T.inline
    def next_tile(self):
        if self._num_ctas is None:
            self.linear_idx = self._total
        else:
            self.linear_idx = self.linear_idx + self._num_ctas
            self.update_current_m_n_idx(self.linear_idx)

    def valid(self):
        return self.linear_idx < self._total
