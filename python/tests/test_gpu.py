# SPDX-License-Identifier: Apache-2.0
"""Calls on a GPU, against a driver that takes every launch and prints it: no GPU is needed.

test_gpu_errors.py has what goes wrong; test_torch.py has the same with PyTorch on a real one.
"""

from __future__ import annotations

from fake_gpu_for_tests import make_driver, run


def test_tensors_are_launched_on_their_gpu_and_stream(driver):
    printed = run(
        driver,
        """
        add(Tensor(0x1000), Tensor(0x2000), Tensor(0x3000))
        add(Tensor(0x4000, 128), Tensor(0x5000, 128), out=Tensor(0x6000, 128))
        add(Tensor(0x1000, number=0), Tensor(0x2000, number=0), Tensor(0x3000, number=0))
        """,
    )
    assert printed == [
        "load sm_90a",
        "launch grid 3 stream 0x51 at 1000 2000",
        "launch grid 1 stream 0x51 at 4000 5000",
        "load sm_80",
        "launch grid 3 stream 0x50 at 1000 2000",
    ]


def test_repeated_calls_run_no_python(driver):
    printed = run(
        driver,
        """
        count_python(ww.KernelFunction)
        a, b, c = Quick(0x1000), Quick(0x2000), Quick(0x3000)
        print(add(a, b, out=c) is c)
        print(add(Quick(0x4000), b, out=c) is c)
        print(add(Quick(0x5000, 128), Quick(0x6000, 128), Quick(0x7000, 128)))
        print(add(B=Quick(0x8000), C=c, A=Quick(0x9000)))
        print(add(a, a, out=a) is a)
        """,
    )
    assert printed == [
        "python",
        "load sm_90a",
        "launch grid 3 stream 0x61 at 1000 2000",
        "True",
        "launch grid 3 stream 0x61 at 4000 2000",
        "True",
        "launch grid 1 stream 0x61 at 5000 6000",
        "None",
        "launch grid 3 stream 0x61 at 9000 8000",
        "None",
        "launch grid 3 stream 0x61 at 1000 1000",
        "True",
    ]


def test_other_calls_are_left_to_python(driver):
    printed = run(
        driver,
        """
        a, b, c = Quick(0x1000), Quick(0x2000), Quick(0x3000)
        add(a, b, c)
        count_python(ww.KernelFunction)
        add(Quick(0x1000, number=0), Quick(0x2000, number=0), Quick(0x3000, number=0))
        add(Quick(0x4000, number=0), Quick(0x2000, number=0), Quick(0x3000, number=0))
        add(Tensor(0x1000), Tensor(0x2000), Tensor(0x3000))
        add(a, b, out=(c,))
        refused(a, b, Quick(0x3000, number=0))
        refused(a, b, Quick(0x3000, dtype=INT32))
        refused(a, b, Quick(0x3000, dtype=COMPLEX))
        refused(a, b, Quick(0x3000, step=2))
        refused(a, b, Quick(0x3000, 299))
        refused(a, b, Quick(0x3001))
        refused(a, b)
        refused(a, b, c, c)
        add(a, b, c)
        """,
    )
    assert printed == [
        "load sm_90a",
        "launch grid 3 stream 0x61 at 1000 2000",
        "python",
        "load sm_80",
        "launch grid 3 stream 0x60 at 1000 2000",
        "launch grid 3 stream 0x60 at 4000 2000",
        "python",
        "launch grid 3 stream 0x51 at 1000 2000",
        "python",
        "launch grid 3 stream 0x61 at 1000 2000",
        "python",
        "ArgumentError `C` is on cuda:0: expected cuda:1",
        "python",
        "ArgumentError `C` was given an array of int32: expected float32 [BadArgument]",
        "python",
        "ArgumentError `C` was given a tensor of complex64: kernels have no such elements",
        "python",
        "ArgumentError `C` was given an array of shape [300] with strides of [8] bytes: "
        "expected C order [BadArgument]",
        "python",
        "ArgumentError `n` is 300 by another array: `C` has an extent of 299 for it [BadArgument]",
        "DeviceError `C` is given address 0x3001, expected a multiple of 16: the kernel declares it "
        "with `.ptr .align 16` [BadLaunch]",
        "python",
        "ArgumentError `add` was given no argument for `C`",
        "python",
        "ArgumentError `add` was given 4 arguments: expected 3 (A, B, C)",
        "launch grid 3 stream 0x61 at 1000 2000",
    ]


