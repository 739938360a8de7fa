import torch
from tvm.script import tirx as T

props = torch.cuda.get_device_properties(0)
sms = props.multi_processor_count

@T.prim_func
def kernel(B_ptr: T.handle):
    B = T.match_buffer(B_ptr, (32,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    B[tid] = T.float32(sms)
#--- expected
bad_needed_in_body.py:13:14: error: this value is not known at compile time: module `torch` is not modelled [Opaque]
        B[tid] = T.float32(sms)
                 ^~~~~~~~~~~~~~
bad_needed_in_body.py:4:9: note: it comes from here
    props = torch.cuda.get_device_properties(0)
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
