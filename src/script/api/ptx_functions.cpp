// SPDX-License-Identifier: Apache-2.0
#include "script/api/builtins.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/fail_at.h"
#include "script/interp/evaluator.h"

// --- barriers and asynchronous work --------------------------------------------------------------
//
//   T.ptx.mbarrier.arrive(ptr, count=2, pred=lane == 0)
//   T.ptx.cp_async(dst, src, 16, prefetch_size=128, predicate=i < n, fill_mode="zero")
//
// Each composes an opcode and gives it its operands.
namespace ww::script::ptx_synchronising {
namespace {

using num::DType;

constexpr std::string_view kPath = "T.ptx.";

// What TVM writes for an option that is not there.
bool is_absent(const Value& value) {
  return value.is(Kind::None) || (value.is(Kind::Str) && text_of(value).empty());
}

// An instruction whose operands are as they were given: its form tells them apart.
struct Instruction {
  std::string opcode;
  CallArgs args;

  Instruction(const Args& a, std::string words)
      : opcode(std::move(words)), args(CallArgs::at(a.call)) {}
  void add(const Given& value) { args.plain.push_back(value); }
  void add_word(std::string_view word) {
    if (!word.empty()) opcode += fmt::format(".{}", word);
  }
  // The guard; a constant that holds is none.
  Result<void> only_if(Context& in, const Given& condition) {
    const ir::ExprId guard = WW_TRY(expression(in, condition));
    if (ir::const_int(in.fn(), guard) != 1)
      args.named.push_back({condition, "pred", condition.span});
    return {};
  }
  Result<Value> issue(Context& in) { return issue_ptx(in, opcode, args); }
};

// The opcode of the function's row, with the values of the parameters that it has in braces; the
// others are operands.
Result<Value> plain(Context& in, Args& a) {
  const PtxFunction& function = *find_ptx_function(a.row->name.substr(kPath.size()));
  const Signature signature = read_signature(function.signature);
  Instruction out(a, std::string(function.opcode));
  for (std::size_t i = 0; i < signature.names.size(); ++i) {
    const std::string name = fmt::format("{{{}}}", signature.names[i]);
    const std::size_t at = out.opcode.find(name);
    if (at == std::string::npos) {
      out.add(a.get(i, of_int(0)));
      continue;
    }
    const std::string what = fmt::format("`{}`", signature.names[i]);
    std::string word = "1";
    if (a.has(i) && what == "`cta_group`")
      word = std::to_string(WW_TRY(as_integer(in, a[i], what)));
    else if (a.has(i))
      word = WW_TRY(as_text(in, a[i], what));
    out.opcode.replace(at, name.size(), word);
  }
  const isa::Opcode opcode = isa::opcode_of(out.opcode);
  if (!opcode.forms().empty()) return out.issue(in);
  emit_ptx(in, {.opcode = opcode}, a.call);  // the verifier says what is wrong with it
  return none();
}

Result<Given> constant(Context& in, const Given& value, DType dtype) {
  if (!value.is(Kind::Int) && !value.is(Kind::Bool)) return value;
  return Given{of_expr(WW_TRY(expression_as(in, value, ir::Type::of(dtype)))), value.span};
}

// --- options -------------------------------------------------------------------------------------

Diag not_taken(const Args& a, const CallArgs::Named& named, std::string_view why) {
  return diag_at(named.span, DiagKind::BadArgument, "`{}=` of `{}` is not taken: {}", named.name,
                 a.row->name, why);
}

// sem, scope and space of a barrier, in the order of its words; the guard; the number of the CTA in the
// cluster whose barrier it is.
struct BarrierOptions {
  std::string sem, scope, space = "shared";
  std::optional<CallArgs::Named> count, guard, cta;
};
Result<BarrierOptions> barrier_options(Context& in, const Args& a) {
  BarrierOptions out;
  for (const CallArgs::Named& named : a.extra) {
    if (is_absent(named)) continue;
    std::string* const text = named.name == "sem"     ? &out.sem
                              : named.name == "scope" ? &out.scope
                              : named.name == "space" ? &out.space
                                                      : nullptr;
    if (text != nullptr)
      *text = WW_TRY(as_text(in, named, named.name));
    else if (named.name == "pred")
      out.guard = named;
    else if (named.name == "count")
      out.count = named;
    else if (named.name == "remote" || named.name == "cta_id")
      out.cta = named;
    else
      return fail(no_parameter(a.row->name, named));
  }
  return out;
}

// --- mbarriers -----------------------------------------------------------------------------------

// The address of the same place in another CTA of the cluster, as a number: of the window of shared
// memory, where the words name it or there are 32 bits, or one of all memory.
Result<Value> mapped(Context& in, const Args& a, const Given& pointer, const Given& rank,
                     std::string_view words) {
  Instruction out(a, fmt::format("mapa.{}", words));
  const DType dtype = words.ends_with("u32") ? DType::Uint32 : DType::Uint64;
  const Value result = of_expr(WW_TRY(alloc_register(in, dtype, a.call)));
  out.add({result, a.call});
  ir::ExprId given = WW_TRY(expression(in, pointer));
  const bool is_window = dtype == DType::Uint32 || words.starts_with("shared");
  if (is_window && in.fn()[given].type.is_pointer()) {
    given = WW_TRY(ir::call(in.fn(), ir::Intrinsic::CvtaToShared, std::span(&given, 1), a.call));
    given = WW_TRY(ir::cast(in.fn(), given, ir::Type::of(dtype), a.call));
  }
  out.add({of_expr(given), pointer.span});
  out.add({of_expr(WW_TRY(expression_as(in, rank, ir::Type::of(DType::Uint32)))), rank.span});
  WW_TRY_VOID(out.issue(in));
  return result;
}

// The state that an arrival gives is left out. At a barrier of another CTA no scope is written unless
// told: of `.release.cluster` ptxas makes MEMBAR.ALL.GPU, a barrier of all memory, in front of the
// arrival. A loop that only hands stages back has written nothing that others read, and needs none.
Result<Value> arrive(Context& in, const Args& a, std::string_view opcode,
                     std::optional<std::size_t> bytes) {
  BarrierOptions options = WW_TRY(barrier_options(in, a));
  Value barrier = a[0];
  if (options.cta) {
    if (options.space != "shared" && options.space != "shared::cluster")
      return fail_at(options.cta->span, DiagKind::BadArgument,
                     "`{}=` of `{}` with `space=\"{}\"`, expected \"shared::cluster\"",
                     options.cta->name, a.row->name, options.space);
    options.space = "shared::cluster";
    barrier = WW_TRY(mapped(in, a, a[0], *options.cta, "shared::cluster.u32"));
  }
  Instruction out(a, std::string(opcode));
  for (const std::string& word : {options.sem, options.scope, options.space, std::string("b64")})
    out.add_word(word);
  out.add({barrier, a.span(0)});
  if (bytes) {
    out.add(WW_TRY(constant(in, a[*bytes], DType::Uint32)));
  } else if (options.count) {
    out.add(WW_TRY(constant(in, *options.count, DType::Uint32)));
  }
  if (options.guard) WW_TRY_VOID(out.only_if(in, *options.guard));
  return out.issue(in);
}

Result<std::string> cta_group(Context& in, const Args& a, std::size_t i) {
  const std::int64_t group = a.has(i) ? WW_TRY(as_integer(in, a[i], "`cta_group`")) : 1;
  return fmt::format("cta_group::{}", group);
}

Result<Value> mbarrier_arrive(Context& in, Args& a) {
  return arrive(in, a, "mbarrier.arrive", std::nullopt);
}
Result<Value> mbarrier_expect(Context& in, Args& a) {
  return arrive(in, a, "mbarrier.arrive.expect_tx", 1);
}

// --- other CTAs of a cluster ---------------------------------------------------------------------

Result<Value> cluster_arrive(Context& in, Args& a) {
  Instruction out(a, "barrier.cluster.arrive");
  if (a.has(0) && !is_absent(a[0])) out.add_word(WW_TRY(as_text(in, a[0], "`sem`")));
  if (a.has(1) && WW_TRY(as_bool(in, a[1], "`aligned`"))) out.add_word("aligned");
  return out.issue(in);
}
Result<Value> cluster_wait(Context& in, Args& a) {
  Instruction out(a, "barrier.cluster.wait");
  if (a.has(0) && WW_TRY(as_bool(in, a[0], "`acquire`"))) out.add_word("acquire");
  if (a.has(1) && WW_TRY(as_bool(in, a[1], "`aligned`"))) out.add_word("aligned");
  return out.issue(in);
}

Result<Value> mapa(Context& in, Args& a) {
  std::string words;
  if (a.has(2) && !is_absent(a[2])) words = WW_TRY(as_text(in, a[2], "`space`")) + ".";
  words += a.has(3) && !is_absent(a[3]) ? WW_TRY(as_text(in, a[3], "`ptx_type`")) : "u64";
  return mapped(in, a, a[0], a[1], words);
}
// Its older name, for pointers.
Result<Value> map_shared_rank(Context& in, Args& a) { return mapped(in, a, a[0], a[1], "u64"); }

// --- asynchronous copies -------------------------------------------------------------------------

// Zeros arrive where the predicate fails (`fill_mode="zero"`), or nothing happens.
Result<Value> cp_async(Context& in, Args& a) {
  const std::int64_t bytes = WW_TRY(as_integer(in, a[2], "the number of bytes"));
  Instruction out(a, fmt::format("cp.async.{}.shared.global", bytes == 16 ? "cg" : "ca"));
  std::optional<CallArgs::Named> predicate;
  bool fills = false;
  const auto is_left_out = [](const Value& value) {
    return is_absent(value) || (value.is(Kind::Int) && value.integer == -1);
  };
  for (const CallArgs::Named& named : a.extra) {
    if (is_left_out(named)) continue;
    if (named.name == "prefetch_size") {
      out.add_word(fmt::format("L2::{}B", WW_TRY(as_integer(in, named, named.name))));
    } else if (named.name == "predicate") {
      predicate = named;
    } else if (named.name == "fill_mode") {
      const std::string mode = WW_TRY(as_text(in, named, "`fill_mode`"));
      if (mode != "zero")
        return fail_at(named.span, DiagKind::BadArgument,
                       "`fill_mode` is \"{}\", expected \"zero\"", mode);
      fills = true;
    } else if (named.name == "cache_hint" || named.name == "cache_policy") {
      return fail(not_taken(a, named,
                            "an opcode has all modifiers, as in "
                            "`T.ptx[\"cp.async.cg.shared.global.L2::cache_hint\"](…)`"));
    } else {
      return fail(no_parameter(a.row->name, named));
    }
  }
  out.add(a[0]);
  out.add(a[1]);
  out.add({of_int(bytes), a.span(2)});
  if (a.given(3)) {
    out.add(WW_TRY(constant(in, a[3], DType::Uint32)));
  } else if (predicate && fills) {
    const ir::Type type = ir::Type::of(DType::Uint32);
    const ir::ExprId holds = WW_TRY(condition_of(in, *predicate));
    const ir::ExprId some = WW_TRY(expression_as(in, {of_int(bytes), a.call}, type));
    const ir::ExprId none_of = WW_TRY(expression_as(in, {of_int(0), a.call}, type));
    out.add({of_expr(WW_TRY(ir::choose(in.fn(), ir::ExprOp::Select, holds, {some, false},
                                       {none_of, false}, a.call))),
             predicate->span});
  } else if (predicate) {
    WW_TRY_VOID(out.only_if(in, *predicate));
  }
  return out.issue(in);
}
// Bulk copies are waited for until their sources may be written again, or until they are done.
Result<Value> bulk_wait(Context& in, Args& a) {
  Instruction out(a, "cp.async.bulk.wait_group");
  if (!a.has(1) || WW_TRY(as_bool(in, a[1], "`read`"))) out.add_word("read");
  out.add(a.get(0, of_int(0)));
  return out.issue(in);
}
// --- tensor memory -------------------------------------------------------------------------------

// A mask of CTAs makes the barriers of all of them arrive.
Result<Value> tcgen05_commit(Context& in, Args& a) {
  Instruction out(a, "tcgen05.commit");
  out.add_word(WW_TRY(cta_group(in, a, 1)));
  out.add_word("mbarrier::arrive::one.shared::cluster");
  const bool is_one = !a.given(2) || (a[2].is(Kind::Int) && a[2].integer == 0);
  if (!is_one) out.add_word("multicast::cluster");
  out.add_word("b64");
  out.add(a[0]);
  if (!is_one) out.add(WW_TRY(constant(in, a[2], DType::Uint16)));
  const CallArgs::Named* guard = WW_TRY(only_keyword(a, a.row->name, "pred"));
  if (guard != nullptr && !is_absent(*guard)) WW_TRY_VOID(out.only_if(in, *guard));
  return out.issue(in);
}

// addr, desc, shape, cta_group, multicast, decompress, row, col
Result<Value> tcgen05_cp(Context& in, Args& a) {
  Instruction out(a, "tcgen05.cp");
  out.add_word(WW_TRY(cta_group(in, a, 3)));
  for (const std::size_t i : {2U, 4U, 5U})
    if (a.has(i) && !is_absent(a[i]))
      out.add_word(WW_TRY(as_text(in, a[i], "a word of the opcode")));
  const Value row = a.get(6, of_int(0));
  const Value col = a.get(7, of_int(0));
  const ir::Type i32 = ir::Type::of(DType::Int32);
  const ir::ExprId place[] = {WW_TRY(expression_as(in, a[0], ir::Type::of(DType::Uint32))),
                              WW_TRY(expression_as(in, {row, a.call}, i32)),
                              WW_TRY(expression_as(in, {col, a.call}, i32))};
  out.add({of_expr(WW_TRY(ir::call(in.fn(), ir::Intrinsic::TmemAddr, place, a.call))), a.span(0)});
  out.add(WW_TRY(constant(in, a[1], DType::Uint64)));
  return out.issue(in);
}

}  // namespace
}  // namespace ww::script::ptx_synchronising

