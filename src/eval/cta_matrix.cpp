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
//   tcgen05 32x32b       register r of lane l of warp w: lane 32·(w % 4) + l, column C0 + r
#include <algorithm>
#include <array>

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

void Cta::ptx_tmem_alloc(const PtxCall& call, Threads ts) {
  each_warp(ts, [&](Threads warp) {
    const std::vector<Place> places = ptx_address(call.operands[0], warp);
    const Word columns = ptx_int(call.operands[1], warp)[0];
    std::size_t first = 0;
    const auto is_free = [&](std::size_t at) {
      return std::none_of(tmem_used_.begin() + static_cast<std::ptrdiff_t>(at),
                          tmem_used_.begin() + static_cast<std::ptrdiff_t>(at + columns),
                          [](bool used) { return used; });
    };
    while (first + columns <= tmem_used_.size() && !is_free(first)) first += 32;
    if (columns == 0 || first + columns > tmem_used_.size()) {
      if (Finding* found = finding(Check::Tensor); found != nullptr)
        found->text =
            fmt::format("{} asks for {} columns of tensor memory, and there are not as many",
                        cta_text(), columns);
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

void Cta::ptx_tmem_move(const PtxCall& call, Threads ts, bool is_load) {
  const auto count = static_cast<std::size_t>(count_of(call.opcode, 'x'));
  const ir::PtxOperand& address = call.operands[is_load ? count : 0];
  each_warp(ts, [&](Threads warp) {
    const Words addresses = ptx_int(address, warp);
    const auto base = static_cast<std::int64_t>(addresses[0] & low_mask(32));
    const std::int64_t quarter = warp[0] / static_cast<std::int64_t>(kLanes) % 4 * 32;
    // A warp reaches its own quarter only; lane 0 stands for it, too.
    if (base >> 16 != 0 && base >> 16 != quarter)
      if (Finding* found = finding(Check::Tensor); found != nullptr)
        found->text =
            fmt::format("{} of {} names lane {} of tensor memory: its lanes begin at {}",
                        agent_text({AgentKind::Warp, static_cast<std::uint16_t>(warp[0] / kLanes)}),
                        cta_text(), base >> 16, quarter);
    Copy copy{.kind = is_load ? AsyncKind::TmemLoad : AsyncKind::TmemStore,
              .agent = {AgentKind::Warp, static_cast<std::uint16_t>(warp[0] / kLanes)}};
    for (std::size_t r = 0; r < count; ++r) {
      Words values = constant(0, warp.size());
      Words undefined = constant(0, warp.size());
      if (!is_load) values = ptx_value(call.operands[r + 1], warp, kRegister, &undefined);
      for (std::size_t i = 0; i < warp.size(); ++i) {
        const std::int64_t lane = quarter + warp[i] % static_cast<std::int64_t>(kLanes);
        const std::int64_t column = (base & 0xffff) + static_cast<std::int64_t>(r);
        Element cell = element_at({k_.tmem, lane * kTmemLaneBits + column * 32}, warp[i]);
        if (column >= kTmemColumns) cell.place.root = kNoRoot;
        if (is_load)
          values[i] = read(cell, kRegister, access_of(thread_agent(warp[i])), undefined[i]);
        if (!is_reachable(cell, kRegister)) continue;
        if (is_load)
          copy.sources.emplace_back(cell, kRegister);
        else
          copy.transfers.push_back(
              {cell, kRegister, values[i] & low_mask(kRegister), undefined[i]});
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
