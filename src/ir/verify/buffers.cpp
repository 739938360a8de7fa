// SPDX-License-Identifier: Apache-2.0
// Buffers: shapes, layouts, scopes, tensor memory.
#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

#include "ir/launch/active_set.h"
#include "ir/shared_size.h"
#include "ir/verify/verifier.h"
#include "ir/visit.h"
#include "layout/image.h"
#include "layout/text.h"
#include "layout/views.h"

namespace ww::ir::verifying {
namespace {

using layout::Axis;

constexpr std::int64_t kTensorLanes = 128;
constexpr std::int64_t kTensorColumns = 512;      // of 32 bits
constexpr std::int64_t kLocalBytes = 512 * 1024;  // of a thread, on every architecture

class BufferCheck {
 public:
  BufferCheck(Context& c, const Buffer& buffer, Span span)
      : c_(c), f_(c.f), b_(buffer), span_(buffer.span.known ? buffer.span : span) {}

  /// Facts that do not depend on how the buffer comes into being.
  void run() {
    check_extents();
    check_count();
    check_offsets();
    if (b_.is_scalar && (b_.shape.size() != 1 || const_int(f_, b_.shape[0]) != 1))
      bad("scalar `{}` has shape {}, expected (1)", b_.name, shape_text(f_, b_.shape));
    if (b_.origin == BufferOrigin::View && b_.scope != f_[b_.base].scope)
      bad("`{}` is in {}, the buffer `{}` that it views in {}", b_.name, name_of(b_.scope),
          f_[b_.base].name, name_of(f_[b_.base].scope));
    if (b_.layout) check_layout(*b_.layout);
    if (b_.scope == Scope::Tmem) check_tensor();
    if (b_.origin == BufferOrigin::View) check_view();
  }

  bool can_be_allocated() {
    if (b_.scope == Scope::Global)
      bad("`{}` is allocated in global memory, which a kernel cannot allocate; give a `scope`",
          b_.name);
    if (b_.scope == Scope::Tmem)
      bad("`{}` is allocated in tensor memory, which a kernel cannot allocate; use `T.decl_buffer` "
          "with `allocated_addr`",
          b_.name);
    return b_.scope != Scope::Global && b_.scope != Scope::Tmem;
  }

  void check_alloc() {
    if (b_.scope != Scope::SharedDyn && !const_shape(f_, b_))
      bad("`{}` is allocated in {} memory with shape {}, expected constant extents", b_.name,
          name_of(b_.scope), shape_text(f_, b_.shape));
    const std::optional<std::int64_t> own = bytes();
    if (b_.scope == Scope::Local && own && *own > kLocalBytes)
      bad("`{}` takes {} bytes of each thread; a thread has {}", b_.name, *own, kLocalBytes);
    check_distinct();
  }

  /// Bytes of storage of an allocation; nothing when they are not known.
  [[nodiscard]] std::optional<std::int64_t> bytes() const { return storage_bytes(f_, b_); }

 private:
  template <typename... Args>
  void bad(fmt::format_string<Args...> format, Args&&... args) {
    c_.report(DiagKind::BadBuffer, span_, format, std::forward<Args>(args)...);
  }

  void note(std::string text) { c_.findings.back().notes.push_back({std::move(text), {}}); }

  // What a view reaches lies in the storage it views, as far as both are constant.
  void check_view() {
    const Buffer& base = f_[b_.base];
    const std::optional<std::int64_t> own = bytes();
    const std::optional<std::int64_t> whole = BufferCheck(c_, base, span_).bytes();
    const auto offset = [&](ExprId e) { return e.valid() ? const_int(f_, e) : 0; };
    const std::optional<std::int64_t> elements = offset(b_.elem_offset);
    const std::optional<std::int64_t> plain = offset(b_.byte_offset);
    if (!elements || !plain) return;
    const std::int64_t begin = *plain + *elements * num::storage_bits(b_.dtype) / 8;
    const std::int64_t element = num::storage_bits(b_.dtype) / 8;
    if (b_.scope != Scope::Tmem && element > 1 && begin % element != 0)
      c_.report(
          DiagKind::BadBuffer, span_, base,
          "`{}` begins at byte {} of `{}`, expected a multiple of {}, the bytes of an element; "
          "where it is allocated, `align={}` makes it one",
          b_.name, begin, base.name, element, element);
    if (!own || !whole) return;
    if (begin >= 0 && begin + *own <= *whole) return;
    c_.report(DiagKind::BadBuffer, span_, base,
              "`{}` reaches bytes {} to {} of `{}`, which has {}{}", b_.name, begin,
              begin + *own - 1, base.name, *whole,
              base.scope == Scope::Local ? " in each thread" : "");
  }

