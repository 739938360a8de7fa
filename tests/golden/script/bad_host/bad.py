#=== append_bomb
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    x = []
    while True:
        x.append([n])

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
append_bomb.py:7:5: error: compile-time evaluation takes too much memory [Budget]
        while True:
        ^~~~~~~~~~
append_bomb.py:7:5: note: in turn 1048575 of this loop
        while True:
        ^~~~~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== assert
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    m = 3
    assert n % m == 0, f"{n} is not a multiple of {m}"

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
assert.py:7:5: error: assertion failed: 32 is not a multiple of 3 [HostError]
        assert n % m == 0, f"{n} is not a multiple of {m}"
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: `n` is 32, `m` is 3
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== assert_plain
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    m = 3
    assert n % m == 0 and m > 2

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
assert_plain.py:7:5: error: assertion failed [HostError]
        assert n % m == 0 and m > 2
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: `n` is 32, `m` is 3
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== attribute
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    n = n.bit_lenght()

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
attribute.py:6:11: error: int has no `bit_lenght`; did you mean `bit_length`? [UnknownName]
        n = n.bit_lenght()
              ^~~~~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== builtin_count
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    n = len()

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
builtin_count.py:6:9: error: `len` without `sequence` [BadArgument]
        n = len()
            ^~~~~
  note: it takes (sequence)
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== builtin_keyword
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    n = sorted([1], revers=True)[0]

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
builtin_keyword.py:6:21: error: `sorted` has no parameter `revers`; did you mean `reverse`? [BadArgument]
        n = sorted([1], revers=True)[0]
                        ^~~~~~
  note: it takes (items, key?, reverse?)
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== builtin_many
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    n = len([1], 2)

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
builtin_many.py:6:18: error: `len` with 2 arguments, expected at most 1 [BadArgument]
        n = len([1], 2)
                     ^
  note: it takes (sequence)
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== builtin_name
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    n = lenn([1, 2])

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
builtin_name.py:6:9: error: `lenn` has no value here; did you mean `len`? [UnknownName]
        n = lenn([1, 2])
            ^~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== call
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    n = n(2)

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
call.py:6:9: error: int cannot be called [BadType]
        n = n(2)
            ^~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== closure_bomb
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    f = lambda x: x
    for i in range(10**5):
        f = (lambda g: lambda x: g(x))(f)
    n = f(1)

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
closure_bomb.py:8:34: error: compile-time evaluation is nested too deeply [Budget]
            f = (lambda g: lambda x: g(x))(f)
                                     ^~~~
closure_bomb.py:8:34: note: in a call of `<lambda>`
            f = (lambda g: lambda x: g(x))(f)
                                     ^~~~
closure_bomb.py:8:34: note: in a call of `<lambda>`
            f = (lambda g: lambda x: g(x))(f)
                                     ^~~~
closure_bomb.py:8:34: note: in a call of `<lambda>`
            f = (lambda g: lambda x: g(x))(f)
                                     ^~~~
#=== comprehension_bomb
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    r = range(1000)
    n = [a for a in r for b in r for c in r]

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
comprehension_bomb.py:7:43: error: compile-time evaluation takes too much memory [Budget]
        n = [a for a in r for b in r for c in r]
                                              ^
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== cycle_bomb
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    x = []
    x.append(x)
    y = []
    y.append(y)
    n = x == y

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
cycle_bomb.py:10:9: error: comparing list with list takes too long [Budget]
        n = x == y
            ^~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== cycle_in_kernel
# A list that holds itself, as an argument in a kernel.
from tvm.script import tirx as T

x = []
x.append(x)


