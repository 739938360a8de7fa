// SPDX-License-Identifier: Apache-2.0
// Places for a function's registers and local memory, assigned when names first appear.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/diag.h"
#include "ptx/module.h"
#include "ptx/scope.h"
#include "sim/op.h"
#include "sim/run/special.h"

namespace ww::sim {

/// Bytes that one lane of a register takes; a predicate, which is a bit, counts as one.
inline unsigned lane_bytes(isa::Type type) {
  return std::max(1U, static_cast<unsigned>(isa::info(type).bits) / 8);
}

class Frame {
 public:
  /// What does not fit is reported as the function's.
  Frame(const ptx::Module& module, const ptx::Function& function, std::vector<Diag>& errors)
      : module_(module), function_(function), errors_(errors) {}

  /// A register of its own. The components of a vector lie side by side.
  Place new_register(isa::Type type, unsigned components = 1);
  /// An unnamed one of that many bytes.
  Place scratch(unsigned bytes) {
    return new_register(isa::bits_type(static_cast<int>(bytes) * 8));
  }
  /// The carry flag: a predicate.
  Place carry();
  /// The register that a declaration makes, or its first component.
  Place register_of(const ptx::Declared& what);
  /// The register of a special register, and whether it is used for the first time.
  std::pair<Place, bool> special(Special special, isa::Type type);
  /// The same of the register of an address in the CTA's shared memory.
  std::pair<Place, bool> shared_address(std::uint64_t offset, unsigned bytes);

  /// Gives a variable a place in local memory.
  void add_local(const ptx::Variable& variable);
  /// Says where a variable is in its memory.
  void set_local(const ptx::Variable& variable, std::uint32_t at) { locals_[&variable] = at; }
  /// nullptr: it has no place.
  [[nodiscard]] const std::uint32_t* find_local(const ptx::Variable* variable) const {
    const auto found = locals_.find(variable);
    return found == locals_.end() ? nullptr : &found->second;
  }

  [[nodiscard]] std::uint32_t register_bytes() const { return register_bytes_; }
  [[nodiscard]] std::uint32_t local_bytes() const { return local_bytes_; }

 private:
  const ptx::Module& module_;
  const ptx::Function& function_;
  std::vector<Diag>& errors_;
  std::unordered_map<std::uint64_t, Place> registers_;  // by declaration and member
  std::map<std::pair<std::uint8_t, unsigned>, Place> specials_;
  std::map<std::pair<std::uint64_t, unsigned>, Place> shared_addresses_;
  std::unordered_map<const ptx::Variable*, std::uint32_t> locals_;
  Place carry_{};
  bool is_full_ = false;  // no room for more registers
  std::uint32_t register_bytes_ = 0, local_bytes_ = 0;
};

}  // namespace ww::sim
