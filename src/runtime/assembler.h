// SPDX-License-Identifier: Apache-2.0
// NVIDIA's assembler and disassembler, if installed: PTX in, a cubin or remarks on slow machine
// code out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/sass.h"
#include "target/target.h"

namespace ww::runtime {

// --- ptxas remarks -------------------------------------------------------------------------------
//
// What ptxas says in passing, with exit status 0: remarks C7504 to C7520, by which wgmma instructions
// wait for one another or `setmaxnreg` is ignored. A kernel that should be fast is slow then, and
// nothing else says so.

struct PtxasRemark {
  std::string line;      // ptxas's own words
  std::string_view why;  // what brings it about, and what to do
};

/// Those in ptxas's output that cost speed; repaired ones (C7517, C7519) are not among them.
std::vector<PtxasRemark> slow_remarks(std::string_view output);

/// The default folder of CUDA's programs.
inline constexpr std::string_view kCudaPrograms = "/usr/local/cuda/bin";

/// Where to look for a program; the environment is the caller's to read.
struct ToolSearch {
  std::string given = {};  // the path of it; empty: search
  std::string path = {};   // folders, with `:` between them, as in PATH
};

/// The path of `ptxas`: the one given, or the first in the folders, or that of /usr/local/cuda. Io
/// if there is none, with the places searched.
Result<std::string> find_ptxas(const ToolSearch& search);
/// The same for `nvdisasm`.
Result<std::string> find_nvdisasm(const ToolSearch& search);

/// What is done about remarks that cost speed.
enum class SlowRemarks : std::uint8_t { Refuse, Allow };

/// Runs `ptxas` on the text. DeviceError with its messages when it refuses or has such remarks, Io
/// when it cannot be run. Leaves no file behind.
Result<std::string> assemble(const std::string& ptxas, std::string_view ptx, target::Arch arch,
                             SlowRemarks slow = SlowRemarks::Refuse);

/// What `ptxas` says of a kernel.
struct AssembledSize {
  std::uint32_t registers = 0;  // of a thread
  std::uint32_t local = 0;      // bytes of a thread: its stack, with spilled registers
  std::uint32_t spills = 0;     // bytes of spill stores and loads
  std::vector<PtxasRemark> remarks = {};
};
/// Runs `ptxas` on a text with one kernel. Fails as `assemble` does, and with DeviceError when its
/// messages do not say it.
Result<AssembledSize> assembled_size(const std::string& ptxas, std::string_view ptx,
                                     target::Arch arch);

/// Where the programs are that read_sass runs.
struct SassTools {
  ToolSearch ptxas = {}, nvdisasm = {};
};
/// Assembles a kernel of a text, disassembles it, and says what is slow in the machine code and in
/// ptxas's messages. Io when a program is not there or cannot be run; DeviceError when one refuses,
/// or says what cannot be read.
Result<std::vector<SassRemark>> read_sass(const SassTools& tools, std::string_view ptx,
                                          target::Arch arch, const std::string& kernel);

/// The machine code of a kernel as `nvdisasm` lists it, with lines of PTX (runtime/sass.h reads it).
/// Fails as read_sass does.
Result<std::string> sass_listing(const SassTools& tools, std::string_view ptx, target::Arch arch,
                                 const std::string& kernel);

}  // namespace ww::runtime