@T.prim_func
def k(A_ptr: T.handle):
    A = T.match_buffer(A_ptr, (64,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([64])
    T.evaluate(x)
#--- expected
cycle_in_kernel.py:14:16: error: list as a value of the kernel, expected a number or an expression [BadType]
        T.evaluate(x)
                   ^
#=== dict_bomb
#: kernel = build(32)  steps = 100000
from tvm.script import tirx as T


def build(n):
    x = {i: i for i in range(10**6)}

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
dict_bomb.py:6:24: error: compile-time evaluation takes too many steps [Budget]
        x = {i: i for i in range(10**6)}
                           ^~~~~~~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== division
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    n = n // (n - 32)

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
division.py:6:9: error: division by zero [HostError]
        n = n // (n - 32)
            ^~~~~~~~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== doubling_bomb
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    x = [0]
    while True:
        x = x + x

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
doubling_bomb.py:8:13: error: a list too long [Budget]
            x = x + x
                ^~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== empty_max
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    n = max([])

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
empty_max.py:6:9: error: `max` of nothing [HostError]
        n = max([])
            ^~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== endless_order
# Two lists that hold themselves have no order that could be found.
from tvm.script import tirx as T

x = []
x.append(x)
y = []
y.append(y)
z = x < y


@T.prim_func
def k(A_ptr: T.handle):
    A = T.match_buffer(A_ptr, (64 if z else 32,), "float32")
    T.device_entry()
    T.cta_id([1])
    T.thread_id([64])
#--- expected
endless_order.py:13:32: error: this value is not known at compile time: comparing list with list takes too long [Opaque]
        A = T.match_buffer(A_ptr, (64 if z else 32,), "float32")
                                   ^~~~~~~~~~~~~~~~
endless_order.py:8:1: note: it comes from here
    z = x < y
    ^~~~~~~~~
#=== expression_argument
#: kernel = build(32, m=2)
from tvm.script import tirx as T


def build(n):
    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
--kernel:1:11: error: `build` has no parameter `m` [BadArgument]
    build(32, m=2)
              ^
#=== expression_empty_call
#: kernel = kernel(1,, 2)
from tvm.script import tirx as T

@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (32,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    B[tid] = T.float32(1)
#--- expected
--kernel:1:10: error: found `,`, expected an expression [Syntax]
    kernel(1,, 2)
             ^
#=== expression_name
#: kernel = kernl
from tvm.script import tirx as T

@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (32,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    B[tid] = T.float32(1)
#--- expected
--kernel:1:1: error: `kernl` has no value here; did you mean `kernel`? [UnknownName]
    kernl
    ^~~~~
#=== expression_statement
#: kernel = x = kernel
from tvm.script import tirx as T

@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (32,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    B[tid] = T.float32(1)
#--- expected
--kernel:1:3: error: found `=`, expected an operator or the end of the text [Syntax]
    x = kernel
      ^
#=== expression_syntax
#: kernel = kernel[0
from tvm.script import tirx as T

@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (32,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    B[tid] = T.float32(1)
#--- expected
--kernel:1:9: error: found the end of the text, expected `]` [Syntax]
    kernel[0
            ^
--kernel:1:7: note: `[` is opened here and never closed
    kernel[0
          ^
#=== extend_bomb
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    x = [1, 2]
    while True:
        x.extend(x)

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
extend_bomb.py:7:5: error: compile-time evaluation takes too much memory [Budget]
        while True:
        ^~~~~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== format
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    n = len(f"{n:q}")

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
format.py:6:15: error: format `q` of int: invalid type specifier [Opaque]
        n = len(f"{n:q}")
                  ^~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== format_bomb
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    x = f"{n:999999999}"

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
format_bomb.py:6:11: error: format `999999999` of int: it is too wide [Opaque]
        x = f"{n:999999999}"
              ^~~~~~~~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== format_list
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    n = len(f"{[n]:>8}")

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
format_list.py:6:15: error: format `>8` of list: list takes no format [Opaque]
        n = len(f"{[n]:>8}")
                  ^~~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== format_width_bomb
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    x = f"{n:{10**9}}"

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
format_width_bomb.py:6:11: error: format `1000000000` of int: it is too wide [Opaque]
        x = f"{n:{10**9}}"
              ^~~~~~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== huge
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    n = 10**40

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
huge.py:6:9: error: an integer beyond 2^100 [Overflow]
        n = 10**40
            ^~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== huge_shape
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    n = 2**70

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
huge_shape.py:10:36: error: the constant 1180591620717411303424 does not fit 64 bits [Overflow]
            B = T.match_buffer(B_ptr, (n,), "float32")
                                       ^~
#=== huge_shift
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    n = 1 << 5000

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
huge_shift.py:6:9: error: an integer beyond 2^100 [Overflow]
        n = 1 << 5000
            ^~~~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== import_all
from tvm.script.parser.tirx import *


@prim_func
def kernel(A_ptr: handle):
    A = match_buffer(A_ptr, (32,), "int32")
    device_entry()
    A[thread_id([32])] = 0
#--- expected
--kernel:1:1: error: this value is not known at compile time: `prim_func` has no value here; did you mean `T.prim_func`? [Opaque]
    kernel
    ^~~~~~
import_all.py:5:1: note: it comes from here
    def kernel(A_ptr: handle):
    ^~~~~~~~~~~~~~~~~~~~~~~~~
#=== in_helper
#: kernel = build(32)
from tvm.script import tirx as T


def first(x):
    return second(x) + 1


def second(x):
    return third[x]


third = [1]


def build(n):
    n = first(n)

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
in_helper.py:10:12: error: index 32 of a list of 1 [HostError]
        return third[x]
               ^~~~~~~~
in_helper.py:6:12: note: in a call of `second`
        return second(x) + 1
               ^~~~~~~~~
in_helper.py:17:9: note: in a call of `first`
        n = first(n)
            ^~~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== index
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    sizes = [1, 2, 3]
    n = sizes[3]

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
index.py:7:9: error: index 3 of a list of 3 [HostError]
        n = sizes[3]
            ^~~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== int_of_text
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    n = int("12a")

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
int_of_text.py:6:9: error: '12a' is not an integer [Opaque]
        n = int("12a")
            ^~~~~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== item_of_tuple
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    shape = (n, n)
    shape[0] = 1

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
item_of_tuple.py:7:5: error: cannot assign an item of tuple [ReadOnly]
        shape[0] = 1
        ^~~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== iterate
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    for i in n:
        pass

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
iterate.py:6:14: error: cannot iterate over int [HostError]
        for i in n:
                 ^
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== jit_constants
#: kernel = scale
from tvm.script import tirx as T


@T.jit
def scale(B_ptr: T.handle, n: T.constexpr):
    B = T.match_buffer(B_ptr, (n,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([n])
    B[tid] = 1.0
#--- expected
jit_constants.py:6:28: error: the constant `n` has no value [BadArgument]
    def scale(B_ptr: T.handle, n: T.constexpr):
                               ^~~~~~~~~~~~~~
  note: decorate the kernel with `@T.jit` or `@ww.kernel`, and give it in the kernel expression: `.specialize(n=…)`
#=== jit_unknown
#: kernel = scale.specialize(n=32, m=2)
from tvm.script import tirx as T


@T.jit
def scale(B_ptr: T.handle, n: T.constexpr):
    B = T.match_buffer(B_ptr, (n,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([n])
    B[tid] = 1.0
#--- expected
--kernel:1:26: error: `scale` has no constant `m` [BadArgument]
    scale.specialize(n=32, m=2)
                             ^
#=== kernel_bomb
#: kernel = kernel
from tvm.script import tirx as T

N = 4000000


@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (32,), "int32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    B[tid] = sum(tid * i for i in range(N))
#--- expected
kernel_bomb.py:13:35: error: compile-time evaluation takes too much memory [Budget]
        B[tid] = sum(tid * i for i in range(N))
                                      ^~~~~~~~
#=== kernel_called
#: kernel = kernel(1)
from tvm.script import tirx as T

@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (32,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    B[tid] = T.float32(1)
#--- expected
--kernel:1:1: error: kernel `kernel` cannot be called [BadType]
    kernel(1)
    ^~~~~~~~~
  note: name it without parentheses; `warpwright run --kernel kernel` launches it
#=== kernel_calls_kernel
#: kernel = k
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def helper(A_ptr: T.handle):
    A = T.match_buffer(A_ptr, (32,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    A[tid] = T.float32(1)

@T.prim_func
def k(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (32,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    helper(B.data)
#--- expected
kernel_calls_kernel.py:19:5: error: kernel `k` calls kernel `helper` [BadType]
        helper(B.data)
        ^~~~~~~~~~~~~~
  note: decorate `helper` with `@T.inline`: its body becomes part of the kernel that calls it
#=== kernel_function_outside
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    x = T.alloc_local((n,), "float32")

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
kernel_function_outside.py:6:9: error: `T.alloc_local` outside of a kernel [BadType]
        x = T.alloc_local((n,), "float32")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== kernel_in_kernel
#: kernel = outer
from tvm.script import tirx as T


@T.prim_func
def outer(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (32,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])

    @T.prim_func
    def inner(A_ptr: T.handle):
        A = T.match_buffer(A_ptr, (32,), "float32")
        A[0] = tid
#--- expected
kernel_in_kernel.py:13:5: error: kernel `inner` inside of kernel `outer` [BadType]
        def inner(A_ptr: T.handle):
        ^~~~~~~~~~~~~~~~~~~~~~~~~~
  note: a function decorated with `@T.inline` becomes part of the kernel that calls it
#=== key
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    sizes = {"small": 8, "large": 64}
    n = sizes["smal"]

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
key.py:7:9: error: no key 'smal' in the dict; did you mean `small`? [HostError]
        n = sizes["smal"]
            ^~~~~~~~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== keyword_no_name
#: kernel = build(32)
from tvm.script import tirx as T


def helper(**k):
    return 1


def build(n):
    n = helper(**{"a b": n})

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
keyword_no_name.py:10:18: error: keyword 'a b', expected a name [HostError]
        n = helper(**{"a b": n})
                     ^~~~~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== keyword_only
#: kernel = build(32)
from tvm.script import tirx as T


def helper(a, *, b=1):
    return a


def build(n):
    n = helper(1, 2)

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
keyword_only.py:10:19: error: `helper` with 2 positional arguments, expected 1 [BadArgument]
        n = helper(1, 2)
                      ^
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== keyword_twice
#: kernel = build(32)
from tvm.script import tirx as T


def helper(a, b=1):
    return a


def build(n):
    n = helper(a=1, **{"a": 2})

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
keyword_twice.py:10:23: error: `a` is given twice [BadArgument]
        n = helper(a=1, **{"a": 2})
                          ^~~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== keywords_of_list
#: kernel = build(32)
from tvm.script import tirx as T


def helper(**k):
    return 1


def build(n):
    n = helper(**[1])

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
keywords_of_list.py:10:18: error: `**` of list, expected a dict [HostError]
        n = helper(**[1])
                     ^~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== lambda_count
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    f = lambda x, y: x
    n = f(1)

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
lambda_count.py:7:9: error: `<lambda>` without `y` [BadArgument]
        n = f(1)
            ^~~~
lambda_count.py:6:19: note: the parameter
        f = lambda x, y: x
                      ^
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== language_name
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    n = T.cuda.no_such

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
language_name.py:6:16: error: `T.cuda` has no `no_such` [UnknownName]
        n = T.cuda.no_such
                   ^~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== language_typo
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    n = T.alloc_bufer

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
language_typo.py:6:11: error: `T` has no `alloc_bufer`; did you mean `alloc_buffer`? [UnknownName]
        n = T.alloc_bufer
              ^~~~~~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== leak
#: kernel = kernel
from tvm.script import tirx as T

LIST, TABLE = [], {}


class Holder:
    pass


HOLDER = Holder()


def keep(x):
    global KEPT
    KEPT = x


@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (32,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    LIST.append(tid)
    TABLE["tid"] = [tid + 1]
    HOLDER.buffer = B
    keep(lambda: tid)
    LIST.append(5)
    TABLE["shape"] = "a text"
    local = []
    local.append(tid)
    B[local[0]] = 1.0
#--- expected
leak.py:16:5: error: a value of kernel `kernel` is put into an object that is older than the kernel [ReadOnly]
        KEPT = x
        ^~~~
leak.py:28:5: note: in a call of `keep`
        keep(lambda: tid)
        ^~~~~~~~~~~~~~~~~
leak.py:25:5: error: a value of kernel `kernel` is put into an object that is older than the kernel [ReadOnly]
        LIST.append(tid)
        ^~~~~~~~~~~~~~~~
leak.py:26:5: error: a value of kernel `kernel` is put into an object that is older than the kernel [ReadOnly]
        TABLE["tid"] = [tid + 1]
        ^~~~~~~~~~~~~~~~~~~~~~~~
leak.py:27:5: error: a value of kernel `kernel` is put into an object that is older than the kernel [ReadOnly]
        HOLDER.buffer = B
        ^~~~~~~~~~~~~
#=== list_bomb
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    n = [0] * 10**9

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
list_bomb.py:6:9: error: a list of 1 element repeated 1000000000 times [Budget]
        n = [0] * 10**9
            ^~~~~~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== list_index
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    sizes = [1]
    sizes[1] = 2

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
list_index.py:7:5: error: index 1 of a list of 1 [HostError]
        sizes[1] = 2
        ^~~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== many_bases
# A class with two hundred above it; names are looked up in all of them.
from tvm.script import tirx as T


class C:
    width = 64


for i in range(200):

    class C(C):
        pass


@T.prim_func
def k(A_ptr: T.handle):
    A = T.match_buffer(A_ptr, (C.width,), "float32")
    T.device_entry()
    T.cta_id([1])
    T.thread_id([64])
#--- expected
many_bases.py:17:32: error: this value is not known at compile time: class `C` inherits from more than 100 classes [Opaque]
        A = T.match_buffer(A_ptr, (C.width,), "float32")
                                   ^~~~~~~~
many_bases.py:9:1: note: it comes from here
    for i in range(200):
    ^~~~~~~~~~~~~~~~~~~
#=== many_kernels_bomb
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    while True:

        @T.prim_func
        def kernel(B_ptr: T.handle):
            B = T.match_buffer(B_ptr, (n,), "float32")
            T.device_entry()
            T.cta_id([1])
            tid = T.thread_id([32])
            B[tid] = T.float32(1)
    return kernel
#--- expected
many_kernels_bomb.py:6:5: error: compile-time evaluation takes too much memory [Budget]
        while True:
        ^~~~~~~~~~
many_kernels_bomb.py:6:5: note: in turn 77554 of this loop
        while True:
        ^~~~~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== method_recursion
#: kernel = build(32)
from tvm.script import tirx as T


class Loop:
    @property
    def size(self):
        return self.size


def build(n):
    n = Loop().size

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
method_recursion.py:8:16: error: compile-time evaluation is nested too deeply [Budget]
            return self.size
                   ^~~~~~~~~
method_recursion.py:8:16: note: in a call of `size`
            return self.size
                   ^~~~~~~~~
method_recursion.py:8:16: note: in a call of `size`
            return self.size
                   ^~~~~~~~~
method_recursion.py:8:16: note: in a call of `size`
            return self.size
                   ^~~~~~~~~
#=== missing
#: kernel = build(32)
from tvm.script import tirx as T


def helper(a, b):
    return a


def build(n):
    n = helper(b=1)

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
missing.py:10:9: error: `helper` without `a` [BadArgument]
        n = helper(b=1)
            ^~~~~~~~~~~
missing.py:5:12: note: the parameter
    def helper(a, b):
               ^
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== module_assert
from tvm.script import tirx as T

M = 100
assert M % 64 == 0, f"M is {M}, expected a multiple of 64"
N = M + 1

@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (32,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    B[tid] = T.float32(1)
#--- expected
module_assert.py:4:1: error: assertion failed: M is 100, expected a multiple of 64 [HostError]
    assert M % 64 == 0, f"M is {M}, expected a multiple of 64"
    ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: `M` is 100
#=== module_class
from tvm.script import tirx as T


class Shape:
    def __init__(self, m):
        assert m % 64 == 0, m
        self.m = m


SHAPE = Shape(100)

@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (32,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    B[tid] = T.float32(1)
#--- expected
module_class.py:6:9: error: assertion failed: 100 [HostError]
            assert m % 64 == 0, m
            ^~~~~~~~~~~~~~~~~~~~~
  note: `m` is 100
module_class.py:10:9: note: in a call of `__init__`
    SHAPE = Shape(100)
            ^~~~~~~~~~
#=== module_division
from tvm.script import tirx as T


def tiles(m, n):
    return m // n


TILES = tiles(64, 0)

@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (32,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    B[tid] = T.float32(1)
#--- expected
module_division.py:5:12: error: division by zero [HostError]
        return m // n
               ^~~~~~
module_division.py:8:9: note: in a call of `tiles`
    TILES = tiles(64, 0)
            ^~~~~~~~~~~~
#=== module_key
from tvm.script import tirx as T

TABLE = {"n": 32}
N = TABLE["m"]
M = N * 2

@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (M,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    B[tid] = T.float32(1)
#--- expected
module_key.py:4:5: error: no key 'm' in the dict [HostError]
    N = TABLE["m"]
        ^~~~~~~~~~
#=== module_loop
#: steps = 100000
from tvm.script import tirx as T

n = 0
while n < 10**9:
    n += 1

@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (32,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    B[tid] = T.float32(1)
#--- expected
module_loop.py:5:7: error: compile-time evaluation takes too many steps [Budget]
    while n < 10**9:
          ^~~~~~~~~
module_loop.py:5:1: note: in turn 10000 of this loop
    while n < 10**9:
    ^~~~~~~~~~~~~~~
#=== module_raise
from tvm.script import tirx as T

M = 100
for size in (64, 100):
    if size == M:
        raise ValueError(f"no tile of {size}")

@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (32,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    B[tid] = T.float32(1)
#--- expected
module_raise.py:6:9: error: `ValueError` is raised: no tile of 100 [HostError]
            raise ValueError(f"no tile of {size}")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#=== modulo
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    n = 1.5 % 0

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
modulo.py:6:9: error: division by zero [HostError]
        n = 1.5 % 0
            ^~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== mutual_recursion
#: kernel = build(32)
from tvm.script import tirx as T


ping = lambda x: pong(x)
pong = lambda x: ping(x)


def build(n):
    n = ping(n)

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
mutual_recursion.py:6:18: error: compile-time evaluation is nested too deeply [Budget]
    pong = lambda x: ping(x)
                     ^~~~~~~
mutual_recursion.py:5:18: note: in a call of `<lambda>`
    ping = lambda x: pong(x)
                     ^~~~~~~
mutual_recursion.py:6:18: note: in a call of `<lambda>`
    pong = lambda x: ping(x)
                     ^~~~~~~
mutual_recursion.py:5:18: note: in a call of `<lambda>`
    ping = lambda x: pong(x)
                     ^~~~~~~
#=== name
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    sise = n
    n = siez * 2

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
name.py:7:9: error: `siez` has no value here; did you mean `sise`? [UnknownName]
        n = siez * 2
            ^~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== named_unknown
#: kernel = build(32)::kernal
from tvm.script import tirx as T


def build(n):
    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
--kernel:1:1: error: no kernel `kernal` was defined by `build(32)`; did you mean `kernel`? [NotAKernel]
    build(32)
    ^~~~~~~~~
#=== named_unknown_failure
#: kernel = build(32)::kernel
from tvm.script import tirx as T


def build(n):
    assert n < 10
    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
named_unknown_failure.py:6:5: error: assertion failed [HostError]
        assert n < 10
        ^~~~~~~~~~~~~
  note: `n` is 32
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== needs_arguments
from tvm.script import tirx as T


def build(n, m=2):
    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
error: the only builder of this file needs arguments; call it with `--kernel EXPR` [NotAKernel]
  note: builder `build(n, m=2)`, with `kernel` inside
#=== negative_index
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    sizes = (1, 2, 3)
    n = sizes[-4]

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
negative_index.py:7:9: error: index -4 of a tuple of 3 [HostError]
        n = sizes[-4]
            ^~~~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== nested_bomb
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    x = y = []
    for i in range(100000):
        x = [x]
        y = [y]
    n = x == y

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
nested_bomb.py:10:9: error: comparing list with list takes too long [Budget]
        n = x == y
            ^~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== no_annotation
from tvm.script import tirx as T


@T.prim_func
def kernel(A_ptr: T.handle, n, B_ptr: 5):
    A = T.match_buffer(A_ptr, (32,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    A[tid] = n
#--- expected
no_annotation.py:5:29: error: parameter `n` has no annotation, expected `T.handle`, `T.Buffer(…)` or a type [BadType]
    def kernel(A_ptr: T.handle, n, B_ptr: 5):
                                ^
no_annotation.py:5:32: error: parameter `B_ptr` is annotated with int, expected `T.handle`, `T.Buffer(…)` or a type such as `T.int32` [BadType]
    def kernel(A_ptr: T.handle, n, B_ptr: 5):
                                   ^~~~~~~~
#=== no_index
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    n = n[0]

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
no_index.py:6:9: error: int takes no index [BadType]
        n = n[0]
            ^~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== no_kernel
from tvm.script import tirx as T


def helper(n):
    return n
#--- expected
error: no kernel in this file: no function is decorated with `@T.prim_func` or `@T.jit` [NotAKernel]
#=== no_kernel_function
#: kernel = build
from tvm.script import tirx as T


def build(n):
    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
--kernel:1:1: error: the expression gives function, expected a kernel [NotAKernel]
    build
    ^~~~~
  note: call it: `build(…)`
#=== no_kernel_list
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return [kernel]
#--- expected
--kernel:1:1: error: the expression gives list, expected a kernel [NotAKernel]
    build(32)
    ^~~~~~~~~
  note: kernels were defined on the way; take one with `::kernel`
#=== no_kernel_returned
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    kernel
#--- expected
--kernel:1:1: error: the expression gives None, expected a kernel [NotAKernel]
    build(32)
    ^~~~~~~~~
  note: kernels were defined on the way; take one with `::kernel`
#=== no_kernel_value
#: kernel = N + 1
from tvm.script import tirx as T

N = 3

@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (32,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    B[tid] = T.float32(1)
#--- expected
--kernel:1:1: error: the expression gives int, expected a kernel [NotAKernel]
    N + 1
    ^~~~~
#=== nonlocal
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    nonlocal m
    m = n

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
nonlocal.py:6:5: error: `nonlocal m`, but no function around has the name [UnknownName]
        nonlocal m
        ^~~~~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== object_attribute
#: kernel = build(32)
from tvm.script import tirx as T


class Config:
    size: int


def build(n):
    c = Config(n)
    n = c.sise

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
object_attribute.py:11:11: error: an object of class `Config` has no `sise`; did you mean `size`? [UnknownName]
        n = c.sise
              ^~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== object_field
#: kernel = build(32)
from tvm.script import tirx as T


class Config:
    size: int
    rows: int = 1


def build(n):
    n = Config(siz=n)

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
object_field.py:11:16: error: `Config` has no field `siz`; did you mean `size`? [BadArgument]
        n = Config(siz=n)
                   ^~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== object_many
#: kernel = build(32)
from tvm.script import tirx as T


class Config:
    size: int
    rows: int = 1


def build(n):
    n = Config(n, 1, 2)

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
object_many.py:11:22: error: `Config` with 3 arguments, expected at most 2 [BadArgument]
        n = Config(n, 1, 2)
                         ^
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== object_missing
#: kernel = build(32)
from tvm.script import tirx as T


class Config:
    size: int
    rows: int = 1


def build(n):
    n = Config()

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
object_missing.py:11:9: error: `Config` without `size` [BadArgument]
        n = Config()
            ^~~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== order
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    n = max(n, "1")

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
order.py:6:9: error: `>` of str and int [BadType]
        n = max(n, "1")
            ^~~~~~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== other_language
#: kernel = build()::f
import tilelang.language as T

def build():
    @T.prim_func
    def f(a: T.handle):
        A = T.match_buffer(a, (64,), "float32")

    return f
#--- expected
--kernel:1:1: error: no kernel `f` was defined by `build()` [NotAKernel]
    build()
    ^~~~~~~
  note: `@T.prim_func` defines one where `T` is `from tvm.script import tirx as T`
#=== positional
#: kernel = build(32)
from tvm.script import tirx as T


def helper(a, b):
    return a


def build(n):
    n = helper(1, 2, 3)

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
positional.py:10:22: error: `helper` with 3 positional arguments, expected 2 [BadArgument]
        n = helper(1, 2, 3)
                         ^
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== positional_only
#: kernel = build(32)
from tvm.script import tirx as T


def helper(a, /):
    return a


def build(n):
    n = helper(a=1)

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
positional_only.py:10:9: error: `helper` without `a`, which cannot be given by name [BadArgument]
        n = helper(a=1)
            ^~~~~~~~~~~
positional_only.py:5:12: note: the parameter
    def helper(a, /):
               ^
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== power_bomb
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    n = 2 ** 10**6

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
power_bomb.py:6:9: error: an integer beyond 2^100 [Overflow]
        n = 2 ** 10**6
            ^~~~~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== product_bomb
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    import itertools

    x = list(itertools.product(range(1000), repeat=9))

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
product_bomb.py:8:14: error: a product of too many values [Budget]
        x = list(itertools.product(range(1000), repeat=9))
                 ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== raise
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    if n % 3:
        raise ValueError(f"{n} rows do not split into 3")

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
raise.py:7:9: error: `ValueError` is raised: 32 rows do not split into 3 [HostError]
            raise ValueError(f"{n} rows do not split into 3")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== raise_bare
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    raise RuntimeError

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
raise_bare.py:6:5: error: `RuntimeError` is raised [HostError]
        raise RuntimeError
        ^~~~~~~~~~~~~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== range_bomb
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    n = list(range(10**12))

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
range_bomb.py:6:14: error: 1000000000000 elements at once, expected at most 4194304 [Budget]
        n = list(range(10**12))
                 ^~~~~~~~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== range_step
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    n = len(range(1, 2, 0))

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
range_step.py:6:13: error: a range with step 0 [HostError]
        n = len(range(1, 2, 0))
                ^~~~~~~~~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== recursion
#: kernel = build(32)
from tvm.script import tirx as T


def down(x):
    return down(x + 1)


def build(n):
    n = down(n)

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
recursion.py:6:12: error: compile-time evaluation is nested too deeply [Budget]
        return down(x + 1)
               ^~~~~~~~~~~
recursion.py:6:12: note: in a call of `down`
        return down(x + 1)
               ^~~~~~~~~~~
recursion.py:6:12: note: in a call of `down`
        return down(x + 1)
               ^~~~~~~~~~~
recursion.py:6:12: note: in a call of `down`
        return down(x + 1)
               ^~~~~~~~~~~
#=== replace_bomb
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    x = ("a" * 10**6).replace("a", "b" * 10**6)

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
replace_bomb.py:6:9: error: a text too long [Budget]
        x = ("a" * 10**6).replace("a", "b" * 10**6)
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== set_bomb
#: kernel = build(32)  steps = 100000
from tvm.script import tirx as T


def build(n):
    x = {i for i in range(10**6)}

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
set_bomb.py:6:21: error: compile-time evaluation takes too many steps [Budget]
        x = {i for i in range(10**6)}
                        ^~~~~~~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== several
from tvm.script import tirx as T

@T.prim_func
def first(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (32,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    B[tid] = T.float32(1)


@T.jit
def second(A: T.Buffer((4, "n"), "float32"), n_max: T.constexpr, *, flag: T.constexpr = True):
    pass


def build(n, direction="ld", *rest, trans: bool = False, **options):
    @T.prim_func
    def load(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)

    @T.prim_func
    def store(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return load


def helper(n):
    return n
#--- expected
error: 3 kernels or builders in this file; choose one with `--kernel EXPR` [NotAKernel]
  note: kernel `first(B_ptr: T.handle)`
  note: kernel `second(A: T.Buffer((4, "n"), "float32"), n_max: T.constexpr, *, flag: T.constexpr=True)`
  note: builder `build(n, direction="ld", *rest, trans: bool=False, **options)`, with `load`, `store` inside
#=== shared_bomb
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    x = y = (1,)
    for i in range(60):
        x, y = (x, x), (y, y)
    n = x == y

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
shared_bomb.py:9:9: error: comparing tuple with tuple takes too long [Budget]
        n = x == y
            ^~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== shared_list_in_kernel
# A list that holds itself twice, sixty levels deep, as an argument in a kernel.
from tvm.script import tirx as T

x = [1]
for i in range(60):
    x = [x, x]


@T.prim_func
def k(A_ptr: T.handle):
    A = T.match_buffer(A_ptr, (64,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([64])
    T.evaluate(x)
#--- expected
shared_list_in_kernel.py:15:16: error: list as a value of the kernel, expected a number or an expression [BadType]
        T.evaluate(x)
                   ^
#=== slice_step
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    n = len([1, 2][::0])

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
slice_step.py:6:13: error: a slice with step 0 [HostError]
        n = len([1, 2][::0])
                ^~~~~~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== sort_bomb
#: kernel = build(32)  steps = 100000
from tvm.script import tirx as T


def build(n):
    n = sorted([[0] * 4000000] * 1000)

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
sort_bomb.py:6:17: error: compile-time evaluation takes too many steps [Budget]
        n = sorted([[0] * 4000000] * 1000)
                    ^~~~~~~~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== sqrt
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    import math

    n = math.sqrt(-1)

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
sqrt.py:8:9: error: `math.sqrt` of -1 [HostError]
        n = math.sqrt(-1)
            ^~~~~~~~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== sum_bomb
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    n = sum(range(10**9))

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
sum_bomb.py:6:9: error: 1000000000 elements at once, expected at most 4194304 [Budget]
        n = sum(range(10**9))
            ^~~~~~~~~~~~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== text_bomb
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    n = "x" * 10**10

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
text_bomb.py:6:9: error: a str of 1 element repeated 10000000000 times [Budget]
        n = "x" * 10**10
            ^~~~~~~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== text_doubling_bomb
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    x = "ab"
    while True:
        x = f"{x}{x}"

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
text_doubling_bomb.py:8:15: error: a text too long [Budget]
            x = f"{x}{x}"
                  ^~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== text_index
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    n = "abc"[5]

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
text_index.py:6:9: error: index 5 of a str of 3 [HostError]
        n = "abc"[5]
            ^~~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== twice
#: kernel = build(32)
from tvm.script import tirx as T


def helper(a, b=1):
    return a


def build(n):
    n = helper(1, a=2)

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
twice.py:10:19: error: `a` of `helper` is given twice [BadArgument]
        n = helper(1, a=2)
                      ^
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== type_parameters
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def k[M](A_ptr: T.handle):
    A = T.match_buffer(A_ptr, (64, 64), "int32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([64])
    A[tid, 0] = 0
#--- expected
type_parameters.py:5:6: error: found `[`, expected `(` and parameters [Syntax]
    def k[M](A_ptr: T.handle):
         ^
  note: type parameters are not taken; `n = T.int32()` in the body declares an extent of run time, `n: T.constexpr` a constant of `@T.jit`
#=== types
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    n = n + "1"

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
types.py:6:9: error: `+` of int and str [BadType]
        n = n + "1"
            ^~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== unknown_keyword
#: kernel = build(32)
from tvm.script import tirx as T


def helper(a, length=1):
    return a


def build(n):
    n = helper(1, lenght=2)

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
unknown_keyword.py:10:19: error: `helper` has no parameter `lenght`; did you mean `length`? [BadArgument]
        n = helper(1, lenght=2)
                      ^~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== unpack
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    a, b = 1, 2, 3

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
unpack.py:6:5: error: 3 values for 2 names [HostError]
        a, b = 1, 2, 3
        ^~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== unpack_number
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    a, b = n

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
unpack_number.py:6:5: error: cannot iterate over int [HostError]
        a, b = n
        ^~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== while_true
#: kernel = build(32)  steps = 100000
from tvm.script import tirx as T


def build(n):
    while True:
        n += 1

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
while_true.py:7:14: error: compile-time evaluation takes too many steps [Budget]
            n += 1
                 ^
while_true.py:6:5: note: in turn 19999 of this loop
        while True:
        ^~~~~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
#=== zip_bomb
#: kernel = build(32)
from tvm.script import tirx as T


def build(n):
    n = list(zip(*[range(4000000)] * 100))

    @T.prim_func
    def kernel(B_ptr: T.handle):
        B = T.match_buffer(B_ptr, (n,), "float32")
        T.device_entry()
        T.cta_id([1])
        tid = T.thread_id([32])
        B[tid] = T.float32(1)
    return kernel
#--- expected
zip_bomb.py:6:14: error: `zip` of too many values [Budget]
        n = list(zip(*[range(4000000)] * 100))
                 ^~~~~~~~~~~~~~~~~~~~~~~~~~~~
--kernel:1:1: note: in a call of `build`
    build(32)
    ^~~~~~~~~
