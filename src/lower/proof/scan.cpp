// SPDX-License-Identifier: Apache-2.0
// A scan is proven by carrying it out on multisets of names (proof/fold_replay.h). What must come out is
// folded from the elements in the order that ir/scan.h gives: each result has exactly the elements
// before it, each once.
#include "ir/scan.h"
#include "lower/proof/fold_proof.h"

namespace ww::lower {
namespace scan_proof {
namespace {

using ir::ExprOp;
using num::DType;

/// What elements of a row are folded to; nothing: there are none.
using Part = std::optional<Number>;

/// One row, in the order of the definition.
class RowMeaning {
 public:
  RowMeaning(Bags& bags, ExprOp op, DType type) : bags_(bags), op_(op), type_(type) {}

  /// Element after element, with the first thread that holds it.
  void add(std::size_t thread, Number leaf) {
    const bool is_same = !sweeps_.empty() && sweeps_.back().back().thread == thread;
    if (!is_same) {
      const bool goes_on = !sweeps_.empty() && sweeps_.back().back().thread < thread &&
                           sweeps_.back().back().thread / kFoldLanes == thread / kFoldLanes;
      if (!goes_on) sweeps_.emplace_back();
      sweeps_.back().push_back({thread, {}});
    }
    std::vector<Part>& run = sweeps_.back().back().prefixes;
    run.push_back(folded(run.empty() ? Part{} : run.back(), leaf));
  }

  /// By element. Exclusive: without itself.
  [[nodiscard]] std::vector<Part> results(bool is_exclusive) {
    std::vector<Part> out;
    Part base;
    for (const Sweep& sweep : sweeps_) {
      const std::vector<Part> swept = over_lanes(sweep);
      for (std::size_t p = 0; p < sweep.size(); ++p) {
        const Part before = folded(base, p == 0 ? Part{} : swept[p - 1]);
        const std::vector<Part>& run = sweep[p].prefixes;
        for (std::size_t j = 0; j < run.size(); ++j)
          out.push_back(folded(before, !is_exclusive ? run[j] : j == 0 ? Part{} : run[j - 1]));
      }
      base = folded(base, swept.back());
    }
    return out;
  }

 private:
  struct Run {
    std::size_t thread;
    std::vector<Part> prefixes;
  };
  using Sweep = std::vector<Run>;

  Part folded(Part a, Part b) {
    if (!a || !b) return a ? a : b;
    return bags_.folded(op_, type_, *a, *b);
  }
  // What each run of a sweep has when the lanes are done.
  std::vector<Part> over_lanes(const Sweep& sweep) {
    std::vector<Part> now;
    for (const Run& run : sweep) now.push_back(run.prefixes.back());
    for (std::size_t d = 1; d < now.size(); d *= 2) {
      std::vector<Part> next = now;
      for (std::size_t p = d; p < now.size(); ++p) next[p] = folded(now[p - d], now[p]);
      now = std::move(next);
    }
    return now;
  }

  Bags& bags_;
  ExprOp op_;
  DType type_;
  std::vector<Sweep> sweeps_;
};

class ScanProof : public FoldProof {
 public:
  ScanProof(const Call& call, const ir::Block& code, Trial trial, Proof& proof, bool says_elements)
      : FoldProof(call, code, trial, proof, ir::scanning_operator(call.tile.op),
                  ir::fold_type(call.buffer(1).dtype), says_elements) {}

 private:
  // By element of the destination, which has the number of that of the source.
  std::vector<Number> meaning() override {
    const std::size_t axis = ir::scanned_dimension(call_.tile);
    std::int64_t count = 1, stride = 1;
    for (std::size_t d = 0; d < src_extents_.size(); ++d) {
      count *= src_extents_[d];
      if (d > axis) stride *= src_extents_[d];
    }
    const std::int64_t length = src_extents_[axis];
    const Number nothing = hashes::number_of(ir::convert(ir::scan_identity(op_, dtype_), dtype_));
    std::vector<Number> out(static_cast<std::size_t>(count));
    for (std::int64_t first = 0; first < count; ++first) {
      if (first / stride % length != 0) continue;  // not the first of a row
      RowMeaning row(bags_, op_, type_);
      for (std::int64_t i = 0; i < length; ++i) {
        const Name name = src_.names->known_as(static_cast<Name>(first + i * stride));
        row.add(holder_of(name), bags_.cast(dtype_, type_, number_of(1, name)));
      }
      std::int64_t i = 0;
      for (const Part& part : row.results(ir::is_exclusive(call_.tile)))
        out[static_cast<std::size_t>(first + i++ * stride)] =
            part ? bags_.cast(type_, dtype_, *part) : nothing;
    }
    return out;
  }
};

}  // namespace
}  // namespace scan_proof

Proof prove_scan(const Call& call, const ir::Block& code) {
  return prove_fold<scan_proof::ScanProof>(call, code);
}

}  // namespace ww::lower
