// SPDX-License-Identifier: Apache-2.0
// Memory is cut into granules of an element (or less, when the code moves less). Each granule of
// the source region has a name: element number times granules of an element, plus which of them.
// Code moves names; what has arrived at the end must be the names that the destination region is to
// have, no more and no less.
//
// Where the code moves several elements at a time, that many are tried as one granule first: the
// same proof with fewer names, provided that in both regions they lie side by side. Only its yes
// counts; everything else is found out element by element.
#include "lower/proof.h"

#include <algorithm>
#include <span>
#include <unordered_map>

#include "ir/print.h"
#include "isa/catalogue.h"
#include "isa/fragment.h"
#include "layout/apply.h"
#include "layout/image.h"
#include "lower/proof_values.h"

namespace ww::lower {
namespace {

using ir::ExprId;
using ir::StmtKind;
using Name = std::int32_t;
constexpr Name kNobody = -1;
// Begins the message of a move that no copy may make, in contrast to code that is not understood.
constexpr std::string_view kWrong = "wrong: ";

template <typename T>
using Try = std::expected<T, std::string>;

// --- places of names -----------------------------------------------------------------------------

/// Where a name is: a thread's registers or memory, and the granule there.
struct Spot {
  std::int64_t granule;
  std::uint32_t row;
  Name name;
};

/// The granule that a bit is in.
std::int64_t granule_at(std::int64_t bit, int granule_bits) {
  const std::int64_t whole = bit / granule_bits;
  return bit < whole * granule_bits ? whole - 1 : whole;
}

/// The names in one storage: a row for memory, one per thread for registers. Only the granules that
/// the region can have are kept, as a table when they lie close together.
class Granules {
 public:
  Granules(std::size_t rows, int bits, std::span<const Spot> spots) : rows_(rows), bits_(bits) {
    first_ = spots.empty() ? 0 : spots[0].granule;
    std::int64_t last = first_;
    for (const Spot& spot : spots) {
      first_ = std::min(first_, spot.granule);
      last = std::max(last, spot.granule);
    }
    width_ = last - first_ + 1;
    is_table_ = width_ * static_cast<std::int64_t>(rows) <
                static_cast<std::int64_t>(16 * spots.size()) + 4096;
    if (is_table_) table_.assign(static_cast<std::size_t>(width_) * rows, kNobody);
    for (const Spot& spot : spots) {
      const Name before = at(spot.row, spot.granule);
      if (before == kNobody)
        put(spot.row, spot.granule, spot.name);
      else if (before != spot.name)
        aliases_[spot.name] = before;
    }
  }

  /// Elements that stand where another one does are known by the name of the first.
  [[nodiscard]] Name known_as(Name name) const {
    const auto found = aliases_.find(name);
    return found == aliases_.end() ? name : found->second;
  }
  [[nodiscard]] bool has_aliases() const { return !aliases_.empty(); }
  void rename(const Granules& by) {
    for (Name& name : table_) name = by.known_as(name);
    for (auto& [i, name] : sparse_) name = by.known_as(name);
  }

  /// The same granules, nothing in them yet.
  [[nodiscard]] Granules blank() const {
    Granules out = *this;
    std::fill(out.table_.begin(), out.table_.end(), kUntouched);
    out.sparse_.clear();
    return out;
  }

  /// False when the region has no such granule.
  bool put(std::size_t row, std::int64_t granule, Name name) {
    if (!is_inside(granule)) return false;
    if (is_table_)
      table_[index(row, granule)] = name;
    else
      sparse_[index(row, granule)] = name;
    return true;
  }
  [[nodiscard]] Name at(std::size_t row, std::int64_t granule) const {
    if (!is_inside(granule)) return kNobody;
    if (is_table_) return table_[index(row, granule)];
    const auto found = sparse_.find(index(row, granule));
    return found == sparse_.end() ? kNobody : found->second;
  }
  [[nodiscard]] bool is_private() const { return rows_ > 1; }
  [[nodiscard]] std::size_t row_of(std::size_t thread) const { return rows_ > 1 ? thread : 0; }

