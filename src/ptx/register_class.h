// SPDX-License-Identifier: Apache-2.0
// Register classes as NVPTX has them, and %b: which class holds a value of a type, how classes contain each
// other, the declarations of a kernel, and the spelling of operands.
//
//   id  class    bits  declared  prefix  holds
//    0  %p          1  .pred     %p      predicates
//    1  %rs        16  .b16      %rs     8- and 16-bit values
//    2  Special    32  no                %tid, %laneid, …
//    3  %r         32  .b32      %r      32-bit values
//    4  %f         32  no        %f      a float view of registers of %r
//    5  %rd        64  .b64      %rd     64-bit values, doubles included
//    6  %rq       128  .b128     %rq     128-bit values
//    7  %b          8  .b8       %b      pairs of 4-bit floats: `cvt` takes them in no other
//
// %f is a subclass of both %r and Special and the only link between them, so a copy between those
// two goes through it. It is never declared: its registers are those of %r. (In LLVM's own naming
// this class is `B32_and_SpecialRegs`, which TableGen makes of two classes that share members: the
// intersection of the 32-bit and the special registers.)
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "isa/type.h"
#include "ptx/module.h"

namespace ww::ptx {

enum class RegisterClass : std::uint8_t {
  P = 0,
  Rs = 1,
  Special = 2,
  R = 3,
  F = 4,
  Rd = 5,
  Rq = 6,
  B = 7
};
inline constexpr std::size_t kRegisterClasses = 8;

struct RegisterClassInfo {
  RegisterClass id;
  std::string_view name;  // "%r", "Special"
  int bits;
  std::string_view declaration;  // ".b32"; "INTERNAL" where nothing is declared
  std::string_view prefix;       // "%r"; "%f" of the view; "" of Special
  std::string_view holds;
};

const RegisterClassInfo& info(RegisterClass cls);
std::span<const RegisterClassInfo> register_classes();

/// The class for values of a type: `.f32` is in %f, `.f64` in %rd, `.b8` in %rs, but
/// `.e2m1x2` in %b. Types without a register type (narrow floats in vectors) are in the class of
/// their width.
RegisterClass class_of(isa::Type type);
/// Whether its registers are declared with `.reg`: those of %f are registers of %r, and special
/// ones are there already.
bool is_declared(RegisterClass cls);
/// Whether every register of `sub` is one of `super`.
bool is_subclass(RegisterClass sub, RegisterClass super);
/// The largest class that both contain, for a copy from one to the other; nullopt if the copy needs
/// a conversion.
std::optional<RegisterClass> common_class(RegisterClass a, RegisterClass b);

/// Which registers a function uses, and the declarations for them.
class RegisterUse {
 public:
  /// Register `index` of the class is used. A view counts as the class it views; special registers
  /// do not count.
  void note(RegisterClass cls, std::uint32_t index);
  /// The highest index used plus one.
  [[nodiscard]] std::uint32_t count(RegisterClass cls) const;
  /// One `\t.reg .b32 %r<N>;` line per class that is used, in class order.
  [[nodiscard]] std::string declarations() const;

 private:
  std::array<std::uint32_t, kRegisterClasses> counts_{};
};

/// How operands are spelled.
enum class RegisterStyle : std::uint8_t {
  Assembled,  // under the declared names: what ptxas takes
  Views,      // floats as %f and %fd over the same numbers: for reading, does not assemble
};

/// "%r5", or "%f5" for an `.f32` value in the style of views.
std::string register_name(isa::Type type, std::uint32_t index,
                          RegisterStyle style = RegisterStyle::Assembled);

// --- register views ------------------------------------------------------------------------------
//
// A module in the style of views (ptx/register_class.h): registers that an instruction takes for
// floats are spelled %f and %fd, over the same numbers. That is for reading; nothing declares these
// names, and ptxas refuses them.

/// The module with such names. Fails where it names no known target; an instruction that is not
/// legal stays as it is.
Result<Module> with_float_views(const Module& module);

}  // namespace ww::ptx
