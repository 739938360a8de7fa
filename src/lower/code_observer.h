// SPDX-License-Identifier: Apache-2.0
// Someone between a variant, which writes the code of a call, and the proof of that code: a test
// that plants faults, or looks at what is written.
#pragma once

#include <functional>

#include "ir/function.h"
#include "lower/proof/proof.h"

namespace ww::lower {

class CodeObserver {
 public:
  virtual ~CodeObserver() = default;
  /// Gets the code of one call after the other, in the order of the report, and may change it.
  /// `prove` carries out what it has become. Lowering believes the answer; one that holds lets the
  /// code pass whatever it does.
  virtual Proof observe(ir::Function& function, ir::Block& code,
                        const std::function<Proof()>& prove) = 0;
};

}  // namespace ww::lower
