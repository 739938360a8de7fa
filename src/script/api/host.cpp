// SPDX-License-Identifier: Apache-2.0
// Functions of Python and of its library that host code uses: numbers, sequences, types, math.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/fail_at.h"
#include "script/api/builtins.h"
#include "script/interp/evaluator.h"

namespace ww::script::host_api {
namespace {

Diag wrong_type(const Args& a, const Value& value) {
  return diag_at(a.call, DiagKind::BadType, "`{}` of {}", a.row->name, type_name(value));
}

// A float without a fraction, as an integer.
Result<Value> whole(double value, const Args& a) {
  if (std::fabs(value) < 1e30) return of_int(static_cast<Wide>(value));
  return fail_at(a.call, DiagKind::Overflow, "{} as an integer", value);
}

// --- numbers -------------------------------------------------------------------------------------

Result<Value> int_from_text(const Args& a) {
  std::string_view text = text_of(a[0]);
  std::int64_t base = 10;
  if (a.has(1)) {
    if (!is_intlike(a[1]) || int_of(a[1]) < 2 || int_of(a[1]) > 36)
      return fail_at(a.span(1), DiagKind::Opaque, "base {}, expected 2 to 36", repr(a[1]));
    base = static_cast<std::int64_t>(int_of(a[1]));
  }
  if (base == 16 && (text.starts_with("0x") || text.starts_with("0X"))) text.remove_prefix(2);
  std::int64_t out = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), out, static_cast<int>(base));
  if (error == std::errc{} && end == text.data() + text.size()) return of_int(out);
  return fail_at(a.call, DiagKind::Opaque, "{} is not an integer", repr(a[0]));
}
Result<Value> to_int(Context&, Args& a) {
  if (!a.has(0)) return of_int(0);
  const Value& v = a[0];
  if (v.is(Kind::Opaque) || v.is(Kind::Ir)) return v;
  if (is_intlike(v)) return of_int(int_of(v));
  if (v.is(Kind::Float)) return whole(std::trunc(v.real), a);
  if (v.is(Kind::Str)) return int_from_text(a);
  return fail(wrong_type(a, v));
}
Result<Value> to_float(Context& in, Args& a) {
  if (!a.has(0)) return of_float(0);
  if (a[0].is(Kind::Opaque)) return a[0];
  if (a[0].is(Kind::Str)) {
    if (const auto special = special_float(a[0])) return of_float(*special);
    return fail_at(a.call, DiagKind::Opaque, "{} is not a number", repr(a[0]));
  }
  return of_float(WW_TRY(as_number(in, a[0], "the value")));
}
Result<Value> to_bool(Context& in, Args& a) {
  if (!a.has(0)) return of_bool(false);
  if (a[0].is(Kind::Opaque)) return a[0];
  return of_bool(WW_TRY(truth(in, a[0])));
}
Result<Value> to_str(Context& in, Args& a) {
  if (!a.has(0)) return in.heap.str("");
  if (a[0].is(Kind::Opaque)) return a[0];
  return in.heap.str(WW_TRY(str_of(a[0], a.call)));
}
Result<Value> to_repr(Context& in, Args& a) { return in.heap.str(repr(a[0])); }
Result<Value> absolute(Context& in, Args& a) {
  if (a[0].is(Kind::Opaque)) return a[0];
  if (is_intlike(a[0])) return of_int(int_of(a[0]) < 0 ? -int_of(a[0]) : int_of(a[0]));
  if (a[0].is(Kind::Ir)) {
    const ir::ExprId e = a[0].expr();
    return of_expr(ir::call(in.fn(), ir::Intrinsic::Abs, std::span(&e, 1), a.call));
  }
  return of_float(std::fabs(WW_TRY(as_number(in, a[0], "the value"))));
}
Result<Value> round_row(Context& in, Args& a) {
  if (is_intlike(a[0])) return a[0];
  const double value = WW_TRY(as_number(in, a[0], "the value"));
  if (!a.has(1)) return whole(std::nearbyint(value), a);
  const std::int64_t digits = WW_TRY(as_integer(in, a[1], "the number of digits"));
  const double scale = std::pow(10.0, static_cast<double>(std::clamp<std::int64_t>(digits, 0, 15)));
  return of_float(std::nearbyint(value * scale) / scale);
}
Result<Value> divmod(Context& in, Args& a) {
  const Value q = WW_TRY(binary(in, Op::FloorDiv, a[0], a[1], a.call));
  return in.heap.tuple({q, WW_TRY(binary(in, Op::Mod, a[0], a[1], a.call))});
}
Result<Value> pow_row(Context& in, Args& a) { return binary(in, Op::Pow, a[0], a[1], a.call); }

