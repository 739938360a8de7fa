// SPDX-License-Identifier: Apache-2.0
// A whole kernel of CUDA C++ with a producer and consumers (pipeline.cu), through nvcc, on the virtual
// GPU with all checks: right, and without findings; with a fence left out, found.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/file_io.h"
#include "foreign/toolchain.h"
#include "sim/launch.h"
#include "sim/tensor_map/image.h"

namespace ww::tensor_pipeline {
namespace {

constexpr std::uint64_t kRows = 40, kColumns = 136;  // no multiples of the tile, 16 x 64
constexpr std::int32_t kAcross = 3, kTiles = 9;
constexpr unsigned kBlocks = 2;

sim::TensorMap map_at(std::uint64_t address) {
  sim::TensorMap map;
  map.type = sim::TensorType::F32;
  map.rank = 2;
  map.address = address;
  map.dims = {kColumns, kRows, 1, 1, 1};
  map.strides = {kColumns * sizeof(float), 0, 0, 0};
  map.box = {64, 16, 1, 1, 1};
  return map;
}

struct Ran {
  std::string problem;
  std::vector<float> out;
};

Ran run(const std::string& ptx, const std::string& kernel, const std::vector<float>& a,
        const std::vector<float>& b) {
  const sim::LoadResult loaded = sim::load(ptx, "pipeline.ptx", {.kernels = {kernel}});
  if (loaded.program == nullptr) return {loaded.errors[0].text, {}};
  sim::Device device(loaded.program);
  sim::Launch launch{
      .kernel = loaded.program->find_kernel(kernel), .grid = {kBlocks}, .block = {160}};
  launch.params.resize(launch.kernel->param_bytes);
  const auto put = [&](std::size_t param, const void* value, std::size_t bytes) {
    std::memcpy(launch.params.data() + launch.kernel->params[param].offset, value, bytes);
  };
  const sim::Region* regions[3];
  for (std::size_t i = 0; i < 3; ++i) {
    sim::Region& region =
        device.memory().allocate(a.size() * sizeof(float), 256, fmt::format("array {}", i));
    if (i < 2) sim::GlobalMemory::write(region, std::as_bytes(std::span(i == 0 ? a : b)));
    regions[i] = &region;
    const sim::TensorMapImage image = sim::encode(map_at(region.base));
    put(i, image.data(), image.size());
  }
  put(3, &kAcross, sizeof kAcross);
  put(4, &kTiles, sizeof kTiles);
  const auto report = device.run(launch, {});
  if (!report) return {report.error().text, {}};
  Ran ran{report->reason, std::vector<float>(a.size())};
  for (const sim::Finding& finding : report->findings.list()) ran.problem += finding.text + "\n";
  std::memcpy(ran.out.data(), regions[2]->data, a.size() * sizeof(float));
  return ran;
}

TEST(TensorPipeline, ProducerAndConsumers) {
  const auto tools = corpus::Toolchain::find();
  if (!tools || !tools->knows("sm_90a")) GTEST_SKIP() << "needs nvcc with sm_90a";
  const corpus::TestFolder folder;
  std::vector<float> a(kRows * kColumns), b(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<float>(i) * 0.25F;
    b[i] = 1000.0F - static_cast<float>(i);
  }
  const auto compiled = tools->compile(WW_SOURCE_DIR "/tests/engines/tensor_copy/pipeline.cu",
                                       "sm_90a", {}, folder.path(), "pipeline.ptx");
  ASSERT_EQ(compiled.status, 0) << compiled.output;
  constexpr std::size_t kMaxBytes = 1U << 22U;
  const std::string ptx = read_file(folder.path() / "pipeline.ptx", kMaxBytes).value_or("");
  const Ran right = run(ptx, "add_tiles", a, b);
  EXPECT_EQ(right.problem, "");
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_EQ(right.out[i], 2 * a[i] + b[i]) << i;
  const Ran unfenced = run(ptx, "add_tiles_unfenced", a, b);
  EXPECT_NE(unfenced.problem.find("no `fence.proxy.async.shared::cta` behind the write"),
            std::string::npos)
      << unfenced.problem;
}

}  // namespace
}  // namespace ww::tensor_pipeline
