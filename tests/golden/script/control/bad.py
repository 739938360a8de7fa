#=== assert_host
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    assert 1 > 2, "numbers"
    T.static_assert(False, "never")
#--- expected
assert_host.py:6:5: error: assertion failed: numbers [HostError]
        assert 1 > 2, "numbers"
        ^~~~~~~~~~~~~~~~~~~~~~~
assert_host.py:7:5: error: static assertion failed: never [HostError]
        T.static_assert(False, "never")
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#=== break_outside
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    break
    if tx < 2:
        continue
#--- expected
break_outside.py:6:5: error: `break` outside of a loop [Syntax]
        break
        ^~~~~
break_outside.py:8:9: error: `continue` outside of a loop [Syntax]
            continue
            ^~~~~~~~
#=== cluster_binding
# The id of a CTA in its cluster is declared, not looped over; a tensor map has no address.
from tvm.script import tirx as T


@T.prim_func
def f(A: T.Buffer((32,), "float32"), A_map: T.TensorMap()):
    T.device_entry()
    T.cta_id([4])
    t = T.thread_id([32])
    T.evaluate(T.address_of(A_map))
    for c in T.thread_binding(4, thread="clusterCtaIdx.x"):
        A[t] = 0.0
#--- expected
cluster_binding.py:10:29: error: the address of a pointer is not taken; the name of a tensor map stands for its address [BadType]
        T.evaluate(T.address_of(A_map))
                                ^~~~~
cluster_binding.py:11:41: error: a loop over `clusterCtaIdx.x`, expected `blockIdx` or `threadIdx` with `.x`, `.y` or `.z` [BadArgument]
        for c in T.thread_binding(4, thread="clusterCtaIdx.x"):
                                            ^~~~~~~~~~~~~~~~~
  note: `T.cta_id_in_cluster([n])` declares this id
#=== grid
# SPDX-License-Identifier: Apache-2.0
from tvm.script import tirx as T


@T.prim_func
def kernel(A: T.Buffer((8, 16), "float32")):
    T.device_entry()
    T.cta_id([1])
    T.thread_id([1])
    for i, j in T.grid(8, 16, dtype="float32"):
        A[i, j] = T.float32(1)
    for i, j in T.grid(8, 16, kind="serial"):
        A[i, j] = T.float32(1)
    for i, j in T.grid(8, (1, 2, 3)):
        A[i, j] = T.float32(1)
#--- expected
grid.py:10:37: error: a loop variable of type `float32`, expected an integer [BadType]
        for i, j in T.grid(8, 16, dtype="float32"):
                                        ^~~~~~~~~
grid.py:12:36: error: `T.grid` has no parameter `kind` [BadArgument]
        for i, j in T.grid(8, 16, kind="serial"):
                                       ^~~~~~~~
grid.py:14:28: error: a range of 3 numbers, expected (start, stop) [BadArgument]
        for i, j in T.grid(8, (1, 2, 3)):
                               ^~~~~~~
#=== loop_else
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    for i in range(4):
        pass
    else:
        A[0, 0] = 1.0
    while tx < 3:
        pass
    else:
        A[0, 0] = 2.0
#--- expected
loop_else.py:6:5: error: `else` of a loop in a kernel [Syntax]
        for i in range(4):
        ^~~~~~~~~~~~~~~~~
loop_else.py:10:5: error: `else` of a loop in a kernel [Syntax]
        while tx < 3:
        ^~~~~~~~~~~~
#=== loop_over
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    for i in [1, 2, 3]:
        A[0, i] = 0.0
    for i in A:
        pass
    for i in 4:
        pass
    for i, j in range(4):
        pass
    for i in T.grid(2, 2):
        pass
#--- expected
loop_over.py:6:14: error: a loop over list, expected `range`, `T.serial`, `T.unroll`, `T.vectorized` or `T.grid` [BadType]
        for i in [1, 2, 3]:
                 ^~~~~~~~~
  note: write a comprehension, or call an inline function per element
