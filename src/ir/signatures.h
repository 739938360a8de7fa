// SPDX-License-Identifier: Apache-2.0
// The arguments of the functions of intrinsics.def (signatures.def).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diag.h"
#include "ir/function.h"

namespace ww::ir {

enum class ParamKind : std::uint8_t {
  Float,  // mathematics: all arguments are floats of one type
  Number,
  Scalar,
  Value,
  Integer,
  Mask,
  Condition,
  Text,
  Reduction,
  Width,
  Warps,
  Barrier,
  Bytes,
  Pointer,
  Global,
  Shared,
  Memory,
  Scratch,
  Pointee,
  Any
};

struct IntrinsicParam {
  std::string_view name;
  ParamKind kind;
  bool is_rest = false;  // `*name`: any number
};
const std::vector<IntrinsicParam>& params_of(Intrinsic intrinsic);
/// "T.cuda.cta_reduce(value, op, num_warps, scratch)".
std::string signature_text(Intrinsic intrinsic);

/// The text of a literal; empty for any other expression.
std::string_view literal_text(const Function& function, ExprId id);

/// A part of a printf format, in which escapes and `%%` are replaced already. Anything but flags, width
/// and precision is dropped, so that the program's text cannot ask for other arguments.
struct PrintPart {
  std::string text =
      {};           // as it is printed; of a conversion its flags, width and precision: "%-5.2"
  char letter = 0;  // of the conversion, '*' for what is none; 0: a text
  ExprId arg = {};  // of a conversion
};
std::vector<PrintPart> print_parts(std::string_view format);
/// The same of a call, with its arguments; those of `%s` are texts.
std::vector<PrintPart> print_parts(const Function& function, const Expr& call);
/// Does the conversion take a float?
bool takes_float(char letter);
/// As a format has it for a text.
std::string doubled_percents(std::string_view text);

/// The values of T.let names, by VarId; ExprId{} for other variables.
std::vector<ExprId> bound_values(const Function& function);
/// The buffer that a pointer leads into, through offsets and the names of `bound`; none when it
/// comes from elsewhere.
BufferId pointed_to(const Function& function, const std::vector<ExprId>& bound, ExprId pointer);

/// What is wrong with the arguments of a call, at the first that does not fit its parameter.
/// Pointers bound to names are followed through `bound`.
std::optional<Diag> fault_of_call(const Function& function, const Expr& call,
                                  const std::vector<ExprId>& bound = {});

}  // namespace ww::ir
