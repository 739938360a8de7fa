// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <limits>
#include <set>
#include <utility>

#include "base/ascii.h"
#include "base/check.h"
#include "base/printable.h"
#include "ptx/check.h"
#include "ptx/parser.h"
#include "ptx/scope.h"
#include "ptx/source_place.h"
#include "ptx/variable_check.h"
#include "sim/decode/function_decoder.h"
#include "sim/decode/late_reads.h"
#include "sim/memory/memory.h"
#include "sim/program.h"

namespace ww::sim {
namespace {

constexpr std::size_t kMaxErrors = 20;
constexpr std::uint64_t kMaxVariableBytes = std::uint64_t{4} << 30U;

std::uint32_t align_of(const ptx::Variable& variable) {
  return static_cast<std::uint32_t>(ptx::align_in_bytes(variable));
}

// No launch has room for so much, and says so.
std::uint32_t shared_bytes(std::uint64_t bytes) {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(bytes, std::numeric_limits<std::uint32_t>::max()));
}

// By their numbers.
void read_files(Program& program) {
  for (const ptx::File& file : program.module.files) {
    if (file.index > 65535) continue;
    program.files.resize(std::max<std::size_t>(program.files.size(), file.index + std::size_t{1}));
    program.files[file.index] = path_from_code(program.module.text(file.path));
  }
}

// Says what does not run for it, and which line of the kernel's source it was made from, where a
// `.loc` tells.
void add_source_line(const Program& program, Diag& problem) {
  const ptx::Function* const function = ptx::function_at(program.module, problem.span);
  if (function == nullptr) return;
  const bool is_kernel = function->kind == ptx::FunctionKind::Entry;
  if (program.module.functions.size() > 1) {
    problem.notes.push_back({fmt::format("{} `{}` needs it", is_kernel ? "kernel" : "function",
                                         program.module.text(function->name)),
                             {}});
  }
  if (std::optional<Note> note = ptx::source_note(program.module, problem.span))
    problem.notes.push_back(*std::move(note));
}

/// Lays out variables and decodes functions, into one Program.
class Loader {
 public:
  Loader(Program& program, std::vector<Diag>& errors)
      : program_(program), module_(program.module), errors_(errors) {}

  /// Which functions the kernel, or all kernels, may call. The module need not be a legal one.
  void find_functions(const LoadOptions& options);
  /// Whether an error is in one of them, or outside of all functions.
  [[nodiscard]] bool concerns(const Diag& problem) const;

  void run() {
    place_variables();
    if (!errors_.empty()) return;
    decode_functions();
    spread_order();
    watch_places();
    if (program_.uses_async_proxy) find_late_reads(program_);
  }

 private:
  void visit(const ptx::Function& function);
  void place_variables();
  void give_addresses();
  void place_shared(const ptx::Variable& variable, std::uint64_t& at);
  void name_shared(std::span<const ptx::Variable> variables, std::uint32_t function);
  void place_global(const ptx::Variable& variable);
  void fill(GlobalVariable& to, const ptx::Variable& variable);
  void fill_value(GlobalVariable& to, const ptx::Variable& variable, const ptx::Operand& value,
                  std::uint64_t& at, unsigned bytes);
  [[nodiscard]] isa::Operand number_of(const ptx::Operand& value) const;
  void add_fixup(GlobalVariable& to, const ptx::Operand& value, std::uint64_t at, unsigned bytes,
                 std::uint64_t mask);
  void decode_functions();
  void spread_order();
  void watch_places();