  /// What differs from the names that are meant to be here.
  [[nodiscard]] std::string difference(const Granules& meant) const {
    for (std::size_t i = 0; i < table_.size(); ++i)
      if (std::string d = meant.difference_at(i, meant.table_[i], table_[i]); !d.empty()) return d;
    for (const auto& [i, name] : sparse_) {
      const auto found = meant.sparse_.find(i);
      const Name wanted = found == meant.sparse_.end() ? kNobody : found->second;
      if (std::string d = meant.difference_at(i, wanted, name); !d.empty()) return d;
    }
    for (const auto& [i, name] : meant.sparse_)
      if (!sparse_.contains(i)) return meant.difference_at(i, name, kUntouched);
    return {};
  }

 private:
  static constexpr Name kUntouched = -2;

  [[nodiscard]] bool is_inside(std::int64_t granule) const {
    return granule >= first_ && granule - first_ < width_;
  }
  [[nodiscard]] std::size_t index(std::size_t row, std::int64_t granule) const {
    return row * static_cast<std::size_t>(width_) + static_cast<std::size_t>(granule - first_);
  }
  [[nodiscard]] std::string difference_at(std::size_t i, Name wanted, Name got) const {
    if (wanted == got || (wanted == kNobody && got == kUntouched)) return {};
    const std::size_t row = i / static_cast<std::size_t>(width_);
    const std::int64_t byte =
        (static_cast<std::int64_t>(i % static_cast<std::size_t>(width_)) + first_) * bits_ / 8;
    const std::string where =
        is_private() ? fmt::format("byte {} of the registers of thread {} of the unit", byte, row)
                     : fmt::format("byte {}", byte);
    if (got == kUntouched) return where + " is not written";
    if (wanted == kNobody) return where + " is written and must not be";
    return fmt::format("{} gets granule {} of the source, expected {}", where, got, wanted);
  }

  std::size_t rows_;
  int bits_;
  std::int64_t first_ = 0, width_ = 1;
  bool is_table_ = true;
  std::vector<Name> table_;
  std::unordered_map<std::size_t, Name> sparse_;
  std::unordered_map<Name, Name> aliases_;
};

// --- what the call means -------------------------------------------------------------------------

/// Fills in the names of one operand's region, from its layout applied to coordinates.
class Meaning {
 public:
  Meaning(const Call& call, ProofValues& values, const ir::Region& region, int granule)
      : call_(call),
        f_(call.f()),
        values_(values),
        region_(region),
        buffer_(call.f()[region.buffer]),
        bits_(num::bits_of(buffer_.dtype)),
        granule_(granule),
        group_(std::max(1, granule / bits_)),
        parts_(std::max(1, bits_ / granule)) {}

  // Nothing: the sampled values put the region outside its buffer.
  Try<std::optional<Granules>> names(std::int64_t& elements, std::int64_t first_thread) {
    for (std::size_t d = 0; d < region_.ranges.size(); ++d) {
      const auto min = values_.uniform(region_.ranges[d].min);
      const auto extent = values_.uniform(region_.ranges[d].extent);
      const auto whole = values_.uniform(buffer_.shape[d]);
      if (!min || !extent || !whole)
        return std::unexpected(!min ? min.error() : !extent ? extent.error() : whole.error());
      if (*min < 0 || *extent < 1 || *min + *extent > *whole) return std::nullopt;
      mins_.push_back(*min);
      extents_.push_back(*extent);
      shape_.push_back(*whole);
    }
    elements = 1;
    for (const std::int64_t extent : extents_) elements *= extent;
    const bool is_private = buffer_.scope == ir::Scope::Local;
    auto start = values_.start_of(region_.buffer);
    if (!start) return std::unexpected(start.error());
    start_ = *std::move(start);
    if (auto good = place_all(elements, first_thread); !good) return std::unexpected(good.error());
    return Granules(is_private ? values_.threads() + 1 : 1, granule_, spots_);
  }

 private:
  Try<void> place_all(std::int64_t elements, std::int64_t first_thread) {
    const std::optional<layout::Layout> whole = ir::layout_of(f_, buffer_);
    if (buffer_.layout_kind == ir::LayoutKind::Explicit && !whole)
      return std::unexpected(std::string("a layout without a constant shape"));
    const bool is_plain = buffer_.layout_kind != ir::LayoutKind::Explicit;
    if (!is_plain) prepare(*whole, first_thread);
    const std::int64_t copies = is_plain ? 1 : image_.copies;
    last_.resize(static_cast<std::size_t>(copies));
    spots_.reserve(static_cast<std::size_t>(elements * copies * parts_ / group_));
    is_together_ = elements % group_ == 0;
    for_each_element(elements, [&](std::int64_t x, std::int64_t flat) {
      if (is_plain) place(x, 0, {flat, 0});
      for (std::int64_t c = 0; c < copies && !is_plain; ++c) place(x, c, copy_of(flat, c));
      return is_together_;
    });
    if (!is_together_) return std::unexpected(std::string("elements of a granule lie apart"));
    return {};
  }

