// SPDX-License-Identifier: Apache-2.0
// gemm_async into registers: C (+)= A·Bᵀ by its definition. Factors are read when the product starts,
// and C changes when its threads have waited for the group it was committed to; until then C must not
// be touched, nor the factors written. Products of one unit on one C follow each other: a later one
// adds to what an earlier one will leave.
#include <map>
#include <tuple>

#include "eval/cta/report.h"
#include "eval/memory/access.h"
#include "eval/sync/async_copies.h"
#include "eval/tile/primitives.h"
#include "eval/tile/product.h"
#include "ir/gemm_factors.h"
#include "ir/settings.h"

namespace ww::eval {
namespace {

/// What products of the unit that are under way will leave.
using Pending = std::map<std::tuple<std::int32_t, std::int64_t, Thread>, Content>;

auto place_of(const Element& element) {
  return std::tuple(element.at.root, element.at.bit, element.owner);
}

// In the order in which they were started.
Pending pending_of(const Cta& cta, const UnitInstance& unit) {
  Pending out;
  for (const std::optional<AsyncCopy>& copy : cta.async.in_flight)
    if (copy && copy->kind == AsyncKind::Product && copy->agent == unit.agent)
      for (const Transfer& transfer : copy->transfers)
        out[place_of(transfer.to)] = transfer.content;
  return out;
}

bool does_add(Cta& cta, const ir::TileArg& accum, const UnitInstance& unit) {
  const auto* expr = std::get_if<ir::ExprId>(&accum);
  if (expr == nullptr) return ir::is_true(accum);
  return uniform_int(cta, *expr, unit, "`accum`") != 0;
}

// C as it is when the product comes to it.
TileValues read_sums(Cta& cta, const Tile& c, const UnitInstance& unit, const Pending& pending) {
  TileValues out{.type = c.info->ir->dtype, .bits = std::vector<Word>(c.count), .undefined = {}};
  const Access by = access_of(cta, unit.agent);
  for (std::size_t x = 0; x < c.count; ++x) {
    const Element& element = c.elements[x * c.copies];
    const auto found = pending.find(place_of(element));
    out.bits[x] =
        found != pending.end() ? found->second.value : read_defined(cta, element, c.info->bits, by);
  }
  return out;
}

// Only products of the unit may be under way where another one will write.
void check_target(Cta& cta, const Element& element, int bits, const UnitInstance& unit) {
  Storage& storage = storage_of(cta, element);
  const std::int64_t bit = bit_of(cta, element);
  if (!storage.is_target(bit, bits) && !storage.is_source(bit, bits)) return;
  if (Finding* found = finding(cta, Check::Async, element); found != nullptr)
    found->text =
        fmt::format("{} of {} starts a product into {} while a {} {} it is under way",
                    agent_text(unit.agent), cta_text(cta), element_text(cta, element),
                    work_on(cta, element, bits), storage.is_target(bit, bits) ? "into" : "from");
}

void add_sources(Cta& cta, const Tile& tile, AsyncCopy& copy) {
  for (const Element& element : tile.elements)
    if (element.at.exists() && is_reachable(cta, element, tile.info->bits))
      copy.sources.emplace_back(element, tile.info->bits);
}

}  // namespace

void tile_gemm_async(Cta& cta, const ir::TileCall& call, const UnitInstance& unit) {
  std::array<Tile, 3> tiles;
  for (std::size_t k = 0; k < tiles.size(); ++k) {
    auto tile = make_tile(cta, std::get<ir::Region>(call.args[k]), unit);
    if (!tile) return;
    tiles[k] = *std::move(tile);
  }
  const auto& [c, a, b] = tiles;
  // B is (N, K) unless it is transposed.
  Product product{.turns_a = ir::is_true(call.args[ir::kAsyncTransA]),
                  .turns_b = !ir::is_true(call.args[ir::kAsyncTransB])};
  std::string_view why;
  if (!fit_sizes(c, a, b, product, why)) return tile_unsupported(cta, call, why);
  const bool adds = does_add(cta, call.args[ir::kAsyncAccum], unit);
  product.beta = adds ? 1 : 0;
  const TileValues a_values = read_tile(cta, a, unit, false);
  const TileValues b_values = read_tile(cta, b, unit, false);
  const Pending pending = pending_of(cta, unit);
  const TileValues sums = adds ? read_sums(cta, c, unit, pending) : TileValues{};
  TileValues out{.type = c.info->ir->dtype, .bits = std::vector<Word>(c.count), .undefined = {}};
  multiply(cta, product, a_values, b_values, sums, out);
  AsyncCopy copy{.kind = AsyncKind::Product, .agent = unit.agent};
  for (std::size_t i = 0; i < c.elements.size(); ++i) {
    const Element& element = c.elements[i];
    if (!element.at.exists() || !is_reachable(cta, element, c.info->bits)) continue;
    if (!pending.contains(place_of(element))) check_target(cta, element, c.info->bits, unit);
    copy.transfers.push_back({element, c.info->bits, {out.bits[i / c.copies], 0}});
  }
  add_sources(cta, a, copy);
  add_sources(cta, b, copy);
  start_copy(cta, std::move(copy), unit.threads);
}

}  // namespace ww::eval
