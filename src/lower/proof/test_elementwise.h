// SPDX-License-Identifier: Apache-2.0
// Elementwise calls for tests of the proof: types, layouts and scopes of the operands, and settings.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lower/proof/proof.h"
#include "lower/test_calls.h"

namespace ww::lower::test {

/// One call: D, A, B and C of these types, all of them.
struct ElementwiseCase {
  ir::TileOp op = ir::TileOp::Add;
  std::string_view variant = "reg";
  std::vector<num::DType> types = {num::DType::Float32, num::DType::Float32,
                                   num::DType::Float32};  // D, A, B, C
  std::string d = "S[(32,4):(1@laneid,1)]";
  std::string a = "S[(32,4):(1@laneid,1)]";
  Scope scope = Scope::Local;  // of D
  Scope from = Scope::Local;   // of A
  bool is_fast = false;
  std::string round = {};  // of a cast
  bool is_saturated = false;
  target::Arch arch = target::Arch::Sm90a;
  std::function<void(Builder&, std::vector<TileArg>&)> edit = {};
};

inline ir::Function function_of(const ElementwiseCase& c) {
  Builder b("k");
  b.f.has_device_entry = true;
  b.id(ir::ScopeIdKind::CtaId, "", 1);
  b.id(ir::ScopeIdKind::ThreadId, "tid", 64);
  constexpr const char* kNames[] = {"D", "A", "B", "C"};
  std::vector<TileArg> args;
  for (std::size_t i = 0; i < c.types.size(); ++i) {
    const Scope scope = i == 0 ? c.scope : i == 1 ? c.from : Scope::Local;
    const std::string layout = scope != Scope::Local ? "" : i == 1 ? c.a : c.d;
    args.emplace_back(b.full(b.alloc(kNames[i], {32, 4}, c.types[i], scope, layout)));
  }
  if (c.edit) c.edit(b, args);
  args.resize(std::max(args.size(), ir::params_of(c.op).size()));
  const ir::TileCallId id = b.tile(c.op, ir::Unit::Warp, std::move(args));
  if (c.is_fast) b.f.at(id).config.emplace_back("fast", true);
  if (!c.round.empty()) b.f.at(id).config.emplace_back("round", c.round);
  if (c.is_saturated) b.f.at(id).config.emplace_back("saturate", true);
  return b.done();
}

class ElementwiseUnderTest : public CallUnderTest {
 public:
  explicit ElementwiseUnderTest(const ElementwiseCase& c)
      : CallUnderTest(function_of(c), variant_named(c.op, c.variant), prove_elementwise,
                      {.arch = c.arch, .ptx = 90}) {}
};

}  // namespace ww::lower::test