loop_over.py:8:14: error: a loop over buffer, expected `range`, `T.serial`, `T.unroll`, `T.vectorized` or `T.grid` [BadType]
        for i in A:
                 ^
loop_over.py:10:14: error: a loop over int, expected `range`, `T.serial`, `T.unroll`, `T.vectorized` or `T.grid` [BadType]
        for i in 4:
                 ^
loop_over.py:12:5: error: 2 loop variables for 1 extent [BadArgument]
        for i, j in range(4):
        ^~~~~~~~~~~~~~~~~~~~
loop_over.py:14:5: error: 1 loop variable for 2 extents [BadArgument]
        for i in T.grid(2, 2):
        ^~~~~~~~~~~~~~~~~~~~~
#=== loop_step
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    for i in range(0, 8, -1):
        A[0, i] = 0.0
    for i in range(0, 8, tx):
        A[0, i] = 0.0
    for i in T.serial(0.5):
        pass
    for i in T.serial(4, dtype="float32"):
        pass
#--- expected
loop_step.py:6:14: error: a step of -1, expected 1 or more [BadArgument]
        for i in range(0, 8, -1):
                 ^~~~~~~~~~~~~~~
  note: count up, and index from the end: `for i in range(n)`, `x[n - 1 - i]`
loop_step.py:8:14: error: the step is a value of run time, expected an integer that is known at compile time [BadType]
        for i in range(0, 8, tx):
                 ^~~~~~~~~~~~~~~
loop_step.py:10:14: error: `float32` where an integer is needed [BadType]
        for i in T.serial(0.5):
                 ^~~~~~~~~~~~~
loop_step.py:12:32: error: a loop variable of type `float32`, expected an integer [BadType]
        for i in T.serial(4, dtype="float32"):
                                   ^~~~~~~~~
#=== many
# Several errors at once; what follows from one is not reported again.
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    x = tx / 2
    y = x + 1
    A[0, y] = undefined
    A[0, 16] = 1.0
    z = T.sqrtt(2.0)
    w = z + z
    if tx < 3:
        A[0, 0, 0] = w
        tx = 4
    q = T.alloc_buffer((4,), "float32", scope="glob")
    q[0] = 1.0
#--- expected
many.py:7:9: error: `/` of `int32` [BadType]
        x = tx / 2
            ^~~~~~
  note: `/` divides floats; `//` is integer division, rounding down
many.py:9:15: error: `undefined` has no value here [UnknownName]
        A[0, y] = undefined
                  ^~~~~~~~~
many.py:10:5: error: index 16 in dimension 1 of `A`, which has extent 16 [OutOfBounds]
        A[0, 16] = 1.0
        ^~~~~~~~
