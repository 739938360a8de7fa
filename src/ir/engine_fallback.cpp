// SPDX-License-Identifier: Apache-2.0
#include "ir/engine_fallback.h"

#include <algorithm>
#include <iterator>

namespace ww::ir {

bool allows_engine_fallback(const Function& function) {
  return std::ranges::any_of(function.attrs, [](const auto& attr) {
    const auto* word = std::get_if<std::string>(&attr.second);
    return attr.first == kEngineFallback && word != nullptr && *word == kByCpAsync;
  });
}

bool needs_engine_fallback(target::Target target) {
  return target.has(target::Feature::Sm80) && !target.has(target::Feature::Sm90);
}

bool is_of_engine(const isa::Opcode& opcode) {
  return opcode.mnemonic().is_one_of({"fence.mbarrier_init", "mbarrier.arrive.expect_tx",
                                      "mbarrier.expect_tx", "cp.async.bulk.commit_group",
                                      "cp.async.bulk.wait_group", "setmaxnreg"}) ||
         opcode.text().starts_with("fence.proxy.async") ||
         opcode.text().starts_with("prefetch.tensormap");
}

}  // namespace ww::ir
