// SPDX-License-Identifier: Apache-2.0
#include "driver/call/launch_maps.h"

#include "driver/sim/tensor_arg.h"
#include "ir/print/print.h"
#include "ir/tensor_map.h"

namespace ww::driver {
namespace {

using sim::Promotion;
using sim::TensorFill;
using sim::TensorSwizzle;

TensorSwizzle swizzle_of(std::int64_t bytes) {
  return bytes == 32    ? TensorSwizzle::B32
         : bytes == 64  ? TensorSwizzle::B64
         : bytes == 128 ? TensorSwizzle::B128
                        : TensorSwizzle::None;
}

Promotion promotion_of(std::int64_t bytes) {
  return bytes == 64    ? Promotion::B64
         : bytes == 128 ? Promotion::B128
         : bytes == 256 ? Promotion::B256
                        : Promotion::None;
}

TensorFill fill_of(ir::MapFill fill) {
  return fill == ir::MapFill::None  ? TensorFill::None
         : fill == ir::MapFill::Nan ? TensorFill::Nan
                                    : TensorFill::Zeros;
}

class MapReader {
 public:
  MapReader(const ir::Function& f, const eval::HostValues& values) : f_(f), values_(values) {}

  Result<runtime::MapArgument> read(const ir::BoundMap& bound) const {
    const auto base = ir::map_base(f_, bound.map);
    const num::DType dtype = ir::map_dtype(f_, bound.map);
    const auto type = tensor_type_for(dtype);
    const std::string& name = f_[bound.var].name;
    if (!base || !type)
      return fail(DiagKind::BadLaunch, "the tensor map `{}` is of {}", name,
                  base ? fmt::format("elements of {}", num::name_of(dtype))
                       : "an array that is not that of a parameter");
    runtime::MapArgument out{.array = base->param, .offset = base->bytes, .name = name};
    out.array_name = array_name(base->param);
    out.map.type = *type;
    out.map.rank = static_cast<unsigned>(bound.map.rank());
    const std::int64_t bytes = num::storage_bits(dtype) / 8;
    for (std::size_t d = 0; d < bound.map.rank(); ++d) {
      out.map.dims[d] = WW_TRY(number(bound.map.dims[d], name, 1));
      out.map.box[d] = static_cast<std::uint32_t>(bound.map.box[d]);
      if (d > 0) out.map.strides[d - 1] = WW_TRY(number(bound.map.strides[d - 1], name, bytes));
    }
    out.map.swizzle = swizzle_of(bound.map.swizzle);
    out.map.promotion = promotion_of(bound.map.promotion);
    out.map.fill = fill_of(bound.map.fill);
    return out;
  }

 private:
  [[nodiscard]] std::string array_name(std::size_t param) const {
    const ir::BufferId buffer = ir::buffer_of_param(f_, param);
    return buffer.valid() ? f_[buffer].name : f_[f_.params[param].var].name;
  }

  [[nodiscard]] Result<std::uint64_t> number(ir::ExprId expr, const std::string& name,
                                             std::int64_t scale) const {
    const auto value = eval::host_value(f_, values_, expr);
    if (!value)
      return fail(DiagKind::BadLaunch, "`{}` of the tensor map `{}` is not known at the launch",
                  ir::print(f_, expr), name);
    return static_cast<std::uint64_t>(eval::as_int(f_[expr].type.dtype, *value) * scale);
  }

  const ir::Function& f_;
  const eval::HostValues& values_;
};

}  // namespace

Result<std::vector<runtime::MapArgument>> launch_maps(const ir::Function& lowered,
                                                      const eval::HostValues& values) {
  std::vector<runtime::MapArgument> out;
  const MapReader reader(lowered, values);
  for (const ir::BoundMap& bound : ir::tensor_maps(lowered)) {
    out.push_back(WW_TRY(reader.read(bound)));
    out.back().argument = lowered.params.size() + out.size() - 1;
  }
  return out;
}

}  // namespace ww::driver
