@T.prim_func
def f(a: T.handle):
    A = T.match_buffer(a, (16, 16), "float32")
    T.device_entry()
    tx = T.thread_id([32])
    S0 = T.alloc_shared((16, 16), "float32")
    Tx.cta.copy(S0, A, prefetch_sise=128)
    Tx.cta.copy(S0, A, stage=True)
    Tx.cta.copy_async(S0, A, config={"vectorise": 4})
    Tx.cta.permute_layout(S0, S0, predicate=True)
    Tx.cta.fill(S0, 0.0, value_type="float32")
#--- expected
bad_unknown_setting.py:7:5: error: `copy` has no setting `prefetch_sise`; did you mean `prefetch_size`? [UnknownName]
        Tx.cta.copy(S0, A, prefetch_sise=128)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: its settings: predicate, fill_mode, fill_value, clip, cache, l1_evict, l2_evict, prefetch_size, remote_cta_id
bad_unknown_setting.py:8:5: error: `copy` has no setting `stage` [UnknownName]
        Tx.cta.copy(S0, A, stage=True)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: its settings: predicate, fill_mode, fill_value, clip, cache, l1_evict, l2_evict, prefetch_size, remote_cta_id
bad_unknown_setting.py:9:5: error: `copy_async` has no setting `vectorise` [UnknownName]
        Tx.cta.copy_async(S0, A, config={"vectorise": 4})
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: its settings: predicate, fill_mode, fill_value, clip, l2_evict, prefetch_size, direct, shape, multicast, cta_group, decompress, mbar, mbarrier_addr, remote_cta_id, cache_hint, cta_mask, oob, prefetch_tensormap, tensormap_l2_promotion, tensor_map, tma_dtype, use_tma_reduce, gather4, src_selector
bad_unknown_setting.py:10:5: error: `permute_layout` has no setting `predicate` [UnknownName]
        Tx.cta.permute_layout(S0, S0, predicate=True)
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: `permute_layout` has no settings
bad_unknown_setting.py:11:5: error: `fill` has no setting `value_type` [UnknownName]
        Tx.cta.fill(S0, 0.0, value_type="float32")
        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: `fill` has no settings
