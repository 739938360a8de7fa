// SPDX-License-Identifier: Apache-2.0
// The module around the code: header, parameters, arrays, and what the code calls or prints.
#include "emit/ptx/emit.h"

#include <algorithm>
#include <array>

#include "base/printable.h"
#include "emit/ptx/context.h"
#include "emit/ptx/finish.h"
#include "emit/ptx/stmts.h"
#include "ir/launch/occupancy.h"
#include "ir/tensor_map.h"
#include "ir/unroll/unroll.h"
#include "ir/visit.h"

namespace ww::emit {
namespace to_ptx {
namespace {

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

// --- arrays --------------------------------------------------------------------------------------

// All dynamic shared memory begins at one place; its buffers follow each other there.
void declare_dynamic(Context& c, std::span<const BufferId> buffers) {
  const std::string name =
      unique(c.declared, buffers.size() == 1 ? c.f[buffers[0]].name : "dynamic_shared");
  std::int64_t end = 0;
  std::int64_t align = kSharedAlign;
  for (const BufferId id : buffers) {
    const std::int64_t own = shared_align(c.f[id]);
    align = std::max(align, own);
    end = (end + own - 1) / own * own;
    c.in_array[id.index] = {name, end};
    end += bytes_of(c.f, c.f[id]);
  }
  c.declared.outer.push_back(
      {.name = name, .space = isa::Space::Shared, .bytes = 0, .align = align});
}

void declare_arrays(Context& c) {
  std::vector<BufferId> dynamic;
  ir::for_each_stmt(c.f, c.f.body, [&](ir::StmtId id) {
    const ir::Stmt& s = c.f[id];
    if (s.kind != ir::StmtKind::Alloc) return;
    const ir::Buffer& buffer = c.f[s.buffer];
    if (buffer.scope == ir::Scope::SharedDyn) dynamic.push_back(s.buffer);
    const bool is_memory =
        buffer.scope == ir::Scope::Local && !c.locals.plan(s.buffer).in_registers;
    if (buffer.scope != ir::Scope::Shared && !is_memory) return;
    const std::string& symbol = c.in_array[s.buffer.index].symbol = unique(c.declared, buffer.name);
    c.declared.arrays.push_back({.name = symbol,
                                 .space = is_memory ? isa::Space::Local : isa::Space::Shared,
                                 .bytes = bytes_of(c.f, buffer),
                                 .align = is_memory ? kLocalAlign : shared_align(buffer)});
  });
  if (!dynamic.empty()) declare_dynamic(c, dynamic);
}

// --- parameters ----------------------------------------------------------------------------------

void load_param(Context& c, std::size_t number) {
  const VarId var = c.f.params[number].var;
  const ir::Type type = c.f[var].type;
  const Arg from = address_arg(symbol_arg(c.params[number].name), 0);
  if (type.is_pointer()) {
    const Value pointer = c.code.pure("ld.param.u64", Class::Rd, {from});
    const ir::BufferId buffer = ir::buffer_of_param(c.f, number);
    std::int64_t& align = c.params[number].align;
    if (buffer.valid() && c.f[buffer].align > 0)
      align = std::max<std::int64_t>(c.f[buffer].align, storage_bits(c.f[buffer].dtype) / 8);
    Address memory{.space = Space::Global, .align = align, .param = number};
    memory.base = c.code.pure("cvta.to.global.u64", Class::Rd, {pointer});
    c.vars[var.index].address = std::move(memory);
    return;
  }
  const DType dtype = type.dtype;
  const Class cls = dtype == DType::Bool ? Class::R : class_of(dtype);
  Value value = c.code.pure(fmt::format("ld.param.{}", memory_type(dtype)), cls, {from});
  if (dtype == DType::Bool) value = c.code.pure("setp.ne.s32", Class::P, {value, int_value(0)});
  c.vars[var.index].lanes = {value};
}

// A tensor map is read where it lies, among the parameters: instructions take its generic address.
void load_map(Context& c, const ir::BoundMap& map, std::size_t number) {
  const Value where = c.code.pure("mov.b64", Class::Rd, {symbol_arg(c.params[number].name)});
  Address memory{.space = Space::Global, .align = ir::kMapAlign, .param = number};
  memory.base = c.code.pure("cvta.param.u64", Class::Rd, {where});
  c.vars[map.var.index].address = std::move(memory);
}

// `.loc` counts files from 1.
void add_files(const Context& c, ptx::Module& module) {
  if (c.options.source == nullptr) return;
  for (std::size_t i = 0; i < c.options.source->file_count(); ++i)
    module.add_file({.index = static_cast<std::uint32_t>(i) + 1,
                     .path = module.names.intern(path_in_code(c.options.source->file_name(i)))});
}

void declare_launch(ptx::Function& entry, const ir::LaunchShape& shape,
                    const ir::OccupancyWish& wish) {
  const auto values = [](const std::array<std::int64_t, 3>& sizes) {
    SmallVec<std::uint32_t, 3> out;
    for (const std::int64_t size : sizes) out.push_back(static_cast<std::uint32_t>(size));
    return out;
  };
  entry.directives.push_back({.kind = ptx::DirectiveKind::ReqNTid, .values = values(shape.block)});
  const auto number = [&](ptx::DirectiveKind kind, std::int64_t value) {
    if (value != 0)
      entry.directives.push_back({.kind = kind, .values = {static_cast<std::uint32_t>(value)}});
  };
  number(ptx::DirectiveKind::MinNCtaPerSm, wish.min_ctas);
  number(ptx::DirectiveKind::MaxNReg, wish.max_registers);
  if (!shape.has_clusters) return;
  entry.directives.push_back({.kind = ptx::DirectiveKind::ExplicitCluster});
  entry.directives.push_back(
      {.kind = ptx::DirectiveKind::ReqNCtaPerCluster, .values = values(shape.cluster)});
}

void declare_params(const Context& c, ptx::Module& module, ptx::Function& entry) {
  for (std::size_t i = 0; i < c.params.size(); ++i) {
    if (i >= c.f.params.size()) {
      ptx::Variable map = param_variable(module, c.params[i].name, 8);
      map.align = static_cast<std::uint32_t>(ir::kMapAlign);
      map.dims = {static_cast<std::uint64_t>(ir::kMapBytes)};
      entry.params.push_back(std::move(map));
      continue;
    }
    const ir::Type type = c.f[c.f.params[i].var].type;
    ptx::Variable variable = param_variable(module, c.params[i].name, 64);
    variable.type = param_type(type);
    if (type.is_pointer())
      variable.pointee = {true, false, ptx::Space::Global,
                          static_cast<std::uint32_t>(c.params[i].align)};
    entry.params.push_back(std::move(variable));
  }
}

Result<ptx::Module> module_of(Context& c) {
  ptx::Module module;
  const auto version = static_cast<std::uint16_t>(c.options.target.ptx);
  module.version = {static_cast<std::uint16_t>(version / 10),
                    static_cast<std::uint16_t>(version % 10)};
  module.targets = {module.names.intern(target::info(c.options.target.arch).name)};
  ptx::Function entry;
  entry.linkage = ptx::Linkage::Visible;
  entry.name = module.names.intern(unique(c.declared, c.f.name));
  for (const ir::Param& param : c.f.params)
    c.params.push_back({unique(c.declared, c.f[param.var].name)});
  const std::vector<ir::BoundMap> maps = ir::tensor_maps(c.f);
  for (const ir::BoundMap& map : maps) c.params.push_back({unique(c.declared, c.f[map.var].name)});
  declare_arrays(c);
  for (std::size_t i = 0; i < c.f.params.size(); ++i) load_param(c, i);
  for (std::size_t i = 0; i < maps.size(); ++i) load_map(c, maps[i], c.f.params.size() + i);
  emit_block(c, c.f.host);
  emit_block(c, c.f.body);
  c.code.add("ret", {});
  if (c.error) return fail(std::move(*c.error));
  declare_params(c, module, entry);
  declare_launch(entry, c.shape, WW_TRY(ir::occupancy_wish(c.f, c.shape)));
  WW_TRY_VOID(finish(c.code, c.options.target, c.declared, module, entry));
  add_files(c, module);
  add_declarations(c.declared, module);
  module.add_function(std::move(entry));
  return module;
}

}  // namespace

Context::Context(const ir::Function& function, const PtxOptions& ptx_options,
                 ir::LaunchShape launch)
    : f(function),
      options(ptx_options),
      shape(launch),
      facts(ir::facts_of(function)),
      ranges(function, facts),
      known(function, options.target),
      locals(plan_locals(function, ranges), code),
      vars(function.var_count()),
      in_array(function.buffer_count()) {}

}  // namespace to_ptx

Result<ptx::Module> ptx_module(const ir::Function& lowered, const PtxOptions& options) {
  // PTX has no loop that is unrolled later, and registers have no addresses.
  const ir::Function expanded = ir::expand_unrolled(lowered);
  to_ptx::Context context(expanded, options, WW_TRY(ir::launch_shape(expanded)));
  return to_ptx::module_of(context);
}

}  // namespace ww::emit
