// SPDX-License-Identifier: Apache-2.0
// Shared to tensor memory: started by one thread, carried out by the tensor core, waited for by
// everybody.
#include <fmt/format.h>

#include <algorithm>

#include "soak/steps.h"

namespace ww::test {
namespace {

// Rows of units of 16 bytes.
void declare_tensor_cp(Draft& draft) {
  const Frame& f = draft.f;
  if (!f.has_tensor) return;
  const std::string dtype = draft.regs[0].dtype;
  if (f.tile[1] * bits_of(dtype) % 128 != 0) return;
  if (!add_shared(draft, dtype, f.tile, Shared::Kind::Matrix)) return;
  draft.matrix = draft.shared.size() - 1;
  draft.text.line({}, "bar = T.alloc_shared([1], \"uint64\")");
}

void begin_tensor_cp(Draft& draft) {
  if (!draft.matrix) return;
  draft.text.line({}, "if tid == 0:");
  draft.text.line({}, "    T.ptx.mbarrier.init(T.address_of(bar), 1)");
  draft.text.line({}, "phase: T.int32 = 0");
}

bool tensor_cp_fit(const Draft& draft, const Place& at) { return draft.matrix && !at.is_split; }

void write_tensor_cp(Draft& draft, const Place& at) {
  const Frame& f = draft.f;
  const Shared& from = draft.shared[*draft.matrix];
  const TensorTile& to = *std::ranges::find(draft.tensor, from.dtype, &TensorTile::dtype);
  clean(draft, at);
  const std::string there = any_stage(draft, at, draft.tensor_stages);
  const std::string here = any_stage(draft, at, from.stages);
  const std::int64_t unit = draft.tape.below(f.units);
  const std::string first =
      fmt::format("({} + {}) * {}", unit * draft.tensor_stages, there, f.tile[1]);
  draft.text.line(at, "T.ptx.fence.proxy_async(\"shared::cta\")");
  draft.text.line(at, "T.ptx.tcgen05.fence.before_thread_sync()");
  draft.text.line(at, "T.cuda.cta_sync()");
  draft.text.line(at, "if tid == 0:");
  draft.text.line(at, "    T.ptx.tcgen05.fence.after_thread_sync()");
  draft.text.line(at, "    Tx.copy_async({}[0:128, {}:{} + {}], {}[{}, {}, 0:128, 0:{}])", to.name,
                  first, first, f.tile[1], from.name, here, unit, f.tile[1]);
  draft.text.line(at, "    T.ptx.tcgen05.commit(T.address_of(bar), cta_group=1)");
  draft.text.line(at, "T.cuda.mbarrier_wait(T.address_of(bar), phase)");
  draft.text.line(at, "phase = 1 - phase");
  draft.text.line(at, "T.ptx.tcgen05.fence.after_thread_sync()");
}

}  // namespace

const Step kTensorCp{.name = "tensor memory: from shared",
                     .weight = 2,
                     .fits = tensor_cp_fit,
                     .write = write_tensor_cp,
                     .declare = declare_tensor_cp,
                     .begin = begin_tensor_cp};

}  // namespace ww::test
