// SPDX-License-Identifier: Apache-2.0
#include "lower/engines.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <random>
#include <utility>

#include "base/check.h"
#include "eval/eval.h"
#include "eval/value/arithmetic.h"
#include "ir/launch/launch.h"
#include "ir/param_use.h"
#include "ir/print/print.h"
#include "lower/edges.h"
#include "lower/lower.h"

namespace ww::test {
namespace {

// --- arguments -----------------------------------------------------------------------------------

Bytes random_bytes(std::size_t size, bool is_bool, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  Bytes out(size);
  for (std::byte& each : out) {
    const auto drawn = static_cast<unsigned char>(engine() >> 32U);
    each = static_cast<std::byte>(is_bool ? drawn & 1U : drawn);
  }
  return out;
}

// Elements that numbers are drawn for.
Bytes random_numbers(std::size_t count, num::DType type, Inputs inputs, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> normal;
  std::uniform_int_distribution<int> whole(-4, 4);
  const auto size = static_cast<std::size_t>(num::bits_of(type)) / 8;
  Bytes out(count * size);
  for (std::size_t i = 0; i < count; ++i) {
    const double drawn = inputs == Inputs::Whole ? whole(engine) : normal(engine);
    const eval::Word bits = eval::from_real(type, drawn);
    std::memcpy(out.data() + i * size, &bits, size);
  }
  return out;
}

Bytes random_edges(std::size_t count, num::DType type, std::size_t size, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  Bytes out(count * size);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t bits = edgy_bits(type, engine);
    std::memcpy(out.data() + i * size, &bits, size);
  }
  return out;
}

Arg scalar_arg(const ir::Var& var, const Scalars& scalars) {
  Arg arg{.name = var.name};
  const auto given = scalars.find(var.name);
  arg.bits = given == scalars.end() ? 0 : static_cast<std::uint64_t>(given->second);
  arg.scalar_bytes = static_cast<std::size_t>(std::max(1, num::bits_of(var.type.dtype) / 8));
  return arg;
}

class ArgMaker {
 public:
  ArgMaker(const ir::Function& tile, const Scalars& scalars, std::uint64_t seed, Inputs inputs)
      : f_(tile), scalars_(scalars), seed_(seed), inputs_(inputs) {}

  std::vector<Arg> make() {
    const std::vector<ir::ParamUse> uses = ir::param_uses(f_);
    std::vector<Arg> out;
    for (std::size_t i = 0; i < f_.params.size(); ++i) {
      const ir::Var& var = f_[f_.params[i].var];
      const ir::BufferId buffer = ir::buffer_of_param(f_, i);
      out.push_back(var.type.is_pointer() ? array(f_[buffer], uses[i].is_output(), i)
                                          : scalar_arg(var, scalars_));
    }
    return out;
  }

 private:
  [[nodiscard]] std::int64_t extent(ir::ExprId expr) const {
    if (const auto constant = ir::const_int(f_, expr)) return *constant;
    if (f_[expr].op == ir::ExprOp::Mul) return extent(f_[expr].args[0]) * extent(f_[expr].args[1]);
    const auto given = scalars_.find(f_[f_[expr].var].name);
    WW_CHECK(given != scalars_.end(), "no value for `{}`", ir::print(f_, expr));
    return given->second;
  }

  [[nodiscard]] Arg array(const ir::Buffer& buffer, bool is_output, std::size_t index) const {
    Arg arg{.name = buffer.name, .is_array = true, .is_output = is_output};
    std::int64_t size = 1;
    for (const ir::ExprId each : buffer.shape) {
      arg.shape.push_back(extent(each));
      size *= arg.shape.back();
    }
    const auto bits = static_cast<std::size_t>(eval::storage_bits(buffer.dtype));
    arg.element_bytes = std::max<std::size_t>(1, bits / 8);
    arg.packed = std::max<std::size_t>(1, 8 / bits);
    arg.dtype = buffer.dtype;
    arg.has_any_nan = inputs_ == Inputs::Edges && num::is_float(buffer.dtype);
    const std::size_t bytes = static_cast<std::size_t>(size) / arg.packed * arg.element_bytes;
    arg.bytes = is_output ? Bytes(bytes, std::byte{0xCD}) : contents(arg, bytes, index);
    return arg;
  }

