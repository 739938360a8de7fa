// SPDX-License-Identifier: Apache-2.0
#include "layout/axis.h"

#include <algorithm>
#include <array>
#include <deque>
#include <mutex>
#include <tuple>
#include <vector>

#include "base/ascii.h"

namespace ww::layout {
namespace {

// name, kind, counter, divisor, modulus
// clang-format off
constexpr std::array kBuiltin = {
    AxisFacts{"m",         AxisKind::Memory, Counter::None,      1,   0},
    AxisFacts{"tx",        AxisKind::Thread, Counter::CtaThread, 1,   0},
    AxisFacts{"warpid",    AxisKind::Thread, Counter::CtaThread, 32,  0},
    AxisFacts{"laneid",    AxisKind::Thread, Counter::CtaThread, 1,   32},
    AxisFacts{"wgid",      AxisKind::Thread, Counter::CtaThread, 128, 0},
    AxisFacts{"tid_in_wg", AxisKind::Thread, Counter::CtaThread, 1,   128},
    AxisFacts{"wid_in_wg", AxisKind::Thread, Counter::CtaThread, 32,  4},
    AxisFacts{"cbx",       AxisKind::Thread, Counter::ClusterX,  1,   0},
    AxisFacts{"cby",       AxisKind::Thread, Counter::ClusterY,  1,   0},
    AxisFacts{"cbz",       AxisKind::Thread, Counter::ClusterZ,  1,   0},
    AxisFacts{"bx",        AxisKind::Thread, Counter::GridX,     1,   0},
    AxisFacts{"by",        AxisKind::Thread, Counter::GridY,     1,   0},
    AxisFacts{"bz",        AxisKind::Thread, Counter::GridZ,     1,   0},
    AxisFacts{"TLane",     AxisKind::Memory, Counter::None,      1,   0},  // tensor memory row
    AxisFacts{"TCol",      AxisKind::Memory, Counter::None,      1,   0},  // tensor memory column
    AxisFacts{"P",         AxisKind::Memory, Counter::None,      1,   0},
    AxisFacts{"F",         AxisKind::Memory, Counter::None,      1,   0},
    AxisFacts{"Bank",      AxisKind::Memory, Counter::None,      1,   0},
};
// clang-format on

const AxisFacts* find_builtin(std::string_view name) {
  const auto* found = std::find_if(kBuiltin.begin(), kBuiltin.end(),
                                   [&](const AxisFacts& facts) { return facts.name == name; });
  return found == kBuiltin.end() ? nullptr : found;
}

auto as_tuple(const AxisFacts& f) {
  return std::tuple(f.name, f.kind, f.counter, f.divisor, f.modulus);
}

// Declared axes live here for the life of the process. The same facts always give the same address,
// so callers cannot tell that there is a store at all.
const AxisFacts* intern(const AxisFacts& wanted) {
  struct Entry {
    std::string name;
    AxisFacts facts;
  };
  static std::mutex mutex;
  static std::deque<Entry> entries;
  const std::scoped_lock lock(mutex);
  for (const Entry& entry : entries)
    if (as_tuple(entry.facts) == as_tuple(wanted)) return &entry.facts;
  Entry& entry = entries.emplace_back(Entry{std::string(wanted.name), wanted});
  entry.facts.name = entry.name;
  return &entry.facts;
}

Result<void> check_new_name(std::string_view name) {
  if (!is_identifier(name) || name.size() > kMaxNameLength)
    return fail(DiagKind::BadAxis,
                "`{}` is not an axis name: expected an identifier of at most {} characters",
                name.substr(0, kMaxNameLength), kMaxNameLength);
  if (find_builtin(name) != nullptr)
    return fail(DiagKind::BadAxis, "`{}` is a built-in axis and cannot be declared again", name);
  return {};
}

}  // namespace

std::string_view name_of(AxisKind kind) {
  switch (kind) {
    case AxisKind::Unknown:
      return "unknown";
    case AxisKind::Thread:
      return "thread";
    case AxisKind::Memory:
      return "memory";
    case AxisKind::Device:
      return "device";
  }
  return "?";
}

Axis::Axis() : facts_(&kBuiltin.front()) {}

Result<Axis> Axis::builtin(std::string_view name) {
  if (const AxisFacts* facts = find_builtin(name)) return Axis(facts);
  return fail(DiagKind::BadAxis, "`{}` is not a built-in axis", name);
}

Result<Axis> Axis::declare(std::string_view name, AxisKind kind) {
  WW_TRY_VOID(check_new_name(name));
  return Axis(intern({name, kind, Counter::None, 1, 0}));
}

Result<Axis> Axis::declare_cta_thread(std::string_view name, std::int64_t divisor,
                                      std::int64_t modulus) {
  WW_TRY_VOID(check_new_name(name));
  constexpr std::int64_t kMaxThreads = 1 << 20;
  if (divisor < 1 || divisor > kMaxThreads || modulus < 0 || modulus == 1 || modulus > kMaxThreads)
    return fail(
        DiagKind::BadAxis,
        "axis `{}` reads (t / {}) % {}: expected a divisor from 1 to {} and a modulus of 0 (none) "
        "or from 2 to {}",
        name, divisor, modulus, kMaxThreads, kMaxThreads);
  return Axis(intern({name, AxisKind::Thread, Counter::CtaThread, divisor, modulus}));
}

bool Axis::precedes(Axis a, Axis b) { return as_tuple(*a.facts_) < as_tuple(*b.facts_); }

std::span<const Axis> builtin_axes() {
  static const auto axes = [] {
    std::vector<Axis> list;
    for (const AxisFacts& facts : kBuiltin) list.push_back(Axis(&facts));
    return list;
  }();
  return axes;
}

namespace axes {
namespace {
Axis named(std::string_view name) { return *Axis::builtin(name); }
}  // namespace
Axis m() { return {}; }
Axis tx() {
  static const Axis axis = named("tx");
  return axis;
}
Axis warpid() {
  static const Axis axis = named("warpid");
  return axis;
}
Axis laneid() {
  static const Axis axis = named("laneid");
  return axis;
}
Axis wgid() {
  static const Axis axis = named("wgid");
  return axis;
}
Axis tid_in_wg() {
  static const Axis axis = named("tid_in_wg");
  return axis;
}
Axis wid_in_wg() {
  static const Axis axis = named("wid_in_wg");
  return axis;
}
Axis tlane() {
  static const Axis axis = named("TLane");
  return axis;
}
Axis tcol() {
  static const Axis axis = named("TCol");
  return axis;
}
}  // namespace axes

}  // namespace ww::layout