  Program& program_;
  const ptx::Module& module_;
  std::vector<Diag>& errors_;
  Layout layout_;
  std::vector<const ptx::Function*> functions_;  // to be decoded, by index in program_.functions
  std::set<const ptx::Function*> seen_;
  std::uint64_t total_ = 0;  // bytes of variables
};

// The registers whose notes say whether undefined bytes can be in play (checks/undefined.h). An op
// that tracks itself leaves the guard to the loop.
void Loader::watch_places() {
  program_.watched.resize(program_.ops.size());
  for (std::uint32_t i = 0; i < program_.ops.size(); ++i) {
    const Op& op = program_.ops[i];
    std::vector<std::uint32_t> at;
    const auto watch = [&](Place place) {
      if (!place.present() || place.is_constant()) return;
      const std::uint32_t note = place.offset() / kSuspectBytes;
      if (std::find(at.begin(), at.end(), note) == at.end()) at.push_back(note);
    };
    watch(op.guard);
    if ((op.flags & kTracksItself) == 0) {
      for (const Place place : op.p) watch(place);
      for (const OperandInfo& operand : program_.operands_of(i)) watch(operand.place);
    }
    auto& watched = program_.watched[i].at;
    if (at.empty() || at.size() > watched.size()) continue;
    for (std::size_t k = 0; k < watched.size(); ++k) watched[k] = at[std::min(k, at.size() - 1)];
  }
}

// --- which functions -----------------------------------------------------------------------------

// All that a function names may be called by it; indirect calls only reach what a function names.
void Loader::visit(const ptx::Function& function) {
  if (!function.has_body || !seen_.insert(&function).second) return;
  const auto index = static_cast<std::uint32_t>(functions_.size());
  layout_.functions[function.name] = index;
  functions_.push_back(&function);
  Code code;
  code.name = module_.text(function.name);
  code.is_entry = function.kind == ptx::FunctionKind::Entry;
  for (const ptx::Directive& directive : function.directives) {
    std::array<std::uint32_t, 3> values{1, 1, 1};
    std::copy_n(directive.values.begin(), std::min<std::size_t>(3, directive.values.size()),
                values.begin());
    const Dim3 dims{values[0], values[1], values[2]};
    if (directive.kind == ptx::DirectiveKind::ReqNTid) code.required_block = dims;
    if (directive.kind == ptx::DirectiveKind::MaxNTid) code.most_block = dims;
    if (directive.kind == ptx::DirectiveKind::ReqNCtaPerCluster) code.required_cluster = dims;
    if (directive.kind == ptx::DirectiveKind::ExplicitCluster) code.asks_for_cluster = true;
    if (directive.kind == ptx::DirectiveKind::MaxNReg) code.registers = values[0];
    if (directive.kind == ptx::DirectiveKind::MinNCtaPerSm) code.blocks_per_sm = values[0];
    if (directive.kind == ptx::DirectiveKind::BlocksAreClusters) code.counts_clusters = true;
  }
  program_.functions.push_back(std::move(code));
  std::set<ptx::NameId> names;
  const auto collect = [&](const ptx::Operand& operand) {
    if (operand.kind == ptx::OperandKind::Name) names.insert(operand.name);
  };
  for (const ptx::Instruction& instruction : function.instructions) {
    for (const ptx::Operand& operand : function.operands_of(instruction)) {
      collect(operand);
      if (!ptx::has_children(operand.kind)) continue;
      for (const ptx::Operand& child : function.operands.children(operand)) collect(child);
    }
  }
  for (const ptx::TargetList& list : function.target_lists) {
    names.insert(list.names.begin(), list.names.end());
  }
  for (const ptx::Function& other : module_.functions) {
    if (other.kind == ptx::FunctionKind::Func && names.contains(other.name)) visit(other);
  }
}

void Loader::find_functions(const LoadOptions& options) {
  for (const ptx::Function& function : module_.functions) {
    const bool wanted =
        options.kernels.empty() ||
        std::ranges::find(options.kernels, module_.text(function.name)) != options.kernels.end();
    if (function.kind == ptx::FunctionKind::Entry && wanted) visit(function);
  }
  // Functions whose addresses are stored in variables.
  for (const ptx::Variable& variable : module_.variables) {
    if (!variable.has_init()) continue;
    const auto visit_named = [&](const ptx::Operand& operand) {
      for (const ptx::Function& function : module_.functions) {
        if (function.kind == ptx::FunctionKind::Func && function.name == operand.name)
          visit(function);
      }
    };
    const ptx::Operand& root = variable.init_root();
    visit_named(root);
    if (!ptx::has_children(root.kind)) continue;
    for (const ptx::Operand& child : variable.init.children(root)) visit_named(child);
  }
}

// What no kernel that is wanted can reach is not run, and may be anything.
bool Loader::concerns(const Diag& problem) const {
  const ptx::Function* const function = ptx::function_at(module_, problem.span);
  return function == nullptr || seen_.contains(function);
}

// --- variables -----------------------------------------------------------------------------------

void Loader::place_shared(const ptx::Variable& variable, std::uint64_t& at) {
  const std::uint64_t bytes = ptx::size_in_bytes(variable);
  at = round_up(at, align_of(variable));
  layout_.variables[&variable] = {at, 0};
  at = std::min(at + bytes, ptx::kMaxVariableBytes);
}

void Loader::place_global(const ptx::Variable& variable) {
  total_ += std::min(ptx::size_in_bytes(variable), kMaxVariableBytes + 1);
  if (total_ > kMaxVariableBytes) {
    errors_.push_back(
        diag(DiagKind::TooLarge, "`{}` has {} bytes; the variables of a module may have {} in all",
             module_.text(variable.name), ptx::size_in_bytes(variable), kMaxVariableBytes)
            .with_span(Span::at(variable.offset, variable.offset + 1)));
    return;
  }
  GlobalVariable to;
  to.name = module_.text(variable.name);
  to.space = variable.space == ptx::Space::Const ? isa::Space::Const : isa::Space::Global;
  to.align = align_of(variable);
  to.size = ptx::size_in_bytes(variable);
  layout_.variables[&variable] = {0, static_cast<std::uint32_t>(program_.variables.size())};
  program_.variables.push_back(std::move(to));
}

void Loader::place_variables() {
  std::uint64_t shared = 0;
  std::uint32_t dynamic_align = 16;
  for (const ptx::Variable& variable : module_.variables) {
    if (variable.space == ptx::Space::Shared) {
      if (ptx::size_in_bytes(variable) == 0)
        dynamic_align = std::max(dynamic_align, align_of(variable));
      place_shared(variable, shared);
    } else {
      place_global(variable);
    }
  }
  // Shared variables of device functions may be needed in any kernel; those of kernels only there.
  std::uint64_t most = shared;
  for (const bool entries : {false, true}) {
    const std::uint64_t start = shared;
    for (std::size_t i = 0; i < functions_.size(); ++i) {
      const ptx::Function& function = *functions_[i];
      if ((function.kind == ptx::FunctionKind::Entry) != entries) continue;
      std::uint64_t at = entries ? start : shared;
      for (const ptx::Variable& variable : function.variables) {
        if (variable.space == ptx::Space::Shared) {
          if (ptx::size_in_bytes(variable) == 0)
            dynamic_align = std::max(dynamic_align, align_of(variable));
          place_shared(variable, at);
        } else if (variable.space == ptx::Space::Global || variable.space == ptx::Space::Const) {
          place_global(variable);
        }
      }
      if (entries) program_.functions[i].static_shared = shared_bytes(at);
      if (!entries) shared = at;
      most = std::max(most, at);
    }
  }
  program_.module_shared = shared_bytes(shared);
  layout_.dynamic_shared = round_up(most, dynamic_align);
  program_.static_shared = shared_bytes(layout_.dynamic_shared);
  name_shared(module_.variables, SharedVariable::kAnyFunction);
  for (std::size_t i = 0; i < functions_.size(); ++i)
    name_shared(functions_[i]->variables, static_cast<std::uint32_t>(i));
  if (errors_.empty()) give_addresses();
}

void Loader::name_shared(std::span<const ptx::Variable> variables, std::uint32_t function) {
  for (const ptx::Variable& variable : variables) {
    if (variable.space != ptx::Space::Shared) continue;
    const std::uint64_t bytes = ptx::size_in_bytes(variable);
    program_.shared.push_back(
        {.name = std::string(module_.text(variable.name)),
         .function = function,
         .offset = bytes == 0 ? layout_.dynamic_shared : layout_.variables[&variable].address,
         .bytes = bytes,
         .element = static_cast<std::uint32_t>(std::max(1, isa::info(variable.type).bits / 8))});
  }
}

// The addresses that a Device will give them: it allocates them first, in this order.
void Loader::give_addresses() {
  std::uint64_t next = kGlobalStart;
  std::vector<std::uint64_t> addresses;
  for (const GlobalVariable& variable : program_.variables) {
    addresses.push_back(GlobalMemory::place(next, variable.size, variable.align));
  }
  for (auto& [variable, entry] : layout_.variables) {
    if (variable->space != ptx::Space::Shared) entry.address = addresses[entry.index];
  }
  for (const auto& [variable, entry] : layout_.variables) {
    if (variable->space != ptx::Space::Shared) fill(program_.variables[entry.index], *variable);
  }
}

void Loader::add_fixup(GlobalVariable& to, const ptx::Operand& value, std::uint64_t at,
                       unsigned bytes, std::uint64_t mask) {
  std::uint64_t address = 0;
  const auto function = layout_.functions.find(value.name);
  if (function != layout_.functions.end()) {
    address = kCodeWindow + std::uint64_t{function->second} * 16;
  } else {
    for (const auto& [variable, entry] : layout_.variables) {
      if (variable->name == value.name) address = entry.address;
    }
  }
  address += value.kind == ptx::OperandKind::Name ? 0 : value.bits;
  if (mask != 0) {
    address = (address & mask) >> static_cast<unsigned>(std::countr_zero(mask));
  }
  if (at + bytes <= to.bytes.size()) std::memcpy(&to.bytes[at], &address, bytes);
}

isa::Operand Loader::number_of(const ptx::Operand& value) const {
  isa::Operand number;
  number.kind = value.kind == ptx::OperandKind::F32       ? isa::OperandKind::F32Bits
                : value.kind == ptx::OperandKind::F64     ? isa::OperandKind::F64Bits
                : value.kind == ptx::OperandKind::Decimal ? isa::OperandKind::Decimal
                                                          : isa::OperandKind::Integer;
  number.value = value.value();
  if (value.kind == ptx::OperandKind::Decimal) number.text = module_.text(value.name);
  return number;
}

void Loader::fill_value(GlobalVariable& to, const ptx::Variable& variable,
                        const ptx::Operand& value, std::uint64_t& at, unsigned bytes) {
  switch (value.kind) {
    case ptx::OperandKind::Vector: {
      // Braces inside braces are rows: what they leave out is zero.
      const std::uint64_t start = at;
      for (const ptx::Operand& child : variable.init.children(value)) {
        fill_value(to, variable, child, at, bytes);
      }
      if (&value != &variable.init_root() && variable.dims.size() > 1) {
        std::uint64_t row = bytes * std::uint64_t{variable.vector};
        for (std::size_t d = 1; d < variable.dims.size(); ++d) row *= variable.dims[d];
        if (at - start < row && row <= to.bytes.size()) at = start + row;
      }
      return;
    }
    case ptx::OperandKind::Name:
    case ptx::OperandKind::NameOffset:
    case ptx::OperandKind::Generic:
      add_fixup(to, value, at, bytes, 0);
      break;
    case ptx::OperandKind::Mask: {
      const auto children = variable.init.children(value);
      add_fixup(to, children[1], at, bytes, children[0].bits);
      break;
    }
    default: {
      const std::uint64_t bits = number_bits(number_of(value), variable.type);
      if (at + bytes <= to.bytes.size()) std::memcpy(&to.bytes[at], &bits, std::min(bytes, 8U));
    }
  }
  at = std::min(at + bytes, ptx::kMaxVariableBytes);
}

void Loader::fill(GlobalVariable& to, const ptx::Variable& variable) {
  to.bytes.assign(to.size, std::byte{0});
  if (!variable.has_init()) return;
  std::uint64_t at = 0;
  fill_value(to, variable, variable.init_root(), at,
             std::max(1U, static_cast<unsigned>(isa::info(variable.type).bits) / 8));
}

// --- code ----------------------------------------------------------------------------------------

void Loader::decode_functions() {
  ptx::Scope scope(module_, errors_);
  isa::Checker checker(program_.target);
  DecodeContext context{program_, module_, layout_, scope, checker, errors_};
  for (std::size_t i = 0; i < functions_.size() && errors_.size() < kMaxErrors; ++i) {
    FunctionDecoder(context, *functions_[i], static_cast<std::uint32_t>(i)).decode();
  }
  for (CallSite& site : program_.calls) {
    if (site.function < program_.functions.size()) {
      WW_CHECK(complete_call(site, program_.functions[site.function]), "a call that was checked");
    }
  }
}

// A kernel is ordered if anything that it may call is; calls are not told apart by kernel.
void Loader::spread_order() {
  Code all;
  const auto add = [](Code& to, const Code& from) {
    to.is_ordered = to.is_ordered || from.is_ordered;
    to.meets_in_parts = to.meets_in_parts || from.meets_in_parts;
    to.has_atomics = to.has_atomics || from.has_atomics;
  };
  for (const Code& code : program_.functions)
    if (!code.is_entry) add(all, code);
  for (Code& code : program_.functions) add(code, all);
}

}  // namespace

