// SPDX-License-Identifier: Apache-2.0
#include "lower/scratch.h"

#include <algorithm>

#include "ir/visit.h"

namespace ww::lower {
namespace {

constexpr std::int64_t kAlign = 16;

std::int64_t rounded_up(std::int64_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

// What the program allocates itself, each buffer on its own boundary.
std::int64_t static_bytes(const ir::Function& f) {
  std::int64_t out = 0;
  ir::for_each_stmt(f, f.body, [&](ir::StmtId id) {
    if (f[id].kind != ir::StmtKind::Alloc || f[f[id].buffer].scope != ir::Scope::Shared) return;
    const ir::Buffer& buffer = f[f[id].buffer];
    std::int64_t bits = num::bits_of(buffer.dtype);
    for (const ir::ExprId extent : buffer.shape) bits *= ir::const_int(f, extent).value_or(1);
    const std::int64_t align = std::max<std::int64_t>(buffer.align, kAlign);
    out = (out + align - 1) / align * align + (bits + 7) / 8;
  });
  return rounded_up(out);
}

bool serves(const ScratchBuffer& row, const Call& call, num::DType dtype) {
  return row.unit == call.tile.scope && row.bits == num::bits_of(dtype);
}

std::int64_t bytes_of(const ScratchBuffer& row) { return rounded_up(row.elements * row.bits / 8); }

}  // namespace

std::int64_t scratch_units(const Call& call) {
  return call.tile.scope == ir::Unit::Warpgroup
             ? call.context.launch.threads() / call.unit_threads()
             : 1;
}

Match<void> check_scratch(const Call& call, num::DType dtype, std::int64_t elements) {
  const Context& context = call.context;
  const bool is_whole = std::ssize(call.workers()) == call.unit_threads() &&
                        call.active.together(call.tile.scope) &&
                        context.launch.threads() % call.unit_threads() == 0;
  if (!is_whole)
    return decline("threads", "not all threads of the {} arrive, which waits at a barrier: {}",
                   ir::name_of(call.tile.scope), ir::to_text(call.active, context.launch));
  const std::int64_t wanted = elements * scratch_units(call);
  std::int64_t own = rounded_up(wanted * num::bits_of(dtype) / 8), others = 0;
  for (const ScratchBuffer& row : context.scratch)
    if (serves(row, call, dtype))
      own = std::max(own, bytes_of(row));
    else
      others += bytes_of(row);
  const std::int64_t used = static_bytes(context.f) + others;
  const std::int64_t limit = target::info(context.target.arch).static_shared_bytes;
  if (used + own <= limit) return {};
  return decline("scratch",
                 "{} bytes of shared memory between the warps, and {} of {} are taken; a loop over "
                 "smaller tiles needs less, and so does static shared memory that is made dynamic",
                 own, used, limit);
}

ir::BufferId scratch_view(const Call& call, CodeWriter& code, num::DType dtype,
                          std::int64_t elements) {
  std::vector<ScratchBuffer>& all = call.context.scratch;
  auto row = std::ranges::find_if(all, [&](const auto& each) { return serves(each, call, dtype); });
  if (row == all.end()) {
    ir::Buffer made;
    made.name = call.tile.scope == ir::Unit::Cta ? "scratch" : "wg_scratch";
    made.dtype = num::bits_of(dtype) == 64 ? num::DType::Uint64 : num::DType::Uint32;
    made.scope = ir::Scope::Shared;
    made.span = call.span;
    made.layout_kind = ir::LayoutKind::None;
    made.origin = ir::BufferOrigin::Alloc;
    made.align = kAlign;
    all.push_back({call.tile.scope, num::bits_of(dtype), code.f().add(std::move(made)), 0});
    row = all.end() - 1;
  }
  const std::int64_t wanted = elements * scratch_units(call);
  row->elements = std::max(row->elements, wanted);
  code.f().at(row->buffer).shape = {code.n(row->elements)};
  return code.flat_view(row->buffer, dtype, wanted, "between");
}

ir::ExprId scratch_index(const Call& call, CodeWriter& code, ir::ExprId index) {
  const std::int64_t units = scratch_units(call);
  if (units == 1) return code.simplify(index);
  const ir::ExprId unit = code.div(code.var(call.context.ids.linear_thread), call.unit_threads());
  return code.simplify(code.add(code.mul(index, units), unit));
}

void write_barrier(const Call& call, CodeWriter& code) {
  if (call.tile.scope != ir::Unit::Warpgroup) return code.evaluate(ir::Intrinsic::CtaSync, {});
  const ir::ExprId group = code.div(code.var(call.context.ids.linear_thread), call.unit_threads());
  code.evaluate(ir::Intrinsic::WarpgroupSync, {code.simplify(code.add(group, kFirstBarrier))});
}

const ScratchBuffer* find_scratch(const Context& context, ir::BufferId storage) {
  for (const ScratchBuffer& row : context.scratch)
    if (row.buffer == storage) return &row;
  return nullptr;
}

void allocate_scratch(Context& context) {
  ir::Block first;
  for (const ScratchBuffer& row : context.scratch) {
    ir::Stmt alloc{.kind = ir::StmtKind::Alloc};
    alloc.span = context.f[row.buffer].span;
    alloc.buffer = row.buffer;
    first.push_back(context.f.add(std::move(alloc)));
  }
  ir::Block& body = context.f.body;
  body.insert(body.begin(), first.begin(), first.end());
}

}  // namespace ww::lower