  void check_extents() {
    for (std::size_t i = 0; i < b_.shape.size(); ++i) {
      const Type type = f_[b_.shape[i]].type;
      if (!type.is_int() || !type.is_scalar())
        c_.report(DiagKind::BadType, span_, "extent {} of `{}` has type `{}`, expected an integer",
                  i, b_.name, to_text(type));
      if (const auto extent = const_int(f_, b_.shape[i]); extent && *extent < 1)
        bad("extent {} of `{}` is {}, expected at least 1", i, b_.name, *extent);
    }
  }

  void check_count() {
    const std::optional<layout::Shape> shape = const_shape(f_, b_);
    if (!shape) return;
    const bool is_sound = std::all_of(shape->begin(), shape->end(), [](auto n) { return n > 0; });
    if (is_sound && !layout::element_count(*shape))
      bad("`{}` of shape {} has more than the {} elements that a buffer may have", b_.name,
          shape_text(f_, b_.shape), layout::kMaxSize);
  }

  void check_offsets() {
    for (const ExprId offset : {b_.elem_offset, b_.byte_offset}) {
      if (offset.valid() && !f_[offset].type.is_int())
        c_.report(DiagKind::BadType, span_, "an offset of `{}` has type `{}`, expected an integer",
                  b_.name, to_text(f_[offset].type));
    }
    if (b_.pointer.valid() && !f_[b_.pointer].type.is_pointer())
      c_.report(DiagKind::BadType, span_, "`data` of `{}` has type `{}`, expected a pointer",
                b_.name, to_text(f_[b_.pointer].type));
  }

  void check_layout(const layout::Layout& layout) {
    if (layout.tile().has_unknown_extent()) return;
    const std::optional<layout::Shape> shape = const_shape(f_, b_);
    if (shape) {
      const Result<std::int64_t> count = layout::element_count(*shape);
      if (count && *count != layout.size()) {
        bad("the layout of `{}` has {} elements, its shape {} has {}", b_.name, layout.size(),
            shape_text(f_, b_.shape), *count);
        c_.findings.back().notes.push_back(
            {layout.size() < *count
                 ? "a layout has all elements; `L.tile_to(shape, atom_shape)` repeats an atom"
                 : "a layout has no more elements than its buffer; TVM leaves the rest unused",
             {}});
      }
    }
    check_axes(layout);
    if (b_.scope == Scope::Local || is_shared(b_.scope)) check_not_negative(layout);
  }

  // Registers are spread over threads; shared and global memory are one memory. Tensor memory says
  // it itself.
  void check_axes(const layout::Layout& layout) {
    if (b_.scope == Scope::Tmem) return;
    const bool is_spread = b_.scope == Scope::Local;
    for (const Axis axis : layout::moving_axes(layout.tile())) {
      if (axis == Axis() || (is_spread && axis.is_thread())) continue;
      bad("the layout of `{}` places elements along `{}`, expected {}", b_.name, axis.name(),
          is_spread ? "threads and `m`, as registers have" : "`m` only: it is one memory");
      if (axis.is_thread())
        note("only registers, `scope=\"local\"`, are spread over threads");
      else if (axis == layout::axes::tlane() || axis == layout::axes::tcol())
        note("`TLane` and `TCol` are those of tensor memory, `scope=\"tmem\"`");
    }
    if (is_spread) check_holders(layout);
  }

