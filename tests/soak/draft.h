// SPDX-License-Identifier: Apache-2.0
// A random program while it is written: what was chosen for it, its tiles, its text so far, and
// what nothing orders yet. Steps (soak/steps.h) write statements through it.
//
// Shared memory: before each access a step calls `access`, which puts the barrier that is needed,
// the weakest that is enough, or the wait for an asynchronous copy. In some programs one of these
// is left out; `left_out` says what may be found then, and where.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/tape.h"
#include "lower/programs.h"
#include "soak/frame.h"

namespace ww::test {

/// What happened to a tile in shared memory that nothing orders yet.
struct Pending {
  bool own_read = false, own_write = false;    // by the unit that has the part
  bool past_read = false, past_write = false;  // the same, ordered within the unit since
  bool far_read = false, far_write = false;    // by anybody

  [[nodiscard]] bool any() const;
  [[nodiscard]] bool any_far() const { return far_read || far_write; }
  /// What an asynchronous copy does behind a barrier that it was not waited for before.
  [[nodiscard]] Pending writes() const;
  void settle();
  void merge(const Pending& other);
};

/// A tile in shared memory, a part for each stage and unit.
struct Shared {
  /// How a part's rows lie. Matrix: as a matrix descriptor finds them.
  enum class Kind : std::uint8_t { Plain, Padded, Swizzled, Odd, Turned, Matrix };
  std::string name, dtype;
  Extents shape;  // of a part
  Kind kind = Kind::Plain;
  std::int64_t stages = 1;
  std::int64_t align = 1;          // bytes that it begins at a multiple of
  std::int64_t row = 1, part = 1;  // elements from a row, a part, to the next
  Pending pending = {};
  bool is_arriving = false;  // by an asynchronous copy that nobody has waited for
};

/// A tile in registers.
struct RegTile {
  std::string name, dtype;
  Extents shape;
  std::int64_t slots = 1;    // of a thread
  bool is_for_sums = false;  // of a product: nothing else may write it
  bool is_packed = false;    // neighbours in a row are neighbours in a thread
};

/// A tile in tensor memory, a part for each stage and unit.
struct TensorTile {
  std::string name, dtype;
};

/// Where a statement stands.
struct Place {
  int depth = 0;
  std::string indent = "    ";
  bool is_split = false;   // not all units come here
  bool is_thread = false;  // not all threads of a unit do
  std::vector<std::pair<std::string, std::int64_t>> loops = {};

  [[nodiscard]] Place inside() const;
};

struct Columns {
  std::int64_t begin = 0, count = 0;
};

/// A region of an input, and whether it goes beyond the end of it.
struct Source {
  std::string text;
  bool is_ragged = false;
  bool has_fill_value = false;  // another than zero
  [[nodiscard]] const char* fill() const {
    return !is_ragged ? "" : has_fill_value ? ", fill_value=3" : ", fill_mode=\"zero\"";
  }
};

/// A barrier or a wait that a program lacks, and the tiles that it stood between.
struct LeftOut {
  std::string what;
  std::set<std::string> between = {};
};

struct Draft {
  explicit Draft(Tape& tape);

  Tape& tape;
  Frame f;
  std::vector<RegTile> regs;
  std::size_t works = 0;  // registers that anything may be computed in; then sums and factors
  std::vector<RegTile> stretched;  // a row or a column, which operands may be
  bool picks_rows = false;         // numbers of rows, to gather them by
  std::vector<Shared> shared;
  std::vector<TensorTile> tensor;
  std::int64_t tensor_stages = 1, tensor_columns = 32;
  std::optional<std::size_t> matrix;    // which shared tile is copied to tensor memory as a matrix
  std::string thread_type;              // of `priv`, the tile of each thread
  int products = 0;                     // added to the sums
  bool changes_signs = false;           // of NaN as well, and no engine promises that sign
  bool shows_bits = false;              // of floats, as whole numbers: no sign may be open then
  bool is_fast = false;                 // has results that hardware approximates
  std::optional<RegTile> fast;          // the tile that gets them, which nothing but outputs reads
  std::optional<std::string> permuted;  // the type of `before` and `after`, in shared memory
  bool has_workspace = false;           // `ws`, shared memory for reductions, scans and copies
  std::map<std::string, std::int64_t> scalars;
  std::map<std::string, std::uint64_t> steps;  // written, by name
  std::optional<LeftOut> left_out;
  std::map<std::string, std::string> views;  // of which tile

