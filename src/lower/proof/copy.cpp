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
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "ir/box_reduce.h"
#include "ir/elementwise.h"
#include "ir/equal.h"
#include "ir/print/print.h"
#include "ir/settings.h"
#include "ir/tensor_map.h"
#include "ir/visit.h"
#include "isa/catalogue.h"
#include "isa/form.h"
#include "isa/fragment.h"
#include "lower/call.h"
#include "lower/copy/problem.h"
#include "lower/proof/name_moves.h"
#include "lower/proof/scalars.h"
#include "lower/proof/tensor.h"
#include "lower/proof/trials.h"

namespace ww::lower {
namespace {

using ir::ExprId;
using ir::StmtKind;

// --- the predicate -------------------------------------------------------------------------------

constexpr int kBoolBits = 8;

/// The predicate of a copy as a tile of bools: which of them hold in a trial, what the threads read of
/// them, and which elements of the copy they decide.
class PredicateTile {
 public:
  /// The first two samples are that all bools hold and that none does; the others are mixed.
  PredicateTile(const Call& call, Granules names, const std::vector<std::int64_t>& copied,
                const std::vector<std::int64_t>& bools, int sample)
      : storage_(ir::storage_of(call.f(), ir::copy_settings(call.tile).predicate_tile->buffer)),
        names_(std::move(names)),
        sample_(sample) {
    const Stretch decides(copied, bools);
    std::int64_t count = 1;
    for (const std::int64_t extent : copied) count *= extent;
    for (std::int64_t x = 0; x < count; ++x) decides_.push_back(static_cast<Name>(decides(x)));
  }

  [[nodiscard]] ir::BufferId storage() const { return storage_; }
  /// What a thread reads there; Wrong outside the tile.
  [[nodiscard]] Try<bool> read(std::size_t thread, std::int64_t bit) const {
    const Name name = names_.at(names_.row_of(thread), granule_at(bit, kBoolBits));
    if (name < 0) return wrong("byte {} is read, outside the predicate", bit / 8);
    return holds(name);
  }
  /// By granule of the copy: is it left out? Fails when the elements of one do not agree.
  [[nodiscard]] Try<std::vector<bool>> left_out(int element_bits, int granule) const {
    const auto group = static_cast<std::size_t>(std::max(1, granule / element_bits));
    const auto parts = static_cast<std::size_t>(std::max(1, element_bits / granule));
    std::vector<bool> out(decides_.size() * parts / group + 1);
    for (std::size_t x = 0; x < decides_.size(); ++x) {
      const bool is_left_out = !holds(decides_[x]);
      const std::size_t first = x / group * parts;
      if (x % group != 0 && out[first] != is_left_out)
        return unknown("elements of a granule are copied and others are not");
      for (std::size_t i = 0; i < parts; ++i) out[first + i] = is_left_out;
    }
    return out;
  }

 private:
  [[nodiscard]] bool holds(Name name) const {
    if (sample_ < 2) return sample_ == 0;
    const auto number = static_cast<std::uint64_t>(names_.known_as(name));
    std::uint64_t hash =
        (number + 1) * 0x9E37'79B9'7F4A'7C15U + static_cast<std::uint64_t>(sample_);
    hash = (hash ^ hash >> 30U) * 0xBF58'476D'1CE4'E5B9U;
    return (hash >> 40U & 1U) != 0;
  }

