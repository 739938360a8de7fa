// SPDX-License-Identifier: Apache-2.0
// Places of operands that were enumerated before: tiles in registers go from one call to the next.
#include "ir/settings.h"
#include "lower/operand_places.h"

namespace ww::lower {

/// The places of a constant region in a buffer with a layout of its own, and all that they depend on
/// beside the launch.
struct KnownPlaces {
  ir::BufferId buffer;
  std::optional<layout::Layout> layout;
  std::vector<std::int64_t> bounds;  // start and extent, by dimension
  std::int64_t unit;                 // threads
  bool is_of_cluster;
  std::vector<std::int64_t> unit_starts;
  OperandPlaces places = {};
  [[nodiscard]] bool is_like(const KnownPlaces& other) const {
    return buffer == other.buffer && bounds == other.bounds && unit == other.unit &&
           is_of_cluster == other.is_of_cluster && unit_starts == other.unit_starts &&
           layout == other.layout;
  }
};

namespace {

// Without its places; nothing where they may depend on more.
std::optional<KnownPlaces> constant_region(const Call& call, std::size_t operand) {
  const ir::Region& region = call.region(operand);
  const ir::Buffer& buffer = call.f()[region.buffer];
  if (buffer.layout_kind != ir::LayoutKind::Explicit || buffer.scope != ir::Scope::Local ||
      ir::copy_settings(call.tile).may_leave(operand))
    return std::nullopt;
  KnownPlaces out{region.buffer,       buffer.layout,        {},
                  call.unit_threads(), call.is_of_cluster(), call.unit_starts()};
  for (const ir::RangeExpr& range : region.ranges)
    for (const ir::ExprId bound : {range.min, range.extent}) {
      const auto number = ir::const_int(call.f(), bound);
      if (!number) return std::nullopt;
      out.bounds.push_back(*number);
    }
  return out;
}

}  // namespace

Match<OperandPlaces> operand_places(const Call& call, std::size_t operand) {
  auto key = constant_region(call, operand);
  if (!key) return enumerated_places(call, operand);
  auto& known = call.context.places;
  for (const auto& each : known)
    if (each->is_like(*key)) return each->places;
  key->places = WW_TRY(enumerated_places(call, operand));
  constexpr std::size_t kMaxKnown = 16;
  if (known.size() == kMaxKnown) known.erase(known.begin());
  known.push_back(std::make_shared<const KnownPlaces>(*std::move(key)));
  return known.back()->places;
}

}  // namespace ww::lower
