// SPDX-License-Identifier: Apache-2.0
// Registers to tensor memory and back. Each unit has columns of its own, so that no other warp is
// at the cells of one.
#include <fmt/format.h>

#include <algorithm>

#include "engines/tensor_programs.h"
#include "soak/steps.h"

namespace ww::test {
namespace {

bool tensor_fit(const Draft& draft, const Place&) { return draft.f.has_tensor; }

// The columns of a unit and stage.
std::string there(const Draft& draft, const TensorTile& each, const std::string& stage) {
  const std::int64_t width = draft.f.tile[1];
  const std::string first =
      fmt::format("({} * {} + {}) * {}", draft.f.unit, draft.tensor_stages, stage, width);
  return fmt::format("{}[0:128, {}:{} + {}]", each.name, first, first, width);
}

void declare_tensor(Draft& draft) {
  if (!draft.f.has_tensor) return;
  draft.text.line({}, draft.f.has_pool && draft.tape.one_in(2)
                          ? "base = pool.alloc((1,), \"uint32\")"
                          : "base = T.alloc_shared([1], \"uint32\")");
}

void copy_there(Draft& draft, const Place& at, const TensorTile& to, const std::string& stage,
                const RegTile& from) {
  draft.text.line(at, "Tx.wg.copy_async({}, {})", there(draft, to, stage),
                  region_of(from, Columns::all(from.shape)));
  draft.text.line(at, "T.ptx.tcgen05.wait.st()");
}

const RegTile& reg_of(const Draft& draft, const std::string& dtype) {
  return *std::ranges::find(draft.regs, dtype, &RegTile::dtype);
}

// One tile for each element type, in which everything has contents.
void begin_tensor(Draft& draft) {
  if (!draft.f.has_tensor) return;
  const Place at;
  draft.tensor_stages = 1 + draft.tape.below(2);
  const std::int64_t width = draft.f.units * draft.tensor_stages * draft.f.tile[1];
  std::string tiles;
  std::int64_t column = 0;
  for (const RegTile& reg : draft.regs) {
    const std::string name = "t_" + reg.dtype;
    if (std::ranges::find(draft.tensor, name, &TensorTile::name) != draft.tensor.end()) continue;
    draft.tensor.push_back({name, reg.dtype});
    tiles += fmt::format(
        "{}{} = T.decl_buffer((128, {}), \"{}\", scope=\"tmem\", "
        "allocated_addr={}, layout={})\n",
        at.indent, name, width, reg.dtype, base_plus(column),
        tile(fmt::format("S[(128, {}) : (1 @ TLane, 1 @ TCol)]", width)));
    column += width * bits_of(reg.dtype) / 32;
  }
  draft.tensor_columns = allocation_of(column);
  draft.text.line(at, "if warp == 0:");
  draft.text.line(at, "    T.ptx.tcgen05.alloc(T.address_of(base), n_cols={}, cta_group=1)",
                  draft.tensor_columns);
  draft.text.line(at, "T.cuda.cta_sync()");
  for (Shared& each : draft.shared) each.pending = {};
  draft.text.lines(tiles);
  for (const TensorTile& each : draft.tensor)
    for (std::int64_t s = 0; s < draft.tensor_stages; ++s)
      copy_there(draft, at, each, std::to_string(s), reg_of(draft, each.dtype));
}

void finish_tensor(Draft& draft) {
  if (!draft.f.has_tensor) return;
  const Place at;
  draft.text.line(at, "T.ptx.tcgen05.fence.before_thread_sync()");
  draft.text.line(at, "T.cuda.cta_sync()");
  draft.text.line(at, "T.ptx.tcgen05.fence.after_thread_sync()");
  draft.text.line(at, "if warp == 0:");
  draft.text.line(at, "    T.ptx.tcgen05.relinquish_alloc_permit(cta_group=1)");
  draft.text.line(at, "    T.ptx.tcgen05.dealloc(base[0], n_cols={}, cta_group=1)",
                  draft.tensor_columns);
}

void write_tensor_store(Draft& draft, const Place& at) {
  const RegTile& from = any_work(draft);
  const TensorTile& to = *std::ranges::find(draft.tensor, from.dtype, &TensorTile::dtype);
  copy_there(draft, at, to, any_stage(draft, at, draft.tensor_stages), from);
}

void write_tensor_load(Draft& draft, const Place& at) {
  const RegTile& to = any_work(draft);
  const TensorTile& from = *std::ranges::find(draft.tensor, to.dtype, &TensorTile::dtype);
  draft.text.line(at, "Tx.wg.copy_async({}, {})", region_of(to, Columns::all(to.shape)),
                  there(draft, from, any_stage(draft, at, draft.tensor_stages)));
  draft.text.line(at, "T.ptx.tcgen05.wait.ld()");
}

}  // namespace

const Step kTensorStore{.name = "tensor memory: from registers",
                        .weight = 2,
                        .fits = tensor_fit,
                        .write = write_tensor_store,
                        .declare = declare_tensor,
                        .begin = begin_tensor,
                        .finish = finish_tensor};
const Step kTensorLoad{.name = "tensor memory: to registers",
                       .weight = 2,
                       .fits = tensor_fit,
                       .write = write_tensor_load};

}  // namespace ww::test
