// SPDX-License-Identifier: Apache-2.0
#include "engines/random_copies.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "engines/copy_frame.h"
#include "engines/programs.h"

namespace ww::test {
namespace {

struct Iter {
  std::int64_t extent = 1;
  std::int64_t stride = 0;
  std::string axis = {};  // empty: memory
};

std::string notation(const std::vector<Iter>& iters, char letter) {
  std::vector<std::string> extents, strides;
  for (const Iter& iter : iters) {
    extents.push_back(std::to_string(iter.extent));
    strides.push_back(fmt::format("{}{}", iter.stride, iter.axis.empty() ? "" : " @ " + iter.axis));
  }
  const std::string tail = iters.size() == 1 ? "," : "";
  return fmt::format("{}[({}{}) : ({}{})]", letter, fmt::join(extents, ", "), tail,
                     fmt::join(strides, ", "), tail);
}

class CopyMaker {
 public:
  explicit CopyMaker(const Choices& choices) : tape_(choices), frame_(tape_) {}

  RandomProgram make() {
    KernelText text(frame_.threads, frame_.dtype, frame_.ctas);
    if (frame_.has_scalar) text.scalar("p0");
    const auto links = static_cast<std::size_t>(1 + tape_.below(4));
    std::vector<Operand> chain;
    for (std::size_t i = 0; i <= links; ++i) chain.push_back(operand(chain));
    for (std::size_t i = 0; i < chain.size(); ++i) declare(text, chain[i], i);
    text.sync();
    write_copies(text, chain);
    for (std::size_t i = 1; i < chain.size(); ++i) text.dump(name(i), chain[i]);
    RandomProgram out;
    out.program = {
        .source = text.text(), .target = frame_.target, .scalars = {{"p0", frame_.scalar}}};
    for (std::size_t i = 1; i < chain.size(); ++i)
      out.is_matrix_pair.push_back(is_matrix_pair(chain[i - 1], chain[i]));
    out.moves_registers = moves_registers_;
    out.indexes_registers = indexes_registers_;
    out.has_replicas = has_replicas_;
    out.runs_once = frame_.loop == 0 && !frame_.has_scalar && frame_.ctas == 1 &&
                    frame_.unit.scope != "thread" &&
                    (frame_.threads == frame_.unit.threads || frame_.only_unit >= 0);
    return out;
  }

 private:
  static std::string name(std::size_t i) { return fmt::format("b{}", i); }

  static bool is_matrix_pair(const Operand& one, const Operand& other) {
    const auto is_shared = [](const Operand& each) { return each.memory.starts_with("shared"); };
    return (one.memory == "local" && is_shared(other)) ||
           (other.memory == "local" && is_shared(one));
  }

  // --- operands ---

  Operand operand(const std::vector<Operand>& before) {
    static const std::vector<std::string> kMemories = {"shared", "local", "global", "local",
                                                       "shared.dyn"};
    static const std::vector<std::string> kOfFragments = {"shared", "local",      "local",
                                                          "local",  "shared.dyn", "global"};
    std::string memory = tape_.pick(frame_.fragment.words > 0 ? kOfFragments : kMemories);
    const bool after_registers = !before.empty() && before.back().memory == "local";
    if (memory == "local" && (before.empty() || (after_registers && !tape_.one_in(6))))
      memory = "shared";
    if (memory == "shared.dyn" && used_dynamic_) memory = "shared";
    used_dynamic_ = used_dynamic_ || memory == "shared.dyn";
    if (memory != "local") return bounded(memory_operand(memory, before.empty()), before.empty());
    if (after_registers) moves_registers_ = true;
    if (after_registers) return repeated_registers(before.back());
    return frame_.fragment.words > 0 && !tape_.one_in(5) ? fragment_operand() : register_operand();
  }

  // Shared memory is small: what does not fit goes to global memory.
  Operand bounded(Operand operand, bool is_only_read) {
    if (operand.memory == "global") return operand;
    constexpr std::int64_t kMaxBytes = 40000;
    constexpr std::int64_t kMaxPerElement = 8;
    if (shared_bytes_ + span_ * kMaxPerElement > kMaxBytes)
      return memory_operand("global", is_only_read);
    shared_bytes_ += span_ * kMaxPerElement;
    return operand;
  }

  // A region of the tile's extents, somewhere in a larger shape.
  struct Place {
    Extents shape;
    std::vector<std::string> ranges;
    bool is_whole = true;
  };

  void add_index(Place& place, std::int64_t extent, const std::string& index) {
    place.shape.push_back(extent);
    place.ranges.push_back(index);
  }

