#: kernel = build(4)
# SPDX-License-Identifier: Apache-2.0
from tvm.script import tirx as T


def build(n):
    @T.function
    def kernel(A: T.Tensor((32,), "int32"), s: T.handle):
        T.device_entry(launch=T.cuda.LaunchConfig(grid=(1, 1, 1, 1), block=32))
        T.device_entry(launch=T.cuda.LaunchConfig(grid=n, block=32, stream=s))
        T.device_entry(launch=T.cuda.LaunchConfig(grid=n, block=32, prioriti=s))
        T.device_entry(launch=(n, 32))
        A[0] = T.cuda.thread_idx("x")

    return kernel
#--- expected
bad_launch_config.py:9:57: error: `grid` with 4 extents, expected 1 to 3 [BadScopeIds]
            T.device_entry(launch=T.cuda.LaunchConfig(grid=(1, 1, 1, 1), block=32))
                                                            ^~~~~~~~~~
bad_launch_config.py:10:69: error: `stream` of `T.cuda.LaunchConfig` is not taken: the program that launches the kernel chooses it [BadArgument]
            T.device_entry(launch=T.cuda.LaunchConfig(grid=n, block=32, stream=s))
                                                                        ^~~~~~
bad_launch_config.py:11:69: error: `T.cuda.LaunchConfig` has no `prioriti`; did you mean `priority`? [BadArgument]
            T.device_entry(launch=T.cuda.LaunchConfig(grid=n, block=32, prioriti=s))
                                                                        ^~~~~~~~
bad_launch_config.py:12:32: error: `launch` is tuple, expected `T.cuda.LaunchConfig(grid=, block=)` [BadType]
            T.device_entry(launch=(n, 32))
                                   ^~~~~
bad_launch_config.py:13:16: error: `T.cuda.thread_idx` without a launch [BadScopeIds]
            A[0] = T.cuda.thread_idx("x")
                   ^~~~~~~~~~~~~~~~~~~~~~
  note: `T.device_entry(launch=T.cuda.LaunchConfig(grid=…, block=…))` states one
