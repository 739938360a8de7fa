// SPDX-License-Identifier: Apache-2.0
// Source texts of kernels with copies whose effect can be seen from outside:
//
//     fill the source        element by element, by threads, from an input
//     fill the destination   the same, from another input, so that stray writes show
//     the copy
//     dump the destination   element by element to an output
//
// Registers are filled and dumped per thread, place by place (`.local(n)` of the newer spelling),
// so that nothing of what is tested takes part.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "harness/check.h"

namespace ww::test {

using Extents = std::vector<std::int64_t>;
std::int64_t product(const Extents& extents);

/// One side of a copy.
struct Operand {
  std::string memory = "shared";  // "global", "shared", "shared.dyn", "local"
  Extents shape = {};
  std::string layout = {};     // "TileLayout(S[8, 4])"; empty: row-major
  std::string region = {};     // "[0:8, 0:4]"; empty: all
  std::int64_t registers = 0;  // local: places of a thread; global with a layout: its span
  std::int64_t elem_offset =
      0;                    // the buffer is a view that begins so many elements into its storage
  std::string view = {};    // ".permute(1, 0)", ".sub[1, 0:8]" of a buffer of the shape `viewed`,
  Extents viewed = {};      // which then has the layout
  std::int64_t places = 0;  // shared memory with replicas: how many there are in all, without gaps
};

struct CopyCase {
  std::string dtype = "float16";
  std::int64_t threads = 32;
  std::string scope = "warp";  // "thread", "warp", "wg", "cta"
  Operand dst = {}, src = {};
  Operand mask = {};          // of bools, `predicate=` of the copy; without a shape: none
  std::string settings = {};  // "dispatch=\"reg\""
  std::string around = {};    // a line that the copy stands under: "if warp == 0:"
  bool fills_dst = true;      // false: a destination without contents
  std::string target = "sm_90a";
  std::string op = "copy";  // "copy_async": its group is committed and waited for
};

/// Registers of a layout in notation, `count` places of each thread.
Operand registers(Extents shape, const std::string& notation, std::int64_t count,
                  std::string region = {});
/// Shared or global memory with a layout as text.
Operand memory(std::string name, Extents shape, std::string layout = {}, std::string region = {});
Operand shared(Extents shape, std::string layout = {}, std::string region = {});
Operand global(Extents shape, std::string region = {});
/// The other way round.
CopyCase reversed(CopyCase each);

/// "TileLayout(S[(8, 4) : (4, 1)])" from "S[(8, 4) : (4, 1)]".
std::string tile(const std::string& notation);
/// A layout with a swizzle of 2^sw rows of 2^p elements, repeated every 2^(p + at).
std::string swizzled(int p, int sw, int at, const std::string& notation);
/// "(8, 4)", "(8,)".
std::string tuple(const Extents& extents);
/// "[0:8, 0:4]"
std::string box(const Extents& begin, const Extents& extents);

/// Bits of an element type by its name.
int bits_of(std::string_view dtype);

/// Builds the text of a kernel named `kernel`, statement by statement.
class KernelText {
 public:
  /// `is_cluster`: the CTAs are those of one.
  KernelText(std::int64_t threads, std::string dtype, std::int64_t ctas = 1,
             bool is_cluster = false);

  /// The type of what is declared from here on.
  void set_dtype(std::string dtype) { dtype_ = std::move(dtype); }
  /// A parameter; inputs are those that nothing writes.
  void param(const std::string& name, const Extents& shape, const std::string& dtype = {});
  void scalar(const std::string& name);
  void line(const std::string& text);
  /// Statements of one element, `first` and `second` with its indices behind them, for every
  /// element of the shape, shared out among all threads.
  void for_elements(const Extents& shape, const std::string& to, const std::string& from);
  /// All registers of each thread.
  void for_registers(const std::string& to, const std::string& from, std::int64_t count,
                     bool is_dump);
  void sync() { line("T.cuda.cta_sync()"); }

  /// Declares the storage of an operand under that name (a parameter `<name>_in` where it is global
  /// and read, `<name>_out` where it is written).
  void declare(const std::string& name, const Operand& operand, bool is_written);
  void fill(const std::string& name, const Operand& operand);
  void dump(const std::string& name, const Operand& operand);

  [[nodiscard]] std::string text() const;

 private:
  enum class Side : std::uint8_t { To, From };
  /// A parameter with an array for each CTA.
  void param_per_cta(const std::string& name, Extents shape);
  /// As for_elements, one side an array for each CTA.
  void for_elements(const Extents& shape, const std::string& to, const std::string& from,
                    Side per_cta);
  void assign_elements(const Extents& shape, const std::string& to, const std::string& from);
  std::pair<std::string, Extents> all_of(const std::string& name, const Operand& operand);
  void declare_viewed(const std::string& name, const Operand& operand, bool is_written);

  std::int64_t threads_;
  std::int64_t ctas_;
  std::string dtype_;
  std::string params_, matches_, body_;
};

std::string source_of(const CopyCase& each);
inline Program program_of(const CopyCase& each) {
  return {.source = source_of(each), .target = each.target};
}

}  // namespace ww::test
