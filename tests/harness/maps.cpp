// SPDX-License-Identifier: Apache-2.0
#include "harness/maps.h"

#include <bit>

#include "eval/launch/host_values.h"
#include "ir/tensor_map.h"

namespace ww::test {
namespace {

sim::TensorType type_of(num::DType dtype) {
  switch (dtype) {
    case num::DType::Float16:
      return sim::TensorType::F16;
    case num::DType::Bfloat16:
      return sim::TensorType::Bf16;
    case num::DType::Float32:
      return sim::TensorType::F32;
    case num::DType::Float64:
      return sim::TensorType::F64;
    case num::DType::Int32:
      return sim::TensorType::S32;
    case num::DType::Int64:
      return sim::TensorType::S64;
    default:
      break;
  }
  const int bits = num::storage_bits(dtype);
  return bits == 8    ? sim::TensorType::U8
         : bits == 16 ? sim::TensorType::U16
         : bits == 32 ? sim::TensorType::U32
                      : sim::TensorType::U64;
}

}  // namespace

std::vector<runtime::MapArgument> maps_of(const ir::Function& lowered,
                                          const std::vector<Arg>& args) {
  eval::HostValues values(lowered.var_count());
  for (std::size_t i = 0; i < lowered.params.size() && i < args.size(); ++i)
    if (!args[i].is_array) values[lowered.params[i].var.index] = args[i].bits;
  const auto number = [&](ir::ExprId id) {
    const auto value = eval::host_value(lowered, values, id);
    WW_CHECK(value.has_value(), "a number of a tensor map is not known at the launch");
    return static_cast<std::uint64_t>(eval::as_int(lowered[id].type.dtype, *value));
  };
  std::vector<runtime::MapArgument> out;
  for (const ir::BoundMap& bound : ir::tensor_maps(lowered)) {
    const auto base = ir::map_base(lowered, bound.map);
    WW_CHECK(base.has_value(), "a tensor map of no parameter");
    const num::DType dtype = ir::map_dtype(lowered, bound.map);
    runtime::MapArgument& map = out.emplace_back();
    map.argument = args.size() + out.size() - 1;
    map.array = base->param;
    map.offset = base->bytes;
    map.map.type = type_of(dtype);
    map.map.rank = static_cast<unsigned>(bound.map.rank());
    for (std::size_t d = 0; d < bound.map.rank(); ++d) {
      map.map.dims[d] = number(bound.map.dims[d]);
      map.map.box[d] = static_cast<std::uint32_t>(bound.map.box[d]);
      if (d > 0)
        map.map.strides[d - 1] = number(bound.map.strides[d - 1]) *
                                 static_cast<std::uint64_t>(num::storage_bits(dtype)) / 8;
    }
    // None, 32, 64 and 128 bytes are 0 to 3.
    map.map.swizzle = static_cast<sim::TensorSwizzle>(
        std::bit_width(static_cast<std::uint64_t>(bound.map.swizzle) / 32));
    map.map.fill = bound.map.fill == ir::MapFill::None  ? sim::TensorFill::None
                   : bound.map.fill == ir::MapFill::Nan ? sim::TensorFill::Nan
                                                        : sim::TensorFill::Zeros;
  }
  return out;
}

}  // namespace ww::test
