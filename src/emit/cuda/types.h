// SPDX-License-Identifier: Apache-2.0
// How element types and constants are spelled in CUDA C++.
//
//   bool             bool in expressions, a byte (int8_t) in memory
//   float16 …        half, nv_bfloat16, __nv_fp8_e4m3, __nv_fp8_e5m2
//   tfloat32         float
//   6-bit floats     uint8_t: converted by functions of our own, computed with as float
//   float8_e8m0fnu   uint8_t: it can be moved and converted to other types
//   4-bit types      uint8_t, in memory two to a byte: floats as those of 6 bits; elements can be
//                    written one by one to the thread's own arrays only
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ir/function.h"
#include "num/dtype.h"

namespace ww::emit::cuda {

// Names of the program that all files here use.
using ir::Buffer;
using ir::BufferId;
using ir::BufferOrigin;
using ir::Expr;
using ir::ExprId;
using ir::ExprOp;
using ir::Intrinsic;
using ir::Stmt;
using ir::StmtKind;
using ir::VarId;
using num::DType;

/// The type of a value.
std::string_view value_type(num::DType dtype);
/// The type of an element in memory.
std::string_view memory_type(num::DType dtype);
/// The type of an expression: "float", "ww_vec<half, 4>", "float*", "void*".
std::string type_text(ir::Type type);
/// The same for what an expression of this type is in memory: pointers as they are.
std::string memory_type(ir::Type type);

/// Two elements share a byte.
bool is_packed(num::DType dtype);
/// Can be computed with: bools, integers of whole bytes, floats but tfloat32 and powers of two.
bool is_number(num::DType dtype);
/// Floats whose arithmetic goes through float: eight bits.
bool is_fp8(num::DType dtype);
bool is_half(num::DType dtype);  // float16, bfloat16
/// Floats of 6 and 4 bits, which are converted by functions of our own.
bool is_tiny(num::DType dtype);
bool is_signed(num::DType dtype);
/// Bytes of an element in memory; of a pair for packed ones.
int bytes_of(num::DType dtype);
/// The unsigned type of as many bits: 8, 16, 32 or 64.
std::string_view unsigned_type(int bits);

/// A constant that has the type: "5", "5u", "int64_t(5)", "true".
std::string int_literal(num::DType dtype, std::int64_t value);
/// "1.5f", "__float2half_rn(1.5f)", "__int_as_float(0x7f800000)".
std::string float_literal(num::DType dtype, double value);
/// A text in quotes, as C++ reads it.
std::string quoted(std::string_view text);

/// Bits of a value or pointer in registers.
int register_bits(ir::Type type);

}  // namespace ww::emit::cuda
