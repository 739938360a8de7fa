// SPDX-License-Identifier: Apache-2.0
#include "soak/scopes/program.h"

#include <fmt/format.h>

#include "engines/programs.h"
#include "soak/frame.h"

namespace ww::test {
namespace {

using Texts = std::vector<std::string>;

constexpr std::int64_t kElements = 512;  // of every buffer

struct Named {
  std::string name;
  Operand operand;
};

class Maker {
 public:
  explicit Maker(Tape& tape)
      : tape_(tape),
        target_(choose_target(tape)),
        dtype_(tape.pick(Texts{"float32", "float16", "int32", "uint8", "int64"})),
        threads_(tape.pick<std::int64_t>({128, 64, 256})),
        text_(threads_, dtype_) {}

  WholeProgram make() {
    add("g", global({kElements}));
    add("h", global({kElements}));
    add("s", shared({kElements}));
    const std::int64_t count = 1 + tape_.below(3);
    for (std::int64_t i = 0; i < count; ++i) add(fmt::format("r{}", i), spread());
    text_.sync();
    const std::int64_t statements = 1 + tape_.below(3);
    for (std::int64_t i = 0; i < statements; ++i) statement();
    for (const Named& each : buffers_) text_.dump(each.name, each.operand);
    WholeProgram out{
        .program = {.source = text_.text(), .target = target_, .inputs = Inputs::Whole},
        .steps = steps_};
    out.program.seed = 1 + static_cast<std::uint64_t>(tape_.below(1000));
    return out;
  }

 private:
  // Global memory: `g` is read, `h` is written.
  void add(const std::string& name, const Operand& operand) {
    text_.declare(name, operand, name == "h");
    text_.fill(name, operand);
    buffers_.push_back({name, operand});
  }

  // Registers that threads hold in runs of neighbours, or one element after the other. A layout of
  // lanes alone gives each warp a tile of its own.
  Operand spread() {
    struct Axis {
      const char* name;
      std::int64_t extent;
    };
    std::vector<std::vector<Axis>> ways = {{{"tx", threads_}},
                                           {{"laneid", 32}},
                                           {{"warpid", threads_ / 32}, {"laneid", 32}},
                                           {{"laneid", 32}, {"warpid", threads_ / 32}}};
    if (threads_ % 128 == 0) {
      ways.push_back({{"tid_in_wg", 128}});
      ways.push_back({{"wid_in_wg", 4}, {"laneid", 32}});
    }
    const std::vector<Axis>& axes = tape_.pick(ways);
    std::int64_t held = kElements;
    std::string extents, strides;
    for (const auto& [name, extent] : axes) {
      held /= extent;
      extents += fmt::format("{}, ", extent);
      strides += fmt::format("1 @ {}, ", name);
    }
    const bool is_striped = tape_.one_in(3);
    const std::string layout = is_striped
                                   ? fmt::format("S[({}, {}) : (1, {})]", held, extents, strides)
                                   : fmt::format("S[({}{}) : ({}1)]", extents, held, strides);
    return registers({kElements}, layout, held);
  }

  struct Scope {
    std::string prefix, number;
    std::int64_t units;
  };
  Scope scope() {
    std::vector<Scope> all = {
        {"warp.", "warp", threads_ / 32}, {"cta.", "", 1}, {"", "tid", threads_}};
    if (threads_ % 128 == 0) all.push_back({"wg.", "wg", threads_ / 128});
    return tape_.pick(all);
  }

  // The same elements of all operands: all, the first or last of them, or a part for each unit.
  std::string region(const Scope& scope) {
    const std::int64_t part = kElements >> (1 + tape_.below(4));
    switch (tape_.below(4)) {
      case 0:
        return fmt::format("[0:{}]", part);
      case 1:
        return fmt::format("[{}:{}]", kElements - part, kElements);
      case 2:
        return fmt::format("[0:{}]", kElements);
      default: {
        const std::int64_t each = kElements / scope.units;
        if (scope.number.empty()) return fmt::format("[0:{}]", kElements);
        return fmt::format("[{0} * {1} : {0} * {1} + {1}]", scope.number, each);
      }
    }
  }

  const std::string& any(bool is_written) {
    const Named& out = tape_.pick(buffers_);
    if (is_written && out.name == "g") return buffers_[1].name;
    if (!is_written && out.name == "h") return buffers_[0].name;
    return out.name;
  }
  const std::string& any_registers() {
    return buffers_[3 + static_cast<std::size_t>(
                            tape_.below(static_cast<std::int64_t>(buffers_.size() - 3)))]
        .name;
  }

  void statement() {
    const Scope by = scope();
    std::string indent;
    if (tape_.one_in(4)) {
      indent = "    ";
      text_.line(tape_.pick(Texts{
          "if warp == 0:", "if warp == 1:", "if tid < 64:", "if tid < 32:", "if warp % 2 == 1:"}));
    }
    const std::string part = region(by), head = fmt::format("{}Tx.{}", indent, by.prefix);
    const std::string unit =
        by.prefix.empty() ? "thread" : by.prefix.substr(0, by.prefix.size() - 1);
    switch (tape_.below(4)) {
      case 0:
      case 1: {
        const std::string to = any(true), from = any(false);
        text_.line(fmt::format("{}copy({}{}, {}{})", head, to, part, from, part));
        ++steps_["scopes: copy, " + unit];
        break;
      }
      case 2: {
        const std::string word = tape_.pick(Texts{"add", "mul", "maximum"});
        const std::string to = any_registers(), a = any_registers();
        const std::string b = tape_.one_in(2) ? "3" : any_registers() + part;
        text_.line(fmt::format("{}{}({}{}, {}{}, {})", head, word, to, part, a, part, b));
        ++steps_["scopes: arithmetic, " + unit];
        break;
      }
      default:
        text_.line(
            fmt::format("{}fill({}{}, 5)", head, tape_.one_in(3) ? "s" : any_registers(), part));
        ++steps_["scopes: fill, " + unit];
    }
    text_.sync();
  }

  Tape& tape_;
  std::string target_, dtype_;
  std::int64_t threads_;
  KernelText text_;
  std::vector<Named> buffers_;
  std::map<std::string, std::uint64_t> steps_;
};

}  // namespace

WholeProgram scope_program(Tape& tape) { return Maker(tape).make(); }

}  // namespace ww::test
