// SPDX-License-Identifier: Apache-2.0
// A variant is one way to carry out a tile primitive. Its file (lower/<op>/<variant>.cpp) has a
// plan type, a `match` that answers a call with a plan or a decline, an `emit` that writes the
// plan's code, a `report` of it, and a row that says when it is tried. The file is a namespace of
// its own, `<op>_<variant>`; variants.def lists the files.
#pragma once

#include <any>
#include <array>
#include <span>
#include <string_view>

#include "lower/call.h"
#include "lower/lowering_report.h"
#include "lower/reach.h"

namespace ww::lower {

struct Variant {
  ir::TileOp op = ir::TileOp::Copy;
  std::string_view name;
  /// Tried in order of priority, highest first, then by name.
  int priority = 10;
  /// Only asked when `dispatch=` names it.
  bool only_by_name = false;
  /// Other names that `dispatch=` takes, separated by blanks.
  std::string_view aliases{};
  /// One line for people.
  std::string_view about{};

  Match<std::any> (*match)(const Call&) = nullptr;
  void (*emit)(const std::any& plan, const Call&, CodeWriter&) = nullptr;
  PlanReport (*report)(const std::any& plan, const Call&) = nullptr;
  /// Of copies: who reaches for the elements in memory. Null: not known.
  Reach (*reach)(const std::any& plan, const Call&) = nullptr;
};

/// The functions of a variant behind one interface.
template <typename Plan, Match<Plan> (*kMatch)(const Call&),
          void (*kEmit)(const Plan&, const Call&, CodeWriter&),
          PlanReport (*kReport)(const Plan&, const Call&),
          Reach (*kReach)(const Plan&, const Call&) = nullptr>
constexpr Variant variant(Variant row) {
  row.match = [](const Call& call) -> Match<std::any> {
    auto plan = kMatch(call);
    if (!plan) return std::move(plan).failure();
    return std::any(*std::move(plan));
  };
  row.emit = [](const std::any& plan, const Call& call, CodeWriter& code) {
    kEmit(*std::any_cast<Plan>(&plan), call, code);
  };
  row.report = [](const std::any& plan, const Call& call) {
    return kReport(*std::any_cast<Plan>(&plan), call);
  };
  if constexpr (kReach != nullptr)
    row.reach = [](const std::any& plan, const Call& call) {
      return kReach(*std::any_cast<Plan>(&plan), call);
    };
  return row;
}

/// The same row for several primitives.
template <std::size_t kCount>
constexpr std::array<Variant, kCount> rows_for(const std::array<ir::TileOp, kCount>& ops,
                                               Variant row) {
  std::array<Variant, kCount> out;
  for (std::size_t i = 0; i < kCount; ++i) {
    row.op = ops[i];
    out[i] = row;
  }
  return out;
}

/// All variants of an op in the order in which they are tried.
std::vector<const Variant*> variants_of(ir::TileOp op);
/// All variants, in the order of variants.def.
std::vector<const Variant*> all_variants();
/// Does `dispatch="name"` mean this variant?
bool answers_to(const Variant& variant, std::string_view name);

#define WW_VARIANTS(op, file)                       \
  namespace op##_##file {                           \
    extern const std::span<const Variant> variants; \
  }
#include "lower/variants.def"
#undef WW_VARIANTS

}  // namespace ww::lower
