// SPDX-License-Identifier: Apache-2.0
// Source texts of kernels with elementwise primitives on registers: every buffer is filled register
// by register from an input, the primitives follow, and every register is written out, those that
// nothing should touch as well.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engines/programs.h"

namespace ww::test {

/// A buffer in registers.
struct Reg {
  std::string name;
  std::string dtype = "float32";
  Extents shape = {};
  std::string layout = {};   // in notation
  std::int64_t slots = 1;    // of a thread
  std::string row = "tid";   // of its input, by thread: what replicas share
  std::int64_t period = 0;   // its input repeats after so many registers; 0: it does not
  std::int64_t offset = -1;  // a view of the buffer before it, beginning at this byte of it
};

struct ElementwiseCase {
  std::int64_t threads = 32;
  std::vector<Reg> regs = {};
  std::vector<std::string> calls = {};  // lines; scopes are written out: "Tx.warp.add(A, B, C)"
  std::string target = "sm_90a";
  Inputs inputs = Inputs::Bits;
  double tolerance = 0;
  Scalars scalars = {};  // parameters of type int32
};

std::string source_of(const ElementwiseCase& each);
Program program_of(const ElementwiseCase& each);

/// "Tx.warp." for "warp", "Tx." for "thread".
std::string prefix_of(const std::string& scope);
/// A tile of 8 elements in each thread of the scope, in order: rows of 8, or 8 numbers at thread
/// scope.
Reg row_reg(const std::string& name, const std::string& dtype, const std::string& scope,
            std::int64_t threads);
/// A tile with any layout.
Reg reg(std::string name, std::string dtype, Extents shape, std::string layout, std::int64_t slots,
        std::string row = "tid");

/// Who executes a primitive, and how many threads there are.
struct UnitOfRows {
  std::string scope;
  std::int64_t threads;
};
/// One call on row_reg tiles of these types, `D`, `A`, `B` and `C` in turn.
ElementwiseCase on_rows(const UnitOfRows& unit, const std::vector<std::string>& dtypes,
                        const std::string& call);

}  // namespace ww::test
