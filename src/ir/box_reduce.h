// SPDX-License-Identifier: Apache-2.0
// `use_tma_reduce=` of copy_async: how the copy engine combines elements of shared memory with the elements
// of global memory that it would replace otherwise.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ir/function.h"

namespace ww::ir {

enum class BoxReduce : std::uint8_t { Add, Min, Max, Inc, Dec, And, Or, Xor };

/// As PTX writes it.
std::string_view name_of(BoxReduce op);
std::optional<BoxReduce> find_box_reduce(std::string_view name);
/// Does the engine accept elements of that type? As on an H200; all others are illegal
/// instructions.
bool takes(BoxReduce op, num::DType dtype);
/// "int32, uint32, …": all types that it takes.
std::string types_text(BoxReduce op);

/// Of a call that has been verified; nothing: elements are replaced.
std::optional<BoxReduce> box_reduce(const TileCall& call);

}  // namespace ww::ir