  // The elements of the region in order, each with its row-major number in the buffer, as long as
  // the visitor wants more.
  template <typename Visit>
  void for_each_element(std::int64_t elements, Visit&& visit) const {
    const std::size_t rank = extents_.size();
    std::vector<std::int64_t> scales(rank, 1), digits(rank, 0);
    for (std::size_t d = rank; d-- > 1;) scales[d - 1] = scales[d] * shape_[d];
    std::int64_t flat = 0;
    for (std::size_t d = 0; d < rank; ++d) flat += mins_[d] * scales[d];
    for (std::int64_t x = 0; x < elements; ++x) {
      if (!visit(x, flat)) return;
      for (std::size_t d = rank; d-- > 0;) {
        flat += scales[d];
        if (++digits[d] < extents_[d]) break;
        flat -= std::exchange(digits[d], 0) * scales[d];
      }
    }
  }

  void prepare(const layout::Layout& whole, std::int64_t first_thread) {
    const auto image = layout::enumerate(whole);
    WW_CHECK(image.has_value(), "a layout is not enumerated: {}", image.error().text);
    image_ = *image;
    for (std::size_t a = 0; a < image_.axes.size(); ++a)
      if (image_.axes[a] == layout::axes::m()) places_ = &image_.values[a];
    if (buffer_.scope != ir::Scope::Local) return;
    // A thread holds an element when it agrees with its place on every thread axis that moves.
    for (const layout::Axis axis : layout::moving_axes(whole.tile())) {
      if (!axis.is_thread()) continue;
      axes_.push_back(axis);
      for (std::size_t a = 0; a < image_.axes.size(); ++a)
        if (image_.axes[a] == axis) key_parts_.push_back({&image_.values[a], axis.facts().divisor});
    }
    holders_.assign(ir::kMaxThreads, {});
    for (std::size_t t = 0; t < values_.threads(); ++t)
      holders_.at(static_cast<std::size_t>(key_of(first_thread + static_cast<std::int64_t>(t))))
          .push_back(t);
  }

  [[nodiscard]] std::int64_t key_of(std::int64_t thread) const {
    std::int64_t key = 0;
    for (const layout::Axis axis : axes_) {
      const layout::AxisFacts& facts = axis.facts();
      std::int64_t digit = thread / facts.divisor;
      if (facts.modulus != 0) digit %= facts.modulus;
      key += digit * facts.divisor;
    }
    return key;
  }

  /// Where an element is: in memory or in the registers of the threads with that key.
  struct Place {
    std::int64_t at = 0;
    std::int64_t key = 0;
  };

  [[nodiscard]] Place copy_of(std::int64_t flat, std::int64_t copy) const {
    const auto i = static_cast<std::size_t>(copy * image_.size + flat);
    Place out{.at = places_ != nullptr ? (*places_)[i] : 0};
    for (const KeyPart& part : key_parts_) out.key += (*part.values)[i] * part.divisor;
    return out;
  }

  // The first element of a granule has its name; the others must follow it.
  void place(std::int64_t x, std::int64_t copy, Place now) {
    Place& last = last_[static_cast<std::size_t>(copy)];
    if (x % group_ == 0)
      hold(x, now);
    else if (now.at != last.at + 1 || now.key != last.key)
      is_together_ = false;
    last = now;
  }

  void hold(std::int64_t x, Place place) {
    if (buffer_.scope != ir::Scope::Local) return put(x, 0, start_[0] + place.at * bits_);
    if (holders_.empty()) {
      for (std::size_t t = 0; t < values_.threads(); ++t) put(x, t, start_[t] + place.at * bits_);
    } else {
      for (const std::size_t t : holders_.at(static_cast<std::size_t>(place.key)))
        put(x, t, start_[t] + place.at * bits_);
    }
  }