  // What CTAs only read, they may share.
  Place place(bool is_global, bool is_only_read) {
    Place out;
    if (is_global && frame_.ctas > 1 && !(is_only_read && tape_.one_in(2)))
      add_index(out, frame_.ctas, "cta");
    if (!frame_.unit.number.empty() && frame_.threads / frame_.unit.threads > 1 &&
        frame_.only_unit < 0)
      add_index(out, frame_.threads / frame_.unit.threads, frame_.unit.number);
    if (frame_.loop > 0 && tape_.one_in(2)) add_index(out, frame_.loop, "it");
    for (const std::int64_t extent : frame_.tile) add_dimension(out, extent);
    return out;
  }

  void add_dimension(Place& out, std::int64_t extent) {
    const std::int64_t kind = tape_.below(10);
    std::int64_t whole = extent;
    std::string start = "0";
    // Matrix instructions want 16 bytes; here and there they do not get them.
    const std::int64_t unit =
        frame_.fragment.words > 0 && !tape_.one_in(6) ? 128 / bits_of(frame_.dtype) : 1;
    if (kind == 7) {  // a constant start, and perhaps something behind
      const std::int64_t first = tape_.pick<std::int64_t>({extent, unit, 2 * unit, 4, 8, 3 * unit});
      whole = extent + first + tape_.pick<std::int64_t>({0, unit, 4 * unit, extent});
      start = std::to_string(first);
    } else if (kind == 8 && frame_.loop > 0) {
      whole = extent * frame_.loop;
      start = fmt::format("it * {}", extent);
    } else if (kind == 9 && frame_.has_scalar) {
      const std::int64_t step = tape_.pick<std::int64_t>({unit, 4, 8, extent});
      whole = extent + 3 * step;
      start = step == 1 ? "p0" : fmt::format("p0 * {}", step);
    }
    out.is_whole = out.is_whole && whole == extent;
    out.shape.push_back(whole);
    out.ranges.push_back(whole == extent ? fmt::format("0:{}", extent)
                                         : fmt::format("{}:{} + {}", start, start, extent));
  }

  static std::string region_of(const Place& place) {
    return fmt::format("[{}]", fmt::join(place.ranges, ", "));
  }

  Operand memory_operand(const std::string& memory, bool is_only_read) {
    const Place where = place(memory == "global", is_only_read);
    Operand out{.memory = memory, .shape = where.shape, .region = region_of(where)};
    if (tape_.one_in(5)) take_view(out);
    const Extents& shape = out.view.empty() ? out.shape : out.viewed;
    if (frame_.fragment.words > 0 && memory != "global" && !tape_.one_in(8)) {
      out.layout = matrix_layout(shape);
      return out;
    }
    const std::int64_t kind = memory == "global" && !out.view.empty() ? 0 : tape_.below(4);
    std::vector<Iter> iters = split(shape);
    std::int64_t& span = span_;
    span = nest(iters, kind >= 2);
    if (kind == 0) return out;
    const bool may_repeat = memory != "global" && !is_only_read && out.view.empty();
    if (kind == 1 && may_repeat && tape_.one_in(4)) {
      out.layout = tile(fmt::format("{} + R[2 : {}]", notation(iters, 'S'), span));
      out.places = span *= 2;
      has_replicas_ = true;
      return out;
    }
    std::int64_t offset = tape_.one_in(6) ? tape_.pick<std::int64_t>({4, 8, 1, 16}) : 0;
    span += offset;
    if (tape_.one_in(8)) offset += turn_around(iters);
    if (memory == "global" && is_only_read && tape_.one_in(6)) tape_.pick(iters).stride = 0;
    std::string text = notation(iters, 'S');
    if (offset > 0) text += fmt::format(" + {}", offset);
    if (memory != "global" && tape_.one_in(3)) {
      const int p = static_cast<int>(tape_.pick<std::int64_t>({3, 2, 4, 1, 0}));
      const int sw = static_cast<int>(1 + tape_.below(3));
      const int at = static_cast<int>(3 + tape_.below(2));
      out.layout = swizzled(p, sw, at, text);
      return out;
    }
    out.layout = tile(text);
    if (memory == "global") out.registers = span;
    return out;
  }

  // The operand as a view: of a buffer with exchanged dimensions, or as part of a larger one.
  void take_view(Operand& out) {
    const std::size_t rank = out.shape.size();
    if (rank > 1 && tape_.one_in(2)) {
      const auto turn =
          static_cast<std::size_t>(1 + tape_.below(static_cast<std::int64_t>(rank) - 1));
      std::vector<std::size_t> dims;
      for (std::size_t d = 0; d < rank; ++d) {
        dims.push_back((d + turn) % rank);
        out.viewed.push_back(out.shape[(d + rank - turn) % rank]);
      }
      out.view = fmt::format(".permute({})", fmt::join(dims, ", "));
      return;
    }
    out.viewed = out.shape;
    out.viewed.insert(out.viewed.begin(), 2);
    const std::string all = box(Extents(rank), out.shape);
    out.view = ".sub[1, " + all.substr(1);
  }

