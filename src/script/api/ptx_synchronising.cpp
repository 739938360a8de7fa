// SPDX-License-Identifier: Apache-2.0
#include "script/api/ptx_synchronising.h"

#include <fmt/format.h>

#include "script/api/builtins.h"
#include "script/api/ptx_functions.h"
#include "script/interp/conversions.h"
#include "script/interp/implicit.h"
#include "script/interp/regions.h"
#include "script/syntax/errors.h"

namespace ww::script::ptx_synchronising {
namespace {

using num::DType;

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
  void add(const Value& value, Span span) {
    args.plain.push_back(value);
    args.spans.push_back(span);
  }
  void add_word(std::string_view word) {
    if (!word.empty()) opcode += fmt::format(".{}", word);
  }
  // The guard; a constant that holds is none.
  Result<void> only_if(Context& in, const Value& condition, Span span) {
    const ir::ExprId guard = WW_TRY(expression(in, condition, span));
    if (ir::const_int(in.fn(), guard) != 1) args.named.push_back({"pred", condition, span, span});
    return {};
  }
  Result<Value> issue(Context& in) { return issue_ptx(in, opcode, args); }
};

Result<Value> constant(Context& in, const Value& value, DType dtype, Span span) {
  if (!value.is(Kind::Int) && !value.is(Kind::Bool)) return value;
  return of_expr(WW_TRY(expression_as(in, value, ir::Type::of(dtype), span)));
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
    if (is_absent(named.value)) continue;
    std::string* const text = named.name == "sem"     ? &out.sem
                              : named.name == "scope" ? &out.scope
                              : named.name == "space" ? &out.space
                                                      : nullptr;
    if (text != nullptr)
      *text = WW_TRY(as_text(in, named.value, named.name, named.span));
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

// The address of the same place in another CTA of the cluster, as a number: of the window (u32), or
// one of all memory (u64).
Result<Value> mapped(Context& in, const Args& a, const Value& pointer, const Value& rank,
                     std::string_view words, Span at, Span rank_at) {
  Instruction out(a, fmt::format("mapa.{}", words));
  const bool is_narrow = words.ends_with("u32");
  const Value result =
      of_expr(WW_TRY(alloc_register(in, is_narrow ? DType::Uint32 : DType::Uint64, a.call)));
  out.add(result, a.call);
  const ir::ExprId given[] = {WW_TRY(expression(in, pointer, at))};
  const bool is_window = is_narrow && in.fn()[given[0]].type.is_pointer();
  out.add(is_window ? of_expr(WW_TRY(ir::call(in.fn(), ir::Intrinsic::CvtaToShared, given, a.call)))
                    : of_expr(given[0]),
          at);
  out.add(of_expr(WW_TRY(expression_as(in, rank, ir::Type::of(DType::Uint32), rank_at))), rank_at);
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
    barrier = WW_TRY(mapped(in, a, a[0], options.cta->value, "shared::cluster.u32", a.spans[0],
                            options.cta->span));
  }
  Instruction out(a, std::string(opcode));
  for (const std::string& word : {options.sem, options.scope, options.space, std::string("b64")})
    out.add_word(word);
  out.add(barrier, a.spans[0]);
  if (bytes) {
    out.add(WW_TRY(constant(in, a[*bytes], DType::Uint32, a.spans[*bytes])), a.spans[*bytes]);
  } else if (options.count) {
    const CallArgs::Named& count = *options.count;
    out.add(WW_TRY(constant(in, count.value, DType::Uint32, count.span)), count.span);
  }
  if (options.guard) WW_TRY_VOID(out.only_if(in, options.guard->value, options.guard->span));
  return out.issue(in);
}

Result<std::string> cta_group(Context& in, const Args& a, std::size_t i) {
  const std::int64_t group = a.has(i) ? WW_TRY(as_integer(in, a[i], "`cta_group`", a.spans[i])) : 1;
  return fmt::format("cta_group::{}", group);
}

}  // namespace

