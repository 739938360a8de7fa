// SPDX-License-Identifier: Apache-2.0
#include "lower/proof/name_moves.h"

#include <algorithm>

#include "ir/print/print.h"
#include "ir/settings.h"
#include "ir/shared_size.h"
#include "isa/form.h"

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

// What a thread reads there: not what lies beside the source, though its registers may be read; and
// no register of the code's own before it is written. Scratch memory is left to `read_name`.
[[gnu::always_inline]] inline Name NameMoves::name_in(const Side& from, std::size_t thread,
                                                      std::int64_t granule) const {
  if (from.is_scratch) return KeptNames::kUnwritten;
  if (from.kept != nullptr) return from.kept->at(thread, granule);
  const Name name = src_.at(src_.row_of(thread), granule);
  return name == kNobody && !src_.is_private() ? KeptNames::kUnwritten : name;
}

// Two threads that write the same bytes are in a race, even when they write the same. Scratch memory
// is left to `put_name`.
[[gnu::always_inline]] inline bool NameMoves::has_put(const Side& to, std::size_t thread,
                                                      std::int64_t granule, Name name) {
  if (to.is_scratch) return false;
  if (to.kept != nullptr) return to.kept->put(thread, granule, name);
  Name* const at = dst_.place(dst_.row_of(thread), granule);
  if (at == nullptr) return false;
  if (!dst_.is_private()) {
    Name& writer = *writers_.place(0, granule);
    if (writer >= 0 && writer != static_cast<Name>(thread)) return false;
    writer = static_cast<Name>(thread);
  }
  *at = name;
  return true;
}

Try<void> NameMoves::move(const PointerValue& to, std::size_t to_thread, std::int64_t to_bit,
                          const PointerValue& from, std::size_t from_thread, std::int64_t from_bit,
                          std::int64_t bits) {
  const bool is_like_last = from.storage == source_.storage &&
                            from.is_remote == source_.is_remote && to.storage == target_.storage &&
                            to.is_remote == target_.is_remote;
  if (!is_like_last) {
    WW_TRY_VOID(source_of(from));
    WW_TRY_VOID(target_of(to));
  }
  const std::int64_t read = granule_at(from_bit, granule_);
  const std::int64_t written = granule_at(to_bit, granule_);
  if (bits == granule_) {  // most often
    const Name name = name_in(source_, from_thread, read);
    if (name != KeptNames::kUnwritten && has_put(target_, to_thread, written, name)) return {};
  }
  return move_granules(target_, to_thread, written, source_, from_thread, read, bits);
}

Try<NameMoves::Way> NameMoves::way(const PointerValue& to, const PointerValue& from) {
  const Side& source = *WW_TRY(source_of(from));
  const Side& target = *WW_TRY(target_of(to));
  return Way{.source = src_.table(),
             .target = dst_.table(),
             .writers = writers_.table(),
             .is_direct = source.kept == nullptr && target.kept == nullptr,
             .is_source_shared = !src_.is_private(),
             .is_target_shared = !dst_.is_private()};
}

Try<void> NameMoves::move_each(const PointerValue& to, const PointerValue& from, std::int64_t bits,
                               const Mask& mask) {
  if (std::find(mask.begin(), mask.end(), true) == mask.end()) return {};
  const Way direct = WW_TRY(way(to, from));
  const Side &source = source_, &target = target_;
  const PerUnit::Reader from_bit(from.bit), to_bit(to.bit);
  for (std::size_t t = 0; t < mask.size(); ++t) {
    if (!mask[t]) continue;
    const std::int64_t read = granule_at(from_bit[t], granule_);
    const std::int64_t written = granule_at(to_bit[t], granule_);
    if (bits == granule_) {  // most often
      if (direct.has_moved(t, written, t, read)) continue;
      const Name name = name_in(source, t, read);
      if (name != KeptNames::kUnwritten && has_put(target, t, written, name)) continue;
    }
    WW_TRY_VOID(move_granules(target, t, written, source, t, read, bits));
  }
  return {};
}

