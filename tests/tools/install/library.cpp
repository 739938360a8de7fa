// SPDX-License-Identifier: Apache-2.0
// The example of docs/guide/library.md, which has the text below.
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <vector>

#include <warpwright/driver/build.h>
#include <warpwright/driver/explain.h>
#include <warpwright/driver/run/device_run.h>
#include <warpwright/runtime/sim_device.h>

// Each lane of a warp gets the four elements of an 8x16 tile that a matrix instruction wants there.
constexpr const char* kSource = R"(
from tvm.tirx.layout import S, TileLayout, laneid

fragment = TileLayout(S[(8, 2, 4, 2) : (4 @ laneid, 2, 1 @ laneid, 1)])

@T.prim_func
def fragments(A_ptr: T.handle, B_ptr: T.handle):
    A = T.match_buffer(A_ptr, (8, 16), "uint16")
    B = T.match_buffer(B_ptr, (32, 4), "uint16")
    T.device_entry(); T.cta_id([1]); T.warp_id([1]); lane = T.lane_id([32])
    tile = T.alloc_buffer((8, 16), "uint16", scope="shared")
    Tx.warp.copy(tile[:, :], A[:, :])
    T.cuda.cta_sync()
    R = T.alloc_buffer((8, 16), "uint16", scope="local", layout=fragment)
    Tx.warp.copy(R[:, :], tile[:, :])
    r = R.local(4)
    for i in range(4):
        B[lane, i] = r[i]
)";

int main() {
  using namespace ww;

  // From the text to PTX. What is wrong with a text comes as the command line would show it.
  const driver::Build build =
      driver::build_kernel(SourceText("fragments.py", kSource), {.target = "sm_90a"});
  if (!build.good()) {
    std::fputs(build.errors.c_str(), stderr);
    return 1;
  }
  std::fputs(build.ptx.c_str(), stdout);

  // What was chosen for each primitive: as numbers, and as text.
  for (const lower::CallReport& call : build.report.calls) {
    for (const lower::InstructionCount& each : call.plan.instructions) {
      std::printf("%s: %lld x %s\n", call.chosen.c_str(), static_cast<long long>(each.per_thread),
                  each.opcode.c_str());
    }
  }
  std::fputs(driver::explain_text(build).c_str(), stdout);

  // On the virtual GPU, with all its checks.
  std::vector<std::uint16_t> a(8 * 16);
  std::vector<std::uint16_t> b(32 * 4);
  std::iota(a.begin(), a.end(), std::uint16_t{0});
  runtime::SimDevice device;
  const driver::KernelArg args[] = {driver::input(a), driver::output(b)};
  const Result<driver::DeviceRun> run = driver::run_on(device, build, args);
  if (!run) {
    std::fputs(render(run.error()).c_str(), stderr);
    return 1;
  }
  std::printf("lane 5 has %d %d %d %d\n", b[20], b[21], b[22], b[23]);
  const bool is_right = b[20] == 18 && b[21] == 19 && b[22] == 26 && b[23] == 27;
  return is_right && device.report()->ok() ? 0 : 1;
}
