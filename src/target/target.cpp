// SPDX-License-Identifier: Apache-2.0
#include "target/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "base/join.h"
#include "base/suggest.h"

namespace ww::target {
namespace {

constexpr ArchSet since(int number) {
  ArchSet set;
  for (const ArchInfo& arch : kArchs) {
    if (arch.number >= number) set.add(arch.arch);
  }
  return set;
}

template <typename... Numbers>
constexpr ArchSet accelerated(Numbers... numbers) {
  ArchSet set;
  for (const ArchInfo& arch : kArchs) {
    const bool listed = ((arch.number == numbers) || ...);
    if (listed && arch.kind != ArchKind::Plain) set.add(arch.arch);
  }
  return set;
}

template <typename... Archs>
constexpr ArchSet only(Archs... archs) {
  ArchSet set;
  (set.add(archs), ...);
  return set;
}

struct FeatureInfo {
  std::string_view name;
  ArchSet archs;
};
constexpr FeatureInfo kFeatures[] = {
#define WW_FEATURE(name, set) {#name, set},
#include "target/features.def"
#undef WW_FEATURE
};

constexpr int kVersions[] = {63, 64, 65, 70, 71, 72, 73, 74, 75, 76, 77,
                             78, 80, 81, 82, 83, 84, 85, 86, 87, 88, 90};

}  // namespace

ArchSet archs_with(Feature feature) { return kFeatures[static_cast<std::size_t>(feature)].archs; }
std::string_view name_of(Feature feature) {
  return kFeatures[static_cast<std::size_t>(feature)].name;
}

std::string to_text(ArchSet archs) {
  for (const ArchInfo& first : kArchs) {
    if (first.kind == ArchKind::Plain && archs == since(first.number)) {
      return fmt::format("{} or later", first.name);
    }
  }
  std::vector<std::string_view> names;
  for (const ArchInfo& arch : kArchs) {
    if (archs.contains(arch.arch)) names.push_back(arch.name);
  }
  return join(names, ", ");
}

std::span<const int> ptx_versions() { return kVersions; }

std::string ptx_version_text(int version) {
  return fmt::format("{}.{}", version / 10, version % 10);
}

Result<Arch> parse_arch(std::string_view text) {
  std::vector<std::string_view> names;
  for (const ArchInfo& arch : kArchs) {
    if (arch.name == text) return arch.arch;
    names.push_back(arch.name);
  }
  return fail(diag(DiagKind::UnknownName, "no architecture is called `{}`{}", text,
                   did_you_mean(text, names))
                  .with_note(fmt::format("known: {}", join(names, ", "))));
}

Result<int> parse_ptx_version(std::string_view text) {
  for (const int version : kVersions) {
    if (ptx_version_text(version) == text) return version;
  }
  return fail(diag(DiagKind::UnknownName, "PTX version `{}` is not known", text)
                  .with_note(fmt::format("known: {} to {}", ptx_version_text(kVersions[0]),
                                         ptx_version_text(*std::rbegin(kVersions)))));
}

}  // namespace ww::target
