// SPDX-License-Identifier: Apache-2.0
// Lists, tuples, texts, dicts and sets: their displays and comprehensions, and what operators,
// subscripts and loops do with them.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "script/interp/context.h"

namespace ww::script {

/// The elements of anything that can be iterated at compile time.
Result<std::vector<Value>> iterate(Context& in, const Given& value);
/// Where among the items a value is, if it is there.
Result<std::optional<std::size_t>> find_item(Context& in, const std::vector<Value>& items,
                                             const Value& value, Span span);
/// What a dict holds under a key; null if nothing.
Result<Value*> find_key(Context& in, DictObject& dict, const Value& key, Span span);
Result<void> put(Context& in, DictObject& dict, const Value& key, const Value& value, Span span);
Result<void> append(Context& in, SeqObject& list, const Value& value, Span span);
/// Fails when `holder` is older than the kernel under construction and the value is part of it.
Result<void> check_holds(Context& in, const Object& holder, const Value& value, Span span);

/// `+`, `*`, `|`, `&`, `-` where an operand is a collection; nothing when they have no such
/// meaning.
std::optional<Result<Value>> collection_binary(Context& in, Op op, const Value& a, const Value& b,
                                               Span span);
Result<bool> contains(Context& in, const Value& item, const Value& in_what, Span span);
/// Where an index leads, which counts from the end where it is negative; HostError outside.
Result<std::size_t> place_in(Context& in, const Value& sequence, const Value& index,
                             std::size_t size, Span span);
/// `sequence[index]`, of a list, tuple, text or range; the index may be a slice.
Result<Value> item_of(Context& in, const Value& sequence, const Value& index, Span span);
/// `dict[key]`.
Result<Value> value_of(Context& in, DictObject& dict, const Value& key, Span span);
/// Each element once, in the order of their first appearance.
Result<std::vector<Value>> unique(Context& in, const std::vector<Value>& items, Span span);

// Nodes of the tree.
Result<Value> eval_items(Context& in, const Expr& e, Kind kind, Env& env);
Result<Value> eval_dict(Context& in, const Expr& e, Env& env);
Result<Value> eval_slice(Context& in, const Expr& e, Env& env);
Result<Value> eval_comprehension(Context& in, const Expr& e, Env& env);

}  // namespace ww::script
