// SPDX-License-Identifier: Apache-2.0
#include "lower/flat_buffers.h"

#include <algorithm>
#include <limits>

#include "ir/build.h"

namespace ww::lower {

using ir::Buffer;
using ir::BufferId;
using ir::ExprId;
using ir::ExprOp;
using num::DType;

namespace {

std::string bytes_text(const ir::Function& f, ExprId bytes) {
  const auto value = ir::const_int(f, bytes);
  return value ? std::to_string(*value) : "a runtime number of";
}

ExprId extent_of(ir::Function& f, std::int64_t value) {
  const bool is_small = value <= std::numeric_limits<std::int32_t>::max();
  return ir::int_imm(f, is_small ? DType::Int32 : DType::Int64, value);
}

ExprId to_int64(ir::Function& f, ExprId value) {
  return ir::cast(f, value, ir::Type::of(DType::Int64)).value();
}

// In 64 bits unless it is one extent: a product of two may need them.
ExprId product_of(ir::Function& f, const std::vector<ExprId>& extents) {
  if (extents.size() == 1) return extents[0];
  ExprId out = ir::int_imm(f, DType::Int64, 1);
  for (const ExprId extent : extents)
    out = ir::index_binary(f, ExprOp::Mul, out, to_int64(f, extent));
  return out;
}

}  // namespace

Result<const FlatAccess*> FlatBuffers::plan(BufferId id) {
  std::optional<FlatAccess>& known = planned_[id.index];
  if (known) return &*known;
  const FlatPlan plan = WW_TRY(flat_plan(f_, id, facts_));
  if (plan.rest_bytes.valid() && f_[id].origin != ir::BufferOrigin::View)
    return fail(diag(DiagKind::NotLowered,
                     "`{}` begins {} bytes behind its storage, expected a "
                     "multiple of the {} bytes of an element",
                     f_[id].name, bytes_text(f_, plan.rest_bytes), storage_bits(f_[id].dtype) / 8)
                    .with_span(f_[id].span));
  // Views of the same elements are not there in the lowered program.
  const Buffer& b = f_[id];
  const bool stays =
      b.origin != ir::BufferOrigin::View || b.dtype != f_[b.base].dtype || plan.rest_bytes.valid();
  known = FlatAccess{plan, stays ? id : b.base};
  return &*known;
}

Result<void> FlatBuffers::make_flat() {
  std::vector<ExprId> sizes;
  for (std::uint32_t i = 0; i < count(); ++i) sizes.push_back(WW_TRY(flat_size(BufferId{i})));
  for (std::uint32_t i = 0; i < count(); ++i) {
    if (!sizes[i].valid()) continue;
    Buffer& b = f_.at(BufferId{i});
    b.shape = {sizes[i]};
    b.layout_kind = ir::LayoutKind::None;
    b.layout.reset();
    b.elem_offset = {};
    if (!keeps_bytes(BufferId{i})) b.byte_offset = {};
  }
  return {};
}

// How many elements the flat buffer has.
Result<ExprId> FlatBuffers::flat_size(BufferId id) {
  const Buffer b = f_[id];
  if (b.scope == ir::Scope::Tmem) return ExprId{};
  if (b.origin == ir::BufferOrigin::View) return view_size(b, keeps_bytes(id));
  if (const auto size = WW_TRY(storage_size(f_, b))) return extent_of(f_, *size);
  ExprId size = product_of(f_, b.shape);
  if (b.elem_offset.valid())
    size = ir::index_binary(f_, ExprOp::Add, to_int64(f_, size), to_int64(f_, b.elem_offset));
  return ir::simplify(f_, size, facts_);
}

// Does a view still begin at its byte offset? Otherwise that is part of every index.
bool FlatBuffers::keeps_bytes(BufferId id) const {
  return planned_[id.index] && planned_[id.index]->plan.rest_bytes.valid();
}

// What fits into the storage.
Result<ExprId> FlatBuffers::view_size(const Buffer& b, bool is_moved) {
  const Buffer& base = f_[b.base];
  const int bits = storage_bits(b.dtype);
  const int base_bits = storage_bits(base.dtype);
  const std::int64_t skipped = is_moved ? ir::const_int(f_, b.byte_offset).value_or(0) * 8 : 0;
  if (const auto size = WW_TRY(storage_size(f_, base)))
    return extent_of(f_, std::max<std::int64_t>(1, (*size * base_bits - skipped) / bits));
  const auto op = [&](ExprOp kind, ExprId a, std::int64_t by) {
    return ir::index_binary(f_, kind, a, ir::int_imm(f_, DType::Int64, by));
  };
  const ExprId size = to_int64(f_, WW_TRY(flat_size(b.base)));
  return ir::simplify(f_, op(ExprOp::FloorDiv, op(ExprOp::Mul, size, base_bits), bits), facts_);
}

}  // namespace ww::lower