  void put(std::int64_t x, std::size_t row, std::int64_t bit) {
    if (group_ > 1 && bit % granule_ != 0) is_together_ = false;
    const std::int64_t first = granule_at(bit, granule_);
    for (int i = 0; i < parts_; ++i)
      spots_.push_back(
          {first + i, static_cast<std::uint32_t>(row), static_cast<Name>(x / group_ * parts_ + i)});
  }

  const Call& call_;
  ir::Function& f_;
  ProofValues& values_;
  const ir::Region& region_;
  ir::Buffer buffer_;
  int bits_;  // of an element
  int granule_;
  int group_;  // elements of a granule
  int parts_;  // granules of an element
  std::vector<std::int64_t> mins_, extents_, shape_;
  PerUnit start_;
  std::vector<Spot> spots_;
  std::vector<Place> last_;  // by copy: of the element before
  bool is_together_ = true;
  layout::Image image_;
  using Numbers = std::vector<std::int64_t>;
  const Numbers* places_ = nullptr;  // in image_: on the memory axis
  struct KeyPart {
    const Numbers* values;
    std::int64_t divisor;
  };
  std::vector<KeyPart> key_parts_;  // in image_: on the axes below
  std::vector<layout::Axis> axes_;
  std::vector<std::vector<std::size_t>> holders_;  // by the thread id that the axes make
};

// --- what the code does --------------------------------------------------------------------------

using Mask = std::vector<bool>;

class Replay {
 public:
  Replay(const Call& call, ProofValues& values, const Granules& src, Granules& dst, int granule)
      : f_(call.f()),
        values_(values),
        src_(src),
        dst_(dst),
        granule_(granule),
        src_storage_(ir::storage_of(call.f(), call.region(1).buffer)),
        dst_storage_(ir::storage_of(call.f(), call.region(0).buffer)) {}

  Try<void> block(const ir::Block& stmts, const Mask& mask) {
    for (const ir::StmtId id : stmts)
      if (auto good = stmt(f_[id], mask); !good) return good;
    return {};
  }

 private:
  Try<void> stmt(const ir::Stmt& s, const Mask& mask) {
    switch (s.kind) {
      case StmtKind::Declare:
        return {};
      case StmtKind::Attr:
        return block(s.body, mask);
      case StmtKind::Bind:
        return bind(s);
      case StmtKind::For:
        return loop(s, mask);
      case StmtKind::If:
        return branch(s, mask);
      case StmtKind::Store:
        return store(s, mask);
      case StmtKind::Evaluate:
        return evaluate(s, mask);
      case StmtKind::Ptx:
        return ptx(f_[s.ptx], mask);
      default:
        return std::unexpected(fmt::format("a statement `{}`", ir::name_of(s.kind)));
    }
  }

  Try<void> bind(const ir::Stmt& s) {
    if (f_[s.var].type.is_pointer()) {
      auto pointer = values_.pointer(s.expr);
      if (!pointer) return std::unexpected(pointer.error());
      values_.set(s.var, *std::move(pointer));
      return {};
    }
    auto value = values_.of(s.expr);
    if (!value) return std::unexpected(value.error());
    values_.set(s.var, *std::move(value));
    return {};
  }

  Try<void> loop(const ir::Stmt& s, const Mask& mask) {
    const auto trips = values_.uniform(s.args[1]);
    if (!trips) return std::unexpected(trips.error());
    for (std::int64_t k = 0; k < *trips; ++k) {
      values_.set(s.var, PerUnit(values_.threads(), k));
      if (auto good = block(s.body, mask); !good) return good;
    }
    return {};
  }

  Try<void> branch(const ir::Stmt& s, const Mask& mask) {
    const auto condition = values_.of(s.expr);
    if (!condition) return std::unexpected(condition.error());
    Mask yes = mask, no = mask;
    for (std::size_t t = 0; t < mask.size(); ++t) {
      yes[t] = mask[t] && (*condition)[t] != 0;
      no[t] = mask[t] && (*condition)[t] == 0;
    }
    if (auto good = block(s.body, yes); !good) return good;
    return block(s.other, no);
  }

  // --- moves ---

