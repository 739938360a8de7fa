// SPDX-License-Identifier: Apache-2.0
// An asynchronous product is proven by the names of its elements. Each instruction must have rows of
// A, each of one row m, columns of B, each of one column n, both along the same values of k, and put
// their product where C has (m, n). What an element of C is, is a number modulo 2^64: the sum of a
// number for each k that was added, and one for what C was before if that counts. In the end it must
// be the sum over all k, once each.
//
// A `gemm` by such products is proven the same way; there the fences, the commit and the wait are part of
// the code, and must come in their order.
//
// Elements in registers are found by the catalogue's fragments, those in shared memory by decoding
// descriptors (lower/proof/shared_matrix.h), which shares no code with what made them.
#include <array>

#include "ir/gemm_factors.h"
#include "ir/print/print.h"
#include "ir/settings.h"
#include "isa/catalogue.h"
#include "isa/fragment.h"
#include "lower/gemm/problem.h"
#include "lower/proof/machine.h"
#include "lower/proof/proof.h"
#include "lower/proof/shared_matrix.h"

namespace ww::lower {
namespace {

constexpr std::size_t kProductThreads = kWarpgroupThreads;
constexpr int kProductRows = 64;
constexpr std::size_t kFactorRegisters = 4;

/// Line (row of A, column of B) and k of an element of a factor.
struct FactorCell {
  std::int64_t line = 0, k = 0;
  friend bool operator==(const FactorCell&, const FactorCell&) = default;
};

/// Elements of a factor as an instruction has them: lines by k.
struct FactorMatrix {
  std::vector<FactorCell> cells;
  int depth = 0;
  [[nodiscard]] const FactorCell& at(int line, int k) const {
    return cells[static_cast<std::size_t>(line * depth + k)];
  }
  [[nodiscard]] int lines() const { return static_cast<int>(cells.size()) / depth; }
};

Number number_of_k(std::int64_t k) { return mixed(1, static_cast<Number>(k)); }
Number number_of_old(std::size_t name) { return mixed(2, static_cast<Number>(name)); }

// --- what the code does --------------------------------------------------------------------------

/// What trials share: the fragments of the last instruction, which most often is the next one, too,
/// and the numbers of what elements of C were before.
struct AsyncShared {
  std::string opcode = {};
  std::vector<isa::Fragment> fragments = {};
  std::vector<Number> old = {};
};

class AsyncWalk : public ProofWalk {
 public:
  AsyncWalk(const Call& call, ProofValues& values, const ProductSizes& sizes,
            const std::array<RegionElements, 3>& operands, AsyncShared& shared,
            std::vector<Number>& sums, bool is_waited)
      : ProofWalk(call, values),
        call_(call),
        sizes_(sizes),
        operands_(operands),
        shared_(shared),
        sums_(sums),
        is_waited_(is_waited) {}

  /// All that is under way when the code ends is the caller's to wait for.
  [[nodiscard]] bool is_done() const { return !is_waited_ || next_ == std::size(kWaitedOrder); }

 private:
  // What a product that is waited for consists of, in this order.
  static constexpr std::string_view kWaitedOrder[] = {"fence.proxy.async.shared::cta",
                                                      "wgmma.fence", "wgmma.mma_async",
                                                      "wgmma.commit_group", "wgmma.wait_group"};

  Try<void> follow_order(const ir::PtxCall& call, const Mask& mask) {
    const std::string text = call.opcode.text();
    const std::string_view called =
        text.starts_with("fence.proxy") ? std::string_view(text) : call.opcode.mnemonic().text();
    const bool is_again =
        next_ > 0 && called == "wgmma.mma_async" && kWaitedOrder[next_ - 1] == called;
    if (!is_again && (next_ == std::size(kWaitedOrder) || kWaitedOrder[next_] != called))
      return wrong("`{}` where {} is due", call.opcode.text(),
                   next_ == std::size(kWaitedOrder) ? "nothing" : kWaitedOrder[next_]);
    if (!is_again) ++next_;
    WW_TRY_VOID(whole_warpgroups(mask, call.opcode.text()));
    if (called == "wgmma.wait_group")
      if (const auto left = WW_TRY(values_.uniform(call.operands[0].expr)); left != 0)
        return wrong("a wait that leaves {} groups under way", left);
    return {};
  }