many.py:4:9: note: declared here
        A = T.match_buffer(a, (16, 16), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
many.py:11:11: error: `T` has no `sqrtt`; did you mean `sqrt`? [UnknownName]
        z = T.sqrtt(2.0)
              ^~~~~
many.py:15:9: error: `tx` is a scope id and cannot be assigned [ReadOnly]
            tx = 4
            ^~
many.py:6:10: note: bound here
        tx = T.thread_id([32])
             ^~~~~~~~~~~~~~~~~
many.py:16:47: error: scope "glob", expected global, shared, shared.dyn, local or tmem [BadBuffer]
        q = T.alloc_buffer((4,), "float32", scope="glob")
                                                  ^~~~~~
#=== no_effect
def helper(x):
    return x + 1


@T.prim_func
def f(a: T.handle):
    """What the kernel does."""
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    print(tx)
    print("starts")
    print("element", A[tx, 0], sep=" ")
    len(A.shape)
    max(1, 2)
    "a remark"
    A[tx, 0] + 1
    tx == 3
    tx
    (tx, 1)
    -tx
    A[tx, 0]
    A.shape
    3.5
    tx and tx > 2
    None
    [i for i in range(4)]
    T.max(tx, 1)
    T.exp(A[0, 0])
    T.float32(1)
    helper
    T.cuda.cta_sync
    T.ptx.cp_async.commit_group
    A[tx, 0] = A[tx, 0] * 2.0
#--- expected
no_effect.py:11:5: error: `print` is the host's, which prints nothing of a kernel's run [Syntax]
        print(tx)
        ^~~~~~~~~
  note: `T.cuda.printf("%d %f\n", i, x)` prints when the kernel runs
no_effect.py:12:5: error: `print` is the host's, which prints nothing of a kernel's run [Syntax]
        print("starts")
        ^~~~~~~~~~~~~~~
  note: `T.cuda.printf("%d %f\n", i, x)` prints when the kernel runs
no_effect.py:13:5: error: `print` is the host's, which prints nothing of a kernel's run [Syntax]
        print("element", A[tx, 0], sep=" ")
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: `T.cuda.printf("%d %f\n", i, x)` prints when the kernel runs
no_effect.py:14:5: error: nothing uses the result of `len` [Syntax]
        len(A.shape)
        ^~~~~~~~~~~~
no_effect.py:15:5: error: nothing uses the result of `max` [Syntax]
        max(1, 2)
        ^~~~~~~~~
no_effect.py:16:5: error: a text in the middle of a kernel has no effect [Syntax]
        "a remark"
        ^~~~~~~~~~
  note: comments begin with `#`
no_effect.py:17:5: error: this expression has no effect [Syntax]
        A[tx, 0] + 1
        ^~~~~~~~~~~~
  note: `x = ...` gives its value a name, `B[...] = ...` stores it
no_effect.py:18:5: error: this expression has no effect [Syntax]
        tx == 3
        ^~~~~~~
  note: `x = ...` gives its value a name, `B[...] = ...` stores it
no_effect.py:19:5: error: this expression has no effect [Syntax]
        tx
        ^~
  note: `x = ...` gives its value a name, `B[...] = ...` stores it
no_effect.py:20:5: error: this expression has no effect [Syntax]
        (tx, 1)
        ^~~~~~~
  note: `x = ...` gives its value a name, `B[...] = ...` stores it
no_effect.py:21:5: error: this expression has no effect [Syntax]
        -tx
        ^~~
  note: `x = ...` gives its value a name, `B[...] = ...` stores it
no_effect.py:22:5: error: this expression has no effect [Syntax]
        A[tx, 0]
        ^~~~~~~~
  note: `x = ...` gives its value a name, `B[...] = ...` stores it
no_effect.py:23:5: error: this expression has no effect [Syntax]
        A.shape
        ^~~~~~~
  note: `x = ...` gives its value a name, `B[...] = ...` stores it
no_effect.py:24:5: error: this expression has no effect [Syntax]
        3.5
        ^~~
  note: `x = ...` gives its value a name, `B[...] = ...` stores it
no_effect.py:25:5: error: this expression has no effect [Syntax]
        tx and tx > 2
        ^~~~~~~~~~~~~
  note: `x = ...` gives its value a name, `B[...] = ...` stores it
no_effect.py:26:5: error: this expression has no effect [Syntax]
        None
        ^~~~
  note: `x = ...` gives its value a name, `B[...] = ...` stores it
no_effect.py:27:5: error: this expression has no effect [Syntax]
        [i for i in range(4)]
        ^~~~~~~~~~~~~~~~~~~~~
  note: `x = ...` gives its value a name, `B[...] = ...` stores it
no_effect.py:28:5: error: nothing uses the result of this call [Syntax]
        T.max(tx, 1)
        ^~~~~~~~~~~~
  note: `x = ...` gives its value a name, `B[...] = ...` stores it
no_effect.py:29:5: error: nothing uses the result of this call [Syntax]
        T.exp(A[0, 0])
        ^~~~~~~~~~~~~~
  note: `x = ...` gives its value a name, `B[...] = ...` stores it
no_effect.py:30:5: error: nothing uses the result of this call [Syntax]
        T.float32(1)
        ^~~~~~~~~~~~
  note: `x = ...` gives its value a name, `B[...] = ...` stores it
no_effect.py:31:5: error: this expression has no effect [Syntax]
        helper
        ^~~~~~
  note: `()` behind it calls it
no_effect.py:32:5: error: this expression has no effect [Syntax]
        T.cuda.cta_sync
        ^~~~~~~~~~~~~~~
  note: `()` behind it calls it
no_effect.py:33:5: error: this expression has no effect [Syntax]
        T.ptx.cp_async.commit_group
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: `()` behind it calls it
#=== return_value
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    return 3
    return tx
#--- expected
return_value.py:6:12: error: `return` of int, expected nothing or 0: a kernel has no result [BadType]
        return 3
               ^
return_value.py:7:12: error: `return` of expression, expected nothing or 0: a kernel has no result [BadType]
        return tx
               ^~
#=== statements
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    try:
        pass
    except ValueError:
        pass
    class X:
        pass
    del A
    global y
    raise ValueError("x")
    with open("x") as f0:
        pass
#--- expected
statements.py:6:5: error: `try` cannot stand in a kernel [Syntax]
        try:
        ^~~
  note: what Python does before the launch stands outside, in a builder
statements.py:10:5: error: `class` cannot stand in a kernel [Syntax]
        class X:
        ^~~~~~~
  note: what Python does before the launch stands outside, in a builder
statements.py:12:5: error: `del` cannot stand in a kernel [Syntax]
        del A
        ^~~~~
  note: what Python does before the launch stands outside, in a builder
statements.py:13:5: error: `global` cannot stand in a kernel [Syntax]
        global y
        ^~~~~~~~
  note: what Python does before the launch stands outside, in a builder
statements.py:14:5: error: `raise` cannot stand in a kernel [Syntax]
        raise ValueError("x")
        ^~~~~~~~~~~~~~~~~~~~~
  note: what Python does before the launch stands outside, in a builder
statements.py:15:10: error: this value is not known at compile time: `open` is not modelled [Opaque]
        with open("x") as f0:
             ^~~~~~~~~
#=== thread_binding
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    for i in T.thread_binding(4):
        pass
#--- expected
thread_binding.py:5:14: error: `T.thread_binding` without `thread` [BadArgument]
        for i in T.thread_binding(4):
                 ^~~~~~~~~~~~~~~~~~~
#=== thread_tag
@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    for i in T.thread_binding(4, "threadIdx.w"):
        pass
#--- expected
thread_tag.py:5:34: error: a loop over `threadIdx.w`, expected `blockIdx` or `threadIdx` with `.x`, `.y` or `.z` [BadArgument]
        for i in T.thread_binding(4, "threadIdx.w"):
                                     ^~~~~~~~~~~~~
#=== too_many_rounds
from tvm.script import tirx as T


@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (1,), "int32")
    T.device_entry()
    T.cta_id([1])
    T.thread_id([1])
    for i in range(-(2**31), 2**31 - 1):
        B[0] = i
    for i in T.serial(-(2**31), 2**31 - 1, step=2):
        B[0] = i
#--- expected
too_many_rounds.py:10:14: error: a loop of 4294967295 rounds, more than `int32` counts [Overflow]
        for i in range(-(2**31), 2**31 - 1):
                 ^~~~~~~~~~~~~~~~~~~~~~~~~~
  note: give a bound with more bits: `T.int64(0)`
too_many_rounds.py:12:14: error: a loop of 2147483648 rounds, more than `int32` counts [Overflow]
        for i in T.serial(-(2**31), 2**31 - 1, step=2):
                 ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: give a bound with more bits: `T.int64(0)`