// All is read before anything is written.
Try<void> NameMoves::move_granules(const Side& to, std::size_t to_thread, std::int64_t target,
                                   const Side& from, std::size_t from_thread, std::int64_t granule,
                                   std::int64_t bits) {
  const bool is_apart = from.kept != to.kept || from.kept == nullptr;  // operands are two tables
  for (; is_apart && bits > granule_; bits -= granule_) {
    Name name = name_in(from, from_thread, granule);
    if (name == KeptNames::kUnwritten) name = WW_TRY(read_name(from, from_thread, granule));
    if (!has_put(to, to_thread, target, name)) WW_TRY_VOID(put_name(to, to_thread, target, name));
    ++granule;
    ++target;
  }
  moving_.clear();
  for (std::int64_t bit = 0; bit < bits; bit += granule_, ++granule) {
    const Name name = name_in(from, from_thread, granule);
    moving_.push_back(
        name != KeptNames::kUnwritten ? name : WW_TRY(read_name(from, from_thread, granule)));
  }
  for (const Name name : moving_) {
    if (!has_put(to, to_thread, target, name)) WW_TRY_VOID(put_name(to, to_thread, target, name));
    ++target;
  }
  return {};
}

Try<std::vector<Name>> NameMoves::names_at(const PointerValue& from, std::size_t thread,
                                           std::int64_t bit, std::int64_t bits) {
  const Side& source = *WW_TRY(source_of(from));
  std::int64_t granule = granule_at(bit, granule_);
  std::vector<Name> out;
  for (std::int64_t i = 0; i * granule_ < bits; ++i)
    out.push_back(WW_TRY(read_name(source, thread, granule++)));
  return out;
}

Try<void> NameMoves::put_names(const PointerValue& to, std::size_t thread, std::int64_t bit,
                               const std::vector<Name>& names) {
  const Side& target = *WW_TRY(target_of(to));
  std::int64_t granule = granule_at(bit, granule_);
  for (const Name name : names) WW_TRY_VOID(put_name(target, thread, granule++, name));
  return {};
}

Try<const NameMoves::Side*> NameMoves::source_of(const PointerValue& from) {
  if (from.storage == source_.storage && from.is_remote == source_.is_remote) return &source_;
  return side_of(from, src_storage_, false);
}

Try<const NameMoves::Side*> NameMoves::target_of(const PointerValue& to) {
  if (to.storage == target_.storage && to.is_remote == target_.is_remote) return &target_;
  return side_of(to, dst_storage_, true);
}

Try<const NameMoves::Side*> NameMoves::side_of(const PointerValue& at, ir::BufferId operand,
                                               bool is_target) {
  const auto kept = kept_.find(at.storage);
  const bool is_kept = kept != kept_.end();
  if (at.storage != operand && !is_kept)
    return wrong("a move {} `{}`", is_target ? "to" : "from", f_[at.storage].name);
  if (!is_kept) WW_TRY_VOID(check_cta(at, is_target ? 0 : 1));
  Side& out = is_target ? target_ : source_;
  out = {at.storage, at.is_remote, is_kept ? &kept->second : nullptr,
         scratch_.is_scratch(at.storage)};
  return &out;
}

Try<Name> NameMoves::read_name(const Side& from, std::size_t thread, std::int64_t granule) {
  if (from.is_scratch) WW_TRY_VOID(scratch_.read(from.storage, granule * granule_, thread));
  const Name name = from.is_scratch ? from.kept->at(0, granule) : name_in(from, thread, granule);
  if (name != KeptNames::kUnwritten) return name;
  return wrong("byte {} is read, outside the source", granule * granule_ / 8);
}

Try<void> NameMoves::put_name(const Side& to, std::size_t thread, std::int64_t granule, Name name) {
  if (to.is_scratch) WW_TRY_VOID(scratch_.write(to.storage, granule * granule_, thread));
  const bool is_put =
      to.is_scratch ? to.kept->put(0, granule, name) : has_put(to, thread, granule, name);
  return is_put ? Try<void>() : misplaced(to, thread, granule);
}

