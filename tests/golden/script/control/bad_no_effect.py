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
bad_no_effect.py:11:5: error: `print` is the host's, which prints nothing of a kernel's run [Syntax]
        print(tx)
        ^~~~~~~~~
  note: `T.cuda.printf("%d %f\n", i, x)` prints when the kernel runs
bad_no_effect.py:12:5: error: `print` is the host's, which prints nothing of a kernel's run [Syntax]
        print("starts")
        ^~~~~~~~~~~~~~~
  note: `T.cuda.printf("%d %f\n", i, x)` prints when the kernel runs
bad_no_effect.py:13:5: error: `print` is the host's, which prints nothing of a kernel's run [Syntax]
        print("element", A[tx, 0], sep=" ")
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: `T.cuda.printf("%d %f\n", i, x)` prints when the kernel runs
bad_no_effect.py:14:5: error: nothing uses the result of `len` [Syntax]
        len(A.shape)
        ^~~~~~~~~~~~
bad_no_effect.py:15:5: error: nothing uses the result of `max` [Syntax]
        max(1, 2)
        ^~~~~~~~~
bad_no_effect.py:16:5: error: a text in the middle of a kernel has no effect [Syntax]
        "a remark"
        ^~~~~~~~~~
  note: comments begin with `#`
bad_no_effect.py:17:5: error: this expression has no effect [Syntax]
        A[tx, 0] + 1
        ^~~~~~~~~~~~
  note: `x = ...` gives its value a name, `B[...] = ...` stores it
bad_no_effect.py:18:5: error: this expression has no effect [Syntax]
        tx == 3
        ^~~~~~~
  note: `x = ...` gives its value a name, `B[...] = ...` stores it
bad_no_effect.py:19:5: error: this expression has no effect [Syntax]
        tx
        ^~
  note: `x = ...` gives its value a name, `B[...] = ...` stores it
bad_no_effect.py:20:5: error: this expression has no effect [Syntax]
        (tx, 1)
        ^~~~~~~
  note: `x = ...` gives its value a name, `B[...] = ...` stores it
bad_no_effect.py:21:5: error: this expression has no effect [Syntax]
        -tx
        ^~~
  note: `x = ...` gives its value a name, `B[...] = ...` stores it
bad_no_effect.py:22:5: error: this expression has no effect [Syntax]
        A[tx, 0]
        ^~~~~~~~
  note: `x = ...` gives its value a name, `B[...] = ...` stores it
bad_no_effect.py:23:5: error: this expression has no effect [Syntax]
        A.shape
        ^~~~~~~
  note: `x = ...` gives its value a name, `B[...] = ...` stores it
bad_no_effect.py:24:5: error: this expression has no effect [Syntax]
        3.5
        ^~~
  note: `x = ...` gives its value a name, `B[...] = ...` stores it
bad_no_effect.py:25:5: error: this expression has no effect [Syntax]
        tx and tx > 2
        ^~~~~~~~~~~~~
  note: `x = ...` gives its value a name, `B[...] = ...` stores it
bad_no_effect.py:26:5: error: this expression has no effect [Syntax]
        None
        ^~~~
  note: `x = ...` gives its value a name, `B[...] = ...` stores it
bad_no_effect.py:27:5: error: this expression has no effect [Syntax]
        [i for i in range(4)]
        ^~~~~~~~~~~~~~~~~~~~~
  note: `x = ...` gives its value a name, `B[...] = ...` stores it
bad_no_effect.py:28:5: error: nothing uses the result of this call [Syntax]
        T.max(tx, 1)
        ^~~~~~~~~~~~
  note: `x = ...` gives its value a name, `B[...] = ...` stores it
bad_no_effect.py:29:5: error: nothing uses the result of this call [Syntax]
        T.exp(A[0, 0])
        ^~~~~~~~~~~~~~
  note: `x = ...` gives its value a name, `B[...] = ...` stores it
bad_no_effect.py:30:5: error: nothing uses the result of this call [Syntax]
        T.float32(1)
        ^~~~~~~~~~~~
  note: `x = ...` gives its value a name, `B[...] = ...` stores it
bad_no_effect.py:31:5: error: this expression has no effect [Syntax]
        helper
        ^~~~~~
  note: `()` behind it calls it
bad_no_effect.py:32:5: error: this expression has no effect [Syntax]
        T.cuda.cta_sync
        ^~~~~~~~~~~~~~~
  note: `()` behind it calls it
bad_no_effect.py:33:5: error: this expression has no effect [Syntax]
        T.ptx.cp_async.commit_group
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: `()` behind it calls it