  ir::BufferId storage_;
  Granules names_;             // of the bools, where they are
  std::vector<Name> decides_;  // by element of the copy: the bool
  int sample_;
};

// --- granules ------------------------------------------------------------------------------------

// Within bounds, whatever the count: the replay refuses a bad one.
int bits_of_count(const ir::Function& f, ExprId bytes) {
  const std::int64_t count = ir::const_int(f, bytes).value_or(1);
  return static_cast<int>(std::clamp<std::int64_t>(count, 1, kMaxBytes)) * 8;
}

int least_of(const ir::Function& f, const ir::PtxCall& call, int element_bits) {
  const isa::Mnemonic called = call.opcode.mnemonic();
  if (called == "cp.async.bulk.tensor" || called == "cp.reduce.async.bulk.tensor" ||
      called == "cp.async.bulk")
    return 128;
  if (called.text().starts_with("cp.async") && call.operands.size() >= 3)
    return bits_of_count(f, call.operands[2].expr);
  if (called == "tcgen05.cp") return 128;
  if (called.text().starts_with("tcgen05.")) {
    const isa::Binding& binding = call.opcode.binding();
    return binding.has("pack") || binding.has("unpack") ? 16 : 32;
  }
  if (called == "mapa") return kMaxBytes * 8;  // moves nothing
  if (called == "prmt") return std::min(8, element_bits);
  return element_bits > 8 ? 16 : element_bits;
}

// The least number of bits that the code moves at a time. Matrix rows are cut into single values.
int least_move(const ir::Function& f, const ir::Block& code, int element_bits) {
  int out = kMaxBytes * 8;
  for (const ir::StmtId id : code) {
    const ir::Stmt& s = f[id];
    if (s.kind == StmtKind::Ptx) out = std::min(out, least_of(f, f[s.ptx], element_bits));
    if (s.kind == StmtKind::Store) out = std::min(out, element_bits);
    if (s.kind == StmtKind::Evaluate && f[s.expr].op == ir::ExprOp::Call &&
        f[s.expr].callee == ir::Intrinsic::CopyBytes)
      out = std::min(out, bits_of_count(f, f[s.expr].args[2]));
    out =
        std::min({out, least_move(f, s.body, element_bits), least_move(f, s.other, element_bits)});
  }
  return out;
}

// --- what the code does --------------------------------------------------------------------------

constexpr std::int64_t kBoxAlign = 128;          // bytes, in shared memory
constexpr std::int64_t kBulkUnit = 16;           // bytes
constexpr std::int64_t kMaxBulkBytes = 1 << 20;  // one more than the instruction takes

/// What arrives instead of what is not copied: its value, as in lower/proof/scalars.h, and name.
struct Fill {
  scalars::Scalar value = 0;
  Name name = kZero;
};

/// A tensor map with the numbers of a trial.
struct Map {
  ir::BufferId storage = {};
  std::int64_t first_bit = 0;
  int bits = 8;
  std::vector<std::int64_t> dims = {}, box = {};
  std::vector<std::int64_t> steps = {};  // bits from one element to the next
  std::int64_t swizzle = 0;
  bool fills_nan = false;
};

/// One row of a box: its elements follow each other in both memories.
struct Row {
  bool is_inside = true;   // in the outer dimensions
  std::int64_t first = 0;  // coordinate of the first element in dimension 0
  std::int64_t bit = 0;    // of coordinate 0, in global memory
  std::int64_t byte = 0;   // in the shared window, before the swizzle
};

/// Carries the code of a copy out on names. Neither the evaluator nor the virtual GPU shares any of this.
class CopyMachine : public ProofWalk {
 public:
  /// Names of granules in `src` go to `dst`.
  CopyMachine(const Call& call, ProofValues& values, const Granules& src, Granules& dst, Fill fill,
              int granule, std::int64_t first_thread, const PredicateTile* mask, OpenReads* reads)
      : ProofWalk(call, values),
        call_(call),
        granule_(granule),
        first_thread_(first_thread),
        scratch_(call, values, first_thread),
        moves_(call, src, dst, granule, scratch_),
        fill_(fill),
        mask_(mask) {
    moves_.watch(reads);
    const ir::BufferId to = call.region(0).buffer, from = call.region(1).buffer;
    if (call.tile.op == ir::TileOp::PermuteLayout && operand_storage(0) == operand_storage(1) &&
        !are_apart(f_, to, from))
      moves_.work_in_place(operand_storage(0));
  }

  /// What is wrong with the bytes that the mbarrier of the call hears of, where it has to hear of
  /// `bytes`; empty: nothing.
  [[nodiscard]] std::string count_fault(std::int64_t bytes) const {
    if (ir::mbarrier_setting(call_.tile) == nullptr || counted_ == bytes) return {};
    return fmt::format("the mbarrier hears of {} bytes, expected {}", counted_, bytes);
  }

 private:
  // --- statements ---

  // Registers between a load and a store: what they hold is new in each round.
  Try<void> allocate(const ir::Stmt& s) override {
    moves_.keep(s.buffer);
    return {};
  }
  // The code binds each bool that it reads, and so says which threads read it.
  Try<void> bind(const ir::Stmt& s, const Mask& mask) override {
    const ir::Expr& e = f_[s.expr];
    const bool is_of_mask = mask_ != nullptr && e.op == ir::ExprOp::Load &&
                            ir::storage_of(f_, e.buffer) == mask_->storage();
    if (!is_of_mask) return ProofWalk::bind(s, mask);
    const auto at = WW_TRY(element(e, mask));
    std::vector<std::int64_t> holds(values_.threads());
    for (std::size_t t = 0; t < mask.size(); ++t)
      if (mask[t]) holds[t] = WW_TRY(mask_->read(t, at.bit[t])) ? 1 : 0;
    values_.set(s.var, PerUnit(std::move(holds)));
    return {};
  }