def test_other_libraries_are_read_by_the_table(driver):
    printed = run(
        driver,
        """
        add(Foreign(0x1000), Foreign(0x2000), Quick(0x3000))
        add.bind(Foreign(0x1000), Foreign(0x2000), Foreign(0x3000))()
        refused(Foreign(0x1000), Foreign(0x2000), Foreign(0x3000, 0))
        """,
    )
    assert printed == [
        "load sm_90a",
        "launch grid 3 stream 0x61 at 1000 2000",
        "launch grid 3 stream 0x61 at 1000 2000",
        "ArgumentError `C` is on another GPU: expected cuda:1",
    ]


def test_other_libraries_are_read_by_their_protocols(driver):
    printed = run(
        driver,
        """
        add(Packed(0x1000), Packed(0x2000), Packed(0x3000))
        add.bind(Packed(0x1000), Packed(0x2000), Packed(0x3000))()
        refused(Packed(0x1000), Packed(0x2000), Packed(0x3000, dtype=COMPLEX))
        refused(Packed(0x1000), Packed(0x2000), Packed(0x3000, number=0))
        refused(Packed(0x1000), Packed(0x2000), Quick(0x3000))
        refused(Interface(0x1000), Interface(0x2000), Interface(0x3000))
        """,
    )
    assert [line for line in printed if not line.startswith("ready")] == [
        "load sm_90a",
        "launch grid 3 stream (nil) at 1000 2000",
        "launch grid 3 stream (nil) at 1000 2000",
        "ArgumentError `C` was given a tensor of torch.complex64: kernels have no such elements",
        "ArgumentError `C` is on cuda:0: expected cuda:1",
        "ArgumentError `C` is of another library than the arrays before it: expected one, because "
        "each has streams of its own",
        "ArgumentError an array with `__cuda_array_interface__` alone does not say which of the 2 "
        "GPUs it is on: expected `__dlpack__`, too",
    ]
    assert set(line for line in printed if line.startswith("ready")) == {"ready on stream 1"}


def test_the_cuda_array_interface_names_its_stream(driver, tmp_path):
    make_driver(tmp_path, (driver / "driver.c").read_text().replace("*c = 2;", "*c = 1;"))
    printed = run(
        tmp_path,
        """
        b, c = Interface(0x2000, stream=0x70), Interface(0x3000, strides=(4,), stream=0x70)
        add(Interface(0x1000, stream=0x70), b, c)
        add(Interface(0x1000), Interface(0x2000, stream=1), Interface(0x3000))
        refused(Interface(0x1000), b, c)
        refused(Interface(0x1000, stream=0x70), b, Interface(0x3000, typestr="<c8"))
        refused(Interface(0x1000, stream=0x70), b, Interface(0x3000, strides=(8,), stream=0x70))
        refused(Interface(0x1000, stream=0x70), b, Interface(0x3000, stream=0x70, read_only=True))
        refused(Interface(0x1000, stream=0x70, mask=b), b, c)
        """,
    )
    assert printed == [
        "load sm_80",
        "launch grid 3 stream 0x70 at 1000 2000",
        "launch grid 3 stream (nil) at 1000 2000",
        "ArgumentError `B` is ready on another stream than the arrays before it: expected one",
        "ArgumentError `C` was given a tensor of <c8: kernels have no such elements",
        "ArgumentError `C` was given an array of shape [300] with strides of [8] bytes: "
        "expected C order [BadArgument]",
        "ArgumentError `C` was given a read-only array: the kernel writes it",
        "ArgumentError `A` was given a masked array, whose mask a kernel would not see: expected one "
        "without a mask",
    ]


