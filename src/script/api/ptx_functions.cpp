// SPDX-License-Identifier: Apache-2.0
#include "script/api/ptx_functions.h"
#include "script/api/builtins.h"

#include <fmt/format.h>

#include <algorithm>

#include "script/api/params.h"
#include "script/api/ptx_synchronising.h"
#include "script/interp/calls.h"
#include "script/interp/conversions.h"
#include "script/interp/implicit.h"
#include "script/interp/regions.h"
#include "script/syntax/errors.h"

namespace ww::script {
namespace {

using ir::PtxOperandKind;
using num::DType;

Result<ir::PtxOperand> address(Context& in, const Value& value, Span span) {
  ir::PtxOperand out;
  out.kind = PtxOperandKind::Address;
  if (value.is(Kind::Buffer)) {
    out.expr = WW_TRY(first_address(in, value.buffer(), span));
    return out;
  }
  out.expr = WW_TRY(used_here(in, value, span));
  const ir::Type type = in.fn()[out.expr].type;
  if (!type.is_pointer() && !(type.is_int() && num::bits_of(type.dtype) >= 32))
    return fail_at(span, DiagKind::BadOperand, "an address of type `{}`", ir::to_text(type));
  return out;
}

// The register that a pointer to private memory stands for.
Result<ir::PtxOperand> at(Context& in, const Value& value, Span span) {
  ir::PtxOperand out;
  out.kind = PtxOperandKind::At;
  out.expr = WW_TRY(used_here(in, value, span));
  if (!in.fn()[out.expr].type.is_pointer())
    return fail_at(span, DiagKind::BadOperand, "a register given by `{}`, expected a pointer to it",
                   ir::to_text(in.fn()[out.expr].type));
  return out;
}

Result<ir::PtxOperand> word(Context& in, const Value& value, DType dtype, Span span) {
  ir::PtxOperand out;
  const bool is_literal = value.is(Kind::Int) || value.is(Kind::Bool);
  out.expr = is_literal ? WW_TRY(expression_as(in, value, ir::Type::of(dtype), span))
                        : WW_TRY(used_here(in, value, span));
  return out;
}

Value finish(Context& in, std::string_view opcode, std::vector<ir::PtxOperand> operands,
             Span span) {
  emit_ptx(in, {.opcode = isa::opcode_of(opcode), .operands = std::move(operands)}, span);
  return none();
}

// --- matrices ------------------------------------------------------------------------------------

// ".b16" or "b16".
Result<std::string> matrix_type(Context& in, const Value& value, Span span) {
  const std::string type = WW_TRY(as_text(in, value, "the type", span));
  return type.substr(type.find_first_not_of('.') == 1 ? 1 : 0);
}

Result<Value> ldmatrix(Context& in, Args& a) {
  const bool trans = WW_TRY(as_bool(in, a[0], "`trans`", a.spans[0]));
  const std::int64_t num = WW_TRY(as_integer(in, a[1], "`num`", a.spans[1]));
  const std::string type = WW_TRY(matrix_type(in, a[2], a.spans[2]));
  // Bytes are transposed by tiles of 16 × 16 only, two registers each.
  const bool is_bytes = type == "b8";
  std::vector<ir::PtxOperand> operands;
  for (std::size_t i = 0; i < a.rest.size(); ++i)
    operands.push_back(WW_TRY(at(in, a.rest[i], a.rest_spans[i])));
  operands.push_back(WW_TRY(address(in, a[3], a.spans[3])));
  return finish(in,
                fmt::format("ldmatrix.sync.aligned.{}.x{}{}.shared.{}",
                            is_bytes ? "m16n16" : "m8n8", num, trans ? ".trans" : "", type),
                std::move(operands), a.call);
}

Result<Value> stmatrix(Context& in, Args& a) {
  const bool trans = WW_TRY(as_bool(in, a[0], "`trans`", a.spans[0]));
  const std::int64_t num = WW_TRY(as_integer(in, a[1], "`num`", a.spans[1]));
  const std::string type = WW_TRY(matrix_type(in, a[2], a.spans[2]));
  std::string shape = type == "b8" ? "m16n8" : "m8n8";
  std::string space = "shared";
  for (const CallArgs::Named& named : a.extra) {
    if (named.name == "shape")
      shape = WW_TRY(as_text(in, named.value, "`shape`", named.span));
    else if (named.name == "space")
      space = WW_TRY(as_text(in, named.value, "`space`", named.span));
    else
      return fail(no_parameter("T.ptx.stmatrix", named));
  }
  std::vector<ir::PtxOperand> operands = {WW_TRY(address(in, a[3], a.spans[3]))};
  for (std::size_t i = 0; i < a.rest.size(); ++i)
    operands.push_back(WW_TRY(at(in, a.rest[i], a.rest_spans[i])));
  return finish(in,
                fmt::format("stmatrix.sync.aligned.{}.x{}{}.{}.{}", shape, num,
                            trans ? ".trans" : "", space, type),
                std::move(operands), a.call);
}

struct PtxTypeName {
  std::string_view dtype, ptx;
};
constexpr PtxTypeName kMmaTypes[] = {
    {"float16", "f16"},      {"bfloat16", "bf16"}, {"tfloat32", "tf32"}, {"tf32", "tf32"},
    {"float32", "f32"},      {"float64", "f64"},   {"int32", "s32"},     {"int8", "s8"},
    {"uint8", "u8"},         {"int4", "s4"},       {"uint4", "u4"},      {"float8_e4m3fn", "e4m3"},
    {"float8_e5m2", "e5m2"}, {"e4m3", "e4m3"},     {"e5m2", "e5m2"},
};
Result<std::string_view> mma_type(Context& in, const Value& value, Span span) {
  const std::string name = WW_TRY(as_text(in, value, "an element type", span));
  for (const PtxTypeName& row : kMmaTypes)
    if (row.dtype == name) return row.ptx;
  std::string known;
  for (const PtxTypeName& row : kMmaTypes)
    known += fmt::format("{}{}", known.empty() ? "" : ", ", row.dtype);
  return fail_at(span, DiagKind::BadType, "`T.ptx.mma` of \"{}\", expected one of {}", name, known);
}

// Pointers come as four lists, or flat behind their counts and the flag that C is left out.
Result<Value> mma(Context& in, Args& a) {
  std::string opcode =
      fmt::format("mma.sync.aligned.{}.{}.{}", WW_TRY(as_text(in, a[0], "the shape", a.spans[0])),
                  WW_TRY(as_text(in, a[1], "A's order", a.spans[1])),
                  WW_TRY(as_text(in, a[2], "B's order", a.spans[2])));
  for (const std::size_t i : {3U, 4U, 5U, 6U})
    opcode += fmt::format(".{}", WW_TRY(mma_type(in, a[i], a.spans[i])));
  std::vector<Value> pointers;
  const bool is_flat = !a.rest.empty() && a.rest[0].is(Kind::Int);
  if (is_flat) {
    if (a.rest.size() < 5)
      return fail_at(a.call, DiagKind::BadArgument, "`T.ptx.mma` without its pointers");
    pointers.assign(a.rest.begin() + 5, a.rest.end());
  } else {
    for (std::size_t i = 0; i < a.rest.size(); ++i)
      for (const Value& pointer :
           WW_TRY(as_sequence(in, a.rest[i], "a list of pointers", a.rest_spans[i])))
        pointers.push_back(pointer);
  }
  std::vector<ir::PtxOperand> operands;
  for (const Value& pointer : pointers) operands.push_back(WW_TRY(at(in, pointer, a.call)));
  return finish(in, opcode, std::move(operands), a.call);
}

// --- asynchronous copies -------------------------------------------------------------------------

Result<Value> cp_async_commit(Context& in, Args& a) {
  return finish(in, "cp.async.commit_group", {}, a.call);
}
Result<Value> cp_async_wait(Context& in, Args& a) {
  const Value count = a.has(0) ? a[0] : of_int(0);
  std::vector<ir::PtxOperand> operands = {WW_TRY(word(in, count, DType::Int32, a.spans[0]))};
  return finish(in, "cp.async.wait_group", std::move(operands), a.call);
}
Result<Value> cp_async_wait_all(Context& in, Args& a) {
  return finish(in, "cp.async.wait_all", {}, a.call);
}

// --- tensor memory -------------------------------------------------------------------------------

Result<std::int64_t> cta_group(Context& in, const Args& a, std::size_t i) {
  if (!a.has(i)) return 1;
  return as_integer(in, a[i], "`cta_group`", a.spans[i]);
}

Result<Value> tcgen05_alloc(Context& in, Args& a) {
  std::vector<ir::PtxOperand> operands = {WW_TRY(address(in, a[0], a.spans[0])),
                                          WW_TRY(word(in, a[1], DType::Uint32, a.spans[1]))};
  return finish(in,
                fmt::format("tcgen05.alloc.cta_group::{}.sync.aligned.shared::cta.b32",
                            WW_TRY(cta_group(in, a, 2))),
                std::move(operands), a.call);
}
Result<Value> tcgen05_dealloc(Context& in, Args& a) {
  std::vector<ir::PtxOperand> operands = {WW_TRY(word(in, a[0], DType::Uint32, a.spans[0])),
                                          WW_TRY(word(in, a[1], DType::Uint32, a.spans[1]))};
  return finish(
      in,
      fmt::format("tcgen05.dealloc.cta_group::{}.sync.aligned.b32", WW_TRY(cta_group(in, a, 2))),
      std::move(operands), a.call);
}
Result<Value> tcgen05_relinquish(Context& in, Args& a) {
  return finish(in,
                fmt::format("tcgen05.relinquish_alloc_permit.cta_group::{}.sync.aligned",
                            WW_TRY(cta_group(in, a, 0))),
                {}, a.call);
}
Result<Value> tcgen05_wait_ld(Context& in, Args& a) {
  return finish(in, "tcgen05.wait::ld.sync.aligned", {}, a.call);
}
Result<Value> tcgen05_wait_st(Context& in, Args& a) {
  return finish(in, "tcgen05.wait::st.sync.aligned", {}, a.call);
}
Result<Value> tcgen05_fence_before(Context& in, Args& a) {
  return finish(in, "tcgen05.fence::before_thread_sync", {}, a.call);
}
Result<Value> tcgen05_fence_after(Context& in, Args& a) {
  return finish(in, "tcgen05.fence::after_thread_sync", {}, a.call);
}

struct TmemAccess {
  std::string shape = "32x32b";
  std::int64_t num = 1;
  bool pack = false;
  Value row = of_int(0), col = of_int(0);
  std::vector<Value> registers;
  std::vector<Span> spans;
};

// `ld(addr, *regs, shape=, num=, row=, col=)`, or as printed: `ld(addr, row, col, "32x32b", 4,
// False, *regs)`.
Result<TmemAccess> tmem_access(Context& in, const Args& a) {
  TmemAccess out;
  if (a.rest.size() >= 5 && a.rest[2].is(Kind::Str)) {
    out.row = a.rest[0];
    out.col = a.rest[1];
    out.shape = WW_TRY(as_text(in, a.rest[2], "`shape`", a.rest_spans[2]));
    out.num = WW_TRY(as_integer(in, a.rest[3], "`num`", a.rest_spans[3]));
    out.pack = WW_TRY(as_bool(in, a.rest[4], "`pack`", a.rest_spans[4]));
    out.registers.assign(a.rest.begin() + 5, a.rest.end());
    out.spans.assign(a.rest_spans.begin() + 5, a.rest_spans.end());
  } else {
    out.registers = a.rest;
    out.spans = a.rest_spans;
  }
  for (const CallArgs::Named& named : a.extra) {
    if (named.name == "shape")
      out.shape = WW_TRY(as_text(in, named.value, "`shape`", named.span));
    else if (named.name == "num")
      out.num = WW_TRY(as_integer(in, named.value, "`num`", named.span));
    else if (named.name == "row")
      out.row = named.value;
    else if (named.name == "col")
      out.col = named.value;
    else if (named.name == "pack" || named.name == "unpack")
      out.pack = WW_TRY(as_bool(in, named.value, named.name, named.span));
    else
      return fail_at(named.span, DiagKind::BadArgument,
                     "`T.ptx.tcgen05.ld` and `.st` have no parameter `{}`", named.name);
  }
  return out;
}

Result<ir::PtxOperand> tmem_address(Context& in, const Value& base, const TmemAccess& access,
                                    Span span) {
  const ir::Type u32 = ir::Type::of(DType::Uint32);
  const ir::Type i32 = ir::Type::of(DType::Int32);
  const ir::ExprId args[] = {WW_TRY(expression_as(in, base, u32, span)),
                             WW_TRY(expression_as(in, access.row, i32, span)),
                             WW_TRY(expression_as(in, access.col, i32, span))};
  ir::PtxOperand out;
  out.kind = PtxOperandKind::Address;
  out.expr = WW_TRY(ir::call(in.fn(), ir::Intrinsic::TmemAddr, args, span));
  return out;
}

Result<Value> tcgen05_move(Context& in, Args& a, bool is_load) {
  const TmemAccess access = WW_TRY(tmem_access(in, a));
  std::vector<ir::PtxOperand> operands;
  for (std::size_t i = 0; i < access.registers.size(); ++i) {
    ir::PtxOperand reg;
    reg.expr = WW_TRY(expression(in, access.registers[i], access.spans[i]));
    operands.push_back(reg);
  }
  std::vector<ir::PtxOperand> place = {WW_TRY(tmem_address(in, a[0], access, a.call))};
  // The upper half of the warp has the columns behind those of the lower one.
  if (access.shape == "16x32bx2")
    place.push_back(
        WW_TRY(word(in, of_int(access.num * (access.pack ? 2 : 1)), DType::Int32, a.call)));
  operands.insert(is_load ? operands.end() : operands.begin(), place.begin(), place.end());
  const std::string_view packing = !access.pack ? "" : is_load ? ".pack::16b" : ".unpack::16b";
  return finish(in,
                fmt::format("tcgen05.{}.sync.aligned.{}.x{}{}.b32", is_load ? "ld" : "st",
                            access.shape, access.num, packing),
                std::move(operands), a.call);
}
Result<Value> tcgen05_ld(Context& in, Args& a) { return tcgen05_move(in, a, true); }
Result<Value> tcgen05_st(Context& in, Args& a) { return tcgen05_move(in, a, false); }

// --- barriers and fences -------------------------------------------------------------------------

Result<Value> elect_sync(Context& in, Args& a) {
  return of_expr(WW_TRY(ir::call(in.fn(), ir::Intrinsic::ElectSync, {}, a.call)));
}
Result<Value> mbarrier_init(Context& in, Args& a) {
  std::vector<ir::PtxOperand> operands = {WW_TRY(address(in, a[0], a.spans[0])),
                                          WW_TRY(word(in, a[1], DType::Uint32, a.spans[1]))};
  return finish(in, "mbarrier.init.shared.b64", std::move(operands), a.call);
}
Result<Value> mbarrier_wait(Context& in, Args& a) {
  const ir::ExprId args[] = {WW_TRY(expression(in, a[0], a.spans[0])),
                             WW_TRY(expression(in, a[1], a.spans[1]))};
  return of_expr(WW_TRY(ir::call(in.fn(), ir::Intrinsic::MbarrierWait, args, a.call)));
}
Result<Value> fence_mbarrier_init(Context& in, Args& a) {
  return finish(in, "fence.mbarrier_init.release.cluster", {}, a.call);
}
Result<Value> fence_proxy_async(Context& in, Args& a) {
  std::string space;
  if (a.has(0) && !a[0].is(Kind::None))
    space = "." + WW_TRY(as_text(in, a[0], "the space", a.spans[0]));
  return finish(in, "fence.proxy.async" + space, {}, a.call);
}

Result<Value> prefetch_tensormap(Context& in, Args& a) {
  std::vector<ir::PtxOperand> operands = {WW_TRY(address(in, a[0], a.spans[0]))};
  return finish(in, "prefetch.tensormap", std::move(operands), a.call);
}

Result<Value> fence(Context& in, Args& a) {
  return finish(in,
                fmt::format("fence.{}.{}", WW_TRY(as_text(in, a[0], "the order", a.spans[0])),
                            WW_TRY(as_text(in, a[1], "the scope", a.spans[1]))),
                {}, a.call);
}
Result<Value> setmaxnreg(Context& in, Args& a) {
  const bool is_more = WW_TRY(as_bool(in, a[0], "`inc`", a.spans[0]));
  std::vector<ir::PtxOperand> operands = {WW_TRY(word(in, a[1], DType::Uint32, a.spans[1]))};
  return finish(in, fmt::format("setmaxnreg.{}.sync.aligned.u32", is_more ? "inc" : "dec"),
                std::move(operands), a.call);
}

// An instruction from float32 to float32, as a value.
Result<Value> approximate(Context& in, const Args& a, std::string_view opcode) {
  const ir::ExprId result = WW_TRY(alloc_register(in, DType::Float32, a.call));
  std::vector<ir::PtxOperand> operands(2);
  operands[0].expr = result;
  operands[1].expr = WW_TRY(expression_as(in, a[0], ir::Type::of(DType::Float32), a.spans[0]));
  finish(in, opcode, std::move(operands), a.call);
  return of_expr(result);
}
Result<Value> exp2(Context& in, Args& a) { return approximate(in, a, "ex2.approx.ftz.f32"); }
Result<Value> rcp(Context& in, Args& a) { return approximate(in, a, "rcp.approx.ftz.f32"); }

constexpr PtxFunction kFunctions[] = {
    {"ldmatrix", "trans, num, dtype, smem_ptr, *registers", ldmatrix},
    {"stmatrix", "trans, num, dtype, smem_ptr, *registers, **options", stmatrix},
    {"mma", "shape, a_layout, b_layout, d_type, a_type, b_type, c_type, *pointers", mma},
    {"cp_async", "dst, src, bytes, src_bytes?, **options", ptx_synchronising::cp_async},
    {"cp_async.commit_group", "", cp_async_commit},
    {"cp_async.wait_group", "pending?", cp_async_wait},
    {"cp_async.wait_all", "", cp_async_wait_all},
    {"cp_async.bulk.wait_group", "pending?, read?", ptx_synchronising::bulk_wait},
    {"wgmma.fence", "", ptx_synchronising::wgmma_fence},
    {"wgmma.commit_group", "", ptx_synchronising::wgmma_commit},
    {"wgmma.wait_group", "pending", ptx_synchronising::wgmma_wait},
    {"tcgen05.alloc", "ptr, n_cols, cta_group?", tcgen05_alloc},
    {"tcgen05.dealloc", "addr, n_cols, cta_group?", tcgen05_dealloc},
    {"tcgen05.relinquish_alloc_permit", "cta_group?", tcgen05_relinquish},
    {"tcgen05.ld", "addr, *registers, **options", tcgen05_ld},
    {"tcgen05.st", "addr, *registers, **options", tcgen05_st},
    {"tcgen05.wait.ld", "", tcgen05_wait_ld},
    {"tcgen05.wait.st", "", tcgen05_wait_st},
    {"tcgen05.fence.before_thread_sync", "", tcgen05_fence_before},
    {"tcgen05.fence.after_thread_sync", "", tcgen05_fence_after},
    {"tcgen05.commit", "ptr, cta_group?, cta_mask?, **options", ptx_synchronising::tcgen05_commit},
    {"tcgen05.shift", "addr, cta_group?", ptx_synchronising::tcgen05_shift},
    {"tcgen05.cp", "addr, desc, shape, cta_group?, multicast?, decompress?, row?, col?",
     ptx_synchronising::tcgen05_cp},
    {"elect_sync", "", elect_sync},
    {"mbarrier.init", "ptr, count", mbarrier_init},
    {"mbarrier.arrive", "ptr, **options", ptx_synchronising::mbarrier_arrive},
    {"mbarrier.arrive.expect_tx", "ptr, bytes, **options", ptx_synchronising::mbarrier_expect},
    {"mbarrier.try_wait", "ptr, phase", mbarrier_wait},
    {"barrier.cluster.arrive", "sem?, aligned?", ptx_synchronising::cluster_arrive},
    {"barrier.cluster.wait", "acquire?, aligned?", ptx_synchronising::cluster_wait},
    {"mapa", "ptr, rank, space?, ptx_type?, return_type?", ptx_synchronising::mapa},
    {"map_shared_rank", "ptr, rank", ptx_synchronising::map_shared_rank},
    {"fence", "sem, scope", fence},
    {"fence.mbarrier_init", "", fence_mbarrier_init},
    {"fence.proxy_async", "space?", fence_proxy_async},
    {"setmaxnreg", "inc, reg_count", setmaxnreg},
    {"prefetch_tensormap", "tensor_map", prefetch_tensormap},
    {"exp2", "x", exp2},
    {"rcp", "x", rcp},
};

}  // namespace

Result<ir::ExprId> first_address(Context& in, ir::BufferId buffer, Span span) {
  const ir::ExprId zero = ir::int_imm(in.fn(), DType::Int32, 0, span);
  return ir::address_of(in.fn(), buffer, std::span(&zero, 1), span);
}

std::span<const PtxFunction> all_ptx_functions() { return kFunctions; }

const PtxFunction* find_ptx_function(std::string_view name) {
  for (const PtxFunction& row : kFunctions)
    if (row.name == name) return &row;
  return nullptr;
}

Result<Value> call_ptx_function(Context& in, const PtxFunction& function, CallArgs& args) {
  const std::string name = fmt::format("T.ptx.{}", function.name);
  const BuiltinRow row{name, function.signature, function.run, true};
  return call_builtin(in, row, args, none());
}

}  // namespace ww::script