bool complete_call(CallSite& site, const Code& callee) {
  const auto fits = [](const ValueMove& a, const ValueMove& b) {
    return a.bytes == b.bytes && a.is_pred == b.is_pred;
  };
  if (!std::ranges::equal(site.arguments, callee.formals, fits) ||
      !std::ranges::equal(site.results, callee.results, fits))
    return false;
  for (std::size_t i = 0; i < site.arguments.size(); ++i) {
    site.arguments[i].to = callee.formals[i].to;
    site.arguments[i].to_register = callee.formals[i].to_register;
    site.arguments[i].to_step = callee.formals[i].to_step;
  }
  for (std::size_t i = 0; i < site.results.size(); ++i) {
    site.results[i].from = callee.results[i].from;
    site.results[i].from_register = callee.results[i].from_register;
    site.results[i].from_step = callee.results[i].from_step;
  }
  return true;
}

const Code* Program::find_kernel(std::string_view wanted) const {
  const auto found = std::find_if(functions.begin(), functions.end(), [&](const Code& code) {
    return code.is_entry && code.name == wanted;
  });
  return found == functions.end() ? nullptr : &*found;
}

std::vector<const Code*> Program::kernels() const {
  std::vector<const Code*> all;
  for (const Code& code : functions) {
    if (code.is_entry) all.push_back(&code);
  }
  return all;
}

