# SPDX-License-Identifier: Apache-2.0
from tvm.script import tirx as T


@T.prim_func
def kernel(A: T.Buffer((64,), "float32")):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([64])
    pool = T.SMEMPool()
    plain = T.MBarrier(pool, 2)
    bytes = T.TMABar(pool, 1, phase_offset=1, leader=t == 7)
    done = T.TCGen05Bar(pool, 1)
    pool.commit()
    plain.init(64)
    bytes.init(1)
    done.init(1)
    T.cuda.cta_sync()
    plain.arrive(1)
    plain.arrive(0, pred=t < 3, count=2)
    if t == 0:
        bytes.arrive(0, tx_count=128)
        bytes.arrive(0)
        done.arrive(0)
    plain.wait(1, 0)
    bytes.wait(0, 0)
    A[t] = 0.0
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def kernel(A: T.Buffer((64,))):
    T.device_entry()
    v = T.thread_id()
    T.cta_id([1])
    t = T.thread_id([64])
    pool = T.alloc_buffer((32,), "uint8", scope="shared.dyn")
    plain_buf = T.decl_buffer((2,), "uint64", data=pool.data, scope="shared.dyn")
    bytes_buf = T.decl_buffer((1,), "uint64", data=pool.data, byte_offset=16, scope="shared.dyn")
    done_buf = T.decl_buffer((1,), "uint64", data=pool.data, byte_offset=24, scope="shared.dyn")
    if v == 0:
        for stage in T.unroll(2):
            T.ptx["mbarrier.init.shared.b64"](T.address_of(plain_buf[stage]), T.uint32(64))
    if t == 7:
        for stage in T.unroll(1):
            T.ptx["mbarrier.init.shared.b64"](T.address_of(bytes_buf[stage]), T.uint32(1))
    if v == 0:
        for stage in T.unroll(1):
            T.ptx["mbarrier.init.shared.b64"](T.address_of(done_buf[stage]), T.uint32(1))
    T.cuda.cta_sync()
    T.ptx["mbarrier.arrive.shared.b64"](T.ptx.SINK, T.address_of(plain_buf[1]))
    T.ptx["mbarrier.arrive.shared.b64"](T.ptx.SINK, T.address_of(plain_buf[0]), T.uint32(2), pred=t < 3)
    if t == 0:
        T.ptx["mbarrier.arrive.expect_tx.shared.b64"](T.ptx.SINK, T.address_of(bytes_buf[0]), T.uint32(128))
        T.ptx["mbarrier.arrive.shared.b64"](T.ptx.SINK, T.address_of(bytes_buf[0]))
        T.ptx["tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64"](T.address_of(done_buf[0]))
    T.cuda.mbarrier_wait(T.address_of(plain_buf[1]), 0)
    T.cuda.mbarrier_wait(T.address_of(bytes_buf[0]), 1)
    A[t] = T.float32(0.0)
