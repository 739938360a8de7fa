// SPDX-License-Identifier: Apache-2.0
// The pure operations that a kernel computes already: the same operation on the same values need not
// be written again as long as the scope is open that its code is in.
//
// A scope is the body of a loop or of a branch. What depends on nothing inside a loop is computed
// around it; nothing leaves a branch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/id_map.h"
#include "emit/ptx/registers.h"
#include "ptx/names.h"

namespace ww::emit::to_ptx {

class KnownOperations {
 public:
  /// Both outlive it; names of operands go into `words`.
  KnownOperations(const Registers& registers, ptx::NamePool& words)
      : registers_(registers), words_(words) {
    scopes_.emplace_back();
  }

  void open_scope(bool is_loop) { scopes_.emplace_back().is_loop = is_loop; }
  /// What the innermost scope computed is forgotten.
  void close_scope() { scopes_.pop_back(); }
  /// What it computed is known in the scope around it.
  void merge_scope();
  /// Of the innermost scope; 0 is the kernel itself.
  [[nodiscard]] int level() const { return static_cast<int>(scopes_.size()) - 1; }
  [[nodiscard]] bool is_loop() const { return scopes_.back().is_loop; }
  /// The outermost scope where the operands are known and that no branch separates from here.
  [[nodiscard]] int level_for(std::span<const Arg> args) const;

  /// The first of the operation's results, which are in registers one after the other; None if no
  /// open scope computes it.
  [[nodiscard]] Value find(ptx::NameId opcode, std::size_t results, std::span<const Arg> args);
  /// The operation that `find` did not find last is computed in the scope of that level.
  void add(Value first, int level);
  /// An operation of the innermost scope that has one result: its register becomes something else.
  void forget(ptx::NameId opcode, std::span<const Arg> args);

 private:
  struct Known {
    std::uint32_t key = 0;  // where its words begin, in keys_
    std::uint32_t words = 0;
    std::uint32_t hash = 0;
    std::uint32_t first = 0;  // register of its results
    bool is_gone = false;
  };
  struct Scope {
    bool is_loop = false;
    std::vector<std::uint32_t> known = {};  // in known_
    HashIndex index = {};                   // of `known`
  };
  void set_key(ptx::NameId opcode, std::size_t results, std::span<const Arg> args);
  void add_key(const Arg& arg);
  [[nodiscard]] std::uint32_t find_in(const Scope& scope) const;

  const Registers& registers_;
  ptx::NamePool& words_;
  std::vector<Scope> scopes_;
  std::vector<Known> known_;
  std::vector<std::uint64_t> keys_;  // of known_
  // Of the operation that is looked for: words that are equal for the same one only, and their hash.
  std::vector<std::uint64_t> key_;
  std::uint32_t hash_ = 0;
};

}  // namespace ww::emit::to_ptx
