// SPDX-License-Identifier: Apache-2.0
// The declarations that are open at a place of a module, by name: those of the module, then those of
// each block around the place. What an inner block declares hides what it has the name of.
//
// `%r<4>` declares a family, whose members are `%r0` to `%r3`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
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

}  // namespace ww::ptx
