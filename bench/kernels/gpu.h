// SPDX-License-Identifier: Apache-2.0
// Kernels compiled and made ready for the GPU, several at once.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/source.h"
#include "driver/build.h"
#include "ir/function.h"
#include "runtime/cuda_device.h"

namespace ww::bench {

/// A message in one line, with its notes; of messages that show lines of the source, the first line
/// and the notes.
std::string words_of(const Diag& problem);

/// Compiles a kernel up to PTX; empty `expression`: the only one of the text. BadArgument with the
/// compiler's messages.
Result<driver::Build> build_for(const target::Target& target, const SourceText& source,
                                const std::string& expression);

/// The launch that a lowered kernel of constant extents describes.
Result<runtime::Launch> launch_of(const ir::Function& lowered,
                                  std::vector<runtime::Value> arguments);

/// The GPU with any number of kernels, which see the same memory.
class Gpu {
 public:
  /// NoDevice when there is none.
  static Result<Gpu> open(const runtime::CudaCalls& calls);
  Gpu(Gpu&&) = default;
  Gpu& operator=(Gpu&&) = delete;
  ~Gpu();

  /// For memory, and whatever is no kernel.
  [[nodiscard]] runtime::CudaDevice& memory() const { return *devices_.front(); }
  /// A device of its own for the kernel; it lives as long as this one.
  Result<runtime::CudaDevice*> load(const driver::Build& build);
  /// After a kernel failed there: nothing here is of use any more.
  void lose(runtime::CudaDevice& device) { lost_ = &device; }
  [[nodiscard]] bool is_lost() const { return lost_ != nullptr; }

 private:
  explicit Gpu(const runtime::CudaCalls& calls) : calls_(calls) {}
  Result<runtime::CudaDevice*> add_device();

  runtime::CudaCalls calls_;
  std::vector<std::unique_ptr<runtime::CudaDevice>> devices_;
  runtime::CudaDevice* lost_ = nullptr;
};

}  // namespace ww::bench