  // Two axes may read the same digits of a thread's number, as `laneid` and `tx` do. Then not every pair of
  // their values is that of a thread.
  void check_holders(const layout::Layout& layout) {
    std::vector<Axis> axes;
    for (const Axis axis : layout::moving_axes(layout.tile()))
      if (axis.facts().counter == layout::Counter::CtaThread) axes.push_back(axis);
    if (!layout::require_constant(layout, "size") || layout.size() > layout::kMaxEnumerated) return;
    for (std::size_t i = 0; i < axes.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (shares_digits(axes[i].facts(), axes[j].facts()))
          check_holders(layout, {axes[j], axes[i]});
  }

  static bool shares_digits(const layout::AxisFacts& a, const layout::AxisFacts& b) {
    const auto ends_before = [](const layout::AxisFacts& x, const layout::AxisFacts& y) {
      return x.modulus != 0 && x.divisor * x.modulus <= y.divisor;
    };
    return !ends_before(a, b) && !ends_before(b, a);
  }

  void check_holders(const layout::Layout& layout, const std::array<Axis, 2>& axes) {
    std::array<std::vector<std::int64_t>, 2> places;
    for (std::size_t k = 0; k < 2; ++k) {
      places[k].resize(static_cast<std::size_t>(layout.size()));
      layout::enumerate_axis(layout, axes[k], places[k]);
    }
    const auto read_by = [&](std::int64_t thread, std::size_t k) {
      const layout::AxisFacts& facts = axes[k].facts();
      const std::int64_t digits = thread / facts.divisor;
      return facts.modulus != 0 ? digits % facts.modulus : digits;
    };
    std::set<std::pair<std::int64_t, std::int64_t>> held;
    for (std::int64_t t = 0; t < static_cast<std::int64_t>(kMaxThreads); ++t)
      held.emplace(read_by(t, 0), read_by(t, 1));
    for (std::size_t x = 0; x < places[0].size(); ++x) {
      if (held.contains({places[0][x], places[1][x]})) continue;
      bad("element {} of `{}` lies at `{}` {} and `{}` {}, which is no thread: both count the "
          "threads of a CTA",
          x, b_.name, axes[0].name(), places[0][x], axes[1].name(), places[1][x]);
      return;
    }
  }

  void check_not_negative(const layout::Layout& layout) {
    for (const Axis axis : layout.tile().axes()) {
      if (!axis.is_memory() || !layout.tile().offset().on(axis).is_constant()) continue;
      std::int64_t least = layout.tile().range_on(axis).min;
      if (axis == Axis() && b_.elem_offset.valid()) {
        const std::optional<std::int64_t> offset = const_int(f_, b_.elem_offset);
        if (!offset) continue;
        least += *offset;
      }
      if (least < 0)
        bad("an element of `{}` lies at {} {}, expected 0 or more", b_.name, axis.name(), least);
    }
  }

  // Layouts too large to enumerate are let through.
  void check_distinct() {
    if (!b_.layout) return;
    const auto found = layout::find_collision(*b_.layout);
    if (!found || !*found) return;
    bad("elements {} and {} of `{}` share one place in the layout `{}`", (*found)->first,
        (*found)->second, b_.name, layout::to_text(*b_.layout));
  }

  // --- tensor memory ---

  void check_tensor() {
    if (b_.origin != BufferOrigin::View) {
      if (!b_.allocated_addr.valid()) {
        bad("`{}` is in tensor memory and has no address, expected `allocated_addr=`", b_.name);
      } else if (f_[b_.allocated_addr].type != Type::of(num::DType::Uint32)) {
        c_.report(DiagKind::BadType, span_,
                  "`allocated_addr` of `{}` has type `{}`, expected `uint32`", b_.name,
                  to_text(f_[b_.allocated_addr].type));
      }
    }
    if (!b_.layout) {
      bad("`{}` is in tensor memory and has no layout over `TLane` and `TCol`", b_.name);
      return;
    }
    for (const Axis axis : layout::moving_axes(b_.layout->tile())) {
      if (axis != layout::axes::tlane() && axis != layout::axes::tcol())
        bad("the layout of `{}` uses axis `{}`, expected `TLane` and `TCol` only", b_.name,
            axis.name());
    }
    if (!layout::require_constant(*b_.layout, "size")) return;
    check_within(layout::axes::tlane(), 1, kTensorLanes, "lanes");
    // Columns count elements; those of 8 and 16 bits share a 32-bit column.
    check_within(layout::axes::tcol(), std::max(1, 32 / num::bits_of(b_.dtype)), kTensorColumns,
                 "columns");
  }

  void check_within(Axis axis, std::int64_t per_unit, std::int64_t limit, std::string_view what) {
    const layout::Range range = b_.layout->tile().range_on(axis);
    const std::int64_t units = range.max / per_unit + 1;
    if (range.min < 0) bad("an element of `{}` lies at {} {}", b_.name, axis.name(), range.min);
    if (units > limit)
      bad("`{}` takes {} {} of tensor memory, which has {}", b_.name, units, what, limit);
  }

  Context& c_;
  const Function& f_;
  const Buffer& b_;
  Span span_;
};

std::int64_t most_shared_bytes() {
  std::int64_t most = 0;
  for (const target::ArchInfo& arch : target::kArchs)
    most = std::max<std::int64_t>(most, arch.static_shared_bytes);
  return most;
}

std::int64_t static_shared_limit(const VerifyOptions& options) {
  return options.target ? target::info(options.target->arch).static_shared_bytes
                        : most_shared_bytes();
}

/// Adds up what all allocations take together.
class Totals {
 public:
  explicit Totals(Context& c) : c_(c), limit_(static_shared_limit(c.options)) {}

