// SPDX-License-Identifier: Apache-2.0
// The arguments of a kernel as they are given on the command line: `NAME=SPEC` for parameters and
// for extents known at launch, `NAME=FILE` for what is written afterwards, expectations by names.
// What is not given gets contents of its own: nothing for buffers that are only written, `randn`
// for floats, `arange` for integers.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "driver/args/array.h"
#include "driver/expect/expect.h"
#include "ir/function.h"

namespace ww::driver {

/// Bytes of arrays that the virtual GPU and the evaluator take: their checks need ten to forty
/// times as much memory of the host.
inline constexpr std::int64_t kMaxHostBytes = std::int64_t{1} << 30;

struct ByteLimit {
  std::int64_t bytes = 0;
  std::string whose;  // "the virtual GPU"
};

struct ArgRequest {
  std::vector<std::string> args = {};     // NAME=SPEC
  std::vector<std::string> outs = {};     // NAME=FILE
  std::vector<std::string> expects = {};  // driver/expect/expect.h
  /// What all arrays together may take, and who says so; asked when they take more than
  /// kMaxHostBytes. Empty when nothing does.
  std::function<ByteLimit()> most_bytes = {};
  /// Shows a place of the kernel's source. Empty: places are left out.
  std::function<std::string(const Diag&)> show = {};
};

/// A buffer to be written to a file.
struct OutFile {
  std::size_t param = 0;
  std::string path;
};

/// Arrays for all parameters of a kernel.
class KernelArgs {
 public:
  /// Reads all texts and makes the arrays. What is wrong is added to `errors`, rendered; nothing is
  /// returned then. The function must outlive the result.
  static std::optional<KernelArgs> read(const ir::Function& function, const ArgRequest& request,
                                        std::string& errors);

  [[nodiscard]] std::size_t count() const { return arrays_.size(); }
  /// Scalars have no dimensions.
  [[nodiscard]] Array& array(std::size_t param) { return arrays_[param]; }
  [[nodiscard]] const Array& array(std::size_t param) const { return arrays_[param]; }
  /// Without contents before the run.
  [[nodiscard]] bool is_output(std::size_t param) const { return is_output_[param]; }
  /// A pointer, with or without a buffer matched to it.
  [[nodiscard]] bool is_buffer(std::size_t param) const;
  /// That of the buffer, if it has one.
  [[nodiscard]] std::string name_of(std::size_t param) const;
  /// `$2`, a parameter's name, or that of its buffer.
  [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const;

  [[nodiscard]] const std::vector<OutFile>& outs() const { return outs_; }
  [[nodiscard]] const std::vector<Expectation>& expectations() const { return expectations_; }
  /// What the array was when this was read, if an expectation asks for it; null for outputs.
  [[nodiscard]] const Array* before(std::string_view name) const;

 private:
  friend class ArgReader;
  explicit KernelArgs(const ir::Function& function) : function_(&function) {}

  const ir::Function* function_;
  std::vector<Array> arrays_;
  std::vector<bool> is_output_;
  std::vector<OutFile> outs_;
  std::vector<Expectation> expectations_;
  std::vector<std::pair<std::size_t, Array>> before_;  // by parameter
};

}  // namespace ww::driver
