// SPDX-License-Identifier: Apache-2.0
// ww_device_cluster: addresses of shared memory in clusters of 1 to 16 CTAs, on the GPU here and on the
// virtual one, word by word (sim/ops/test_cluster_addresses.h). Built and run by scripts/device_cluster.sh.
// Exit status: 0 all agree, 1 something differs, 2 no device.
#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/cuda_device.h"
#include "runtime/sim_device.h"
#include "sim/ops/test_cluster_addresses.h"

namespace ww::device {
namespace {

using Words = std::vector<std::uint32_t>;

Result<Words> addresses_on(runtime::Device& device, unsigned grid, unsigned ctas) {
  WW_TRY_VOID(device.load({.bytes = std::string(sim::kClusterAddresses), .kernel = "addresses"}));
  Words words(std::size_t{grid} * sim::cluster_address_words(ctas));
  const runtime::Address out = WW_TRY(device.allocate(words.size() * 4, "out"));
  WW_TRY_VOID(device.upload(out, std::as_bytes(std::span(words))));
  runtime::Launch launch{.grid = {grid, 1, 1}, .block = {1, 1, 1}, .arguments = {{.bits = out}}};
  if (ctas > 1) launch.cluster = runtime::Dims{ctas, 1, 1};
  WW_TRY_VOID(device.launch(launch));
  WW_TRY_VOID(device.download(std::as_writable_bytes(std::span(words)), out));
  return words;
}

// Whether they agree; prints the first few words that do not.
bool agree(const Words& ours, const Words& theirs, unsigned ctas) {
  constexpr int kShown = 10;
  const std::size_t width = sim::cluster_address_words(ctas);
  int different = 0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    if (ours[i] == theirs[i] || ++different > kShown) continue;
    fmt::print("cluster of {}, block {}, word {}: virtual GPU 0x{:08x}, GPU 0x{:08x}\n", ctas,
               i / width, i % width, ours[i], theirs[i]);
  }
  return different == 0;
}

Result<int> compare_all() {
  const runtime::CudaCalls calls = WW_TRY(runtime::load_cuda_calls());
  const auto gpu = WW_TRY(runtime::CudaDevice::open(calls, target::Arch::Sm90));
  fmt::print("{}\n\n| cluster | words | agree |\n|--:|--:|---|\n", gpu->name());
  bool all = true;
  for (const unsigned ctas : {1U, 2U, 4U, 8U, 16U}) {
    runtime::SimDevice virtual_gpu;
    const unsigned grid = 2 * ctas;
    const Words ours = WW_TRY(addresses_on(virtual_gpu, grid, ctas));
    const Words theirs = WW_TRY(addresses_on(*gpu, grid, ctas));
    const bool is_same = agree(ours, theirs, ctas);
    fmt::print("| {} | {} | {} |\n", ctas, ours.size(), is_same ? "yes" : "no");
    all = all && is_same;
  }
  return all ? 0 : 1;
}

}  // namespace
}  // namespace ww::device

int main() {
  const auto status = ww::device::compare_all();
  if (status) return *status;
  fmt::print(stderr, "{}\n", status.error().text);
  return 2;
}
