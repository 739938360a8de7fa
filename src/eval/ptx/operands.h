// SPDX-License-Identifier: Apache-2.0
// Operands of PTX instructions: a flat list in the order of the PTX text. Which of them are
// destinations follows from the opcode.
#pragma once

#include <vector>

#include "eval/cta/cta.h"

namespace ww::eval {

inline constexpr int kRegisterBits = 32;
inline constexpr int kHalfBits = 16;

/// The bits of a register; undefined ones are found.
Words ptx_value(Cta& cta, const ir::PtxOperand& operand, Threads ts, int bits);
/// The same for a value that is only passed on.
Contents ptx_content(Cta& cta, const ir::PtxOperand& operand, Threads ts, int bits);
/// Sign-extended to 64 bits.
Words ptx_int(Cta& cta, const ir::PtxOperand& operand, Threads ts);
std::vector<Address> ptx_address(Cta& cta, const ir::PtxOperand& operand, Threads ts);

/// What a destination names, for each thread: a register behind a pointer, or an element of a
/// buffer. No elements for a sink.
struct PtxTargets {
  std::vector<Element> elements;
  int bits = 0;
};
PtxTargets ptx_targets(Cta& cta, const ir::PtxOperand& operand, Threads ts, int register_bits);
/// An element of a buffer that is at no address, which has been found.
inline bool is_missing(const Element& target) {
  return target.info != nullptr && !target.at.exists();
}
/// Writes a destination.
void ptx_put(Cta& cta, const ir::PtxOperand& operand, Threads ts, int register_bits,
             const Contents& values);
void ptx_put(Cta& cta, const ir::PtxOperand& operand, Threads ts, int register_bits, Words values);

}  // namespace ww::eval
