// SPDX-License-Identifier: Apache-2.0
// The kernel being written: the data that the whole emitter works on. Functions that take it as
// their first parameter do the work, by topic:
//
//   emit.cpp      the module, parameters, arrays     memory.h    loads, stores, copies, pointers
//   stmts.h       statements and instructions        calls.h     functions, shuffles, atomics, printf
//   exprs.h       expressions, lane by lane          math.h      mathematics
//   integers.h    integer and bool operators         casts.h     conversions, float operators
//
// Values: bool is a predicate; integers of 8 and 16 bits are computed in 32 bits and kept extended;
// float16 and bfloat16 are 16-bit registers; narrower floats are their bits in a 32-bit register;
// pointers are addresses of a state space for as long as it is known.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "emit/ptx/address.h"
#include "emit/ptx/declarations.h"
#include "emit/ptx/emit.h"
#include "emit/ptx/kernel_code.h"
#include "emit/ptx/locals.h"
#include "ir/known_words.h"
#include "ir/launch/launch.h"
#include "ir/ptx_placement.h"
#include "ir/simplify/simplify.h"

namespace ww::emit::to_ptx {

/// The lanes of a vector; one for a scalar.
using Lanes = std::vector<Value>;

/// The value of a variable: for a pointer, where it leads; for anything else, its lanes.
struct Bound {
  Lanes lanes = {};
  std::optional<Address> address = {};
};

struct Param {
  std::string name;
  std::int64_t align = 16;  // of the memory behind a pointer: what the code relies on, in bytes
};

/// Where a buffer in memory begins: bytes from the start of an array.
struct ArrayPlace {
  std::string symbol = {};
  std::int64_t offset = 0;
};

struct Loop {
  std::string next = {};  // where `continue` goes
  std::string end = {};   // where `break` goes
  bool is_continued = false;
  bool is_broken = false;
};

/// What an instruction's form makes of its operands, and what it says about each.
struct FormPlacement {
  struct Shape {
    std::optional<isa::Type> type = {};
    bool is_listed = false;  // in braces
  };
  std::vector<ir::PlacedOperand> operands = {};
  std::vector<Shape> shapes = {};  // of these
};

/// Expressions of the statement that are computed already.
using Kept = std::unordered_map<std::uint32_t, Lanes>;

struct Context {
  Context(const ir::Function& function, const PtxOptions& ptx_options, ir::LaunchShape launch);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const ir::Function& f;
  const PtxOptions& options;
  ir::LaunchShape shape;
  ir::Facts facts;
  ir::Ranges ranges;
  ir::KnownWords known;

  KernelCode code;
  Locals locals;
  Declarations declared;
  std::vector<Param> params;
  std::vector<Bound> vars;           // by variable
  std::vector<ArrayPlace> in_array;  // by buffer

  /// By form and number of operands: the first way to place them, which nearly always is the one;
  /// nothing where there is none.
  std::map<std::pair<const isa::Binding*, std::size_t>, std::optional<FormPlacement>> placements;
  Kept kept;
  std::vector<Loop> loops;                    // that are open, the innermost last
  std::optional<SourceText::Position> place;  // where the last `.loc` is
  std::optional<Diag> error;                  // the first; what is written after it does not matter
};

/// Says that PTX cannot express something at the place being written.
template <typename... Args>
void refuse(Context& c, fmt::format_string<Args...> format, Args&&... args) {
  if (c.error) return;
  c.error =
      diag(DiagKind::NotEmitted, format, std::forward<Args>(args)...).with_span(c.code.span());
}

}  // namespace ww::emit::to_ptx
