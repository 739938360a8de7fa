// SPDX-License-Identifier: Apache-2.0
// Loads, stores and copies, and the targets of pointers.
#pragma once

#include <span>

#include "emit/ptx/context.h"
#include "isa/operand.h"

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

// --- pointers ------------------------------------------------------------------------------------
//
// What pointers lead to, and addresses in registers.

Address address(Context& c, ExprId pointer);
/// Of `T.ptr_byte_offset` and its like for elements.
Address offset_address(Context& c, const ir::Expr& expr);
Address start_of(Context& c, BufferId buffer);
Address element(Context& c, BufferId buffer, std::span<const ExprId> indices);
void add_index(Context& c, Address& to, ExprId index, std::int64_t scale_bits);
/// The same place, whatever is written to variables later.
Address settled(Context& c, Address address);

/// For an instruction of the address's own state space.
Arg operand(Context& c, const Address& address);
/// For one of another; refuses what cannot be converted.
Arg operand_in(Context& c, const Address& address, isa::Space space);
/// The whole address in a register: generic, or of a state space that it is known to be in.
Value generic(Context& c, const Address& address);
Value window(Context& c, const Address& address, Space space);

}  // namespace ww::emit::to_ptx
