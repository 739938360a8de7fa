// SPDX-License-Identifier: Apache-2.0
// Code moves names; what has arrived at the end must be the names that the destination region is to
// have, no more and no less.
//
// Where the code moves several elements at a time, that many are tried as one granule first: the
// same proof with fewer names, provided that in both regions they lie side by side. Only its yes
// counts; everything else is found out element by element.
#include "lower/proof/proof.h"

#include <algorithm>
#include <array>

#include "ir/elementwise.h"
#include "ir/print/print.h"
#include "ir/settings.h"
#include "ir/visit.h"
#include "lower/checks.h"
#include "lower/proof/box_moves.h"
#include "lower/proof/least_move.h"
#include "lower/proof/predicate.h"
#include "lower/proof/tensor.h"
#include "lower/proof/trials.h"

namespace ww::lower {
namespace {

using ir::ExprId;

// --- what the code does --------------------------------------------------------------------------

class CopyReplay : public BoxMoves {
 public:
  CopyReplay(const Call& call, ProofValues& values, const Granules& src, Granules& dst, Fill fill,
             int granule, std::int64_t first_thread, const PredicateTile* mask)
      : BoxMoves(call, values, src, dst, fill, granule, first_thread),
        call_(call),
        first_thread_(first_thread),
        mask_(mask) {}

 private:
  // The code binds each bool that it reads, and so says which threads read it.
  Try<void> bind(const ir::Stmt& s, const Mask& mask) override {
    const ir::Expr& e = f_[s.expr];
    const bool is_of_mask = mask_ != nullptr && e.op == ir::ExprOp::Load &&
                            ir::storage_of(f_, e.buffer) == mask_->storage();
    if (!is_of_mask) return NameWalk::bind(s, mask);
    const auto at = WW_TRY(element(e, mask));
    std::vector<std::int64_t> holds(values_.threads());
    for (std::size_t t = 0; t < mask.size(); ++t)
      if (mask[t]) holds[t] = WW_TRY(mask_->read(t, at.bit[t])) ? 1 : 0;
    values_.set(s.var, PerUnit(std::move(holds)));
    return {};
  }

  Try<void> evaluate(const ir::Stmt& s, const Mask& mask) override {
    const ir::Expr& e = f_[s.expr];
    if (is_barrier(e)) return scratch_.barrier(e, mask);
    if (e.op != ir::ExprOp::Call || e.callee != ir::Intrinsic::CopyBytes)
      return unknown("`{}`", ir::print(f_, s.expr));
    const auto to = WW_TRY(values_.pointer(e.args[0])), from = WW_TRY(values_.pointer(e.args[1]));
    return copy_bytes(to, from, WW_TRY(byte_count(e.args[2])), mask);
  }

  // A constant, because least_move() takes the granule from it.
  Try<std::int64_t> byte_count(ExprId expr) {
    const auto bytes = ir::const_int(f_, expr);
    if (!bytes) return unknown("a byte count `{}` that is not a constant", ir::print(f_, expr));
    if (*bytes < 1 || *bytes > kMaxBytes) return wrong("{} bytes are copied", *bytes);
    return *bytes;
  }

  Try<void> copy_bytes(const PointerValue& to, const PointerValue& from, std::int64_t bytes,
                       const Mask& mask) {
    const std::int64_t bits = bytes * 8;
    if (!to.bit.is_multiple_of(bits) || !from.bit.is_multiple_of(bits))
      for (std::size_t t = 0; t < mask.size(); ++t)
        if (mask[t]) WW_TRY_VOID(check_aligned(to, from, bytes, t));
    return moves_.move_each(to, from, bits, mask);
  }

  static Try<void> check_aligned(const PointerValue& to, const PointerValue& from,
                                 std::int64_t bytes, std::size_t t) {
    const std::int64_t bits = bytes * 8;
    if (to.bit[t] % bits == 0 && from.bit[t] % bits == 0) return {};
    return wrong("thread {} copies {} bytes at a misaligned address", t, bytes);
  }

  // --- instructions ---

