// SPDX-License-Identifier: Apache-2.0
#include "script/api/builtins.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/fail_at.h"
#include "base/join.h"
#include "base/suggest.h"
#include "ir/ptx_placement.h"
#include "isa/catalogue.h"
#include "isa/check.h"
#include "script/interp/evaluator.h"

namespace ww::script {
namespace {

using ir::PtxOperandKind;
using isa::OperandSpec;
using isa::Role;

// `__` stands for `::`, a trailing `_` keeps a word from being a keyword of Python.
std::string ptx_spelling(std::string_view word) {
  std::string out(word);
  if (out.size() > 1 && out.ends_with('_') && !out.ends_with("__")) out.pop_back();
  for (std::size_t at = out.find("__"); at != std::string::npos; at = out.find("__", at + 2))
    out.replace(at, 2, "::");
  return out;
}

// --- which argument stands for what --------------------------------------------------------------

struct Slot {
  const OperandSpec* spec;
  bool is_coordinate = false;  // behind the base of an address: [map, {x, y}]
  bool is_second = false;      // of a pair `d|p`
};

// An argument of another width than the register cannot be meant for it. Forms of one opcode differ
// in this: tcgen05.mma takes its A operand as an address of 32 bits or a descriptor of 64.
bool may_stand_for(Context& in, const Value& value, const Slot& slot, const isa::Binding& binding) {
  const bool is_register = slot.spec->role == Role::Read || slot.spec->role == Role::Write;
  if (!is_register || slot.is_second || !value.is(Kind::Ir)) return true;
  const ir::Type given = in.fn()[value.expr()].type;
  const std::optional<isa::Type> wanted = isa::type_of(*slot.spec, binding);
  if (!wanted || *wanted == isa::Type::Pred || !given.is_value() || slot.spec->wider) return true;
  return num::bits_of(given.dtype) * given.lanes == isa::info(*wanted).bits;
}

// The first way to give the arguments to the operands of the form, one that fits their widths
// first.
std::optional<std::vector<Slot>> slots_of(Context& in, const isa::Binding& binding,
                                          const std::vector<Given>& arguments, bool by_width) {
  std::vector<Slot> out;
  const auto accept = [&](std::span<const ir::PlacedOperand> placed) {
    out.clear();
    for (const ir::PlacedOperand& operand : placed)
      for (std::size_t i = 0; i < operand.count; ++i)
        out.push_back(
            {operand.spec, operand.spec->role == Role::Address && i > 0, i >= operand.main});
    // What a form takes without looking at it stands last.
    while (out.size() < arguments.size()) out.push_back({&binding.form().operands.back()});
    if (!by_width) return true;
    for (std::size_t i = 0; i < out.size(); ++i)
      if (!may_stand_for(in, arguments[i], out[i], binding)) return false;
    return true;
  };
  if (!ir::place_operands(binding, arguments.size(), accept)) return std::nullopt;
  return out;
}

std::optional<num::DType> dtype_of(isa::Type type) {
  const isa::TypeInfo& info = isa::info(type);
  switch (info.cls) {
    case isa::TypeClass::Pred:
      return num::DType::Bool;
    case isa::TypeClass::Float:
      return info.bits == 64                             ? num::DType::Float64
             : info.bits == 32 && type == isa::Type::F32 ? num::DType::Float32
             : type == isa::Type::F16                    ? num::DType::Float16
                                                         : num::DType::Uint32;
    case isa::TypeClass::Signed:
      return info.bits == 64   ? num::DType::Int64
             : info.bits == 32 ? num::DType::Int32
             : info.bits == 16 ? num::DType::Int16
                               : num::DType::Int8;
    case isa::TypeClass::Bits:
    case isa::TypeClass::Unsigned:
    case isa::TypeClass::Other:
      return info.bits == 64   ? num::DType::Uint64
             : info.bits == 32 ? num::DType::Uint32
             : info.bits == 16 ? num::DType::Uint16
             : info.bits == 8  ? num::DType::Uint8
                               : num::DType::Uint32;
  }
  return std::nullopt;
}

bool is_lvalue(const ir::Function& f, ir::ExprId id) {
  return f[id].op == ir::ExprOp::Load && f[id].type.lanes == 1;
}

Result<ir::PtxOperand> as_operand(Context& in, const Slot& slot, const isa::Binding& binding,
                                  const Given& value) {
  if (value.is(Kind::PtxPart)) {
    const auto& part = value.as<PtxPartObject>();
    ir::PtxOperand out;
    out.kind = part.kind;
    if (!part.value.is(Kind::None)) out.expr = WW_TRY(used_here(in, {part.value, value.span}));
    if (!part.offset.is(Kind::None)) out.offset = WW_TRY(index_expr(in, {part.offset, value.span}));
    return out;
  }
  const OperandSpec& spec = *slot.spec;
  if (slot.is_coordinate) {
    ir::PtxOperand out;
    out.expr = WW_TRY(used_here(in, value));
    return out;
  }
  if (spec.role == Role::Address) {
    ir::PtxOperand out;
    out.kind = PtxOperandKind::Address;
    // A (1,)-buffer stands for its address, as with T.address_of.
    out.expr = value.is(Kind::Buffer) ? WW_TRY(first_address(in, value.buffer(), value.span))
                                      : WW_TRY(used_here(in, value));
    return out;
  }
  ir::PtxOperand out;
  const std::optional<isa::Type> type = isa::type_of(spec, binding);
  const std::optional<num::DType> dtype = type ? dtype_of(*type) : std::nullopt;
  const bool is_literal = value.is(Kind::Int) || value.is(Kind::Bool) || value.is(Kind::Float);
  out.expr = is_literal && dtype && spec.role == Role::Read
                 ? WW_TRY(expression_as(in, value, ir::Type::of(*dtype)))
                 : WW_TRY(used_here(in, value));
  const bool is_written = spec.role == Role::Write;
  if (is_written && !is_lvalue(in.fn(), out.expr))
    return fail(
        diag_at(value.span, DiagKind::ReadOnly,
                "`{}` of `{}` is written, but this is not a variable or element of a buffer",
                spec.name, binding.opcode())
            .with_note("a `T.let` name and an expression have no place to write to"));
  if (type == isa::Type::Pred && !is_written) out.kind = PtxOperandKind::Predicate;
  return out;
}

// --- the instruction -----------------------------------------------------------------------------

Diag unknown_opcode(const isa::Opcode& opcode, Span span) {
  if (opcode.misfit().form != nullptr) return isa::to_diag(opcode.misfit()).with_span(span);
  const std::string& text = opcode.text();
  return diag_at(span, DiagKind::UnknownName, "`{}` is not a PTX instruction{}", text,
                 did_you_mean(text.substr(0, text.find('.')), isa::Mnemonic::all()));
}

Result<Value> part(Context& in, PtxOperandKind kind, const Value& value, const Value& offset) {
  PtxPartObject out;
  out.kind = kind;
  out.value = value;
  out.offset = offset;
  return in.heap.wrap(Kind::PtxPart, out);
}

// The state that `mbarrier.arrive` gives may be left out: then it is unused.
bool may_be_left_out(const isa::Binding& binding) {
  const auto& operands = binding.form().operands;
  return !operands.empty() && operands[0].role == Role::Write && operands[0].sink &&
         binding.form().mnemonic.text().starts_with("mbarrier.arrive");
}

Result<Value> issue(Context& in, const std::string& opcode, CallArgs& args);

// An address, where a state of 64 bits would stand first.
bool begins_with_address(Context& in, const CallArgs& args) {
  if (args.plain.empty() || args.plain[0].is(Kind::PtxPart)) return false;
  if (args.plain[0].is(Kind::Buffer))
    return !ir::has_one_element(in.fn(), in.fn()[args.plain[0].buffer()]);
  if (!args.plain[0].is(Kind::Ir)) return false;
  const ir::Type type = in.fn()[args.plain[0].expr()].type;
  return type.is_pointer() || (type.is_value() && num::bits_of(type.dtype) == 32);
}

Result<Value> with_sink(Context& in, const std::string& opcode, const CallArgs& args) {
  CallArgs all = args.with_first(WW_TRY(part(in, PtxOperandKind::Sink, none(), none())));
  return issue(in, opcode, all);
}

// `pred=` and `keep=`.
Result<ir::PtxCall> call_with_options(Context& in, std::string_view opcode, const CallArgs& args) {
  ir::PtxCall call;
  for (const CallArgs::Named& named : args.named) {
    if (named.name == "pred") {
      call.predicate = WW_TRY(condition_of(in, named));
    } else if (named.name == "keep") {
      call.keep = WW_TRY(as_bool(in, named, "`keep`"));
    } else {
      return fail_at(named.span, DiagKind::BadArgument,
                     "`{}` has no option `{}`, expected `pred` or `keep`", opcode, named.name);
    }
  }
  return call;
}

Diag wrong_count(const isa::Opcode& opcode, const CallArgs& args) {
  const std::string form = isa::syntax_line(opcode.binding().form());
  const std::string_view hint =
      form.find(" {") == std::string::npos ? "" : "; registers in braces count one by one";
  return diag_at(args.call, DiagKind::BadOperand, "`{}` with {} operand{}", opcode.text(),
                 args.plain.size(), args.plain.size() == 1 ? "" : "s")
      .with_note(fmt::format("its form is `{}`{}", form, hint));
}

Result<Value> issue(Context& in, const std::string& text, CallArgs& args) {
  const isa::Opcode opcode = isa::opcode_of(text);
  // What st.bulk writes can only be 0.
  if (opcode.mnemonic() == "st.bulk" && args.plain.size() == 2) {
    args.plain.push_back({of_int(0), args.call});
  }
  const bool can_sink = std::ranges::any_of(opcode.forms(), may_be_left_out);
  if (can_sink && begins_with_address(in, args)) return with_sink(in, text, args);
  if (opcode.forms().empty())
    return fail(unknown_opcode(opcode, Span::at(args.call.begin, args.callee.end)));
  ir::PtxCall call = WW_TRY(call_with_options(in, text, args));
  for (const bool by_width : {true, false})
    for (const isa::Binding& binding : opcode.forms()) {
      const std::optional<std::vector<Slot>> slots = slots_of(in, binding, args.plain, by_width);
      if (!slots) continue;
      call.opcode = isa::opcode_of(binding.opcode());
      for (std::size_t i = 0; i < slots->size(); ++i)
        call.operands.push_back(WW_TRY(as_operand(in, (*slots)[i], binding, args.plain[i])));
      emit_ptx(in, std::move(call), args.call);
      return none();
    }
  const bool has_sink = !args.plain.empty() && args.plain[0].is(Kind::PtxPart);
  if (!has_sink && can_sink)
    if (Result<Value> out = with_sink(in, text, args)) return out;
  return fail(wrong_count(opcode, args));
}

// --- accesses of an older spelling ---------------------------------------------------------------
//
// Loads and stores as functions with options, an older spelling:
//
//   T.ptx.ld(pointer, "uint32", "u32", dst=registers, space="shared", vec="v4")
//   T.ptx.st_release(pointer, value, scope="gpu", space="global", ptx_type="u32")
//
// Each becomes the instruction by its opcode, with the registers at the pointer one by one.

struct PtxAccess {
  std::string opcode;
  CallArgs args;
  Value result;  // what the call gives: None, or the register that was loaded
};

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
    const bool is_empty = named.is(Kind::None) || (named.is(Kind::Str) && text_of(named).empty());
    if (text != nullptr) {
      *text = WW_TRY(as_text(in, named, named.name));
      if (text == &out.vec) out.count = WW_TRY(register_count(out.vec, named.span));
    } else if (named.name == "weak") {
      out.is_weak = WW_TRY(as_bool(in, named, "`weak`"));
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
  std::vector<Value> pointers = is_sequence(given) ? WW_TRY(as_sequence(in, given, "the registers"))
                                                   : std::vector<Value>{given};
  if (pointers.size() != 1 && pointers.size() != count)
    return fail_at(given.span, DiagKind::BadOperand, "{} registers, expected 1 or {}",
                   pointers.size(), count);
  for (std::size_t i = 0; i < count; ++i) {
    PtxPartObject part;
    part.kind = ir::PtxOperandKind::At;
    part.value = pointers[pointers.size() == 1 ? 0 : i];
    if (pointers.size() == 1 && i > 0) {
      const ir::ExprId args[] = {
          WW_TRY(expression(in, {part.value, given.span})),
          ir::int_imm(in.fn(), num::DType::Int32, static_cast<std::int64_t>(i), given.span)};
      part.value =
          of_expr(WW_TRY(ir::call(in.fn(), ir::Intrinsic::PointerOffset, args, given.span)));
    }
    out.plain.push_back({in.heap.wrap(Kind::PtxPart, part), given.span});
  }
  return {};
}

// Nothing when the call is not written this way.
Result<std::optional<PtxAccess>> older_access(Context& in, std::string_view name,
                                              const CallArgs& args) {
  const auto row = std::ranges::find(kAccesses, name, &AccessRow::name);
  if (row == std::end(kAccesses)) return std::nullopt;
  const bool loads = name.starts_with("ld");
  if (loads ? !is_load(args) : find(args, "ptx_type") == nullptr) return std::nullopt;
  AccessOptions options = WW_TRY(read_options(in, name, args));
  PtxAccess out;
  out.args.call = args.call;
  out.args.callee = args.callee;
  if (loads) options.type = WW_TRY(as_text(in, args.plain[2], "the type"));
  if (options.space.empty()) options.space = loads ? "global" : "shared";
  out.opcode = row->opcode;
  const bool needs_scope =
      name.ends_with("acquire") || name.ends_with("release") || name.ends_with("relaxed");
  if (needs_scope && options.scope.empty()) options.scope = "gpu";
  for (const std::string& word : {std::string(options.is_weak ? "weak" : ""), options.scope,
                                  options.space, options.cop, options.vec, options.type})
    if (!word.empty()) out.opcode += "." + word;
  const auto add = [&](const Given& value) { out.args.plain.push_back(value); };
  if (!loads) {
    add({args.plain.empty() ? none() : Value(args.plain[0]), args.call});
    if (options.registers) {
      WW_TRY_VOID(add_registers(in, *options.registers, options.count, out.args));
    } else {
      for (std::size_t i = 1; i < args.plain.size(); ++i) add(args.plain[i]);
    }
    return out;
  }
  if (options.registers) {
    WW_TRY_VOID(add_registers(in, *options.registers, options.count, out.args));
  } else {
    const ir::Type type = WW_TRY(as_type(in, args.plain[1], "the type"));
    out.result = of_expr(WW_TRY(alloc_register(in, type.dtype, args.call)));
    add({out.result, args.call});
  }
  add(args.plain[0]);
  return out;
}

// TVM prints the words of an opcode behind its operands, and what was left out as empty texts:
// `T.ptx.mbarrier(address, "arrive", "", "shared", "b64", "")`.
Result<std::string> take_trailing_words(Context& in, std::string opcode, CallArgs& args) {
  std::size_t first = args.plain.size();
  while (first > 0 && args.plain[first - 1].is(Kind::Str)) --first;
  for (std::size_t i = first; i < args.plain.size(); ++i) {
    const std::string word = WW_TRY(as_text(in, args.plain[i], "a word of the opcode"));
    if (!word.empty()) opcode += "." + word;
  }
  args.plain.resize(first);
  return opcode;
}

}  // namespace

void emit_ptx(Context& in, ir::PtxCall call, Span span) {
  ir::Stmt out = stmt_node(ir::StmtKind::Ptx, span);
  out.ptx = in.fn().add(std::move(call));
  emit(in, std::move(out));
}

Result<Value> issue_ptx(Context& in, const std::string& opcode, CallArgs& args) {
  return issue(in, opcode, args);
}

Result<Value> ptx_word(Context& in, const PtxPathObject& path, std::string_view word) {
  if (path.words.empty() && word == "SINK") return part(in, PtxOperandKind::Sink, none(), none());
  PtxPathObject out = path;
  out.words.push_back(ptx_spelling(word));
  return in.heap.wrap(Kind::PtxPath, std::move(out));
}

Result<Value> ptx_subscript(Context& in, const PtxPathObject& path, const Value& index, Span span) {
  PtxPathObject out = path;
  const std::string text = WW_TRY(as_text(in, {index, span}, "the opcode"));
  for (const std::string_view word : isa::opcode_words(text)) out.words.emplace_back(word);
  out.is_quoted = true;
  return in.heap.wrap(Kind::PtxPath, std::move(out));
}

Result<Value> call_ptx(Context& in, const PtxPathObject& path, CallArgs& args) {
  if (!in.in_kernel())
    return fail_at(args.call, DiagKind::BadType, "a PTX instruction outside of a kernel");
  const std::string opcode = join(path.words, ".");
  if (!path.is_quoted) {
    const auto argument = [&](std::size_t i) {
      return i < args.plain.size() ? args.plain[i] : none();
    };
    if (opcode == "addr") return part(in, PtxOperandKind::Address, argument(0), argument(1));
    if (opcode == "pred") return part(in, PtxOperandKind::Predicate, argument(0), none());
    if (opcode == "at") return part(in, PtxOperandKind::At, argument(0), none());
    // As TVM prints an opcode, `T.ptx.fence("acq_rel", "gpu", "")`: behind some names is a function.
    const Given last = args.plain.empty() ? Given{none(), args.call} : args.plain.back();
    if (last.is(Kind::Str) && text_of(last).empty()) {
      CallArgs joined = args;
      std::string whole = WW_TRY(take_trailing_words(in, opcode, joined));
      std::replace(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(opcode.size()), '_',
                   '.');
      if (!isa::opcode_of(whole).forms().empty()) return issue(in, whole, joined);
    }
    // `T.ptx.mma.legacy`, `T.ptx.ldmatrix_legacy`
    constexpr std::string_view kLegacy = "legacy";
    if (opcode.size() > kLegacy.size() && opcode.ends_with(kLegacy))
      if (const BuiltinRow* row = find_builtin(
              fmt::format("T.ptx_legacy.{}", opcode.substr(0, opcode.size() - kLegacy.size() - 1))))
        return call_builtin(in, *row, args, none());
    if (const PtxFunction* function = find_ptx_function(opcode))
      return call_ptx_function(in, *function, args);
  }
  if (!path.is_quoted) {
    if (std::optional<PtxAccess> access = WW_TRY(older_access(in, opcode, args))) {
      WW_TRY_VOID(issue(in, access->opcode, access->args));
      return access->result;
    }
    const bool has_words = !args.plain.empty() && args.plain.back().is(Kind::Str);
    if (const auto reason = why_not_taken(fmt::format("T.ptx.{}", opcode)); reason && !has_words)
      return fail_at(Span::at(args.call.begin, args.callee.end), DiagKind::UnknownName,
                     "`T.ptx.{}` is not taken: {}", opcode, *reason);
  }
  CallArgs joined = args;
  std::string whole = WW_TRY(take_trailing_words(in, opcode, joined));
  const auto is_known = [](std::string_view text) {
    const isa::Opcode bound = isa::opcode_of(text);
    return !bound.forms().empty() || bound.misfit().form != nullptr;
  };
  if (path.is_quoted || is_known(whole)) return issue(in, whole, joined);
  // `T.ptx.st_bulk.weak`: the words of a mnemonic joined.
  std::string dotted = whole;
  const std::size_t end = std::min(dotted.find('.'), dotted.size());
  std::replace(dotted.begin(), dotted.begin() + static_cast<std::ptrdiff_t>(end), '_', '.');
  return issue(in, is_known(dotted) ? dotted : whole, joined);
}

}  // namespace ww::script
