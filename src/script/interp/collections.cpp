// SPDX-License-Identifier: Apache-2.0
#include "script/interp/evaluator.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/fail_at.h"
#include "base/suggest.h"

namespace ww::script {
namespace {

constexpr std::size_t kMaxElements = 1U << 22U;
constexpr std::int64_t kFarStep = std::int64_t{1} << 40;  // beyond any list

// "x" * 3, [0] * 8
Result<Value> repeat(Context& in, const Value& sequence, Wide times, Span span) {
  constexpr Wide kFar = Wide{1} << 40;
  const auto count = static_cast<std::size_t>(std::clamp(times, Wide{0}, kFar));
  const bool is_text = sequence.is(Kind::Str);
  const std::size_t size =
      is_text ? text_of(sequence).size() : sequence.as<SeqObject>().items.size();
  const Wide total = Wide{size} * Wide{count};
  const bool fits =
      total < kFar && (is_text ? in.heap.has_room(static_cast<std::size_t>(total) / 8)
                               : in.heap.has_room_for_values(static_cast<std::size_t>(total)));
  if (!fits)
    return fail_at(span, DiagKind::Budget, "a {} of {} element{} repeated {}{} times",
                   type_name(sequence), size, size == 1 ? "" : "s",
                   times > kFar ? "more than " : "", count);
  const std::size_t copies = size == 0 ? 0 : count;
  WW_TRY_VOID(spend(in, static_cast<std::uint64_t>(total) / (is_text ? 64 : 4), span));
  if (is_text) {
    std::string out;
    out.reserve(size * copies);
    for (std::size_t i = 0; i < copies; ++i) out += text_of(sequence);
    return in.heap.str(std::move(out));
  }
  const std::vector<Value>& items = sequence.as<SeqObject>().items;
  std::vector<Value> out;
  out.reserve(size * copies);
  for (std::size_t i = 0; i < copies; ++i) out.insert(out.end(), items.begin(), items.end());
  return in.heap.seq(sequence.kind, std::move(out));
}

Result<Value> joined(Context& in, const Value& a, const Value& b, Span span) {
  const Diag too_large = diag_at(span, DiagKind::Budget, "a {} too long", type_name(a));
  if (a.is(Kind::Str)) {
    const std::size_t size = text_of(a).size() + text_of(b).size();
    if (!in.heap.has_room(size / 8)) return fail(too_large);
    return in.heap.str(std::string(text_of(a)) + std::string(text_of(b)));
  }
  const std::vector<Value>& first = a.as<SeqObject>().items;
  const std::vector<Value>& second = b.as<SeqObject>().items;
  if (!in.heap.has_room_for_values(first.size() + second.size())) return fail(too_large);
  WW_TRY_VOID(spend(in, (first.size() + second.size()) / 4, span));
  std::vector<Value> items = first;
  items.insert(items.end(), second.begin(), second.end());
  return in.heap.seq(a.kind, std::move(items));
}

Result<Value> set_binary(Context& in, Op op, const Value& a, const Value& b, Span span) {
  const std::vector<Value>& first = a.as<SeqObject>().items;
  const std::vector<Value>& second = b.as<SeqObject>().items;
  std::vector<Value> out;
  for (const Value& item : first) {
    const bool in_both = WW_TRY(find_item(in, second, item, span)).has_value();
    if (op == Op::BitOr || in_both == (op == Op::BitAnd)) out.push_back(item);
  }
  if (op == Op::BitOr)
    for (const Value& item : second)
      if (!WW_TRY(find_item(in, first, item, span))) out.push_back(item);
  return in.heap.seq(Kind::Set, std::move(out));
}

Result<Value> merged(Context& in, const Value& a, const Value& b, Span span) {
  const Value out = in.heap.wrap(Kind::Dict, DictObject(a.as<DictObject>()));
  for (const auto& [key, value] : b.as<DictObject>().items)
    WW_TRY_VOID(put(in, out.as<DictObject>(), key, value, span));
  return out;
}

// begin, end and step of a slice over a sequence of `size` elements, as Python counts them.
struct SliceBounds {
  std::int64_t begin, end, step;
};
Result<SliceBounds> slice_bounds(Context& in, const SliceObject& slice, std::int64_t size,
                                 Span span) {
  SliceBounds out{};
  out.step = slice.step.is(Kind::None) ? 1 : WW_TRY(as_integer(in, {slice.step, span}, "the step"));
  if (out.step == 0) return fail_at(span, DiagKind::HostError, "a slice with step 0");
  out.step = std::clamp(out.step, -kFarStep, kFarStep);
  const bool is_forward = out.step > 0;
  const auto bound = [&](const Value& v, std::int64_t missing) -> Result<std::int64_t> {
    if (v.is(Kind::None)) return missing;
    std::int64_t i = WW_TRY(as_integer(in, {v, span}, "a bound"));
    if (i < 0) i += size;
    return std::clamp(i, std::int64_t{is_forward ? 0 : -1}, is_forward ? size : size - 1);
  };
  out.begin = WW_TRY(bound(slice.begin, is_forward ? 0 : size - 1));
  out.end = WW_TRY(bound(slice.end, is_forward ? size : -1));
  return out;
}

Result<Value> slice_of(Context& in, const Value& sequence, const SliceObject& slice, Span span) {
  const bool is_text = sequence.is(Kind::Str);
  const std::size_t size =
      is_text ? text_of(sequence).size() : sequence.as<SeqObject>().items.size();
  const SliceBounds at = WW_TRY(slice_bounds(in, slice, static_cast<std::int64_t>(size), span));
  WW_TRY_VOID(spend(in, size / 16, span));
  std::string text;
  std::vector<Value> items;
  for (std::int64_t i = at.begin; at.step > 0 ? i < at.end : i > at.end; i += at.step) {
    const auto place = static_cast<std::size_t>(i);
    if (is_text)
      text += text_of(sequence)[place];
    else
      items.push_back(sequence.as<SeqObject>().items[place]);
  }
  if (is_text) return in.heap.str(std::move(text));
  return in.heap.seq(sequence.kind, std::move(items));
}

std::int64_t size_of(const Value& sequence) {
  if (sequence.is(Kind::Range)) return sequence.as<RangeObject>().size();
  if (sequence.is(Kind::Str)) return static_cast<std::int64_t>(text_of(sequence).size());
  return static_cast<std::int64_t>(sequence.as<SeqObject>().items.size());
}

// Part of a kernel, or possibly holding such a part.
bool may_be_of_kernel(const Value& value, std::size_t kernel_begins) {
  switch (value.kind) {
    case Kind::Ir:
    case Kind::Buffer:
      return true;
    case Kind::Str:
    case Kind::Range:
    case Kind::Namespace:
    case Kind::Axis:
    case Kind::AxisTerm:
    case Kind::Spec:
    case Kind::Swizzle:
    case Kind::Layout:
    case Kind::Builtin:
    case Kind::Opaque:
      return false;
    default:
      return value.object != nullptr && value.object->serial >= kernel_begins;
  }
}

Result<void> run_clauses(Context& in, const Expr& e, std::size_t clause, Env& env,
                         const std::function<Result<void>(Env&)>& body) {
  const std::span<const Clause> clauses = in.ast().list(e.clauses);
  if (clause == clauses.size()) return body(env);
  const Clause& c = clauses[clause];
  const Value iterable = WW_TRY(eval(in, c.iterable, env));
  for (const Value& item : WW_TRY(iterate(in, {iterable, in.span(c.iterable)}))) {
    WW_TRY_VOID(spend(in, 1, in.span(c.iterable)));
    WW_TRY_VOID(assign_host(in, c.target, item, env));
    bool taken = true;
    for (const ExprId condition : in.ast().list(c.conditions))
      taken = taken && WW_TRY(truth(in, {WW_TRY(eval(in, condition, env)), in.span(condition)}));
    if (taken) WW_TRY_VOID(run_clauses(in, e, clause + 1, env, body));
  }
  return {};
}

}  // namespace

// --- operators -----------------------------------------------------------------------------------

std::optional<Result<Value>> collection_binary(Context& in, Op op, const Value& a, const Value& b,
                                               Span span) {
  const bool a_repeats = a.is(Kind::Str) || is_sequence(a);
  const bool b_repeats = b.is(Kind::Str) || is_sequence(b);
  if (op == Op::Add && a_repeats && a.kind == b.kind) return joined(in, a, b, span);
  if (op == Op::Mul && a_repeats && is_intlike(b)) return repeat(in, a, int_of(b), span);
  if (op == Op::Mul && b_repeats && is_intlike(a)) return repeat(in, b, int_of(a), span);
  const bool of_sets = op == Op::BitOr || op == Op::BitAnd || op == Op::Sub;
  if (of_sets && a.is(Kind::Set) && b.is(Kind::Set)) return set_binary(in, op, a, b, span);
  if (op == Op::BitOr && a.is(Kind::Dict) && b.is(Kind::Dict)) return merged(in, a, b, span);
  return std::nullopt;
}

Result<bool> contains(Context& in, const Value& item, const Value& in_what, Span span) {
  if (in_what.is(Kind::Str) && item.is(Kind::Str)) {
    WW_TRY_VOID(spend(in, text_of(in_what).size() / 64, span));
    return text_of(in_what).find(text_of(item)) != std::string_view::npos;
  }
  if (in_what.is(Kind::Dict)) {
    const Value* found = WW_TRY(find_key(in, in_what.as<DictObject>(), item, span));
    return found != nullptr;
  }
  if (in_what.is(Kind::Range) && is_intlike(item)) {
    const RangeObject& range = in_what.as<RangeObject>();
    const Wide from = int_of(item) - range.begin;
    return from % range.step == 0 && from / range.step >= 0 && from / range.step < range.size();
  }
  const std::vector<Value> items = WW_TRY(iterate(in, {in_what, span}));
  return WW_TRY(find_item(in, items, item, span)).has_value();
}

Result<std::size_t> place_in(Context& in, const Value& sequence, const Value& index,
                             std::size_t size, Span span) {
  const auto end = static_cast<std::int64_t>(size);
  const std::int64_t i = WW_TRY(as_integer(in, {index, span}, "the index"));
  const std::int64_t place = i < 0 ? i + end : i;
  if (place >= 0 && place < end) return static_cast<std::size_t>(place);
  return fail_at(span, DiagKind::HostError, "index {} of a {} of {}", repr(index),
                 type_name(sequence), size);
}

Result<Value> item_of(Context& in, const Value& sequence, const Value& index, Span span) {
  const bool is_range = sequence.is(Kind::Range);
  if (index.is(Kind::Slice)) {
    const SliceObject& slice = index.as<SliceObject>();
    if (!is_range) return slice_of(in, sequence, slice, span);
    return slice_of(in, in.heap.list(WW_TRY(iterate(in, {sequence, span}))), slice, span);
  }
  const auto size = static_cast<std::size_t>(size_of(sequence));
  const std::size_t place = WW_TRY(place_in(in, sequence, index, size, span));
  if (sequence.is(Kind::Str)) return in.heap.str(std::string(1, text_of(sequence)[place]));
  if (!is_range) return sequence.as<SeqObject>().items[place];
  const RangeObject& range = sequence.as<RangeObject>();
  return of_int(Wide{range.begin} + Wide{static_cast<std::int64_t>(place)} * range.step);
}

Result<Value> value_of(Context& in, DictObject& dict, const Value& key, Span span) {
  if (key.is(Kind::Opaque)) return key;
  if (const Value* value = WW_TRY(find_key(in, dict, key, span))) return *value;
  std::vector<std::string_view> known;
  for (const auto& [name, value] : dict.items)
    if (name.is(Kind::Str)) known.push_back(text_of(name));
  for (const auto& [name, value] : dict.items)
    if (const Value* const unknown = opaque_in(name)) return *unknown;
  return fail_at(span, DiagKind::HostError, "no key {} in the dict{}", repr(key),
                 key.is(Kind::Str) ? did_you_mean(text_of(key), known) : "");
}

Result<std::vector<Value>> unique(Context& in, const std::vector<Value>& items, Span span) {
  std::vector<Value> out;
  for (const Value& item : items)
    if (!WW_TRY(find_item(in, out, item, span))) out.push_back(item);
  return out;
}

// --- looking inside ------------------------------------------------------------------------------

Result<std::optional<std::size_t>> find_item(Context& in, const std::vector<Value>& items,
                                             const Value& value, Span where) {
  for (std::size_t i = 0; i < items.size(); ++i)
    if (WW_TRY(same(in, items[i], value, where))) return std::optional(i);
  return std::optional<std::size_t>();
}

Result<Value*> find_key(Context& in, DictObject& dict, const Value& key, Span where) {
  for (auto& [known, value] : dict.items)
    if (WW_TRY(same(in, known, key, where))) return &value;
  return nullptr;
}

Result<void> put(Context& in, DictObject& dict, const Value& key, const Value& value, Span where) {
  WW_TRY_VOID(check_holds(in, dict, value, where));
  if (Value* known = WW_TRY(find_key(in, dict, key, where))) {
    *known = value;
    return {};
  }
  in.heap.count_values(2);
  dict.items.emplace_back(key, value);
  return {};
}

Result<void> append(Context& in, SeqObject& list, const Value& value, Span where) {
  WW_TRY_VOID(check_holds(in, list, value, where));
  in.heap.count_values(1);
  list.items.push_back(value);
  return {};
}

Result<void> check_holds(Context& in, const Object& holder, const Value& value, Span where) {
  if (!in.in_kernel() || holder.serial >= in.kernel->first_serial) return {};
  if (!may_be_of_kernel(value, in.kernel->first_serial)) return {};
  return fail_at(where, DiagKind::ReadOnly,
                 "a value of kernel `{}` is put into an object that is older than the kernel",
                 in.fn().name);
}

Result<std::vector<Value>> iterate(Context& in, const Given& value) {
  switch (value.kind) {
    case Kind::Tuple:
    case Kind::List:
    case Kind::Set:
      WW_TRY_VOID(spend(in, value.as<SeqObject>().items.size(), value.span));
      return value.as<SeqObject>().items;
    case Kind::Generator:  // only once
      return std::exchange(value.as<SeqObject>().items, {});
    case Kind::Dict: {
      std::vector<Value> keys;
      for (const auto& [key, item] : value.as<DictObject>().items) keys.push_back(key);
      WW_TRY_VOID(spend(in, keys.size(), value.span));
      return keys;
    }
    case Kind::Str: {
      std::vector<Value> chars;
      if (!in.heap.has_room(text_of(value).size() * (Heap::kPerObject + sizeof(StrObject) / 8)))
        return fail_at(value.span, DiagKind::Budget, "the characters of a text of {} at once",
                       text_of(value).size());
      for (const char c : text_of(value)) chars.push_back(in.heap.str(std::string(1, c)));
      WW_TRY_VOID(spend(in, chars.size(), value.span));
      return chars;
    }
    case Kind::Range: {
      const RangeObject& range = value.as<RangeObject>();
      const std::int64_t size = range.size();
      if (size > static_cast<std::int64_t>(kMaxElements))
        return fail_at(value.span, DiagKind::Budget, "{} elements at once, expected at most {}",
                       size, kMaxElements);
      WW_TRY_VOID(spend(in, static_cast<std::uint64_t>(size), value.span));
      std::vector<Value> items;
      items.reserve(static_cast<std::size_t>(size));
      for (std::int64_t i = 0; i < size; ++i)
        items.push_back(of_int(Wide{range.begin} + Wide{i} * range.step));
      return items;
    }
    case Kind::Opaque:
      return fail(needs_opaque(in, value));
    case Kind::Loop:
      return fail(diag_at(value.span, DiagKind::HostError,
                          "this runs at compile time, and how often is known at run time only")
                      .with_note("a `for` statement loops at run time"));
    default: {
      // Objects may have an iterator that is not modelled.
      const bool is_certain = value.is(Kind::Int) || value.is(Kind::Bool) ||
                              value.is(Kind::Float) || value.is(Kind::None);
      return fail_at(value.span, is_certain ? DiagKind::HostError : DiagKind::Opaque,
                     "cannot iterate over {}", type_name(value));
    }
  }
}

// --- literals and comprehensions -----------------------------------------------------------------

Result<Value> eval_items(Context& in, const Expr& e, Kind kind, Env& env) {
  std::vector<Value> items;
  for (const ExprId id : in.ast().list(e.items)) {
    const Expr& item = in.ast()[id];
    if (item.kind != ExprKind::Starred) {
      items.push_back(WW_TRY(eval(in, id, env)));
      continue;
    }
    const Value inner = WW_TRY(eval(in, item.a, env));
    if (inner.is(Kind::Opaque) || inner.is(Kind::Poison)) return inner;
    const std::vector<Value> more = WW_TRY(iterate(in, {inner, in.span(item.place)}));
    if (!in.heap.has_room_for_values(items.size() + more.size()))
      return fail_at(in.span(item.place), DiagKind::Budget, "a list too long");
    items.insert(items.end(), more.begin(), more.end());
  }
  if (kind == Kind::Set) items = WW_TRY(unique(in, items, in.span(e.place)));
  return in.heap.seq(kind, std::move(items));
}

Result<Value> eval_dict(Context& in, const Expr& e, Env& env) {
  const Value out = in.heap.wrap(Kind::Dict, DictObject());
  auto& dict = out.as<DictObject>();
  const std::span<const ExprId> items = in.ast().list(e.items);
  for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
    const Value key = items[i].valid() ? WW_TRY(eval(in, items[i], env)) : none();
    const Value value = WW_TRY(eval(in, items[i + 1], env));
    if (items[i].valid()) {
      WW_TRY_VOID(put(in, dict, key, value, in.span(items[i])));
    } else if (value.is(Kind::Opaque) || value.is(Kind::Poison)) {
      return value;
    } else if (value.is(Kind::Dict)) {
      for (const auto& [k, v] : value.as<DictObject>().items)
        WW_TRY_VOID(put(in, dict, k, v, in.span(items[i + 1])));
    } else {
      return fail_at(in.span(items[i + 1]), DiagKind::HostError, "`**` of {}, expected a dict",
                     type_name(value));
    }
  }
  return out;
}

