// SPDX-License-Identifier: Apache-2.0
#include "cli/source_options.h"

namespace ww::cli {
namespace {
constexpr std::string_view kDialects[] = {"d1", "d2"};
}  // namespace

void declare_source(OptionSet& set, driver::SourceRequest& request) {
  set.argument("FILE", request.path, Need::Required, "a Python file with kernels");
  set.text("--kernel", "EXPR[::NAME]", request.kernel,
           "which kernel: any host expression over the file's names, e.g. 'build(2)[0]';\n"
           "::NAME takes the kernel NAME defined while it is evaluated\n"
           "(default: the only kernel of the file)");
  set.text("--target", "ARCH", request.target,
           "an architecture such as sm_90a\n"
           "(default auto: on a GPU its own; else sm_100a for kernels with tensor memory, sm_90a\n"
           "for others)");
  set.choice("--dialect", "D", request.dialect, kDialects,
             "the order of .local(): d1 by iters, d2 by place (default: as the file is written)");
}

}  // namespace ww::cli
