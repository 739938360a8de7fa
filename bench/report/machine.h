// SPDX-License-Identifier: Apache-2.0
// What a report says about where it was measured. No names of hosts, no folders.
#pragma once

#include <string>
#include <string_view>

namespace ww::bench {

struct Machine {
  std::string cpu = {};       // "Neoverse-N1, aarch64, 2 cores"
  std::string compiler = {};  // "g++ 12.2"
  std::string cuda = {};      // nvcc's release, "13.0"; "": no nvcc
  std::string gpu = {};       // "": none
  std::string commit = {};    // of the checkout that the program stands in; "": in none
};
/// `nvcc`: its path, or "".
Machine this_machine(const std::string& nvcc, std::string gpu);

/// The processor's name in the text of /proc/cpuinfo; "unknown processor" when it has none.
std::string cpu_in(std::string_view cpuinfo);
/// The number after "release" in what `nvcc --version` prints.
std::string release_in(std::string_view version);

}  // namespace ww::bench