Result<Value> eval_slice(Context& in, const Expr& e, Env& env) {
  SliceObject slice;
  if (e.a.valid()) slice.begin = WW_TRY(eval(in, e.a, env));
  if (e.b.valid()) slice.end = WW_TRY(eval(in, e.b, env));
  if (e.c.valid()) slice.step = WW_TRY(eval(in, e.c, env));
  return in.heap.wrap(Kind::Slice, slice);
}

Result<Value> eval_comprehension(Context& in, const Expr& e, Env& env) {
  Env& inner = *new_env(in, &env);
  inner.is_comprehension = true;
  const bool is_dict = e.kind == ExprKind::DictComp;
  const bool is_set = e.kind == ExprKind::SetComp;
  const Kind kind = is_set                             ? Kind::Set
                    : e.kind == ExprKind::GeneratorExp ? Kind::Generator
                                                       : Kind::List;
  const Value out = is_dict ? in.heap.wrap(Kind::Dict, DictObject()) : in.heap.seq(kind, {});
  const Result<void> done = run_clauses(in, e, 0, inner, [&](Env& scope) -> Result<void> {
    const Value first = WW_TRY(eval(in, e.a, scope));
    if (is_dict)
      return put(in, out.as<DictObject>(), first, WW_TRY(eval(in, e.b, scope)), in.span(e.a));
    auto& list = out.as<SeqObject>();
    if (is_set && WW_TRY(find_item(in, list.items, first, in.span(e.a)))) return {};
    return append(in, list, first, in.span(e.a));
  });
  if (done) return out;
  // Over something unknown it is unknown.
  if (done.error().kind == DiagKind::Opaque && in.last_needed && !in.in_kernel())
    return *in.last_needed;
  return fail(done.error());
}

}  // namespace ww::script