  [[nodiscard]] Bytes contents(const Arg& arg, std::size_t bytes, std::size_t index) const {
    const std::uint64_t seed = seed_ * 1000 + index;
    if (inputs_ == Inputs::Edges)
      return random_edges(bytes / arg.element_bytes, arg.dtype, arg.element_bytes, seed);
    if (inputs_ != Inputs::Bits && num::kind_of(arg.dtype) == num::DTypeKind::Float)
      return random_numbers(bytes / arg.element_bytes, arg.dtype, inputs_, seed);
    return random_bytes(bytes, arg.dtype == num::DType::Bool, seed);
  }

  const ir::Function& f_;
  const Scalars& scalars_;
  std::uint64_t seed_;
  Inputs inputs_;
};

}  // namespace

std::vector<Arg> make_args(const ir::Function& tile, const Scalars& scalars, std::uint64_t seed,
                           Inputs inputs) {
  return ArgMaker(tile, scalars, seed, inputs).make();
}

void add_lowered_args(std::vector<Arg>& args, const ir::Function& lowered, const Scalars& scalars) {
  for (std::size_t i = args.size(); i < lowered.params.size(); ++i)
    args.push_back(scalar_arg(lowered[lowered.params[i].var], scalars));
}

// --- the evaluator -------------------------------------------------------------------------------

namespace {

std::string text_of(const eval::Finding& finding) {
  return fmt::format("{}: {} {}", eval::name_of(finding.check), finding.text, finding.note);
}

// Every n-th flag: those of the bytes that elements are packed in.
void keep_every(std::vector<bool>& flags, std::size_t n) {
  if (n == 1) return;
  for (std::size_t i = 0; i * n < flags.size(); ++i) flags[i] = flags[i * n];
  flags.resize(flags.size() / n);
}

std::vector<std::int64_t> shape_of(const Arg& arg, bool is_flat) {
  if (!is_flat) return arg.shape;
  return {static_cast<std::int64_t>(arg.bytes.size() / arg.element_bytes * arg.packed)};
}

}  // namespace

// Lowered programs see arrays as flat.
std::optional<std::string> evaluate(const ir::Function& function, const std::vector<Arg>& args,
                                    Results& out, bool& is_evaluated, std::uint64_t schedule) {
  const bool is_flat = function.level == ir::Level::Lowered;
  out.arrays.clear();
  for (const Arg& arg : args) out.arrays.push_back(arg.bytes);
  std::vector<eval::Argument> arguments;
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (args[i].is_array)
      arguments.emplace_back(
          eval::BufferArg{&out.arrays[i], shape_of(args[i], is_flat), !args[i].is_output});
    else
      arguments.emplace_back(eval::ScalarArg{args[i].bits});
  }
  auto report = eval::run(function, std::move(arguments), {.seed = schedule});
  is_evaluated = report.has_value() || report.error().kind != DiagKind::NotEvaluated;
  if (!report) return "the evaluator: " + report.error().text;
  if (!report->good()) return text_of(report->findings.front());
  out.written = std::move(report->written);
  for (std::size_t i = 0; i < args.size(); ++i) keep_every(out.written[i], args[i].packed);
  return std::nullopt;
}

// --- the virtual GPU -----------------------------------------------------------------------------