// --- sequences -----------------------------------------------------------------------------------

Result<Value> len(Context& in, Args& a) {
  const Value& v = a[0];
  switch (v.kind) {
    case Kind::Str:
      return of_int(static_cast<Wide>(text_of(v).size()));
    case Kind::Tuple:
    case Kind::List:
    case Kind::Set:
      return of_int(static_cast<Wide>(v.as<SeqObject>().items.size()));
    case Kind::Dict:
      return of_int(static_cast<Wide>(v.as<DictObject>().items.size()));
    case Kind::Range:
      return of_int(v.as<RangeObject>().size());
    case Kind::Opaque:
      return v;
    default:
      static_cast<void>(in);
      return fail(wrong_type(a, v));
  }
}

// With values of run time it is a loop; otherwise a range of the host (and a loop in a kernel's
// `for`).
Result<Value> range(Context& in, Args& a) {
  const Value begin = a.has(1) ? Value(a[0]) : of_int(0);
  const Value end = a[a.has(1) ? 1 : 0];
  const Value step = a.get(2, of_int(1));
  for (const Value& v : {begin, end, step})
    if (v.is(Kind::Opaque)) return v;
  const bool is_runtime = begin.is(Kind::Ir) || end.is(Kind::Ir);
  if (is_runtime) {
    LoopObject loop;
    loop.ranges = {{begin, end}};
    if (a.has(2)) loop.step = step;
    return in.heap.wrap(Kind::Loop, std::move(loop));
  }
  RangeObject out;
  out.begin = WW_TRY(as_integer(in, {begin, a.call}, "the start"));
  out.end = WW_TRY(as_integer(in, {end, a.call}, "the end"));
  out.step = WW_TRY(as_integer(in, {step, a.call}, "the step"));
  if (out.step == 0) return fail_at(a.call, DiagKind::HostError, "a range with step 0");
  return in.heap.wrap(Kind::Range, out);
}

template <Kind kKind>
Result<Value> to_sequence(Context& in, Args& a) {
  if (!a.has(0)) return in.heap.seq(kKind, {});
  if (a[0].is(Kind::Opaque)) return a[0];
  return in.heap.seq(kKind, WW_TRY(iterate(in, a[0])));
}
Result<Value> to_set(Context& in, Args& a) {
  if (!a.has(0)) return in.heap.seq(Kind::Set, {});
  const std::vector<Value> items = WW_TRY(iterate(in, a[0]));
  return in.heap.seq(Kind::Set, WW_TRY(unique(in, items, a.call)));
}
Result<Value> to_dict(Context& in, Args& a) {
  const bool is_copy = a.has(0) && a[0].is(Kind::Dict);
  const Value out = in.heap.wrap(Kind::Dict, is_copy ? a[0].as<DictObject>() : DictObject());
  auto& dict = out.as<DictObject>();
  if (is_copy) in.heap.count_values(dict.items.size() * 2);
  if (a.has(0) && !is_copy)
    for (const Value& pair : WW_TRY(iterate(in, a[0]))) {
      const std::vector<Value> items = WW_TRY(iterate(in, {pair, a.span(0)}));
      if (items.size() != 2)
        return fail_at(a.call, DiagKind::HostError, "a dict from items of {} values, expected 2",
                       items.size());
      WW_TRY_VOID(put(in, dict, items[0], items[1], a.call));
    }
  for (const CallArgs::Named& named : a.extra)
    WW_TRY_VOID(put(in, dict, in.heap.str(named.name), named, named.span));
  return out;
}
Result<Value> slice_row(Context& in, Args& a) {
  SliceObject out;
  if (a.has(1)) {
    out.begin = a[0];
    out.end = a[1];
  } else {
    out.end = a[0];
  }
  if (a.has(2)) out.step = a[2];
  return in.heap.wrap(Kind::Slice, out);
}

