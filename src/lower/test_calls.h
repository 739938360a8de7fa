// SPDX-License-Identifier: Apache-2.0
// Calls for tests of variants and proofs: up to where a variant has written its code.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "ir/build.h"
#include "ir/test_programs.h"
#include "ir/visit.h"
#include "lower/proof/proof.h"
#include "lower/variant.h"

namespace ww::lower::test {

using ir::Scope;
using ir::Setting;
using ir::TileArg;
using ir::test::Builder;
using num::DType;

inline const Variant& variant_named(ir::TileOp op, std::string_view name) {
  const std::vector<const Variant*> all = variants_of(op);
  return **std::ranges::find(all, name, &Variant::name);
}

/// The call that is the last statement of a function, a variant's answer and its code.
class CallUnderTest {
 public:
  using Prove = Proof (*)(const Call&, const ir::Block&);
  CallUnderTest(ir::Function function, const Variant& variant, Prove with, target::Target target,
                bool may_repeat = true, bool is_in_loop = true)
      : f(std::move(function)), prove_(with) {
    shape_ = ir::launch_shape(f).value();
    active_ = ir::ActiveSets::of(f, shape_);
    const ir::StmtId tile = f.body.back();
    ids_ = resolve_scope_ids(f, shape_);
    facts_ = ir::facts_of(f);
    definitions_ = ir::definitions_of(f);
    values_.emplace(f, shape_, definitions_);
    context_.emplace(Context{f, shape_, ids_, facts_, *values_, target});
    tile_ = f[f[tile].tile];
    call_.emplace(Call{*context_, tile_, {}, active_[tile]});
    call_->may_repeat = may_repeat;
    call_->is_in_loop = is_in_loop;
    const auto plan = variant.match(*call_);
    if (!plan) {
      rule = plan.error().rule;
      reason = plan.error().reason;
      return;
    }
    report = variant.report(*plan, *call_);
    CodeWriter out(f, facts_, {});
    variant.emit(*plan, *call_, out);
    code = out.take();
  }
  CallUnderTest(const CallUnderTest&) = delete;
  CallUnderTest& operator=(const CallUnderTest&) = delete;

  [[nodiscard]] Proof prove() const { return prove_(*call_, code); }
  [[nodiscard]] const Call& call() const { return *call_; }
  /// How often statements of a kind are executed, loops gone through.
  [[nodiscard]] std::int64_t executed(ir::StmtKind kind) const { return executed(kind, code); }
  /// How many stand in the code.
  [[nodiscard]] std::int64_t written(ir::StmtKind kind) const {
    std::int64_t out = 0;
    ir::for_each_stmt(f, code, [&](ir::StmtId id) { out += f[id].kind == kind ? 1 : 0; });
    return out;
  }

  ir::Function f;
  ir::Block code;
  PlanReport report;
  std::string rule, reason;  // when declined

 private:
  [[nodiscard]] std::int64_t executed(ir::StmtKind kind, const ir::Block& block) const {
    std::int64_t out = 0;
    for (const ir::StmtId id : block) {
      const ir::Stmt& s = f[id];
      const std::int64_t times = s.kind == ir::StmtKind::For ? *ir::const_int(f, s.args[1]) : 1;
      out += (s.kind == kind ? 1 : 0) + times * executed(kind, s.body);
    }
    return out;
  }

  Prove prove_;
  ir::LaunchShape shape_;
  ir::ActiveSets active_;
  LaunchVars ids_;
  ir::Facts facts_;
  ir::Definitions definitions_;
  std::optional<ir::ThreadValues> values_;
  std::optional<Context> context_;
  ir::TileCall tile_;
  std::optional<Call> call_;
};

/// All statements of a kind in the code, loops gone into.
inline std::vector<ir::StmtId> all_of(const CallUnderTest& call, ir::StmtKind kind) {
  std::vector<ir::StmtId> out;
  ir::for_each_stmt(call.f, call.code, [&](ir::StmtId id) {
    if (call.f[id].kind == kind) out.push_back(id);
  });
  return out;
}

/// Puts the buffer of that name into the registers of the destination.
inline void put_into_destination(CallUnderTest& call, std::string_view name) {
  const ir::BufferId d = std::get<ir::Region>(call.f.tile_calls.back().args[0]).buffer;
  for (std::uint32_t i = 0; i < call.f.buffer_count(); ++i) {
    ir::Buffer& buffer = call.f.at(ir::BufferId{i});
    if (buffer.name != name) continue;
    buffer.origin = ir::BufferOrigin::View;
    buffer.base = d;
  }
}

/// A copy of the expression in which the `which`-th number is one larger; the expression itself
/// when it has fewer.
inline ir::ExprId changed(ir::Function& f, ir::ExprId id, int& which) {
  ir::Expr e = f[id];
  const bool is_int = e.op == ir::ExprOp::IntImm, is_real = e.op == ir::ExprOp::FloatImm;
  if ((is_int || is_real) && which-- == 0) {
    e.integer += is_int ? 1 : 0;
    e.real += is_real ? 1 : 0;
    return f.add(std::move(e));
  }
  bool is_same = true;
  for (ir::ExprId& arg : e.args) {
    const ir::ExprId next = changed(f, arg, which);
    is_same = is_same && next == arg;
    arg = next;
  }
  return is_same ? id : f.add(std::move(e));
}

/// Makes each number in the expression at place(), an ExprId&, one larger in turn:
/// visit(before, after) while it is.
template <typename Place, typename Visit>
void for_each_change(ir::Function& f, Place&& place, Visit&& visit) {
  for (int which = 0;; ++which) {
    const ir::ExprId before = place();
    int left = which;
    const ir::ExprId after = changed(f, before, left);
    if (after == before) return;
    place() = after;
    visit(before, after);
    place() = before;
  }
}

/// The expressions that stores and conditions have: what is stored and where, and each condition.
/// keep(id) says which stores count.
template <typename Keep>
std::vector<std::function<ir::ExprId&()>> number_places(CallUnderTest& call, Keep&& keep) {
  std::vector<std::function<ir::ExprId&()>> out;
  for (const ir::StmtId id : all_of(call, ir::StmtKind::Store)) {
    if (!keep(id)) continue;
    out.emplace_back([&call, id]() -> ir::ExprId& { return call.f.at(id).expr; });
    out.emplace_back([&call, id]() -> ir::ExprId& { return call.f.at(id).args[0]; });
  }
  for (const ir::StmtId id : all_of(call, ir::StmtKind::If))
    out.emplace_back([&call, id]() -> ir::ExprId& { return call.f.at(id).expr; });
  return out;
}

/// What the proof says when the n-th of two barriers is left out.
inline std::string without_barrier(CallUnderTest& call, std::size_t n) {
  const std::vector<ir::StmtId> barriers = all_of(call, ir::StmtKind::Evaluate);
  EXPECT_EQ(barriers.size(), 2U);
  call.code.erase(std::ranges::find(call.code, barriers[n]));
  const Proof proof = call.prove();
  return proof.difference + proof.could_not;
}

}  // namespace ww::lower::test