  Try<void> evaluate(const ir::Stmt& s, const Mask& mask) {
    const ir::Expr e = f_[s.expr];
    if (e.op != ir::ExprOp::Call || e.callee != ir::Intrinsic::CopyBytes)
      return std::unexpected(fmt::format("`{}`", ir::print(f_, s.expr)));
    const auto to = values_.pointer(e.args[0]);
    const auto from = values_.pointer(e.args[1]);
    const auto bytes = ir::const_int(f_, e.args[2]);
    if (!to || !from || !bytes) return std::unexpected(!to ? to.error() : from.error());
    for (std::size_t t = 0; t < mask.size(); ++t) {
      if (!mask[t]) continue;
      if (to->bit[t] % (*bytes * 8) != 0 || from->bit[t] % (*bytes * 8) != 0)
        return std::unexpected(
            fmt::format("{}thread {} copies {} bytes at a misaligned address", kWrong, t, *bytes));
      if (auto good = move(*to, t, to->bit[t], *from, t, from->bit[t], *bytes * 8); !good)
        return good;
    }
    return {};
  }

  Try<void> move(const PointerValue& to, std::size_t to_thread, std::int64_t to_bit,
                 const PointerValue& from, std::size_t from_thread, std::int64_t from_bit,
                 std::int64_t bits) {
    if (to.storage != dst_storage_ || from.storage != src_storage_)
      return std::unexpected(fmt::format("{}a move from `{}` to `{}`", kWrong,
                                         f_[from.storage].name, f_[to.storage].name));
    const std::int64_t to_first = granule_at(to_bit, granule_);
    const std::int64_t from_first = granule_at(from_bit, granule_);
    for (std::int64_t i = 0; i * granule_ < bits; ++i) {
      const Name name = src_.at(src_.row_of(from_thread), from_first + i);
      if (!dst_.put(dst_.row_of(to_thread), to_first + i, name))
        return std::unexpected(fmt::format("{}byte {} is written, outside the destination", kWrong,
                                           (to_bit + i * granule_) / 8));
    }
    return {};
  }

  // buffer[indices] = other[indices], an element of each.
  Try<void> store(const ir::Stmt& s, const Mask& mask) {
    const ir::Expr value = f_[s.expr];
    if (value.op != ir::ExprOp::Load) return std::unexpected(std::string("a store of no load"));
    const auto to = element(s.buffer, std::span(s.args.begin(), s.args.size()), mask);
    const auto from = element(value.buffer, std::span(value.args.begin(), value.args.size()), mask);
    if (!to || !from) return std::unexpected(!to ? to.error() : from.error());
    const int bits = num::bits_of(f_[s.buffer].dtype);
    for (std::size_t t = 0; t < mask.size(); ++t)
      if (mask[t])
        if (auto good = move(*to, t, to->bit[t], *from, t, from->bit[t], bits); !good) return good;
    return {};
  }

  // Where an element is, in the threads of the mask.
  Try<PointerValue> element(ir::BufferId id, std::span<const ExprId> indices, const Mask& mask) {
    const ir::Buffer buffer = f_[id];
    auto start = values_.start_of(id);
    if (!start) return std::unexpected(start.error());
    PointerValue out{.storage = ir::storage_of(f_, id), .bit = *std::move(start)};
    PerUnit flat(values_.threads(), 0);
    for (std::size_t d = 0; d < indices.size(); ++d) {
      const auto index = values_.of(indices[d]);
      const auto extent = values_.uniform(buffer.shape[d]);
      if (!index || !extent) return std::unexpected(!index ? index.error() : extent.error());
      for (std::size_t t = 0; t < flat.size(); ++t) flat[t] = flat[t] * *extent + (*index)[t];
    }
    for (std::size_t t = 0; t < flat.size(); ++t) {
      if (!mask[t]) continue;
      std::int64_t place = flat[t];
      if (buffer.layout_kind == ir::LayoutKind::Explicit) {
        const auto at = layout::apply(*buffer.layout, flat[t]);
        if (!at) return std::unexpected(at.error().text);
        place = 0;
        for (const layout::AxisValue& v : *at)
          if (v.axis == layout::axes::m()) place = v.value;
      }
      out.bit[t] += place * num::bits_of(buffer.dtype);
    }
    return out;
  }

  // --- instructions ---

