// SPDX-License-Identifier: Apache-2.0
// Host expressions that belong to no file: `64`, `"float16"`, `(2, 4)`, `BM * BN <= 128 * 256`.
//
//   const auto value = evaluate_host("BM * BN", {{"BM", "64"}, {"BN", "2 * 64"}});   // 8192
//
// The same language, and the same bounds on steps and memory, as the host code of a kernel's file.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace ww::script {

/// What such an expression may give: the values that have a spelling. Lists come as tuples.
struct HostValue {
  using Tuple = std::vector<HostValue>;
  std::variant<std::monostate, bool, std::int64_t, double, std::string, Tuple> value = {};

  friend bool operator==(const HostValue&, const HostValue&) = default;
};

/// A name that the expression may use, and the expression whose value it has.
struct HostName {
  std::string name;
  std::string value;
};

/// Diags point into the expression: Syntax and HostError as for any host code, BadType for a value
/// without a spelling (a function, a layout). Names whose own expression fails are not to be used.
Result<HostValue> evaluate_host(std::string_view expression, std::span<const HostName> names = {});

/// Whether it is an expression, whatever its names are: Syntax, TooLarge, with the place in it.
Result<void> check_host_syntax(std::string_view expression);

}  // namespace ww::script