def test_constants_are_compared(driver):
    printed = run(
        driver,
        """
        from kernels_for_tests import blocked
        count_python(ww.KernelFunction)
        a, b = Quick(0x1000), Quick(0x2000)
        for block in (128, 128, int("512"), int("512"), 128):
            blocked(a, b, BLOCK=block)
        """,
    )
    assert [line for line in printed if not line.startswith("load")] == [
        "python",
        "launch grid 3 stream 0x61 at 1000 2000",
        "launch grid 3 stream 0x61 at 1000 2000",
        "python",
        "launch grid 1 stream 0x61 at 1000 2000",
        "launch grid 1 stream 0x61 at 1000 2000",
        "launch grid 3 stream 0x61 at 1000 2000",
    ]


def test_an_autotuned_kernel_is_timed_on_copies_and_then_launched(driver):
    printed = run(
        driver,
        """
        import warpwright.autotuning as autotuning
        from kernels_for_tests import blocked
        class Cloned(Quick):
            def clone(self): return Cloned(self.address + 0x100000, self.shape[0])
        autotuning._BATCH_SECONDS = 0
        tuned = ww.autotune(configs={"BLOCK": [64, 128, 2048]}, key="n")(blocked)
        count_python(ww.Kernel)
        for n in (300, 300, 600):
            print(f"call {n}")
            tuned(Cloned(0x1000, n), Cloned(0x2000, n))
        for result in tuned.tuned.values():
            print(len(result.ranked), len(result.dropped), result.data["device_name"])
            assert all(row["time_us"] for row in result.ranked)
        """,
    )
    printed = [line for line in printed if not line.startswith("load")]
    calls = [i for i, line in enumerate(printed) if line.startswith("call")]
    # Of each that the GPU takes: a first launch, three to see how long it takes, five batches.
    trials = printed[1 : calls[1] - 2]
    assert trials == [
        f"launch grid {grid} stream 0x61 at 1000 102000" for grid in (5, 3) for _ in range(9)
    ]
    first = printed[calls[1] - 2 : calls[1]]
    assert first[0] == "python" and first[1].endswith("at 1000 2000")
    assert printed[calls[1] + 1 : calls[2]] == first[1:]  # no trials, and no Python of the kernel
    assert printed[-2:] == 2 * ["2 1 GPU 1"]


def test_kernels_that_shapes_choose_are_told_apart(driver):
    printed = run(
        driver,
        """
        TEXT = "\\n".join((
            "from tvm.script import tirx as T",
            "@T.prim_func",
            "def copy(A_ptr: T.handle, B_ptr: T.handle):",
            "    A = T.match_buffer(A_ptr, (SIZE,), 'float32')",
            "    B = T.match_buffer(B_ptr, (SIZE,), 'float32')",
            "    T.device_entry()",
            "    b = T.cta_id([SIZE // 32])",
            "    t = T.thread_id([32])",
            "    B[b * 32 + t] = A[b * 32 + t]",
        ))
        kernels = {n: ww.compile("copy.py", text=TEXT.replace("SIZE", str(n))) for n in (64, 128)}

        class Chosen(ww._core.Launcher):
            def _call(self, a, b):
                print("python")
                kernel = kernels[a.shape[0]]
                return kernel.run_for(self, kernel._call_params, {}, (a, b), {})

        chosen = Chosen()
        for size in (64, 128, 64, 128):
            chosen(Quick(0x1000, size), Quick(0x2000, size))
        """,
    )
    assert [line for line in printed if not line.startswith("load")] == [
        "python",
        "launch grid 2 stream 0x61 at 1000 2000",
        "python",
        "launch grid 4 stream 0x61 at 1000 2000",
        "launch grid 2 stream 0x61 at 1000 2000",
        "launch grid 4 stream 0x61 at 1000 2000",
    ]


def test_a_bound_call_repeats_a_launch(driver):
    printed = run(
        driver,
        """
        bound = add.bind(Tensor(0x1000), Tensor(0x2000), out=Tensor(0x3000))
        bound()
        bound()
        try: bound(1)
        except ww.ArgumentError as error: print(error)
        add.bind(Quick(0x1000), Quick(0x2000), Quick(0x3000))()
        """,
    )
    assert printed == [
        "load sm_90a",
        "launch grid 3 stream 0x51 at 1000 2000",
        "launch grid 3 stream 0x51 at 1000 2000",
        "a bound call takes no arguments: it has them already",
        "launch grid 3 stream 0x61 at 1000 2000",
    ]
