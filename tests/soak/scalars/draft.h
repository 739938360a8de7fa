// SPDX-License-Identifier: Apache-2.0
// A kernel over scalars while it is written: its text so far, the names that are in scope, and the
// outputs that must hold the same.
//
// Constants are written as `<3>` first. A statement is rendered with literals, which the front end
// computes with, or with kernel parameters of the same values, which it cannot; what both render
// must come out alike.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engines/programs.h"
#include "harness/engines.h"
#include "harness/tape.h"
#include "num/dtype.h"
#include "soak/program_text.h"

namespace ww::test {

struct ScalarName {
  std::string text;
  num::DType type = num::DType::Int32;
  bool is_mutable = false;
  bool is_uniform = false;  // the same in all threads of a CTA
  bool is_id = false;       // of a thread, a warp or a CTA
};

class ScalarDraft {
 public:
  explicit ScalarDraft(Tape& tape);

  static constexpr std::int64_t kElements = 512;  // of an input; a power of two
  static constexpr std::int64_t kSlots = 4;       // of a thread in an output that a loop writes

  Tape& tape;
  ProgramText text;
  std::string target;
  std::int64_t threads = 32, ctas = 1;
  bool may_overflow = false;      // indices: the evaluator may say so
  bool is_uniform = false;        // while what all threads of a CTA agree about is written
  std::vector<ScalarName> names;  // in scope
  Scalars values;                 // of parameters
  std::vector<std::pair<std::string, std::string>> alike;  // outputs
  std::map<std::string, std::uint64_t> kinds;              // of statements, how many

  // --- types ---

  /// Those of the language, with the target's.
  num::DType any_integer();
  num::DType any_float();
  num::DType any_number();
  [[nodiscard]] bool has_bfloat16() const { return number_ >= 80; }

  // --- text ---

  /// An input of such elements, the same one every time.
  std::string input(num::DType type);
  /// An element of a new output for each thread, and in loops for some rounds.
  std::string output(const Place& at, num::DType type);
  /// The array of the last output.
  [[nodiscard]] const std::string& last_output() const { return last_output_; }
  /// A new parameter of so many elements for each CTA.
  std::string array(num::DType type, const Extents& shape);
  /// A new scalar parameter of these bits.
  std::string parameter(num::DType type, std::uint64_t bits);
  /// `<3>`, a constant of these bits.
  std::string constant(num::DType type, std::uint64_t bits);
  /// Constants in their places, as literals or by the names of parameters.
  std::string rendered(const std::string& written, bool by_name);
  /// Either of them.
  std::string rendered(const std::string& written) { return rendered(written, tape.one_in(3)); }
  [[nodiscard]] std::string source() const;

 private:
  struct Constant {
    num::DType type;
    std::uint64_t bits;
    std::string name;  // of its parameter, once it has one
  };

  int number_ = 90;  // of the target
  std::vector<Constant> constants_;
  std::map<num::DType, std::string> inputs_;
  std::string last_output_;
};

/// "T.int8(-5)", "T.infinity(\"float16\")".
std::string literal_of(num::DType type, std::uint64_t bits);

}  // namespace ww::test
