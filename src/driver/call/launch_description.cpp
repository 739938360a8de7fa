// SPDX-License-Identifier: Apache-2.0
#include "driver/call/launch_description.h"

#include <algorithm>
#include <utility>

#include "driver/report_parts.h"
#include "driver/sim/tensor_arg.h"
#include "ir/print/print.h"
#include "lower/lower.h"
#include "ptx/parser.h"
#include "target/target.h"

namespace ww::driver {
namespace {

constexpr std::int64_t kPortableCluster = 8;  // CTAs; larger ones must be allowed

// The alignments of pointers, as the PTX has them.
std::vector<std::uint32_t> alignments(const Build& build) {
  std::vector<std::uint32_t> out;
  const ptx::ParseResult read = ptx::parse(build.ptx);
  for (const ptx::Function& function : read.module.functions)
    if (function.has_body && read.module.text(function.name) == build.entry)
      for (const ptx::Variable& param : function.params)
        out.push_back(std::max(1U, param.pointee.align));
  return out;
}

// The arrays whose shape has the extent of that name.
std::vector<LaunchParam::Source> sources_of(const ir::Function& tile, std::string_view name) {
  std::vector<LaunchParam::Source> out;
  for (std::size_t i = 0; i < tile.params.size(); ++i) {
    const ir::BufferId id = ir::buffer_of_param(tile, i);
    if (!id.valid()) continue;
    const std::vector<ir::ExprId>& shape = tile[id].shape;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const ir::Expr& extent = tile[shape[d]];
      if (extent.op == ir::ExprOp::Var && tile[extent.var].name == name) out.push_back({i, d});
    }
  }
  return out;
}

bool lies_in_c_order(const ir::Function& tile, std::size_t param) {
  const ir::BufferId id = ir::buffer_of_param(tile, param);
  return !id.valid() || tile[id].layout_kind != ir::LayoutKind::Explicit;
}

LaunchParam extent_param(const ir::Function& tile, const ir::Var& var) {
  LaunchParam out{.kind = LaunchParam::Kind::Extent};
  out.seen = {.name = var.name, .variable = var.name, .dtype = var.type.dtype};
  out.from = sources_of(tile, var.name);
  return out;
}

LaunchParam map_param(const ir::Function& lowered, const ir::BoundMap& bound) {
  LaunchParam out{.kind = LaunchParam::Kind::TensorMap};
  const std::string& name = lowered[bound.var].name;
  out.seen = {.name = name, .variable = name, .dtype = ir::map_dtype(lowered, bound.map)};
  out.bytes = static_cast<std::uint32_t>(ir::kMapBytes);
  out.align = static_cast<std::uint32_t>(ir::kMapAlign);
  out.map = bound.map;
  return out;
}

std::string_view name_of(LaunchParam::Kind kind) {
  static constexpr std::string_view kTexts[] = {"pointer", "number", "extent", "tensor_map"};
  return kTexts[std::to_underlying(kind)];
}

Json sources_json(const std::vector<LaunchParam>& params, const LaunchParam& param) {
  return json_list(param.from, [&](const LaunchParam::Source& each) -> Json {
    return {{"param", params[each.param].seen.name}, {"dim", each.dim}};
  });
}

// A number, or the name of an extent.
Json shape_json(const CallParam& param) {
  Json out = Json::array();
  for (std::size_t d = 0; d < param.shape.size(); ++d)
    out.push_back(param.extents[d] ? Json(*param.extents[d]) : Json(param.shape[d]));
  return out;
}

Json numbers_json(const ir::Function& lowered, const std::vector<ir::ExprId>& numbers,
                  std::int64_t scale) {
  Json out = Json::array();
  for (const ir::ExprId id : numbers) {
    const auto constant = ir::const_int(lowered, id);
    const std::string text = ir::print(lowered, id);
    out.push_back(constant     ? Json(*constant * scale)
                  : scale == 1 ? Json(text)
                               : Json(fmt::format("({}) * {}", text, scale)));
  }
  return out;
}

// The arguments of cuTensorMapEncodeTiled by its own names, the innermost dimension first.
Json map_json(const ir::Function& lowered, const std::vector<LaunchParam>& params,
              const ir::TensorMap& map) {
  constexpr std::string_view kPrefix = "CU_TENSOR_MAP_";
  const num::DType dtype = ir::map_dtype(lowered, map);
  const auto base = ir::map_base(lowered, map);
  const auto type = tensor_type_for(dtype);
  const auto bytes = [&](std::string_view what, std::int64_t count) {
    return count == 0 ? fmt::format("{}{}_NONE", kPrefix, what)
                      : fmt::format("{}{}_{}{}B", kPrefix, what,
                                    what == "L2_PROMOTION" ? "L2_" : "", count);
  };
  return {
      {"array", base ? Json(params[base->param].seen.name) : Json(nullptr)},
      {"offset", base ? base->bytes : 0},
      {"tensorDataType", type ? Json(static_cast<int>(*type)) : Json(nullptr)},
      {"tensorRank", map.rank()},
      {"globalDim", numbers_json(lowered, map.dims, 1)},
      {"globalStrides", numbers_json(lowered, map.strides, num::storage_bits(dtype) / 8)},
      {"boxDim", map.box},
      {"elementStrides", std::vector<int>(map.rank(), 1)},
      {"interleave", "CU_TENSOR_MAP_INTERLEAVE_NONE"},
      {"swizzle", bytes("SWIZZLE", map.swizzle)},
      {"l2Promotion", bytes("L2_PROMOTION", map.promotion)},
      {"oobFill", map.fill == ir::MapFill::Nan ? "CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA"
                                               : "CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE"}};
}

Json params_json(const ir::Function& lowered, const std::vector<LaunchParam>& params) {
  Json out = Json::array();
  for (const LaunchParam& param : params) {
    const CallParam& seen = param.seen;
    Json row = {{"name", seen.name},
                {"variable", seen.variable},
                {"kind", name_of(param.kind)},
                {"dtype", seen.dtype ? Json(num::name_of(*seen.dtype)) : Json(nullptr)},
                {"bytes", param.bytes}};
    if (param.kind == LaunchParam::Kind::Pointer) {
      row["align"] = param.align;
      row["shape"] = shape_json(seen);
      row["is_c_order"] = param.is_c_order;
      row["writes"] = seen.writes;
    }
    if (param.kind == LaunchParam::Kind::Extent) row["from"] = sources_json(params, param);
    if (param.map) row["map"] = map_json(lowered, params, *param.map);
    out.push_back(std::move(row));
  }
  return out;
}

// What the CUDA driver must be told about the function before a launch, by its own names.
Json attributes_json(const LaunchDescription& launch) {
  Json out = Json::array();
  if (launch.dynamic_shared > 0)
    out.push_back({{"name", "CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES"},
                   {"value", launch.dynamic_shared}});
  const auto& cluster = launch.shape.cluster;
  if (cluster[0] * cluster[1] * cluster[2] > kPortableCluster)
    out.push_back({{"name", "CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED"}, {"value", 1}});
  return out;
}

Json grid_json(const ir::Function& lowered, const ir::LaunchShape& shape) {
  return json_list(shape.grid, [&](const ir::Extent& extent) {
    return extent.is_constant() ? Json(extent.value) : Json(ir::print(lowered, extent.expr));
  });
}

Json lets_json(const ir::Function& lowered, const LaunchDescription& launch) {
  return json_list(launch.lets, [&](const ir::StmtId id) -> Json {
    return {{"name", lowered[lowered[id].var].name},
            {"value", ir::print(lowered, lowered[id].expr)}};
  });
}

}  // namespace