std::string_view Program::line(std::uint32_t number) const {
  std::string_view line = source.line(number);
  while (!line.empty() && is_space(line.front())) line.remove_prefix(1);
  while (!line.empty() && is_space(line.back())) line.remove_suffix(1);
  return line;
}

std::string Program::place_text(std::uint32_t op) const {
  if (op >= infos.size()) return "no line";
  const std::string source = source_place(op);
  return fmt::format("line {}{}", infos[op].line,
                     source.empty() ? "" : fmt::format(" ({})", source));
}

std::string Program::source_place(std::uint32_t op) const {
  if (op >= infos.size()) return "";
  const std::size_t loc = infos[op].loc;  // plus one
  if (loc == 0 || loc > locs.size() || locs[loc - 1].file >= files.size()) return "";
  const std::string& path = files[locs[loc - 1].file];
  if (path.empty()) return "";
  const std::string file = std::filesystem::path(path).filename().string();
  return fmt::format("{}:{}", printable_name(file), locs[loc - 1].line);
}

LoadResult load(std::string_view text, std::string name, const LoadOptions& options) {
  LoadResult result;
  ptx::ParseResult parsed = ptx::parse(text);
  if (!parsed.ok()) {
    result.errors = std::move(parsed.errors);
    return result;
  }
  ptx::CheckResult checked =
      ptx::check(parsed.module, {.max_errors = kMaxErrors, .every_function = true});
  auto program = std::make_shared<Program>();
  program->source = SourceText(std::move(name), std::string(text));
  program->module = std::move(parsed.module);
  program->target = checked.target;
  result.notes = std::move(checked.notes);
  read_files(*program);
  Loader loader(*program, result.errors);
  loader.find_functions(options);
  for (Diag& problem : checked.errors) {
    if (loader.concerns(problem) && result.errors.size() < kMaxErrors)
      result.errors.push_back(std::move(problem));
  }
  if (result.errors.empty()) loader.run();
  for (Diag& problem : result.errors) add_source_line(*program, problem);
  if (result.errors.empty()) result.program = std::move(program);
  return result;
}

}  // namespace ww::sim
