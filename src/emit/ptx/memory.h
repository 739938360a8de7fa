// SPDX-License-Identifier: Apache-2.0
// Loads, stores and copies.
#pragma once

#include "emit/ptx/context.h"

namespace ww::emit::to_ptx {

Lanes load(Context& c, const ir::Expr& expr);
void store(Context& c, const ir::Stmt& stmt);
/// `T.copy_bytes`.
void copy_bytes(Context& c, const ir::Expr& expr);

/// Elements that follow each other.
Lanes load_run(Context& c, const Address& from, DType type, std::size_t count,
               bool is_constant = false);
/// `since`: code.now() before the values were computed.
void store_run(Context& c, const Address& to, DType type, const Lanes& values, std::uint32_t since,
               Guard guard = {});

}  // namespace ww::emit::to_ptx
