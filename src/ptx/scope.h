// SPDX-License-Identifier: Apache-2.0
// Which declaration a name means at each place of a module: the names of the module, of one
// function at a time, and of the blocks that are open in it.
//
// As ptxas has it, a declaration is seen from where it stands to the end of its block, and hides
// what blocks around it declare. Only labels may be used before their declaration: a branch goes to
// the label of its own block, above or below the branch; else to one that stands above it in the
// nearest block around; else to one further down in the nearest block around. So a branch leaves
// blocks and never enters one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/diag.h"
#include "ptx/module.h"

namespace ww::ptx {

// --- name table ----------------------------------------------------------------------------------
//
// The declarations that are open at a place of a module, by name: those of the module, then those of
// each block around the place. What an inner block declares hides what it has the name of.
//
// `%r<4>` declares a family, whose members are `%r0` to `%r3`.

/// What a name is.
struct Declared {
  enum class Kind : std::uint8_t {
    Nothing,
    Register,
    Variable,
    Label,
    BranchTargets,  // the name of a `.branchtargets`
    CallTargets,
    Prototype,
    Function,
  };

  Kind kind = Kind::Nothing;
  isa::Type type = isa::Type::B32;     // Register, Variable
  std::uint8_t lanes = 1;              // Register, Variable: of a `.v4`
  Space space = Space::Global;         // Variable
  const Variable* variable = nullptr;  // Variable; parameters in registers, too
  const Function* function = nullptr;  // Function: its definition if there is one
  std::uint32_t statement = 0;         // labels, lists, prototypes: which of the function's
  std::uint32_t declaration = 0;       // numbers the declarations of a function
  std::uint32_t member = 0;            // `%r3` is number 3 of the declaration `%r<4>`
};

/// What a variable, or a parameter in a register, is.
Declared declared(const Variable& variable);

/// One declaration. Those of one name make a chain from the innermost outwards.
struct NameEntry {
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  Declared what{};
  NameId name = kNoName;
  std::uint32_t count = kSingle;  // `%r<4>`: the name is the prefix of a family
  std::uint32_t offset = 0;
  std::uint32_t item = 0;             // which of the module's; what is inside a function has 0
  std::uint32_t depth = 0;            // blocks around it; 0: of the module
  std::uint32_t below = kNone;        // what it hides
  std::uint32_t next_member = kNone;  // the next name of its own that could be in that family
};

Span span_of(const Module& module, const NameEntry& entry);
/// The error of a block, or of the module, that declares one name with both.
Diag declared_twice(const Module& module, const NameEntry& first, const NameEntry& second);

/// `%r12` is number 12 of the family `%r`, where there is one.
struct FamilyMember {
  NameId family = kNoName;
  std::uint32_t index = 0;
  bool is_known = false;
};

class NameTable {
 public:
  explicit NameTable(const Module& module);

  /// `entry.depth` is at least that of all others.
  void push(NameEntry entry);
  void pop();
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

  [[nodiscard]] const FamilyMember& member_of(NameId name) const;
  /// The same for a name that nothing in the module may spell.
  [[nodiscard]] FamilyMember member_of(std::string_view text) const;

  /// The innermost entry of the name itself, families apart; null: none.
  [[nodiscard]] const NameEntry* exact(NameId name) const { return at(exact_[index_of(name)]); }
  [[nodiscard]] NameEntry* exact(NameId name) {
    const std::uint32_t found = exact_[index_of(name)];
    return found == NameEntry::kNone ? nullptr : &entries_[found];
  }
  /// The innermost family of that prefix.
  [[nodiscard]] const NameEntry* family(NameId prefix) const {
    return at(families_[index_of(prefix)]);
  }
  /// The innermost family that has the member; of the module's, those up to item `last`.
  [[nodiscard]] const NameEntry* family_of(const FamilyMember& member, std::uint32_t last) const;
  /// What the name means: itself or the member of a family, whichever is further in.
  [[nodiscard]] const NameEntry* visible(NameId name, std::uint32_t last) const;
  /// The declaration at the same depth that has the name, too. A label may be called like the
  /// member of a family, which then hides it.
  [[nodiscard]] const NameEntry* twin_of(const NameEntry& entry) const;

 private:
  static std::size_t index_of(NameId name) { return static_cast<std::uint32_t>(name); }
  [[nodiscard]] const NameEntry* at(std::uint32_t entry) const {
    return entry == NameEntry::kNone ? nullptr : &entries_[entry];
  }

  const Module& module_;
  std::vector<NameEntry> entries_;             // those of the module, then of the open blocks
  std::vector<std::uint32_t> exact_;           // by NameId: the innermost entry of that name
  std::vector<std::uint32_t> families_;        // by NameId: the innermost family of that prefix
  std::vector<std::uint32_t> member_entries_;  // by NameId of a prefix: NameEntry::next_member
  mutable std::vector<FamilyMember> members_;  // by NameId
};

/// The blocks of a function that declare its labels, collected before the statements are read.
/// Another declaration of such a name in a block counts as well: a branch does not look past it.
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
  /// Adds the module's own declarations; reports names declared twice or in two ways.
  Scope(const Module& module, std::vector<Diag>& errors);

  /// Adds the function's parameters. The function does not see later declarations of the module.
  void begin(const Function& function, std::vector<Diag>& errors);
  /// Enters and leaves blocks, and adds declarations. What is declared twice in one block is
  /// reported.
  void enter(const Statement& statement, std::vector<Diag>& errors);
  /// Forgets what `begin` and `enter` added.
  void end();

  /// The meaning of the name here: members of families (`%r3` of `%r<4>`) and components (`%v.x`)
  /// included; Nothing for special registers and unknown names.
  [[nodiscard]] Declared find(NameId name) const;
  /// The same for a name that nothing in the module may spell, as the `%v1` of a `%v1.x`.
  [[nodiscard]] Declared find(std::string_view name) const;
  /// What the module declares before its item of that number, which may use it.
  [[nodiscard]] Declared find_global(NameId name, std::size_t item) const;
  /// A note on a declaration of the name that `find` does not see from here, if there is one.
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