// Why a granule may not be written there.
Unexpected<Unproven> NameMoves::misplaced(const Side& to, std::size_t thread,
                                          std::int64_t granule) {
  const std::int64_t byte = granule * granule_ / 8;
  if (to.kept != nullptr)
    return wrong("byte {} of `{}` is written, outside it", byte, f_[to.storage].name);
  if (dst_.place(dst_.row_of(thread), granule) == nullptr)
    return wrong("byte {} is written, outside the destination", byte);
  return wrong("byte {} is written by threads {} and {} of the unit", byte,
               *writers_.place(0, granule), thread);
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
  source_ = target_ = {};  // what was an operand's may be its own now
}

// Registers between a load and a store: what they hold is new in each round.
Try<void> NameMoves::allocate(const ir::Stmt& s) {
  keep(s.buffer);
  return {};
}

Try<void> NameMoves::fill(const PointerValue& to, std::size_t to_thread, std::int64_t to_bit,
                          std::int64_t bits, Name name) {
  if (to.storage != target_.storage || to.is_remote != target_.is_remote)
    WW_TRY_VOID(target_of(to));
  const Side& target = target_;
  std::int64_t granule = granule_at(to_bit, granule_);
  for (std::int64_t bit = 0; bit < bits; bit += granule_, ++granule)
    if (!has_put(target, to_thread, granule, name))
      WW_TRY_VOID(put_name(target, to_thread, granule, name));
  return {};
}

// Of a value that is no element.
Try<Name> NameMoves::name_of(scalars::Scalar value) const {
  if (value == fill_.value) return fill_.name;
  if (value == 0) return kZero;
  return wrong("a value is stored that is neither an element nor what fills up");
}

// buffer[indices] = other[indices], an element of each; or a value, or one of the two.
Try<void> NameMoves::store(const ir::Stmt& s, const Mask& mask) {
  const auto to = WW_TRY(element(s, mask));
  return store_value(to, num::storage_bits(f_[s.buffer].dtype), s.expr, mask);
}

Try<void> NameMoves::store_value(const PointerValue& to, int bits, ExprId stored,
                                 const Mask& mask) {
  const ir::Expr& value = f_[stored];
  if (value.op == ir::ExprOp::IfThenElse || value.op == ir::ExprOp::Select) {
    const PerUnit& condition = *WW_TRY(values_.known(value.args[0]));
    Mask yes = mask, no = mask;
    for (std::size_t t = 0; t < mask.size(); ++t) (condition[t] != 0 ? no : yes)[t] = false;
    WW_TRY_VOID(store_value(to, bits, value.args[1], yes));
    return store_value(to, bits, value.args[2], no);
  }
  const bool is_shuffled = value.op == ir::ExprOp::Call && (value.callee == ir::Intrinsic::Shfl ||
                                                            value.callee == ir::Intrinsic::ShflXor);
  if (is_shuffled) return store_shuffled(to, bits, stored, mask);
  if (value.op != ir::ExprOp::Load) {
    const PerUnit& values = *WW_TRY(values_.known(stored));
    std::optional<std::pair<scalars::Scalar, Name>> last;  // all threads store the same, mostly
    for (std::size_t t = 0; t < mask.size(); ++t) {
      if (!mask[t]) continue;
      if (!last || last->first != values[t]) last = {values[t], WW_TRY(name_of(values[t]))};
      WW_TRY_VOID(fill(to, t, to.bit[t], bits, last->second));
    }
    return {};
  }
  return move_each(to, WW_TRY(element(value, mask)), bits, mask);
}

