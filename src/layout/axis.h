// SPDX-License-Identifier: Apache-2.0
// Axes: the named hardware coordinates that places are made of. An axis is a fact sheet, not code:
//
//   - its kind: a *thread* axis says who holds an element, a *memory* axis says where in its storage,
//     a *device* axis says on which device; an undeclared axis is *unknown*;
//   - for a thread axis, which counter it reads and how: value = (counter / divisor) % modulus.
//     On CUDA every thread axis of a CTA reads the linear thread id t:
//
//         tx         t            warpid     t / 32           wgid       t / 128
//         laneid     t % 32       wid_in_wg  (t / 32) % 4     tid_in_wg  t % 128
//
//     so fusing `warpid` and `laneid` into `tx`, or splitting `tx` again, is arithmetic on divisors
//     and moduli (layout/threads.h), for built-in and for declared axes alike.
//
// `Axis` is a small value that compares by identity. Two axes are the same axis exactly when name
// and facts agree; the facts are interned behind a pure function, so there is no state to observe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ww::layout {

/// Limit on the length of names of axes and of symbols.
inline constexpr std::size_t kMaxNameLength = 64;

enum class AxisKind : std::uint8_t { Unknown, Thread, Memory, Device };

/// The counter that a thread axis reads. Axes on different counters are independent of each other.
enum class Counter : std::uint8_t {
  None,       // no thread axis, or one whose counter is its own
  CtaThread,  // linear thread id within the CTA
  ClusterX,
  ClusterY,
  ClusterZ,  // CTA coordinates within the cluster
  GridX,
  GridY,
  GridZ,  // CTA coordinates within the grid
};

struct AxisFacts {
  std::string_view name;
  AxisKind kind = AxisKind::Unknown;
  Counter counter = Counter::None;
  std::int64_t divisor = 1;
  std::int64_t modulus = 0;  // 0: no modulo
};

std::string_view name_of(AxisKind kind);

class Axis {
 public:
  /// The default memory axis `m`.
  Axis();

  /// The built-in axis of that name, if there is one.
  static Result<Axis> builtin(std::string_view name);
  /// A user's own axis. `name` must be an identifier of at most 64 characters and no built-in name.
  static Result<Axis> declare(std::string_view name, AxisKind kind);
  /// A user's own thread axis over the linear thread id of the CTA: (t / divisor) % modulus.
  static Result<Axis> declare_cta_thread(std::string_view name, std::int64_t divisor,
                                         std::int64_t modulus);

  [[nodiscard]] std::string_view name() const { return facts_->name; }
  [[nodiscard]] AxisKind kind() const { return facts_->kind; }
  [[nodiscard]] const AxisFacts& facts() const { return *facts_; }
  [[nodiscard]] bool is_thread() const { return facts_->kind == AxisKind::Thread; }
  [[nodiscard]] bool is_memory() const { return facts_->kind == AxisKind::Memory; }

  friend bool operator==(Axis a, Axis b) { return a.facts_ == b.facts_; }
  /// Order by name (then by kind and facts for declared twins): stable across runs and hosts.
  friend bool operator<(Axis a, Axis b) { return a.facts_ != b.facts_ && precedes(a, b); }

 private:
  explicit constexpr Axis(const AxisFacts* facts) : facts_(facts) {}
  static bool precedes(Axis a, Axis b);
  friend std::span<const Axis> builtin_axes();
  const AxisFacts* facts_;
};

/// All built-in axes, in the order of the table in axis.cpp.
std::span<const Axis> builtin_axes();

/// Short names for the built-in axes, for code and tests: `axes::laneid()`.
namespace axes {
Axis m();
Axis tx();
Axis warpid();
Axis laneid();
Axis wgid();
Axis tid_in_wg();
Axis wid_in_wg();
Axis tlane();
Axis tcol();
}  // namespace axes

}  // namespace ww::layout
