// SPDX-License-Identifier: Apache-2.0
// Faults of lowered code, one at a time: the mistakes that somebody who writes a variant, or a
// kernel by hand, makes. They know the shape of the code and nothing of what it is for.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/function.h"

namespace ww::test {

enum class FaultKind : std::uint8_t {
  // in the code of a primitive
  Stride,      // a constant factor is doubled
  Lanes,       // x % c where x // c belongs, or the other way round
  OffByOne,    // a start or a bound is one more
  Tail,        // the last round of a loop, or what stands under a guard, is missing
  Dropped,     // one instruction is missing
  Width,       // a vector is twice or half as wide
  Operands,    // two operands are exchanged
  Form,        // the instruction of another form: `.trans` or not
  Predicate,   // a condition is turned round, missing, or has its bound inside
  Fill,        // what lies outside is not filled up
  Accumulate,  // a product is added, or an element is folded, twice
  Swizzle,     // a constant of an XOR is doubled, or there is none
  Register,    // the register beside the right one
  Partner,     // a shuffle with another lane
  Rank,        // the memory of another CTA of the cluster
  Stages,  // a barrier between the stages of a primitive is missing, or of a CTA for the cluster
  // in the program around primitives
  Barrier,  // one is missing
  Wait,     // a wait is missing, or lets one group more be under way
  Fence,    // a commit or a fence is missing
};
std::string_view name_of(FaultKind kind);
bool is_around(FaultKind kind);

struct Fault {
  FaultKind kind = FaultKind::Stride;
  std::string what;
  /// Changes the code that the fault was found in.
  std::function<void(ir::Function&, ir::Block&)> plant;
};

/// The faults that can be planted in what a variant has written, always in the same order.
std::vector<Fault> faults_in_primitive(ir::Function& f, const ir::Block& code);
/// Those that can be planted in the body of a tile program, outside of its primitives.
std::vector<Fault> faults_around(ir::Function& f, const ir::Block& body);

/// Plant the fault at `which` of the list that the function above would give.
void plant_in_primitive(ir::Function& f, ir::Block& code, std::size_t which);
void plant_around(ir::Function& f, ir::Block& body, std::size_t which);

}  // namespace ww::test
