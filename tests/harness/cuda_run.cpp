// SPDX-License-Identifier: Apache-2.0
#include "harness/cuda_run.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <set>
#include <sstream>
#include <stdexcept>

#include "eval/value/arithmetic.h"
#include "foreign/corpus.h"
#include "foreign/toolchain.h"
#include "harness/emitted.h"
#include "sim/launch.h"

namespace ww::emit::test {
namespace {

using num::DType;
using Bytes = std::vector<std::byte>;

// --- arguments -----------------------------------------------------------------------------------

double input_number(DType type, bool small, std::mt19937& random) {
  const bool is_float = num::kind_of(type) == num::DTypeKind::Float;
  const bool is_uint = num::kind_of(type) == num::DTypeKind::Uint;
  if (small) return static_cast<double>(random() % 7) - (is_uint ? 0 : 3);
  switch (random() % 8) {
    case 0:
      return 0;
    case 1:
      return is_uint ? 1 : -1;
    case 2:
      return is_float ? -0.0 : 7;
    case 3:
      return is_float ? std::numeric_limits<double>::quiet_NaN() : 2;
    case 4:
      return is_float ? std::numeric_limits<double>::infinity() : 31;
    default:
      if (!is_float) return static_cast<double>(random() % 4001) - (is_uint ? 0 : 2000);
      // More bits than any of the narrow types has, so that results are rounded.
      return std::ldexp(static_cast<double>(random()) - 2147483648.0,
                        static_cast<int>(random() % 12) - 29);
  }
}

eval::Word input_word(DType type, bool small, std::mt19937& random) {
  const bool is_float = num::kind_of(type) == num::DTypeKind::Float;
  if (type == DType::Bool) return random() % 2;
  if (!small && !is_float && random() % 3 == 0) {  // any bits, the least number among them
    const int bits = num::bits_of(type);
    const eval::Word any = (eval::Word{random()} << 32 | random()) & eval::low_mask(bits);
    return random() % 4 == 0 ? eval::Word{1} << (bits - 1) : any;
  }
  return eval::from_real(type, input_number(type, small, random));
}

Bytes input_bytes(DType type, std::size_t elements, bool small, std::mt19937& random) {
  const auto size = static_cast<std::size_t>(num::storage_bits(type)) / 8;
  Bytes out(elements * size);
  for (std::size_t i = 0; i < elements; ++i) {
    const eval::Word word = input_word(type, small, random);
    std::memcpy(out.data() + i * size, &word, size);
  }
  return out;
}

std::size_t elements_of(const ir::Function& f, ir::BufferId buffer) {
  std::size_t out = 1;
  const auto shape = ir::const_shape(f, f[buffer]);
  for (const std::int64_t extent : *shape) out *= static_cast<std::size_t>(extent);
  return out;
}

struct Run {
  ir::Function function;
  std::vector<DType> types;
  std::vector<Bytes> inputs;
  std::vector<Bytes> expected;
};

// What the evaluator says.
Run evaluated(const Kernel& kernel) {
  Run run{
      .function = engines::function_of(kernel.source), .types = {}, .inputs = {}, .expected = {}};
  std::mt19937 random(7);
  for (std::size_t i = 0; i < run.function.params.size(); ++i) {
    const ir::BufferId buffer = ir::buffer_of_param(run.function, i);
    const bool is_scalar = !buffer.valid();
    run.types.push_back(is_scalar ? run.function[run.function.params[i].var].type.dtype
                                  : run.function[buffer].dtype);
    const std::size_t elements = is_scalar ? 1 : elements_of(run.function, buffer);
    run.inputs.push_back(input_bytes(run.types[i], elements, kernel.small || is_scalar, random));
  }
  engines::KernelRun evaluated = engines::evaluate(run.function, run.inputs);
  if (!evaluated.complaints.empty())
    throw std::runtime_error(run.function.name + ": " + evaluated.complaints);
  run.expected = std::move(evaluated.arrays);
  return run;
}

// --- on the virtual GPU --------------------------------------------------------------------------

std::string difference(const Kernel& kernel, const Run& run, std::size_t param,
                       const Bytes& found) {
  const DType type = run.types[param];
  const auto size = static_cast<std::size_t>(num::storage_bits(type)) / 8;
  const Bytes& expected = run.expected[param];
  for (std::size_t i = 0; i < expected.size() / size; ++i) {
    eval::Word x = 0, y = 0;
    std::memcpy(&x, found.data() + i * size, size);
    std::memcpy(&y, expected.data() + i * size, size);
    if (x == y) continue;
    const double a = eval::as_real(type, x), b = eval::as_real(type, y);
    if (num::kind_of(type) == num::DTypeKind::Float && std::isnan(a) && std::isnan(b)) continue;
    if (std::fabs(a - b) <= kernel.tolerance * std::max(1.0, std::fabs(b))) continue;
    return fmt::format("{}: parameter {}, element {}: {} (0x{:x}), expected {} (0x{:x})\n",
                       run.function.name, param, i, a, x, b, y);
  }
  return "";
}

std::string simulated(const Kernel& kernel, const Run& run,
                      const std::shared_ptr<const sim::Program>& program) {
  const engines::KernelRun outcome = engines::simulate(program, run.function, run.inputs);
  if (!outcome.complaints.empty())
    return fmt::format("{}: {}", run.function.name, outcome.complaints);
  for (std::size_t i = 0; i < run.inputs.size(); ++i) {
    if (!ir::buffer_of_param(run.function, i).valid()) continue;
    std::string text = difference(kernel, run, i, outcome.arrays[i]);
    if (!text.empty()) return text;
  }
  return "";
}

}  // namespace

std::string joined(const std::vector<std::string>& sources) {
  std::set<std::string> includes;
  std::string bodies;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    bodies += fmt::format("namespace kernel_{} {{\n", i);
    std::istringstream in(sources[i]);
    for (std::string line; std::getline(in, line);) {
      if (line.starts_with("#include"))
        includes.insert(line);
      else
        bodies += line + "\n";
    }
    bodies += "}\n";
  }
  std::string out;
  for (const std::string& include : includes) out += include + "\n";
  return out + bodies;
}

