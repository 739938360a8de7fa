// SPDX-License-Identifier: Apache-2.0
#include "driver/sim/kernel_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/join.h"
#include "base/suggest.h"

namespace ww::driver {
namespace {

// The names of the kernels that a module has code for.
std::vector<std::string_view> kernel_names(const ptx::Module& module) {
  std::vector<std::string_view> names;
  for (const ptx::Function& function : module.functions) {
    if (function.kind == ptx::FunctionKind::Entry && function.has_body)
      names.push_back(module.text(function.name));
  }
  return names;
}

}  // namespace

Result<std::string> choose_kernel(const ptx::Module& module, const std::string& wanted,
                                  const ChoiceWords& words) {
  const auto names = kernel_names(module);
  if (names.empty()) return fail(DiagKind::BadArgument, "{} has no kernel", words.where);
  const std::string listed = fmt::format("kernels: {}", join(names, ", "));
  if (!wanted.empty() && std::ranges::find(names, wanted) == names.end())
    return fail(diag(DiagKind::UnknownName, "{} has no kernel `{}`{}", words.where, wanted,
                     did_you_mean(wanted, names))
                    .with_note(listed));
  if (wanted.empty() && names.size() > 1)
    return fail(diag(DiagKind::BadArgument, "{} has {} kernels, and {}", words.where, names.size(),
                     words.unnamed)
                    .with_note(listed));
  return wanted.empty() ? std::string(names.front()) : wanted;
}

}  // namespace ww::driver