  static constexpr std::int64_t kThreadElements = 8;  // of `priv`

  // --- text ---

  [[nodiscard]] std::string prefix() const { return "Tx." + f.scope + "."; }
  void line(const Place& at, const std::string& text) { body_ += at.indent + text + "\n"; }
  void lines(const std::string& text) { body_ += text; }
  void param(const std::string& name, const Extents& shape, const std::string& dtype);
  /// A name that nothing else has.
  std::string fresh(const std::string& kind) { return kind + std::to_string(names_[kind]++); }
  [[nodiscard]] std::size_t size() const { return body_.size(); }
  [[nodiscard]] std::string text() const;
  /// Types whose NaNs have bits that nobody promises.
  [[nodiscard]] bool has_odd_nans() const;
  void head();

  // --- tiles ---

  /// An element type that the target has.
  std::string any_type();
  void add_reg(const std::string& name, const std::string& dtype, const Extents& shape,
               const std::string& layout);
  /// The layout of a tile of such elements; two of them need not be the same.
  std::string tile_layout(const std::string& dtype, bool& is_packed);
  /// False where there is no room for another one.
  bool add_shared(const std::string& dtype, const Extents& shape,
                  std::optional<Shared::Kind> kind = {});
  /// Bytes of shared memory under a name; false where there is no room.
  bool add_bytes(const std::string& name, std::int64_t bytes);
  void commit_shared();
  /// Sometimes a setting: ", workspace={…}".
  std::string workspace();
  /// One of the registers that anything may be computed in.
  RegTile& work();
  /// Registers and shared memory of one type and shape, to be copied into registers or from there.
  std::vector<std::pair<RegTile*, Shared*>> pairs(bool is_load);

  // --- regions ---

  static Columns all(const Extents& shape) { return {0, shape[1]}; }
  Columns some(const Extents& shape);
  static std::string of(const RegTile& reg, Columns c);
  std::string stage(const Place& at, std::int64_t stages);
  std::string of(const Place& at, const Shared& each, const std::string& unit, Columns c);
  /// The parts of all units, or that of one.
  [[nodiscard]] std::string units(bool is_all) const;
  /// A new input, of which one tile for each CTA, unit and turn of the loops is taken.
  Source input(const Place& at, const std::string& dtype, const Extents& shape, Columns c,
               bool is_all, bool may_be_ragged);
  /// A new output, in which every CTA, unit and turn has its own tile.
  /// `is_cut`: its last rows or columns are missing.
  std::string output(const Place& at, const std::string& dtype, const Extents& shape, Columns c,
                     bool is_all, bool is_cut = false);
  /// A condition that all threads of the CTA, or where `is_of_unit` of a unit, agree about.
  std::string condition(const Place& at, bool is_of_unit);
  /// Seldom a setting of a copy: ", predicate=p0 > 0".
  std::string predicate(const Place& at, bool is_of_unit);

  // --- order ---

  void sync_all(const Place& at);
  void sync_unit(const Place& at);
  void wait(const Place& at);
  /// Puts what is needed before an access.
  void access(const Place& at, Shared& each, bool is_write, bool is_far);
  /// Nothing is pending any more, as far as the place allows.
  void clean(const Place& at);

  // --- loops ---

  Place begin_loop(const Place& at);
  void end_loop(const Place& inside);

 private:
  struct Start {
    std::string text = "0";
    std::int64_t more = 0;  // elements that it may skip
  };
  Start start(const Place& at, std::int64_t extent);
  bool is_left_out(const char* what, const std::set<std::string>& between);
  std::string spread_layout(bool& is_packed);
  std::string fragment_layout(const std::string& dtype);
  [[nodiscard]] std::string shared_layout(const Shared& each);

  std::int64_t leave_out_ = -1;  // after so many of them
  bool leaves_out_wait_ = false;
  std::int64_t shared_bytes_ = 0;
  std::map<std::string, int> names_;
  std::string params_, matches_, body_;
};

}  // namespace ww::test
