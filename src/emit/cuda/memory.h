// SPDX-License-Identifier: Apache-2.0
// Buffers and pointers, and vectors of their elements.
#pragma once

#include "emit/cuda/context.h"

namespace ww::emit::cuda {

std::string element(Context& c, BufferId buffer, const SmallVec<ExprId, 3>& indices, Span span);
std::string element_at(Context& c, BufferId buffer, const std::string& index, Span span);
Text load(Context& c, const Expr& expr);
/// Writes a store of an element that shares its byte; false for all others.
bool store_packed(Context& c, const Stmt& stmt);

/// Of `T.address_of` and a buffer's data.
Text pointer(Context& c, const Expr& expr);
/// A pointer of another type.
std::string pointer_as(Context& c, ExprId id, ir::Type wanted);
/// pointer_offset and ptr_byte_offset.
std::string offset_pointer(Context& c, const Expr& expr);

void alloc(Context& c, const Stmt& stmt);
void declare(Context& c, const Stmt& stmt);

// --- vectors -------------------------------------------------------------------------------------
//
// Vector expressions.

std::string vector_text(Context& c, ExprId id);
Text lane(Context& c, ExprId id, const Lane& lane);
/// Lane `lane` of a shuffle: which of the vectors' lanes it takes.
Text shuffled(Context& c, const Expr& expr, const Lane& lane);
void vector_store(Context& c, const Stmt& stmt);

}  // namespace ww::emit::cuda
