// SPDX-License-Identifier: Apache-2.0
// From a lowered program (lower/lower.h says what that looks like) to a PTX module, without any
// other compiler. Every instruction is one of the catalogue for the target.
#pragma once

#include "base/result.h"
#include "base/source.h"
#include "ir/function.h"
#include "ptx/module.h"
#include "target/target.h"

namespace ww::emit {

struct PtxOptions {
  target::Target target = {};
  const SourceText* source = nullptr;  // where spans point: gives .file and .loc; none: neither
};

/// The module with one kernel, its last function. It has the function's name, unless that is an
/// instruction's or has other characters than PTX takes. Fails with NotEmitted (located) for code
/// that PTX cannot express, NotOnTarget for instructions that the target lacks.
Result<ptx::Module> ptx_module(const ir::Function& lowered, const PtxOptions& options);

}  // namespace ww::emit
