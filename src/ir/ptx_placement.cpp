// SPDX-License-Identifier: Apache-2.0
#include "ir/ptx_placement.h"

#include <vector>

namespace ww::ir {
namespace {

using isa::OperandSpec;

struct Placement {
  const isa::Binding& binding;
  std::size_t given;
  const std::function<bool(std::span<const PlacedOperand>)>& accept;
  std::vector<PlacedOperand> placed = {};

  bool from(std::size_t wanted, std::size_t next) {
    const std::vector<OperandSpec>& specs = binding.form().operands;
    if (wanted == specs.size()) return next == given && accept(placed);
    const OperandSpec& spec = specs[wanted];
    if (spec.role == isa::Role::Rest) return accept(placed);
    const bool is_expected = !spec.present || binding.holds(*spec.present);
    if (!is_expected) return from(wanted + 1, next);
    const auto listed = isa::count_of(spec, binding);
    auto main = static_cast<std::size_t>(listed.value_or(1));
    if (spec.role == isa::Role::Address && listed) ++main;  // coordinates behind the base
    if (spec.pair != OperandSpec::Pair::Required && take(spec, wanted, next, main, main))
      return true;
    if (spec.pair != OperandSpec::Pair::None && take(spec, wanted, next, main + 1, main))
      return true;
    return spec.optional && from(wanted + 1, next);
  }

  bool take(const OperandSpec& spec, std::size_t wanted, std::size_t next, std::size_t count,
            std::size_t main) {
    if (next + count > given) return false;
    placed.push_back({&spec, next, count, main});
    const bool good = from(wanted + 1, next + count);
    placed.pop_back();
    return good;
  }
};

}  // namespace

bool place_operands(const isa::Binding& binding, std::size_t given,
                    const std::function<bool(std::span<const PlacedOperand>)>& accept) {
  return Placement{binding, given, accept}.from(0, 0);
}

bool is_async_product(const PtxCall& call) { return call.opcode.mnemonic() == "wgmma.mma_async"; }

bool is_tensor_load(const PtxCall& call) {
  const isa::Mnemonic called = call.opcode.mnemonic();
  return called == "tcgen05.ld" || called == "tcgen05.ld.red";
}

}  // namespace ww::ir
