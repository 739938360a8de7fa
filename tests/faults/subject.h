// SPDX-License-Identifier: Apache-2.0
// A program that faults are planted in, and who notices them: the proof, when a variant has written
// the code; and with the proof passed over whoever comes next: what builds the program (verifier,
// emitter, assembler of the virtual GPU), the checks of the virtual GPU while it runs, and the
// comparison of its results with the evaluator's.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "faults/faults.h"
#include "harness/engines.h"
#include "target/target.h"

namespace ww::test {

struct SubjectText {
  std::string name;
  std::string source;
  std::string kernel = {};
  std::string target = "sm_90a";
};

/// One fault and what everybody said of it; empty: nothing.
struct Sentence {
  std::string program = {};
  std::string primitive = {};  // "copy by ldstmatrix"; empty: around primitives
  FaultKind kind = FaultKind::Stride;
  std::string what = {};
  std::string proof = {}, build = {}, checks = {}, comparison = {};

  [[nodiscard]] bool is_caught() const {
    return !proof.empty() || !build.empty() || !checks.empty() || !comparison.empty();
  }
  /// "transpose | copy by reg | wrong stride | `x * 8` twice as far"
  [[nodiscard]] std::string text() const;
};

class Subject {
 public:
  /// Compiles and evaluates the program as it is; fails the test where that does not work.
  explicit Subject(const SubjectText& text);

  /// All faults, each tried by itself. At most `limit` of a kind in a primitive, spread over it.
  std::vector<Sentence> try_all(std::size_t limit) const;

 private:
  struct Place {
    std::optional<std::size_t> call;  // none: around
    std::string primitive;
    std::vector<Fault> faults;
  };
  [[nodiscard]] std::vector<Place> places() const;
  [[nodiscard]] Sentence attempt(const Place& place, std::size_t which) const;
  void run(const ir::Function& lowered, Sentence& out) const;

  SubjectText text_;
  target::Target target_;
  std::optional<ir::Function> tile_;
  std::vector<Arg> args_;
  Results expected_;
};

}  // namespace ww::test
