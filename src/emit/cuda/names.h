// SPDX-License-Identifier: Apache-2.0
// The names of the generated program: those of the source, made into identifiers that mean nothing
// else in CUDA C++ and are unique among what is visible where they stand. A buffer's storage is
// called `<buffer>_ptr`; a parameter that a buffer is matched to has the name of that storage.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "emit/cuda/types.h"
#include "ir/function.h"
#include "ir/print/name_frames.h"

namespace ww::emit::cuda {

class Names {
 public:
  explicit Names(const ir::Function& f);

  [[nodiscard]] const std::string& of(ir::VarId var) const { return vars_[var.index]; }
  [[nodiscard]] const std::string& of(ir::BufferId buffer) const { return buffers_[buffer.index]; }
  /// Does an expression read the variable, or an access name the buffer?
  [[nodiscard]] bool is_used(ir::VarId var) const { return used_vars_[var.index]; }
  [[nodiscard]] bool is_used(ir::BufferId buffer) const { return used_buffers_[buffer.index]; }
  /// Does an expression name the buffer, or a view of it? A store alone does not use its contents.
  [[nodiscard]] bool is_read(ir::BufferId buffer) const { return read_buffers_[buffer.index]; }
  /// A scalar of the source whose address is never taken: a plain variable, called by its own name.
  [[nodiscard]] bool is_variable(ir::BufferId buffer) const { return variables_[buffer.index]; }
  /// A name for something that is not a node of the program; visible everywhere from here on.
  std::string fresh(std::string_view name) { return frames_.bind(std::string(name)); }

 private:
  class Uses;
  void find_variables();
  void name_params();
  void name_block(const ir::Block& block);
  void name_frame(const ir::Block& block, ir::VarId loop_var = {});
  void name_stmt(const ir::Stmt& stmt);
  void bind(ir::VarId var);
  void bind(ir::BufferId buffer);

  const ir::Function& f_;
  std::vector<std::string> vars_, buffers_;
  std::vector<bool> used_vars_, used_buffers_, read_buffers_, variables_;
  ir::NameFrames frames_;
};

/// Letters, digits and underscores; no keyword of C++.
std::string as_identifier(std::string_view name);

}  // namespace ww::emit::cuda