Value generator(Context& in, std::vector<Value> items) {
  return in.heap.seq(Kind::Generator, std::move(items));
}
Result<Value> enumerate(Context& in, Args& a) {
  Wide i = a.has(1) ? Wide{WW_TRY(as_integer(in, a[1], "the start"))} : 0;
  std::vector<Value> out;
  for (const Value& v : WW_TRY(iterate(in, a[0]))) {
    WW_TRY_VOID(spend(in, 1, a.call));
    out.push_back(in.heap.tuple({of_int(i++), v}));
  }
  return generator(in, std::move(out));
}
Result<Value> zip(Context& in, Args& a) {
  std::vector<std::vector<Value>> columns;
  std::size_t shortest = std::numeric_limits<std::size_t>::max();
  std::size_t total = 0;
  for (std::size_t i = 0; i < a.rest.size(); ++i) {
    columns.push_back(WW_TRY(iterate(in, a.rest[i])));
    shortest = std::min(shortest, columns.back().size());
    total += columns.back().size();
    if (!in.heap.has_room_for_values(total))
      return fail_at(a.call, DiagKind::Budget, "`zip` of too many values");
  }
  std::vector<Value> out;
  for (std::size_t i = 0; !columns.empty() && i < shortest; ++i) {
    WW_TRY_VOID(spend(in, 1, a.call));
    std::vector<Value> row;
    for (const std::vector<Value>& column : columns) row.push_back(column[i]);
    out.push_back(in.heap.tuple(std::move(row)));
  }
  return generator(in, std::move(out));
}
Result<Value> reversed(Context& in, Args& a) {
  std::vector<Value> items = WW_TRY(iterate(in, a[0]));
  std::ranges::reverse(items);
  return generator(in, std::move(items));
}
// Of a generator or another iterable; a list has no place to remember how far it was read.
Result<Value> next_row(Context& in, Args& a) {
  if (!a[0].is(Kind::Generator)) return fail(wrong_type(a, a[0]));
  auto& items = a[0].as<SeqObject>().items;
  if (items.empty()) {
    if (a.has(1)) return a[1];
    return fail_at(a.call, DiagKind::HostError, "`next` of a generator that has ended");
  }
  const Value out = items.front();
  WW_TRY_VOID(spend(in, items.size() / 16, a.call));
  items.erase(items.begin());
  return out;
}
Result<Value> iter_row(Context& in, Args& a) { return generator(in, WW_TRY(iterate(in, a[0]))); }

// Where a key belongs among sorted ones: behind its equals. Comparisons can fail, so this is no
// business of std::sort.
Result<std::size_t> place_among(Context& in, const std::vector<std::pair<Value, Value>>& sorted,
                                const Value& key, bool descending, Span span) {
  std::size_t low = 0;
  std::size_t high = sorted.size();
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    const Value before =
        WW_TRY(compare(in, descending ? Op::Gt : Op::Lt, key, sorted[middle].first, span));
    if (WW_TRY(truth(in, {before, span})))
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}
Result<Value> sorted(Context& in, Args& a) {
  const std::vector<Value> items = WW_TRY(iterate(in, a[0]));
  const bool has_key = a.given(1);
  const bool descending = a.has(2) && WW_TRY(as_bool(in, a[2], "`reverse`"));
  std::vector<std::pair<Value, Value>> out;
  for (const Value& item : items) {
    const Value key = has_key ? WW_TRY(call(in, a[1], {item}, a.call)) : item;
    const std::size_t at = WW_TRY(place_among(in, out, key, descending, a.call));
    WW_TRY_VOID(spend(in, 1 + (out.size() - at) / 16, a.call));
    out.insert(out.begin() + static_cast<std::ptrdiff_t>(at), {key, item});
  }
  std::vector<Value> values;
  for (auto& [key, item] : out) values.push_back(item);
  return in.heap.list(std::move(values));
}