namespace {

// "" or what nvcc says.
std::string compile_to_ptx(const corpus::Toolchain& tools, const std::vector<std::string>& sources,
                           const std::string& arch, const std::filesystem::path& folder) {
  std::ofstream(folder / "kernels.cu") << joined(sources);
  const corpus::Outcome outcome =
      tools.compile(folder / "kernels.cu", arch,
                    {"-std=c++17", "-Xcompiler", "-Wall,-Wextra", "-Werror", "all-warnings"},
                    folder, "kernels.ptx");
  return outcome.status == 0 ? "" : outcome.output;
}

}  // namespace

std::string compile_all(const std::vector<std::string>& sources, const std::string& arch,
                        bool& skipped) {
  const auto tools = corpus::Toolchain::find();
  skipped = !tools || !tools->knows(arch);
  if (skipped) return "";
  const corpus::TestFolder folder;
  return compile_to_ptx(*tools, sources, arch, folder.path());
}

std::shared_ptr<const sim::Program> load_all(const std::vector<ir::Function>& functions,
                                             const std::string& arch, std::string& problem,
                                             bool& skipped) {
  const auto tools = corpus::Toolchain::find();
  skipped = !tools || !tools->knows(arch);
  if (skipped) return nullptr;
  std::vector<std::string> sources;
  CudaOptions options;
  options.target.arch = target::parse_arch(arch).value();
  for (const ir::Function& function : functions) {
    const auto source = cuda_source(function, options);
    if (!source) problem = fmt::format("{}: {}\n", function.name, source.error().text);
    if (!source) return nullptr;
    sources.push_back(*source);
  }
  const corpus::TestFolder folder;
  problem = compile_to_ptx(*tools, sources, arch, folder.path());
  if (!problem.empty()) return nullptr;
  const std::string text = corpus::read_text(folder.path() / "kernels.ptx");
  sim::LoadResult loaded = sim::load(text, "kernels.ptx");
  if (loaded.program == nullptr) problem = loaded.errors.at(0).text;
  return loaded.program;
}

std::string run_all(const std::vector<Kernel>& kernels, const std::string& arch, bool& skipped) {
  std::vector<Run> runs;
  std::vector<ir::Function> functions;
  for (const Kernel& kernel : kernels) {
    runs.push_back(evaluated(kernel));
    functions.push_back(runs.back().function);
  }
  std::string problem;
  const auto program = load_all(functions, arch, problem, skipped);
  if (program == nullptr) return problem;
  for (std::size_t i = 0; i < kernels.size(); ++i)
    problem += simulated(kernels[i], runs[i], program);
  return problem;
}

}  // namespace ww::emit::test
