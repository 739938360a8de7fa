// SPDX-License-Identifier: Apache-2.0
// Remarks on matrix products of warpgroups (`wgmma`, GMMA in SASS) in loops: whether one is in flight
// while the next is issued, and what moves between the registers that they use. A listing has no lines
// for GMMA itself, so that a remark has the line of the wait, of the fence or of the first move.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "runtime/sass/remarks.h"

namespace ww::runtime {
namespace {

// As many moves in a round are worth a word.
constexpr std::uint32_t kMinMoves = 8;
// Of a product with both descriptors in uniform registers, none moves; one descriptor is two.
constexpr std::uint32_t kMinDescriptorMoves = 2;

// HGMMA, QGMMA, IGMMA, BGMMA.
bool is_product(const SassInstruction& each) {
  return each.opcode.size() > 1 && each.opcode.substr(1).starts_with("GMMA.");
}
bool is_wait(const SassInstruction& each) { return each.opcode.starts_with("WARPGROUP.DEPBAR"); }

// The products whose innermost loop this is.
struct ProductLoop {
  const SassLoop* loop = nullptr;
  std::vector<std::size_t> products = {};
};

std::vector<ProductLoop> product_loops(const SassView& view) {
  std::map<std::size_t, ProductLoop> out;
  for (std::size_t i = 0; i < view.function.code.size(); ++i) {
    if (view.depths[i] == 0 || !is_product(view.function.code[i])) continue;
    const SassLoop* const loop = view.innermost(i);
    ProductLoop& products = out[loop->first];
    products.loop = loop;
    products.products.push_back(i);
  }
  std::vector<ProductLoop> list;
  for (auto& [first, each] : out) list.push_back(std::move(each));
  return list;
}

// The first instruction of a loop that is such a one; nullptr: none.
template <typename Is>
const SassInstruction* first_in(const SassView& view, const SassLoop& loop, Is&& is) {
  for (const std::size_t i : loop.code)
    if (is(view.function.code[i])) return &view.function.code[i];
  return nullptr;
}

// Each product has a wait for all of them behind it, before the next.
bool is_serial(const SassView& view, const SassLoop& loop) {
  bool in_flight = false;
  for (const std::size_t i : loop.code) {
    const SassInstruction& each = view.function.code[i];
    if (is_wait(each) && each.operands.ends_with("0x0")) in_flight = false;
    if (!is_product(each)) continue;
    if (in_flight) return false;
    in_flight = true;
  }
  return !in_flight;
}

void add_serial(const SassView& view, const ProductLoop& each, std::vector<SassRemark>& out) {
  if (!is_serial(view, *each.loop)) return;
  const SassInstruction& wait = *first_in(view, *each.loop, is_wait);
  out.push_back({SassKind::SerialProducts, wait.line,
                 static_cast<std::uint32_t>(each.products.size()), each.loop->depth,
                 std::string(wait.opcode),
                 fmt::format("each of {} products {} is waited for before the next is issued: the "
                             "tensor cores idle; issue several in one group, or wait for all but "
                             "the last group",
                             each.products.size(), loop_text(each.loop->depth))});
}

// The number of "R24"; nothing for RZ, uniform registers and constants.
std::optional<unsigned> register_in(std::string_view operand) {
  while (operand.starts_with(' ')) operand.remove_prefix(1);
  if (!operand.starts_with('R')) return std::nullopt;
  unsigned out = 0;
  const char* const end = operand.data() + operand.size();
  const auto [rest, error] = std::from_chars(operand.data() + 1, end, out);
  if (error != std::errc()) return std::nullopt;
  return out;
}

struct Registers {
  unsigned begin = 0, end = 0;
  [[nodiscard]] bool has(unsigned number) const { return begin <= number && number < end; }
};

// Those of the result: from "HGMMA.64x128x16.F32 R24, …", 64 registers from R24 on.
std::optional<Registers> accumulator(const SassInstruction& product) {
  const std::size_t begin = product.opcode.find('x');
  const auto first = register_in(product.operands);
  if (begin == std::string_view::npos || !first) return std::nullopt;
  unsigned columns = 0;
  const std::string_view rest = product.opcode.substr(begin + 1);
  if (std::from_chars(rest.data(), rest.data() + rest.size(), columns).ec != std::errc())
    return std::nullopt;
  const bool is_half = product.opcode.ends_with(".F16");
  return Registers{*first, *first + columns / (is_half ? 4 : 2)};
}

// From one register to another, of which one is an accumulator's.
bool moves_accumulator(const SassInstruction& each, const std::vector<Registers>& accumulators) {
  if (each.opcode != "MOV" && each.opcode != "IMAD.MOV.U32") return false;
  const auto to = register_in(each.operands);
  const auto from = register_in(each.operands.substr(each.operands.find_last_of(',') + 1));
  if (!to || !from) return false;
  return std::ranges::any_of(
      accumulators, [&](const Registers& range) { return range.has(*to) || range.has(*from); });
}

void add_moves(const SassView& view, const ProductLoop& each, std::vector<SassRemark>& out) {
  std::vector<Registers> accumulators;
  for (const std::size_t i : each.products)
    if (const auto range = accumulator(view.function.code[i])) accumulators.push_back(*range);
  const auto is_move = [&](const SassInstruction& one) {
    return moves_accumulator(one, accumulators);
  };
  std::uint32_t count = 0;
  for (const std::size_t i : each.loop->code) count += is_move(view.function.code[i]) ? 1U : 0U;
  if (count < kMinMoves) return;
  const SassInstruction& first = *first_in(view, *each.loop, is_move);
  out.push_back(
      {SassKind::AccumulatorMoves, first.line, count, each.loop->depth, std::string(first.opcode),
       fmt::format("{} moves between registers of accumulators {}; keep each result in the same "
                   "variables in all rounds, or unroll the loop over those that change places",
                   count, loop_text(each.loop->depth))});
}

void add_descriptor_moves(const SassView& view, const ProductLoop& each,
                          std::vector<SassRemark>& out) {
  const auto is_move = [](const SassInstruction& one) { return one.opcode.starts_with("R2UR"); };
  std::uint32_t count = 0;
  for (const std::size_t i : each.loop->code) count += is_move(view.function.code[i]) ? 1U : 0U;
  if (count < kMinDescriptorMoves * each.products.size()) return;
  const auto is_fence = [](const SassInstruction& one) {
    return one.opcode.starts_with("WARPGROUP.ARRIVE");
  };
  const SassInstruction* const fence = first_in(view, *each.loop, is_fence);
  const SassInstruction& first = fence != nullptr ? *fence : *first_in(view, *each.loop, is_move);
  out.push_back(
      {SassKind::DescriptorMoves, first.line, count, each.loop->depth, "R2UR",
       fmt::format("{} moves to uniform registers for {} products {}: ptxas cannot tell that a "
                   "descriptor is the same in all lanes; compute it from values that are, such as "
                   "parameters, or of `shfl.sync.idx` from lane 0",
                   count, each.products.size(), loop_text(each.loop->depth))});
}

}  // namespace

void add_product_remarks(const SassView& view, std::vector<SassRemark>& out) {
  for (const ProductLoop& each : product_loops(view)) {
    add_serial(view, each, out);
    add_moves(view, each, out);
    add_descriptor_moves(view, each, out);
  }
}

}  // namespace ww::runtime
