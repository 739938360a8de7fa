// SPDX-License-Identifier: Apache-2.0
#include "emit/ptx/declarations.h"

#include "base/ascii.h"
#include "isa/catalogue.h"

namespace ww::emit::to_ptx {
namespace {

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
    for (const std::string_view mnemonic : isa::Mnemonic::all())
      words.insert(mnemonic.substr(0, mnemonic.find('.')));
    return words;
  }();
  return kWords.contains(name);
}

}  // namespace

std::string unique(Declarations& declared, std::string_view wanted) {
  std::string name(wanted);
  for (char& c : name)
    if (!is_name_char(c) && c != '$') c = '_';
  if (name.empty() || is_digit(name[0]) || name == "_") name = "v_" + name;
  std::string out = name;
  for (int i = 1; declared.names.contains(out) || is_mnemonic(out); ++i)
    out = fmt::format("{}_{}", name, i);
  declared.names.insert(out);
  return out;
}

ptx::Variable param_variable(ptx::Module& module, std::string_view name, int bits) {
  ptx::Variable variable;
  variable.space = ptx::Space::Param;
  variable.type = isa::bits_type(bits);
  variable.name = module.names.intern(name);
  return variable;
}

void add_declarations(const Declarations& declared, ptx::Module& module) {
  for (const std::string& name : declared.functions) add_declaration(module, name);
  for (const auto& [text, name] : declared.texts) add_text(module, text, name);
  for (const Array& array : declared.outer) {
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

}  // namespace ww::emit::to_ptx
