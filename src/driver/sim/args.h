// SPDX-License-Identifier: Apache-2.0
// Arguments of a kernel as the command line has them, `PARAMETER=VALUE`. The parameter is a number
// or a name in the PTX text; the value is one of
//
//   buffer:float16[8,16]:arange   global memory with that type, shape and contents (array_spec.h);
//   float16[8,16]:arange          the same
//   float16[8,16]                 without contents: an output, whose bytes are undefined
//   @in.npy, @in.npy:bfloat16     global memory with the array of a file, read as that type
//   i32:42, f32:0.5               a value
//   bytes:00ff10                  the bytes of a parameter, for structs and arrays
//   null                          a null pointer
//   tensormap(float16[64,64]:arange, box=[8,64], swizzle=128B)
//                                 a tensor map and the array it describes (tensor_arg.h)
//   tensormap(A, box=[8,64])      the same of the array of parameter A
//   texture(float32[16,32]:randn, filter=linear)
//                                 a texture and its array (tensor_arg.h); and so surface(...)
//
// Members of a parameter that is a struct have arguments of their own, by the byte that they begin
// at: `0+0=tensormap(...)`, `0+128=i32:5`.
//
// Reading one needs no kernel; `match_args` then puts them in the order of a kernel's parameters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "driver/args/array.h"
#include "driver/args/text.h"
#include "driver/sim/tensor_arg.h"
#include "ptx/module.h"
#include "sim/program.h"

namespace ww::driver {

enum class ArgKind : std::uint8_t { Buffer, File, Scalar, Bytes, Null, MapOfOther };

struct SimArg {
  std::string text;  // as it was given; the spans below are places in it
  Span key, value;
  ArgKind kind = ArgKind::Null;
  ShapedType type{};                   // of a buffer
  Span fill{};                         // its contents; not known: an output
  std::string path{};                  // of a file
  std::optional<num::DType> wanted{};  // the type to read it as
  Array scalar{};
  std::vector<std::byte> bytes{};
  std::optional<TensorMapSettings> map{};    // the parameter is a map of the memory
  std::optional<TextureSettings> texture{};  // the parameter is a handle of that
  Span other{};                              // MapOfOther: the parameter whose memory that is

  [[nodiscard]] std::string_view part(Span span) const {
    return std::string_view(text).substr(span.begin, span.end - span.begin);
  }
  [[nodiscard]] bool is_memory() const { return kind == ArgKind::Buffer || kind == ArgKind::File; }
};

/// Reads `PARAMETER=VALUE`. Diags point into `text`.
Result<SimArg> parse_sim_arg(std::string_view text);

/// `PARAMETER=FILE`: where a buffer goes after the run.
struct SimOut {
  std::string text;
  Span key, value;
  std::string path;
};
Result<SimOut> parse_sim_out(std::string_view text);

/// ".u64", or ".b8[40]".
std::string param_type_text(const sim::Param& param);
using Params = std::span<const sim::Param>;
/// "parameter 2 `n`"; the names that nvcc makes up say no more than the number and are left out.
std::string param_title(Params params, std::size_t index);
/// Adds a note for each parameter: number, name, type, bytes.
Diag with_params(Diag problem, Params params);

/// The parameter that a key means, by number or name; UnknownName or OutOfBounds at `key` of
/// `text`.
Result<std::size_t> find_param(Params params, std::string_view text, Span key);

/// A Diag and the argument it is about.
struct ArgProblem {
  Diag diag;
  std::size_t arg = 0;  // beyond the arguments: about none of them
};
struct MatchedArgs {
  /// The kernel's. Where members of a struct are given, the first of them stands in its place, the
  /// others behind the last parameter; their names are the keys.
  std::vector<sim::Param> params;
  std::vector<std::size_t> by_param;  // which argument each has
  std::optional<ArgProblem> problem;  // the first one; then by_param means nothing
};
/// Which argument is for which parameter. Problems: a parameter that does not exist, has two
/// arguments or none, or takes another number of bytes; members that overlap or are outside.
MatchedArgs match_args(Params params, std::span<const SimArg> args);

// --- which kernel --------------------------------------------------------------------------------
//
// Which kernel of a PTX module is meant.

/// How messages name the module, and say that it was not told which kernel.
struct ChoiceWords {
  std::string where;         // "the PTX"
  std::string_view unnamed;  // "none is named"
};

/// The kernel of that name; without one, the only kernel that the module has code for. BadArgument or
/// UnknownName where there is none, or where there are several; notes list them.
Result<std::string> choose_kernel(const ptx::Module& module, const std::string& wanted,
                                  const ChoiceWords& words);

}  // namespace ww::driver