  Try<void> ptx(const ir::PtxCall& call, const Mask& everybody) override {
    Mask mask = everybody;
    if (call.predicate.valid()) {
      const auto holds = WW_TRY(values_.of(call.predicate));
      for (std::size_t t = 0; t < mask.size(); ++t) mask[t] = mask[t] && holds[t] != 0;
    }
    const std::string_view called = call.opcode.mnemonic();
    if (called == "ldmatrix" || called == "stmatrix")
      return matrix(call, called == "ldmatrix", mask);
    if (called == "ld") return load(call, mask);
    if (called == "cp.async") return copy_async(call, mask);
    if (called == "cp.async.bulk.tensor" || called == "cp.reduce.async.bulk.tensor")
      return box(call, mask);
    if (called == "cp.async.bulk") return run_of_bytes(call, mask);
    if (called == "mapa") return map_address(call, mask);
    if (called == "st" || called == "st.async") return store_registers(call, mask);
    if (called == "tcgen05.ld" || called == "tcgen05.st")
      return tensor(call, called == "tcgen05.ld", mask);
    if (called == "tcgen05.cp") return tensor_copy(call, mask);
    if (called == "prmt") return permute_bytes(call, mask);
    if (called == "movmatrix") return transpose(call, mask);
    return unknown("`{}`", call.opcode.text());
  }

  // ld with registers given as elements of a view; a cache policy behind the address moves nothing.
  Try<void> load(const ir::PtxCall& call, const Mask& mask) {
    const std::size_t end = call.operands.size() - (has_cache_policy(call) ? 2 : 1);
    const auto from = WW_TRY(address_of(call.operands[end], mask));
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < end; ++i) {
      const ir::Expr& target = f_[call.operands[i].expr];
      const auto to = WW_TRY(element(target, mask));
      const int bits = num::storage_bits(f_[target.buffer].dtype);
      for (std::size_t t = 0; t < mask.size(); ++t)
        if (mask[t])
          WW_TRY_VOID(moves_.move(to, t, to.bit[t], from, t, from.bit[t] + offset, bits));
      offset += bits;
    }
    return {};
  }

  // cp.async: to, from, bytes, and how many of them are read; the others become zero.
  Try<void> copy_async(const ir::PtxCall& call, const Mask& mask) {
    const auto to = WW_TRY(values_.pointer(call.operands[0].expr));
    const auto from = WW_TRY(values_.pointer(call.operands[1].expr));
    const auto bytes = WW_TRY(byte_count(call.operands[2].expr));
    if (call.operands.size() == (has_cache_policy(call) ? 4 : 3))
      return copy_bytes(to, from, bytes, mask);
    const auto read = WW_TRY(values_.of(call.operands[3].expr));
    for (std::size_t t = 0; t < mask.size(); ++t) {
      if (!mask[t]) continue;
      if (read[t] < 0 || read[t] > bytes)
        return wrong("thread {} reads {} of {} bytes", t, read[t], bytes);
      const std::int64_t bits = read[t] * 8;
      if (bits % granule_ != 0) return unknown("part of a granule");
      WW_TRY_VOID(check_aligned(to, from, bytes, t));
      WW_TRY_VOID(moves_.move(to, t, to.bit[t], from, t, from.bit[t], bits));
      WW_TRY_VOID(moves_.fill(to, t, to.bit[t] + bits, bytes * 8 - bits, kZero));
    }
    return {};
  }

  // tcgen05.ld and .st: registers to cells at an address of the call's buffer in tensor memory.
  Try<void> tensor(const ir::PtxCall& call, bool is_load, const Mask& mask) {
    std::vector<PointerValue> registers;
    std::optional<PerUnit> address;
    std::int64_t split = 0;
    for (const ir::PtxOperand& operand : call.operands) {
      if (operand.kind == ir::PtxOperandKind::Address) {
        address = WW_TRY(values_.of(operand.expr));
      } else if (const auto number = ir::const_int(f_, operand.expr)) {
        split = *number;
      } else {
        registers.push_back(WW_TRY(register_of(operand, mask)));
      }
    }
    const auto cells = tensor_cells(call.opcode.binding(), split, registers.size());
    if (!address || cells.empty()) return unknown("`{}`", call.opcode.text());
    const auto warps = WW_TRY(whole_warps(mask, call.opcode.text()));
    for (const std::size_t first : warps)
      WW_TRY_VOID(tensor_of_warp(cells, registers, *address, first, is_load));
    return {};
  }

