// SPDX-License-Identifier: Apache-2.0
// The emitter's parts: a writer whose methods are spread over the files of this folder by subject.
//
//   write_expr.cpp     scalar expressions      write_stmt.cpp    statements
//   write_vector.cpp   vector expressions      write_ptx.cpp     PTX instructions
//   write_memory.cpp   buffers and pointers    write_kernel.cpp  the kernel around them
//   write_call.cpp     functions of intrinsics.def
//
// What cannot be expressed is noted (`refuse`), the first time with its place; writing goes on with
// a placeholder and the caller asks at the end.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emit/cuda/emit.h"
#include "emit/cuda/helpers.h"
#include "emit/cuda/names.h"
#include "emit/cuda/numbers.h"
#include "emit/cuda/pending.h"
#include "ir/effects.h"
#include "ir/launch/launch.h"
#include "ir/simplify/simplify.h"

namespace ww::emit::cuda {

struct PlacedCall;

/// A lane of a vector: its number in the text, and as a number where it is known.
struct Lane {
  std::string text;
  std::optional<int> number = {};
};

class Writer {
 public:
  Writer(const ir::Function& f, const CudaOptions& options);

  /// Everything but the host program.
  Result<std::string> file();
  /// The kernel's name in the text; `main` cannot be one.
  [[nodiscard]] const std::string& kernel_name() const { return kernel_name_; }

 private:
  // write_expr.cpp
  std::string expr(ir::ExprId id, Precedence at_least = kAnything);
  Text render(ir::ExprId id);
  Text render_as(ir::ExprId id, const Lane* lane);
  Text binary(const ir::Expr& e, ir::ExprId id, const Lane* lane);
  Text operand(ir::ExprId id, const Lane* lane, ir::ExprId beside);
  Text without_sign(ir::ExprId id, num::DType dtype);
  Text cast(const ir::Expr& e, const Lane* lane);
  Text choice(const ir::Expr& e, const Lane* lane);
  Text reinterpret(const ir::Expr& e);
  Text compare_pointers(const ir::Expr& e);
  Known known(const ir::Expr& e, ir::ExprId id);
  bool stays_in_type(ir::ExprId id);
  std::optional<ir::Range> range(ir::ExprId id);
  bool check_number(num::DType dtype, Span span);

  // write_vector.cpp
  std::string vector(ir::ExprId id);
  Text lane(ir::ExprId id, const Lane& lane);
  Text shuffled(const ir::Expr& e, const Lane& lane);
  std::string vector_load(const ir::Expr& e);
  std::string lanes_of(ir::Type type, const std::function<std::string(const Lane&)>& text);
  bool needs_numbers(ir::ExprId id) const;
  void vector_store(const ir::Stmt& s);
  bool is_run(const SmallVec<ir::ExprId, 3>& indices, ir::Type type) const;
  bool is_aligned(ir::BufferId buffer, ir::ExprId index, ir::Type type);

  // write_memory.cpp
  std::string element(ir::BufferId buffer, ir::ExprId index, Span span);
  std::string element_at(ir::BufferId buffer, const std::string& index, Span span);
  std::string flat_index(ir::BufferId buffer, const SmallVec<ir::ExprId, 3>& indices, Span span);
  Text load(const ir::Expr& e);
  Text pointer(const ir::Expr& e);
  std::string storage_pointer(const ir::Buffer& b);
  std::string base_name(ir::BufferId buffer) const;
  bool is_alias(ir::BufferId buffer) const;
  std::string pointer_as(ir::ExprId id, ir::Type wanted);
  std::string offset_pointer(const ir::Expr& e);
  void alloc(const ir::Stmt& s);
  void declare(const ir::Stmt& s);

  // write_call.cpp
  Text call(const ir::Expr& e, const Lane* lane);
  Text call_pointer(const ir::Expr& e);
  Text exchange(const ir::Expr& e, const Lane* lane);
  Text atomic(const ir::Expr& e);
  std::string atomic_loop(const ir::Expr& e, num::DType dtype);
  Text reduction(const ir::Expr& e);
  std::string warp_reduction(ir::ExprOp op, num::DType dtype);
  std::string cta_reduction(ir::ExprOp op, num::DType dtype, std::int64_t warps);
  Text barrier(const ir::Expr& e);
  Text print(const ir::Expr& e);
  std::string printed(ir::ExprId arg, char letter);
  Text func_call(const ir::Expr& e);
  Text copy_bytes(const ir::Expr& e);
  bool check_feature(target::Feature feature, std::string_view what, Span span);
  std::string text_of(ir::ExprId id) const;

  // write_stmt.cpp
  void line(std::string_view text);
  void block(const ir::Block& block);
  void nested(const ir::Block& block);
  void stmt(const ir::Stmt& s);
  bool init(const ir::Stmt& alloc, const ir::Stmt& next);
  void bind(const ir::Stmt& s);
  void store(const ir::Stmt& s);
  void loop(const ir::Stmt& s);
  std::string loop_end(const ir::Stmt& s, std::int64_t step);
  [[nodiscard]] bool has_end(const ir::Stmt& s, std::int64_t step) const;
  void branch(const ir::Stmt& s, std::string_view keyword);
  void assertion(const ir::Stmt& s);
  void attr(const ir::Stmt& s);
  void launch_thread(const ir::Stmt& s);
  bool has_effect(ir::ExprId id) const;

  // write_ptx.cpp
  void ptx(const ir::Stmt& s);
  void settle(const ir::Stmt& s);
  std::string ptx_operand(const ir::PtxOperand& operand, const PlacedCall& placed,
                          std::size_t number);

  // write_kernel.cpp
  void note_types();
  std::string head();
  std::string signature();
  std::string parameter(std::size_t i);

  std::string refuse(Span span, std::string text);
  std::string refuse(Diag diag);
  [[nodiscard]] std::string place_of(Span span) const;

  const ir::Function& f_;
  mutable ir::Effects effects_;
  const CudaOptions& options_;
  ir::Facts facts_;
  ir::Ranges ranges_{f_, facts_};
  Names names_;
  PendingLoads pending_{f_};
  Helpers helpers_;
  Numbers numbers_;
  std::string kernel_name_;
  std::optional<ir::LaunchShape> launch_;
  std::vector<std::pair<std::string, std::string>> functions_;  // of func_call: name, source
  std::optional<Diag> error_;
  std::string out_;
  int indent_ = 1;
};

}  // namespace ww::emit::cuda
