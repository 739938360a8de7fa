// SPDX-License-Identifier: Apache-2.0
#include "lower/proof/name_moves.h"

#include "ir/print/print.h"
#include "ir/settings.h"
#include "ir/shared_size.h"

namespace ww::lower {
namespace {

using ir::ExprId;

constexpr std::size_t kLanes = 32;

}  // namespace

NameMoves::NameMoves(const Call& call, ProofValues& values, const Granules& src, Granules& dst,
                     Fill fill, int granule, std::int64_t first_thread)
    : ProofWalk(call, values),
      src_(src),
      dst_(dst),
      fill_(fill),
      granule_(granule),
      src_storage_(ir::storage_of(call.f(), call.region(1).buffer)),
      dst_storage_(ir::storage_of(call.f(), call.region(0).buffer)),
      remote_(ir::remote_operand(call.f(), call.tile)),
      scratch_(call, values, first_thread),
      writers_(dst.is_private() ? Granules(1, granule, {}) : dst.blank()) {
  for (const ScratchBuffer& each : call.context.scratch) keep(each.buffer);
  if (call.workspace) keep(call.workspace->buffer);
}

Try<void> NameMoves::move(const PointerValue& to, std::size_t to_thread, std::int64_t to_bit,
                          const PointerValue& from, std::size_t from_thread, std::int64_t from_bit,
                          std::int64_t bits) {
  moving_.clear();
  WW_TRY_VOID(read_names(from, from_thread, from_bit, bits, moving_));
  return put_names(to, to_thread, to_bit, moving_);
}

Try<std::vector<Name>> NameMoves::names_at(const PointerValue& from, std::size_t thread,
                                           std::int64_t bit, std::int64_t bits) {
  std::vector<Name> out;
  WW_TRY_VOID(read_names(from, thread, bit, bits, out));
  return out;
}

// What a thread reads there: not what lies beside the source, though its registers may be read; and
// no register of the code's own before it is written.
Try<void> NameMoves::read_names(const PointerValue& from, std::size_t thread, std::int64_t bit,
                                std::int64_t bits, std::vector<Name>& out) {
  const auto kept = kept_.find(from.storage);
  const bool was_kept = kept != kept_.end();
  if (from.storage != src_storage_ && !was_kept)
    return wrong("a move from `{}`", f_[from.storage].name);
  if (!was_kept) WW_TRY_VOID(check_cta(from, 1));
  const bool is_scratch = scratch_.is_scratch(from.storage);
  const std::int64_t first = granule_at(bit, granule_);
  for (std::int64_t i = 0; i * granule_ < bits; ++i) {
    if (is_scratch) WW_TRY_VOID(scratch_.read(from.storage, (first + i) * granule_, thread));
    const Name name = was_kept ? kept->second.at(is_scratch ? 0 : thread, first + i)
                               : src_.at(src_.row_of(thread), first + i);
    const bool is_nothing =
        was_kept ? name == KeptNames::kUnwritten : name == kNobody && !src_.is_private();
    if (is_nothing) return wrong("byte {} is read, outside the source", (bit + i * granule_) / 8);
    out.push_back(name);
  }
  return {};
}

Try<void> NameMoves::put_names(const PointerValue& to, std::size_t thread, std::int64_t bit,
                               const std::vector<Name>& names) {
  const auto kept = kept_.find(to.storage);
  const bool is_kept = kept != kept_.end();
  if (to.storage != dst_storage_ && !is_kept) return wrong("a move to `{}`", f_[to.storage].name);
  if (!is_kept) WW_TRY_VOID(check_cta(to, 0));
  const bool is_scratch = scratch_.is_scratch(to.storage);
  const std::int64_t first = granule_at(bit, granule_);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::int64_t granule = first + static_cast<std::int64_t>(i);
    if (is_scratch) WW_TRY_VOID(scratch_.write(to.storage, granule * granule_, thread));
    if (!is_kept)
      WW_TRY_VOID(put(thread, granule, names[i]));
    else if (!kept->second.put(is_scratch ? 0 : thread, granule, names[i]))
      return wrong("byte {} of `{}` is written, outside it", granule * granule_ / 8,
                   f_[to.storage].name);
  }
  return {};
}

