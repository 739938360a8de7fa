// SPDX-License-Identifier: Apache-2.0
// Tensor maps describe to the copy engine an array in global memory and the boxes that it copies.
// The host part of a kernel binds them,
//
//     A_map = T.tensor_map(A.data, dims=(K, M), strides=(K,), box=(64, 128), swizzle=128)
//
// the launch makes them, and the kernel gets them after its other parameters, in order. Dimension 0
// is the innermost one, whose elements are neighbours.
//
// In the IR a map is a call of an intrinsic with a pointer and numbers, which these functions build
// and read.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/diag.h"
#include "ir/function.h"

namespace ww::ir {

inline constexpr std::size_t kMaxMapRank = 5;
inline constexpr std::int64_t kMaxMapBox = 256;
inline constexpr std::int64_t kMaxMapStride = std::int64_t{1} << 40;  // bytes; less than that
inline constexpr std::int64_t kMaxMapExtent = std::int64_t{1} << 32;
inline constexpr std::int64_t kMapUnit = 16;    // bytes: pointers, strides and rows are multiples
inline constexpr std::int64_t kMapBytes = 128;  // of the map itself
inline constexpr std::int64_t kMapAlign = 64;

/// The value of elements outside the array. None: copies stay inside, which the evaluator and the
/// virtual GPU check; a GPU treats it as Zero.
enum class MapFill : std::uint8_t { Zero, Nan, None };
/// "zero"
std::string_view name_of(MapFill fill);
std::optional<MapFill> find_map_fill(std::string_view name);

struct TensorMap {
  ExprId pointer = {};               // to the first element
  std::vector<ExprId> dims = {};     // elements
  std::vector<ExprId> strides = {};  // elements, of dimensions 1 on
  std::vector<std::int64_t> box = {};
  std::int64_t swizzle = 0;      // bytes of a row of the pattern: 32, 64 or 128; 0: none
  std::int64_t promotion = 256;  // bytes that the second-level cache fetches; 0: none
  MapFill fill = MapFill::Zero;

  [[nodiscard]] std::size_t rank() const { return dims.size(); }
};

/// The call that represents a map.
ExprId make_tensor_map(Function& function, const TensorMap& map, Span span);
/// The error in such a call, if any: numbers that no map can have.
std::optional<Diag> fault_of_tensor_map(const Function& function, const Expr& call);

/// The map of a call; nothing if it is another call, or has a fault.
std::optional<TensorMap> tensor_map_of(const Function& function, ExprId call);
/// The map that a name of the host part, or a call, represents.
std::optional<TensorMap> find_tensor_map(const Function& function, ExprId pointer);

/// A map with its name.
struct BoundMap {
  VarId var = {};
  TensorMap map = {};
};
/// All maps of a function, in the order in which the kernel gets them.
std::vector<BoundMap> tensor_maps(const Function& function);

/// Where the array of a map begins.
struct MapBase {
  std::size_t param = 0;   // the pointer's place among the parameters
  std::int64_t bytes = 0;  // behind it
};
/// Nothing when the pointer does not lead to a parameter by a constant distance.
std::optional<MapBase> map_base(const Function& function, const TensorMap& map);
/// The type of its elements.
num::DType map_dtype(const Function& function, const TensorMap& map);

}  // namespace ww::ir