namespace ww::script {
namespace {

using ir::PtxOperandKind;
using num::DType;
using ptx_synchronising::plain;

Result<ir::PtxOperand> address(Context& in, const Given& value) {
  ir::PtxOperand out;
  out.kind = PtxOperandKind::Address;
  if (value.is(Kind::Buffer)) {
    out.expr = WW_TRY(first_address(in, value.buffer(), value.span));
    return out;
  }
  out.expr = WW_TRY(used_here(in, value));
  const ir::Type type = in.fn()[out.expr].type;
  if (!type.is_pointer() && !(type.is_int() && num::bits_of(type.dtype) >= 32))
    return fail_at(value.span, DiagKind::BadOperand, "an address of type `{}`", ir::to_text(type));
  return out;
}

// The register that a pointer to private memory stands for.
Result<ir::PtxOperand> at(Context& in, const Given& value) {
  ir::PtxOperand out;
  out.kind = PtxOperandKind::At;
  out.expr = WW_TRY(used_here(in, value));
  if (!in.fn()[out.expr].type.is_pointer())
    return fail_at(value.span, DiagKind::BadOperand,
                   "a register given by `{}`, expected a pointer to it",
                   ir::to_text(in.fn()[out.expr].type));
  return out;
}

Result<ir::PtxOperand> word(Context& in, const Given& value, DType dtype) {
  ir::PtxOperand out;
  const bool is_literal = value.is(Kind::Int) || value.is(Kind::Bool);
  out.expr = is_literal ? WW_TRY(expression_as(in, value, ir::Type::of(dtype)))
                        : WW_TRY(used_here(in, value));
  return out;
}

Value finish(Context& in, std::string_view opcode, std::vector<ir::PtxOperand> operands,
             Span span) {
  emit_ptx(in, {.opcode = isa::opcode_of(opcode), .operands = std::move(operands)}, span);
  return none();
}

// --- matrices ------------------------------------------------------------------------------------

// ".b16" or "b16".
Result<std::string> matrix_type(Context& in, const Given& value) {
  const std::string type = WW_TRY(as_text(in, value, "the type"));
  return type.substr(type.find_first_not_of('.') == 1 ? 1 : 0);
}

Result<Value> ldmatrix(Context& in, Args& a) {
  const bool trans = WW_TRY(as_bool(in, a[0], "`trans`"));
  const std::int64_t num = WW_TRY(as_integer(in, a[1], "`num`"));
  const std::string type = WW_TRY(matrix_type(in, a[2]));
  // Bytes are transposed by tiles of 16 × 16 only, two registers each.
  const bool is_bytes = type == "b8";
  std::vector<ir::PtxOperand> operands;
  for (std::size_t i = 0; i < a.rest.size(); ++i)
    operands.push_back(WW_TRY(at(in, {a.rest[i], a.rest[i].span})));
  operands.push_back(WW_TRY(address(in, a[3])));
  return finish(in,
                fmt::format("ldmatrix.sync.aligned.{}.x{}{}.shared.{}",
                            is_bytes ? "m16n16" : "m8n8", num, trans ? ".trans" : "", type),
                std::move(operands), a.call);
}

Result<Value> stmatrix(Context& in, Args& a) {
  const bool trans = WW_TRY(as_bool(in, a[0], "`trans`"));
  const std::int64_t num = WW_TRY(as_integer(in, a[1], "`num`"));
  const std::string type = WW_TRY(matrix_type(in, a[2]));
  std::string shape = type == "b8" ? "m16n8" : "m8n8";
  std::string space = "shared";
  for (const CallArgs::Named& named : a.extra) {
    if (named.name == "shape")
      shape = WW_TRY(as_text(in, named, "`shape`"));
    else if (named.name == "space")
      space = WW_TRY(as_text(in, named, "`space`"));
    else
      return fail(no_parameter("T.ptx.stmatrix", named));
  }
  std::vector<ir::PtxOperand> operands = {WW_TRY(address(in, a[3]))};
  for (std::size_t i = 0; i < a.rest.size(); ++i)
    operands.push_back(WW_TRY(at(in, {a.rest[i], a.rest[i].span})));
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
Result<std::string_view> mma_type(Context& in, const Given& value) {
  const std::string name = WW_TRY(as_text(in, value, "an element type"));
  for (const PtxTypeName& row : kMmaTypes)
    if (row.dtype == name) return row.ptx;
  std::string known;
  for (const PtxTypeName& row : kMmaTypes)
    known += fmt::format("{}{}", known.empty() ? "" : ", ", row.dtype);
  return fail_at(value.span, DiagKind::BadType, "`T.ptx.mma` of \"{}\", expected one of {}", name,
                 known);
}

// Pointers come as four lists, or flat behind their counts and the flag that C is left out.
Result<Value> mma(Context& in, Args& a) {
  std::string opcode =
      fmt::format("mma.sync.aligned.{}.{}.{}", WW_TRY(as_text(in, a[0], "the shape")),
                  WW_TRY(as_text(in, a[1], "A's order")), WW_TRY(as_text(in, a[2], "B's order")));
  for (const std::size_t i : {3U, 4U, 5U, 6U})
    opcode += fmt::format(".{}", WW_TRY(mma_type(in, a[i])));
  std::vector<Value> pointers;
  const bool is_flat = !a.rest.empty() && a.rest[0].is(Kind::Int);
  if (is_flat) {
    if (a.rest.size() < 5)
      return fail_at(a.call, DiagKind::BadArgument, "`T.ptx.mma` without its pointers");
    pointers.assign(a.rest.begin() + 5, a.rest.end());
  } else {
    for (std::size_t i = 0; i < a.rest.size(); ++i)
      for (const Value& pointer : WW_TRY(as_sequence(in, a.rest[i], "a list of pointers")))
        pointers.push_back(pointer);
  }
  std::vector<ir::PtxOperand> operands;
  for (const Value& pointer : pointers) operands.push_back(WW_TRY(at(in, {pointer, a.call})));
  return finish(in, opcode, std::move(operands), a.call);
}

// --- tensor memory -------------------------------------------------------------------------------

struct TmemAccess {
  std::string shape = "32x32b";
  std::int64_t num = 1;
  bool pack = false;
  Value row = of_int(0), col = of_int(0);
  std::vector<Given> registers;
};

// `ld(addr, *regs, shape=, num=, row=, col=)`, or as printed: `ld(addr, row, col, "32x32b", 4,
// False, *regs)`.
Result<TmemAccess> tmem_access(Context& in, const Args& a) {
  TmemAccess out;
  if (a.rest.size() >= 5 && a.rest[2].is(Kind::Str)) {
    out.row = a.rest[0];
    out.col = a.rest[1];
    out.shape = WW_TRY(as_text(in, a.rest[2], "`shape`"));
    out.num = WW_TRY(as_integer(in, a.rest[3], "`num`"));
    out.pack = WW_TRY(as_bool(in, a.rest[4], "`pack`"));
    out.registers.assign(a.rest.begin() + 5, a.rest.end());
  } else {
    out.registers = a.rest;
  }
  for (const CallArgs::Named& named : a.extra) {
    if (named.name == "shape")
      out.shape = WW_TRY(as_text(in, named, "`shape`"));
    else if (named.name == "num")
      out.num = WW_TRY(as_integer(in, named, "`num`"));
    else if (named.name == "row")
      out.row = named;
    else if (named.name == "col")
      out.col = named;
    else if (named.name == "pack" || named.name == "unpack")
      out.pack = WW_TRY(as_bool(in, named, named.name));
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
  const ir::ExprId args[] = {WW_TRY(expression_as(in, {base, span}, u32)),
                             WW_TRY(expression_as(in, {access.row, span}, i32)),
                             WW_TRY(expression_as(in, {access.col, span}, i32))};
  ir::PtxOperand out;
  out.kind = PtxOperandKind::Address;
  out.expr = WW_TRY(ir::call(in.fn(), ir::Intrinsic::TmemAddr, args, span));
  return out;
}

Result<Value> tcgen05_move(Context& in, Args& a, bool is_load) {
  const TmemAccess access = WW_TRY(tmem_access(in, a));
  std::vector<ir::PtxOperand> operands;
  for (const Given& each : access.registers)
    operands.push_back({.expr = WW_TRY(expression(in, each))});
  std::vector<ir::PtxOperand> place = {WW_TRY(tmem_address(in, a[0], access, a.call))};
  // The upper half of the warp has the columns behind those of the lower one.
  if (access.shape == "16x32bx2")
    place.push_back(
        WW_TRY(word(in, {of_int(access.num * (access.pack ? 2 : 1)), a.call}, DType::Int32)));
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
  return of_expr(ir::call(in.fn(), ir::Intrinsic::ElectSync, {}, a.call));
}
Result<Value> mbarrier_wait(Context& in, Args& a) {
  const ir::ExprId args[] = {WW_TRY(expression(in, a[0])), WW_TRY(expression(in, a[1]))};
  return of_expr(ir::call(in.fn(), ir::Intrinsic::MbarrierWait, args, a.call));
}
Result<Value> fence_proxy_async(Context& in, Args& a) {
  std::string space;
  if (a.given(0)) space = "." + WW_TRY(as_text(in, a[0], "the space"));
  return finish(in, "fence.proxy.async" + space, {}, a.call);
}

Result<Value> setmaxnreg(Context& in, Args& a) {
  const bool is_more = WW_TRY(as_bool(in, a[0], "`inc`"));
  std::vector<ir::PtxOperand> operands = {WW_TRY(word(in, a[1], DType::Uint32))};
  return finish(in, fmt::format("setmaxnreg.{}.sync.aligned.u32", is_more ? "inc" : "dec"),
                std::move(operands), a.call);
}

// An instruction from float32 to float32, as a value.
Result<Value> approximate(Context& in, const Args& a, std::string_view opcode) {
  const ir::ExprId result = WW_TRY(alloc_register(in, DType::Float32, a.call));
  std::vector<ir::PtxOperand> operands(2);
  operands[0].expr = result;
  operands[1].expr = WW_TRY(expression_as(in, a[0], ir::Type::of(DType::Float32)));
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
    {"cp_async.commit_group", "", plain, "cp.async.commit_group"},
    {"cp_async.wait_group", "pending?", plain, "cp.async.wait_group"},
    {"cp_async.wait_all", "", plain, "cp.async.wait_all"},
    {"cp_async.bulk.wait_group", "pending?, read?", ptx_synchronising::bulk_wait},
    {"wgmma.fence", "", plain, "wgmma.fence.sync.aligned"},
    {"wgmma.commit_group", "", plain, "wgmma.commit_group.sync.aligned"},
    {"wgmma.wait_group", "pending", plain, "wgmma.wait_group.sync.aligned"},
    {"tcgen05.alloc", "ptr, n_cols, cta_group?", plain,
     "tcgen05.alloc.cta_group::{cta_group}.sync.aligned.shared::cta.b32"},
    {"tcgen05.dealloc", "addr, n_cols, cta_group?", plain,
     "tcgen05.dealloc.cta_group::{cta_group}.sync.aligned.b32"},
    {"tcgen05.relinquish_alloc_permit", "cta_group?", plain,
     "tcgen05.relinquish_alloc_permit.cta_group::{cta_group}.sync.aligned"},
    {"tcgen05.ld", "addr, *registers, **options", tcgen05_ld},
    {"tcgen05.st", "addr, *registers, **options", tcgen05_st},
    {"tcgen05.wait.ld", "", plain, "tcgen05.wait::ld.sync.aligned"},
    {"tcgen05.wait.st", "", plain, "tcgen05.wait::st.sync.aligned"},
    {"tcgen05.fence.before_thread_sync", "", plain, "tcgen05.fence::before_thread_sync"},
    {"tcgen05.fence.after_thread_sync", "", plain, "tcgen05.fence::after_thread_sync"},
    {"tcgen05.commit", "ptr, cta_group?, cta_mask?, **options", ptx_synchronising::tcgen05_commit},
    {"tcgen05.shift", "addr, cta_group?", plain, "tcgen05.shift.cta_group::{cta_group}.down"},
    {"tcgen05.cp", "addr, desc, shape, cta_group?, multicast?, decompress?, row?, col?",
     ptx_synchronising::tcgen05_cp},
    {"elect_sync", "", elect_sync},
    {"mbarrier.init", "ptr, count", plain, "mbarrier.init.shared.b64"},
    {"mbarrier.arrive", "ptr, **options", ptx_synchronising::mbarrier_arrive},
    {"mbarrier.arrive.expect_tx", "ptr, bytes, **options", ptx_synchronising::mbarrier_expect},
    {"mbarrier.try_wait", "ptr, phase", mbarrier_wait},
    {"barrier.cluster.arrive", "sem?, aligned?", ptx_synchronising::cluster_arrive},
    {"barrier.cluster.wait", "acquire?, aligned?", ptx_synchronising::cluster_wait},
    {"mapa", "ptr, rank, space?, ptx_type?, return_type?", ptx_synchronising::mapa},
    {"map_shared_rank", "ptr, rank", ptx_synchronising::map_shared_rank},
    {"fence", "sem, scope", plain, "fence.{sem}.{scope}"},
    {"fence.mbarrier_init", "", plain, "fence.mbarrier_init.release.cluster"},
    {"fence.proxy_async", "space?", fence_proxy_async},
    {"setmaxnreg", "inc, reg_count", setmaxnreg},
    {"prefetch_tensormap", "tensor_map", plain, "prefetch.tensormap"},
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