  void add(const Buffer& buffer, Span span, std::optional<std::int64_t> bytes) {
    if (buffer.scope == Scope::SharedDyn) {
      if (dynamic_ != nullptr)
        c_.report(DiagKind::BadBuffer, span, *dynamic_,
                  "`{}` is a second allocation of shared.dyn; `{}` is the only one there can be",
                  buffer.name, dynamic_->name);
      dynamic_ = &buffer;
      if (bytes && *bytes > most_shared_bytes())
        c_.report(DiagKind::BadBuffer, span,
                  "`{}` takes {} bytes of dynamic shared memory; no architecture has more than {}",
                  buffer.name, *bytes, most_shared_bytes());
    }
    if (buffer.scope != Scope::Shared || !bytes) return;
    const bool fitted = used_ <= limit_;
    used_ = end_in_shared(used_, buffer, *bytes);
    if (fitted && used_ > limit_)
      c_.report(DiagKind::BadBuffer, span, "`{}` brings static shared memory to {} bytes; {} {}",
                buffer.name, used_,
                c_.options.target
                    ? fmt::format("{} has", target::info(c_.options.target->arch).name)
                    : "no architecture has more than",
                limit_);
  }

 private:
  Context& c_;
  std::int64_t limit_;
  std::int64_t used_ = 0;
  const Buffer* dynamic_ = nullptr;
};

}  // namespace

void check_buffers(Context& c) {
  Totals totals(c);
  for (const Param& param : c.f.params) {
    if (param.buffer.valid()) BufferCheck(c, c.f[param.buffer], {}).run();
  }
  for_each_stmt(c.f, [&](StmtId id) {
    const Stmt& s = c.f[id];
    if (s.kind != StmtKind::Alloc && s.kind != StmtKind::Declare) return;
    const Buffer& buffer = c.f[s.buffer];
    BufferCheck check(c, buffer, s.span);
    if (s.kind == StmtKind::Alloc && !check.can_be_allocated()) return;
    check.run();
    if (s.kind == StmtKind::Declare) return;
    check.check_alloc();
    totals.add(buffer, buffer.span.known ? buffer.span : s.span, check.bytes());
  });
}

}  // namespace ww::ir::verifying