  // One iter runs backwards. What its first element is moved by.
  std::int64_t turn_around(std::vector<Iter>& iters) {
    Iter& iter = tape_.pick(iters);
    iter.stride = -iter.stride;
    return -iter.stride * (iter.extent - 1);
  }

  // Rows that matrix instructions like: row-major, with padding, or swizzled in units of 16 bytes.
  std::string matrix_layout(const Extents& shape) {
    const std::int64_t kind = tape_.below(3);
    const std::int64_t unit = 128 / bits_of(frame_.dtype);  // elements of 16 bytes
    std::vector<Iter> iters;
    for (const std::int64_t extent : shape) iters.push_back({.extent = extent});
    std::int64_t stride = 1;
    for (std::size_t d = iters.size(); d-- > 0;) {
      iters[d].stride = stride;
      stride *= iters[d].extent;
      if (kind == 1 && d + 1 == iters.size()) stride += unit;
    }
    span_ = stride;
    const std::string text = notation(iters, 'S');
    if (kind < 2) return tile(text);
    int p = 0;
    while ((std::int64_t{1} << p) < unit) ++p;
    return swizzled(p, static_cast<int>(1 + tape_.below(3)), 3, text);
  }

  // Each extent as one or more iters.
  std::vector<Iter> split(const Extents& shape) {
    std::vector<Iter> out;
    for (std::int64_t extent : shape) {
      for (const std::int64_t factor : {2, 4, 8, 3})
        if (extent % factor == 0 && extent > factor && tape_.one_in(4)) {
          out.push_back({.extent = factor});
          extent /= factor;
        }
      out.push_back({.extent = extent});
    }
    return out;
  }

  std::vector<std::size_t> order_of(std::size_t count) {
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::reverse(order.begin(), order.end());
    if (!tape_.one_in(3)) return order;
    for (std::size_t i = count; i > 1; --i)
      std::swap(order[i - 1],
                order[static_cast<std::size_t>(tape_.below(static_cast<std::int64_t>(i)))]);
    return order;
  }

  // Strides that nest in some order, with gaps if wanted. The span.
  std::int64_t nest(std::vector<Iter>& iters, bool is_padded) {
    std::int64_t stride = 1, span = 1;
    for (const std::size_t i : order_of(iters.size())) {
      if (!iters[i].axis.empty()) continue;
      if (is_padded && tape_.one_in(4)) stride += tape_.pick<std::int64_t>({8, 1, 4, stride});
      iters[i].stride = stride;
      span += (iters[i].extent - 1) * stride;
      stride *= iters[i].extent;
    }
    return span;
  }

  // --- registers ---

  Operand register_operand() {
    Extents shape = frame_.tile;
    std::string region = box(Extents(shape.size()), shape);
    if (tape_.one_in(5)) {
      const auto d = static_cast<std::size_t>(tape_.below(static_cast<std::int64_t>(shape.size())));
      Extents begin(shape.size());
      begin[d] = tape_.one_in(2) ? frame_.tile[d] : 0;
      shape[d] *= 2;
      region = box(begin, frame_.tile);
    }
    std::vector<Iter> iters = split(shape);
    std::vector<Iter> replicas;
    spread(iters, replicas);
    if (frame_.loop > 0 && tape_.one_in(4)) {
      shape.insert(shape.begin(), frame_.loop);
      iters.insert(iters.begin(), Iter{.extent = frame_.loop});
      region = "[it, " + region.substr(1);
      indexes_registers_ = true;
    }
    const std::int64_t span = nest(iters, tape_.one_in(4));
    std::string text = notation(iters, 'S');
    if (!replicas.empty()) text += " + " + notation(replicas, 'R');
    registers_ = iters;
    replicas_ = replicas;
    return {.memory = "local",
            .shape = shape,
            .layout = tile(text),
            .region = region,
            .registers = span};
  }