// shfl.sync.idx and .bfly with all lanes: each gets what a lane of its warp has.
Try<void> NameMoves::store_shuffled(const PointerValue& to, int bits, ExprId stored,
                                    const Mask& mask) {
  const ir::Expr& e = f_[stored];
  const bool is_xor = e.callee == ir::Intrinsic::ShflXor;
  if (f_[e.args[1]].op != ir::ExprOp::Load)
    return unknown("a store of `{}`", ir::print(f_, stored));
  const auto members = ir::const_int(f_, e.args[0]);
  const auto width = ir::const_int(f_, e.args[3]), all = ir::const_int(f_, e.args[4]);
  if (!members || static_cast<std::uint32_t>(*members) != 0xFFFF'FFFFU || width != kLanes ||
      all != kLanes)
    return unknown("`{}` in parts of a warp", ir::print(f_, stored));
  const auto from = WW_TRY(element(f_[e.args[1]], mask));
  const auto by = WW_TRY(values_.of(e.args[2]));
  const auto warps = WW_TRY(whole_warps(mask, "shfl.sync"));
  std::vector<std::size_t> givers(mask.size());
  for (const std::size_t first : warps)
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const auto operand = static_cast<std::size_t>(by[first + lane] & 31);
      givers[first + lane] = first + (is_xor ? lane ^ operand : operand);
    }
  return move_all(to, from, bits, mask, givers);
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

// ldmatrix and stmatrix: between registers and the rows that lanes give the addresses of.
Try<void> NameMoves::matrix(const ir::PtxCall& call, bool is_load, const Mask& mask) {
  std::vector<PointerValue> registers;
  std::optional<PointerValue> rows;
  for (const ir::PtxOperand& operand : call.operands) {
    auto pointer = WW_TRY(values_.pointer(operand.expr));
    if (operand.kind == ir::PtxOperandKind::Address)
      rows = std::move(pointer);
    else
      registers.push_back(std::move(pointer));
  }
  if (&call != last_matrix_) fragments_ = isa::fragments_of(call.opcode.binding());
  last_matrix_ = &call;
  if (!rows || fragments_.empty()) return unknown("a matrix copy without rows");
  const auto warps = WW_TRY(whole_warps(mask, call.opcode.text()));
  for (const std::size_t first : warps)
    WW_TRY_VOID(matrix_of_warp(fragments_[0], registers, *rows, first, is_load));
  return {};
}

Try<void> NameMoves::matrix_of_warp(const isa::Fragment& fragment,
                                    const std::vector<PointerValue>& registers,
                                    const PointerValue& rows, std::size_t first, bool is_load) {
  struct End {
    std::size_t thread;
    std::int64_t bit;
  };
  const int unit = 32 / fragment.parts;
  std::vector<Way> ways;  // by register
  for (const PointerValue& reg : registers)
    ways.push_back(WW_TRY(is_load ? way(reg, rows) : way(rows, reg)));
  const std::size_t matrices = registers.size() / static_cast<std::size_t>(fragment.regs);
  for (std::size_t m = 0; m < matrices; ++m)
    for (int r = 0; r < fragment.rows; ++r) {
      const std::size_t giver =
          first + m * static_cast<std::size_t>(fragment.rows) + static_cast<std::size_t>(r);
      const std::int64_t row = rows.bit[giver];
      if (row % 128 != 0) return wrong("lane {} gives a row at byte {}", giver - first, row / 8);
      for (int c = 0; c < fragment.cols; ++c) {
        const isa::FragmentPlace& place = fragment.at(r, c);
        const auto i =
            m * static_cast<std::size_t>(fragment.regs) + static_cast<std::size_t>(place.reg);
        const PointerValue& reg = registers[i];
        const std::size_t thread = first + static_cast<std::size_t>(place.lane);
        const End in_register{thread, reg.bit[thread] + place.part * unit};
        const End in_row{giver, row + c * unit};
        const End &to = is_load ? in_register : in_row, &from = is_load ? in_row : in_register;
        if (unit == granule_ && ways[i].has_moved(to.thread, granule_at(to.bit, unit), from.thread,
                                                  granule_at(from.bit, unit)))
          continue;
        WW_TRY_VOID(move(is_load ? reg : rows, to.thread, to.bit, is_load ? rows : reg, from.thread,
                         from.bit, unit));
      }
    }
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
