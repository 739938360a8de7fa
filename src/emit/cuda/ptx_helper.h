// SPDX-License-Identifier: Apache-2.0
// A PTX instruction as a function with one `asm` statement. Its parameters are the operands of the
// call in their order: destinations by reference (or as a pointer to the register's 32 bits),
// addresses as pointers or numbers, values by their types, predicates as bool.
//
//     __forceinline__ __device__ void ptx_ld_shared_v2_f32(float& d0, float& d1, void* a) {
//       const uint32_t a_addr = static_cast<uint32_t>(__cvta_generic_to_shared(a));
//       float d0_reg, d1_reg;
//       asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];"
//                    : "=f"(d0_reg), "=f"(d1_reg) : "r"(a_addr) : "memory");
//       d0 = d0_reg;
//       d1 = d1_reg;
//     }
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "ir/known_words.h"
#include "target/target.h"

namespace ww::emit::cuda {

/// A call's operands in their places of the instruction.
struct PlacedCall {
  isa::Binding binding;
  std::vector<ir::PlacedOperand> operands;
};

/// The first form and placement that the operands fit. NotOnTarget where the target has none of the
/// forms, NotEmitted where the operands fit none.
Result<PlacedCall> place_call(const ir::Function& f, const ir::PtxCall& call,
                              target::Target target);

/// The function for a call.
struct PtxHelper {
  std::string name;
  std::string text;
  std::vector<std::size_t> order;  // which of the call's operands each parameter stands for
  bool needs_bitcast = false;
  bool hides_words = false;  // needs `ww_hidden_zero`
};
/// `waits`: a `tcgen05.ld` with the wait for it, see pending.h. Words that `known` wants hidden come
/// out of `ww_hidden_zero`. Fails with NotEmitted for registers
/// that CUDA C++ cannot pass.
Result<PtxHelper> ptx_helper(const ir::Function& f, const ir::PtxCall& call,
                             const PlacedCall& placed, const ir::KnownWords& known, bool waits);

/// A constant that stands in the instruction itself.
bool is_immediate(const ir::Function& f, const ir::PtxOperand& operand,
                  const isa::OperandSpec& spec);

}  // namespace ww::emit::cuda
