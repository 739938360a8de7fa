// SPDX-License-Identifier: Apache-2.0
#include "gemm_measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "contents.h"
#include "cublas_numbers.h"
#include "runtime/cuda_device.h"

namespace ww::bench {
namespace {

using runtime::Address;
using runtime::CudaDevice;

std::optional<double> tera_of(const Turns& turns, double operations) {
  if (!turns.good()) return std::nullopt;
  return operations / turns.median() / 1e12;
}

std::optional<double> share_of(std::optional<double> ours, std::optional<double> theirs) {
  if (!ours || !theirs) return std::nullopt;
  return *ours / *theirs;
}

// --- one row -------------------------------------------------------------------------------------

struct Memory {
  Matrices at = {};
  Address bias = 0;
  Address other_d = 0;              // of cuBLAS
  Address ones = 0, workspace = 0;  // of cuBLASLt
};

struct Ready {
  CudaDevice* device = nullptr;
  runtime::Launch launch = {};
};

class RowRun {
 public:
  RowRun(const GemmOptions& options, Rivals& rivals, Gpu& gpu, GemmResult& result)
      : options_(options),
        rivals_(rivals),
        gpu_(gpu),
        result_(result),
        problem_(result.row.problem),
        operands_(problem_),
        ready_(result.kernels.size()) {}

  void run(const std::vector<std::optional<driver::Build>>& builds);

 private:
  Result<void> allocate();
  void set_up_ceiling();
  Result<void> open_cublas();
  Result<void> submit_to_cublas(void* stream = nullptr) const;
  void set_up_cublas();
  void set_up_triton();
  Result<void> load(const driver::Build& build, std::size_t which);
  Result<runtime::Value> argument(const ir::Function& tile, std::size_t param) const;
  void check(std::size_t which);
  Result<void> poison(Address d);
  Result<std::vector<std::byte>> contents(Address d);
  Result<std::vector<std::byte>> made_by(std::size_t which);
  Result<double> turn_of(std::size_t which);
  Result<void> choose_launches();
  Result<void> choose_passes(double seconds);
  void compete();

