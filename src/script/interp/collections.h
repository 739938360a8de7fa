// SPDX-License-Identifier: Apache-2.0
// Lists, tuples, texts, dicts and sets under operators and subscripts.
#pragma once

#include <optional>

#include "script/interp/interp.h"

namespace ww::script {

/// `+`, `*`, `|`, `&`, `-` where an operand is a collection; nothing when they have no such
/// meaning.
std::optional<Result<Value>> collection_binary(Interp& in, Op op, const Value& a, const Value& b,
                                               Span span);
Result<bool> contains(Interp& in, const Value& item, const Value& in_what, Span span);
/// `sequence[index]`, of a list, tuple, text or range; the index may be a slice.
Result<Value> item_of(Interp& in, const Value& sequence, const Value& index, Span span);
/// `dict[key]`.
Result<Value> value_of(Interp& in, DictObject& dict, const Value& key, Span span);
/// Each element once, in the order of their first appearance.
Result<std::vector<Value>> unique(Interp& in, const std::vector<Value>& items, Span span);

}  // namespace ww::script
