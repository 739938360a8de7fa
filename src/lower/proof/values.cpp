// SPDX-License-Identifier: Apache-2.0
#include "lower/proof/values.h"

#include <algorithm>
#include <string>

#include "base/join.h"
#include "base/wide.h"
#include "ir/launch/thread_values.h"
#include "ir/print/print.h"
#include "ir/simplify/fold.h"
#include "lower/operand_places.h"
#include "lower/proof/scalars.h"

namespace ww::lower {
namespace {

constexpr std::int64_t kFar = 1 << 24;  // ends of ranges beyond this are no numbers to try

// Which of few values a sample takes: the ends, then each of the others, beginning with another for
// each variable (`place`), so that they are not in step. As many samples as values have them all.
std::int64_t turn_of(std::int64_t sample, std::int64_t count, std::int64_t place) {
  if (sample == 0) return 0;
  if (sample == 1) return count - 1;
  if (sample < count) return 1 + (sample - 2 + place) % (count - 2);
  return (sample + place * (sample / count)) % count;
}

}  // namespace

SampledValues::SampledValues(int sample, FewValues& few)
    : sample_(sample),
      few_(few),
      random_(0x9E37'79B9'7F4A'7C15U * static_cast<std::uint64_t>(sample + 1)) {}

std::int64_t SampledValues::within(const std::string& key, ir::Range range, std::int64_t divisor) {
  const auto [found, is_new] = chosen_.try_emplace(key, 0);
  if (is_new) found->second = choose(key, range, divisor);
  return found->second;
}

std::int64_t SampledValues::of_type(ir::Type type, const std::string& key, ir::Range range) {
  const bool is_address = type == ir::Type::of(num::DType::Uint32) && range.max > kFar;
  if (!type.is_float() && !is_address) return within(key, range);
  const auto [found, is_new] = chosen_.try_emplace(key, 0);
  if (is_new)
    found->second = is_address
                        ? address(key)
                        : scalars::any_float(type.dtype, key, static_cast<std::uint64_t>(sample_));
  return found->second;
}

// An address that was loaded, of tensor memory for instance: two of them must not be alike in every
// sample, as they would be at the ends of their range.
std::int64_t SampledValues::address(const std::string& key) const {
  std::uint64_t hash = 0xCBF2'9CE4'8422'2325U + static_cast<std::uint64_t>(sample_);
  for (const char c : key) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100'0000'01B3U;
  return static_cast<std::int64_t>(hash >> 40U & 0x1FFU);
}

// The ends of the range first, then small numbers, which keep small regions inside their buffers,
// then any; now and then one at its end among others. Of few values each in turn, not all variables
// in step.
std::int64_t SampledValues::choose(const std::string& key, ir::Range range, std::int64_t divisor) {
  constexpr std::int64_t kLarge = 200, kFew = 8;
  const std::int64_t least = std::max(range.min, -kLarge);
  const std::int64_t most =
      std::min(range.max, std::max(least, std::int64_t{0}) + kLarge * divisor);
  const std::int64_t end = range.max < kFar ? range.max : most;
  std::int64_t value = sample_ == 0 ? least : end;
  const std::int64_t first = -floor_div(-least, divisor) * divisor;
  const std::int64_t count = floor_div(end - first, divisor) + 1;
  if (count > 1 && count <= kFew) {
    const std::int64_t turn = turn_of(sample_, count, std::ssize(few_));
    few_.try_emplace(key, static_cast<std::size_t>(count))
        .first->second[static_cast<std::size_t>(turn)] = true;
    return first + turn * divisor;
  }
  random_ = random_ * 6364136223846793005U + 1442695040888963407U;
  const bool takes_end = sample_ % 4 == 3 && random_ >> 63U == 1;
  if (sample_ > 1 && !takes_end) {
    const std::int64_t from = std::max(least, std::int64_t{0});
    const std::int64_t span = std::min<std::int64_t>(most - from, divisor << (sample_ % 8)) + 1;
    value =
        from + static_cast<std::int64_t>(
                   (random_ >> 33U) % static_cast<std::uint64_t>(std::max<std::int64_t>(1, span)));
    if (sample_ % 4 == 2) value = std::min(most, from + (sample_ / 4 + 1) * divisor);  // one by one
    // A little below 0, where regions may begin that are filled up.
    if (sample_ % 8 == 5 && least < 0) value = std::max(least, -(sample_ / 8 + 1) * divisor);
  }
  value = floor_div(value, divisor) * divisor;
  return value < least ? value + divisor : value;
}

std::int64_t SampledValues::room_behind(std::int64_t extent, bool may_leave,
                                        std::size_t salt) const {
  // Beyond the region's end; the rest of the cases are before it.
  const std::int64_t further[] = {0,       1,          extent / 2 + 1, -1, -(extent / 2) - 1,
                                  -extent, -extent - 1};
  const std::size_t cases = may_leave ? std::size(further) : 3;
  const auto sample = static_cast<std::size_t>(sample_);
  return further[(sample + salt * (sample / cases + 1)) % cases];
}

void SampledValues::note_outcome(const std::string& condition, const PerUnit& outcome) {
  std::vector<bool>& seen = few_.try_emplace(condition, 2).first->second;
  for (std::size_t t = 0; t < outcome.distinct(); ++t) seen[outcome[t] != 0 ? 1 : 0] = true;
}

using ir::ExprId;
using ir::ExprOp;

namespace {

bool is_number(ir::Type type) {
  return type.lanes == 1 && (type.is_int() || type.is_bool() || type.is_float());
}

/// The key of a variable among the samples.
std::string key_of(ir::VarId var) { return fmt::format("var {}", var.index); }

// The same expressions are asked about in every trial of a call, and have one number in all of them.
std::uint32_t value_number(const Call& call, ExprId expr) {
  std::vector<std::uint32_t>& numbers = call.value_numbers;
  if (expr.index >= numbers.size()) numbers.resize(call.f().expr_count());
  std::uint32_t& number = numbers[expr.index];
  if (number == 0) number = ++call.value_count;
  return number;
}

/// value(thread) for all threads; for one of them where `is_same` in all.
template <typename Value>
PerUnit per_thread(std::size_t threads, bool is_same, Value&& value) {
  if (is_same) return {threads, value(std::size_t{0})};
  std::vector<std::int64_t> out(threads);
  for (std::size_t t = 0; t < threads; ++t) out[t] = value(t);
  return PerUnit(std::move(out));
}

// A cast, or an operation on one operand, which has type `from`.
PerUnit unit_changed(const ir::Expr& e, num::DType from, const PerUnit& value) {
  const num::DType to = e.type.dtype;
  if (e.op == ExprOp::Cast)
    if (auto out = unit_cast(from, to, value)) return *std::move(out);
  return per_thread(value.size(), value.is_uniform(), [&](std::size_t t) {
    return e.op == ExprOp::Cast          ? scalars::cast(from, to, value[t])
           : e.op == ExprOp::Reinterpret ? scalars::reinterpreted(from, to, value[t])
                                         : scalars::operated(e.op, from, value[t]);
  });
}

// threadIdx of each thread; in a cluster the coordinates of its CTAs. Other hardware ids have one value.
std::optional<PerUnit> thread_variable(const Call& call, std::int64_t first, std::size_t threads,
                                       ir::VarId var) {
  std::int64_t below = 1;
  for (std::size_t d = 0; d < 3; ++d) {
    const std::int64_t extent = call.context.launch.block[d];
    if (call.context.ids.thread[d] == var)
      return per_thread(threads, false, [&](std::size_t t) {
        return (first + static_cast<std::int64_t>(t)) / below % extent;
      });
    below *= extent;
  }
  for (std::size_t d = 0; d < 3 && call.is_of_cluster(); ++d) {
    const std::int64_t extent = call.context.launch.cluster[d];
    if (call.context.ids.cta_in_cluster[d] == var)
      return per_thread(threads, false, [&](std::size_t t) {
        return static_cast<std::int64_t>(t) / below % extent;
      });
    below *= extent;
  }
  return std::nullopt;
}

}  // namespace

ProofValues::ProofValues(const Call& call, std::int64_t first, int sample, FewValues& few,
                         UnitTables& tables)
    : call_(call),
      f_(call.f()),
      first_(first),
      threads_(static_cast<std::size_t>(
          call.is_of_cluster()
              ? call.unit_threads()
              : std::min(call.unit_threads(), call.context.launch.threads() - first))),
      tables_(tables),
      sampled_(sample, few) {}

void ProofValues::set(ir::VarId var, PerUnit value) {
  vars_[var.index] = std::move(value);
  memo_.forget(var);
}

void ProofValues::set(ir::VarId var, PointerValue value) {
  pointers_[var.index] = std::move(value);
  memo_.forget(var);
}

void ProofValues::count(ir::BufferId counter, std::int64_t value) {
  counts_[counter.index] = value;
  memo_.forget_all();
}

Try<PerUnit> ProofValues::of(ExprId expr) { return *WW_TRY(known(expr)); }

Try<const PerUnit*> ProofValues::known(ExprId expr) {
  return memo_.value(value_number(call_, expr), [&] { return compute(expr); });
}

Try<PerUnit> ProofValues::compute(ExprId expr) {
  if (const auto number = ir::const_int(f_, expr)) return PerUnit(threads_, *number);
  const ir::Expr& e = f_[expr];
  switch (e.op) {
    case ExprOp::FloatImm:
      return PerUnit(threads_, scalars::of({e.type.dtype, 0, e.real}));
    case ExprOp::Var:
      return variable(expr);
    case ExprOp::Load:
      return loaded(expr);
    case ExprOp::Select:
    case ExprOp::IfThenElse: {
      Try<PerUnit> c = of(e.args[0]), a = of(e.args[1]), b = of(e.args[2]);
      if (!c || !a || !b) return !c ? c : !a ? a : b;
      if (c->is_uniform()) return c->front() != 0 ? a : b;
      std::vector<std::int64_t> out = a->expanded();
      for (std::size_t t = 0; t < threads_; ++t)
        if ((*c)[t] == 0) out[t] = (*b)[t];
      return PerUnit(std::move(out));
    }
    case ExprOp::Call:
      if (ir::is_its_argument(e.callee)) return of(e.args[0]);
      if (e.callee == ir::Intrinsic::TmemAddr) return tensor_address(e);
      if (e.callee == ir::Intrinsic::CvtaToShared) return shared_address(e);
      return called(expr);
    default:
      break;
  }
  if (!e.args.empty() && is_number(e.type) && is_number(f_[e.args[0]].type)) {
    if (e.args.size() == 1)
      return unit_changed(e, f_[e.args[0]].type.dtype, *WW_TRY(known(e.args[0])));
    if (e.args.size() == 2) return operated(expr);
  }
  return unknown("`{}`", ir::print(f_, expr));
}

Try<PerUnit> ProofValues::operated(ExprId expr) {
  const ir::Expr& e = f_[expr];
  const PerUnit& a = *WW_TRY(known(e.args[0]));
  const PerUnit& b = *WW_TRY(known(e.args[1]));
  UnitTables::Operation operation{e.op, f_[e.args[0]].type.dtype, e.type.dtype, a, b};
  if (!operation.is_worth_keeping()) return new_operated(expr, a, b);
  if (const PerUnit* known = tables_.find(operation)) return *known;
  auto out = WW_TRY(new_operated(expr, a, b));
  const bool is_noted = e.type.is_bool() && num::is_float(operation.type);
  if (!is_noted) tables_.keep(std::move(operation), out);
  return out;
}

Try<PerUnit> ProofValues::new_operated(ExprId expr, const PerUnit& a, const PerUnit& b) {
  const ir::Expr& e = f_[expr];
  const ir::Type type = f_[e.args[0]].type;
  if (auto out = unit_operated(e.op, type.dtype, e.type.dtype, a, b)) return *std::move(out);
  std::optional<std::size_t> fails;
  PerUnit out = per_thread(threads_, a.is_uniform() && b.is_uniform(), [&](std::size_t t) {
    auto value = type.is_int() ? ir::int_result(e.op, a[t], b[t], type) : std::nullopt;
    if (value)
      value = ir::wrap(e.type.dtype, *value);
    else
      value = scalars::operated(e.op, type.dtype, a[t], b[t]);
    if (!value && !fails) fails = t;
    return value.value_or(0);
  });
  if (fails) return unknown("`{}` of {}", ir::name_of(e.op), b[*fails]);
  if (e.type.is_bool() && type.is_float()) sampled_.note_outcome(ir::print(f_, expr), out);
  return out;
}

// Whatever the indices are written as, an element is the same in the primitive and in its code.
Try<PerUnit> ProofValues::loaded(ExprId expr) {
  const ir::Expr& e = f_[expr];
  if (const auto count = counts_.find(e.buffer.index); count != counts_.end())
    return PerUnit(threads_, count->second);
  const ir::Range range =
      e.type.is_float() ? ir::Range{} : ir::range_of(f_, expr, call_.context.facts);
  std::vector<PerUnit> indices;
  for (const ExprId arg : e.args) {
    Try<PerUnit> index = of(arg);
    if (!index) return PerUnit(threads_, sampled_.of_type(e.type, ir::print(f_, expr), range));
    indices.push_back(*std::move(index));
  }
  const ir::Buffer& buffer = f_[e.buffer];
  const bool is_same =
      std::all_of(indices.begin(), indices.end(), [](const PerUnit& i) { return i.is_uniform(); });
  std::string last;
  std::int64_t value = 0;
  return per_thread(threads_, is_same, [&](std::size_t t) {
    std::string key = fmt::format("{} {}", buffer.name, e.buffer.index);
    for (const PerUnit& index : indices) key += fmt::format(" {}", index[t]);
    if (key != last) value = sampled_.of_type(e.type, key, range);
    last = std::move(key);
    return value;
  });
}

// Pure functions of numbers are computed; what threads exchange is the same where they give the
// same.
Try<PerUnit> ProofValues::called(ExprId expr) {
  const ir::Expr& e = f_[expr];
  const ir::Effect effect = ir::facts_of(e.callee).effect;
  const bool is_pure = effect == ir::Effect::Pure && is_number(e.type);
  std::vector<PerUnit> args;
  for (const ExprId arg : e.args) {
    if (!is_number(f_[arg].type)) break;
    if (Try<PerUnit> value = of(arg)) args.push_back(*std::move(value));
  }
  const bool knows_all = args.size() == e.args.size();
  if (is_pure && knows_all) {
    const bool is_same =
        std::all_of(args.begin(), args.end(), [](const PerUnit& arg) { return arg.is_uniform(); });
    std::vector<std::int64_t> of_one(args.size());
    PerUnit out = per_thread(threads_, is_same, [&](std::size_t t) {
      for (std::size_t i = 0; i < args.size(); ++i) of_one[i] = args[i][t];
      return scalars::called(e.callee, f_[e.args[0]].type.dtype, of_one);
    });
    if (e.type.is_bool()) sampled_.note_outcome(ir::print(f_, expr), out);
    return out;
  }
  std::string key;
  if (effect == ir::Effect::Exchange && knows_all) {
    key = ir::facts_of(e.callee).name;
    for (const PerUnit& arg : args) key += fmt::format(" {}", join(arg.expanded(), ","));
  } else {
    key = ir::print(f_, expr);
  }
  const ir::Range range =
      e.type.is_float() ? ir::Range{} : ir::range_of(f_, expr, call_.context.facts);
  return PerUnit(threads_, sampled_.of_type(e.type, key, range));
}

// Lane and column are added each in its half.
Try<PerUnit> ProofValues::tensor_address(const ir::Expr& e) {
  Try<PerUnit> base = of(e.args[0]), row = of(e.args[1]), column = of(e.args[2]);
  if (!base || !row || !column) return !base ? base : !row ? row : column;
  const bool is_same = base->is_uniform() && row->is_uniform() && column->is_uniform();
  return per_thread(threads_, is_same, [&](std::size_t t) {
    const std::int64_t address = (*base)[t];
    return (((address >> 16) + (*row)[t]) & 0xffff) << 16 | ((address + (*column)[t]) & 0xffff);
  });
}

Try<PerUnit> ProofValues::shared_address(const ir::Expr& e) {
  const auto at = WW_TRY(pointer(e.args[0]));
  return PerUnit(threads_, window_of(at.storage)).plus(at.bit.divided_by(8));
}

// Not so far from the start that the end would leave the window; the greatest is aligned to no more
// than it must be.
std::int64_t ProofValues::window_of(ir::BufferId storage) {
  constexpr ir::Range kStarts{0, (1 << 14) - 1};
  if (const auto found = windows_.find(storage.index); found != windows_.end())
    return found->second;
  const std::int64_t alignment = storage_alignment(call_.context, storage);
  return windows_[storage.index] =
             sampled_.within(fmt::format("window {}", storage.index), kStarts, alignment);
}

Try<PerUnit> ProofValues::variable(ExprId expr) {
  const ir::VarId var = f_[expr].var;
  memo_.note_read(var);
  if (const auto found = vars_.find(var.index); found != vars_.end()) return found->second;
  if (f_[var].kind == ir::VarKind::Launch) return launch_variable(var);
  if (const ExprId value = call_.context.facts.value(var); value.valid()) return of(value);
  if (f_[expr].type.is_float())
    return PerUnit(threads_, sampled_.of_type(f_[expr].type, key_of(var), {}));
  const ir::Range range = ir::range_of(f_, expr, call_.context.facts);
  return PerUnit(threads_, sampled_.within(key_of(var), range, call_.context.facts.divisor(var)));
}

// All expressions that read an id share its table.
PerUnit ProofValues::launch_variable(ir::VarId var) {
  if (const PerUnit* known = tables_.find(var)) return *known;
  if (auto out = thread_variable(call_, first_, threads_, var)) {
    tables_.keep(var, *out);
    return *std::move(out);
  }
  const auto range = call_.context.facts.range(var).value_or(ir::Range{0, 0});
  return PerUnit(threads_, sampled_.within(key_of(var), range));
}

void ProofValues::prefer_near(ExprId whole, std::int64_t min, std::int64_t extent, bool may_leave,
                              std::size_t salt) {
  // A parameter, or a multiple of one.
  std::int64_t scale = 1;
  const bool is_multiple = f_[whole].op == ExprOp::Mul;
  if (is_multiple) {
    const auto factor = ir::const_int(f_, f_[whole].args[1]);
    if (!factor || *factor < 1) return;
    scale = *factor;
  }
  const ir::Expr& e = f_[is_multiple ? f_[whole].args[0] : whole];
  if (e.op != ExprOp::Var || f_[e.var].kind == ir::VarKind::Launch) return;
  if (vars_.contains(e.var.index) || call_.context.facts.value(e.var).valid()) return;
  const std::int64_t step = scale * call_.context.facts.divisor(e.var);
  const std::int64_t wanted = min + extent + sampled_.room_behind(extent, may_leave, salt);
  const std::int64_t multiple = floor_div(wanted + (may_leave ? 0 : step - 1), step) * step / scale;
  const ir::Range range =
      call_.context.facts.range(e.var).value_or(ir::Range{1, std::int64_t{1} << 30});
  const std::int64_t least = std::max(range.min, step / scale);
  sampled_.prefer(key_of(e.var), std::clamp(multiple, least, std::max(least, range.max)));
}

Try<std::int64_t> ProofValues::uniform(ExprId expr) {
  if (const auto number = ir::const_int(f_, expr)) return *number;
  const PerUnit& values = *WW_TRY(known(expr));
  if (!values.is_uniform()) return unknown("`{}` differs between threads", ir::print(f_, expr));
  return values.front();
}

// --- pointers ------------------------------------------------------------------------------------

Try<PerUnit> ProofValues::start_of(ir::BufferId id) {
  const ir::Buffer& buffer = f_[id];
  PerUnit out(threads_, 0);
  const auto add = [&](ExprId offset, std::int64_t bits) -> Try<void> {
    if (!offset.valid()) return {};
    out = out.plus(*WW_TRY(known(offset)), bits);
    return {};
  };
  WW_TRY_VOID(add(buffer.elem_offset, num::storage_bits(buffer.dtype)));
  WW_TRY_VOID(add(buffer.byte_offset, 8));
  return out;
}

Try<PointerValue> ProofValues::pointer(ExprId expr) {
  const ir::Expr& e = f_[expr];
  if (e.op == ExprOp::Var) {
    memo_.note_read(e.var);
    const auto found = pointers_.find(e.var.index);
    if (found != pointers_.end()) return found->second;
  }
  const bool is_offset = e.op == ExprOp::Call && e.callee == ir::Intrinsic::PointerOffset;
  if (is_offset) {
    auto base = WW_TRY(pointer(e.args[0]));
    base.bit = base.bit.plus(*WW_TRY(known(e.args[1])), num::storage_bits(e.type.dtype));
    return base;
  }
  const bool is_flat = e.op == ExprOp::AddressOf && e.args.size() == 1 &&
                       f_[e.buffer].layout_kind == ir::LayoutKind::None;
  if (!is_flat) return unknown("pointer `{}`", ir::print(f_, expr));
  const PerUnit& index = *WW_TRY(known(e.args[0]));
  const PerUnit start = WW_TRY(start_of(e.buffer));
  return PointerValue{.storage = ir::storage_of(f_, e.buffer),
                      .bit = start.plus(index, num::storage_bits(f_[e.buffer].dtype))};
}

Try<std::vector<std::int64_t>> extents_of(ProofValues& values, const ir::Region& region) {
  std::vector<std::int64_t> out;
  for (const ir::RangeExpr& range : region.ranges)
    out.push_back(WW_TRY(values.uniform(range.extent)));
  return out;
}

Try<std::pair<std::int64_t, std::int64_t>> matrix_extents(ProofValues& values,
                                                          const ir::Region& region) {
  auto out = WW_TRY(extents_of(values, region));
  std::erase(out, 1);
  if (out.size() != 2) return unknown("an operand that is not a matrix");
  return std::pair(out[0], out[1]);
}

}  // namespace ww::lower