// The larger or smaller of two; with `key`, by what it gives.
Result<bool> is_better(Context& in, const Args& a, const Value& item, const Value& best,
                       bool wants_max, const Value& key) {
  const Value left = key.is(Kind::None) ? item : WW_TRY(call(in, key, {item}, a.call));
  const Value right = key.is(Kind::None) ? best : WW_TRY(call(in, key, {best}, a.call));
  return truth(in, {WW_TRY(compare(in, wants_max ? Op::Gt : Op::Lt, left, right, a.call)), a.call});
}
template <bool kMax>
Result<Value> extremum(Context& in, Args& a) {
  const std::vector<Value> items = a.rest.size() == 1
                                       ? WW_TRY(iterate(in, a.rest[0]))
                                       : std::vector<Value>(a.rest.begin(), a.rest.end());
  Value key = none();
  std::optional<Value> missing;
  for (const CallArgs::Named& named : a.extra) {
    if (named.name == "key")
      key = named;
    else if (named.name == "default")
      missing = named;
    else
      return fail(no_parameter(a.row->name, named));
  }
  if (items.empty()) {
    if (missing) return *missing;
    return fail_at(a.call, DiagKind::HostError, "`{}` of nothing", a.row->name);
  }
  Value best = items[0];
  for (std::size_t i = 1; i < items.size(); ++i) {
    const bool is_unknown = best.is(Kind::Opaque) || items[i].is(Kind::Opaque);
    if (is_unknown) return best.is(Kind::Opaque) ? best : items[i];
    if (best.is(Kind::Ir) || items[i].is(Kind::Ir)) {
      const ir::Operand left = WW_TRY(operand(in, {best, a.call}));
      const ir::Operand right = WW_TRY(operand(in, {items[i], a.call}));
      const ir::ExprOp op = kMax ? ir::ExprOp::Max : ir::ExprOp::Min;
      best = of_expr(WW_TRY(ir::binary(in.fn(), op, left, right, a.call)));
    } else if (WW_TRY(is_better(in, a, items[i], best, kMax, key))) {
      best = items[i];
    }
  }
  return best;
}

template <Op kOp>
Result<Value> folded(Context& in, Args& a) {
  Value out = a.get(1, of_int(kOp == Op::Add ? 0 : 1));
  for (const Value& v : WW_TRY(iterate(in, {a[0], a.call})))
    out = WW_TRY(binary(in, kOp, out, v, a.call));
  return out;
}

template <bool kAll>
Result<Value> all_or_any(Context& in, Args& a) {
  for (const Value& v : WW_TRY(iterate(in, a[0])))
    if (WW_TRY(truth(in, {v, a.call})) != kAll) return of_bool(!kAll);
  return of_bool(kAll);
}

// --- functions over sequences --------------------------------------------------------------------

// --- functions over sequences --------------------------------------------------------------------

Result<Value> map_row(Context& in, Args& a) {
  std::vector<Value> out;
  for (const Value& v : WW_TRY(iterate(in, a[1])))
    out.push_back(WW_TRY(call(in, a[0], {v}, a.call)));
  return in.heap.seq(Kind::Generator, std::move(out));
}
Result<Value> filter_row(Context& in, Args& a) {
  std::vector<Value> out;
  for (const Value& v : WW_TRY(iterate(in, a[1]))) {
    const Value keep = a[0].is(Kind::None) ? v : WW_TRY(call(in, a[0], {v}, a.call));
    if (WW_TRY(truth(in, {keep, a.call}))) out.push_back(v);
  }
  return in.heap.seq(Kind::Generator, std::move(out));
}
Result<Value> reduce(Context& in, Args& a) {
  std::vector<Value> items = WW_TRY(iterate(in, a[1]));
  if (a.has(2)) items.insert(items.begin(), a[2]);
  if (items.empty()) return fail_at(a.call, DiagKind::HostError, "`reduce` of nothing");
  Value out = items[0];
  for (std::size_t i = 1; i < items.size(); ++i)
    out = WW_TRY(call(in, a[0], {out, items[i]}, a.call));
  return out;
}
Result<Value> product(Context& in, Args& a) {
  std::vector<std::vector<Value>> rows = {{}};
  std::int64_t repeat = 1;
  for (const CallArgs::Named& named : a.extra)
    if (named.name == "repeat") repeat = WW_TRY(as_integer(in, named, "`repeat`"));
  for (std::int64_t r = 0; r < repeat; ++r)
    for (std::size_t i = 0; i < a.rest.size(); ++i) {
      const std::vector<Value> items = WW_TRY(iterate(in, a.rest[i]));
      const std::size_t width = rows.empty() ? 1 : rows[0].size() + 2;
      if (!in.heap.has_room_for_values(rows.size() * items.size() * width))
        return fail_at(a.call, DiagKind::Budget, "a product of too many values");
      std::vector<std::vector<Value>> next;
      for (const std::vector<Value>& row : rows)
        for (const Value& v : items) {
          next.push_back(row);
          next.back().push_back(v);
        }
      WW_TRY_VOID(spend(in, next.size() + 1, a.call));
      rows = std::move(next);
    }
  std::vector<Value> out;
  for (std::vector<Value>& row : rows) out.push_back(in.heap.tuple(std::move(row)));
  return in.heap.list(std::move(out));
}