  Try<void> ptx(const ir::PtxCall& call, const Mask& mask) {
    const isa::Bindings bindings = isa::bind_opcode(call.opcode);
    if (bindings.fits.empty()) return std::unexpected(fmt::format("`{}`", call.opcode));
    const isa::Binding& binding = bindings.fits[0];
    const std::string_view mnemonic = binding.form().mnemonic;
    if (mnemonic == "ldmatrix" || mnemonic == "stmatrix")
      return matrix(call, binding, mnemonic == "ldmatrix", mask);
    if (mnemonic == "ld") return load(call, mask);
    return std::unexpected(fmt::format("`{}`", call.opcode));
  }

  // ld with registers given as elements of a view.
  Try<void> load(const ir::PtxCall& call, const Mask& mask) {
    const auto from = values_.pointer(call.operands.back().expr);
    if (!from) return std::unexpected(from.error());
    std::int64_t offset = 0;
    for (std::size_t i = 0; i + 1 < call.operands.size(); ++i) {
      const ir::Expr target = f_[call.operands[i].expr];
      const auto to =
          element(target.buffer, std::span(target.args.begin(), target.args.size()), mask);
      if (!to) return std::unexpected(to.error());
      const int bits = num::bits_of(f_[target.buffer].dtype);
      for (std::size_t t = 0; t < mask.size(); ++t)
        if (mask[t])
          if (auto good = move(*to, t, to->bit[t], *from, t, from->bit[t] + offset, bits); !good)
            return good;
      offset += bits;
    }
    return {};
  }

  Try<void> matrix(const ir::PtxCall& call, const isa::Binding& binding, bool is_load,
                   const Mask& mask) {
    std::vector<PointerValue> registers;
    std::optional<PointerValue> rows;
    for (const ir::PtxOperand& operand : call.operands) {
      auto pointer = values_.pointer(operand.expr);
      if (!pointer) return std::unexpected(pointer.error());
      if (operand.kind == ir::PtxOperand::Kind::Address)
        rows = *std::move(pointer);
      else
        registers.push_back(*std::move(pointer));
    }
    const std::vector<isa::Fragment> fragments = isa::fragments_of(binding);
    if (!rows || fragments.empty())
      return std::unexpected(std::string("a matrix copy without rows"));
    for (std::size_t first = 0; first < mask.size(); first += 32) {
      const auto count = std::count(
          mask.begin() + static_cast<std::ptrdiff_t>(first),
          mask.begin() + static_cast<std::ptrdiff_t>(std::min(first + 32, mask.size())), true);
      if (count == 0) continue;
      if (count != 32)
        return std::unexpected(fmt::format("{}{} lanes execute {}", kWrong, count, call.opcode));
      if (auto good = matrix_of_warp(fragments[0], registers, *rows, first, is_load); !good)
        return good;
    }
    return {};
  }

  Try<void> matrix_of_warp(const isa::Fragment& fragment,
                           const std::vector<PointerValue>& registers, const PointerValue& rows,
                           std::size_t first, bool is_load) {
    const int unit = 32 / fragment.parts;
    const std::size_t matrices = registers.size() / static_cast<std::size_t>(fragment.regs);
    for (std::size_t m = 0; m < matrices; ++m)
      for (int r = 0; r < fragment.rows; ++r) {
        const std::size_t giver =
            first + m * static_cast<std::size_t>(fragment.rows) + static_cast<std::size_t>(r);
        const std::int64_t row = rows.bit[giver];
        if (row % 128 != 0)
          return std::unexpected(
              fmt::format("{}lane {} gives a row at byte {}", kWrong, giver - first, row / 8));
        for (int c = 0; c < fragment.cols; ++c) {
          const isa::FragmentPlace& place = fragment.at(r, c);
          const auto reg =
              m * static_cast<std::size_t>(fragment.regs) + static_cast<std::size_t>(place.reg);
          const std::size_t thread = first + static_cast<std::size_t>(place.lane);
          const std::int64_t in_register = registers[reg].bit[thread] + place.part * unit;
          const std::int64_t in_row = row + c * unit;
          auto good = is_load
                          ? move(registers[reg], thread, in_register, rows, giver, in_row, unit)
                          : move(rows, giver, in_row, registers[reg], thread, in_register, unit);
          if (!good) return good;
        }
      }
    return {};
  }

