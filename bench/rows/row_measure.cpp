// SPDX-License-Identifier: Apache-2.0
#include "row_measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "../kernels/contents.h"
#include "../kernels/gpu.h"
#include "../kernels/problem.h"
#include "row_reference.h"
#include "runtime/cuda_device.h"

namespace ww::bench::rows {
namespace {

using runtime::Address;
using runtime::CudaDevice;

class Race {
 public:
  Race(const runtime::CudaCalls& calls, const RowOptions& options, Result<TorchRows>& torch,
       Gpu& gpu, RowResult& result)
      : calls_(calls),
        options_(options),
        torch_(torch),
        gpu_(gpu),
        result_(result),
        problem_(result.row.problem),
        arrays_(arrays_of(problem_)),
        inputs_(problem_) {}

  void run(const driver::Build& build);

 private:
  Result<void> allocate();
  Result<void> load(const driver::Build& build);
  Result<void> check();
  Result<void> choose_launches();
  void set_up_torch();
  Result<double> our_turn();
  Result<double> copy_turn();
  void compete();

  const runtime::CudaCalls& calls_;
  const RowOptions& options_;
  Result<TorchRows>& torch_;
  Gpu& gpu_;
  RowResult& result_;
  const RowProblem& problem_;
  std::vector<Array> arrays_;
  Inputs inputs_;
  std::vector<Address> memory_;  // of each array
  Address copied_ = 0;           // where the driver copies X to
  CudaDevice* device_ = nullptr;
  runtime::Launch launch_ = {};
};

// --- ours ----------------------------------------------------------------------------------------

Result<void> Race::allocate() {
  CudaDevice& device = gpu_.memory();
  const std::vector<std::byte> nans(std::size_t{1} << 20U, std::byte{0xFF});
  for (std::size_t i = 0; i < arrays_.size(); ++i) {
    const Array& array = arrays_[i];
    const Address at = WW_TRY(device.allocate(array.bytes(), array.name));
    memory_.push_back(at);
    if (array.fill == Fill::Zero)
      WW_TRY_VOID(Contents::clear(device, at, array.bytes()));
    else
      WW_TRY_VOID(fill_with(device, at, array.bytes(),
                            array.fill == Fill::Nothing ? nans : inputs_[i].bytes()));
  }
  if (!problem_.is_attention())
    copied_ = WW_TRY(device.allocate(arrays_[0].bytes(), "a copy of X"));
  return {};
}

Result<void> Race::load(const driver::Build& build) {
  if (!options_.ptxas.empty()) {
    const auto size = runtime::assembled_size(options_.ptxas, build.ptx, build.target->arch);
    if (size) result_.assembled = *size;
  }
  std::vector<runtime::Value> arguments;
  for (const std::size_t array : WW_TRY(arrays_of_params(build.tile(), problem_)))
    arguments.push_back({memory_[array]});
  launch_ = WW_TRY(launch_of(*build.lowered, std::move(arguments)));
  device_ = WW_TRY(gpu_.load(build));
  result_.shared = launch_.dynamic_shared;
  if (const auto resources = device_->resources()) {
    result_.registers = resources->registers;
    result_.local = resources->local;
    result_.shared += resources->static_shared;
  }
  return {};
}

Result<void> Race::check() {
  if (const auto done = device_->launch(launch_); !done) {
    gpu_.lose(*device_);
    return fail(done.error());
  }
  const auto read = [&](std::span<std::byte> to, std::size_t array, std::int64_t first) {
    const std::size_t before =
        bench::bytes_of(arrays_[array].dtype, static_cast<std::size_t>(first));
    return gpu_.memory().download(to, memory_[array] + before);
  };
  result_.checked = WW_TRY(check_result(problem_, inputs_, read));
  return {};
}

// --- the race ------------------------------------------------------------------------------------

Result<void> Race::choose_launches() {
  const auto timing = device_->time(launch_, 3);
  if (!timing) gpu_.lose(*device_);
  result_.launches = launches_for(WW_TRY(timing).fastest);
  return {};
}

void Race::set_up_torch() {
  Result<void> prepared;
  if (torch_)
    prepared = torch_->prepare(problem_);
  else
    prepared = fail(torch_.error());
  for (const Who& who : rivals_of(problem_)) {
    Rival& rival = result_.rivals.emplace_back(RowRival{.who = who}).result;
    if (!prepared) {
      rival.absent = words_of(prepared.error());
      continue;
    }
    const auto detail = torch_->ready(who.name);
    (detail ? rival.detail : rival.absent) = detail ? *detail : words_of(detail.error());
  }
}

Result<double> Race::our_turn() {
  auto seconds = runtime::time_in_a_row(*device_, launch_, result_.launches);
  if (!seconds) gpu_.lose(*device_);
  return seconds;
}

// Copies that do not wait for each other.
Result<double> Race::copy_turn() {
  if (gpu_.is_lost()) return fail(DiagKind::DeviceError, "the GPU failed in our kernel");
  const auto submit = [&](void* stream) -> Result<void> {
    const int status = calls_.copy(copied_, memory_[0], arrays_[0].bytes(), stream);
    if (status == 0) return {};
    return fail(DiagKind::DeviceError, "the driver does not copy X: error {}", status);
  };
  return runtime::time_one_by_one(gpu_.memory(), {submit, "copying X"}, result_.launches);
}

void Race::compete() {
  std::vector<Competitor> competitors = {{"ours", [&] { return our_turn(); }}};
  std::vector<Turns*> places = {&result_.turns};
  const auto add = [&](std::string_view name, Rival& rival, double work,
                       std::function<Result<double>()> turn) {
    rival.operations = work * result_.launches;
    competitors.push_back({std::string(name), std::move(turn)});
    places.push_back(&rival.turns);
  };
  if (copied_ != 0)
    add("copy", result_.copy, 2 * static_cast<double>(arrays_[0].bytes()),
        [&] { return copy_turn(); });
  for (RowRival& rival : result_.rivals)
    if (rival.result.absent.empty())
      add(rival.who.title, rival.result, result_.work(),
          [&] { return torch_->time(rival.who.name, result_.launches); });
  std::vector<Turns> turns = take_turns(competitors, options_.rounds);
  for (std::size_t i = 0; i < turns.size(); ++i) *places[i] = std::move(turns[i]);
  result_.wrong = result_.turns.failure;
  result_.copy.absent = result_.copy.turns.failure;
  for (RowRival& rival : result_.rivals)
    if (!rival.result.turns.failure.empty()) rival.result.absent = rival.result.turns.failure;
}

void Race::run(const driver::Build& build) {
  const auto prepare = [&]() -> Result<void> {
    WW_TRY_VOID(allocate());
    return load(build);
  };
  if (const auto prepared = prepare(); !prepared) {
    result_.left_out = words_of(prepared.error());
    return;
  }
  const auto first_runs = [&]() -> Result<void> {
    WW_TRY_VOID(check());
    return choose_launches();
  };
  if (const auto right = first_runs(); !right) {
    result_.wrong = words_of(right.error());
    return;
  }
  set_up_torch();
  compete();
}

}  // namespace

// --- arguments -----------------------------------------------------------------------------------

namespace {

Result<std::size_t> array_of_param(const ir::Function& tile, std::size_t param,
                                   const std::vector<Array>& arrays) {
  const ir::BufferId id = ir::buffer_of_param(tile, param);
  if (!id.valid()) return fail(DiagKind::BadArgument, "a parameter of `{}` is no array", tile.name);
  const ir::Buffer& buffer = tile[id];
  const auto found = std::ranges::find(arrays, std::string_view(buffer.name), &Array::name);
  if (found == arrays.end())
    return fail(DiagKind::BadArgument, "`{}` has an array `{}`, which the benchmark does not know",
                tile.name, buffer.name);
  std::size_t elements = 1;
  for (const ir::ExprId extent : buffer.shape)
    elements *= static_cast<std::size_t>(ir::const_int(tile, extent).value_or(0));
  if (buffer.dtype == found->dtype && elements == found->elements())
    return static_cast<std::size_t>(found - arrays.begin());
  return fail(DiagKind::BadArgument, "`{}` of `{}` is {} x {}, expected {} x {}", buffer.name,
              tile.name, elements, num::name_of(buffer.dtype), found->elements(),
              num::name_of(found->dtype));
}

}  // namespace

Result<std::vector<std::size_t>> arrays_of_params(const ir::Function& tile,
                                                  const RowProblem& problem) {
  const std::vector<Array> arrays = arrays_of(problem);
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < tile.params.size(); ++i)
    out.push_back(WW_TRY(array_of_param(tile, i, arrays)));
  return out;
}

