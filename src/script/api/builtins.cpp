// SPDX-License-Identifier: Apache-2.0
#include "script/api/builtins.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <set>
#include <string>
#include <unordered_map>

#include "base/fail_at.h"
#include "base/split.h"
#include "ir/signatures.h"
#include "script/interp/evaluator.h"

namespace ww::script {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// Every row by its full name. Rows of ours come before the plain intrinsics of the same name.
class Table {
 public:
  Table() {
    for (const FunctionTable& table : function_tables())
      for (const BuiltinRow& row : table.rows) add(row);
    for (const BuiltinRow& row : intrinsic_rows()) add(row);
  }

  std::unordered_map<std::string_view, const BuiltinRow*> rows;
  std::unordered_map<const BuiltinRow*, Signature> signatures;
  std::set<std::string, std::less<>> spaces;
  std::vector<const BuiltinRow*> order;

 private:
  void add(const BuiltinRow& row) {
    if (!rows.emplace(row.name, &row).second) return;
    order.push_back(&row);
    signatures.emplace(&row, read_signature(row.signature));
    for (std::size_t dot = row.name.find('.'); dot != std::string_view::npos;
         dot = row.name.find('.', dot + 1))
      spaces.emplace(row.name.substr(0, dot));
  }
};

std::vector<NotTaken> read_not_taken() {
  std::vector<NotTaken> out;
  const auto add_names = [&](std::string_view names, std::string_view reason) {
    for (const std::string_view name : split_words(names)) out.push_back({name, reason, true});
  };
#define WW_NOT_TAKEN(names, reason) add_names(names, reason);
#define WW_NOT_LOWERED(what, reason) out.push_back({what, reason, false});
#include "script/api/not_taken.def"
#undef WW_NOT_LOWERED
#undef WW_NOT_TAKEN
  return out;
}

constexpr AttributeRow kAttributes[] = {
#define WW_ATTRIBUTES(type, names) {#type, names},
#include "script/api/attributes.def"
#undef WW_ATTRIBUTES
};

const Table& table() {
  static const Table made;
  return made;
}

Result<Value> run_intrinsic(Context& in, Args& a) {
  const ir::Intrinsic callee = *ir::find_intrinsic(a.row->name.substr(2));  // without `T.`
  std::vector<ir::ExprId> args;
  for (std::size_t i = 0; i < a.values.size(); ++i) args.push_back(WW_TRY(used_here(in, a[i])));
  for (std::size_t i = 0; i < a.rest.size(); ++i) args.push_back(WW_TRY(used_here(in, a.rest[i])));
  return of_expr(ir::call(in.fn(), callee, args, a.call));
}

// "value, op, num_warps, scratch"
std::string parameters_of(ir::Intrinsic intrinsic) {
  std::string out;
  for (const ir::IntrinsicParam& param : ir::params_of(intrinsic))
    out += fmt::format("{}{}{}", out.empty() ? "" : ", ", param.is_rest ? "*" : "", param.name);
  return out;
}

}  // namespace

std::span<const FunctionTable> function_tables() {
  static const FunctionTable tables[] = {
#define WW_FUNCTIONS(file, title) {title, file##_api::rows},
#include "script/api/functions.def"
#undef WW_FUNCTIONS
  };
  return tables;
}

std::span<const AttributeRow> attribute_rows() { return kAttributes; }

bool is_attribute(std::string_view type, std::string_view name) {
  return std::ranges::any_of(kAttributes, [&](const AttributeRow& row) {
    return row.type == type && std::ranges::count(split_words(row.names), name) != 0;
  });
}

std::span<const NotTaken> not_taken_rows() {
  static const std::vector<NotTaken> rows = read_not_taken();
  return rows;
}

std::optional<std::string_view> why_not_taken(std::string_view full) {
  // `T.float8_e3m4x16`: a vector of a type.
  if (const std::size_t lanes = full.find_last_not_of("0123456789");
      full.starts_with("T.float") && lanes + 1 < full.size() && full[lanes] == 'x')
    full = full.substr(0, lanes);
  for (const NotTaken& row : not_taken_rows())
    if (row.is_name && (row.name == full || (row.name.ends_with('.') &&
                                             row.name.substr(0, row.name.size() - 1) == full)))
      return row.reason;
  return std::nullopt;
}

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

Signature read_signature(std::string_view text) {
  Signature out;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view word = trimmed(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
    if (word.starts_with("**")) {
      out.has_extra = true;
    } else if (word.starts_with('*')) {
      out.has_rest = true;
    } else if (!word.empty()) {
      const bool optional = word.ends_with('?');
      out.names.push_back(optional ? word.substr(0, word.size() - 1) : word);
      out.required.push_back(!optional);
    }
  }
  return out;
}

const BuiltinRow* find_builtin(std::string_view name) {
  const auto found = table().rows.find(name);
  return found == table().rows.end() ? nullptr : found->second;
}

const Signature* signature_of(const BuiltinRow& row) {
  const auto found = table().signatures.find(&row);
  return found == table().signatures.end() ? nullptr : &found->second;
}

bool is_namespace(std::string_view path) { return table().spaces.contains(path); }

std::vector<std::string_view> members_of(std::string_view path) {
  std::vector<std::string_view> out;
  for (const BuiltinRow* row : table().order) {
    std::string_view rest = row->name;
    if (!path.empty()) {
      if (!rest.starts_with(path) || rest.size() <= path.size() || rest[path.size()] != '.')
        continue;
      rest.remove_prefix(path.size() + 1);
    }
    const std::size_t dot = rest.find('.');
    if (dot != std::string_view::npos && path.empty())
      continue;  // methods and namespaces are no plain names
    rest = rest.substr(0, dot);
    if (std::ranges::find(out, rest) == out.end()) out.push_back(rest);
  }
  return out;
}

Result<std::int64_t> integer_or(Context& in, const Args& a, std::size_t i, std::string_view what,
                                std::int64_t missing) {
  if (!a.given(i)) return missing;
  return as_integer(in, a[i], what);
}

Diag no_parameter(std::string_view function, const CallArgs::Named& given) {
  return diag_at(given.span, DiagKind::BadArgument, "`{}` has no parameter `{}`", function,
                 given.name);
}

Result<const CallArgs::Named*> only_keyword(const Args& a, std::string_view function,
                                            std::string_view name) {
  for (const CallArgs::Named& named : a.extra)
    if (named.name != name) return fail(no_parameter(function, named));
  return a.extra.empty() ? nullptr : &a.extra.front();
}

Result<void> require_device(Context& in, const Args& a, DiagKind kind) {
  if (in.kernel->in_device) return {};
  return fail_at(a.call, kind, "`{}` before `T.device_entry()`", a.row->name);
}

}  // namespace ww::script