  const GemmOptions& options_;
  Rivals& rivals_;
  Gpu& gpu_;
  GemmResult& result_;
  const Problem& problem_;
  Operands operands_;
  Memory memory_;
  std::vector<Ready> ready_;  // per kernel; no device: not in the race
  std::optional<MmaCeiling> ceiling_;
  std::int32_t passes_ = 1;
  std::optional<Cublas> cublas_;
  std::optional<CublasLt> cublas_lt_;  // in its place, where the product needs it
  std::vector<std::byte> made_by_cublas_;
  bool has_triton_ = false;
};

Result<void> RowRun::allocate() {
  CudaDevice& device = gpu_.memory();
  const auto make = [&](num::DType type, std::size_t elements, const Operand* contents,
                        std::string_view name) -> Result<Address> {
    const std::size_t bytes = bytes_of(type, elements);
    const Address out = WW_TRY(device.allocate(bytes, name));
    if (contents != nullptr) WW_TRY_VOID(fill_with(device, out, bytes, contents->bytes()));
    return out;
  };
  memory_.at.a = WW_TRY(make(problem_.dtype, problem_.a_elements(), &operands_.a, "A"));
  memory_.at.b = WW_TRY(make(problem_.dtype, problem_.b_elements(), &operands_.b, "B"));
  memory_.at.d = WW_TRY(make(problem_.out, problem_.d_elements(), nullptr, "D"));
  memory_.other_d = WW_TRY(make(problem_.out, problem_.d_elements(), nullptr, "D of cuBLAS"));
  if (problem_.epilogue != Epilogue::None)
    memory_.bias = WW_TRY(
        make(bias_type(problem_), static_cast<std::size_t>(problem_.n), &operands_.bias, "bias"));
  memory_.workspace = WW_TRY(device.allocate(kCublasWorkspace, "workspace of cuBLAS"));
  if (!needs_cublas_lt(problem_)) return {};
  const float one = 1;
  memory_.ones = WW_TRY(device.allocate(sizeof one, "ones"));
  return device.upload(memory_.ones, std::as_bytes(std::span(&one, 1)));
}

Result<void> RowRun::poison(Address d) {
  const std::vector<std::byte> nans(std::size_t{1} << 20U, std::byte{0xFF});
  return fill_with(gpu_.memory(), d, bytes_of(problem_.out, problem_.d_elements()), nans);
}

Result<std::vector<std::byte>> RowRun::contents(Address d) {
  std::vector<std::byte> out(bytes_of(problem_.out, problem_.d_elements()));
  WW_TRY_VOID(gpu_.memory().download(out, d));
  return out;
}

// --- who takes part ------------------------------------------------------------------------------

// wgmma has another ceiling.
void RowRun::set_up_ceiling() {
  if (!result_.row.tiles.front().is_of_warps()) return;
  auto made = MmaCeiling::make(gpu_, problem_.dtype);
  if (made)
    ceiling_ = *std::move(made);
  else
    result_.ceiling.absent = words_of(made.error());
}

Result<void> RowRun::open_cublas() {
  if (!needs_cublas_lt(problem_)) {
    if (!rivals_.cublas) return fail(rivals_.cublas.error());
    cublas_.emplace(WW_TRY(Cublas::open(*rivals_.cublas, memory_.workspace)));
    return {};
  }
  if (!rivals_.cublas_lt) return fail(rivals_.cublas_lt.error());
  cublas_lt_.emplace(WW_TRY(CublasLt::make(*rivals_.cublas_lt, problem_,
                                           {.a = memory_.at.a,
                                            .b = memory_.at.b,
                                            .d = memory_.other_d,
                                            .bias = memory_.bias,
                                            .ones = memory_.ones,
                                            .workspace = memory_.workspace})));
  return {};
}

Result<void> RowRun::submit_to_cublas(void* stream) const {
  if (cublas_lt_) return cublas_lt_->submit(stream);
  return cublas_->submit(problem_, {memory_.at.a, memory_.at.b, memory_.other_d}, stream);
}

void RowRun::set_up_cublas() {
  const auto start = [&]() -> Result<void> {
    WW_TRY_VOID(open_cublas());
    WW_TRY_VOID(poison(memory_.other_d));
    WW_TRY_VOID(submit_to_cublas());
    made_by_cublas_ = WW_TRY(contents(memory_.other_d));  // waits for it
    return {};
  };
  if (const auto started = start(); !started) {
    cublas_.reset();
    cublas_lt_.reset();
    made_by_cublas_.clear();
    result_.cublas.absent = words_of(started.error());
  }
}

void RowRun::set_up_triton() {
  if (!rivals_.triton) {
    result_.triton.absent = words_of(rivals_.triton.error());
    return;
  }
  const auto prepared = rivals_.triton->prepare(problem_);
  has_triton_ = prepared.has_value();
  (prepared ? result_.triton.detail : result_.triton.absent) =
      prepared ? *prepared : words_of(prepared.error());
}

// A parameter gets the matrix of its buffer's name.
Result<runtime::Value> RowRun::argument(const ir::Function& tile, std::size_t param) const {
  const ir::BufferId id = ir::buffer_of_param(tile, param);
  if (!id.valid()) return fail(DiagKind::BadArgument, "a parameter of `{}` is no array", tile.name);
  struct Array {
    std::string_view name;
    num::DType type;
    std::size_t elements;
    Address address;
  };
  const Array arrays[] = {
      {"A", problem_.dtype, problem_.a_elements(), memory_.at.a},
      {"B", problem_.dtype, problem_.b_elements(), memory_.at.b},
      {"D", problem_.out, problem_.d_elements(), memory_.at.d},
      {"bias", bias_type(problem_), static_cast<std::size_t>(problem_.n), memory_.bias}};
  const ir::Buffer& buffer = tile[id];
  const auto* const found = std::ranges::find(arrays, std::string_view(buffer.name), &Array::name);
  if (found == std::end(arrays) || found->address == 0)
    return fail(DiagKind::BadArgument, "`{}` of `{}` is no matrix of this product", buffer.name,
                tile.name);
  std::size_t elements = 1;
  for (const ir::ExprId extent : buffer.shape)
    elements *= static_cast<std::size_t>(ir::const_int(tile, extent).value_or(0));
  if (buffer.dtype == found->type && elements == found->elements)
    return runtime::Value{found->address};
  return fail(DiagKind::BadArgument, "`{}` of `{}` is {} x {}, expected {} x {}", buffer.name,
              tile.name, elements, num::name_of(buffer.dtype), found->elements,
              num::name_of(found->type));
}

Result<void> RowRun::load(const driver::Build& build, std::size_t which) {
  GemmKernel& kernel = result_.kernels[which];
  if (!options_.ptxas.empty()) {
    const auto size = runtime::assembled_size(options_.ptxas, build.ptx, build.target->arch);
    if (size) kernel.assembled = *size;
  }
  std::vector<runtime::Value> arguments;
  for (std::size_t i = 0; i < build.tile().params.size(); ++i)
    arguments.push_back(WW_TRY(argument(build.tile(), i)));
  const runtime::Launch launch = WW_TRY(launch_of(*build.lowered, std::move(arguments)));
  CudaDevice* const device = WW_TRY(gpu_.load(build));
  kernel.shared = launch.dynamic_shared;
  if (const auto resources = device->resources()) {
    kernel.registers = resources->registers;
    kernel.local = resources->local;
    kernel.shared += resources->static_shared;
  }
  ready_[which] = {device, launch};
  return {};
}

// --- right or wrong ------------------------------------------------------------------------------

Result<std::vector<std::byte>> RowRun::made_by(std::size_t which) {
  WW_TRY_VOID(poison(memory_.at.d));
  const Ready& ready = ready_[which];
  if (const auto done = ready.device->launch(ready.launch); !done) {
    gpu_.lose(*ready.device);
    return fail(done.error());
  }
  return contents(memory_.at.d);
}

void RowRun::check(std::size_t which) {
  GemmKernel& kernel = result_.kernels[which];
  const auto compare = [&]() -> Result<void> {
    const std::vector<std::byte> d = WW_TRY(made_by(which));
    kernel.checked = WW_TRY(check_product(problem_, operands_, d));
    if (!made_by_cublas_.empty() && problem_.epilogue != Epilogue::BiasRelu)
      kernel.compared = WW_TRY(check_same(problem_, d, made_by_cublas_, "cuBLAS"));
    return {};
  };
  if (const auto right = compare(); !right) {
    kernel.wrong = words_of(right.error());
    ready_[which] = {};
  }
}

// --- the race ------------------------------------------------------------------------------------

Result<double> RowRun::turn_of(std::size_t which) {
  const Ready& ready = ready_[which];
  if (gpu_.is_lost()) return fail(DiagKind::DeviceError, "the GPU failed in another kernel");
  auto seconds = runtime::time_in_a_row(*ready.device, ready.launch, result_.launches);
  if (!seconds) gpu_.lose(*ready.device);
  return seconds;
}

// A turn of the ceiling is as long as one of ours.
Result<void> RowRun::choose_passes(double seconds) {
  const double operations = problem_.operations() * result_.launches;
  const std::int32_t passes = ceiling_->passes_for(operations);
  const double once = WW_TRY(ceiling_->time(passes));
  passes_ = ceiling_->passes_for(ceiling_->operations(passes) * seconds / std::max(once, 1e-6));
  result_.ceiling.operations = ceiling_->operations(passes_);
  return {};
}

Result<void> RowRun::choose_launches() {
  double fastest = HUGE_VAL;
  for (const Ready& ready : ready_) {
    if (ready.device == nullptr) continue;
    const auto timing = ready.device->time(ready.launch, 3);
    if (!timing) gpu_.lose(*ready.device);
    fastest = std::min(fastest, WW_TRY(timing).fastest);
  }
  result_.launches = launches_for(fastest);
  if (ceiling_) WW_TRY_VOID(choose_passes(fastest * result_.launches));
  return {};
}

void RowRun::compete() {
  std::vector<Competitor> competitors;
  std::vector<Turns*> places;
  const auto add = [&](std::string name, Turns& place, std::function<Result<double>()> turn) {
    competitors.push_back({std::move(name), std::move(turn)});
    places.push_back(&place);
  };
  const double operations = problem_.operations() * result_.launches;
  if (ceiling_) add("ceiling", result_.ceiling.turns, [&] { return ceiling_->time(passes_); });
  if (cublas_ || cublas_lt_) {
    result_.cublas.operations = operations;
    add("cuBLAS", result_.cublas.turns, [this] {
      return runtime::time_in_a_row(
          gpu_.memory(),
          {[this](void* stream) { return submit_to_cublas(stream); }, "running cuBLAS"},
          result_.launches);
    });
  }
  for (std::size_t i = 0; i < ready_.size(); ++i)
    if (ready_[i].device != nullptr)
      add(tile_text(result_.kernels[i].tile), result_.kernels[i].turns,
          [this, i] { return turn_of(i); });
  if (has_triton_) {
    result_.triton.operations = operations;
    add("Triton", result_.triton.turns, [&] { return rivals_.triton->time(result_.launches); });
  }
  std::vector<Turns> turns = take_turns(competitors, options_.rounds);
  for (std::size_t i = 0; i < turns.size(); ++i) *places[i] = std::move(turns[i]);
}

void RowRun::run(const std::vector<std::optional<driver::Build>>& builds) {
  const auto for_all = [&](std::string_view text) {
    for (GemmKernel& kernel : result_.kernels)
      if (kernel.left_out.empty() && kernel.wrong.empty()) kernel.left_out = text;
  };
  if (const auto made = allocate(); !made) return for_all(words_of(made.error()));
  for (std::size_t i = 0; i < builds.size(); ++i) {
    if (!builds[i]) continue;
    if (const auto loaded = load(*builds[i], i); !loaded)
      result_.kernels[i].left_out = words_of(loaded.error());
  }
  set_up_cublas();
  for (std::size_t i = 0; i < ready_.size() && !gpu_.is_lost(); ++i)
    if (ready_[i].device != nullptr) check(i);
  if (gpu_.is_lost()) return for_all("the GPU failed in another kernel");
  if (std::ranges::all_of(ready_, [](const Ready& ready) { return ready.device == nullptr; }))
    return;
  set_up_ceiling();
  set_up_triton();
  if (const auto chosen = choose_launches(); !chosen) return for_all(words_of(chosen.error()));
  compete();
  for (GemmKernel& kernel : result_.kernels)
    if (!kernel.turns.failure.empty()) kernel.wrong = kernel.turns.failure;
  for (Rival* const rival : {&result_.ceiling, &result_.cublas, &result_.triton})
    if (!rival->turns.failure.empty()) rival->absent = rival->turns.failure;
}

}  // namespace

// --- results -------------------------------------------------------------------------------------

std::optional<double> Rival::tera() const { return tera_of(turns, operations); }

std::optional<double> GemmResult::tera(const GemmKernel& kernel) const {
  if (!kernel.has_number()) return std::nullopt;
  return tera_of(kernel.turns, row.problem.operations() * launches);
}

std::optional<double> GemmResult::best_tera(const GemmKernel& kernel) const {
  if (!kernel.has_number()) return std::nullopt;
  return row.problem.operations() * launches / kernel.turns.fastest() / 1e12;
}

std::optional<double> GemmResult::of_ceiling(const GemmKernel& kernel) const {
  return share_of(tera(kernel), ceiling.tera());
}

std::optional<double> GemmResult::of_cublas(const GemmKernel& kernel) const {
  return share_of(tera(kernel), cublas.tera());
}

bool GemmResult::good() const {
  return std::ranges::all_of(kernels,
                             [](const GemmKernel& kernel) { return kernel.wrong.empty(); });
}

int launches_for(double seconds) {
  constexpr double kTurn = 0.02;
  constexpr double kMax = 1000;
  return static_cast<int>(std::clamp(std::ceil(kTurn / std::max(seconds, 1e-9)), 1.0, kMax));
}

GemmResult GemmBench::measure(const GemmRow& row) {
  GemmResult out{.row = row, .rounds = options_.rounds};
  auto gpu = Gpu::open(calls_);
  const auto source = options_.source(row.file);
  std::vector<std::optional<driver::Build>> builds;
  for (const Tile& tile : row.tiles) {
    GemmKernel& kernel = out.kernels.emplace_back(GemmKernel{.tile = tile});
    builds.emplace_back();
    if (!gpu || !source) {
      kernel.left_out = words_of(gpu ? source.error() : gpu.error());
      continue;
    }
    auto built = build_for(*gpu->memory().native_target(), *source, expression_of(row, tile));
    if (built)
      builds.back() = *std::move(built);
    else
      kernel.left_out = words_of(built.error());
  }
  if (std::ranges::none_of(builds, [](const auto& build) { return build.has_value(); })) return out;
  RowRun(options_, *rivals_, *gpu, out).run(builds);
  return out;
}

}  // namespace ww::bench