  // buffer[indices] = other[indices], an element of each; or a value, or one of the two.
  Try<void> store(const ir::Stmt& s, const Mask& mask) override {
    const auto to = WW_TRY(element(s, mask));
    return store_value(to, num::storage_bits(f_[s.buffer].dtype), s.expr, mask);
  }
  Try<void> store_value(const PointerValue& to, int bits, ExprId stored, const Mask& mask) {
    const ir::Expr& value = f_[stored];
    if (value.op == ir::ExprOp::IfThenElse || value.op == ir::ExprOp::Select) {
      const PerUnit& condition = *WW_TRY(values_.known(value.args[0]));
      Mask yes = mask, no = mask;
      for (std::size_t t = 0; t < mask.size(); ++t) (condition[t] != 0 ? no : yes)[t] = false;
      WW_TRY_VOID(store_value(to, bits, value.args[1], yes));
      return store_value(to, bits, value.args[2], no);
    }
    if (is_shuffle(stored)) return store_shuffled(to, bits, stored, mask);
    if (value.op != ir::ExprOp::Load) {
      const PerUnit& values = *WW_TRY(values_.known(stored));
      std::optional<std::pair<scalars::Scalar, Name>> last;  // all threads store the same, mostly
      for (std::size_t t = 0; t < mask.size(); ++t) {
        if (!mask[t]) continue;
        if (!last || last->first != values[t]) last = {values[t], WW_TRY(name_of(values[t]))};
        WW_TRY_VOID(moves_.fill(to, t, to.bit[t], bits, last->second));
      }
      return {};
    }
    return moves_.move_each(to, WW_TRY(element(value, mask)), bits, mask);
  }
  // Of a value that is no element.
  [[nodiscard]] Try<Name> name_of(scalars::Scalar value) const {
    if (value == fill_.value) return fill_.name;
    if (value == 0) return kZero;
    return wrong("a value is stored that is neither an element nor what fills up");
  }
  Try<void> store_shuffled(const PointerValue& to, int bits, ExprId stored, const Mask& mask) {
    const ir::Expr& e = f_[stored];
    if (f_[e.args[1]].op != ir::ExprOp::Load)
      return unknown("a store of `{}`", ir::print(f_, stored));
    const auto all = WW_TRY(givers(stored, mask));
    const auto from = WW_TRY(element(f_[e.args[1]], mask));
    return gather(to, mask, [&](std::size_t t) {
      return std::vector<Piece>{{&from, all[t], from.bit[all[t]], bits}};
    });
  }
  /// Bits that a thread holds.
  struct Piece {
    const PointerValue* from;
    std::size_t thread;
    std::int64_t bit, bits;
  };
  // Each thread gets pieces_of(thread), one behind the other. All read before any writes: a register may be
  // both.
  template <typename PiecesOf>
  Try<void> gather(const PointerValue& to, const Mask& mask, PiecesOf&& pieces_of) {
    std::vector<std::vector<Name>> names(mask.size());
    for (std::size_t t = 0; t < mask.size(); ++t) {
      if (!mask[t]) continue;
      for (const Piece& piece : pieces_of(t)) {
        const auto part = WW_TRY(moves_.names_at(*piece.from, piece.thread, piece.bit, piece.bits));
        names[t].insert(names[t].end(), part.begin(), part.end());
      }
    }
    for (std::size_t t = 0; t < mask.size(); ++t)
      if (mask[t]) WW_TRY_VOID(moves_.put_names(to, t, to.bit[t], names[t]));
    return {};
  }

