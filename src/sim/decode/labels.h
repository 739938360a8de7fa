// SPDX-License-Identifier: Apache-2.0
// Labels of a function and lists of them, by the number of the statement that declares them. The op
// of a label is known once the whole function is decoded.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/program.h"

namespace ww::sim {

class Labels {
 public:
  void add(std::uint32_t statement, std::uint32_t next_op) { labels_[statement] = next_op; }
  /// The op goes to this label: its `imm`.
  void refer(std::uint32_t op, std::uint32_t label) { references_.emplace_back(op, label); }
  /// `table`: of Program::branch_tables, with labels instead of ops up to `resolve`.
  void add_table(std::uint32_t statement, std::uint32_t table) { tables_[statement] = table; }
  [[nodiscard]] std::uint32_t table(std::uint32_t statement) const { return tables_.at(statement); }

  void resolve(Program& program) const {
    for (const auto& [op, label] : references_) program.ops[op].set(BranchOp{labels_.at(label)});
    for (const auto& [statement, table] : tables_) {
      for (std::uint32_t& target : program.branch_tables[table]) target = labels_.at(target);
    }
  }

 private:
  std::unordered_map<std::uint32_t, std::uint32_t> labels_;  // the op that follows
  std::unordered_map<std::uint32_t, std::uint32_t> tables_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> references_;  // op, label
};

}  // namespace ww::sim
