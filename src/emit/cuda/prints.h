// SPDX-License-Identifier: Apache-2.0
// printf.
#pragma once

#include "emit/cuda/context.h"

namespace ww::emit::cuda {

Text print(Context& c, const Expr& expr);

}  // namespace ww::emit::cuda