Result<Value> mbarrier_arrive(Context& in, Args& a) {
  return arrive(in, a, "mbarrier.arrive", std::nullopt);
}
Result<Value> mbarrier_expect(Context& in, Args& a) {
  return arrive(in, a, "mbarrier.arrive.expect_tx", 1);
}

// --- other CTAs of a cluster ---------------------------------------------------------------------

Result<Value> cluster_arrive(Context& in, Args& a) {
  Instruction out(a, "barrier.cluster.arrive");
  if (a.has(0) && !is_absent(a[0])) out.add_word(WW_TRY(as_text(in, a[0], "`sem`", a.spans[0])));
  if (a.has(1) && WW_TRY(as_bool(in, a[1], "`aligned`", a.spans[1]))) out.add_word("aligned");
  return out.issue(in);
}
Result<Value> cluster_wait(Context& in, Args& a) {
  Instruction out(a, "barrier.cluster.wait");
  if (a.has(0) && WW_TRY(as_bool(in, a[0], "`acquire`", a.spans[0]))) out.add_word("acquire");
  if (a.has(1) && WW_TRY(as_bool(in, a[1], "`aligned`", a.spans[1]))) out.add_word("aligned");
  return out.issue(in);
}

Result<Value> mapa(Context& in, Args& a) {
  std::string words;
  if (a.has(2) && !is_absent(a[2])) words = WW_TRY(as_text(in, a[2], "`space`", a.spans[2])) + ".";
  words +=
      a.has(3) && !is_absent(a[3]) ? WW_TRY(as_text(in, a[3], "`ptx_type`", a.spans[3])) : "u64";
  return mapped(in, a, a[0], a[1], words, a.spans[0], a.spans[1]);
}
// Its older name, for pointers.
Result<Value> map_shared_rank(Context& in, Args& a) {
  return mapped(in, a, a[0], a[1], "u64", a.spans[0], a.spans[1]);
}

// --- asynchronous copies -------------------------------------------------------------------------

