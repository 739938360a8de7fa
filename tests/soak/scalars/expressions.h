// SPDX-License-Identifier: Apache-2.0
// Random expressions over scalars of every type. Functions that PTX approximates are left out, and
// so is what depends on the bits of a NaN, which the language does not promise.
#pragma once

#include <string>

#include "soak/scalars/draft.h"

namespace ww::test {

class Expressions {
 public:
  explicit Expressions(ScalarDraft& draft) : d_(draft), tape_(draft.tape) {}

  /// Of the type, at most so many operators deep.
  std::string of(num::DType type, int depth);
  std::string condition(int depth);
  /// An int32 of operators that addresses are usually made of.
  std::string plain_integer(int depth);
  /// An integer from 0 to before `extent`, a power of two: what arrays are indexed with.
  std::string index(std::int64_t extent);
  /// A name of the type that may be assigned; empty when there is none.
  std::string target(num::DType type);

 private:
  std::string leaf(num::DType type);
  std::string constant(num::DType type);
  std::string element(num::DType type);
  std::string named(num::DType type);
  std::string as(num::DType type, const std::string& text) const;
  std::string operand(num::DType type, int depth);

  std::string integer(num::DType type, int depth);
  std::string real(num::DType type, int depth);
  std::string infix(num::DType type, int depth, const std::vector<std::string>& operators);
  std::string call(const std::string& function, num::DType type, int depth, int count);
  std::string division(num::DType type, int depth);
  std::string divisor(num::DType type, int depth);
  std::string shift(num::DType type, int depth);
  std::string choice(num::DType type, int depth);
  std::string guarded_element(num::DType type, int depth);
  std::string converted(num::DType type, int depth);
  std::string reinterpreted(num::DType type, int depth);
  std::string mixed(num::DType type, int depth);
  std::string of_sign(num::DType type, int depth);
  std::string comparison(int depth);
  std::string over_ids(num::DType type);

  ScalarDraft& d_;
  Tape& tape_;
};

}  // namespace ww::test
