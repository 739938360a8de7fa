// SPDX-License-Identifier: Apache-2.0
// The verifier's parts, for the verify*.cpp files: one function per group of invariants. All but
// the first rely on what `check_nodes` found to be sound: ids name nodes, nodes have the operands
// that their kind asks for.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ir/function.h"
#include "ir/launch/launch.h"
#include "ir/verify/verify.h"

namespace ww::ir::verifying {

struct Context {
  const Function& f;
  const VerifyOptions& options;
  std::vector<Diag> findings = {};
  std::vector<ExprId> bound = {};  // values of names (ir/signatures.h), once the nodes are sound

  template <typename... Args>
  void report(DiagKind kind, Span span, fmt::format_string<Args...> format, Args&&... args) {
    findings.push_back(diag(kind, format, std::forward<Args>(args)...).with_span(span));
  }
  /// The same with a note where the buffer is declared.
  template <typename... Args>
  void report(DiagKind kind, Span span, const Buffer& about, fmt::format_string<Args...> format,
              Args&&... args) {
    report(kind, span, format, std::forward<Args>(args)...);
    if (about.span.known && about.span != span)
      findings.back().notes.push_back({"declared here", about.span});
  }
};

/// Ids, operands and structure (BrokenIr). False: nothing else may be looked at.
bool check_nodes(Context& c);
/// scoping
void check_scoping(Context& c);
/// types of expressions; shapes and threads of their accesses
void check_exprs(Context& c);
/// shapes, layouts, scopes, tensor
void check_buffers(Context& c);
/// types of statements, control, level
void check_stmts(Context& c);
/// tile calls
void check_tile_calls(Context& c);
/// ptx
void check_ptx(Context& c);
/// bytes that mbarriers expect
void check_expected_bytes(Context& c);
/// products under way
void check_products(Context& c);
/// stages that are given back while products read them
void check_released_stages(Context& c);
/// ids, collective, and the part of threads that is about the launch
void check_launch(Context& c);

/// The part of shapes that is about the launch: regions that leave their buffer for some of its ids
void check_regions(Context& c, const LaunchShape& shape);

/// arrivals at mbarriers
void check_arrivals(Context& c, const LaunchShape& shape);

/// registers
void check_registers(Context& c, const LaunchShape& shape);

/// An access of `lanes` elements: rank, types and bounds of the indices, and that the buffer is one
/// whose elements a thread can reach.
void check_access(Context& c, BufferId buffer, const SmallVec<ExprId, 3>& indices, int lanes,
                  Span span);

/// "(8, 16)", with `?` for a run-time extent.
std::string shape_text(const Function& f, const std::vector<ExprId>& shape);
/// "1 index", "2 indices".
std::string counted(std::size_t count, std::string_view one, std::string_view many);

}  // namespace ww::ir::verifying
