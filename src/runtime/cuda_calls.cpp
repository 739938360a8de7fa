// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda_calls.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace ww::runtime {

namespace {

template <typename Function>
bool find(void* library, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, symbol));
  return function != nullptr;
}

}  // namespace

Result<CudaCalls> load_cuda_calls(const std::string& library) {
  // Never closed: the driver has threads of its own and does not like to go.
  void* const handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (handle == nullptr) {
    const char* const reason = ::dlerror();
    return fail(
        diag(DiagKind::NoDriver, "there is no CUDA driver here: `{}` cannot be loaded", library)
            .with_note(reason == nullptr ? "no reason is given" : reason));
  }
  CudaCalls calls;
#define WW_CUDA_CALL(member, symbol, parameters)                                                 \
  if (!find(handle, #symbol, calls.member))                                                      \
    return fail(DiagKind::OldDriver, "the CUDA driver `{}` is too old: it has no `{}`", library, \
                #symbol);
#define WW_CUDA_LATER_CALL(member, symbol, parameters) find(handle, #symbol, calls.member);
#include "runtime/cuda_calls.def"
#undef WW_CUDA_CALL
  return calls;
}

// --- cuda errors ---------------------------------------------------------------------------------

std::string cuda_words(const CudaCalls& calls, int status) {
  const char* name = nullptr;
  const char* text = nullptr;
  if (calls.error_name(status, &name) != kCudaSuccess || name == nullptr)
    return fmt::format("CUDA error {}", status);
  if (calls.error_string(status, &text) != kCudaSuccess || text == nullptr) return name;
  return fmt::format("{} ({})", name, text);
}

// Numbers of cuda.h.
DiagKind kind_of_cuda_status(int status) {
  switch (status) {
    case 2:  // OUT_OF_MEMORY
      return DiagKind::OutOfMemory;
    case 222:  // UNSUPPORTED_PTX_VERSION
      return DiagKind::OldDriver;
    case 100:  // NO_DEVICE
    case 209:  // NO_BINARY_FOR_GPU
      return DiagKind::NoDevice;
    case 700:  // ILLEGAL_ADDRESS
    case 710:  // ASSERT
    case 714:  // HARDWARE_STACK_ERROR
    case 715:  // ILLEGAL_INSTRUCTION
    case 716:  // MISALIGNED_ADDRESS
    case 717:  // INVALID_ADDRESS_SPACE
    case 718:  // INVALID_PC
    case 719:  // LAUNCH_FAILED: `trap`, too
      return DiagKind::Trapped;
    default:
      return DiagKind::DeviceError;
  }
}

Diag cuda_failure(const CudaCalls& calls, int status, std::string_view what) {
  return diag(kind_of_cuda_status(status), "{} failed: {}", what, cuda_words(calls, status));
}

Result<void> check_cuda(const CudaCalls& calls, int status, std::string_view what) {
  if (status == kCudaSuccess) return {};
  return fail(cuda_failure(calls, status, what));
}

}  // namespace ww::runtime
