// SPDX-License-Identifier: Apache-2.0
#include "ir/tensor_map.h"

#include <algorithm>

#include "ir/build.h"

namespace ww::ir {
namespace {

// pointer, rank, dims, strides, box, swizzle, promotion, fill
constexpr std::size_t kFirstDim = 2;
constexpr std::string_view kFills[] = {"zero", "nan", "none"};  // by MapFill

std::size_t argument_count(std::size_t rank) { return 3 * rank + 4; }

template <typename... Args>
std::optional<Diag> bad(const Function& f, const Expr& call, ExprId at,
                        fmt::format_string<Args...> format, Args&&... args) {
  const Span span = f[at].span;
  return diag(DiagKind::BadArgument, format, std::forward<Args>(args)...)
      .with_span(span.known ? span : call.span);
}

std::optional<Diag> fault_of_box(const Function& f, const Expr& call, std::size_t rank) {
  const int bits = num::storage_bits(f[call.args[0]].type.dtype);
  for (std::size_t d = 0; d < rank; ++d) {
    const ExprId at = call.args[kFirstDim + 2 * rank - 1 + d];
    const auto box = const_int(f, at);
    if (!box || *box < 1 || *box > kMaxMapBox)
      return bad(f, call, at, "`box` of a tensor map is {} in dimension {}, expected 1 to {}",
                 box ? std::to_string(*box) : "known at run time only", d, kMaxMapBox);
    if (d == 0 && *box * bits % (8 * kMapUnit) != 0)
      return bad(f, call, at,
                 "rows of the box of a tensor map have {} bytes, expected a multiple of {}",
                 *box * bits / 8, kMapUnit);
  }
  return std::nullopt;
}

std::optional<Diag> fault_of_word(const Function& f, const Expr& call, std::size_t argument,
                                  std::string_view name, std::initializer_list<std::int64_t> all,
                                  std::string_view wanted) {
  const auto value = const_int(f, call.args[argument]);
  if (value && std::find(all.begin(), all.end(), *value) != all.end()) return std::nullopt;
  return bad(f, call, call.args[argument], "`{}` of a tensor map is {}, expected {}", name,
             value ? std::to_string(*value) : "known at run time only", wanted);
}

}  // namespace

std::string_view name_of(MapFill fill) { return kFills[static_cast<std::size_t>(fill)]; }
std::optional<MapFill> find_map_fill(std::string_view name) {
  const auto* found = std::ranges::find(kFills, name);
  if (found == std::end(kFills)) return std::nullopt;
  return static_cast<MapFill>(found - std::begin(kFills));
}

ExprId make_tensor_map(Function& f, const TensorMap& map, Span span) {
  const auto number = [&](std::int64_t value) {
    return int_imm(f, num::DType::Int32, value, span);
  };
  Expr call{.op = ExprOp::Call, .type = f[map.pointer].type, .span = span};
  call.callee = Intrinsic::TensorMap;
  call.args = {map.pointer, number(static_cast<std::int64_t>(map.rank()))};
  for (const ExprId dim : map.dims) call.args.push_back(dim);
  for (const ExprId stride : map.strides) call.args.push_back(stride);
  for (const std::int64_t extent : map.box) call.args.push_back(number(extent));
  for (const std::int64_t value : {map.swizzle, map.promotion, static_cast<std::int64_t>(map.fill)})
    call.args.push_back(number(value));
  return f.add(std::move(call));
}

std::optional<Diag> fault_of_tensor_map(const Function& f, const Expr& call) {
  const auto rank = const_int(f, call.args[1]);
  if (!rank || *rank < 1 || *rank > static_cast<std::int64_t>(kMaxMapRank))
    return bad(f, call, call.args[1], "a tensor map of {} dimensions, expected 1 to {}",
               rank ? std::to_string(*rank) : "a number known at run time only", kMaxMapRank);
  const auto dims = static_cast<std::size_t>(*rank);
  if (call.args.size() != argument_count(dims))
    return bad(f, call, call.args[1],
               "a tensor map of rank {} has {} numbers, expected an extent and a box for each "
               "dimension, and a stride for each but the first",
               dims, call.args.size());
  const num::DType dtype = f[call.args[0]].type.dtype;
  if (num::storage_bits(dtype) < 8)
    return bad(f, call, call.args[0], "a tensor map of `{}`, expected elements of whole bytes",
               num::name_of(dtype));
  if (auto fault = fault_of_box(f, call, dims)) return fault;
  const std::size_t last = call.args.size();
  if (auto fault =
          fault_of_word(f, call, last - 3, "swizzle", {0, 32, 64, 128}, "0, 32, 64 or 128"))
    return fault;
  if (auto fault =
          fault_of_word(f, call, last - 2, "promotion", {0, 64, 128, 256}, "0, 64, 128 or 256"))
    return fault;
  if (auto fault = fault_of_word(f, call, last - 1, "fill", {0, 1, 2}, "0, 1 or 2")) return fault;
  const auto fill = static_cast<MapFill>(*const_int(f, call.args[last - 1]));
  if (fill == MapFill::Nan && num::kind_of(dtype) != num::DTypeKind::Float)
    return bad(f, call, call.args[last - 1],
               "a tensor map of `{}` filled with NaN, expected floats", num::name_of(dtype));
  return std::nullopt;
}

std::optional<TensorMap> tensor_map_of(const Function& f, ExprId id) {
  if (!id.valid()) return std::nullopt;
  const Expr& call = f[id];
  if (call.op != ExprOp::Call || call.callee != Intrinsic::TensorMap) return std::nullopt;
  if (fault_of_tensor_map(f, call)) return std::nullopt;
  const auto rank = static_cast<std::size_t>(*const_int(f, call.args[1]));
  TensorMap out{.pointer = call.args[0]};
  const ExprId* at = call.args.begin() + kFirstDim;
  const auto take = [&](std::size_t count, auto&& use) {
    for (std::size_t i = 0; i < count; ++i) use(*at++);
  };
  take(rank, [&](ExprId dim) { out.dims.push_back(dim); });
  take(rank - 1, [&](ExprId stride) { out.strides.push_back(stride); });
  take(rank, [&](ExprId extent) { out.box.push_back(*const_int(f, extent)); });
  out.swizzle = *const_int(f, at[0]);
  out.promotion = *const_int(f, at[1]);
  out.fill = static_cast<MapFill>(*const_int(f, at[2]));
  return out;
}

std::optional<TensorMap> find_tensor_map(const Function& f, ExprId pointer) {
  if (!pointer.valid()) return std::nullopt;
  const Expr& e = f[pointer];
  if (e.op != ExprOp::Var) return tensor_map_of(f, pointer);
  for (const StmtId id : f.host)
    if (f[id].kind == StmtKind::Bind && f[id].var == e.var) return tensor_map_of(f, f[id].expr);
  return std::nullopt;
}

std::vector<BoundMap> tensor_maps(const Function& f) {
  std::vector<BoundMap> out;
  for (const StmtId id : f.host) {
    if (f[id].kind != StmtKind::Bind) continue;
    if (auto map = tensor_map_of(f, f[id].expr)) out.push_back({f[id].var, *std::move(map)});
  }
  return out;
}

std::optional<MapBase> map_base(const Function& f, const TensorMap& map) {
  ExprId pointer = map.pointer;
  std::int64_t bytes = 0;
  while (is_call(f[pointer], Intrinsic::PointerOffset)) {
    const auto elements = const_int(f, f[pointer].args[1]);
    if (!elements) return std::nullopt;
    pointer = f[pointer].args[0];
    bytes += *elements * num::storage_bits(f[pointer].type.dtype) / 8;
  }
  const Expr& e = f[pointer];
  VarId var = e.op == ExprOp::Var ? e.var : VarId{};
  if (takes_address(e)) {
    const Buffer& buffer = f[storage_of(f, e.buffer)];
    if (buffer.origin == BufferOrigin::Param) var = buffer.param;
    for (const ExprId index : e.args) {
      const auto at = const_int(f, index);
      if (!at || e.args.size() != 1) return std::nullopt;
      bytes += *at * num::storage_bits(f[e.buffer].dtype) / 8;
    }
  }
  for (std::size_t i = 0; i < f.params.size(); ++i)
    if (f.params[i].var == var) return MapBase{i, bytes};
  return std::nullopt;
}

num::DType map_dtype(const Function& f, const TensorMap& map) { return f[map.pointer].type.dtype; }

}  // namespace ww::ir
