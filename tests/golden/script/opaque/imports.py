import os.path as osp
import sys

import ml_dtypes
import numpy as np
import pytest
import torch
import tvm
import tvm.testing
from tvm.ir.type import PointerType
from tvm.script import tirx as T
from tvm.tirx import *

HERE = osp.dirname(__file__)
HAS_GPU = torch.cuda.is_available() and torch.cuda.get_device_capability()[0] >= 9
DTYPES = {"float16": np.float16, **{"bfloat16": ml_dtypes.bfloat16}}
N = 32

@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (N,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    B[tid] = T.float32(len(DTYPES))


if __name__ == "__main__":
    tvm.testing.main()
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (32,))
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    B[tid] = T.float32(2.0)
