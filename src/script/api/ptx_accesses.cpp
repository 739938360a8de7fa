// SPDX-License-Identifier: Apache-2.0
#include "script/api/ptx_accesses.h"

#include <fmt/format.h>

#include <algorithm>

#include "script/interp/conversions.h"
#include "script/interp/regions.h"
#include "script/syntax/errors.h"

namespace ww::script {
namespace {

using num::DType;

struct AccessRow {
  std::string_view name, opcode;
};
constexpr AccessRow kAccesses[] = {
    {"ld", "ld"},
    {"ld_acquire", "ld.acquire"},
    {"ld_relaxed", "ld.relaxed"},
    {"ld_volatile", "ld.volatile"},
    {"st", "st"},
    {"st_release", "st.release"},
    {"st_relaxed", "st.relaxed"},
    {"st_volatile", "st.volatile"},
};

struct AccessOptions {
  std::string scope, space, cop, vec, type;
  std::size_t count = 1;  // registers, by `vec`
  bool is_weak = false;
  std::optional<CallArgs::Named> registers;  // dst or src
};

const CallArgs::Named* find(const CallArgs& args, std::string_view name) {
  for (const CallArgs::Named& named : args.named)
    if (named.name == name) return &named;
  return nullptr;
}

// `ld(address, "uint32", "u32", …)`; the newer spelling has its words in the path.
bool is_load(const CallArgs& args) {
  return args.plain.size() == 3 && args.plain[1].is(Kind::Str) && args.plain[2].is(Kind::Str) &&
         !args.plain[0].is(Kind::Str);
}

Result<std::size_t> register_count(std::string_view vec, Span span) {
  if (vec.empty()) return 1U;
  for (const std::size_t count : {2U, 4U, 8U})
    if (vec == fmt::format("v{}", count)) return count;
  return fail_at(span, DiagKind::BadArgument, "`vec` is \"{}\", expected \"v2\", \"v4\" or \"v8\"",
                 vec);
}

Result<AccessOptions> read_options(Context& in, std::string_view name, const CallArgs& args) {
  AccessOptions out;
  for (const CallArgs::Named& named : args.named) {
    std::string* const text = named.name == "scope"      ? &out.scope
                              : named.name == "space"    ? &out.space
                              : named.name == "cop"      ? &out.cop
                              : named.name == "vec"      ? &out.vec
                              : named.name == "ptx_type" ? &out.type
                                                         : nullptr;
    const bool is_empty =
        named.value.is(Kind::None) || (named.value.is(Kind::Str) && text_of(named.value).empty());
    if (text != nullptr) {
      *text = WW_TRY(as_text(in, named.value, named.name, named.span));
      if (text == &out.vec) out.count = WW_TRY(register_count(out.vec, named.span));
    } else if (named.name == "weak") {
      out.is_weak = WW_TRY(as_bool(in, named.value, "`weak`", named.span));
    } else if (named.name == "dst" || named.name == "src") {
      out.registers = is_empty ? std::nullopt : std::optional(named);
    } else if (!is_empty) {
      return fail(diag_at(named.span, DiagKind::BadArgument, "`{}=` of `T.ptx.{}` is not taken",
                          named.name, name)
                      .with_note("an opcode has all modifiers: `T.ptx[\"ld.global.nc.b32\"](d, "
                                 "address)`"));
    }
  }
  return out;
}

// Registers by pointers: one pointer for each, or one to the first of them.
Result<void> add_registers(Context& in, const CallArgs::Named& given, std::size_t count,
                           CallArgs& out) {
  std::vector<Value> pointers =
      is_sequence(given.value) ? WW_TRY(as_sequence(in, given.value, "the registers", given.span))
                               : std::vector<Value>{given.value};
  if (pointers.size() != 1 && pointers.size() != count)
    return fail_at(given.span, DiagKind::BadOperand, "{} registers, expected 1 or {}",
                   pointers.size(), count);
  for (std::size_t i = 0; i < count; ++i) {
    PtxPartObject part;
    part.kind = ir::PtxOperandKind::At;
    part.value = pointers[pointers.size() == 1 ? 0 : i];
    if (pointers.size() == 1 && i > 0) {
      const ir::ExprId args[] = {
          WW_TRY(expression(in, part.value, given.span)),
          ir::int_imm(in.fn(), DType::Int32, static_cast<std::int64_t>(i), given.span)};
      part.value =
          of_expr(WW_TRY(ir::call(in.fn(), ir::Intrinsic::PointerOffset, args, given.span)));
    }
    out.plain.push_back(in.heap.wrap(Kind::PtxPart, part));
    out.spans.push_back(given.span);
  }
  return {};
}

}  // namespace

Result<std::optional<PtxAccess>> older_access(Context& in, std::string_view name,
                                              const CallArgs& args) {
  const auto row = std::find_if(std::begin(kAccesses), std::end(kAccesses),
                                [&](const AccessRow& each) { return each.name == name; });
  if (row == std::end(kAccesses)) return std::nullopt;
  const bool loads = name.starts_with("ld");
  if (loads ? !is_load(args) : find(args, "ptx_type") == nullptr) return std::nullopt;
  AccessOptions options = WW_TRY(read_options(in, name, args));
  PtxAccess out;
  out.args.call = args.call;
  out.args.callee = args.callee;
  if (loads) options.type = WW_TRY(as_text(in, args.plain[2], "the type", args.spans[2]));
  if (options.space.empty()) options.space = loads ? "global" : "shared";
  out.opcode = row->opcode;
  const bool needs_scope =
      name.ends_with("acquire") || name.ends_with("release") || name.ends_with("relaxed");
  if (needs_scope && options.scope.empty()) options.scope = "gpu";
  for (const std::string& word : {std::string(options.is_weak ? "weak" : ""), options.scope,
                                  options.space, options.cop, options.vec, options.type})
    if (!word.empty()) out.opcode += "." + word;
  const auto add = [&](const Value& value, Span span) {
    out.args.plain.push_back(value);
    out.args.spans.push_back(span);
  };
  if (!loads) {
    add(args.plain.empty() ? none() : args.plain[0], args.call);
    if (options.registers) {
      WW_TRY_VOID(add_registers(in, *options.registers, options.count, out.args));
    } else {
      for (std::size_t i = 1; i < args.plain.size(); ++i) add(args.plain[i], args.spans[i]);
    }
    return out;
  }
  if (options.registers) {
    WW_TRY_VOID(add_registers(in, *options.registers, options.count, out.args));
  } else {
    const ir::Type type = WW_TRY(as_type(in, args.plain[1], "the type", args.spans[1]));
    out.result = of_expr(WW_TRY(alloc_register(in, type.dtype, args.call)));
    add(out.result, args.call);
  }
  add(args.plain[0], args.spans[0]);
  return out;
}

}  // namespace ww::script