  Try<void> ptx(const ir::PtxCall& call, const Mask& mask) override {
    const bool is_product = call.opcode.mnemonic() == "wgmma.mma_async";
    if (call.predicate.valid() || (!is_product && !is_waited_))
      return unknown("`{}`", call.opcode.text());
    if (is_waited_) WW_TRY_VOID(follow_order(call, mask));
    if (!is_product) return {};
    WW_TRY_VOID(check_types(call));
    if (shared_.opcode != call.opcode.text()) {
      shared_.opcode = call.opcode.text();
      shared_.fragments = isa::fragments_of(call.opcode.binding());
      results_ = {};  // are of another fragment
    }
    const auto groups = WW_TRY(whole_warpgroups(mask, call.opcode.text()));
    Reading reading{.call = call, .mask = mask, .d = shared_.fragments.at(0)};
    WW_TRY_VOID(read_operands(reading));
    for (const std::size_t first : groups) WW_TRY_VOID(multiply(reading, first));
    return {};
  }

  // --- operands ---

  /// An instruction with its operands.
  struct Reading {
    const ir::PtxCall& call;
    const Mask& mask;
    const isa::Fragment& d;
    int depth = 0;
    std::vector<PointerValue> results = {};
    std::vector<PointerValue> a_registers = {};  // empty: A is in shared memory
    PerUnit a_descriptors = {}, b_descriptors = {}, adds = {};
    bool a_is_mn_major = false, b_is_mn_major = false;
  };

  // The instruction must take the elements for what they are, and do nothing but multiply and add.
  Try<void> check_types(const ir::PtxCall& call) const {
    const isa::Binding& binding = call.opcode.binding();
    if (binding.has("sp") || binding.has("satfinite") || binding.has("op"))
      return unknown("`{}`", call.opcode.text());
    static constexpr isa::SlotName kSlots[] = {"dtype", "atype", "btype"};
    for (std::size_t argument = 0; argument < std::size(kSlots); ++argument) {
      const auto type = num::parse_dtype(binding.word(kSlots[argument]).text());
      const num::DType held = f_[call_.region(argument).buffer].dtype;
      const bool is_cut = held == num::DType::Float32 && type && *type == num::DType::Tfloat32 &&
                          ir::is_true(call_.setting("is_AB_tf32"));
      if (!type || (*type != held && !is_cut))
        return wrong("{} on {}", call.opcode.text(), num::name_of(held));
    }
    return {};
  }

  // D, A, B, scale-d, signs of the factors, whether they are transposed.
  Try<void> read_operands(Reading& r) {
    const auto& operands = r.call.operands;
    std::size_t next = 0;
    const auto registers = [&](std::size_t count, std::vector<PointerValue>& out) -> Try<void> {
      for (std::size_t i = 0; i < count; ++i) {
        if (next == operands.size()) return wrong("{} operands of {}", next, r.call.opcode.text());
        out.push_back(WW_TRY(register_of(operands[next++], r.mask)));
      }
      return {};
    };
    WW_TRY_VOID(registers(static_cast<std::size_t>(r.d.regs), r.results));
    const bool is_in_registers =
        next < operands.size() && operands[next].kind == ir::PtxOperandKind::At;
    const bool is_half = operands_[1].bits == 16;
    const bool is_integer = r.call.opcode.binding().word("dtype") == "s32";
    const std::size_t signs = is_integer ? 0 : 2;
    const std::size_t turns = is_half ? (is_in_registers ? 1 : 2) : 0;
    const std::size_t wanted = next + (is_in_registers ? kFactorRegisters : 1U) + 2 + signs + turns;
    if (operands.size() != wanted)
      return wrong("{} operands of {}, expected {}", operands.size(), r.call.opcode.text(), wanted);
    if (is_in_registers)
      WW_TRY_VOID(registers(kFactorRegisters, r.a_registers));
    else
      r.a_descriptors = WW_TRY(values_.of(operands[next++].expr));
    r.b_descriptors = WW_TRY(values_.of(operands[next++].expr));
    r.adds = WW_TRY(values_.of(operands[next++].expr));
    for (std::size_t i = 0; i < signs; ++i)
      if (const auto sign = WW_TRY(values_.uniform(operands[next++].expr)); sign != 1)
        return wrong("a factor of {} times {}", r.call.opcode.text(), sign);
    if (is_half && !is_in_registers)
      r.a_is_mn_major = WW_TRY(values_.uniform(operands[next++].expr)) != 0;
    if (is_half) r.b_is_mn_major = WW_TRY(values_.uniform(operands[next].expr)) != 0;
    r.depth = 256 / operands_[1].bits;  // 32 bytes of a line
    return {};
  }

