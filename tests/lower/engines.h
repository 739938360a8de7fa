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
#include "runtime/device.h"
#include "sim/launch.h"

namespace ww::test {

using Bytes = std::vector<std::byte>;
using Scalars = std::map<std::string, std::int64_t>;  // parameters and extents known at launch

/// The argument of one parameter. Arrays are as they lie in memory: parameters have no layouts
/// here.
struct Arg {
  std::string name = {};
  bool is_array = false;
  bool is_output = false;
  std::size_t element_bytes = 1;
  std::size_t packed = 1;  // elements of a byte, where they are smaller
  std::vector<std::int64_t> shape = {};
  Bytes bytes = {};        // of an array
  std::uint64_t bits = 0;  // of a scalar
  std::size_t scalar_bytes = 4;
};

/// Arguments for a tile program: random bits as inputs, fixed by the seed.
std::vector<Arg> make_args(const ir::Function& tile, const Scalars& scalars, std::uint64_t seed);
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
  Results expected;  // of the tile program
};

/// Shared-memory turns of a primitive as the virtual GPU counted them.
struct Turns {
  std::int64_t needed = 0;
  std::int64_t ideal = 0;
  friend bool operator==(const Turns&, const Turns&) = default;
};

// Every engine returns what it found, or what hindered it; nothing when it ended well.

/// The evaluator, on either level. What it does not evaluate is no finding.
std::optional<std::string> evaluate(const ir::Function& function, const std::vector<Arg>& args,
                                    Results& out, bool& is_evaluated);

/// PTX on the virtual GPU.
struct Loaded {
  std::shared_ptr<const sim::Program> program;
  std::uint32_t shared_unit = 1;  // dynamic shared memory comes in so many bytes
};
/// The virtual GPU, with all checks. `turns` by primitive where the PTX names them; may be null.
std::optional<std::string> simulate(const Loaded& loaded, const ir::Function& lowered,
                                    const std::vector<Arg>& args, Results& out,
                                    std::vector<Turns>* turns);

/// A device, which need not know what was written: the kernel runs twice, on outputs that are
/// filled differently, and must leave the same.
std::optional<std::string> run_on(runtime::Device& device, const std::string& ptx,
                                  const ir::Function& lowered, const std::vector<Arg>& args,
                                  Results& out);

/// The first element that is not as expected.
std::optional<std::string> difference_of(const std::vector<Arg>& args, const Results& expected,
                                         const Results& seen);

}  // namespace ww::test
