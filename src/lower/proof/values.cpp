// SPDX-License-Identifier: Apache-2.0
#include "lower/proof/values.h"

#include <algorithm>

#include "base/join.h"
#include "base/wide.h"
#include "ir/launch/thread_values.h"
#include "ir/print/print.h"
#include "ir/simplify/fold.h"
#include "lower/as_index.h"
#include "lower/operand_places.h"
#include "lower/proof/scalars.h"
#include "lower/proof/unit_arithmetic.h"

namespace ww::lower {

using ir::ExprId;
using ir::ExprOp;

namespace {
constexpr std::int64_t kFar = 1 << 24;  // ends of ranges beyond this are no numbers to try

bool is_number(ir::Type type) {
  return type.lanes == 1 && (type.is_int() || type.is_bool() || type.is_float());
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
      sample_(sample),
      few_(few),
      tables_(tables),
      random_(0x9E37'79B9'7F4A'7C15U * static_cast<std::uint64_t>(sample + 1)) {}

void ProofValues::set(ir::VarId var, PerUnit value) {
  vars_[var.index] = std::move(value);
  forget(var);
}

void ProofValues::set(ir::VarId var, PointerValue value) {
  pointers_[var.index] = std::move(value);
  forget(var);
}

void ProofValues::count(ir::BufferId counter, std::int64_t value) {
  counts_[counter.index] = value;
  memo_ = {};
  readers_.clear();
}

void ProofValues::forget(ir::VarId var) {
  const auto readers = readers_.find(var.index);
  if (readers == readers_.end()) return;
  for (const std::uint32_t number : readers->second) memo_[number].is_known = false;
}

// The same expressions are asked about in every trial of a call, and have one number in all of them.
ProofValues::Memo& ProofValues::memo_of(ExprId expr) {
  std::vector<std::uint32_t>& numbers = call_.value_numbers;
  if (expr.index >= numbers.size()) numbers.resize(f_.expr_count());
  std::uint32_t& number = numbers[expr.index];
  if (number == 0) number = ++call_.value_count;
  while (memo_.size() <= number) memo_.push_back({});
  return memo_[number];
}

Try<PerUnit> ProofValues::of(ExprId expr) { return *WW_TRY(known(expr)); }

Try<const PerUnit*> ProofValues::known(ExprId expr) {
  if (depth_ == 0) read_.clear();
  Memo& memo = memo_of(expr);
  if (memo.is_known) {
    if (depth_ > 0) read_.insert(read_.end(), memo.vars.begin(), memo.vars.end());
    return &memo.value;
  }
  if (const auto number = ir::const_int(f_, expr))
    return &remember(memo, PerUnit(threads_, *number));
  const auto before = static_cast<std::ptrdiff_t>(read_.size());
  ++depth_;
  Values out = compute(expr);
  --depth_;
  if (!out) return std::move(out).failure();
  std::sort(read_.begin() + before, read_.end());
  read_.erase(std::unique(read_.begin() + before, read_.end()), read_.end());
  const auto vars = std::span(read_).subspan(as_index(before));
  if (!std::ranges::equal(vars, memo.vars)) {
    for (const std::uint32_t var : vars)
      if (!std::binary_search(memo.vars.begin(), memo.vars.end(), var))
        readers_[var].push_back(call_.value_numbers[expr.index]);
    memo.vars.assign(vars.begin(), vars.end());
  }
  return &remember(memo, *std::move(out));
}

const PerUnit& ProofValues::remember(Memo& memo, PerUnit value) {
  memo.value = std::move(value);
  memo.is_known = true;
  return memo.value;
}

ProofValues::Values ProofValues::compute(ExprId expr) {
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
      Values c = of(e.args[0]), a = of(e.args[1]), b = of(e.args[2]);
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
    if (e.args.size() == 1) return changed(e);
    if (e.args.size() == 2) return operated(expr);
  }
  return unknown("`{}`", ir::print(f_, expr));
}

ProofValues::Values ProofValues::changed(const ir::Expr& e) {
  const PerUnit& value = *WW_TRY(known(e.args[0]));
  const num::DType from = f_[e.args[0]].type.dtype, to = e.type.dtype;
  if (e.op == ExprOp::Cast)
    if (auto out = unit_cast(from, to, value)) return *std::move(out);
  return per_thread(value.is_uniform(), [&](std::size_t t) {
    return e.op == ExprOp::Cast          ? scalars::cast(from, to, value[t])
           : e.op == ExprOp::Reinterpret ? scalars::reinterpreted(from, to, value[t])
                                         : scalars::operated(e.op, from, value[t]);
  });
}

ProofValues::Values ProofValues::operated(ExprId expr) {
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

ProofValues::Values ProofValues::new_operated(ExprId expr, const PerUnit& a, const PerUnit& b) {
  const ir::Expr& e = f_[expr];
  const ir::Type type = f_[e.args[0]].type;
  if (auto out = unit_operated(e.op, type.dtype, e.type.dtype, a, b)) return *std::move(out);
  std::optional<std::size_t> fails;
  PerUnit out = per_thread(a.is_uniform() && b.is_uniform(), [&](std::size_t t) {
    auto value = type.is_int() ? ir::int_result(e.op, a[t], b[t], type) : std::nullopt;
    if (value)
      value = ir::wrap(e.type.dtype, *value);
    else
      value = scalars::operated(e.op, type.dtype, a[t], b[t]);
    if (!value && !fails) fails = t;
    return value.value_or(0);
  });
  if (fails) return unknown("`{}` of {}", ir::name_of(e.op), b[*fails]);
  if (e.type.is_bool() && type.is_float()) note_outcome(expr, out);
  return out;
}

// Whatever the indices are written as, an element is the same in the primitive and in its code.
ProofValues::Values ProofValues::loaded(ExprId expr) {
  const ir::Expr& e = f_[expr];
  if (const auto count = counts_.find(e.buffer.index); count != counts_.end())
    return PerUnit(threads_, count->second);
  const ir::Range range =
      e.type.is_float() ? ir::Range{} : ir::range_of(f_, expr, call_.context.facts);
  std::vector<PerUnit> indices;
  for (const ExprId arg : e.args) {
    Values index = of(arg);
    if (!index) return sampled_by(e.type, ir::print(f_, expr), range);
    indices.push_back(*std::move(index));
  }
  const ir::Buffer& buffer = f_[e.buffer];
  const bool is_same =
      std::all_of(indices.begin(), indices.end(), [](const PerUnit& i) { return i.is_uniform(); });
  std::string last;
  std::int64_t value = 0;
  return per_thread(is_same, [&](std::size_t t) {
    std::string key = fmt::format("{} {}", buffer.name, e.buffer.index);
    for (const PerUnit& index : indices) key += fmt::format(" {}", index[t]);
    if (key != last) value = sampled_by(e.type, key, range).front();
    last = std::move(key);
    return value;
  });
}

// Pure functions of numbers are computed; what threads exchange is the same where they give the
// same.
ProofValues::Values ProofValues::called(ExprId expr) {
  const ir::Expr& e = f_[expr];
  const ir::Effect effect = ir::facts_of(e.callee).effect;
  const bool is_pure = effect == ir::Effect::Pure && is_number(e.type);
  std::vector<PerUnit> args;
  for (const ExprId arg : e.args) {
    if (!is_number(f_[arg].type)) break;
    if (Values value = of(arg)) args.push_back(*std::move(value));
  }
  const bool knows_all = args.size() == e.args.size();
  if (is_pure && knows_all) {
    const bool is_same =
        std::all_of(args.begin(), args.end(), [](const PerUnit& arg) { return arg.is_uniform(); });
    std::vector<std::int64_t> of_one(args.size());
    PerUnit out = per_thread(is_same, [&](std::size_t t) {
      for (std::size_t i = 0; i < args.size(); ++i) of_one[i] = args[i][t];
      return scalars::called(e.callee, f_[e.args[0]].type.dtype, of_one);
    });
    if (e.type.is_bool()) note_outcome(expr, out);
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
  return sampled_by(e.type, key, range);
}

// Both outcomes of a condition should be tried, and those of floats follow from no choice of few.
void ProofValues::note_outcome(ExprId expr, const PerUnit& outcome) {
  std::vector<bool>& seen = few_.try_emplace(ir::print(f_, expr), 2).first->second;
  for (std::size_t t = 0; t < outcome.distinct(); ++t) seen[outcome[t] != 0 ? 1 : 0] = true;
}

PerUnit ProofValues::sampled_by(ir::Type type, const std::string& key, ir::Range range) {
  if (type.is_float()) {
    const auto [found, is_new] = samples_.try_emplace(key, 0);
    if (is_new)
      found->second = scalars::any_float(type.dtype, key, static_cast<std::uint64_t>(sample_));
    return PerUnit(threads_, found->second);
  }
  if (type == ir::Type::of(num::DType::Uint32) && range.max > kFar) sample_address(key);
  return sampled(key, range, 1);
}

// Lane and column are added each in its half.
ProofValues::Values ProofValues::tensor_address(const ir::Expr& e) {
  Values base = of(e.args[0]), row = of(e.args[1]), column = of(e.args[2]);
  if (!base || !row || !column) return !base ? base : !row ? row : column;
  const bool is_same = base->is_uniform() && row->is_uniform() && column->is_uniform();
  return per_thread(is_same, [&](std::size_t t) {
    const std::int64_t address = (*base)[t];
    return (((address >> 16) + (*row)[t]) & 0xffff) << 16 | ((address + (*column)[t]) & 0xffff);
  });
}

ProofValues::Values ProofValues::shared_address(const ir::Expr& e) {
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
             sampled(fmt::format("window {}", storage.index), kStarts, alignment).front();
}

ProofValues::Values ProofValues::variable(ExprId expr) {
  const ir::VarId var = f_[expr].var;
  read_.push_back(var.index);
  if (const auto found = vars_.find(var.index); found != vars_.end()) return found->second;
  if (f_[var].kind == ir::VarKind::Launch) return launch_variable(var);
  if (const ExprId value = call_.context.facts.value(var); value.valid()) return of(value);
  if (f_[expr].type.is_float()) return sampled_by(f_[expr].type, key_of(var), {});
  const ir::Range range = ir::range_of(f_, expr, call_.context.facts);
  return sampled(key_of(var), range, call_.context.facts.divisor(var));
}

// All expressions that read an id share its table.
PerUnit ProofValues::launch_variable(ir::VarId var) {
  if (const PerUnit* known = tables_.find(var)) return *known;
  if (auto out = thread_variable(var)) {
    tables_.keep(var, *out);
    return *std::move(out);
  }
  const auto range = call_.context.facts.range(var).value_or(ir::Range{0, 0});
  return sampled(key_of(var), range, 1);
}

// threadIdx of each thread; in a cluster the coordinates of its CTAs. Other hardware ids have one value.
std::optional<PerUnit> ProofValues::thread_variable(ir::VarId var) const {
  std::int64_t below = 1;
  for (std::size_t d = 0; d < 3; ++d) {
    const std::int64_t extent = call_.context.launch.block[d];
    if (call_.context.ids.thread[d] == var)
      return per_thread(false, [&](std::size_t t) {
        return (first_ + static_cast<std::int64_t>(t)) / below % extent;
      });
    below *= extent;
  }
  for (std::size_t d = 0; d < 3 && call_.is_of_cluster(); ++d) {
    const std::int64_t extent = call_.context.launch.cluster[d];
    if (call_.context.ids.cta_in_cluster[d] == var)
      return per_thread(
          false, [&](std::size_t t) { return static_cast<std::int64_t>(t) / below % extent; });
    below *= extent;
  }
  return std::nullopt;
}

// An address that was loaded, of tensor memory for instance: two of them must not be alike in every
// sample, as they would be at the ends of their range.
void ProofValues::sample_address(const std::string& key) {
  std::uint64_t hash = 0xCBF2'9CE4'8422'2325U + static_cast<std::uint64_t>(sample_);
  for (const char c : key) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100'0000'01B3U;
  samples_.try_emplace(key, static_cast<std::int64_t>(hash >> 40U & 0x1FFU));
}

namespace {

// Which of few values a sample takes: the ends, then each of the others, beginning with another for
// each variable (`place`), so that they are not in step. As many samples as values have them all.
std::int64_t turn_of(std::int64_t sample, std::int64_t count, std::int64_t place) {
  if (sample == 0) return 0;
  if (sample == 1) return count - 1;
  if (sample < count) return 1 + (sample - 2 + place) % (count - 2);
  return (sample + place * (sample / count)) % count;
}

}  // namespace

// The ends of the range first, then small numbers, which keep small regions inside their buffers,
// then any; now and then one at its end among others. Of few values each in turn, not all variables
// in step.
std::int64_t ProofValues::choose(const std::string& key, ir::Range range, std::int64_t divisor) {
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

PerUnit ProofValues::sampled(const std::string& key, ir::Range range, std::int64_t divisor) {
  const auto [found, is_new] = samples_.try_emplace(key, 0);
  if (is_new) found->second = choose(key, range, divisor);
  return PerUnit(threads_, found->second);
}

std::string ProofValues::key_of(ir::VarId var) { return fmt::format("var {}", var.index); }

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
  // Beyond the region's end; the rest of the cases are before it.
  const std::int64_t further[] = {0,       1,          extent / 2 + 1, -1, -(extent / 2) - 1,
                                  -extent, -extent - 1};
  const std::size_t cases = may_leave ? std::size(further) : 3;
  const auto sample = static_cast<std::size_t>(sample_);
  const std::int64_t step = scale * call_.context.facts.divisor(e.var);
  const std::int64_t wanted =
      min + extent + further[(sample + salt * (sample / cases + 1)) % cases];
  const std::int64_t multiple = floor_div(wanted + (may_leave ? 0 : step - 1), step) * step / scale;
  const ir::Range range =
      call_.context.facts.range(e.var).value_or(ir::Range{1, std::int64_t{1} << 30});
  const std::int64_t least = std::max(range.min, step / scale);
  samples_.try_emplace(key_of(e.var), std::clamp(multiple, least, std::max(least, range.max)));
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
    read_.push_back(e.var.index);
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

Try<std::pair<std::int64_t, std::int64_t>> matrix_extents(ProofValues& values,
                                                          const ir::Region& region) {
  std::vector<std::int64_t> out;
  for (const ir::RangeExpr& range : region.ranges) {
    const auto extent = WW_TRY(values.uniform(range.extent));
    if (extent != 1) out.push_back(extent);
  }
  if (out.size() != 2) return unknown("an operand that is not a matrix");
  return std::pair(out[0], out[1]);
}

}  // namespace ww::lower
