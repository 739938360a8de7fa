// SPDX-License-Identifier: Apache-2.0
#include "ir/launch/uniformity.h"

#include <algorithm>

#include "ir/below.h"

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

}  // namespace

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

namespace {

class Uniformity {
 public:
  Uniformity(const Function& f, const Definitions& definitions, const MemoryUnits& memory,
             ThreadValues& values, const Threads& among)
      : f_(f), definitions_(definitions), memory_(memory), values_(values), among_(among) {}

  Unit of(ExprId expr) {
    bottom_up(
        expr, [&](ExprId id, auto&& add) { for_each_part(id, add); },
        [&](ExprId id) { return done_.contains(id.index); },
        [&](ExprId id) {
          const PerThread& values = values_.of(id);
          done_.emplace(id.index, is_known(values) ? unit_of(values, among_) : by_parts(id));
        });
    return done_.at(expr.index);
  }

 private:
  [[nodiscard]] bool is_known(const PerThread& values) const {
    return (among_ & ~values.known).none();
  }

  // The expressions that `by_parts` asks for.
  template <typename Add>
  void for_each_part(ExprId id, const Add& add) {
    if (!is_known(values_.of(id))) for_each_decider(f_, definitions_, id, add);
  }

  [[nodiscard]] Unit known(ExprId expr) const { return done_.at(expr.index); }

  Unit by_parts(ExprId expr) {
    const Expr& e = f_[expr];
    switch (e.op) {
      case ExprOp::Var:
        return variable(e.var);
      case ExprOp::Load:
        return loaded(expr);
      case ExprOp::AddressOf:
      case ExprOp::BufferData:
        return std::min(address(f_[e.buffer]), all(e.args));
      case ExprOp::Call:
        return called(e);
      default:
        return all(e.args);
    }
  }

  template <typename Args>
  Unit all(const Args& args) {
    Unit unit = Unit::Kernel;
    for (const ExprId arg : args) unit = std::min(unit, known(arg));
    return unit;
  }

  Unit loaded(ExprId expr) {
    if (const Definition once = definition_of(f_, definitions_, expr); once.value.valid())
      return known(once.value);
    Unit unit = memory_.of(expr).unit;
    for_each_decider(f_, definitions_, expr,
                     [&](ExprId part) { unit = std::min(unit, known(part)); });
    return unit;
  }

  static Unit address(const Buffer& buffer) {
    if (buffer.scope == Scope::Local || buffer.origin == BufferOrigin::Pointer) return Unit::Thread;
    return buffer.scope == Scope::Global ? Unit::Kernel : Unit::Cta;
  }

  Unit variable(VarId var) {
    if (const auto given = given_unit(f_, definitions_, var)) return *given;
    if (f_[var].kind == VarKind::Let) {
      const ExprId value = definitions_.lets[var.index].value;
      return value.valid() ? known(value) : Unit::Thread;
    }
    const StmtId loop = definitions_.loops[var.index];
    return loop.valid() ? all(f_[loop].args) : Unit::Thread;
  }

  Unit called(const Expr& e) {
    const bool is_whole_warp = !e.args.empty() && const_int(f_, e.args[0]) == 0xffffffff;
    switch (e.callee) {
      case Intrinsic::Uniform:
        return std::max(Unit::Cta, all(e.args));
      case Intrinsic::WarpUniform:
        return std::max(Unit::Warp, all(e.args));
      case Intrinsic::Ballot:
      case Intrinsic::AnySync:
      case Intrinsic::AllSync:
        return is_whole_warp ? Unit::Warp : Unit::Thread;
      case Intrinsic::Shfl:
        return is_whole_warp && const_int(f_, e.args[3]) == 32 && known(e.args[2]) >= Unit::Warp
                   ? Unit::Warp
                   : Unit::Thread;
      default:
        return facts_of(e.callee).effect == Effect::Pure ? all(e.args) : Unit::Thread;
    }
  }

  const Function& f_;
  const Definitions& definitions_;
  const MemoryUnits& memory_;
  ThreadValues& values_;
  const Threads& among_;
  std::map<std::uint32_t, Unit> done_;
};

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

Unit uniformity_among(const Function& function, const Definitions& definitions,
                      const MemoryUnits& memory, ThreadValues& values, ExprId expr,
                      const Threads& among) {
  return Uniformity(function, definitions, memory, values, among).of(expr);
}

}  // namespace ww::ir
