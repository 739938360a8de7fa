// SPDX-License-Identifier: Apache-2.0
#include "cli/source_options.h"

#include <algorithm>

#include "driver/run/tool.h"

namespace ww::cli {

namespace {
constexpr std::string_view kDialects[] = {"d1", "d2"};
constexpr const char* kKernelHelp =
    "which kernel: any host expression over the file's names, e.g. 'build(2)[0]';\n"
    "::NAME takes the kernel NAME that the expression defines;\n"
    "@FILE takes the expression that `warpwright tune -o FILE` found\n"
    "(default: the only kernel of the file)";
}  // namespace

void declare_source(OptionSet& set, driver::SourceRequest& request,
                    const std::string& kernel_help) {
  set.argument("FILE", request.path, Need::Required, "a Python file with kernels");
  declare_kernel(set, request, kernel_help);
}

void declare_kernel(OptionSet& set, driver::SourceRequest& request,
                    const std::string& kernel_help) {
  set.text("--kernel", "EXPR[::NAME]", request.kernel,
           kernel_help.empty() ? kKernelHelp : kernel_help);
  set.text("--target", "ARCH", request.target,
           "an architecture such as sm_90a\n"
           "(default auto: the GPU's own; without a GPU sm_100a for kernels with tensor memory,\n"
           "sm_90a for others, or the smallest target that has their instructions)");
  set.offer(driver::target_names());
  set.choice("--dialect", "D", request.dialect, kDialects,
             "the order of .local(): d1 by iters, d2 by place (default: as the file is written)");
}

void declare_args(OptionSet& set, driver::ArgRequest& request) {
  set.texts("--arg", "NAME=SPEC", request.args,
            "an argument, by the name of the parameter or of its buffer:\n"
            "arange, zeros, ones, eye, full:X, list:X,Y,..., randn[:SEED], rand,\n"
            "randint[:LO,HI,SEED]\n"
            "@FILE.npy[:TYPE]    the array of a file; raw items are read as the buffer's TYPE\n"
            "VALUE               a scalar, or a run-time extent\n"
            "(default: results stay undefined, floats get randn, integers arange)");
}

void declare_expects(OptionSet& set, driver::ArgRequest& request) {
  set.texts("--expect", "EXPR", request.expects,
            "what must hold after the run: 'B == A.T', 'D ~= A @ B', 'A == before(A) + 1'");
}

void declare_device(OptionSet& set, std::string& device, std::span<const std::string_view> names) {
  std::string help = "where it runs (default auto):";
  for (const driver::DeviceRow& each : driver::device_rows()) {
    if (std::ranges::find(names, each.name) == names.end()) continue;
    help += "\n" + std::string(each.name);
    help.append(6 - each.name.size(), ' ');
    help += each.help;
  }
  set.choice("--device", "D", device, names, help);
}

}  // namespace ww::cli
