// SPDX-License-Identifier: Apache-2.0
#include "eval/cta/report.h"
#include "eval/expr/expressions.h"
#include "eval/memory/access.h"
#include "eval/memory/address.h"
#include "eval/sync/async_copies.h"
#include "eval/tile/operands.h"
#include "eval/tile/primitives.h"
#include "eval/value/arithmetic.h"
#include "ir/settings.h"

namespace ww::eval {
namespace {

// Does the unit's predicate hold?
bool does_copy(Cta& cta, const ir::CopySettings& settings, const UnitInstance& unit) {
  if (settings.predicate == nullptr) return true;
  if (const bool* flag = std::get_if<bool>(settings.predicate)) return *flag;
  return uniform_int(cta, std::get<ir::ExprId>(*settings.predicate), unit, "`predicate`") != 0;
}

// The value that arrives instead of what is not copied, as bits of `type`.
Word fill_bits(Cta& cta, const ir::CopySettings& settings, const UnitInstance& unit,
               num::DType type) {
  if (settings.fill_value == nullptr) return 0;
  Tile one;
  one.count = 1;
  TileValues value;
  if (!read_operand(cta, ir::TileArg(*settings.fill_value), unit, one, value)) return 0;
  return convert(value.type, type, value.bits[0]);
}

// Of what the buffer does not have; all of it where nothing is copied.
void fill_up(const Tile& from, Word bits, TileValues& values) {
  for (std::size_t x = 0; x < values.bits.size(); ++x)
    if (from.copies == 0 || (!from.outside.empty() && from.outside[x])) values.bits[x] = bits;
}

// What the predicate does not hold for is not read: it lies outside the source. Without a value that
// arrives instead, it is not written either. False: stopped, or a finding.
bool apply_predicate(Cta& cta, const ir::TileCall& call, const UnitInstance& unit, Tile& to,
                     Tile& from) {
  const ir::CopySettings settings = ir::copy_settings(call);
  if (settings.predicate_tile == nullptr) return true;
  TileValues holds;
  if (!read_operand(cta, ir::TileArg(*settings.predicate_tile), unit, to, holds)) return false;
  const auto leave_out = [](Tile& tile, std::size_t x) {
    for (std::size_t c = 0; c < tile.copies; ++c)
      tile.elements[x * tile.copies + c].at = {.root = kNoRoot};
  };
  from.outside.resize(from.count);
  for (std::size_t x = 0; x < holds.bits.size(); ++x) {
    if (holds.bits[x] != 0) continue;
    leave_out(from, x);
    from.outside[x] = true;
    if (!settings.fills) leave_out(to, x);
  }
  return true;
}

// The address of the mbarrier that a setting gives.
Address mbarrier_of(Cta& cta, const ir::Setting& setting, const UnitInstance& unit) {
  const ir::ExprId pointer = std::get<ir::ExprId>(setting);
  const Word value = evaluate(cta, pointer, unit.threads)[0];
  return address_from(cta, cta.f[pointer].type, value);
}

// The CTAs of the cluster that get the copy.
Word cta_mask_of(Cta& cta, const ir::Setting& setting, const UnitInstance& unit) {
  if (const auto* number = std::get_if<std::int64_t>(&setting)) return static_cast<Word>(*number);
  return evaluate(cta, std::get<ir::ExprId>(setting), unit.threads)[0];
}

// The CTA that `remote_cta_id` names.
std::int64_t remote_rank(Cta& cta, const ir::TileCall& call, const UnitInstance& unit) {
  const ir::Setting& setting = *ir::find_setting(call, "remote_cta_id");
  if (const auto* number = std::get_if<std::int64_t>(&setting)) return *number;
  return uniform_int(cta, std::get<ir::ExprId>(setting), unit, "`remote_cta_id`");
}

// Moves a tile to the same places of another CTA; false, and a finding, when there is none.
bool move_to_cta(Cta& cta, Tile& tile, std::int64_t rank) {
  for (Element& element : tile.elements) {
    if (!element.at.exists()) continue;
    element.at = address_in(cta, element.at, rank);
    if (!element.at.exists()) return false;
  }
  return true;
}

// `mbarrier`: the copy engine makes the copy, and this hears of its bytes.
void start_async(Cta& cta, const ir::TileCall& call, const Tile& to, const Tile& from, Word fill,
                 const UnitInstance& unit, std::optional<Address> mbarrier) {
  const ir::Scope target = to.info->ir->scope;
  const ir::Scope source = from.info->ir->scope;
  AsyncCopy copy{.kind = AsyncKind::Group, .agent = unit.agent};
  copy.reduce = ir::box_reduce(call);
  copy.dtype = to.info->ir->dtype;
  if (target == ir::Scope::Local && source == ir::Scope::Tmem)
    copy.kind = AsyncKind::TmemLoad;
  else if (target == ir::Scope::Tmem && source == ir::Scope::Local)
    copy.kind = AsyncKind::TmemStore;
  else if (target == ir::Scope::Tmem && ir::is_shared(source) && unit.size == 1)
    copy.kind = AsyncKind::Tensor;  // who starts it is who commits
  else if (target == ir::Scope::Global && ir::is_shared(source))
    copy.kind = AsyncKind::Bulk;
  else if (ir::is_shared(target) && source != ir::Scope::Tmem && mbarrier)
    copy.kind = AsyncKind::Counted;
  else if (!ir::is_shared(target) || source != ir::Scope::Global)
    return stop(cta, DiagKind::NotEvaluated,
                fmt::format("`copy_async` from {} to {} by {} is not evaluated",
                            ir::name_of(source), ir::name_of(target), agent_text(unit.agent)));
  TileValues values = read_tile(cta, from, unit, true);
  fill_up(from, fill, values);
  for (std::size_t i = 0; i < to.elements.size(); ++i) {
    const Element& element = to.elements[i];
    if (!element.at.exists() || !is_reachable(cta, element, to.info->bits)) continue;
    copy.transfers.push_back(
        {element, to.info->bits, {values.bits[i / to.copies], values.undefined[i / to.copies]}});
  }
  // Registers are read when the copy starts.
  if (source != ir::Scope::Local)
    for (const Element& element : from.elements)
      if (element.at.exists() && is_reachable(cta, element, from.info->bits))
        copy.sources.emplace_back(element, from.info->bits);
  if (copy.kind != AsyncKind::Counted) return start_copy(cta, std::move(copy), unit.threads);
  copy.counted = static_cast<std::int64_t>(to.count) * to.info->bits / 8;
  if (const ir::Setting* mask = ir::cta_mask_setting(call))
    return start_multicast(cta, copy, *mbarrier, unit.first, cta_mask_of(cta, *mask, unit));
  start_counted(cta, std::move(copy), *mbarrier, unit.first);
}

}  // namespace

void tile_copy(Cta& cta, const ir::TileCall& call, const UnitInstance& unit) {
  const ir::CopySettings settings = ir::copy_settings(call);
  const bool copies = does_copy(cta, settings, unit);
  if (!copies && !settings.fills) return;
  auto to = make_tile(cta, std::get<Region>(call.args[0]), unit, settings.clips);
  if (!to) return;
  const Region& source = std::get<Region>(call.args[1]);
  auto from = copies ? make_tile(cta, source, unit, settings.fills)
                     : Tile{.info = &cta.launch.info(source.buffer),  // without a place
                            .extents = to->extents,
                            .count = to->count,
                            .copies = 0};
  if (!from) return;
  const ir::Buffer& target_buffer = *to->info->ir;
  const bool is_async = call.op == ir::TileOp::CopyAsync;
  const bool is_by_width = is_async && target_buffer.scope == ir::Scope::Tmem;
  if (is_by_width ? to->info->bits != from->info->bits
                  : target_buffer.dtype != from->info->ir->dtype)
    return tile_unsupported(cta, call, "the element types differ");
  if (squeezed(to->extents) != squeezed(from->extents))
    return tile_unsupported(cta, call, "the regions differ in shape");
  if (!apply_predicate(cta, call, unit, *to, *from)) return;
  const Word fill = fill_bits(cta, settings, unit, target_buffer.dtype);
  std::optional<Address> mbarrier;
  if (const ir::Setting* setting = ir::mbarrier_setting(call); is_async && setting != nullptr)
    mbarrier = mbarrier_of(cta, *setting, unit);
  if (const auto remote = ir::remote_operand(cta.f, call)) {
    const std::int64_t rank = remote_rank(cta, call, unit);
    if (!move_to_cta(cta, *remote == 0 ? *to : *from, rank)) return;
    if (mbarrier) mbarrier = address_in(cta, *mbarrier, rank);
  }
  if (is_async) return start_async(cta, call, *to, *from, fill, unit, mbarrier);
  const Tile* readers = target_buffer.scope == ir::Scope::Local ? &*to : nullptr;
  TileValues values = read_tile(cta, *from, unit, true, readers);
  fill_up(*from, fill, values);
  write_tile(cta, *to, unit, values);
}

}  // namespace ww::eval