  // --- factors ---

  [[nodiscard]] FactorCell cell_of(bool is_a, Name name) const {
    const bool is_turned = is_a ? sizes_.turns_a : sizes_.turns_b;
    const std::int64_t inner = is_turned ? (is_a ? sizes_.m : sizes_.n) : sizes_.k;
    const FactorCell cell{name / inner, name % inner};
    return is_turned ? FactorCell{cell.k, cell.line} : cell;
  }

  Try<FactorMatrix> shared_factor(const Reading& r, bool is_a, std::size_t first) {
    const PerUnit& descriptors = is_a ? r.a_descriptors : r.b_descriptors;
    for (std::size_t t = first; t < first + kProductThreads; ++t)
      if (descriptors[t] != descriptors[first])
        return wrong("threads {} and {} of the unit have different descriptors", first, t);
    const RegionElements& side = operands_[is_a ? 1 : 2];
    const auto matrix =
        WW_TRY(DescribedMatrix::read(static_cast<std::uint64_t>(descriptors[first]), side.bits / 8,
                                     is_a ? r.a_is_mn_major : r.b_is_mn_major));
    const std::int64_t window = values_.window_of(side.storage);
    const int lines = is_a ? kProductRows : r.d.cols;
    FactorMatrix out{.cells = {}, .depth = r.depth};
    out.cells.reserve(static_cast<std::size_t>(lines * r.depth));
    for (int line = 0; line < lines; ++line)
      for (int k = 0; k < r.depth; ++k) {
        const std::int64_t bit = (matrix.byte(line, k) - window) * 8;
        const Name name = side.names->at(0, granule_at(bit, side.bits));
        if (name < 0)
          return wrong("{} reads byte {} of `{}`, which is not in {}", r.call.opcode.text(),
                       bit / 8, f_[side.storage].name, is_a ? "A" : "B");
        out.cells.push_back(cell_of(is_a, name));
      }
    return out;
  }

  // PTX manual, "Register fragments for wgmma.mma_async.m64nNk…": A.
  Try<FactorMatrix> register_factor(const Reading& r, std::size_t first) {
    const RegionElements& side = operands_[1];
    const int each = 32 / side.bits;
    FactorMatrix out{.cells = std::vector<FactorCell>(static_cast<std::size_t>(64 * r.depth)),
                     .depth = r.depth};
    for (std::size_t t = 0; t < kProductThreads; ++t)
      for (int reg = 0; reg < static_cast<int>(kFactorRegisters); ++reg)
        for (int part = 0; part < each; ++part) {
          const int lane = static_cast<int>(t % 32);
          const int row = 16 * static_cast<int>(t / 32) + lane / 4 + 8 * (reg % 2);
          const int k = 4 * each * (reg / 2) + each * (lane % 4) + part;
          const PointerValue& at = r.a_registers[static_cast<std::size_t>(reg)];
          const std::int64_t bit = at.bit[first + t];
          if (bit % 32 != 0 || at.storage != side.storage)
            return wrong("A in register {} of `{}`", bit / 32, f_[at.storage].name);
          const Name name = side.names->at(side.names->row_of(first + t),
                                           granule_at(bit + part * side.bits, side.bits));
          if (name < 0)
            return wrong("thread {} of the unit reads byte {} of `{}`, which is not in A",
                         first + t, bit / 8, f_[side.storage].name);
          out.cells[static_cast<std::size_t>(row * r.depth + k)] = cell_of(true, name);
        }
    return out;
  }

  // --- the product ---

