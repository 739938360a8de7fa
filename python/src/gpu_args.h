// SPDX-License-Identifier: Apache-2.0
// The arguments of a call on a GPU, read from Python's objects: tensors that lie there, and numbers.
// Tensors of libraries that have DLPack's exchange table (PyTorch from 2.10 on) are read without
// running any Python; others by the attributes that PyTorch's have, by `__dlpack__`, or by
// `__cuda_array_interface__`.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <forward_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/small_vec.h"
#include "dlpack.h"
#include "driver/call/call.h"

namespace ww::python {

/// Where the stream that is current on a GPU is asked for: the library of the tensors.
struct StreamSource {
  const dlpack::Exchange* exchange = nullptr;
  int number = 0;
  std::optional<void*> given = {};  // that the arrays are ready on; without both: PyTorch's
  /// Raises what the library does.
  [[nodiscard]] void* current() const;
};

class GpuArgs {
 public:
  /// The parameter that an argument is for.
  struct Wanted {
    std::string name;
    bool is_written = false;
  };

  /// The next argument, if it is a plain number or a tensor that the exchange table reads, on the
  /// same GPU as those before it. Sets no Python error.
  bool add_quickly(PyObject* value);
  /// The next argument. Raises for what is neither a number nor a tensor of GPU `number` that the
  /// kernel may use as the parameter says.
  void add(nanobind::handle value, int number, const Wanted& wanted);

  [[nodiscard]] driver::CallArgs all() const { return {args_.data(), args_.size()}; }
  /// The GPU of the tensors; negative as long as there is none.
  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] StreamSource streams() const { return {exchange_, number_, given_}; }

 private:
  /// None for elements that kernels do not have.
  std::optional<driver::CallArg> read(const dlpack::Tensor& seen);
  /// Strides in elements, or none where they say C order; kept in bytes.
  void set_strides(driver::CallArg& arg, std::span<const std::int64_t> strides);
  bool add_tensor(PyObject* tensor, const dlpack::Exchange& exchange);
  void add_by_attributes(nanobind::handle tensor, const std::string& name);
  void add_by_dlpack(nanobind::handle array, const std::string& name);
  void add_by_interface(nanobind::handle array, const Wanted& wanted);
  /// For an array that is ready on one stream alone.
  void use_stream(void* stream, const std::string& name);

  SmallVec<driver::CallArg, 8> args_;
  int number_ = -1;
  const dlpack::Exchange* exchange_ = nullptr;         // of the first tensor
  std::optional<void*> given_;                         // of arrays that are ready on one stream
  bool has_torch_ = false;                             // that was read by its attributes
  std::forward_list<std::vector<std::int64_t>> kept_;  // shapes that no library keeps
  std::forward_list<nanobind::object> capsules_;       // which keep theirs
};

/// The GPU that a value lies on; negative for what is no tensor of a GPU.
int gpu_of(nanobind::handle value);

}  // namespace ww::python
