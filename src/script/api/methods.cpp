// SPDX-License-Identifier: Apache-2.0
// Methods of Python's own values.
#include <fmt/format.h>

#include <algorithm>

#include "base/fail_at.h"
#include "script/api/builtins.h"
#include "script/interp/evaluator.h"

namespace ww::script::methods_api {
namespace {

std::string_view self_text(const Args& a) { return text_of(a.self); }
std::vector<Value>& self_items(const Args& a) { return a.self.as<SeqObject>().items; }
auto& self_pairs(const Args& a) { return a.self.as<DictObject>().items; }

// --- texts ---------------------------------------------------------------------------------------

template <char (*kChange)(char)>
Result<Value> change_case(Context& in, Args& a) {
  std::string out(self_text(a));
  std::ranges::transform(out, out.begin(), kChange);
  return in.heap.str(std::move(out));
}
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

Result<Value> starts(Context& in, Args& a) {
  return of_bool(self_text(a).starts_with(WW_TRY(as_text(in, a[0], "the prefix"))));
}
Result<Value> ends(Context& in, Args& a) {
  return of_bool(self_text(a).ends_with(WW_TRY(as_text(in, a[0], "the suffix"))));
}

Result<Value> join_texts(Context& in, Args& a) {
  std::string out;
  bool first = true;
  for (const Value& v : WW_TRY(iterate(in, a[0]))) {
    if (!first) out += self_text(a);
    first = false;
    out += WW_TRY(as_text(in, {v, a.span(0)}, "an item"));
    if (!in.heap.has_room(out.size() / 8))
      return fail_at(a.call, DiagKind::Budget, "a text too long");
  }
  return in.heap.str(std::move(out));
}

constexpr std::string_view kSpaces = " \t\n\r\f\v";

Result<Value> split(Context& in, Args& a) {
  std::vector<Value> out;
  std::string_view rest = self_text(a);
  const std::string by = a.has(0) ? WW_TRY(as_text(in, a[0], "the separator")) : "";
  if (by.empty() && a.has(0)) return fail_at(a.call, DiagKind::HostError, "an empty separator");
  while (true) {
    WW_TRY_VOID(spend(in, 1, a.call));
    const std::size_t found = a.has(0) ? rest.find(by) : rest.find_first_of(kSpaces);
    const std::size_t at = std::min(found, rest.size());
    if (at > 0 || a.has(0)) out.push_back(in.heap.str(std::string(rest.substr(0, at))));
    if (at == rest.size()) break;
    rest.remove_prefix(at + std::max<std::size_t>(by.size(), 1));
  }
  return in.heap.list(std::move(out));
}

Result<Value> replace(Context& in, Args& a) {
  const std::string from = WW_TRY(as_text(in, a[0], "the old text"));
  const std::string to = WW_TRY(as_text(in, a[1], "the new text"));
  if (from.empty()) return fail_at(a.call, DiagKind::HostError, "an empty text to replace");
  std::string out;
  std::string_view rest = self_text(a);
  while (true) {
    const std::size_t at = std::min(rest.find(from), rest.size());
    out += rest.substr(0, at);
    if (at == rest.size()) break;
    out += to;
    rest.remove_prefix(at + from.size());
    if (!in.heap.has_room(out.size() / 8))
      return fail_at(a.call, DiagKind::Budget, "a text too long");
  }
  return in.heap.str(std::move(out));
}

Result<Value> strip(Context& in, Args& a) {
  std::string_view text = self_text(a);
  text.remove_prefix(std::min(text.find_first_not_of(kSpaces), text.size()));
  text = text.substr(0, text.find_last_not_of(kSpaces) + 1);
  return in.heap.str(std::string(text));
}

Result<Value> format(Context& in, Args& a) {
  return opaque_value(in, a.call, "`str.format` is not modelled; use an f-string");
}
Result<Value> isdigit(Context&, Args& a) {
  const std::string_view t = self_text(a);
  return of_bool(!t.empty() && std::ranges::all_of(t, [](char c) { return c >= '0' && c <= '9'; }));
}

// --- lists ---------------------------------------------------------------------------------------

Result<Value> append(Context& in, Args& a) {
  WW_TRY_VOID(append(in, a.self.as<SeqObject>(), a[0], a.call));
  return none();
}
Result<Value> extend(Context& in, Args& a) {
  for (const Value& item : WW_TRY(iterate(in, a[0])))
    WW_TRY_VOID(append(in, a.self.as<SeqObject>(), item, a.call));
  return none();
}
Result<Value> insert(Context& in, Args& a) {
  const auto size = static_cast<std::int64_t>(self_items(a).size());
  std::int64_t at = WW_TRY(as_integer(in, a[0], "the place"));
  at = std::clamp(at < 0 ? at + size : at, std::int64_t{0}, size);
  WW_TRY_VOID(append(in, a.self.as<SeqObject>(), a[1], a.call));
  WW_TRY_VOID(spend(in, self_items(a).size() / 16, a.call));
  auto& items = self_items(a);
  std::rotate(items.begin() + static_cast<std::ptrdiff_t>(at), items.end() - 1, items.end());
  return none();
}
Result<Value> pop(Context& in, Args& a) {
  auto& items = self_items(a);
  std::int64_t at = a.has(0) ? WW_TRY(as_integer(in, a[0], "the place")) : -1;
  if (at < 0) at += static_cast<std::int64_t>(items.size());
  if (at < 0 || at >= static_cast<std::int64_t>(items.size()))
    return fail_at(a.call, DiagKind::HostError, "`pop` at {} of a list of {}", at, items.size());
  WW_TRY_VOID(spend(in, (items.size() - static_cast<std::size_t>(at)) / 16, a.call));
  const Value out = items[static_cast<std::size_t>(at)];
  items.erase(items.begin() + static_cast<std::ptrdiff_t>(at));
  return out;
}
Result<Value> index(Context& in, Args& a) {
  if (const auto at = WW_TRY(find_item(in, self_items(a), a[0], a.call)))
    return of_int(static_cast<Wide>(*at));
  if (const Value* const unknown = opaque_in(a.self)) return *unknown;
  return fail_at(a.call, DiagKind::HostError, "{} is not in the {}", repr(a[0]), type_name(a.self));
}
Result<Value> count(Context& in, Args& a) {
  if (const Value* const unknown = opaque_in(a.self)) return *unknown;
  Wide out = 0;
  for (const Value& item : self_items(a))
    if (WW_TRY(same(in, item, a[0], a.call))) ++out;
  return of_int(out);
}
Result<Value> sort(Context& in, Args& a) {
  CallArgs args = CallArgs::at(a.call, {a.self});
  if (a.has(0)) args.named.push_back({a[0], "key"});
  if (a.has(1)) args.named.push_back({a[1], "reverse"});
  const Value out = WW_TRY(call_builtin(in, *find_builtin("sorted"), args, none()));
  if (out.is(Kind::Opaque)) return fail(needs_opaque(in, {out, a.call}));
  self_items(a) = out.as<SeqObject>().items;
  return none();
}
Result<Value> copy_list(Context& in, Args& a) { return in.heap.seq(a.self.kind, self_items(a)); }
Result<Value> reverse(Context&, Args& a) {
  std::reverse(self_items(a).begin(), self_items(a).end());
  return none();
}
Result<Value> add_to_set(Context& in, Args& a) {
  const bool is_known = WW_TRY(find_item(in, self_items(a), a[0], a.call)).has_value();
  if (!is_known) WW_TRY_VOID(append(in, a.self.as<SeqObject>(), a[0], a.call));
  return none();
}

// --- dicts ---------------------------------------------------------------------------------------

Result<Value> get(Context& in, Args& a) {
  if (const Value* value = WW_TRY(find_key(in, a.self.as<DictObject>(), a[0], a.call)))
    return *value;
  return a.get(1);
}
Result<Value> set_default(Context& in, Args& a) {
  if (const Value* value = WW_TRY(find_key(in, a.self.as<DictObject>(), a[0], a.call)))
    return *value;
  WW_TRY_VOID(put(in, a.self.as<DictObject>(), a[0], a.get(1), a.call));
  return a.get(1);
}
Result<Value> pop_key(Context& in, Args& a) {
  const Value* found = WW_TRY(find_key(in, a.self.as<DictObject>(), a[0], a.call));
  if (found == nullptr) {
    if (a.has(1)) return a[1];
    return fail_at(a.call, DiagKind::HostError, "no key {} in the dict", repr(a[0]));
  }
  const Value out = *found;
  std::erase_if(self_pairs(a), [&](const auto& item) { return &item.second == found; });
  return out;
}
template <auto kPick>
Result<Value> listed(Context& in, Args& a) {
  std::vector<Value> out;
  for (const auto& [key, value] : self_pairs(a)) out.push_back(kPick(in, key, value));
  return in.heap.list(std::move(out));
}
Value key_of(Context&, const Value& key, const Value&) { return key; }
Value value_of(Context&, const Value&, const Value& value) { return value; }
Value pair_of(Context& in, const Value& key, const Value& value) {
  return in.heap.tuple({key, value});
}
Result<Value> copy_dict(Context& in, Args& a) {
  in.heap.count_values(self_pairs(a).size() * 2);
  return in.heap.wrap(Kind::Dict, DictObject(a.self.as<DictObject>()));
}
Result<Value> update(Context& in, Args& a) {
  auto& dict = a.self.as<DictObject>();
  if (a.has(0)) {
    if (a[0].is(Kind::Opaque)) return fail(needs_opaque(in, a[0]));
    if (!a[0].is(Kind::Dict))
      return fail_at(a.call, DiagKind::BadType, "`update` with {}, expected a dict",
                     type_name(a[0]));
    const DictObject other = a[0].as<DictObject>();
    for (const auto& [key, value] : other.items) WW_TRY_VOID(put(in, dict, key, value, a.call));
  }
  for (const CallArgs::Named& named : a.extra)
    WW_TRY_VOID(put(in, dict, in.heap.str(named.name), named, named.span));
  return none();
}

// --- others --------------------------------------------------------------------------------------

Result<Value> bit_length(Context&, Args& a) {
  Wide v = a.self.is(Kind::Bool) ? Wide{a.self.truth} : a.self.integer;
  if (v < 0) v = -v;
  int bits = 0;
  for (; v != 0; v >>= 1) ++bits;
  return of_int(bits);
}
Result<Value> astype(Context& in, Args& a) {
  return of_expr(cast_as(in, {a.self, a.call}, WW_TRY(as_type(in, a[0], "the type"))));
}
Result<Value> specialize(Context& in, Args& a) {
  CallArgs args = CallArgs::at(a.call);
  args.named = a.extra;
  return call(in, a.self, args);
}

constexpr BuiltinRow kRows[] = {
    {"str.lower", "", change_case<lower>},
    {"str.upper", "", change_case<upper>},
    {"str.startswith", "prefix", starts},
    {"str.endswith", "suffix", ends},
    {"str.join", "items", join_texts},
    {"str.split", "separator?", split},
    {"str.replace", "old, new", replace},
    {"str.strip", "", strip},
    {"str.format", "*values, **named", format},
    {"str.isdigit", "", isdigit},
    {"list.append", "item", append},
    {"list.extend", "items", extend},
    {"list.insert", "place, item", insert},
    {"list.pop", "place?", pop},
    {"list.index", "item", index},
    {"list.count", "item", count},
    {"list.copy", "", copy_list},
    {"list.reverse", "", reverse},
    {"list.sort", "key?, reverse?", sort},
    {"tuple.index", "item", index},
    {"tuple.count", "item", count},
    {"set.add", "item", add_to_set},
    {"dict.get", "key, default?", get},
    {"dict.setdefault", "key, default?", set_default},
    {"dict.pop", "key, default?", pop_key},
    {"dict.keys", "", listed<key_of>},
    {"dict.values", "", listed<value_of>},
    {"dict.items", "", listed<pair_of>},
    {"dict.copy", "", copy_dict},
    {"dict.update", "other?, **named", update},
    {"int.bit_length", "", bit_length},
    {"expression.astype", "dtype", astype, true},
    {"jit.specialize", "**constants", specialize},
};

}  // namespace

constinit const std::span<const BuiltinRow> rows = kRows;

}  // namespace ww::script::methods_api
