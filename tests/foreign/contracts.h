// SPDX-License-Identifier: Apache-2.0
// What kernels of the corpus compute, as their comments say, worked out on the host: for those
// whose contract is a line or two. The digests of launches.txt cover all of them.
#pragma once

#include <string>

#include "foreign/launch_run.h"

namespace ww::corpus {

/// Whether there is a contract for the kernel here.
bool has_contract(const std::string& kernel);
/// "" or the first element that is not what the contract says.
std::string broken_contract(const LaunchLine& launch, const LaunchOutcome& outcome);

}  // namespace ww::corpus
