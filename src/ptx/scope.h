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
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/diag.h"
#include "ptx/module.h"

namespace ww::ptx {

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
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  /// One declaration. Those of one name make a chain from the innermost outwards.
  struct Entry {
    Declared what{};
    NameId name = kNoName;
    std::uint32_t count = kSingle;  // `%r<4>`: the name is the prefix of a family
    std::uint32_t offset = 0;
    std::uint32_t item = 0;             // which of the module's; what is inside a function has 0
    std::uint32_t depth = 0;            // blocks around it; 0: of the module
    std::uint32_t below = kNone;        // what it hides
    std::uint32_t next_member = kNone;  // the next name of its own that could be in that family
  };
  /// `%r12` is number 12 of the family `%r`, where there is one.
  struct Member {
    NameId family = kNoName;
    std::uint32_t index = 0;
    bool is_known = false;
  };
  struct Block {
    std::size_t first_entry = 0;
    std::uint32_t id = 0;  // 0: the body; else the statement that opens it, plus one
  };
  /// Where a block first declares the name of a label.
  struct BlockName {
    std::uint32_t statement = 0;
    bool is_label = false;
  };

  static Declared declared(const Variable& variable);
  void declare_globals(std::vector<Diag>& errors);
  void declare_alias(const Alias& alias, std::uint32_t item, std::vector<Diag>& errors);
  void declare_global(Entry entry, std::vector<Diag>& errors);
  void declare(Entry entry, std::vector<Diag>& errors);
  void declare_registers(const RegisterDecl& decl, std::vector<Diag>& errors);
  void declare_labelled(NameId name, Declared::Kind kind, const Statement& statement,
                        std::vector<Diag>& errors);
  void push(Entry entry);
  void pop();
  void leave_block();
  void index_labels();
  [[nodiscard]] const Entry* twin_of(const Entry& entry) const;
  [[nodiscard]] const Entry* exact(NameId name) const;
  [[nodiscard]] const Entry* family_of(const Member& member) const;
  [[nodiscard]] const Entry* visible(NameId name) const;
  [[nodiscard]] const Member& member_of(NameId name) const;
  [[nodiscard]] Member member_of(std::string_view text) const;
  [[nodiscard]] Declared find_label(NameId name, const Entry* outer) const;
  [[nodiscard]] Declared find_component(NameId name) const;
  [[nodiscard]] Diag declared_twice(const Entry& first, const Entry& second) const;
  [[nodiscard]] Span span_of(const Entry& entry) const;
  [[nodiscard]] std::string text_of(const Entry& entry) const;
  [[nodiscard]] std::optional<Note> elsewhere_in_function(NameId name) const;

  const Module& module_;
  const Function* function_ = nullptr;
  std::vector<std::uint32_t> function_items_;  // by number of the function: which item it is
  std::uint32_t item_ = 0;                     // of the function
  std::uint32_t at_ = 0;                       // the statement entered last
  std::uint32_t declarations_ = 0;             // so far in this function
  std::vector<Entry> entries_;                 // those of the module, then of the open blocks
  std::vector<std::uint32_t> exact_;           // by NameId: the innermost entry of that name
  std::vector<std::uint32_t> families_;        // by NameId: the innermost family of that prefix
  std::vector<std::uint32_t> member_entries_;  // by NameId of a prefix: see Entry::next_member
  mutable std::vector<Member> members_;        // by NameId
  std::vector<Block> blocks_;
  std::vector<bool> is_label_;  // by NameId: some block of the function has such a label
  std::unordered_map<std::uint64_t, BlockName> block_names_;  // of those, by block and name
};

}  // namespace ww::ptx
