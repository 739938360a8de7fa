// SPDX-License-Identifier: Apache-2.0
#include "lower/elementwise/fast.h"

#include <initializer_list>

#include "ir/settings.h"

namespace ww::lower {
namespace {

// Takes down the instructions; the values do not matter.
struct Listing {
  struct Value {};
  std::vector<std::string_view> opcodes = {};

  static Value number(float) { return {}; }
  static Value mul(Value, Value) { return {}; }
  static Value add(Value, Value) { return {}; }
  static Value fma(Value, Value, Value) { return {}; }
  static Value abs(Value) { return {}; }
  static Value copysign(Value, Value) { return {}; }
  Value approx(std::string_view opcode, std::initializer_list<Value>) {
    opcodes.push_back(opcode);
    return {};
  }
};

}  // namespace

bool is_fast(const ir::TileCall& call, num::DType type) {
  return ir::is_true(ir::find_setting(call, "fast")) && type != num::DType::Float64;
}

std::vector<std::string_view> fast_instructions(ir::TileOp op) {
  Listing listing;
  FastForm<Listing>(listing, {}, {}).of(op);
  return listing.opcodes;
}

}  // namespace ww::lower