namespace {

Result<runtime::Launch> launch_of(const ir::Function& lowered) {
  const ir::LaunchShape shape = WW_TRY(ir::launch_shape(lowered));
  runtime::Launch out;
  for (std::size_t d = 0; d < 3; ++d) {
    out.grid[d] = static_cast<std::uint32_t>(shape.grid[d].value);
    out.block[d] = static_cast<std::uint32_t>(shape.block[d]);
  }
  out.dynamic_shared = static_cast<std::uint32_t>(lower::dynamic_shared_bytes(lowered));
  return out;
}

sim::Dim3 dim3(const runtime::Dims& dims) { return {dims[0], dims[1], dims[2]}; }

std::string text_of(const sim::Program& program, const sim::Finding& finding) {
  const std::string_view at = finding.who.op == sim::kNoOp
                                  ? std::string_view("?")
                                  : program.line(program.infos[finding.who.op].line);
  return fmt::format("{}: {} at `{}`", sim::name_of(finding.check), finding.text, at);
}

class Simulation {
 public:
  Simulation(const Loaded& loaded, const ir::Function& lowered, const std::vector<Arg>& args)
      : program_(loaded.program),
        shared_unit_(loaded.shared_unit),
        reads_beside_(loaded.reads_beside),
        lowered_(lowered),
        args_(args),
        device_(program_) {}

  /// Turns by primitive: from the comment that names it to the next barrier or primitive.
  [[nodiscard]] std::vector<Turns> turns() const {
    std::vector<Turns> out;
    bool is_inside = false;
    std::uint32_t line = 0;
    for (std::uint32_t op = launch_.kernel->first_op; op < launch_.kernel->end_op; ++op) {
      for (; line < program_->infos[op].line; ++line) {
        const std::string_view text = program_->line(line + 1);
        if (text.starts_with("bar")) is_inside = false;
        if (!text.starts_with("//") || text.find(" by ") == std::string_view::npos) continue;
        is_inside = true;
        out.emplace_back();
      }
      if (!is_inside) continue;
      out.back().needed += static_cast<std::int64_t>(counters_.ops[op].wavefronts);
      out.back().ideal += static_cast<std::int64_t>(counters_.ops[op].ideal_wavefronts);
    }
    return out;
  }

  std::optional<std::string> run(Results& out) {
    bind();
    const auto shape = launch_of(lowered_);
    if (!shape) return "the launch: " + shape.error().text;
    launch_.grid = dim3(shape->grid);
    launch_.block = dim3(shape->block);
    launch_.dynamic_shared =
        (shape->dynamic_shared + shared_unit_ - 1) / shared_unit_ * shared_unit_;
    sim::RunOptions options;
    options.threads = 1;
    options.count = true;
    options.schedule = {.is_random = true, .seed = 7};
    options.limits.instructions = 50'000'000;
    const auto report = device_.run(launch_, options);
    if (!report) return "the launch: " + report.error().text;
    for (const sim::Finding& each : report->findings.list()) {
      std::string text = text_of(*program_, each);
      const bool is_beside = text.starts_with("race: reads ") && text.contains("ld.shared.v");
      if (!reads_beside_ || !is_beside) return text;
    }
    if (report->outcome != sim::Outcome::Finished)
      return fmt::format("{}: {}", sim::name_of(report->outcome), report->reason);
    counters_ = report->counters;
    collect(out);
    return std::nullopt;
  }

 private:
  void bind() {
    launch_.kernel = program_->find_kernel(lowered_.name);
    WW_CHECK(launch_.kernel != nullptr, "no kernel `{}` in the PTX", lowered_.name);
    launch_.params.resize(launch_.kernel->param_bytes);
    for (std::size_t i = 0; i < args_.size(); ++i) {
      std::uint64_t bits = args_[i].bits;
      sim::Region* region = nullptr;
      if (args_[i].is_array) {
        region = &device_.memory().allocate(args_[i].bytes.size(), 256, args_[i].name);
        if (!args_[i].is_output) sim::GlobalMemory::write(*region, args_[i].bytes);
        bits = region->base;
      }
      regions_.push_back(region);
      const sim::Param& param = launch_.kernel->params[i];
      std::memcpy(launch_.params.data() + param.offset, &bits, param.bytes);
    }
  }

