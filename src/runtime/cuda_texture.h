// SPDX-License-Identifier: Apache-2.0
// A texture or surface of the virtual GPU on a real one: a CUDA array with the same texels, and the
// object that a kernel gets as its handle.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "runtime/cuda_calls.h"
#include "sim/texture/texture.h"

namespace ww::runtime {

class CudaTexture {
 public:
  /// In the current context, which outlives it. DeviceError or OutOfMemory with the driver's words
  /// where it refuses; the name is for messages.
  static Result<std::unique_ptr<CudaTexture>> make(const CudaCalls& calls,
                                                   const sim::Texture& texture,
                                                   std::string_view name);
  CudaTexture(const CudaTexture&) = delete;
  CudaTexture& operator=(const CudaTexture&) = delete;
  ~CudaTexture();

  /// The value of the kernel's parameter.
  [[nodiscard]] std::uint64_t handle() const { return handle_; }
  /// All texels, x first, without gaps, as sim::Texture has them.
  Result<void> upload(std::span<const std::byte> texels);
  Result<void> download(std::span<std::byte> texels);

 private:
  CudaTexture(const CudaCalls& calls, const sim::Texture& texture, std::string_view name)
      : calls_(calls), texture_(texture), name_(name) {}
  Result<void> create_array();
  Result<void> create_object();
  [[nodiscard]] CudaArrayCopy whole() const;

  CudaCalls calls_;
  sim::Texture texture_;
  std::string name_;
  void* array_ = nullptr;
  std::uint64_t handle_ = 0;
};

}  // namespace ww::runtime