  Try<void> evaluate(const ir::Stmt& s, const Mask& mask) override {
    const ir::Expr& e = f_[s.expr];
    if (is_barrier(e)) {
      moves_.note_barrier();
      return scratch_.barrier(e, mask);
    }
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
    const isa::Mnemonic called = call.opcode.mnemonic();
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
    WW_TRY_VOID(move_vector(call, 0, end, from, mask, true));
    return {};
  }
  // Registers from operand `first` on, and memory where they follow each other; how many bits.
  Try<std::int64_t> move_vector(const ir::PtxCall& call, std::size_t first, std::size_t end,
                                const PointerValue& memory, const Mask& mask, bool is_load) {
    std::int64_t offset = 0;
    for (std::size_t i = first; i < end; ++i) {
      const ir::Expr& e = f_[call.operands[i].expr];
      if (e.op != ir::ExprOp::Load)
        return unknown("a store of `{}`", ir::print(f_, call.operands[i].expr));
      const auto reg = WW_TRY(element(e, mask));
      const int bits = num::storage_bits(f_[e.buffer].dtype);
      for (std::size_t t = 0; t < mask.size(); ++t) {
        if (!mask[t]) continue;
        const std::int64_t at = memory.bit[t] + offset;
        WW_TRY_VOID(is_load ? moves_.move(reg, t, reg.bit[t], memory, t, at, bits)
                            : moves_.move(memory, t, at, reg, t, reg.bit[t], bits));
      }
      offset += bits;
    }
    return offset;
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

  // --- matrices and bytes of registers ---

  // ldmatrix and stmatrix: between registers and the rows that lanes give the addresses of.
  Try<void> matrix(const ir::PtxCall& call, bool is_load, const Mask& mask) {
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
  Try<void> matrix_of_warp(const isa::Fragment& fragment,
                           const std::vector<PointerValue>& registers, const PointerValue& rows,
                           std::size_t first, bool is_load) {
    struct End {
      std::size_t thread;
      std::int64_t bit;
    };
    const int unit = 32 / fragment.parts;
    std::vector<NameMoves::Way> ways;  // by register
    for (const PointerValue& reg : registers)
      ways.push_back(WW_TRY(is_load ? moves_.way(reg, rows) : moves_.way(rows, reg)));
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
          if (unit == granule_ && ways[i].has_moved(to.thread, granule_at(to.bit, unit),
                                                    from.thread, granule_at(from.bit, unit)))
            continue;
          WW_TRY_VOID(moves_.move(is_load ? reg : rows, to.thread, to.bit, is_load ? rows : reg,
                                  from.thread, from.bit, unit));
        }
      }
    return {};
  }
  // prmt.b32: byte i of the result is byte c[i] of the eight that a and b have.
  Try<void> permute_bytes(const ir::PtxCall& call, const Mask& mask) {
    if (call.opcode.binding().has("mode") || granule_ > 8)
      return unknown("`{}`", call.opcode.text());
    const auto to = WW_TRY(register_of(call.operands[0], mask));
    const auto a = WW_TRY(register_of(call.operands[1], mask));
    const auto b = WW_TRY(register_of(call.operands[2], mask));
    const auto pick = WW_TRY(values_.of(call.operands[3].expr));
    for (std::size_t t = 0; t < mask.size(); ++t)
      if (mask[t] && (pick[t] & 0x8888) != 0)
        return unknown("a sign that `{}` repeats", call.opcode.text());
    return gather(to, mask, [&](std::size_t t) {
      std::vector<Piece> out;
      for (unsigned i = 0; i < 4; ++i) {
        const auto byte = static_cast<std::int64_t>(pick[t] >> (4 * i) & 7);
        const PointerValue& from = byte < 4 ? a : b;
        out.push_back({&from, t, from.bit[t] + byte % 4 * 8, 8});
      }
      return out;
    });
  }
  // movmatrix: lane l has row l / 4, columns 2 (l % 4) and the next, before and after the matrix is
  // transposed.
  Try<void> transpose(const ir::PtxCall& call, const Mask& mask) {
    if (granule_ > 16) return unknown("`{}`", call.opcode.text());
    const auto to = WW_TRY(register_of(call.operands[0], mask));
    const auto from = WW_TRY(register_of(call.operands[1], mask));
    WW_TRY_VOID(whole_warps(mask, call.opcode.text()));
    return gather(to, mask, [&](std::size_t t) {
      const std::size_t row = t % kWarpThreads / 4;
      std::vector<Piece> out;
      for (const std::size_t half : {0U, 1U}) {
        const std::size_t column = 2 * (t % 4) + half;
        const std::size_t giver = t / kWarpThreads * kWarpThreads + column * 4 + row / 2;
        const std::int64_t bit = from.bit[giver] + static_cast<std::int64_t>(row % 2) * 16;
        out.push_back({&from, giver, bit, 16});
      }
      return out;
    });
  }

  // --- tensor memory ---

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

  // --- boxes of tensor maps ---

