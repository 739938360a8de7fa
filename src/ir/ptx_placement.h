// SPDX-License-Identifier: Apache-2.0
// A PTX call lists its operands flat; an instruction's form groups them: registers in braces, pairs
// `d|p`, coordinates after an address. Assigns the flat operands to those of the form.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "ir/function.h"
#include "isa/catalogue.h"

namespace ww::ir {

/// The flat operands [first, first + count) are one operand of the form. All but `main` of them are
/// the second half of a pair `d|p`.
struct PlacedOperand {
  const isa::OperandSpec* spec = nullptr;
  std::size_t first = 0;
  std::size_t count = 0;
  std::size_t main = 0;
};

/// Assigns `given` flat operands to those of the form, in order, omitting optional ones as the
/// number requires. Offers each way to `accept` until it returns true; true if it did.
bool place_operands(const isa::Binding& binding, std::size_t given,
                    const std::function<bool(std::span<const PlacedOperand>)>& accept);

/// `wgmma.mma_async` in any form: it adds to its registers, which hold the values only after a wait.
bool is_async_product(const PtxCall& call);

/// `tcgen05.ld` in any form: its registers hold the values only after a wait.
bool is_tensor_load(const PtxCall& call);

}  // namespace ww::ir
