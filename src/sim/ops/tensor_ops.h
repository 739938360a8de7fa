// SPDX-License-Identifier: Apache-2.0
// Tensor maps as instructions see them: read from memory for a copy, changed in place.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "sim/decode/decoder.h"
#include "sim/tensor_map/map.h"

namespace ww::sim {

class Warp;

/// The map at that address, for a copy of `rank` dimensions by that lane. What is wrong with it ends
/// the run, as it does on hardware; a map that other checks find fault with is read all the same.
std::optional<TensorMap> read_tensor_map(Warp& warp, std::uint64_t address, unsigned lane,
                                         unsigned rank);
/// Adds the address of a map to the program's: registers hold generic addresses.
std::uint32_t map_address(Decode& in, std::size_t i);

/// The type that an operation of cp.reduce.async.bulk.tensor combines elements as; Pred: it does not
/// combine them. What an H200 takes.
isa::Type combined_type(TensorType type, isa::Word operation);

/// Rows of the family: `prefetch.tensormap`, `tensormap.replace` and `tensormap.cp_fenceproxy`.
bool decode_prefetch_map(Decode& in);
bool decode_replace(Decode& in);
bool decode_copy_map(Decode& in);

}  // namespace ww::sim
