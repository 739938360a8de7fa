# Roles that ask for more registers than the CTA has: docs/reference/language.md.
#
#   warpwright run examples/errors/registers.py


@T.prim_func
def roles(A: T.Buffer((384,), "float32")):
    T.device_entry()
    T.cta_id([1])
    group = T.warpgroup_id([3])
    t = T.thread_id([384])
    with T.WarpgroupRole(group, 0, regs=40):
        A[t] = 1.0
    with T.WarpgroupRole(group, (1, 3), regs=240, increase=True):
        A[t] = 2.0
