// SPDX-License-Identifier: Apache-2.0
// The target that a module names. Files come from compilers older and newer than the table of
// instructions, and most of what is in them is in the table; so versions and architectures outside
// of it are read as the nearest one, with a note.
#include <fmt/format.h>

#include <algorithm>

#include "ptx/check.h"

namespace ww::ptx {
namespace {

using target::Target;

// Architectures before the first of target/archs.def, with the lowest version that ptxas takes for
// them. A module for one of them runs on every later one.
struct OlderArch {
  std::string_view name;
  int min_ptx;
  bool in_step = true;  // lanes of a warp
};
constexpr OlderArch kOlder[] = {
    {"sm_10", 10}, {"sm_11", 10},        {"sm_12", 12},        {"sm_13", 12}, {"sm_20", 20},
    {"sm_21", 20}, {"sm_30", 30},        {"sm_32", 40},        {"sm_35", 31}, {"sm_37", 41},
    {"sm_50", 40}, {"sm_52", 41},        {"sm_53", 42},        {"sm_60", 50}, {"sm_61", 50},
    {"sm_62", 50}, {"sm_70", 51, false}, {"sm_72", 61, false},
};
// Versions before the first of target::ptx_versions().
constexpr int kOlderVersions[] = {10, 11, 12, 13, 14, 15, 20, 21, 22, 23, 30,
                                  31, 32, 40, 41, 42, 43, 50, 51, 60, 61, 62};

struct NamedVersion {
  int written = 0;  // as the module says
  int known = 0;    // the nearest that the table has
};

Result<NamedVersion> version_of(const Module& module, Span at, std::vector<Note>* notes) {
  const std::string text = fmt::format("{}.{}", module.version.major, module.version.minor);
  const int newest = target::ptx_versions().back();
  const int oldest = target::ptx_versions().front();
  const Version last{static_cast<std::uint16_t>(newest / 10),
                     static_cast<std::uint16_t>(newest % 10)};
  const int written = module.version.major * 10 + module.version.minor;
  const bool is_newer = module.version > last;
  if (!is_newer && std::ranges::find(kOlderVersions, written) == std::end(kOlderVersions)) {
    auto known = target::parse_ptx_version(text);
    if (!known) return fail(std::move(known).error().with_span(at));
    return NamedVersion{*known, *known};
  }
  const int known = is_newer ? newest : oldest;
  if (notes != nullptr) {
    notes->push_back(
        {fmt::format("PTX {} is {} than {}, the {} version known here; read as {}", text,
                     is_newer ? "newer" : "older", target::ptx_version_text(known),
                     is_newer ? "newest" : "oldest", target::ptx_version_text(known)),
         at});
  }
  return NamedVersion{is_newer ? newest : written, known};
}

Diag needs_version(std::string_view arch, int ptx, const Module& module, Span at) {
  return diag(DiagKind::NotOnTarget, "`{}` needs PTX {}; the module says {}.{}", arch,
              target::ptx_version_text(ptx), module.version.major, module.version.minor)
      .with_span(at);
}

}  // namespace

Result<Target> target_of(const Module& module, std::vector<Note>* notes) {
  const std::size_t digits =
      fmt::format("{}.{}", module.version.major, module.version.minor).size();
  const auto version =
      version_of(module, Span::at(module.version_offset, module.version_offset + digits), notes);
  if (!version) return fail(version.error());
  const auto is_arch = [&](NameId name) { return module.text(name).starts_with("sm_"); };
  const auto found = std::ranges::find_if(module.targets, is_arch);
  const std::string_view name = found == module.targets.end() ? "" : module.text(*found);
  const Span at =
      Span::at(module.target_offset, module.target_offset + std::max<std::size_t>(1, name.size()));
  if (name.empty())
    return fail(diag(DiagKind::UnknownName, "`.target` names no architecture").with_span(at));
  if (const auto* const older = std::ranges::find(kOlder, name, &OlderArch::name);
      older != std::end(kOlder)) {
    if (version->written < older->min_ptx)
      return fail(needs_version(name, older->min_ptx, module, at));
    const target::ArchInfo& first = target::kArchs[0];
    if (notes != nullptr) {
      notes->push_back({fmt::format("`{}` is older than `{}`, the oldest architecture known here; "
                                    "read as `{}`, which runs its code",
                                    name, first.name, first.name),
                        at});
    }
    return Target{first.arch, std::max(version->known, first.min_ptx), older->in_step};
  }
  auto arch = target::parse_arch(name);
  if (!arch) return fail(std::move(arch).error().with_span(at));
  const target::ArchInfo& info = target::info(*arch);
  if (version->written < info.min_ptx) return fail(needs_version(name, info.min_ptx, module, at));
  return Target{*arch, version->known};
}

}  // namespace ww::ptx