Try<void> NameMoves::check_cta(const PointerValue& at, std::size_t operand) const {
  const bool is_meant = remote_ == operand;
  if (at.is_remote == is_meant) return {};
  return wrong("`{}` of {} CTA is reached, expected that of {}", f_[at.storage].name,
               at.is_remote ? "the other" : "the own", is_meant ? "the other" : "the own");
}

// Storage of the code's own, with nothing in it.
void NameMoves::keep(ir::BufferId storage) {
  if (const auto kept = kept_.find(storage); kept != kept_.end()) return kept->second.clear();
  const std::int64_t bits = ir::storage_bytes(f_, f_[storage]).value_or(0) * 8;
  kept_.emplace(storage, bits / granule_);
}

// Registers between a load and a store: what they hold is new in each round.
Try<void> NameMoves::allocate(const ir::Stmt& s) {
  keep(s.buffer);
  return {};
}

Try<void> NameMoves::fill(const PointerValue& to, std::size_t to_thread, std::int64_t to_bit,
                          std::int64_t bits, Name name) {
  moving_.assign(static_cast<std::size_t>((bits + granule_ - 1) / granule_), name);
  return put_names(to, to_thread, to_bit, moving_);
}

// Of a value that is no element.
Try<Name> NameMoves::name_of(scalars::Scalar value) const {
  if (value == fill_.value) return fill_.name;
  if (value == 0) return kZero;
  return wrong("a value is stored that is neither an element nor what fills up");
}

// Two threads that write the same bytes are in a race, even when they write the same.
Try<void> NameMoves::put(std::size_t thread, std::int64_t granule, Name name) {
  if (!dst_.is_private()) {
    const auto writer = static_cast<Name>(thread);
    const Name before = writers_.at(0, granule);
    if (before >= 0 && before != writer)
      return wrong("byte {} is written by threads {} and {} of the unit", granule * granule_ / 8,
                   before, writer);
    writers_.put(0, granule, writer);
  }
  if (dst_.put(dst_.row_of(thread), granule, name)) return {};
  return wrong("byte {} is written, outside the destination", granule * granule_ / 8);
}

// buffer[indices] = other[indices], an element of each; or a value, or one of the two.
Try<void> NameMoves::store(const ir::Stmt& s, ExprId stored, const Mask& mask) {
  const ir::Expr& value = f_[stored];
  if (value.op == ir::ExprOp::IfThenElse || value.op == ir::ExprOp::Select) {
    const PerUnit& condition = *WW_TRY(values_.known(value.args[0]));
    Mask yes = mask, no = mask;
    for (std::size_t t = 0; t < mask.size(); ++t) (condition[t] != 0 ? no : yes)[t] = false;
    WW_TRY_VOID(store(s, value.args[1], yes));
    return store(s, value.args[2], no);
  }
  const bool is_shuffled = value.op == ir::ExprOp::Call && (value.callee == ir::Intrinsic::Shfl ||
                                                            value.callee == ir::Intrinsic::ShflXor);
  if (is_shuffled) return store_shuffled(s, stored, mask);
  const int bits = num::storage_bits(f_[s.buffer].dtype);
  const auto to = WW_TRY(element(s, mask));
  if (value.op != ir::ExprOp::Load) {
    const auto values = WW_TRY(values_.of(stored));
    for (std::size_t t = 0; t < mask.size(); ++t)
      if (mask[t]) WW_TRY_VOID(fill(to, t, to.bit[t], bits, WW_TRY(name_of(values[t]))));
    return {};
  }
  const auto from = WW_TRY(element(value, mask));
  for (std::size_t t = 0; t < mask.size(); ++t)
    if (mask[t]) WW_TRY_VOID(move(to, t, to.bit[t], from, t, from.bit[t], bits));
  return {};
}

