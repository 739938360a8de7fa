// SPDX-License-Identifier: Apache-2.0
// Instructions of whole warps: matrix fragments and tensor memory. Which lane holds what:
//
//   ldmatrix, stmatrix   register j is of matrix j: lane l holds row l / 4, columns 2·(l % 4) and
//                        the next; lane 8·j + r gives the address of row r. `trans` swaps rows and
//                        columns
//   mma m16n8k16         g = l / 4, t = l % 4
//     A (16 x k)         register r: row g + 8·(r % 2), columns 2·t + 8·(r / 2) and the next
//     B (k x 8)          register r: column g, rows 2·t + 8·r and the next
//     C, D (16 x 8)      register r: row g + 8·(r / 2), column 2·t + r % 2
//   tcgen05.ld, .st      register r of lane l is a cell of tensor memory; what each bit of the two
//                        numbers adds to its lane and column: `kMoves` below
#include <algorithm>
#include <array>
#include <bit>

#include "eval/cta.h"

namespace ww::eval {
namespace {

using ir::PtxCall;

constexpr std::size_t kLanes = 32;
constexpr int kRegister = 32;
constexpr int kHalf = 16;

// The lanes of each warp.
template <typename Visit>
void each_warp(Threads ts, const Visit& visit) {
  for (std::size_t i = 0; i < ts.size();) {
    std::size_t j = i;
    while (j < ts.size() && ts[j] / kLanes == ts[i] / kLanes) ++j;
    visit(ts.subspan(i, j - i));
    i = j;
  }
}

// Half h of lane l's register for matrix j: which lane gives the row it lies in, and where there.
struct MatrixHalf {
  std::size_t giver;
  std::int64_t bit;
};
MatrixHalf matrix_half(std::size_t j, std::size_t l, std::size_t h, bool is_transposed) {
  std::size_t row = l / 4;
  std::size_t column = 2 * (l % 4) + h;
  if (is_transposed) std::swap(row, column);
  return {8 * j + row, static_cast<std::int64_t>(column) * kHalf};
}

}  // namespace

void Cta::ptx_load_matrix(const PtxCall& call, Threads ts) {
  const auto count = static_cast<std::size_t>(count_of(call.opcode, 'x'));
  const bool is_transposed = has_part(call.opcode, "trans");
  each_warp(ts, [&](Threads warp) {
    if (warp.size() != kLanes) return;
    const std::vector<Place> rows = ptx_address(call.operands[count], warp);
    for (std::size_t j = 0; j < count; ++j) {
      Words values = constant(0, kLanes);
      Words undefined = constant(0, kLanes);
      for (std::size_t l = 0; l < kLanes; ++l)
        for (std::size_t h = 0; h < 2; ++h) {
          const auto [giver, bit] = matrix_half(j, l, h, is_transposed);
          Element element = element_at(rows[giver], warp[giver]);
          element.place.bit += bit;
          Word bad = 0;
          const Word half = read(element, kHalf, access_of(thread_agent(warp[giver])), bad);
          values[l] |= half << (kHalf * h);
          undefined[l] |= bad << (kHalf * h);
        }
      ptx_put(call.operands[j], warp, kRegister, values, &undefined);
    }
  });
}

void Cta::ptx_store_matrix(const PtxCall& call, Threads ts) {
  const auto count = static_cast<std::size_t>(count_of(call.opcode, 'x'));
  const bool is_transposed = has_part(call.opcode, "trans");
  each_warp(ts, [&](Threads warp) {
    if (warp.size() != kLanes) return;
    const std::vector<Place> rows = ptx_address(call.operands[0], warp);
    for (std::size_t j = 0; j < count; ++j) {
      Words undefined = constant(0, 0);
      const Words values = ptx_value(call.operands[j + 1], warp, kRegister, &undefined);
      for (std::size_t l = 0; l < kLanes; ++l)
        for (std::size_t h = 0; h < 2; ++h) {
          const auto [giver, bit] = matrix_half(j, l, h, is_transposed);
          Element element = element_at(rows[giver], warp[giver]);
          element.place.bit += bit;
          write(element, kHalf, values[l] >> (kHalf * h) & 0xffff,
                undefined[l] >> (kHalf * h) & 0xffff, access_of(thread_agent(warp[giver])));
        }
    }
  });
}

void Cta::ptx_mma(const PtxCall& call, Threads ts) {
  const bool is_k16 = has_part(call.opcode, "m16n8k16");
  const std::size_t depth = is_k16 ? 16 : 8;
  const std::size_t a_regs = is_k16 ? 4 : 2;
  const std::size_t b_regs = is_k16 ? 2 : 1;
  const num::DType type =
      has_part(call.opcode, "bf16") ? num::DType::Bfloat16 : num::DType::Float16;
  each_warp(ts, [&](Threads warp) {
    if (warp.size() != kLanes) return;
    std::array<double, 16 * 16> a{};
    std::array<double, 16 * 8> b{};
    std::array<double, 16 * 8> c{};
    const auto half = [&](const Words& values, std::size_t l, std::size_t h) {
      return as_real(type, values[l] >> (kHalf * h) & 0xffff);
    };
    for (std::size_t r = 0; r < a_regs; ++r) {
      const Words values = ptx_value(call.operands[4 + r], warp, kRegister, nullptr);
      for (std::size_t l = 0; l < kLanes; ++l)
        for (std::size_t h = 0; h < 2; ++h)
          a[(l / 4 + 8 * (r % 2)) * 16 + 2 * (l % 4) + 8 * (r / 2) + h] = half(values, l, h);
    }
    for (std::size_t r = 0; r < b_regs; ++r) {
      const Words values = ptx_value(call.operands[4 + a_regs + r], warp, kRegister, nullptr);
      for (std::size_t l = 0; l < kLanes; ++l)
        for (std::size_t h = 0; h < 2; ++h)
          b[(2 * (l % 4) + 8 * r + h) * 8 + l / 4] = half(values, l, h);
    }
    for (std::size_t r = 0; r < 4; ++r) {
      const Words values =
          ptx_value(call.operands[4 + a_regs + b_regs + r], warp, kRegister, nullptr);
      for (std::size_t l = 0; l < kLanes; ++l)
        c[(l / 4 + 8 * (r / 2)) * 8 + 2 * (l % 4) + r % 2] =
            as_real(num::DType::Float32, values[l]);
    }
    for (std::size_t m = 0; m < 16; ++m)
      for (std::size_t n = 0; n < 8; ++n)
        for (std::size_t k = 0; k < depth; ++k) c[m * 8 + n] += a[m * 16 + k] * b[k * 8 + n];
    for (std::size_t r = 0; r < 4; ++r) {
      Words values(run_.pool, kLanes);
      for (std::size_t l = 0; l < kLanes; ++l)
        values[l] =
            from_real(num::DType::Float32, c[(l / 4 + 8 * (r / 2)) * 8 + 2 * (l % 4) + r % 2]);
      ptx_put(call.operands[r], warp, kRegister, values, nullptr);
    }
  });
}

// --- tensor memory -----------------------------------------------------------------------------

namespace {

constexpr std::int64_t kQuarter = 32;  // lanes of tensor memory that a warp reaches

struct Cell {
  std::int64_t lane = 0;
  std::int64_t column = 0;
};
// A shape of tcgen05.ld and .st. Bit b of a lane's number adds `lanes[b]`, bit b of a register's
// `registers[b]` for the first two bits, and `rest` columns, doubled from bit to bit, for others.
struct Move {
  std::string_view shape;
  std::array<Cell, 5> lanes;
  std::array<Cell, 2> registers;
  std::int64_t rest;
  std::int64_t first_lanes = 16;  // a move begins at a multiple of it
  bool is_split = false;          // lanes from 16 on add a number to the address
};
// clang-format off
constexpr Move kMoves[] = {
    {"32x32b",   {{{1, 0}, {2, 0}, {4, 0}, {8, 0}, {16, 0}}}, {{{0, 1}, {0, 2}}}, 4, 32},
    {"16x64b",   {{{8, 0}, {0, 1}, {1, 0}, {2, 0}, {4, 0}}},  {{{0, 2}, {0, 4}}}, 8},
    {"16x128b",  {{{0, 1}, {0, 2}, {1, 0}, {2, 0}, {4, 0}}},  {{{8, 0}, {0, 4}}}, 8},
    {"16x256b",  {{{0, 2}, {0, 4}, {1, 0}, {2, 0}, {4, 0}}},  {{{0, 1}, {8, 0}}}, 8},
    {"16x32bx2", {{{1, 0}, {2, 0}, {4, 0}, {8, 0}, {0, 0}}},  {{{0, 1}, {0, 2}}}, 4, 16, true},
};
// clang-format on

const Move& move_of(std::string_view opcode) {
  for (const Move& move : kMoves)
    if (has_part(opcode, move.shape)) return move;
  return kMoves[0];
}

Cell cell_of(const Move& move, std::size_t lane, std::size_t reg) {
  Cell out;
  const auto add = [&](std::size_t number, std::size_t bit, const Cell& step) {
    if ((number >> bit & 1) == 0) return;
    out.lane += step.lane;
    out.column += step.column;
  };
  for (std::size_t b = 0; b < move.lanes.size(); ++b) add(lane, b, move.lanes[b]);
  for (std::size_t b = 0; b < move.registers.size(); ++b) add(reg, b, move.registers[b]);
  out.column += static_cast<std::int64_t>(reg >> move.registers.size()) * move.rest;
  return out;
}

Cell address_cell(std::uint32_t address) { return {address >> 16, address & 0xffff}; }

bool is_legal_count(Word columns) {
  return columns >= 32 && columns <= static_cast<Word>(kTmemColumns) &&
         std::has_single_bit(columns);
}

}  // namespace

void Cta::ptx_tmem_alloc(const PtxCall& call, Threads ts) {
  each_warp(ts, [&](Threads warp) {
    const std::vector<Place> places = ptx_address(call.operands[0], warp);
    const Word columns = ptx_int(call.operands[1], warp)[0] & low_mask(32);
    const auto report = [&](std::string_view why) {
      if (Finding* found = finding(Check::Tensor); found != nullptr)
        found->text =
            fmt::format("{} asks for {} columns of tensor memory{}", cta_text(), columns, why);
    };
    if (tmem_relinquished_) report(" after `tcgen05.relinquish_alloc_permit`");
    if (!is_legal_count(columns)) {
      report(", expected 32, 64, 128, 256 or 512");
      return;
    }
    std::size_t first = 0;
    const auto is_free = [&](std::size_t at) {
      return std::none_of(tmem_used_.begin() + static_cast<std::ptrdiff_t>(at),
                          tmem_used_.begin() + static_cast<std::ptrdiff_t>(at + columns),
                          [](bool used) { return used; });
    };
    while (first + columns <= tmem_used_.size() && !is_free(first)) first += 32;
    if (first + columns > tmem_used_.size()) {
      report(", and there are not as many");
      return;
    }
    std::fill_n(tmem_used_.begin() + static_cast<std::ptrdiff_t>(first), columns, true);
    tmem_allocations_[static_cast<std::uint32_t>(first)] = {static_cast<std::uint32_t>(columns),
                                                            op_};
    write(element_at(places[0], warp[0]), kRegister, first, 0, access_of(thread_agent(warp[0])));
  });
}

void Cta::ptx_tmem_free(const PtxCall& call, Threads ts) {
  each_warp(ts, [&](Threads warp) {
    const auto address = static_cast<std::uint32_t>(ptx_int(call.operands[0], warp)[0]);
    const Word columns = ptx_int(call.operands[1], warp)[0];
    const auto found = tmem_allocations_.find(address);
    if (found == tmem_allocations_.end() || found->second.first != columns) {
      if (Finding* report = finding(Check::Tensor); report != nullptr)
        report->text = fmt::format(
            "{} gives back {} columns of tensor memory at {:#x}, which were not allocated so",
            cta_text(), columns, address);
      return;
    }
    std::fill_n(tmem_used_.begin() + address, columns, false);
    if (k_.tmem != kNoRoot)
      for (std::size_t lane = 0; lane < static_cast<std::size_t>(kTmemLanes); ++lane)
        storage_of(k_.tmem).forget(lane * kTmemLaneBits / 8 + address * 4U, columns * 4);
    tmem_allocations_.erase(found);
  });
}

// The address of a load or store, the same in all lanes, at a multiple of `step` lanes. A warp
// reaches its own quarter only; an address in the first one stands for the same lanes of it.
std::uint32_t Cta::tmem_address(const ir::PtxOperand& operand, std::int64_t step, Threads warp) {
  Words addresses = ptx_int(operand, warp);
  if (operand.offset.valid()) {
    const Words offsets = eval(operand.offset, warp);
    for (std::size_t i = 0; i < warp.size(); ++i)
      addresses[i] += static_cast<Word>(as_int(type_of(operand.offset), offsets[i]));
  }
  for (Word& address : addresses) address &= low_mask(32);
  const auto address = static_cast<std::uint32_t>(addresses[0]);
  const std::int64_t lane = address_cell(address).lane;
  const std::int64_t first = warp[0] / kQuarter % 4 * kQuarter;
  std::string why;
  if (std::any_of(addresses.begin(), addresses.end(), [&](Word a) { return a != addresses[0]; }))
    why = "names different addresses in its lanes";
  else if (lane / kQuarter != 0 && lane / kQuarter != first / kQuarter)
    why = fmt::format("names lane {} of tensor memory: its lanes begin at {}", lane, first);
  else if (lane % step != 0)
    why = fmt::format("names lane {} of tensor memory, expected a multiple of {}", lane, step);
  if (!why.empty())
    if (Finding* found = finding(Check::Tensor); found != nullptr)
      found->text =
          fmt::format("{} of {} {}",
                      agent_text({AgentKind::Warp, static_cast<std::uint16_t>(warp[0] / kLanes)}),
                      cta_text(), why);
  const std::int64_t own = lane % kQuarter / step * step;
  return static_cast<std::uint32_t>(first + own) << 16 | (address & 0xffff);
}

// Cell of a register, if it is one that the warp reaches.
Element Cta::tmem_cell(std::uint32_t address, std::int64_t lane, std::int64_t column, Thread t) {
  const Cell base = address_cell(address);
  const Cell at{base.lane + lane, base.column + column};
  Element out = element_at({k_.tmem, at.lane * kTmemLaneBits + at.column * kRegister}, t);
  if (at.column >= kTmemColumns || at.lane / kQuarter != t / kQuarter % 4) {
    out.place.root = kNoRoot;
    if (Finding* found = finding(Check::Tensor); found != nullptr)
      found->text = fmt::format(
          "{} of {} reaches for lane {}, column {} of tensor memory: it has lanes {} to {} and {} "
          "columns",
          thread_text(t), cta_text(), at.lane, at.column, t / kQuarter % 4 * kQuarter,
          t / kQuarter % 4 * kQuarter + kQuarter - 1, kTmemColumns);
  }
  return out;
}

void Cta::ptx_tmem_move(const PtxCall& call, Threads ts, bool is_load) {
  const Move& move = move_of(call.opcode);
  const bool is_packed = has_part(call.opcode, is_load ? "pack::16b" : "unpack::16b");
  const int bits = is_packed ? kHalf : kRegister;
  const std::size_t parts = is_packed ? 2 : 1;
  const std::size_t others = move.is_split ? 2 : 1;  // operands that are no registers
  const std::size_t count = call.operands.size() - others;
  const std::size_t first = is_load ? 0 : others;
  const std::size_t where = is_load ? count : 0;
  each_warp(ts, [&](Threads warp) {
    const std::uint32_t base = tmem_address(call.operands[where], move.first_lanes, warp);
    const auto split =
        move.is_split ? static_cast<std::uint32_t>(ptx_int(call.operands[where + 1], warp)[0]) : 0;
    Copy copy{.kind = is_load ? AsyncKind::TmemLoad : AsyncKind::TmemStore,
              .agent = {AgentKind::Warp, static_cast<std::uint16_t>(warp[0] / kLanes)}};
    for (std::size_t r = 0; r < count; ++r) {
      Words values = constant(0, warp.size());
      Words undefined = constant(0, warp.size());
      if (!is_load) values = ptx_value(call.operands[first + r], warp, kRegister, &undefined);
      for (std::size_t i = 0; i < warp.size(); ++i) {
        const std::size_t l = warp[i] % kLanes;
        const std::uint32_t address = base + (move.is_split && l >= kLanes / 2 ? split : 0);
        const Cell at = cell_of(move, l, r);
        for (std::size_t part = 0; part < parts; ++part) {
          const auto column =
              at.column * static_cast<std::int64_t>(parts) + static_cast<std::int64_t>(part);
          const Element cell = tmem_cell(address, at.lane, column, warp[i]);
          const auto shift = static_cast<unsigned>(kHalf * part);
          if (cell.place.root == kNoRoot || !is_reachable(cell, bits)) continue;
          if (is_load) {
            Word bad = 0;
            values[i] |= read(cell, bits, access_of(thread_agent(warp[i])), bad) << shift;
            undefined[i] |= bad << shift;
            copy.sources.emplace_back(cell, bits);
          } else {
            copy.transfers.push_back({cell, bits, values[i] >> shift & low_mask(bits),
                                      undefined[i] >> shift & low_mask(bits)});
          }
        }
      }
      if (is_load) add_register_transfers(copy, call.operands[r], warp, values, undefined);
    }
    start_copy(std::move(copy), warp);
  });
}

// The registers that a load will write.
void Cta::add_register_transfers(Copy& copy, const ir::PtxOperand& operand, Threads warp,
                                 const Words& values, const Words& undefined) {
  if (operand.kind == ir::PtxOperand::Kind::Sink) return;
  const ir::Expr& expr = (*f_)[operand.expr];
  const bool is_element = operand.kind != ir::PtxOperand::Kind::At && expr.op == ir::ExprOp::Load;
  if (is_element) {
    const std::vector<Element> elements = locate(k_.info(expr.buffer), expr.args, 1, warp);
    const int bits = k_.info(expr.buffer).bits;
    for (std::size_t i = 0; i < warp.size(); ++i)
      if (elements[i].place.root != kNoRoot && is_reachable(elements[i], bits))
        copy.transfers.push_back(
            {elements[i], bits, values[i] & low_mask(bits), undefined[i] & low_mask(bits)});
    return;
  }
  const Words pointers = eval(operand.expr, warp);
  for (std::size_t i = 0; i < warp.size(); ++i) {
    const Element element = element_at(place_at(pointers[i]), warp[i]);
    if (is_reachable(element, kRegister))
      copy.transfers.push_back({element, kRegister, values[i], undefined[i]});
  }
}

}  // namespace ww::eval
