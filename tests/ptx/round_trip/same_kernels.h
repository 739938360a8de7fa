// SPDX-License-Identifier: Apache-2.0
// Two PTX texts of one module, without the kernels that have the same words in both. ptxas makes the same
// of the same words, so that only the others need it. Knows nothing of PTX but comments, strings and braces.
#pragma once

#include <string>

namespace ww::test {

struct TwoTexts {
  std::string before, after;
};

/// Kernels are found by name. What is not a kernel stays.
TwoTexts without_same_kernels(const TwoTexts& texts);

}  // namespace ww::test