  // The lines of a factor, each with the same values of k.
  static Try<std::vector<std::int64_t>> lines_of(const FactorMatrix& matrix,
                                                 std::string_view name) {
    std::vector<std::int64_t> out;
    for (int line = 0; line < matrix.lines(); ++line) {
      out.push_back(matrix.at(line, 0).line);
      for (int k = 0; k < matrix.depth; ++k) {
        const FactorCell &here = matrix.at(line, k), &first = matrix.at(0, k);
        if (here.line != out.back() || here.k != first.k)
          return wrong("line {} of {} has ({}, {}) at {}, expected ({}, {})", line, name, here.line,
                       here.k, k, out.back(), first.k);
      }
    }
    return out;
  }

  Try<void> multiply(const Reading& r, std::size_t first) {
    const FactorMatrix a =
        WW_TRY(r.a_registers.empty() ? shared_factor(r, true, first) : register_factor(r, first));
    const FactorMatrix b = WW_TRY(shared_factor(r, false, first));
    const auto rows = WW_TRY(lines_of(a, "A"));
    const auto columns = WW_TRY(lines_of(b, "B"));
    Number sum = 0;
    for (int k = 0; k < r.depth; ++k) {
      if (a.at(0, k).k != b.at(0, k).k)
        return wrong("k = {} of A is multiplied by k = {} of B", a.at(0, k).k, b.at(0, k).k);
      sum += number_of_k(a.at(0, k).k);
    }
    for (std::size_t t = first; t < first + kProductThreads; ++t)
      if ((r.adds[t] != 0) != (r.adds[first] != 0)) return wrong("scale-d differs between threads");
    return add(r, first, rows, columns, sum);
  }

  // The product of each row and column must be in the register where C has that element.
  Try<void> add(const Reading& r, std::size_t first, const std::vector<std::int64_t>& rows,
                const std::vector<std::int64_t>& columns, Number sum) {
    const bool adds = r.adds[first] != 0;
    WW_TRY_VOID(find_results(r, first));
    if (results_.rows != rows || results_.columns != columns)
      WW_TRY_VOID(check_results(r, rows, columns));
    for (const Name name : results_.names) {
      Number& to = sums_[static_cast<std::size_t>(name)];
      to = (adds ? to : 0) + sum;
    }
    return {};
  }

  Try<void> check_results(const Reading& r, const std::vector<std::int64_t>& rows,
                          const std::vector<std::int64_t>& columns) {
    auto name = results_.names.begin();
    for (const std::int64_t row : rows)
      for (const std::int64_t column : columns) {
        if (*name != row * sizes_.n + column) {
          const auto place = static_cast<std::size_t>(name - results_.names.begin());
          return misplaced(row, column, *name, thread_of(r.d.places[place], results_.first));
        }
        ++name;
      }
    results_.rows = rows;
    results_.columns = columns;
    return {};
  }

  static std::size_t thread_of(const isa::FragmentPlace& place, std::size_t first) {
    return first + static_cast<std::size_t>(place.warp * 32 + place.lane);
  }

  // The elements of C that an instruction writes, by place in its fragment. Most often they are those
  // of the instruction before.
  Try<void> find_results(const Reading& r, std::size_t first) {
    if (results_.first == first && results_.registers == r.results) return {};
    const RegionElements& side = operands_[0];
    const Granules& names = *side.names;
    results_ = {.registers = r.results, .first = first};
    for (const isa::FragmentPlace& place : r.d.places) {
      const std::size_t thread = thread_of(place, first);
      const PointerValue& reg = r.results[static_cast<std::size_t>(place.reg)];
      const std::int64_t bit = reg.bit[thread];
      if (bit % 32 != 0 || reg.storage != side.storage)
        return wrong("a register of C at bit {} of `{}`", bit, f_[reg.storage].name);
      results_.names.push_back(
          names.at(names.row_of(thread), granule_at(bit + place.part * side.bits, side.bits)));
    }
    return {};
  }
  [[nodiscard]] Unexpected<Unproven> misplaced(std::int64_t row, std::int64_t column, Name name,
                                               std::size_t thread) const {
    return wrong("the product of row {} and column {} goes to {} of C in thread {} of the unit",
                 row, column,
                 name < 0 ? std::string("no element")
                          : fmt::format("({}, {})", name / sizes_.n, name % sizes_.n),
                 thread);
  }