// --- results -------------------------------------------------------------------------------------

double RowResult::work() const {
  return row.problem.is_attention() ? operations_of(row.problem) : bytes_of(row.problem);
}

bool RowResult::has_number() const { return left_out.empty() && wrong.empty() && turns.good(); }

std::optional<double> RowResult::tera() const {
  if (!has_number()) return std::nullopt;
  return work() * launches / turns.median() / 1e12;
}

std::optional<double> RowResult::best_tera() const {
  if (!has_number()) return std::nullopt;
  return work() * launches / turns.fastest() / 1e12;
}

std::optional<double> RowResult::of_copy() const {
  const auto ours = tera(), most = copy.tera();
  return ours && most ? std::optional(*ours / *most) : std::nullopt;
}

std::optional<double> RowResult::of_copy(const RowRival& rival) const {
  const auto its = rival.result.tera(), most = copy.tera();
  return its && most ? std::optional(*its / *most) : std::nullopt;
}

RowResult RowBench::measure(const BenchRow& row) {
  RowResult out{.row = row, .rounds = options_.rounds};
  const auto build = [&](const Gpu& gpu) -> Result<driver::Build> {
    return build_for(*gpu.memory().native_target(), WW_TRY(options_.source(row.file)),
                     expression_of(row));
  };
  auto gpu = Gpu::open(calls_);
  const auto built = gpu ? build(*gpu) : Result<driver::Build>(fail(gpu.error()));
  if (!built)
    out.left_out = words_of(built.error());
  else
    Race(calls_, options_, *torch_, *gpu, out).run(*built);
  return out;
}

}  // namespace ww::bench::rows
