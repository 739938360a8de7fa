// SPDX-License-Identifier: Apache-2.0
#include "lower/scratch.h"

#include <algorithm>

#include "ir/shared_size.h"
#include "ir/visit.h"

namespace ww::lower {
namespace {

std::int64_t rounded_up(std::int64_t bytes) {
  return (bytes + kScratchAlign - 1) / kScratchAlign * kScratchAlign;
}

// Where the last buffer that the program allocates ends, if the first begins at `start` or behind it.
std::int64_t static_end(const ir::Function& f, std::int64_t start) {
  std::int64_t out = start;
  ir::for_each_stmt(f, f.body, [&](ir::StmtId id) {
    if (f[id].kind != ir::StmtKind::Alloc || f[f[id].buffer].scope != ir::Scope::Shared) return;
    const ir::Buffer& buffer = f[f[id].buffer];
    out = ir::end_in_shared(out, buffer, ir::storage_bytes(f, buffer).value_or(0));
  });
  return out;
}

constexpr int kPieceBits = 128;

/// What a call wants of a buffer.
struct ScratchWanted {
  int bits;               // of an element
  std::int64_t elements;  // of all units
  std::int64_t piece = 0;
};

ScratchWanted elements_wanted(const Call& call, num::DType dtype, std::int64_t elements) {
  return {num::bits_of(dtype), elements * scratch_units(call)};
}
ScratchWanted piece_wanted(const Call& call, num::DType dtype, std::int64_t elements) {
  const std::int64_t count = elements * num::bits_of(dtype) / kPieceBits;
  const std::int64_t units = scratch_units(call);
  return {kPieceBits, count * units, units == 1 ? 0 : count};
}

bool serves(const ScratchBuffer& row, const Call& call, const ScratchWanted& wanted) {
  return row.unit == call.tile.scope && row.bits == wanted.bits && row.piece == wanted.piece;
}

std::int64_t bytes_of(const ScratchBuffer& row) { return rounded_up(row.elements * row.bits / 8); }

}  // namespace

std::int64_t scratch_units(const Call& call) {
  return call.tile.scope == ir::Unit::Cta ? 1 : call.context.launch.threads() / call.unit_threads();
}

namespace {

Match<void> check_room(const Call& call, const ScratchWanted& wanted) {
  const Context& context = call.context;
  const bool is_whole = std::ssize(call.workers()) == call.unit_threads() &&
                        call.active.together(call.tile.scope) &&
                        context.launch.threads() % call.unit_threads() == 0;
  if (!is_whole)
    return decline("threads", "not all threads of the {} arrive, which waits at a barrier: {}",
                   ir::name_of(call.tile.scope), ir::to_text(call.active, context.launch));
  std::int64_t own = rounded_up(wanted.elements * wanted.bits / 8), others = 0;
  for (const ScratchBuffer& row : context.scratch)
    if (serves(row, call, wanted))
      own = std::max(own, bytes_of(row));
    else
      others += bytes_of(row);
  // Scratch comes first, and what is behind it begins on its own boundaries.
  const std::int64_t used = static_end(context.f, others + own) - own;
  const std::int64_t limit = target::info(context.target.arch).static_shared_bytes;
  if (used + own <= limit) return {};
  return decline("scratch",
                 "{} bytes of shared memory between the {}, and {} of {} are taken; a loop over "
                 "smaller tiles needs less, and so does static shared memory that is made dynamic",
                 own, call.tile.scope == ir::Unit::Warp ? "threads" : "warps", used, limit);
}

// The buffer that serves it, large enough.
ScratchBuffer& buffer_for(const Call& call, CodeWriter& code, const ScratchWanted& wanted) {
  std::vector<ScratchBuffer>& all = call.context.scratch;
  auto row =
      std::ranges::find_if(all, [&](const auto& each) { return serves(each, call, wanted); });
  if (row == all.end()) {
    ir::Buffer made;
    made.name = call.tile.scope == ir::Unit::Cta    ? "scratch"
                : call.tile.scope == ir::Unit::Warp ? "warp_scratch"
                                                    : "wg_scratch";
    made.dtype = wanted.bits == 64 ? num::DType::Uint64 : num::DType::Uint32;
    made.scope = ir::Scope::Shared;
    made.span = call.span;
    made.layout_kind = ir::LayoutKind::None;
    made.origin = ir::BufferOrigin::Alloc;
    made.align = kScratchAlign;
    const ir::BufferId id = code.f().add(std::move(made));
    all.push_back({call.tile.scope, wanted.bits, id, 0, wanted.piece});
    row = all.end() - 1;
  }
  row->elements = std::max(row->elements, wanted.elements);
  ir::Buffer& buffer = code.f().at(row->buffer);
  buffer.shape = {code.n(row->elements * std::max(1, row->bits / num::bits_of(buffer.dtype)))};
  return *row;
}

ir::ExprId unit_number(const Call& call, CodeWriter& code) {
  return code.div(code.var(call.context.ids.linear_thread), call.unit_threads());
}

}  // namespace

Match<void> check_scratch(const Call& call, num::DType dtype, std::int64_t elements) {
  return check_room(call, elements_wanted(call, dtype, elements));
}

ir::BufferId scratch_view(const Call& call, CodeWriter& code, num::DType dtype,
                          std::int64_t elements) {
  const ScratchWanted wanted = elements_wanted(call, dtype, elements);
  return code.flat_view(buffer_for(call, code, wanted).buffer, dtype, wanted.elements, "between");
}

Match<void> check_scratch_piece(const Call& call, num::DType dtype, std::int64_t elements) {
  return check_room(call, piece_wanted(call, dtype, elements));
}

ScratchPiece scratch_piece(const Call& call, CodeWriter& code, num::DType dtype,
                           std::int64_t elements) {
  const ScratchWanted wanted = piece_wanted(call, dtype, elements);
  const std::int64_t units = scratch_units(call);
  ScratchPiece out{.view = code.flat_view(buffer_for(call, code, wanted).buffer, dtype,
                                          elements * units, "between"),
                   .start = {}};
  if (units > 1) out.start = code.simplify(code.mul(unit_number(call, code), elements));
  return out;
}

ir::ExprId scratch_index(const Call& call, CodeWriter& code, ir::ExprId index) {
  const std::int64_t units = scratch_units(call);
  if (units == 1) return code.simplify(index);
  return code.simplify(code.add(code.mul(index, units), unit_number(call, code)));
}

void write_barrier(const Call& call, CodeWriter& code) {
  if (call.tile.scope == ir::Unit::Thread) return;
  if (call.tile.scope == ir::Unit::Warp) return code.evaluate(ir::Intrinsic::WarpSync, {});
  if (call.tile.scope != ir::Unit::Warpgroup) return code.evaluate(ir::Intrinsic::CtaSync, {});
  code.evaluate(ir::Intrinsic::WarpgroupSync,
                {code.simplify(code.add(unit_number(call, code), kFirstBarrier))});
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