  void collect(Results& out) const {
    out.arrays.assign(args_.size(), {});
    out.written.assign(args_.size(), {});
    for (std::size_t i = 0; i < args_.size(); ++i) {
      if (!args_[i].is_array) continue;
      const sim::Region& region = *regions_[i];
      out.arrays[i].assign(region.data, region.data + args_[i].bytes.size());
      for (std::size_t at = 0; at < args_[i].bytes.size(); at += args_[i].element_bytes)
        out.written[i].push_back(region.undefined == nullptr || region.undefined[at] == 0);
    }
  }

  std::shared_ptr<const sim::Program> program_;
  std::uint32_t shared_unit_;
  bool reads_beside_;
  const ir::Function& lowered_;
  const std::vector<Arg>& args_;
  sim::Device device_;
  sim::Launch launch_;
  sim::Counters counters_;
  std::vector<sim::Region*> regions_;
};

}  // namespace

std::optional<std::string> simulate(const Loaded& loaded, const ir::Function& lowered,
                                    const std::vector<Arg>& args, Results& out,
                                    std::vector<Turns>* turns) {
  Simulation simulation(loaded, lowered, args);
  auto why = simulation.run(out);
  if (!why && turns != nullptr) *turns = simulation.turns();
  return why;
}

// --- a device ------------------------------------------------------------------------------------

namespace {

// What outputs hold before the first run, and before the second: no byte is the same.
constexpr std::array<std::byte, 2> kPatterns{std::byte{0xCB}, std::byte{0x34}};

class DeviceRun {
 public:
  DeviceRun(runtime::Device& device, const std::vector<Arg>& args) : device_(device), args_(args) {}

  Result<void> load(const std::string& ptx, const ir::Function& lowered) {
    launch_ = WW_TRY(launch_of(lowered));
    WW_TRY_VOID(device_.load({.bytes = ptx, .kernel = lowered.name}));
    for (const Arg& arg : args_) {
      if (arg.is_array)
        launch_.arguments.push_back({WW_TRY(device_.allocate(arg.bytes.size(), arg.name))});
      else
        launch_.arguments.push_back({arg.bits, static_cast<std::uint32_t>(arg.scalar_bytes)});
    }
    return {};
  }

  Result<std::vector<Bytes>> once(std::byte pattern) {
    for (std::size_t i = 0; i < args_.size(); ++i) {
      if (!args_[i].is_array) continue;
      const Bytes before =
          args_[i].is_output ? Bytes(args_[i].bytes.size(), pattern) : args_[i].bytes;
      WW_TRY_VOID(device_.upload(launch_.arguments[i].bits, before));
    }
    WW_TRY_VOID(device_.launch(launch_));
    std::vector<Bytes> out(args_.size());
    for (std::size_t i = 0; i < args_.size(); ++i) {
      if (!args_[i].is_array) continue;
      out[i].resize(args_[i].bytes.size());
      WW_TRY_VOID(device_.download(out[i], launch_.arguments[i].bits));
    }
    return out;
  }

 private:
  runtime::Device& device_;
  const std::vector<Arg>& args_;
  runtime::Launch launch_;
};

// Which elements do not hold the pattern any more.
std::vector<bool> changed(const Arg& arg, const Bytes& bytes, std::byte pattern) {
  std::vector<bool> out;
  for (auto at = bytes.begin(); at != bytes.end();) {
    const auto end = at + static_cast<std::ptrdiff_t>(arg.element_bytes);
    out.push_back(std::any_of(at, end, [&](std::byte each) { return each != pattern; }));
    at = end;
  }
  return out;
}

// Written: changed in either run. What a kernel writes does not depend on what was there, so both
// runs left the same in those.
std::optional<std::string> merge(const std::vector<Arg>& args, const std::vector<Bytes>& second,
                                 Results& out) {
  Results again{.arrays = second};
  for (std::size_t i = 0; i < args.size(); ++i) {
    out.written.push_back(changed(args[i], out.arrays[i], kPatterns[0]));
    const std::vector<bool> other = changed(args[i], second[i], kPatterns[1]);
    for (std::size_t at = 0; at < other.size(); ++at)
      out.written[i][at] = out.written[i][at] || other[at];
  }
  again.written = out.written;
  if (const auto found = difference_of(args, out, again))
    return "two runs on the same inputs differ: " + *found;
  return std::nullopt;
}

std::string text_of(const Diag& problem) {
  std::string out = problem.text;
  for (const Note& note : problem.notes) out += "\n" + note.text;
  return out;
}

}  // namespace