Result<LaunchDescription> describe_launch(const Build& build) {
  const ir::Function& lowered = *build.lowered;
  LaunchDescription out{.shape = WW_TRY(ir::launch_shape(lowered))};
  out.dynamic_shared = static_cast<std::uint32_t>(lower::dynamic_shared_bytes(lowered));
  for (const ir::StmtId id : lowered.host)
    if (lowered[id].kind == ir::StmtKind::Bind && !ir::tensor_map_of(lowered, lowered[id].expr))
      out.lets.push_back(id);
  return out;
}

std::vector<LaunchParam> launch_params(const Build& build) {
  const std::vector<CallParam> seen = call_params(build.tile());
  const std::vector<std::uint32_t> aligns = alignments(build);
  const ir::Function& lowered = *build.lowered;
  std::vector<LaunchParam> out;
  for (std::size_t i = 0; i < lowered.params.size(); ++i) {
    const ir::Var& var = lowered[lowered.params[i].var];
    const bool is_pointer = var.type.is_pointer();
    LaunchParam param = i < seen.size()
                            ? LaunchParam{.kind = is_pointer ? LaunchParam::Kind::Pointer
                                                             : LaunchParam::Kind::Number,
                                          .seen = seen[i]}
                            : extent_param(build.tile(), var);
    if (!is_pointer)
      param.bytes = static_cast<std::uint32_t>(std::max(1, num::bits_of(var.type.dtype) / 8));
    if (is_pointer && i < aligns.size()) param.align = aligns[i];
    param.is_c_order = !is_pointer || lies_in_c_order(build.tile(), i);
    out.push_back(std::move(param));
  }
  for (const ir::BoundMap& bound : ir::tensor_maps(lowered))
    out.push_back(map_param(lowered, bound));
  return out;
}

Result<std::string> launch_json(const Build& build) {
  const LaunchDescription launch = WW_TRY(describe_launch(build));
  const auto& cluster = launch.shape.cluster;
  return json_text(
      with_schema("launch", {{"file", build.compiled->source.name()},
                             {"kernel", build.tile().name},
                             {"entry", build.entry},
                             {"target", target::info(build.target->arch).name},
                             {"ptx", target::ptx_version_text(build.target->ptx)},
                             {"grid", grid_json(*build.lowered, launch.shape)},
                             {"block", launch.shape.block},
                             {"cluster", launch.shape.has_clusters ? Json(cluster) : Json(nullptr)},
                             {"dynamic_shared", launch.dynamic_shared},
                             {"cooperative", launch.shape.is_cooperative},
                             {"programmatic", launch.shape.is_programmatic},
                             {"attributes", attributes_json(launch)},
                             {"let", lets_json(*build.lowered, launch)},
                             {"params", params_json(*build.lowered, launch_params(build))}}));
}

}  // namespace ww::driver
