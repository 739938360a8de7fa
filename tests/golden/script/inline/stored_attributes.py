# An attribute that holds a scalar is stored to; one that holds a number of Python's is set anew.
@T.meta_class
class State:
    def __init__(self, phase):
        self.stage = T.local_scalar("int32")
        self.phase = phase
        self.calls = 0

    @T.inline
    def advance(self):
        self.stage = self.stage + 1
        if self.stage == 4:
            self.stage = 0
            self.phase = self.phase ^ 1
        self.calls = self.calls + 1


@T.prim_func
def f(A: T.Buffer((8,), "int32"), n: T.int32):
    T.device_entry()
    tx = T.thread_id([32])
    phase: T.int32 = 0
    state = T.meta_var(State(phase))
    other = T.meta_var(State(phase))
    state.stage = 0
    other.stage = 7
    for i in T.serial(n):
        state.advance()
    state.stage, other.stage = other.stage, state.stage
    state.stage += 2
    other.stage = state.stage
    if tx == 0:
        A[0] = state.stage
        A[1] = state.phase
        A[2] = state.calls
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def f(A: T.Buffer((8,), "int32"), n: T.int32):
    T.device_entry()
    tx = T.thread_id([32])
    phase: T.int32 = 0
    state_stage: T.int32
    other_stage: T.int32
    state_stage = 0
    other_stage = 7
    for i in range(n):
        state_stage = state_stage + 1
        if state_stage == 4:
            state_stage = 0
            phase = phase ^ 1
    old: T.let[T.int32] = state_stage
    state_stage = other_stage
    other_stage = old
    state_stage = state_stage + 2
    other_stage = state_stage
    if tx == 0:
        A[0] = state_stage
        A[1] = phase
        A[2] = 1