  // Rows of matrices over lanes in fours, words of them within; their registers in either order.
  Operand fragment_operand() {
    const bool is_row_first = tape_.one_in(2);
    const std::int64_t words = frame_.fragment.words;
    const std::string warp = frame_.unit.scope == "wg" ? "wid_in_wg" : "warpid";
    std::vector<Iter> rows = {
        {frame_.fragment.high, is_row_first ? words : words * frame_.fragment.wide},
        {8, 4, "laneid"}};
    if (frame_.fragment.warps > 1)
      rows.insert(rows.begin() + (tape_.one_in(3) ? 1 : 0), Iter{frame_.fragment.warps, 1, warp});
    const std::vector<Iter> columns = {
        {frame_.fragment.wide, is_row_first ? words * frame_.fragment.high : words},
        {4, 1, "laneid"},
        {words, 1}};
    std::vector<Iter> iters = frame_.fragment.is_turned ? columns : rows;
    const std::vector<Iter>& inner = frame_.fragment.is_turned ? rows : columns;
    iters.insert(iters.end(), inner.begin(), inner.end());
    registers_ = iters;
    replicas_.clear();
    return {.memory = "local",
            .shape = frame_.tile,
            .layout = tile(notation(iters, 'S')),
            .region = box(Extents(frame_.tile.size()), frame_.tile),
            .registers = words * frame_.fragment.high * frame_.fragment.wide};
  }

  // Gives iters to the thread axes, as many as fit, in some order.
  void spread(std::vector<Iter>& iters, std::vector<Iter>& replicas) {
    const auto& axes = tape_.pick(frame_.unit.axes);
    for (const auto& [axis, extent] : axes) {
      std::int64_t stride = tape_.one_in(6) && extent % 2 == 0 ? 2 : 1;
      if (stride == 2 && tape_.one_in(2)) replicas.push_back({2, 1, axis});
      for (const std::size_t i : order_of(iters.size())) {
        Iter& iter = iters[iters.size() - 1 - i];
        const bool fits = iter.axis.empty() && stride * iter.extent <= extent &&
                          extent % (stride * iter.extent) == 0;
        if (!fits || iter.extent == 1 || tape_.one_in(4)) continue;
        iter.axis = axis;
        iter.stride = stride;
        stride *= iter.extent;
      }
      if (stride < extent && tape_.one_in(3)) replicas.push_back({extent / stride, stride, axis});
    }
  }

  // The same threads, the registers in another order.
  Operand repeated_registers(const Operand& before) {
    std::vector<Iter> iters = registers_;
    const std::int64_t span = nest(iters, false);
    std::string text = notation(iters, 'S');
    if (!replicas_.empty()) text += " + " + notation(replicas_, 'R');
    Operand out = before;
    out.layout = tile(text);
    out.registers = span;
    registers_ = iters;
    return out;
  }

  // --- text ---

  // What is read first is filled; so is what is written, but for buffers that stay outputs.
  void declare(KernelText& text, Operand& operand, std::size_t i) {
    if (operand.memory == "global") {
      text.declare(name(i), operand, i > 0);
      return;
    }
    text.declare(name(i), operand, false);
    text.fill(name(i), operand);
  }

  void write_copies(KernelText& text, const std::vector<Operand>& chain) {
    std::string indent;
    if (frame_.loop > 0) {
      text.line(fmt::format("for it in range({}):", frame_.loop));
      indent = "    ";
    }
    for (std::size_t i = 1; i < chain.size(); ++i) {
      const std::string scope = frame_.unit.scope == "thread" ? "" : "." + frame_.unit.scope;
      std::string inner = indent;
      if (!frame_.guard.empty()) {
        text.line(fmt::format("{}if {}:", indent, frame_.guard));
        inner += "    ";
      }
      const bool is_async = chain[i - 1].memory == "global" &&
                            chain[i].memory.starts_with("shared") && tape_.one_in(3);
      const std::string_view settings =
          !is_async && tape_.one_in(10) ? ", dispatch=\"fallback\"" : "";
      text.line(fmt::format("{}Tx{}.{}({}{}, {}{}{})", inner, scope,
                            is_async ? "copy_async" : "copy", name(i), chain[i].region, name(i - 1),
                            chain[i - 1].region, settings));
      if (is_async) {
        text.line(inner + "T.ptx.cp_async.commit_group()");
        text.line(inner + "T.ptx.cp_async.wait_group(0)");
      }
      text.line(indent + "T.cuda.cta_sync()");
    }
  }

  Tape tape_;
  CopyFrame frame_;
  bool used_dynamic_ = false;
  std::int64_t shared_bytes_ = 0;
  std::int64_t span_ = 0;  // of the last memory operand
  bool moves_registers_ = false;
  bool indexes_registers_ = false;
  bool has_replicas_ = false;
  std::vector<Iter> registers_, replicas_;  // of the last register operand
};

}  // namespace

RandomProgram random_program(const Choices& choices) { return CopyMaker(choices).make(); }

}  // namespace ww::test