  Try<void> box(const ir::PtxCall& call, const Mask& mask) {
    const bool is_load = call.opcode.binding().word("dst") != "global";
    const std::size_t at = is_load ? 1 : 0;
    const auto map = WW_TRY(read_map(call.operands[at].expr));
    const std::size_t rank = map.dims.size();
    const bool is_multicast = call.opcode.binding().has("multicast");
    const bool has_hint = call.opcode.binding().has("hint");
    if (call.operands.size() !=
        rank + (is_load ? 3 : 2) + (is_multicast ? 1 : 0) + (has_hint ? 1 : 0))
      return unknown("`{}` with {} operands", call.opcode.text(), call.operands.size());
    std::vector<PerUnit> corner;
    for (std::size_t d = 0; d < rank; ++d)
      corner.push_back(WW_TRY(values_.of(call.operands[at + 1 + d].expr)));
    const auto shared = WW_TRY(values_.pointer(call.operands[is_load ? 0 : rank + 1].expr));
    WW_TRY_VOID(check_reduction(call));
    if (is_load) WW_TRY_VOID(check_mbarrier(call.operands[rank + 2].expr));
    if (is_load)
      WW_TRY_VOID(check_receivers(is_multicast ? call.operands[rank + 3].expr : ExprId{}));
    std::int64_t threads = 0;
    for (std::size_t t = 0; t < mask.size(); ++t) {
      if (!mask[t]) continue;
      if (++threads > 1) return wrong("several threads start `{}`", call.opcode.text());
      WW_TRY_VOID(box_of_thread(map, is_load, corner, shared, t));
    }
    return {};
  }
  Try<Map> read_map(ExprId expr) {
    const auto found = ir::find_tensor_map(f_, expr);
    if (!found) return unknown("a tensor map `{}`", ir::print(f_, expr));
    Map out{.bits = num::storage_bits(ir::map_dtype(f_, *found)), .box = found->box};
    out.swizzle = found->swizzle;
    out.fills_nan = found->fill == ir::MapFill::Nan;
    ExprId pointer = found->pointer;
    if (f_[pointer].op == ir::ExprOp::Call && f_[pointer].callee == ir::Intrinsic::PointerOffset) {
      const auto elements = WW_TRY(values_.uniform(f_[pointer].args[1]));
      out.first_bit = elements * num::storage_bits(f_[pointer].type.dtype);
      pointer = f_[pointer].args[0];
    }
    if (f_[pointer].op != ir::ExprOp::BufferData)
      return unknown("a tensor map of `{}`", ir::print(f_, pointer));
    out.storage = ir::storage_of(f_, f_[pointer].buffer);
    for (const ExprId dim : found->dims) out.dims.push_back(WW_TRY(values_.uniform(dim)));
    out.steps.push_back(out.bits);
    for (const ExprId stride : found->strides) {
      const auto elements = WW_TRY(values_.uniform(stride));
      out.steps.push_back(elements * out.bits);
    }
    return out;
  }
  // The same operation on each box. The names that arrive are those of the elements combined.
  Try<void> check_reduction(const ir::PtxCall& call) {
    const bool reduces = call.opcode.mnemonic().text().starts_with("cp.reduce.");
    const std::string_view done = reduces ? call.opcode.binding().word("op").text() : "replaced";
    const auto meant = ir::box_reduce(call_.tile);
    const std::string_view wanted = meant ? ir::name_of(*meant) : "replaced";
    if (done == wanted) return {};
    return wrong("elements are {}, expected {}", done, wanted);
  }
  // The mbarrier of the call, and no other, hears of the bytes.
  Try<void> check_mbarrier(ExprId hears) {
    const auto* wanted = ir::mbarrier_setting(call_.tile);
    const auto* mbarrier = wanted == nullptr ? nullptr : std::get_if<ExprId>(wanted);
    if (mbarrier != nullptr && ir::same(f_, *mbarrier, hears)) return {};
    return wrong("`{}` hears of the bytes", ir::print(f_, hears));
  }
  // The names arrive at the same places of each CTA of the mask, so the places are looked at once: every
  // box must go to just the CTAs that the call names.
  Try<void> check_receivers(ExprId mask) {
    const ir::Setting* setting = ir::cta_mask_setting(call_.tile);
    if (setting == nullptr && !mask.valid()) return {};
    if (setting == nullptr) return wrong("a box goes to the CTAs `{}`", ir::print(f_, mask));
    std::int64_t meant = 0;
    if (const auto* number = std::get_if<std::int64_t>(setting))
      meant = *number;
    else
      meant = WW_TRY(values_.uniform(std::get<ExprId>(*setting)));
    constexpr std::int64_t kAll = 0xffff;
    if (!mask.valid() && call_.context.launch.cluster_ctas() == 1 && meant == 1) return {};
    if (!mask.valid()) return wrong("a box goes to one CTA, expected the CTAs {:#x}", meant);
    const std::int64_t sent = WW_TRY(values_.uniform(mask));
    if ((sent & kAll) == (meant & kAll)) return {};
    return wrong("a box goes to the CTAs {:#x}, expected {:#x}", sent & kAll, meant & kAll);
  }
  Try<void> box_of_thread(const Map& map, bool is_load, const std::vector<PerUnit>& corner,
                          const PointerValue& shared, std::size_t t) {
    const std::int64_t window = values_.window_of(shared.storage) + shared.bit[t] / 8;
    if (window % kBoxAlign != 0)
      return wrong("a box begins at byte {} of the shared window, expected a multiple of {}",
                   window, kBoxAlign);
    const std::int64_t row_bytes = map.box[0] * map.bits / 8;
    const std::int64_t pitch = std::max(row_bytes, map.swizzle);
    std::vector<std::int64_t> index(map.box.size(), 0);
    for (Row row{.first = corner[0][t], .byte = window};; row.byte += pitch) {
      row.is_inside = true;
      row.bit = map.first_bit;
      for (std::size_t d = 1; d < index.size(); ++d) {
        const std::int64_t at = corner[d][t] + index[d];
        row.is_inside = row.is_inside && at >= 0 && at < map.dims[d];
        row.bit += at * map.steps[d];
      }
      WW_TRY_VOID(row_of_box(map, row, shared, is_load, t));
      counted_ += row_bytes;
      std::size_t d = 1;
      while (d < index.size() && ++index[d] == map.box[d]) index[d++] = 0;
      if (d == index.size()) return {};
    }
  }
  Try<void> row_of_box(const Map& map, const Row& row, const PointerValue& shared, bool is_load,
                       std::size_t t) {
    const std::int64_t elements = std::max<std::int64_t>(1, granule_ / map.bits);
    const std::int64_t bits = elements * map.bits;
    const PointerValue global{.storage = map.storage, .bit = {}};
    const std::int64_t base = values_.window_of(shared.storage);
    for (std::int64_t i = 0; i < map.box[0]; i += elements) {
      std::int64_t inside = 0;
      for (std::int64_t k = 0; k < elements; ++k) {
        const std::int64_t at = row.first + i + k;
        inside += row.is_inside && at >= 0 && at < map.dims[0] ? 1 : 0;
      }
      const std::int64_t from = row.bit + (row.first + i) * map.bits;
      if ((inside != 0 && inside != elements) || from % granule_ != 0)
        return unknown("part of a granule");
      // Chunk c of a 128-byte line of shared memory changes places by the line's number.
      const std::int64_t byte = row.byte + i * map.bits / 8;
      const std::int64_t chunks = std::max<std::int64_t>(map.swizzle / 16, 1);
      const std::int64_t chunk = (byte / 16) ^ (byte / 128 & (chunks - 1));
      const std::int64_t to = (chunk * 16 + byte % 16 - base) * 8;
      if (inside == 0) {
        if (is_load) WW_TRY_VOID(moves_.fill(shared, t, to, bits, map.fills_nan ? kFill : kZero));
        continue;
      }
      // Twice would be combined twice.
      if (!is_load && ir::box_reduce(call_.tile) && !reduced_.insert(from).second)
        return wrong("byte {} of the array is combined twice", from / 8);
      WW_TRY_VOID(is_load ? moves_.move(shared, t, to, global, t, from, bits)
                          : moves_.move(global, t, from, shared, t, to, bits));
    }
    return {};
  }