  Try<void> tensor_of_warp(const std::vector<TensorCell>& cells,
                           const std::vector<PointerValue>& registers, const PerUnit& address,
                           std::size_t first, bool is_load) {
    const ir::BufferId buffer = call_.region(is_load ? 1 : 0).buffer;
    if (f_[buffer].scope != ir::Scope::Tmem)
      return wrong("tensor memory instead of `{}`", f_[buffer].name);
    const auto base = WW_TRY(values_.of(f_[buffer].allocated_addr));
    const std::int64_t here = address[first], origin = base[first];
    for (std::size_t lane = 0; lane < 32; ++lane)
      if (address[first + lane] != here)
        return wrong("the lanes of a warp give different addresses");
    // Halves of the address, which are added apart.
    const std::int64_t row = ((here >> 16) - (origin >> 16)) & 0xffff;
    const std::int64_t column = (here - origin) & 0xffff;
    const std::int64_t quarter = (first_thread_ + static_cast<std::int64_t>(first)) / 32 % 4;
    const PointerValue tensor{.storage = buffer, .bit = {}};
    for (const TensorCell& cell : cells) {
      // An address whose own lane is not known is that of lane 0.
      const std::int64_t lane = row + cell.row;
      const std::int64_t reached = lane + lane_of_address(buffer);
      if (reached / 32 != quarter || lane < 0)
        return wrong("warp {} of the unit reaches for lane {}", first / 32, reached);
      const std::size_t thread = first + cell.lane;
      const PointerValue& reg = registers.at(cell.reg);
      const std::int64_t in_register = reg.bit[thread] + cell.bit;
      const std::int64_t in_lane = (column + cell.column) * 32;
      const auto at = static_cast<std::size_t>(lane);
      WW_TRY_VOID(is_load ? moves_.move(reg, thread, in_register, tensor, at, in_lane, cell.bits)
                          : moves_.move(tensor, at, in_lane, reg, thread, in_register, cell.bits));
    }
    return {};
  }

  // tcgen05.cp: shared memory by a descriptor to the call's buffer in tensor memory.
  Try<void> tensor_copy(const ir::PtxCall& call, const Mask& mask) {
    const ir::BufferId buffer = call_.region(0).buffer;
    if (f_[buffer].scope != ir::Scope::Tmem)
      return wrong("tensor memory instead of `{}`", f_[buffer].name);
    const auto address = WW_TRY(values_.of(call.operands[0].expr));
    const auto descriptor = WW_TRY(values_.of(call.operands[1].expr));
    const auto base = WW_TRY(values_.of(f_[buffer].allocated_addr));
    const std::int64_t window = values_.window_of(operand_storage(1));
    for (std::size_t t = 0; t < mask.size(); ++t) {
      if (!mask[t]) continue;
      const auto units = WW_TRY(
          tensor_copy_units(call.opcode.binding(), static_cast<std::uint64_t>(descriptor[t])));
      const std::int64_t row = ((address[t] >> 16) - (base[t] >> 16)) & 0xffff;
      const std::int64_t column = (address[t] - base[t]) & 0xffff;
      for (const TensorUnit& unit : units)
        WW_TRY_VOID(tensor_unit(unit, row, column, unit.from - window));
    }
    return {};
  }

  Try<void> tensor_unit(const TensorUnit& unit, std::int64_t row, std::int64_t column,
                        std::int64_t byte) {
    if ((column + unit.column) * 32 % granule_ != 0 || byte * 8 % granule_ != 0)
      return unknown("part of a granule");
    const PointerValue to{.storage = operand_storage(0), .bit = {}};
    const PointerValue from{.storage = operand_storage(1), .bit = {}};
    for (const std::int64_t lane : unit.lanes) {
      const std::int64_t reached = row + lane + lane_of_address(call_.region(0).buffer);
      if (row + lane < 0 || reached < 0 || reached >= static_cast<std::int64_t>(kTensorLanes))
        return wrong("lane {} of tensor memory", reached);
      WW_TRY_VOID(moves_.move(to, static_cast<std::size_t>(row + lane), (column + unit.column) * 32,
                              from, 0, byte * 8, 128));
    }
    return {};
  }

  [[nodiscard]] ir::BufferId operand_storage(std::size_t operand) const {
    return ir::storage_of(f_, call_.region(operand).buffer);
  }

  [[nodiscard]] std::int64_t lane_of_address(ir::BufferId buffer) const {
    const ir::Expr& e = f_[f_[buffer].allocated_addr];
    if (e.op != ir::ExprOp::Call || e.callee != ir::Intrinsic::TmemAddr) return 0;
    return ir::const_int(f_, e.args[1]).value_or(0);
  }

