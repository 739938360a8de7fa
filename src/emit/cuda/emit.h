// SPDX-License-Identifier: Apache-2.0
// From a lowered program (lower/lower.h says what that looks like) to CUDA C++ that stands alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/source.h"
#include "ir/function.h"
#include "target/target.h"

namespace ww::emit {

/// A parameter in a host program: an array or a scalar.
struct HostArgument {
  std::string name = {};
  num::DType dtype = num::DType::Float32;
  std::int64_t elements = 1;  // of an array
  bool is_array = true;
  std::uint64_t scalar_bits = 0;         // of a scalar
  std::vector<std::byte> contents = {};  // of an array before the run; empty: zeros
  std::vector<std::byte> expected = {};  // afterwards; empty: not compared
  // How far a float may be from what is expected, relative to that and beyond it; 0: equal bits.
  double rtol = 0;
  double atol = 0;
};

/// A tensor map of a host program: the arguments of cuTensorMapEncodeTiled.
struct HostMap {
  std::string name = {};
  std::size_t array = 0;    // the place of its array among the arguments
  std::int64_t offset = 0;  // bytes behind its start
  int type = 0;             // as in CUtensorMapDataType
  std::vector<std::uint64_t> dims = {}, strides = {};
  std::vector<std::int64_t> box = {};
  int swizzle = 0, promotion = 0, fill = 0;  // as in the driver's enumerations
};

/// A host program around the kernel: allocates, runs, compares.
struct HostProgram {
  std::vector<HostArgument> arguments = {};  // in the order of the kernel's parameters
  std::vector<HostMap> maps = {};            // behind the arguments
  std::int64_t grid[3] = {1, 1, 1};
  std::int64_t block[3] = {1, 1, 1};
  std::int64_t cluster[3] = {1, 1, 1};
  std::int64_t dynamic_shared_bytes = 0;
  bool is_cooperative = false, is_programmatic = false;
};

struct CudaOptions {
  target::Target target = {};
  const SourceText* source = nullptr;  // where spans point, for comments; none: no line numbers
  const HostProgram* host = nullptr;   // none: the kernel alone
};

/// A file, with the place in the source that each of its lines comes from.
struct CudaLines {
  std::string text;
  std::vector<Span> spans;  // one per line
};
/// A .cu file. Fails with NotEmitted (located) for code that it cannot express, NotOnTarget for
/// instructions that the target lacks.
Result<std::string> cuda_source(const ir::Function& lowered, const CudaOptions& options);
Result<CudaLines> cuda_lines(const ir::Function& lowered, const CudaOptions& options);

}  // namespace ww::emit