  // --- contiguous bytes ---

  // cp.async.bulk without a tensor map: one thread starts it. Both addresses and the number of bytes are
  // multiples of 16.
  Try<void> run_of_bytes(const ir::PtxCall& call, const Mask& mask) {
    const isa::Binding& binding = call.opcode.binding();
    const bool is_store = binding.word("dst") == "global";
    const bool is_known =
        !binding.has("hint") && !binding.has("multicast") && !binding.has("cp_mask");
    if (!is_known || call.operands.size() != (is_store ? 3U : 4U))
      return unknown("`{}`", call.opcode.text());
    const auto bytes = ir::const_int(f_, call.operands[2].expr);
    if (!bytes) return unknown("a number of bytes that is not a constant");
    if (*bytes < kBulkUnit || *bytes >= kMaxBulkBytes || *bytes % kBulkUnit != 0)
      return wrong("{} bytes are copied, expected a multiple of {}", *bytes, kBulkUnit);
    const auto to = WW_TRY(address_of(call.operands[0], mask));
    const auto from = WW_TRY(values_.pointer(call.operands[1].expr));
    std::int64_t threads = 0;
    for (std::size_t t = 0; t < mask.size(); ++t) {
      if (!mask[t]) continue;
      if (++threads > 1) return wrong("several threads start `{}`", call.opcode.text());
      if (!is_store) WW_TRY_VOID(check_hears(call.operands[3], t));
      for (const PointerValue* side : {&to, &from}) WW_TRY_VOID(check_unit(*side, t));
      WW_TRY_VOID(moves_.move(to, t, to.bit[t], from, t, from.bit[t], *bytes * 8));
      counted_ += *bytes;
    }
    return {};
  }
  Try<void> check_hears(const ir::PtxOperand& operand, std::size_t t) {
    const bool is_remote = ir::remote_operand(f_, call_.tile).has_value();
    return check_mbarrier(is_remote ? WW_TRY(mapped_at(operand, t))->from : operand.expr);
  }
  Try<void> check_unit(const PointerValue& side, std::size_t t) {
    const std::int64_t start =
        ir::is_shared(f_[side.storage].scope) ? values_.window_of(side.storage) : 0;
    const std::int64_t byte = start + side.bit[t] / 8;
    if (byte % kBulkUnit == 0) return {};
    return wrong("a run begins at byte {} of `{}`, expected a multiple of {}", byte,
                 f_[side.storage].name, kBulkUnit);
  }