  const Call& call_;
  std::int64_t first_thread_;
  const PredicateTile* mask_;  // nullptr: none
};

// --- comparison ----------------------------------------------------------------------------------

/// What a trial was about, where the meaning of the call depends on it.
struct Seen {
  bool leaves = false;   // a region leaves its buffer
  bool refuses = false;  // the predicate is false
  [[nodiscard]] int index() const { return (leaves ? 1 : 0) + (refuses ? 2 : 0); }
};

Try<bool> does_copy(const ir::CopySettings& settings, ProofValues& values) {
  if (settings.predicate == nullptr) return true;
  if (const bool* flag = std::get_if<bool>(settings.predicate)) return *flag;
  const auto holds = WW_TRY(values.uniform(std::get<ExprId>(*settings.predicate)));
  return holds != 0;
}

Try<Fill> fill_of(const Call& call, ProofValues& values) {
  const ir::Setting* setting = ir::copy_settings(call.tile).fill_value;
  if (setting == nullptr) return Fill{};
  Fill out;
  if (const auto constant = ir::constant_operand(call.f(), ir::TileArg(*setting)))
    out.value = scalars::of(ir::convert(*constant, call.buffer(0).dtype));
  else
    out.value = WW_TRY(values.uniform(std::get<ExprId>(*setting)));
  if (out.value != 0) out.name = kFill;
  return out;
}

// What the destination is to hold: the source's names, the fill value, or what it held.
void apply_settings(const ir::CopySettings& settings, const RegionNames& source, Fill fill,
                    Granules& wanted, const Seen& seen) {
  if (source.granules.has_aliases()) wanted.rename(source.granules);
  if (!source.outside.empty()) wanted.replace(source.outside, fill.name);
  if (seen.refuses && settings.fills) wanted.replace_all(fill.name);
  if (seen.refuses && !settings.fills) wanted.clear();
}

// The same where a tile decides for each element. Its names are those of elements of the source yet.
Try<void> apply_mask(const Call& call, const PredicateTile& mask, Fill fill, int granule,
                     Granules& wanted) {
  const int bits = num::storage_bits(call.buffer(0).dtype);
  const auto left_out = WW_TRY(mask.left_out(bits, granule));
  if (ir::copy_settings(call.tile).fills)
    wanted.replace(left_out, fill.name);
  else
    wanted.leave_out(left_out);
  return {};
}

class CopyGoal final : public Goal {
 public:
  CopyGoal(const Call& call, const ir::Block& code, Trial trial, Proof& proof, int granule,
           Seen& seen)
      : Goal(call, code, trial, proof), granule_(granule), seen_(seen) {}

 private:
  Try<bool> prepare() override {
    const ir::CopySettings settings = ir::copy_settings(call_.tile);
    seen_.refuses = !WW_TRY(does_copy(settings, values_));
    fill_ = WW_TRY(fill_of(call_, values_));
    const auto names = [&](std::size_t argument) {
      return names_of(call_, values_, call_.region(argument), granule_, trial_.first_thread,
                      settings.may_leave(argument) || (argument == 1 && seen_.refuses));
    };
    dst_ = WW_TRY(names(0));
    src_ = WW_TRY(names(1));
    if (!dst_ || !src_ || dst_->elements != src_->elements) return false;
    done_ = dst_->granules.blank();
    if (settings.predicate_tile != nullptr) {
      mask_ = WW_TRY(PredicateTile::make(call_, values_, trial_.first_thread, trial_.sample));
      if (!mask_) return false;
      WW_TRY_VOID(apply_mask(call_, *mask_, fill_, granule_, dst_->granules));
    }
    seen_.leaves = !src_->outside.empty() || !dst_->outside.empty();
    apply_settings(settings, *src_, fill_, dst_->granules, seen_);
    return true;
  }
  [[nodiscard]] bool has_chosen() const override { return mask_.has_value(); }

  Try<void> compare() override {
    CopyReplay replay(call_, values_, src_->granules, *done_, fill_, granule_, trial_.first_thread,
                      mask_ ? &*mask_ : nullptr);
    WW_TRY_VOID(carry_out(replay));
    std::string fault = done_->difference(dst_->granules);
    const int bits = num::storage_bits(call_.buffer(0).dtype);
    if (fault.empty()) fault = replay.count_fault(src_->elements * bits / 8);
    return fault.empty() ? Try<void>() : wrong("{}", fault);
  }

