// SPDX-License-Identifier: Apache-2.0
// Classes for kernels that are written in the language itself: barriers, the stages of a ring, roles
// of warps, tile schedulers. They are a file of their own behind a source that names one; what they do stands, in
// errors and in findings, where the user calls them.
#pragma once

#include <string_view>

namespace ww::script {

/// What the file is called, in errors too: the module that TVM has these classes in.
inline constexpr std::string_view kKernelClassModule = "tvm.backend.cuda.lang";
/// Its text.
std::string_view kernel_class_text();
/// The part of it with the tile schedulers.
std::string_view tile_scheduler_text();
/// Whether a text has the name of one of the classes in it.
bool names_kernel_class(std::string_view text);

}  // namespace ww::script