std::optional<std::string> run_on(runtime::Device& device, const std::string& ptx,
                                  const ir::Function& lowered, const std::vector<Arg>& args,
                                  Results& out) {
  DeviceRun run(device, args);
  if (const auto loaded = run.load(ptx, lowered); !loaded) return text_of(loaded.error());
  auto first = run.once(kPatterns[0]);
  if (!first) return text_of(first.error());
  const auto second = run.once(kPatterns[1]);
  if (!second) return text_of(second.error());
  out = {.arrays = *std::move(first)};
  return merge(args, *second, out);
}

// --- comparison ----------------------------------------------------------------------------------

double number_at(const Arg& arg, const Bytes& bytes, std::size_t unit) {
  eval::Word bits = 0;
  std::memcpy(&bits, bytes.data() + unit * arg.element_bytes, arg.element_bytes);
  return eval::as_real(arg.dtype, bits);
}

namespace {

std::string place_of(const Arg& arg, std::size_t unit) {
  std::string out;
  auto rest = static_cast<std::int64_t>(unit * arg.packed);
  for (std::size_t d = arg.shape.size(); d-- > 0; rest /= arg.shape[d])
    out = fmt::format("{}{}{}", rest % arg.shape[d], out.empty() ? "" : ", ", out);
  return fmt::format("{}[{}]", arg.name, out);
}

bool is_near(double expected, double seen, double tolerance) {
  if (std::isnan(expected) || std::isnan(seen)) return std::isnan(expected) && std::isnan(seen);
  return expected == seen ||
         std::abs(expected - seen) <= tolerance * std::max(1., std::abs(expected));
}

std::optional<std::string> difference_of(const Arg& arg, const Bytes& expected, const Bytes& seen,
                                         const std::vector<bool>& expected_written,
                                         const std::vector<bool>& seen_written, double tolerance) {
  const std::size_t size = arg.element_bytes;
  for (std::size_t i = 0; i * size < expected.size(); ++i) {
    if (arg.is_output && expected_written[i] != seen_written[i])
      return fmt::format("`{}` is {}written, expected that it is{}", place_of(arg, i),
                         seen_written[i] ? "" : "not ", expected_written[i] ? "" : " not");
    if (arg.is_output && !expected_written[i]) continue;
    const auto at = static_cast<std::ptrdiff_t>(i * size);
    const auto end = at + static_cast<std::ptrdiff_t>(size);
    if (std::equal(expected.begin() + at, expected.begin() + end, seen.begin() + at)) continue;
    if (arg.has_any_nan && std::isnan(number_at(arg, expected, i)) &&
        std::isnan(number_at(arg, seen, i)))
      continue;
    if (tolerance == 0)
      return fmt::format("`{}` has other bits than in the tile program", place_of(arg, i));
    const double wanted = number_at(arg, expected, i), got = number_at(arg, seen, i);
    if (!is_near(wanted, got, tolerance))
      return fmt::format("`{}` is {}, and {} in the tile program, which is more than {} apart",
                         place_of(arg, i), got, wanted, tolerance);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> distance_of(const std::vector<Arg>& args, const Results& expected,
                                       const Results& seen, double tolerance) {
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (!args[i].is_array) continue;
    if (auto found = difference_of(args[i], expected.arrays[i], seen.arrays[i], expected.written[i],
                                   seen.written[i], tolerance))
      return found;
  }
  return std::nullopt;
}

std::optional<std::string> difference_of(const std::vector<Arg>& args, const Results& expected,
                                         const Results& seen) {
  return distance_of(args, expected, seen, 0);
}

}  // namespace ww::test
