// SPDX-License-Identifier: Apache-2.0
// What calls on a GPU share.
#pragma once

#include "runtime/cuda_calls.h"

namespace ww::python {

/// The driver's functions, loaded at the first use and kept. Raises where there is no driver.
const runtime::CudaCalls& cuda_calls();

}  // namespace ww::python
