// SPDX-License-Identifier: Apache-2.0
// The engines that give a kernel a meaning, behind one form: arguments in, what they left in the
// arrays out, or the reason why there is nothing to compare.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/function.h"
#include "num/dtype.h"
#include "runtime/device.h"
#include "sim/launch.h"

namespace ww::test {

using Bytes = std::vector<std::byte>;
using Scalars = std::map<std::string, std::int64_t>;  // parameters and extents known at launch

/// What inputs hold: any bits; floats that are small whole numbers, whose sums and products are
/// exact in any order (other types any bits); floats near 0 as data usually are, normally
/// distributed; any bits mixed with edge values of the type (harness/edges.h), and then outputs may
/// hold any NaN where a NaN is expected, because its payload is not part of the language.
enum class Inputs : std::uint8_t { Bits, Whole, Normal, Edges };

/// The argument of one parameter. Arrays are as they lie in memory: parameters have no layouts
/// here.
struct Arg {
  std::string name = {};
  bool is_array = false;
  bool is_output = false;
  bool has_any_nan = false;   // one NaN is as good as another
  bool has_any_zero = false;  // and -0 is as good as 0
  num::DType dtype = num::DType::Uint8;
  std::size_t element_bytes = 1;
  std::size_t packed = 1;  // elements of a byte, where they are smaller
  std::vector<std::int64_t> shape = {};
  Bytes bytes = {};        // of an array
  std::uint64_t bits = 0;  // of a scalar
  std::size_t scalar_bytes = 4;
};

/// Arguments for a tile program: random inputs, fixed by the seed.
std::vector<Arg> make_args(const ir::Function& tile, const Scalars& scalars, std::uint64_t seed,
                           Inputs inputs = Inputs::Bits);
/// A lowered program has the extents that are known at launch only as further parameters.
void add_lowered_args(std::vector<Arg>& args, const ir::Function& lowered, const Scalars& scalars);

/// What an engine left in the arrays: bytes, and which elements of outputs it wrote.
struct Results {
  std::vector<Bytes> arrays = {};
  std::vector<std::vector<bool>> written = {};
};

/// A kernel that is right so far, with all that a further engine needs to run and compare it.
struct Ran {
  std::string target = {};
  ir::Function lowered;
  std::vector<Arg> args;
  Results expected;      // of the tile program; of the virtual GPU where there is a tolerance
  double tolerance = 0;  // of what follows
};

/// Shared-memory turns of a primitive as the virtual GPU counted them.
struct Turns {
  std::int64_t needed = 0;
  std::int64_t ideal = 0;
  friend bool operator==(const Turns&, const Turns&) = default;
};

// Every engine returns what it found, or what hindered it; nothing when it ended well.

/// The evaluator, on either level. What it does not evaluate is no finding. `schedule` is the seed
/// of the order that threads run in; 0: its own.
std::optional<std::string> evaluate(const ir::Function& function, const std::vector<Arg>& args,
                                    Results& out, bool& is_evaluated, std::uint64_t schedule = 0);

/// A kernel with its arguments on the virtual GPU.
class VirtualRun {
 public:
  VirtualRun(std::shared_ptr<const sim::Program> program, const ir::Function& lowered,
             const std::vector<Arg>& args);
  /// Dynamic shared memory comes in multiples of `shared_unit` bytes.
  Result<sim::LaunchReport> run(const sim::RunOptions& options, std::uint32_t shared_unit = 1);
  /// What it left in the arrays.
  void collect(Results& out) const;
  [[nodiscard]] const sim::Code& kernel() const { return *launch_.kernel; }

 private:
  const ir::Function& lowered_;
  const std::vector<Arg>& args_;
  sim::Device device_;
  sim::Launch launch_;
  std::vector<sim::Region*> regions_;
};

/// PTX on the virtual GPU.
struct Loaded {
  std::shared_ptr<const sim::Program> program;
  std::uint32_t shared_unit = 1;  // dynamic shared memory comes in so many bytes
  // nvcc loads a row of three as a vector of four: what it reads beside is no race of the program.
  bool reads_beside = false;
};
/// The order in which warps run that the virtual GPU has where none is asked for.
inline const sim::Schedule kDeviceOrder = sim::Schedule::random(7);
/// The virtual GPU, with all checks. `turns` by primitive where the PTX names them; may be null.
std::optional<std::string> simulate(const Loaded& loaded, const ir::Function& lowered,
                                    const std::vector<Arg>& args, Results& out,
                                    std::vector<Turns>* turns,
                                    const sim::Schedule& schedule = kDeviceOrder);

/// A device, which need not know what was written: the kernel runs twice, on outputs that are
/// filled differently, and must leave the same.
std::optional<std::string> run_on(runtime::Device& device, const std::string& ptx,
                                  const ir::Function& lowered, const std::vector<Arg>& args,
                                  Results& out);

/// The number in an array of the argument, by the element's place.
double number_at(const Arg& arg, const Bytes& bytes, std::size_t unit);

/// The arguments, compared as a GPU's: a float may be any NaN where a NaN is expected. Where ptxas sees
/// that both operands of `min` or `max` are one value, or that one of `mul` is 1, it gives the value
/// itself: a NaN keeps its bits, which the instruction would change (docs/evidence/numbers.md).
std::vector<Arg> with_any_nan(std::vector<Arg> args);

/// The first element that is not as expected.
std::optional<std::string> difference_of(const std::vector<Arg>& args, const Results& expected,
                                         const Results& seen);
/// The same, where numbers may be off by `tolerance` times their size, or times 1 near 0.
std::optional<std::string> distance_of(const std::vector<Arg>& args, const Results& expected,
                                       const Results& seen, double tolerance);

}  // namespace ww::test