  // --- other CTAs ---

  /// What mapa has made: of which address, and where that is.
  struct Mapped {
    ExprId from = {};
    std::optional<PointerValue> at = {};
  };
  // d, a, rank: d is where a is, in CTA `rank`.
  Try<void> map_address(const ir::PtxCall& call, const Mask& mask) {
    const isa::Binding& binding = call.opcode.binding();
    if (binding.word("space") != "shared::cluster" || binding.word("type") != "u32")
      return unknown("`{}`", call.opcode.text());
    const auto to = WW_TRY(register_of(call.operands[0], mask));
    const ir::Expr& given = f_[call.operands[1].expr];
    const bool is_pointer =
        given.op == ir::ExprOp::Call && given.callee == ir::Intrinsic::CvtaToShared;
    Mapped mapped{.from = is_pointer ? given.args[0] : call.operands[1].expr};
    // A pointer to something else than an operand is the mbarrier's.
    if (is_pointer)
      if (const auto pointer = values_.pointer(given.args[0])) mapped.at = *pointer;
    const auto rank = WW_TRY(values_.of(call.operands[2].expr));
    const auto wanted = WW_TRY(remote_rank());
    for (std::size_t t = 0; t < mask.size(); ++t) {
      if (!mask[t]) continue;
      if (rank[t] != wanted[t])
        return wrong("CTA {} of the cluster is reached, expected {}", rank[t], wanted[t]);
      mapped_[{to.storage.index, to.bit[t], t}] = mapped;
    }
    return {};
  }
  Try<PerUnit> remote_rank() {
    const ir::Setting* setting = ir::find_setting(call_.tile, "remote_cta_id");
    if (setting == nullptr) return wrong("an address in another CTA");
    if (const auto* number = std::get_if<std::int64_t>(setting))
      return PerUnit(values_.threads(), *number);
    return values_.of(std::get<ExprId>(*setting));
  }
  Try<const Mapped*> mapped_at(const ir::PtxOperand& operand, std::size_t t) {
    Mask one(values_.threads());
    one[t] = true;
    if (f_[operand.expr].op != ir::ExprOp::Load || operand.offset.valid())
      return unknown("an address `{}` of another CTA", ir::print(f_, operand.expr));
    const auto at = WW_TRY(element(f_[operand.expr], one));
    const auto found = mapped_.find({at.storage.index, at.bit[t], t});
    if (found == mapped_.end())
      return wrong("`{}` is no address of another CTA", ir::print(f_, operand.expr));
    return &found->second;
  }
  // Of the own CTA as a pointer, of another as a register that mapa has written.
  Try<PointerValue> address_of(const ir::PtxOperand& operand, const Mask& mask) {
    if (f_[operand.expr].op != ir::ExprOp::Load) return values_.pointer(operand.expr);
    PointerValue out{.storage = {}, .bit = {}, .is_remote = true};
    std::vector<std::int64_t> bit(mask.size());
    for (std::size_t t = 0; t < mask.size(); ++t) {
      if (!mask[t]) continue;
      const Mapped& mapped = *WW_TRY(mapped_at(operand, t));
      if (!mapped.at) return unknown("an address of `{}`", ir::print(f_, mapped.from));
      out.storage = mapped.at->storage;
      bit[t] = mapped.at->bit[t];
    }
    out.bit = PerUnit(std::move(bit));
    return out;
  }
  // st and st.async with registers given as elements of a view: [to], values, and the mbarrier that hears
  // of the bytes.
  Try<void> store_registers(const ir::PtxCall& call, const Mask& mask) {
    const bool is_counted = call.opcode.mnemonic() == "st.async";
    const auto to = WW_TRY(address_of(call.operands[0], mask));
    const std::size_t end = call.operands.size() - (is_counted ? 1 : 0);
    const auto bits = WW_TRY(move_vector(call, 1, end, to, mask, false));
    for (std::size_t t = 0; t < mask.size(); ++t) {
      if (!mask[t]) continue;
      if (to.bit[t] % bits != 0)
        return wrong("thread {} stores {} bytes at byte {}", t, bits / 8, to.bit[t] / 8);
      if (!is_counted) continue;
      WW_TRY_VOID(check_hears(call.operands.back(), t));
      counted_ += bits / 8;
    }
    return {};
  }

