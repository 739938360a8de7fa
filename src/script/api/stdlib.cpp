// SPDX-License-Identifier: Apache-2.0
// Functions of Python's library that host code uses: higher-order ones, types and attributes, math.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "script/api/builtins.h"
#include "script/interp/access.h"
#include "script/interp/calls.h"
#include "script/interp/collections.h"
#include "script/interp/conversions.h"
#include "script/interp/operators.h"
#include "script/syntax/errors.h"

namespace ww::script::stdlib_api {
namespace {

// --- functions over sequences --------------------------------------------------------------------

Result<Value> map_row(Context& in, Args& a) {
  std::vector<Value> out;
  for (const Value& v : WW_TRY(iterate(in, a[1], a.spans[1])))
    out.push_back(WW_TRY(call(in, a[0], {v}, a.call)));
  return in.heap.seq(Kind::Generator, std::move(out));
}
Result<Value> filter_row(Context& in, Args& a) {
  std::vector<Value> out;
  for (const Value& v : WW_TRY(iterate(in, a[1], a.spans[1]))) {
    const Value keep = a[0].is(Kind::None) ? v : WW_TRY(call(in, a[0], {v}, a.call));
    if (WW_TRY(truth(in, keep, a.call))) out.push_back(v);
  }
  return in.heap.seq(Kind::Generator, std::move(out));
}
Result<Value> reduce(Context& in, Args& a) {
  std::vector<Value> items = WW_TRY(iterate(in, a[1], a.spans[1]));
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
    if (named.name == "repeat")
      repeat = WW_TRY(as_integer(in, named.value, "`repeat`", named.span));
  for (std::int64_t r = 0; r < repeat; ++r)
    for (std::size_t i = 0; i < a.rest.size(); ++i) {
      const std::vector<Value> items = WW_TRY(iterate(in, a.rest[i], a.rest_spans[i]));
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
      a[1].is(Kind::Tuple) ? WW_TRY(iterate(in, a[1], a.spans[1])) : std::vector<Value>{a[1]};
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
  const std::string name = WW_TRY(as_text(in, a[1], "the name", a.spans[1]));
  Result<Value> out = attribute(in, a[0], name, a.call, a.spans[1]);
  if (!out && a.has(2)) return a[2];
  return out;
}
Result<Value> hasattr_row(Context& in, Args& a) {
  if (a[0].is(Kind::Opaque)) return a[0];
  const std::string name = WW_TRY(as_text(in, a[1], "the name", a.spans[1]));
  return of_bool(attribute(in, a[0], name, a.call, a.spans[1]).has_value());
}
// What the host prints while it builds is dropped; values of a run are not there yet.
Result<Value> print_row(Context&, Args& a) {
  const auto is_of_run = [](const Value& v) {
    return v.is(Kind::Ir) || v.is(Kind::Buffer) || v.is(Kind::Region);
  };
  if (std::any_of(a.rest.begin(), a.rest.end(), is_of_run)) return fail(print_in_kernel(a.call));
  return none();
}
Result<Value> type_row(Context& in, Args& a) {
  return opaque_value(in, a.call, "`type()` is not modelled");
}
Result<Value> identity(Context&, Args& a) { return a.has(0) ? a[0] : none(); }

// --- math ----------------------------------------------------------------------------------------

template <double (*kFunction)(double)>
Result<Value> real_function(Context& in, Args& a) {
  const double value = WW_TRY(as_number(in, a[0], "the value", a.spans[0]));
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
  const double out = kFunction(WW_TRY(as_number(in, a[0], "the value", a.spans[0])));
  if (!(std::fabs(out) < 1e30)) return fail_at(a.call, DiagKind::Overflow, "{} as an integer", out);
  return of_int(static_cast<Wide>(out));
}
Result<Value> gcd(Context& in, Args& a) {
  Wide x = 0;
  for (std::size_t i = 0; i < a.rest.size(); ++i) {
    Wide y = WW_TRY(as_integer(in, a.rest[i], "a number", a.rest_spans[i]));
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

}  // namespace ww::script::stdlib_api

namespace ww::script {

Diag print_in_kernel(Span call) {
  return diag_at(call, DiagKind::Syntax,
                 "`print` is the host's, which prints nothing of a kernel's run")
      .with_note("`T.cuda.printf(\"%d %f\\n\", i, x)` prints when the kernel runs");
}

}  // namespace ww::script
