// SPDX-License-Identifier: Apache-2.0
// A tensor map describes to Hopper's copy engine a tensor in global memory and the boxes that it
// copies. The members are the arguments of the driver's cuTensorMapEncodeTiled and
// cuTensorMapEncodeIm2col, with the driver's limits. Dimension 0 is the innermost one, whose
// elements are neighbours.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"

namespace ww::sim {

constexpr unsigned kMaxTensorRank = 5;

/// Element types, in the order of the driver's enumeration.
enum class TensorType : std::uint8_t {
#define WW_TENSOR_TYPE(id, name, bits, is_float, ptx_code) id,
#include "sim/tensor_map/types.def"
#undef WW_TENSOR_TYPE
};
struct TensorTypeInfo {
  std::string_view name;  // "float16"
  unsigned bits = 0;
  bool is_float = false;
  unsigned ptx_code = 0;  // of tensormap.replace, which numbers some of them otherwise
};
const TensorTypeInfo& info(TensorType type);
std::span<const TensorTypeInfo> tensor_types();
/// Elements of less than a byte, which lie in memory without gaps.
inline bool is_packed(TensorType type) { return info(type).bits < 8; }
/// Packed elements that copies spread in shared memory, sixteen to 16 bytes.
bool is_padded(TensorType type);
/// By the number in tensormap.replace.
std::optional<TensorType> tensor_type_of_ptx(unsigned ptx_code);

/// Whether channels lie in slices of 16 or 32 bytes. Dimension 0 then counts slices, of which
/// neighbours lie side by side.
enum class Interleave : std::uint8_t { None, Slices16, Slices32 };
/// How 16-byte chunks of shared memory change places (`swizzled` of box.h). The last three move
/// larger chunks, on sm_100 and later.
enum class TensorSwizzle : std::uint8_t { None, B32, B64, B128, Atom32, Atom32Flip, Atom64 };
/// The value read outside the tensor. None: copies must stay inside, which `bounds` checks; a GPU
/// treats it as Zeros.
enum class TensorFill : std::uint8_t { Zeros, Nan, None };
/// The driver's number.
constexpr int driver_code(TensorFill fill) { return fill == TensorFill::Nan ? 1 : 0; }
enum class Promotion : std::uint8_t { None, B64, B128, B256 };

/// The words of `--arg` and Python for these, in the order of the values.
std::span<const std::string_view> words_of(Interleave);
std::span<const std::string_view> words_of(TensorSwizzle);
std::span<const std::string_view> words_of(TensorFill);
std::span<const std::string_view> words_of(Promotion);

/// The columns of an im2col map. The box of pixels starts at `lower` and ends `upper` after the end
/// of the tensor, in dimensions 1 to rank - 2.
struct Im2col {
  std::array<std::int32_t, 3> lower{}, upper{};
  std::uint32_t channels = 0;  // that are copied of each pixel
  std::uint32_t pixels = 0;    // of a column

  friend bool operator==(const Im2col&, const Im2col&) = default;
};

struct TensorMap {
  TensorType type = TensorType::U8;
  unsigned rank = 1;
  std::uint64_t address = 0;
  std::array<std::uint64_t, kMaxTensorRank> dims{1, 1, 1, 1, 1};
  std::array<std::uint64_t, kMaxTensorRank - 1> strides{};  // bytes; [d] is that of dimension d + 1
  std::array<std::uint32_t, kMaxTensorRank> box{1, 1, 1, 1, 1};
  std::array<std::uint32_t, kMaxTensorRank> element_strides{1, 1, 1, 1, 1};
  Interleave interleave = Interleave::None;
  TensorSwizzle swizzle = TensorSwizzle::None;
  Promotion promotion = Promotion::None;
  TensorFill fill = TensorFill::Zeros;
  std::optional<Im2col> im2col{};  // then `box` means nothing

  friend bool operator==(const TensorMap&, const TensorMap&) = default;
};

/// BadArgument with the parameter, its value and the limit, if the driver would refuse the map.
Result<void> check_tensor_map(const TensorMap& map);

/// Bytes that rows of a swizzled box may have; 0: any number.
unsigned swizzle_bytes(TensorSwizzle swizzle);
/// Bytes of an element, or of a slice: what dimension 0 counts. Not for packed types.
unsigned unit_bytes(const TensorMap& map);
/// Bytes in global memory of that many elements of dimension 0, rounded down.
std::uint64_t bytes_of(const TensorMap& map, std::uint64_t elements);

}  // namespace ww::sim