  ir::Function& f_;
  ProofValues& values_;
  const Granules& src_;
  Granules& dst_;
  int granule_;
  ir::BufferId src_storage_, dst_storage_;
};

// --- comparison ----------------------------------------------------------------------------------

// The least number of bits that the code moves at a time. Matrix rows are cut into single values.
int least_move(const ir::Function& f, const ir::Block& code, int element_bits) {
  constexpr int kMost = 256;
  int out = kMost;
  for (const ir::StmtId id : code) {
    const ir::Stmt& s = f[id];
    if (s.kind == StmtKind::Ptx) out = std::min(out, element_bits > 8 ? 16 : element_bits);
    if (s.kind == StmtKind::Store) out = std::min(out, element_bits);
    if (s.kind == StmtKind::Evaluate && f[s.expr].op == ir::ExprOp::Call &&
        f[s.expr].callee == ir::Intrinsic::CopyBytes)
      out = std::min(out, static_cast<int>(ir::const_int(f, f[s.expr].args[2]).value_or(1)) * 8);
    out =
        std::min({out, least_move(f, s.body, element_bits), least_move(f, s.other, element_bits)});
  }
  return out;
}

enum class Outcome : std::uint8_t { Held, HeldAlways, Skipped, Failed };

/// One unit of threads with one choice of what is known at run time only.
struct Trial {
  std::int64_t first_thread;
  int sample;
};

Outcome prove_with(const Call& call, const ir::Block& code, Trial trial, int granule,
                   Proof& proof) {
  ProofValues values(call, trial.first_thread, trial.sample);
  std::int64_t dst_elements = 0, src_elements = 0;
  const auto fail_with = [&](const std::string& why) {
    proof.could_not = why;
    return Outcome::Failed;
  };
  const auto names = [&](std::size_t argument, std::int64_t& elements) {
    return Meaning(call, values, call.region(argument), granule)
        .names(elements, trial.first_thread);
  };
  auto meant = names(0, dst_elements);
  if (!meant) return fail_with(meant.error());
  auto source = names(1, src_elements);
  if (!source) return fail_with(source.error());
  if (!*meant || !*source || dst_elements != src_elements) return Outcome::Skipped;
  if ((*source)->has_aliases()) (*meant)->rename(**source);
  Granules done = (*meant)->blank();
  Mask arriving(values.threads());
  for (std::size_t t = 0; t < arriving.size(); ++t)
    arriving[t] = call.active.may[static_cast<std::size_t>(trial.first_thread) + t];
  auto ran = Replay(call, values, **source, done, granule).block(code, arriving);
  if (!ran && ran.error().starts_with(kWrong)) {
    proof.difference = ran.error().substr(kWrong.size());
    return Outcome::Failed;
  }
  if (!ran) return fail_with(ran.error());
  proof.difference = done.difference(**meant);
  if (!proof.difference.empty()) return Outcome::Failed;
  return values.has_sampled() ? Outcome::Held : Outcome::HeldAlways;
}

Outcome prove_once(const Call& call, const ir::Block& code, Trial trial, Proof& proof) {
  const int bits = num::bits_of(call.f()[call.region(0).buffer].dtype);
  const int least = least_move(call.f(), code, bits);
  if (least > bits && least % bits == 0) {
    Proof tried;
    const Outcome outcome = prove_with(call, code, trial, least, tried);
    if (outcome != Outcome::Failed) return outcome;
  }
  return prove_with(call, code, trial, std::min(bits, least), proof);
}

}  // namespace

Proof prove_copy(const Call& call, const ir::Block& code) {
  Proof proof;
  const std::vector<std::int64_t> starts = call.unit_starts();
  if (starts.empty()) return proof;  // nobody comes here
  constexpr int kWanted = 2, kMost = 60;
  for (const std::int64_t first : {starts.front(), starts.back()}) {
    int held = 0;
    for (int sample = 0; sample < kMost && held < kWanted; ++sample) {
      const Outcome outcome = prove_once(call, code, {first, sample}, proof);
      if (outcome == Outcome::Failed) return proof;
      if (outcome == Outcome::HeldAlways) held = kWanted;
      held += outcome == Outcome::Held ? 1 : 0;
    }
    if (held == 0)
      proof.could_not = "no values were found that keep the regions inside their buffers";
    if (starts.size() == 1) break;
  }
  return proof;
}

}  // namespace ww::lower
