// SPDX-License-Identifier: Apache-2.0
// The names that a printed function uses.
#pragma once

#include <string>
#include <vector>

#include "ir/function.h"
#include "ir/print/name_frames.h"

namespace ww::ir::printing {

/// The names under which a function's variables and buffers are printed: identifiers, unique among
/// the visible ones, and never a name that the program text needs itself.
class Names {
 public:
  explicit Names(const Function& f);

  [[nodiscard]] const std::string& of(VarId var) const { return vars_[var.index]; }
  [[nodiscard]] const std::string& of(BufferId buffer) const { return buffers_[buffer.index]; }
  /// Does an expression read the variable?
  [[nodiscard]] bool is_used(VarId var) const { return used_[var.index]; }
  /// Do the ids of a ScopeIds statement need names, because one has one or is read?
  [[nodiscard]] bool is_named(const Stmt& scope_ids) const;
  /// Extents to be declared in the body: used ones that no annotation declares.
  [[nodiscard]] const std::vector<VarId>& extents() const { return extents_; }
  /// Extents to declare before the kernel: all of them if an annotation has one that is not int32,
  /// the type of a quoted name.
  [[nodiscard]] const std::vector<VarId>& host_extents() const { return host_extents_; }
  /// The axes to be imported, by name, in the order of their first use.
  [[nodiscard]] const std::vector<std::string>& axes() const { return axes_; }
  [[nodiscard]] bool has_layouts() const { return has_layouts_; }
  [[nodiscard]] bool has_own_axes() const { return has_own_axes_; }

 private:
  void note_uses();
  void note_layout(const Buffer& buffer);
  void note_axis(layout::Axis axis, bool named_even_if_m);
  void name_params();
  void name_block(const Block& block);
  void name_stmt(const Stmt& stmt);
  void name_frame(const Block& block, VarId loop_var = {});
  void bind(VarId var);
  void bind(BufferId buffer);

  const Function& f_;
  std::vector<std::string> vars_;
  std::vector<std::string> buffers_;
  std::vector<bool> used_;
  std::vector<VarId> extents_, host_extents_;
  std::vector<std::string> axes_;
  bool has_layouts_ = false;
  bool has_own_axes_ = false;
  NameFrames frames_;
};

}  // namespace ww::ir::printing