  int granule_;
  Seen& seen_;
  std::optional<RegionNames> dst_, src_;  // what is to be there, and what is
  std::optional<Granules> done_;
  Fill fill_;
  std::optional<PredicateTile> mask_;
};

TrialOutcome prove_once(const Call& call, const ir::Block& code, Trial trial, Proof& proof,
                        Seen& seen) {
  const int bits = num::storage_bits(call.f()[call.region(0).buffer].dtype);
  const int least = least_move(call.f(), code, bits);
  if (least > bits && least % bits == 0) {
    Proof tried;
    const TrialOutcome outcome = CopyGoal(call, code, trial, tried, least, seen).run();
    if (outcome != TrialOutcome::Failed) return outcome;
  }
  return CopyGoal(call, code, trial, proof, std::min(bits, least), seen).run();
}

constexpr int kManyCases = 16;  // trials that hold, where not all cases need exist

// Does a region leave its buffer, in the trials that hold? Nothing: the sampled values rule one out.
Try<std::optional<bool>> leaves_in(const Call& call, ProofValues& values) {
  const ir::CopySettings settings = ir::copy_settings(call.tile);
  WW_TRY_VOID(fill_of(call, values));
  bool out = false;
  for (const std::size_t i : {0U, 1U}) {
    const auto leaves = WW_TRY(leaves_buffer(call, values, call.region(i), settings.may_leave(i)));
    if (!leaves) return std::nullopt;
    out = out || *leaves;
  }
  return out;
}

// Can the code do something else for other values: does it branch, choose, or leave something out?
bool has_condition(const ir::Function& f, const ir::Block& code) {
  std::vector<bool> seen(f.expr_count());
  const auto chooses = [&](auto&& self, ExprId id) -> bool {
    if (seen[id.index]) return false;
    seen[id.index] = true;
    const ir::Expr& e = f[id];
    if (e.type.is_bool() || e.op == ir::ExprOp::Select || e.op == ir::ExprOp::IfThenElse ||
        e.op == ir::ExprOp::Min || e.op == ir::ExprOp::Max)
      return true;
    return std::any_of(e.args.begin(), e.args.end(), [&](ExprId arg) { return self(self, arg); });
  };
  bool out = false;
  ir::for_each_stmt(f, code, [&](ir::StmtId id) {
    out = out || f[id].kind == ir::StmtKind::If;
    ir::for_each_root(f, f[id], [&](ExprId root) { out = out || chooses(chooses, root); });
  });
  return out;
}

// False: the call does what a plain copy does, in as many trials as it could have.
bool ever_leaves(const Call& call, std::int64_t first_thread) {
  UnitTables tables;
  for (int sample = 0, held = 0; sample < kMaxTrials && held < kManyCases; ++sample) {
    FewValues few;
    ProofValues values(call, first_thread, sample, few, tables);
    const auto leaves = leaves_in(call, values);
    if (!leaves || leaves->value_or(false)) return true;
    held += *leaves ? 1 : 0;
  }
  return false;
}

}  // namespace

Proof prove_copy(const Call& call, const ir::Block& code) {
  Proof proof;
  // Where the call has several meanings (an edge, a predicate), each is wanted.
  const ir::CopySettings settings = ir::copy_settings(call.tile);
  const bool has_predicate = settings.predicate != nullptr || settings.predicate_tile != nullptr;
  bool has_cases = has_predicate;
  std::array<int, 4> held_in{};
  const auto attempt = [&](Trial trial) {
    if (trial.sample == 0) {  // another unit
      held_in = {};
      has_cases = has_predicate ||
                  ((settings.fills || settings.clips) &&
                   (has_condition(call.f(), code) || ever_leaves(call, trial.first_thread)));
    }
    Seen seen;
    const TrialOutcome outcome = prove_once(call, code, trial, proof, seen);
    held_in.at(static_cast<std::size_t>(seen.index())) += outcome == TrialOutcome::Held ? 1 : 0;
    return outcome;
  };
  make_trials(call, proof, attempt, [&](int held) {
    if (!has_cases || held >= kManyCases) return are_enough(held);
    return *std::min_element(held_in.begin(), held_in.end()) >= kWantedTrials;
  });
  return proof;
}

}  // namespace ww::lower