  const Call& call_;
  const ProductSizes& sizes_;
  const std::array<RegionElements, 3>& operands_;
  AsyncShared& shared_;
  std::vector<Number>& sums_;  // by element of C
  /// The elements that the last instruction wrote, what they depend on beside its fragment, and the
  /// rows of A and columns of B that they were found to be the products of.
  struct Results {
    std::vector<PointerValue> registers = {};
    std::size_t first = 0;
    std::vector<Name> names = {};
    std::vector<std::int64_t> rows = {}, columns = {};
  } results_;
  bool is_waited_;
  std::size_t next_ = 0;  // in kWaitedOrder
};

// --- what the call means -------------------------------------------------------------------------

class AsyncGoal final : public NumberGoal {
 public:
  AsyncGoal(const Call& call, const ir::Block& code, Trial trial, Proof& proof, AsyncShared& shared,
            const bool& is_waited)
      : NumberGoal(call, code, trial, proof), shared_(shared), is_waited_(is_waited) {}

 private:
  Try<bool> prepare() override {
    static_assert(ir::kAsyncTransB == ir::kAsyncTransA + 1);
    sizes_ = WW_TRY(product_sizes(call_, values_, ir::kAsyncTransA));
    WW_TRY_VOID(matrix_extents(values_, call_.region(2)));
    for (const std::size_t i : {0U, 1U, 2U}) {
      auto inside = WW_TRY(read(call_.region(i)));
      if (!inside) return false;
      operands_[i] = std::move(inside->elements);
      if (operands_[i].names->has_aliases()) return unknown("elements that share a place");
    }
    const auto* accum = std::get_if<ir::ExprId>(&call_.tile.args[ir::kAsyncAccum]);
    adds_ = accum == nullptr ? ir::is_true(call_.tile.args[ir::kAsyncAccum])
                             : WW_TRY(values_.uniform(*accum)) != 0;
    const auto elements = static_cast<std::size_t>(sizes_.m * sizes_.n);
    std::vector<int> holders(elements);
    operands_[0].for_each(values_.threads(), [&](const RegisterPlace&, Name name) {
      ++holders[static_cast<std::size_t>(name)];
    });
    for (std::size_t x = 0; x < elements; ++x)
      if (holders[x] != 1) return unknown("{} threads hold element {} of C", holders[x], x);
    return true;
  }

  Try<void> compare() override {
    const auto elements = static_cast<std::size_t>(sizes_.m * sizes_.n);
    std::vector<Number>& old = shared_.old;
    while (old.size() < elements) old.push_back(number_of_old(old.size()));
    std::vector<Number> sums(old.begin(), old.begin() + static_cast<std::ptrdiff_t>(elements));
    AsyncWalk walk(call_, values_, sizes_, operands_, shared_, sums, is_waited_);
    WW_TRY_VOID(carry_out(walk));
    if (!walk.is_done()) return wrong("the code ends before its products are waited for");
    Number all = 0;
    for (std::int64_t k = 0; k < sizes_.k; ++k) all += number_of_k(k);
    for (std::size_t x = 0; x < elements; ++x)
      if (sums[x] != all + (adds_ ? old[x] : 0)) {
        const auto at = static_cast<std::int64_t>(x);
        return wrong("element ({}, {}) of C is another sum", at / sizes_.n, at % sizes_.n);
      }
    return {};
  }

  AsyncShared& shared_;
  bool is_waited_;
  ProductSizes sizes_;
  std::array<RegionElements, 3> operands_;
  bool adds_ = false;
};

}  // namespace

Proof prove_async_gemm(const Call& call, const ir::Block& code) {
  AsyncShared shared;
  const bool is_waited = false;
  return prove_with<AsyncGoal>(call, code, shared, is_waited);
}

Proof prove_waited_gemm(const Call& call, const ir::Block& code) {
  const Match<ir::TileCall> tile = async_form(call);
  if (!tile) return {.difference = {}, .could_not = tile.error().reason};
  AsyncShared shared;
  const bool is_waited = true;
  return prove_with<AsyncGoal>(with_tile(call, *tile), code, shared, is_waited);
}

}  // namespace ww::lower
