// SPDX-License-Identifier: Apache-2.0
// What is compiled for: an architecture (`sm_90a`) and a PTX version (`8.6`). Architectures and the
// features they have are data (archs.def, features.def). PTX versions are written as one number,
// ten times the major plus the minor: 86 is `.version 8.6`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ww::target {

enum class Arch : std::uint8_t {
#define WW_ARCH(name, text, number, kind, ptx, shared) name,
#include "target/archs.def"
#undef WW_ARCH
};

/// `sm_100`, `sm_100a` and `sm_100f`.
enum class ArchKind : std::uint8_t { Plain, Accelerated, Family };

struct ArchInfo {
  Arch arch;
  std::string_view name;    // "sm_100a"
  int number;               // 100
  ArchKind kind;            // Accelerated
  int min_ptx;              // 86: the lowest `.version` that knows it
  int static_shared_bytes;  // how much `.shared` memory may be declared statically
};

inline constexpr ArchInfo kArchs[] = {
#define WW_ARCH(name, text, number, kind, ptx, shared) \
  {Arch::name, text, number, ArchKind::kind, ptx, shared},
#include "target/archs.def"
#undef WW_ARCH
};

constexpr const ArchInfo& info(Arch arch) { return kArchs[static_cast<std::size_t>(arch)]; }

/// A set of architectures.
class ArchSet {
 public:
  constexpr ArchSet() = default;
  constexpr void add(Arch arch) { bits_ |= bit(arch); }
  [[nodiscard]] constexpr bool contains(Arch arch) const { return (bits_ & bit(arch)) != 0; }
  [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }
  friend constexpr ArchSet operator&(ArchSet a, ArchSet b) {
    a.bits_ &= b.bits_;
    return a;
  }
  friend constexpr bool operator==(ArchSet, ArchSet) = default;

 private:
  static constexpr std::uint32_t bit(Arch arch) { return 1U << static_cast<unsigned>(arch); }
  std::uint32_t bits_ = 0;
};
static_assert(std::size(kArchs) <= 32);

enum class Feature : std::uint8_t {
#define WW_FEATURE(name, set) name,
#include "target/features.def"
#undef WW_FEATURE
};

/// The architectures that have the feature.
ArchSet archs_with(Feature feature);
/// The feature's name as in features.def, e.g. "TensorMemory".
std::string_view name_of(Feature feature);
/// The set in words: "sm_90 or later" where that says it, else the names: "sm_100a, sm_103a".
std::string to_text(ArchSet archs);

/// What a module is compiled for.
struct Target {
  Arch arch = Arch::Sm90a;
  int ptx = 90;
  /// The module names an architecture before sm_70, where the lanes of a warp run in step.
  bool in_step = false;

  [[nodiscard]] bool has(Feature feature) const { return archs_with(feature).contains(arch); }
};

/// The PTX versions that exist, ascending, up to the newest one known here.
std::span<const int> ptx_versions();
/// "8.6" for 86.
std::string ptx_version_text(int version);

/// `sm_90a`; an unknown name gets a diagnostic with the nearest one.
Result<Arch> parse_arch(std::string_view text);
/// `8.6`; a version that does not exist, or is newer than those known, gets a diagnostic.
Result<int> parse_ptx_version(std::string_view text);

}  // namespace ww::target
