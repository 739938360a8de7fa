// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda_calls.h"

#include <dlfcn.h>

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

}  // namespace ww::runtime
