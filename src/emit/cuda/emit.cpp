// SPDX-License-Identifier: Apache-2.0
#include "emit/cuda/emit.h"

#include "emit/cuda/host.h"
#include "emit/cuda/writer.h"

namespace ww::emit {

Result<std::string> cuda_source(const ir::Function& lowered, const CudaOptions& options) {
  cuda::Writer writer(lowered, options);
  std::string file = WW_TRY(writer.file());
  if (options.host == nullptr) return file;
  return file + WW_TRY(cuda::host_program(lowered, writer.kernel_name(), *options.host));
}

}  // namespace ww::emit