// shfl.sync.idx and .bfly with all lanes: each gets what a lane of its warp has.
Try<void> NameMoves::store_shuffled(const ir::Stmt& s, ExprId stored, const Mask& mask) {
  const ir::Expr& e = f_[stored];
  const bool is_xor = e.callee == ir::Intrinsic::ShflXor;
  if (f_[e.args[1]].op != ir::ExprOp::Load)
    return unknown("a store of `{}`", ir::print(f_, stored));
  const auto members = ir::const_int(f_, e.args[0]);
  const auto width = ir::const_int(f_, e.args[3]), all = ir::const_int(f_, e.args[4]);
  if (!members || static_cast<std::uint32_t>(*members) != 0xFFFF'FFFFU || width != kLanes ||
      all != kLanes)
    return unknown("`{}` in parts of a warp", ir::print(f_, stored));
  const auto to = WW_TRY(element(s, mask));
  const auto from = WW_TRY(element(f_[e.args[1]], mask));
  const auto by = WW_TRY(values_.of(e.args[2]));
  const auto warps = WW_TRY(whole_warps(mask, "shfl.sync"));
  std::vector<std::size_t> givers(mask.size());
  for (const std::size_t first : warps)
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const auto operand = static_cast<std::size_t>(by[first + lane] & 31);
      givers[first + lane] = first + (is_xor ? lane ^ operand : operand);
    }
  return move_all(to, from, num::storage_bits(f_[s.buffer].dtype), mask, givers);
}

// All threads read before any writes: a register may be both.
Try<void> NameMoves::move_all(const PointerValue& to, const PointerValue& from, std::int64_t bits,
                              const Mask& mask, const std::vector<std::size_t>& givers) {
  std::vector<std::vector<Name>> names(mask.size());
  for (std::size_t t = 0; t < mask.size(); ++t)
    if (mask[t]) {
      const std::size_t u = givers[t];
      names[t] = WW_TRY(names_at(from, u, from.bit[u], bits));
    }
  for (std::size_t t = 0; t < mask.size(); ++t)
    if (mask[t]) WW_TRY_VOID(put_names(to, t, to.bit[t], names[t]));
  return {};
}

// prmt.b32: byte i of the result is byte c[i] of the eight that a and b have.
Try<void> NameMoves::permute_bytes(const ir::PtxCall& call, const Mask& mask) {
  if (call.opcode.binding().has("mode") || granule_ > 8) return unknown("`{}`", call.opcode.text());
  const auto to = WW_TRY(register_of(call.operands[0], mask));
  const auto a = WW_TRY(register_of(call.operands[1], mask));
  const auto b = WW_TRY(register_of(call.operands[2], mask));
  const auto pick = WW_TRY(values_.of(call.operands[3].expr));
  for (std::size_t t = 0; t < mask.size(); ++t) {
    if (!mask[t]) continue;
    std::vector<Name> names;
    for (unsigned i = 0; i < 4; ++i) {
      const auto byte = static_cast<std::int64_t>(pick[t] >> (4 * i) & 15);
      if (byte > 7) return unknown("a sign that `{}` repeats", call.opcode.text());
      const PointerValue& from = byte < 4 ? a : b;
      const auto part = WW_TRY(names_at(from, t, from.bit[t] + byte % 4 * 8, 8));
      names.insert(names.end(), part.begin(), part.end());
    }
    WW_TRY_VOID(put_names(to, t, to.bit[t], names));
  }
  return {};
}

// movmatrix: lane l has row l / 4, columns 2 (l % 4) and the next, before and after the matrix is
// transposed.
Try<void> NameMoves::transpose(const ir::PtxCall& call, const Mask& mask) {
  if (granule_ > 16) return unknown("`{}`", call.opcode.text());
  const auto to = WW_TRY(register_of(call.operands[0], mask));
  const auto from = WW_TRY(register_of(call.operands[1], mask));
  const auto warps = WW_TRY(whole_warps(mask, call.opcode.text()));
  std::vector<std::vector<Name>> names(mask.size());
  for (const std::size_t first : warps)
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      for (std::size_t half = 0; half < 2; ++half) {
        const std::size_t row = lane / 4, column = 2 * (lane % 4) + half;
        const std::size_t giver = first + column * 4 + row / 2;
        const std::int64_t bit = from.bit[giver] + static_cast<std::int64_t>(row % 2) * 16;
        const auto part = WW_TRY(names_at(from, giver, bit, 16));
        names[first + lane].insert(names[first + lane].end(), part.begin(), part.end());
      }
  for (std::size_t t = 0; t < mask.size(); ++t)
    if (mask[t]) WW_TRY_VOID(put_names(to, t, to.bit[t], names[t]));
  return {};
}

}  // namespace ww::lower
