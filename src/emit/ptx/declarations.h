// SPDX-License-Identifier: Apache-2.0
// The module's declarations besides the kernel: arrays, texts, functions that it calls. Each has a
// unique name.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "isa/operand.h"
#include "ptx/module.h"

namespace ww::emit::to_ptx {

/// A variable of the function: a `.shared` or `.local` array of bytes.
struct Array {
  std::string name = {};
  isa::Space space = isa::Space::Shared;
  std::int64_t bytes = 0;
  std::int64_t align = 16;
};

struct Declarations {
  std::vector<Array> arrays = {};                              // of the kernel
  std::vector<Array> outer = {};                               // dynamic shared memory, texts
  std::map<std::string, std::string, std::less<>> texts = {};  // by contents: the array
  std::set<std::string, std::less<>> functions = {};           // that are called
  std::set<std::string, std::less<>> names = {};               // all that are taken
};

/// A PTX identifier like the name, that nothing else has; it is taken from now on.
std::string unique(Declarations& declared, std::string_view wanted);
ptx::Variable param_variable(ptx::Module& module, std::string_view name, int bits);
/// Adds all but the kernel's own arrays.
void add_declarations(const Declarations& declared, ptx::Module& module);

}  // namespace ww::emit::to_ptx
