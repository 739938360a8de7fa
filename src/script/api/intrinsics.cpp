// SPDX-License-Identifier: Apache-2.0
// Functions of ir/intrinsics.def that are called as they stand.
#include <fmt/format.h>

#include <deque>

#include "ir/signatures.h"
#include "script/api/builtins.h"
#include "script/api/params.h"

namespace ww::script {
namespace {

Result<Value> run_intrinsic(Context& in, Args& a) {
  const ir::Intrinsic callee = *ir::find_intrinsic(a.row->name.substr(2));  // without `T.`
  std::vector<ir::ExprId> args;
  for (std::size_t i = 0; i < a.values.size(); ++i)
    args.push_back(WW_TRY(used_here(in, a[i], a.spans[i])));
  for (std::size_t i = 0; i < a.rest.size(); ++i)
    args.push_back(WW_TRY(used_here(in, a.rest[i], a.rest_spans[i])));
  return of_expr(WW_TRY(ir::call(in.fn(), callee, args, a.call)));
}

// "value, op, num_warps, scratch"
std::string parameters_of(ir::Intrinsic intrinsic) {
  std::string out;
  for (const ir::IntrinsicParam& param : ir::params_of(intrinsic))
    out += fmt::format("{}{}{}", out.empty() ? "" : ", ", param.is_rest ? "*" : "", param.name);
  return out;
}

}  // namespace

std::span<const BuiltinRow> intrinsic_rows() {
  struct Texts {
    std::string name, parameters;
  };
  static const std::deque<Texts> texts = [] {
    std::deque<Texts> out;
    for (const ir::IntrinsicFacts& facts : ir::all_intrinsics())
      if (facts.id != ir::Intrinsic::TensorMap)  // script/api/tensor_maps.cpp
        out.push_back({fmt::format("T.{}", facts.name), parameters_of(facts.id)});
    return out;
  }();
  static const std::vector<BuiltinRow> rows = [] {
    std::vector<BuiltinRow> out;
    for (const Texts& each : texts)
      out.push_back({each.name, each.parameters, run_intrinsic, true});
    return out;
  }();
  return rows;
}

}  // namespace ww::script
