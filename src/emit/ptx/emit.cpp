// SPDX-License-Identifier: Apache-2.0
// The module around the code: header, parameters, arrays, and what the code calls or prints.
#include "emit/ptx/emit.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/check.h"
#include "base/printable.h"
#include "emit/ptx/emitter.h"
#include "ir/visit.h"
#include "isa/catalogue.h"

namespace ww::emit {

Result<ptx::Module> ptx_module(const ir::Function& lowered, const PtxOptions& options) {
  return to_ptx::Emitter(lowered, options).run();
}

namespace to_ptx {
namespace {

constexpr std::int64_t kParamAlign = 16;    // of the memory behind a pointer parameter, at least
constexpr std::int64_t kSharedAlign = 128;  // one row of the banks; what bulk copies want
constexpr std::int64_t kLocalAlign = 16;

isa::Type param_type(ir::Type type) {
  if (type.is_pointer()) return isa::Type::U64;
  if (type.dtype == DType::Float32) return isa::Type::F32;
  if (type.dtype == DType::Float64) return isa::Type::F64;
  if (class_of(type.dtype) == Class::Rs) return isa::Type::B16;
  return isa::parse_type(memory_type(type.dtype)).value_or(isa::Type::B32);
}

std::int64_t bytes_of(const ir::Function& f, const ir::Buffer& buffer) {
  std::int64_t elements = 1;
  for (const ExprId extent : buffer.shape) elements *= ir::const_int(f, extent).value_or(0);
  return (elements * storage_bits(buffer.dtype) + 7) / 8;
}

std::int64_t shared_align(const ir::Buffer& buffer) {
  return buffer.align != 0 ? std::max<std::int64_t>(buffer.align, 16) : kSharedAlign;
}

void add_text(ptx::Module& module, const std::string& text, const std::string& name) {
  ptx::Variable variable;
  variable.space = ptx::Space::Global;
  variable.type = isa::Type::B8;
  variable.align = 1;
  variable.name = module.names.intern(name);
  variable.dims = {text.size() + 1};
  std::vector<ptx::Operand> bytes;
  for (const char c : text)
    bytes.push_back(ptx::int_operand(static_cast<std::int64_t>(static_cast<unsigned char>(c))));
  bytes.push_back(ptx::int_operand(0));
  variable.set_init(variable.init.make(ptx::OperandKind::Vector, bytes));
  module.add_variable(std::move(variable));
}

ptx::Variable param_variable(ptx::Module& module, std::string_view name, int bits) {
  ptx::Variable variable;
  variable.space = ptx::Space::Param;
  variable.type = isa::bits_type(bits);
  variable.name = module.names.intern(name);
  return variable;
}

// The functions that every CUDA program may call, as nvcc declares them.
void add_declaration(ptx::Module& module, const std::string& name) {
  ptx::Function declared;
  declared.kind = ptx::FunctionKind::Func;
  declared.linkage = ptx::Linkage::Extern;
  declared.name = module.names.intern(name);
  const bool is_print = name == "vprintf";
  if (is_print) declared.results.push_back(param_variable(module, "result", 32));
  const std::vector<int> bits =
      is_print ? std::vector<int>{64, 64} : std::vector<int>{64, 64, 32, 64, 64};
  for (std::size_t i = 0; i < bits.size(); ++i)
    declared.params.push_back(param_variable(module, fmt::format("param_{}", i), bits[i]));
  module.add_function(std::move(declared));
}

// Is it the first word of an instruction? Nothing is called so.
bool is_mnemonic(std::string_view name) {
  static const std::set<std::string_view> kWords = [] {
    std::set<std::string_view> words;
    for (const std::string_view mnemonic : isa::mnemonics())
      words.insert(mnemonic.substr(0, mnemonic.find('.')));
    return words;
  }();
  return kWords.contains(name);
}

}  // namespace

Emitter::Emitter(const ir::Function& function, const PtxOptions& options)
    : f_(function),
      options_(options),
      facts_(ir::facts_of(function)),
      ranges_(function, facts_),
      code_(options.target),
      locals_(plan_locals(function, ranges_), code_),
      vars_(function.var_count()),
      symbols_(function.buffer_count()),
      offsets_(function.buffer_count()) {}

Result<ptx::Module> Emitter::run() {
  shape_ = WW_TRY(ir::launch_shape(f_));
  ptx::Module module;
  const int version = options_.target.ptx;
  module.version = {static_cast<std::uint16_t>(version / 10),
                    static_cast<std::uint16_t>(version % 10)};
  module.targets = {module.names.intern(target::info(options_.target.arch).name)};
  ptx::Function entry;
  entry.linkage = ptx::Linkage::Visible;
  entry.name = module.names.intern(unique(f_.name));
  for (const ir::Param& param : f_.params) param_names_.push_back(unique(f_[param.var].name));
  declare_arrays();
  load_params();
  block(f_.host);
  block(f_.body);
  code_.add("ret", {});
  if (problem_) return fail(std::move(*problem_));
  for (std::size_t i = 0; i < f_.params.size(); ++i) {
    const ir::Type type = f_[f_.params[i].var].type;
    ptx::Variable variable = param_variable(module, param_names_[i], 64);
    variable.type = param_type(type);
    if (type.is_pointer())
      variable.pointee = {true, false, ptx::Space::Global,
                          static_cast<std::uint32_t>(param_aligns_[i])};
    entry.params.push_back(std::move(variable));
  }
  declare_launch(entry, shape_);
  WW_TRY_VOID(code_.finish(module, entry, arrays_, outer_));
  if (options_.source != nullptr)
    module.add_file(
        {.index = 1, .path = module.names.intern(path_in_code(options_.source->name()))});
  add_outer(module);
  module.add_function(std::move(entry));
  return module;
}

void Emitter::add_outer(ptx::Module& module) const {
  for (const std::string& name : functions_) add_declaration(module, name);
  for (const auto& [text, name] : texts_) add_text(module, text, name);
  for (const Array& array : outer_) {
    if (array.space != isa::Space::Shared) continue;
    ptx::Variable variable;
    variable.space = ptx::Space::Shared;
    variable.linkage = ptx::Linkage::Extern;
    variable.type = isa::Type::B8;
    variable.align = static_cast<std::uint32_t>(array.align);
    variable.name = module.names.intern(array.name);
    variable.dims = {ptx::kUnsized};
    module.add_variable(std::move(variable));
  }
}

void Emitter::declare_launch(ptx::Function& entry, const ir::LaunchShape& shape) {
  const auto values = [](const std::array<std::int64_t, 3>& sizes) {
    SmallVec<std::uint32_t, 3> out;
    for (const std::int64_t size : sizes) out.push_back(static_cast<std::uint32_t>(size));
    return out;
  };
  entry.directives.push_back({.kind = ptx::DirectiveKind::ReqNTid, .values = values(shape.block)});
  if (!shape.has_clusters) return;
  entry.directives.push_back({.kind = ptx::DirectiveKind::ExplicitCluster});
  entry.directives.push_back(
      {.kind = ptx::DirectiveKind::ReqNCtaPerCluster, .values = values(shape.cluster)});
}

// --- parameters ----------------------------------------------------------------------------------

void Emitter::load_params() {
  param_aligns_.assign(f_.params.size(), kParamAlign);
  for (std::size_t i = 0; i < f_.params.size(); ++i) load_param(i);
}

void Emitter::load_param(std::size_t number) {
  const VarId var = f_.params[number].var;
  const ir::Type type = f_[var].type;
  const Arg from = address_arg(symbol_arg(param_names_[number]), 0);
  if (type.is_pointer()) {
    const Value pointer = code_.pure("ld.param.u64", Class::Rd, {from});
    const ir::BufferId buffer = ir::buffer_of_param(f_, number);
    if (buffer.valid()) param_aligns_[number] = std::max(param_aligns_[number], f_[buffer].align);
    Address memory{.space = Space::Global, .align = param_aligns_[number], .param = number};
    memory.base = code_.pure("cvta.to.global.u64", Class::Rd, {pointer});
    vars_[var.index].address = std::move(memory);
    return;
  }
  const DType dtype = type.dtype;
  const Class cls = dtype == DType::Bool ? Class::R : class_of(dtype);
  Value value = code_.pure(fmt::format("ld.param.{}", memory_type(dtype)), cls, {from});
  if (dtype == DType::Bool) value = code_.pure("setp.ne.s32", Class::P, {value, int_value(0)});
  vars_[var.index].lanes = {value};
}

// --- arrays --------------------------------------------------------------------------------------

void Emitter::declare_arrays() {
  std::vector<BufferId> dynamic;
  ir::for_each_stmt(f_, f_.body, [&](ir::StmtId id) {
    const ir::Stmt& s = f_[id];
    if (s.kind != ir::StmtKind::Alloc) return;
    const ir::Buffer& buffer = f_[s.buffer];
    if (buffer.scope == ir::Scope::SharedDyn) dynamic.push_back(s.buffer);
    const bool is_memory = buffer.scope == ir::Scope::Local && !locals_.plan(s.buffer).in_registers;
    if (buffer.scope != ir::Scope::Shared && !is_memory) return;
    symbols_[s.buffer.index] = unique(buffer.name);
    arrays_.push_back({.name = symbols_[s.buffer.index],
                       .space = is_memory ? isa::Space::Local : isa::Space::Shared,
                       .bytes = bytes_of(f_, buffer),
                       .align = is_memory ? kLocalAlign : shared_align(buffer)});
  });
  if (!dynamic.empty()) declare_dynamic(dynamic);
}

// All dynamic shared memory begins at one place; its buffers follow each other there.
void Emitter::declare_dynamic(std::span<const BufferId> buffers) {
  const std::string name = unique(buffers.size() == 1 ? f_[buffers[0]].name : "dynamic_shared");
  std::int64_t end = 0;
  std::int64_t align = kSharedAlign;
  for (const BufferId id : buffers) {
    const std::int64_t own = shared_align(f_[id]);
    align = std::max(align, own);
    end = (end + own - 1) / own * own;
    symbols_[id.index] = name;
    offsets_[id.index] = end;
    end += bytes_of(f_, f_[id]);
  }
  outer_.push_back({.name = name, .space = isa::Space::Shared, .bytes = 0, .align = align});
}

// A PTX identifier like the name, that nothing else has.
std::string Emitter::unique(std::string_view wanted) {
  std::string name(wanted);
  for (char& c : name)
    if (!is_name_char(c) && c != '$') c = '_';
  if (name.empty() || is_digit(name[0]) || name == "_") name = "v_" + name;
  std::string out = name;
  for (int i = 1; names_.contains(out) || is_mnemonic(out); ++i)
    out = fmt::format("{}_{}", name, i);
  names_.insert(out);
  return out;
}

}  // namespace to_ptx
}  // namespace ww::emit