// Zeros arrive where the predicate fails (`fill_mode="zero"`), or nothing happens.
Result<Value> cp_async(Context& in, Args& a) {
  const std::int64_t bytes = WW_TRY(as_integer(in, a[2], "the number of bytes", a.spans[2]));
  Instruction out(a, fmt::format("cp.async.{}.shared.global", bytes == 16 ? "cg" : "ca"));
  std::optional<CallArgs::Named> predicate;
  bool fills = false;
  const auto is_left_out = [](const Value& value) {
    return is_absent(value) || (value.is(Kind::Int) && value.integer == -1);
  };
  for (const CallArgs::Named& named : a.extra) {
    if (is_left_out(named.value)) continue;
    if (named.name == "prefetch_size") {
      out.add_word(
          fmt::format("L2::{}B", WW_TRY(as_integer(in, named.value, named.name, named.span))));
    } else if (named.name == "predicate") {
      predicate = named;
    } else if (named.name == "fill_mode") {
      const std::string mode = WW_TRY(as_text(in, named.value, "`fill_mode`", named.span));
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
  out.add(a[0], a.spans[0]);
  out.add(a[1], a.spans[1]);
  out.add(of_int(bytes), a.spans[2]);
  if (a.has(3) && !a[3].is(Kind::None)) {
    out.add(WW_TRY(constant(in, a[3], DType::Uint32, a.spans[3])), a.spans[3]);
  } else if (predicate && fills) {
    const ir::Type type = ir::Type::of(DType::Uint32);
    const ir::ExprId holds = WW_TRY(condition_of(in, predicate->value, predicate->span));
    const ir::ExprId some = WW_TRY(expression_as(in, of_int(bytes), type, a.call));
    const ir::ExprId none_of = WW_TRY(expression_as(in, of_int(0), type, a.call));
    out.add(of_expr(WW_TRY(ir::choose(in.fn(), ir::ExprOp::Select, holds, {some, false},
                                      {none_of, false}, a.call))),
            predicate->span);
  } else if (predicate) {
    WW_TRY_VOID(out.only_if(in, predicate->value, predicate->span));
  }
  return out.issue(in);
}
// Bulk copies are waited for until their sources may be written again, or until they are done.
Result<Value> bulk_wait(Context& in, Args& a) {
  Instruction out(a, "cp.async.bulk.wait_group");
  if (!a.has(1) || WW_TRY(as_bool(in, a[1], "`read`", a.spans[1]))) out.add_word("read");
  out.add(a.has(0) ? a[0] : of_int(0), a.spans[0]);
  return out.issue(in);
}
Result<Value> wgmma_fence(Context& in, Args& a) {
  return Instruction(a, "wgmma.fence.sync.aligned").issue(in);
}
Result<Value> wgmma_commit(Context& in, Args& a) {
  return Instruction(a, "wgmma.commit_group.sync.aligned").issue(in);
}
Result<Value> wgmma_wait(Context& in, Args& a) {
  Instruction out(a, "wgmma.wait_group.sync.aligned");
  out.add(a[0], a.spans[0]);
  return out.issue(in);
}

// --- tensor memory -------------------------------------------------------------------------------

// A mask of CTAs makes the barriers of all of them arrive.
Result<Value> tcgen05_commit(Context& in, Args& a) {
  Instruction out(a, "tcgen05.commit");
  out.add_word(WW_TRY(cta_group(in, a, 1)));
  out.add_word("mbarrier::arrive::one.shared::cluster");
  const bool is_one = !a.has(2) || a[2].is(Kind::None) || (a[2].is(Kind::Int) && a[2].integer == 0);
  if (!is_one) out.add_word("multicast::cluster");
  out.add_word("b64");
  out.add(a[0], a.spans[0]);
  if (!is_one) out.add(WW_TRY(constant(in, a[2], DType::Uint16, a.spans[2])), a.spans[2]);
  const CallArgs::Named* guard = WW_TRY(only_keyword(a, a.row->name, "pred"));
  if (guard != nullptr && !is_absent(guard->value))
    WW_TRY_VOID(out.only_if(in, guard->value, guard->span));
  return out.issue(in);
}

Result<Value> tcgen05_shift(Context& in, Args& a) {
  Instruction out(a, "tcgen05.shift");
  out.add_word(WW_TRY(cta_group(in, a, 1)));
  out.add_word("down");
  out.add(WW_TRY(constant(in, a[0], DType::Uint32, a.spans[0])), a.spans[0]);
  return out.issue(in);
}

// addr, desc, shape, cta_group, multicast, decompress, row, col
Result<Value> tcgen05_cp(Context& in, Args& a) {
  Instruction out(a, "tcgen05.cp");
  out.add_word(WW_TRY(cta_group(in, a, 3)));
  for (const std::size_t i : {2U, 4U, 5U})
    if (a.has(i) && !is_absent(a[i]))
      out.add_word(WW_TRY(as_text(in, a[i], "a word of the opcode", a.spans[i])));
  const Value row = a.has(6) ? a[6] : of_int(0);
  const Value col = a.has(7) ? a[7] : of_int(0);
  const ir::Type i32 = ir::Type::of(DType::Int32);
  const ir::ExprId place[] = {
      WW_TRY(expression_as(in, a[0], ir::Type::of(DType::Uint32), a.spans[0])),
      WW_TRY(expression_as(in, row, i32, a.call)), WW_TRY(expression_as(in, col, i32, a.call))};
  out.add(of_expr(WW_TRY(ir::call(in.fn(), ir::Intrinsic::TmemAddr, place, a.call))), a.spans[0]);
  out.add(WW_TRY(constant(in, a[1], DType::Uint64, a.spans[1])), a.spans[1]);
  return out.issue(in);
}

}  // namespace ww::script::ptx_synchronising