// --- types and attributes ------------------------------------------------------------------------

bool is_instance(const Value& value, std::string_view type) {
  if (type == "int") return value.is(Kind::Int) || value.is(Kind::Bool);
  if (type == "layout.SwizzleLayout") return value.is(Kind::Swizzle);
  if (type == "layout.TileLayout" || type == "layout.ComposeLayout")
    return value.is(Kind::Layout) &&
           value.as<LayoutObject>().layout.is_swizzled() == (type == "layout.ComposeLayout");
  return type_name(value) == type;
}
Result<Value> isinstance(Context& in, Args& a) {
  if (a[0].is(Kind::Opaque)) return a[0];
  const std::vector<Value> types =
      a[1].is(Kind::Tuple) ? WW_TRY(iterate(in, a[1])) : std::vector<Value>{a[1]};
  for (const Value& type : types) {
    if (type.is(Kind::Builtin) && is_instance(a[0], type.as<BuiltinObject>().row->name))
      return of_bool(true);
    const bool is_object = type.is(Kind::Class) && a[0].is(Kind::Instance);
    if (is_object && a[0].as<InstanceObject>().type->is_or_inherits(type.as<ClassObject>()))
      return of_bool(true);
    if (type.is(Kind::Opaque)) return type;
  }
  return of_bool(false);
}
Result<Value> getattr_row(Context& in, Args& a) {
  const std::string name = WW_TRY(as_text(in, a[1], "the name"));
  Result<Value> out = attribute(in, a[0], name, a.call, a.span(1));
  if (!out && a.has(2)) return a[2];
  return out;
}
Result<Value> hasattr_row(Context& in, Args& a) {
  if (a[0].is(Kind::Opaque)) return a[0];
  const std::string name = WW_TRY(as_text(in, a[1], "the name"));
  return of_bool(attribute(in, a[0], name, a.call, a.span(1)).has_value());
}
// What the host prints while it builds is dropped; values of a run are not there yet.
Result<Value> print_row(Context&, Args& a) {
  const auto is_of_run = [](const Value& v) {
    return v.is(Kind::Ir) || v.is(Kind::Buffer) || v.is(Kind::Region);
  };
  if (std::ranges::any_of(a.rest, is_of_run)) return fail(print_in_kernel(a.call));
  return none();
}
Result<Value> type_row(Context& in, Args& a) {
  return opaque_value(in, a.call, "`type()` is not modelled");
}
Result<Value> identity(Context&, Args& a) { return a.get(0); }

// --- math ----------------------------------------------------------------------------------------

template <double (*kFunction)(double)>
Result<Value> real_function(Context& in, Args& a) {
  const double value = WW_TRY(as_number(in, a[0], "the value"));
  const double out = kFunction(value);
  if (std::isfinite(value) && !std::isfinite(out))
    return fail_at(a.call, DiagKind::HostError, "`{}` of {}", a.row->name, value);
  return of_float(out);
}
double ceil_of(double x) { return std::ceil(x); }
double floor_of(double x) { return std::floor(x); }
double sqrt_of(double x) { return std::sqrt(x); }
double log2_of(double x) { return std::log2(x); }
double log_of(double x) { return std::log(x); }
double exp_of(double x) { return std::exp(x); }