  const Call& call_;
  int granule_;
  std::int64_t first_thread_;
  ScratchOrder scratch_;
  NameMoves moves_;
  Fill fill_;
  const PredicateTile* mask_;                 // nullptr: none
  const ir::PtxCall* last_matrix_ = nullptr;  // the last matrix copy, and what it moves
  std::vector<isa::Fragment> fragments_;
  std::map<std::tuple<std::uint32_t, std::int64_t, std::size_t>, Mapped>
      mapped_;                      // by register: buffer, bit, thread
  std::int64_t counted_ = 0;        // bytes that the mbarrier hears of
  std::set<std::int64_t> reduced_;  // bits of the array
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
           Seen& seen, OpenReads* reads)
      : Goal(call, code, trial, proof), granule_(granule), seen_(seen), reads_(reads) {}

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
      const ir::Region& region = *settings.predicate_tile;
      auto bools = WW_TRY(names_of(call_, values_, region, kBoolBits, trial_.first_thread));
      if (!bools) return false;
      mask_.emplace(call_, std::move(bools->granules), WW_TRY(extents_of(values_, call_.region(0))),
                    WW_TRY(extents_of(values_, region)), trial_.sample);
      WW_TRY_VOID(apply_mask(call_, *mask_, fill_, granule_, dst_->granules));
    }
    seen_.leaves = !src_->outside.empty() || !dst_->outside.empty();
    apply_settings(settings, *src_, fill_, dst_->granules, seen_);
    return true;
  }
  [[nodiscard]] bool has_chosen() const override { return mask_.has_value(); }

  Try<void> compare() override {
    CopyMachine machine(call_, values_, src_->granules, *done_, fill_, granule_,
                        trial_.first_thread, mask_ ? &*mask_ : nullptr, reads_);
    WW_TRY_VOID(carry_out(machine));
    std::string fault = done_->difference(dst_->granules);
    const int bits = num::storage_bits(call_.buffer(0).dtype);
    if (fault.empty()) fault = machine.count_fault(src_->elements * bits / 8);
    return fault.empty() ? Try<void>() : wrong("{}", fault);
  }

  int granule_;
  Seen& seen_;
  OpenReads* reads_;                      // nullptr: nobody asks
  std::optional<RegionNames> dst_, src_;  // what is to be there, and what is
  std::optional<Granules> done_;
  Fill fill_;
  std::optional<PredicateTile> mask_;
};

TrialOutcome prove_once(const Call& call, const ir::Block& code, Trial trial, Proof& proof,
                        Seen& seen, OpenReads* reads = nullptr) {
  const int bits = num::storage_bits(call.f()[call.region(0).buffer].dtype);
  const int least = least_move(call.f(), code, bits);
  if (least > bits && least % bits == 0) {
    Proof tried;
    const TrialOutcome outcome = CopyGoal(call, code, trial, tried, least, seen, reads).run();
    if (outcome != TrialOutcome::Failed) return outcome;
  }
  return CopyGoal(call, code, trial, proof, std::min(bits, least), seen, reads).run();
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

Proof prove_in_place(const Call& call, const ir::Block& code, const EarlierRead& read) {
  Proof proof;
  if (call.is_of_cluster()) return proof;
  const Call reading = with_tile(call, read.tile);
  const std::int64_t ordered = read.ordered == ir::Unit::Thread      ? 1
                               : read.ordered == ir::Unit::Warp      ? 32
                               : read.ordered == ir::Unit::Warpgroup ? 128
                                                                     : call.unit_threads();
  make_trials(call, proof, [&](Trial trial) {
    Seen seen;
    OpenReads reads(num::storage_bits(call.buffer(0).dtype), ordered);
    const TrialOutcome outcome = prove_once(reading, read.code, trial, proof, seen, &reads);
    if (outcome == TrialOutcome::Failed || outcome == TrialOutcome::Skipped) return outcome;
    return prove_once(call, code, trial, proof, seen, &reads);
  });
  return proof;
}

}  // namespace ww::lower
