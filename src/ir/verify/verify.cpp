// SPDX-License-Identifier: Apache-2.0
#include "ir/verify/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "ir/signatures.h"
#include "ir/verify/verifier.h"

namespace ww::ir {
namespace verifying {

std::string shape_text(const Function& f, const std::vector<ExprId>& shape) {
  std::string out;
  for (const ExprId extent : shape) {
    const std::optional<std::int64_t> value = const_int(f, extent);
    out += fmt::format("{}{}", out.empty() ? "" : ", ", value ? std::to_string(*value) : "?");
  }
  return fmt::format("({})", out);
}

std::string counted(std::size_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

namespace {

// The groups of checks each go through the whole function.
std::vector<Diag> in_order(std::vector<Diag> findings, const VerifyOptions& options) {
  std::ranges::stable_sort(findings, {}, [](const Diag& finding) {
    return finding.span.known ? finding.span.begin : std::numeric_limits<std::size_t>::max();
  });
  if (findings.size() > options.max_findings) findings.resize(options.max_findings);
  return findings;
}

}  // namespace
}  // namespace verifying

std::vector<Diag> verify(const Function& function, const VerifyOptions& options) {
  verifying::Context c{.f = function, .options = options};
  if (verifying::check_nodes(c)) {
    c.bound = bound_values(function);
    verifying::check_scoping(c);
    verifying::check_exprs(c);
    verifying::check_buffers(c);
    verifying::check_stmts(c);
    verifying::check_tile_calls(c);
    verifying::check_ptx(c);
    verifying::check_expected_bytes(c);
    verifying::check_products(c);
    verifying::check_released_stages(c);
    verifying::check_launch(c);
  }
  return verifying::in_order(std::move(c.findings), options);
}

std::vector<Diag> verify_on_target(const Function& function, const target::Target& target) {
  const VerifyOptions options{.target = target};
  verifying::Context c{.f = function, .options = options};
  c.bound = bound_values(function);
  verifying::check_buffers(c);
  verifying::check_ptx(c);
  return verifying::in_order(std::move(c.findings), options);
}

}  // namespace ww::ir
