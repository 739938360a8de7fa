// SPDX-License-Identifier: Apache-2.0
#include "sim/checks/register_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "sim/run/unit.h"

namespace ww::sim {
namespace {

constexpr std::uint32_t kSlotBytes = 64;  // no more than a register of 16 bits takes

std::string_view name_in(const Warp& warp, Place place) {
  for (const OperandInfo& operand : warp.program->operands_of(warp.current)) {
    if (operand.place == place && operand.name != ptx::kNoName)
      return warp.program->module.text(operand.name);
  }
  return "a register";
}

std::uint32_t line_of(const Warp& warp, std::uint32_t op) { return warp.program->infos[op].line; }

// What would have made the product known to be complete.
std::string remedy(const Warp& warp, const PendingProduct& product, std::uint32_t last_wait) {
  const ProductPart& part = product.parts[warp.index % kGroupWarps];
  const std::uint32_t closed = warp.pending.products_committed;
  if (part.group >= closed)
    return "no `wgmma.commit_group` has closed its group, so that no wait covers it";
  const std::uint32_t most = closed - part.group - 1;
  const std::string needed = fmt::format("`wgmma.wait_group {}` comes first", most);
  if (last_wait == kNoOp) return needed;
  const auto depth = static_cast<std::uint64_t>(warp.program->ops[last_wait].as<Constant>().value);
  if (depth <= most) return needed;
  return fmt::format("`wgmma.wait_group {}` at line {} leaves its group pending; {}", depth,
                     line_of(warp, last_wait), needed);
}

const PendingProduct* find_product(Warp& warp, std::uint32_t number) {
  for (const PendingProduct& product : warpgroup_of(warp).products) {
    if (product.number == number) return &product;
  }
  return nullptr;
}

Party party_of(const Warp& warp, const PendingProduct& product) {
  return {product.op, warp.cta->linear, warp.index, product.parts[warp.index % kGroupWarps].lanes};
}

}  // namespace

RegisterWatch::Slot& RegisterWatch::slot_of(const Warp& warp, Place place) {
  const std::size_t index = (warp.here.frame + place.offset()) / kSlotBytes;
  if (slots_.size() <= index) slots_.resize(index + 1);
  return slots_[index];
}

// --- ops other than wgmma.mma_async --------------------------------------------------------------

void RegisterWatch::touch(Warp& warp) {
  ++now_;
  const std::uint32_t waited = warp.pending.products_waited;
  // Compilers of CUDA C++ move the zeroing of accumulators behind the fence, and ptxas, which knows
  // that the fence is there, moves it back.
  const bool is_move = warp.program->infos[warp.current].family == isa::FamilyId::move_rows;
  const bool is_harmless = is_move && fenced_ > issued_;
  for (const OperandInfo& operand : warp.program->operands_of(warp.current)) {
    if (operand.type == isa::Type::Pred || operand.place.is_constant()) continue;
    Slot& slot = slot_of(warp, operand.place);
    const bool in_d = slot.d_product > waited;
    if (in_d || (operand.is_result && slot.a_product > waited))
      report_touch(warp, slot, name_in(warp, operand.place), in_d, operand.is_result);
    if (is_harmless) continue;
    slot.touched = now_;
    slot.touch_op = warp.current;
    if (!operand.is_result) continue;
    slot.written = now_;
    slot.write_op = warp.current;
  }
}

void RegisterWatch::report_touch(Warp& warp, const Slot& slot, std::string_view name, bool is_d,
                                 bool writes) {
  const PendingProduct* product = find_product(warp, is_d ? slot.d_product : slot.a_product);
  if (product == nullptr || !warp.checks(Check::Async)) return;
  const auto seen =
      std::ranges::find(first_touch_, product->op, &std::pair<std::uint32_t, std::uint32_t>::first);
  if (seen != first_touch_.end() && seen->second != warp.current) {
    warp.unit->findings.count_up(Check::Async, seen->second, product->op, count_lanes(warp.exec));
    return;
  }
  if (seen == first_touch_.end()) first_touch_.emplace_back(product->op, warp.current);
  if (!warp.is_new(Check::Async, product->op, count_lanes(warp.exec))) return;
  warp.report_at(Check::Async, warp.exec, 0,
                 fmt::format("{} `{}` while `wgmma.mma_async` at line {} may still {} it: {}",
                             writes ? "writes" : "reads", name, line_of(warp, product->op),
                             is_d ? "change" : "read", remedy(warp, *product, last_wait_)),
                 party_of(warp, *product));
}

// --- wgmma.mma_async -----------------------------------------------------------------------------

RegisterWatch::Clash RegisterWatch::clash_of(const Warp& warp, const Slot& slot, bool is_d,
                                             std::uint32_t shape) const {
  const std::uint32_t waited = warp.pending.products_waited;
  if (is_d && slot.a_product > waited) return Clash::ChangesA;
  if (!is_d && slot.d_product > waited) return Clash::ReadsD;
  if (is_d && slot.d_product > waited && slot.shape != shape && slot.d_issued > fenced_)
    return Clash::Shape;
  return (is_d ? slot.touched : slot.written) > fenced_ || fenced_ == 0 ? Clash::Fence
                                                                        : Clash::None;
}

void RegisterWatch::report_clash(Warp& warp, Clash clash, const Slot& slot, Place place) {
  const std::string_view name = name_in(warp, place);
  if (clash == Clash::Fence) {
    const std::uint32_t by = slot.touched > slot.written ? slot.touch_op : slot.write_op;
    const bool is_touched = slot.touched > fenced_;
    if (!warp.is_new(Check::Fence, is_touched ? by : kNoOp, count_lanes(warp.exec))) return;
    const std::string what =
        is_touched
            ? fmt::format("`{}` is {} at line {} with no `wgmma.fence` between that and this", name,
                          by == slot.write_op ? "written" : "read", line_of(warp, by))
            : std::string("there is no `wgmma.fence` before the first `wgmma.mma_async`");
    warp.report_at(Check::Fence, warp.exec, 0, what,
                   is_touched ? Party{by, warp.cta->linear, warp.index, warp.exec} : Party{});
    return;
  }
  const std::uint32_t number = clash == Clash::ChangesA ? slot.a_product : slot.d_product;
  const PendingProduct* product = find_product(warp, number);
  const Check check = clash == Clash::Shape ? Check::Fence : Check::Async;
  if (product == nullptr || !warp.is_new(check, product->op, count_lanes(warp.exec))) return;
  const std::uint32_t line = line_of(warp, product->op);
  std::string text;
  if (clash == Clash::Shape) {
    text = fmt::format(
        "`{}` is in D of a product of another shape, at line {}, that has not been "
        "waited for, with no `wgmma.fence` between the two",
        name, line);
  } else {
    text = fmt::format("{} `{}` while `wgmma.mma_async` at line {} may still {} it: {}",
                       clash == Clash::ChangesA ? "changes" : "reads", name, line,
                       clash == Clash::ChangesA ? "read" : "change",
                       remedy(warp, *product, last_wait_));
  }
  warp.report_at(check, warp.exec, 0, std::move(text), party_of(warp, *product));
}

void RegisterWatch::issue(Warp& warp, std::span<const Place> d, std::span<const Place> a,
                          std::uint32_t shape) {
  issued_ = ++now_;
  const std::uint32_t number = warpgroup_of(warp).issued + 1;
  bool is_reported = false;
  const auto check = [&](Place place, bool is_d) {
    if (place.is_constant()) return;
    Slot& slot = slot_of(warp, place);
    const Clash clash = clash_of(warp, slot, is_d, shape);
    if (clash != Clash::None && !std::exchange(is_reported, true))
      report_clash(warp, clash, slot, place);
    if (is_d) {
      slot.d_product = number;
      slot.d_issued = now_;
      slot.shape = shape;
    } else {
      slot.a_product = number;
    }
  };
  for (const Place place : a) check(place, false);
  for (const Place place : d) check(place, true);
}

}  // namespace ww::sim
