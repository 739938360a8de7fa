@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    assert 1 > 2, "numbers"
    T.static_assert(False, "never")
#--- expected
bad_assert_host.py:6:5: error: assertion failed: numbers [HostError]
        assert 1 > 2, "numbers"
        ^~~~~~~~~~~~~~~~~~~~~~~
bad_assert_host.py:7:5: error: static assertion failed: never [HostError]
        T.static_assert(False, "never")
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
