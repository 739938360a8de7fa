// SPDX-License-Identifier: Apache-2.0
#include "examples.h"

#include <filesystem>
#include <string>
#include <system_error>

#include "base/file_io.h"
#include "script/parser.h"

namespace ww::bench {

namespace fs = std::filesystem;

Result<SourceText> example(std::string_view name) {
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  for (fs::path folder = program.parent_path();; folder = folder.parent_path()) {
    const fs::path file = folder / "examples" / name;
    if (fs::is_regular_file(file, ignored))
      return SourceText(std::string(name), WW_TRY(read_file(file, script::kMaxSourceBytes)));
    if (folder == folder.parent_path()) break;
  }
  return fail(DiagKind::Io, "no folder above `{}` has `examples/{}`", program.string(), name);
}

}  // namespace ww::bench
