// SPDX-License-Identifier: Apache-2.0
#include "ir/launch/uniformity.h"

#include <algorithm>
#include <array>
#include <functional>

#include "ir/below.h"
#include "ir/visit.h"

namespace ww::ir {
namespace {

std::size_t threads_in(Unit unit) {
  return unit == Unit::Thread
             ? 1
             : (unit == Unit::Warp ? 32 : (unit == Unit::Warpgroup ? 128 : kMaxThreads));
}

// Does `holds(first, last)` hold for each aligned unit of that size?
template <typename Holds>
bool all_units(Unit unit, const Holds& holds) {
  const std::size_t n = threads_in(unit);
  for (std::size_t t = 0; t < kMaxThreads; t += n)
    if (!holds(t, t + n)) return false;
  return true;
}

// How far known values are the same among some threads. What is computed from thread ids alone is
// the same in every CTA: one value in a CTA is one in all.
Unit unit_of(const PerThread& values, const Threads& among) {
  for (const Unit unit : {Unit::Cta, Unit::Warpgroup, Unit::Warp}) {
    const bool same = all_units(unit, [&](std::size_t first, std::size_t last) {
      const std::int64_t* seen = nullptr;
      for (std::size_t t = first; t < std::min(last, values.value.size()); ++t) {
        if (!among[t]) continue;
        if (seen != nullptr && *seen != values.value[t]) return false;
        seen = &values.value[t];
      }
      return true;
    });
    if (same) return unit == Unit::Cta ? Unit::Kernel : unit;
  }
  return Unit::Thread;
}

}  // namespace

Unit coarsest(const Threads& part, const Threads& whole, Unit at_most) {
  for (const Unit unit : {Unit::Cta, Unit::Warpgroup, Unit::Warp}) {
    if (std::min(at_most, Unit::Cta) < unit) continue;
    const bool even = all_units(unit, [&](std::size_t first, std::size_t last) {
      bool some = false;
      bool missing = false;
      for (std::size_t t = first; t < last; ++t) {
        if (!whole[t]) continue;
        some = some || part[t];
        missing = missing || !part[t];
      }
      return !some || !missing;
    });
    // All CTAs have the same sets: what is even in one is even in all together.
    if (even) return unit == Unit::Cta ? at_most : unit;
  }
  return Unit::Thread;
}

// --- the lattice ---------------------------------------------------------------------------------

Unit ValueUnits::of(ExprId expr, const Threads& among) {
  if (among_ != among) done_.clear();
  among_ = among;
  const auto is_known = [&](ExprId id) { return (among_ & ~values_.of(id).known).none(); };
  bottom_up(
      expr,
      [&](ExprId id, auto&& add) {
        if (is_known(id)) return;
        if (is_certain_ || f_[id].op != ExprOp::Load)
          for_each_decider(f_, definitions_, id, add);
        else
          std::ranges::for_each(f_[id].args, add);
      },
      [&](ExprId id) { return done_.contains(id.index); },
      [&](ExprId id) {
        done_.emplace(id.index, is_known(id) ? unit_of(values_.of(id), among_) : by_parts(id));
      });
  return done_.at(expr.index);
}

Unit ValueUnits::by_parts(ExprId expr) {
  const Expr& e = f_[expr];
  switch (e.op) {
    case ExprOp::Var:
      return variable(e.var);
    case ExprOp::Load:
      return loaded_(*this, expr);
    case ExprOp::AddressOf:
    case ExprOp::BufferData: {
      const Buffer& buffer = f_[e.buffer];
      const bool may_differ =
          buffer.scope == Scope::Local || buffer.origin == BufferOrigin::Pointer;
      if (is_certain_ && may_differ) return Unit::Thread;
      return std::min(buffer.scope == Scope::Global ? Unit::Kernel : Unit::Cta, least(e.args));
    }
    case ExprOp::Call:
      return called(e);
    default:
      return least(e.args);
  }
}

Unit ValueUnits::variable(VarId var) const {
  if (const auto given = given_unit(f_, definitions_, var)) return *given;
  const Unit otherwise = is_certain_ ? Unit::Thread : Unit::Kernel;
  if (f_[var].kind == VarKind::Let) {
    const ExprId value = definitions_.lets[var.index].value;
    return value.valid() ? least(std::array{value}) : otherwise;
  }
  const StmtId loop = definitions_.loops[var.index];
  return loop.valid() ? least(f_[loop].args) : otherwise;
}

Unit ValueUnits::called(const Expr& e) const {
  const bool is_whole_warp =
      !is_certain_ || (!e.args.empty() && const_int(f_, e.args[0]) == 0xffffffff);
  switch (e.callee) {
    case Intrinsic::Uniform:
      return std::max(Unit::Cta, least(e.args));
    case Intrinsic::WarpUniform:
      return std::max(Unit::Warp, least(e.args));
    case Intrinsic::Ballot:
    case Intrinsic::AnySync:
    case Intrinsic::AllSync:
      return is_whole_warp ? Unit::Warp : Unit::Thread;
    case Intrinsic::Shfl:
      return is_whole_warp && const_int(f_, e.args[3]) == 32
                 ? std::min(Unit::Warp, least(std::array{e.args[2]}))
                 : Unit::Thread;
    case Intrinsic::ElectSync:
      return Unit::Thread;
    default:
      break;
  }
  const Effect effect = facts_of(e.callee).effect;
  if (is_certain_) return effect == Effect::Pure ? least(e.args) : Unit::Thread;
  switch (e.callee) {
    case Intrinsic::ActiveMask:
      return Unit::Warp;
    case Intrinsic::WarpReduce:
      return const_int(f_, e.args[2]) == 32 ? Unit::Warp
                                            : std::min(Unit::Warp, least(std::array{e.args[0]}));
    case Intrinsic::CtaReduce:
      return Unit::Cta;
    default:
      return effect == Effect::Writes && e.callee != Intrinsic::FuncCall ? Unit::Thread
                                                                         : least(e.args);
  }
}

// --- what is certain -----------------------------------------------------------------------------

Unit uniformity_among(const Function& function, const Definitions& definitions,
                      const MemoryUnits& memory, ThreadValues& values, ExprId expr,
                      const Threads& among) {
  const auto loaded = [&](const ValueUnits& units, ExprId load) {
    const bool is_named = definition_of(function, definitions, load).value.valid();
    Unit unit = is_named ? Unit::Kernel : memory.of(load).unit;
    for_each_decider(function, definitions, load,
                     [&](ExprId part) { unit = std::min(unit, units.least(std::array{part})); });
    return unit;
  };
  return ValueUnits(function, definitions, values, ValueUnits::Sense::Certain, loaded)
      .of(expr, among);
}

// --- what differs --------------------------------------------------------------------------------

// What private memory holds depends on what is stored there, which may depend on private memory:
// all of it starts as the same everywhere, and is brought down until nothing changes.
Dependence::Dependence(const Function& function, const LaunchShape& shape)
    : f_(function),
      definitions_(definitions_of(function)),
      values_(function, shape, definitions_),
      written_(function.buffer_count(), Unit::Kernel),
      units_(function, definitions_, values_, ValueUnits::Sense::Possible,
             [this](const ValueUnits&, ExprId load) { return loaded(f_[load]); }) {
  do {
    has_changed_ = false;
    units_.forget();
    visit(f_.body, Unit::Kernel);
  } while (has_changed_);
  units_.forget();
}

Unit Dependence::loaded(const Expr& e) const {
  const Scope scope = f_[e.buffer].scope;
  const Unit memory = scope == Scope::Local    ? written_[storage_of(f_, e.buffer).index]
                      : scope == Scope::Global ? Unit::Kernel
                                               : Unit::Cta;
  return std::min(memory, units_.least(e.args));
}

template <typename Exprs>
Unit Dependence::least(Unit around, const Exprs& exprs) {
  for (const ExprId expr : exprs)
    around = std::min(around, units_.of(expr, first_threads(values_.count())));
  return around;
}

void Dependence::note(BufferId buffer, Unit unit) {
  if (!buffer.valid() || f_[buffer].scope != Scope::Local) return;
  Unit& known = written_[storage_of(f_, buffer).index];
  if (unit >= known) return;
  known = unit;
  has_changed_ = true;
}

void Dependence::visit(const TileCall& call, Unit around) {
  const auto* dst = std::get_if<Region>(&call.args[0]);
  if (dst == nullptr) return;
  Unit unit = has_thread_axes(f_[dst->buffer]) ? Unit::Thread : around;
  for (const TileArg& arg : call.args)
    if (const auto* scalar = std::get_if<ExprId>(&arg)) unit = least(unit, std::array{*scalar});
  note(dst->buffer, unit);
}

// `around`: how far the threads that are here are all that could be.
void Dependence::visit(const Block& block, Unit around) {
  for (const StmtId id : block) {
    const Stmt& s = f_[id];
    Unit inside = around;
    switch (s.kind) {
      case StmtKind::Store:
        note(s.buffer, least(least(around, std::array{s.expr}), s.args));
        break;
      case StmtKind::Tile:
        visit(f_[s.tile], around);
        break;
      case StmtKind::If:
      case StmtKind::While:
        inside = least(around, std::array{s.expr});
        break;
      case StmtKind::For:
        inside = least(around, s.args);
        break;
      default:
        break;
    }
    visit(s.body, inside);
    visit(s.other, inside);
  }
}

}  // namespace ww::ir