template <double (*kFunction)(double)>
Result<Value> to_whole(Context& in, Args& a) {
  if (is_intlike(a[0])) return a[0];
  const double out = kFunction(WW_TRY(as_number(in, a[0], "the value")));
  if (!(std::fabs(out) < 1e30)) return fail_at(a.call, DiagKind::Overflow, "{} as an integer", out);
  return of_int(static_cast<Wide>(out));
}
Result<Value> gcd(Context& in, Args& a) {
  Wide x = 0;
  for (std::size_t i = 0; i < a.rest.size(); ++i) {
    Wide y = WW_TRY(as_integer(in, a.rest[i], "a number"));
    while (y != 0) {
      const Wide r = x % y;
      x = y;
      y = r;
    }
  }
  return of_int(x < 0 ? -x : x);
}

// --- operator ------------------------------------------------------------------------------------

template <Op kOp>
Result<Value> by_operator(Context& in, Args& a) {
  return binary(in, kOp, a[0], a[1], a.call);
}

constexpr BuiltinRow kRows[] = {
    {"int", "value?, base?", to_int},
    {"float", "value?", to_float},
    {"bool", "value?", to_bool},
    {"str", "value?", to_str},
    {"repr", "value", to_repr},
    {"abs", "value", absolute},
    {"round", "value, digits?", round_row},
    {"divmod", "a, b", divmod},
    {"pow", "base, exponent", pow_row},
    {"len", "sequence", len},
    {"range", "start, stop?, step?", range},
    {"tuple", "items?", to_sequence<Kind::Tuple>},
    {"list", "items?", to_sequence<Kind::List>},
    {"set", "items?", to_set},
    {"frozenset", "items?", to_set},
    {"dict", "items?, **named", to_dict},
    {"slice", "start, stop?, step?", slice_row},
    {"enumerate", "items, start?", enumerate},
    {"zip", "*sequences, **options", zip},
    {"reversed", "items", reversed},
    {"next", "items, default?", next_row},
    {"iter", "items", iter_row},
    {"sorted", "items, key?, reverse?", sorted},
    {"max", "*values, **options", extremum<true>},
    {"min", "*values, **options", extremum<false>},
    {"sum", "items, start?", folded<Op::Add>},
    {"all", "items", all_or_any<true>},
    {"any", "items", all_or_any<false>},
    {"math.prod", "items, start?", folded<Op::Mul>},
    {"map", "function, items", map_row},
    {"filter", "function, items", filter_row},
    {"isinstance", "value, types", isinstance},
    {"getattr", "value, name, default?", getattr_row},
    {"hasattr", "value, name", hasattr_row},
    {"print", "*values, **options", print_row},
    {"type", "value", type_row},
    {"math.ceil", "value", to_whole<ceil_of>},
    {"math.floor", "value", to_whole<floor_of>},
    {"math.sqrt", "value", real_function<sqrt_of>},
    {"math.log2", "value", real_function<log2_of>},
    {"math.log", "value", real_function<log_of>},
    {"math.exp", "value", real_function<exp_of>},
    {"math.gcd", "*values", gcd},
    {"functools.reduce", "function, items, start?", reduce},
    {"functools.cache", "function", identity},
    {"functools.lru_cache", "function?, **options", identity},
    {"operator.add", "a, b", by_operator<Op::Add>},
    {"operator.sub", "a, b", by_operator<Op::Sub>},
    {"operator.mul", "a, b", by_operator<Op::Mul>},
    {"operator.truediv", "a, b", by_operator<Op::Div>},
    {"operator.floordiv", "a, b", by_operator<Op::FloorDiv>},
    {"operator.mod", "a, b", by_operator<Op::Mod>},
    {"operator.and_", "a, b", by_operator<Op::BitAnd>},
    {"operator.or_", "a, b", by_operator<Op::BitOr>},
    {"operator.xor", "a, b", by_operator<Op::BitXor>},
    {"itertools.product", "*sequences, **options", product},
    {"dataclasses.dataclass", "type?, **options", identity},
    {"property", "function", identity},
    {"staticmethod", "function", identity},
    {"classmethod", "function", identity},
};

}  // namespace

constinit const std::span<const BuiltinRow> rows = kRows;

}  // namespace ww::script::host_api

namespace ww::script {

Diag print_in_kernel(Span call) {
  return diag_at(call, DiagKind::Syntax,
                 "`print` is the host's, which prints nothing of a kernel's run")
      .with_note("`T.cuda.printf(\"%d %f\\n\", i, x)` prints when the kernel runs");
}

}  // namespace ww::script
