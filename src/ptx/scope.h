// SPDX-License-Identifier: Apache-2.0
// Which declaration a name means at each place of a module: the names of the module, of one
// function at a time, and of the blocks that are open in it.
//
// As ptxas has it, a declaration is seen from where it stands to the end of its block, and hides
// what blocks around it declare. Only labels may be used before they stand: a branch goes to the
// label of its own block, be that above or below the branch; else to one that stands above it in
// the nearest block around; else to one further down in the nearest block around. So a branch
// leaves blocks and never enters one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/diag.h"
#include "ptx/module.h"
#include "ptx/name_table.h"

namespace ww::ptx {

/// Where the blocks of a function declare the names of its labels, which are known before they
/// stand. What else a block declares by such a name counts as well: a branch does not look past it.
class LabelIndex {
 public:
  struct Place {
    std::uint32_t statement = 0;
    bool is_label = false;
  };

  explicit LabelIndex(std::size_t names) : is_label_(names) {}

  void add(const Function& function);
  /// Forgets what `add` added.
  void remove(const Function& function);
  /// Does some block of the function have such a label?
  [[nodiscard]] bool has(NameId name) const { return is_label_[static_cast<std::uint32_t>(name)]; }
  /// Where the block first declares the name of a label; null: it does not.
  [[nodiscard]] const Place* find(std::uint32_t block, NameId name) const;

 private:
  std::vector<bool> is_label_;                       // by NameId
  std::unordered_map<std::uint64_t, Place> places_;  // by block and name
};

/// The scopes of a module. The module must outlive it. For each function: `begin`, then `enter` for
/// every statement in order, then `end`.
class Scope {
 public:
  /// Declares what the module itself does; reports what it declares twice or in two ways.
  Scope(const Module& module, std::vector<Diag>& errors);

  /// Adds the function's parameters. What the module declares behind it is not seen inside.
  void begin(const Function& function, std::vector<Diag>& errors);
  /// Enters and leaves blocks, and adds declarations. What is declared twice in one block is
  /// reported.
  void enter(const Statement& statement, std::vector<Diag>& errors);
  /// Forgets what `begin` and `enter` added.
  void end();

  /// What the name stands for here: members of families (`%r3` of `%r<4>`) and components
  /// (`%v.x`) included; Nothing for special registers and unknown names.
  [[nodiscard]] Declared find(NameId name) const;
  /// The same for a name that nothing in the module may spell, as the `%v1` of a `%v1.x`.
  [[nodiscard]] Declared find(std::string_view name) const;
  /// What the module declares before its item of that number, which may use it.
  [[nodiscard]] Declared find_global(NameId name, std::size_t item) const;
  /// A declaration of the name that `find` does not see from here, as a note; none: there is none.
  [[nodiscard]] std::optional<Note> elsewhere(NameId name) const;

 private:
  struct Block {
    std::size_t first_entry = 0;
    std::uint32_t id = 0;  // 0: the body; else the statement that opens it, plus one
  };

  void declare_globals(std::vector<Diag>& errors);
  void declare_alias(const Alias& alias, std::uint32_t item, std::vector<Diag>& errors);
  void declare_global(const NameEntry& entry, std::vector<Diag>& errors);
  void declare(NameEntry entry, std::vector<Diag>& errors);
  void declare_registers(const RegisterDecl& decl, std::vector<Diag>& errors);
  void declare_labelled(NameId name, Declared::Kind kind, const Statement& statement,
                        std::vector<Diag>& errors);
  void leave_block();
  [[nodiscard]] Declared find_label(NameId name, const NameEntry* outer) const;
  [[nodiscard]] Declared find_component(NameId name) const;
  [[nodiscard]] std::optional<Note> elsewhere_in_function(NameId name) const;

  const Module& module_;
  const Function* function_ = nullptr;
  std::vector<std::uint32_t> function_items_;  // by number of the function: which item it is
  std::uint32_t item_ = 0;                     // of the function
  std::uint32_t at_ = 0;                       // the statement entered last
  std::uint32_t declarations_ = 0;             // so far in this function
  NameTable names_;
  LabelIndex labels_;
  std::vector<Block> blocks_;
};

}  // namespace ww::ptx
