// SPDX-License-Identifier: Apache-2.0
#include "driver/imported_files.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>

#include "base/file_io.h"
#include "driver/embedded.h"
#include "script/imported_modules.h"
#include "script/syntax/parser.h"

namespace ww::driver {
namespace {

class Importer {
 public:
  explicit Importer(const std::string& path)
      : folder_(std::filesystem::path(path).parent_path()),
        main_(std::filesystem::path(path).stem().string()) {
    seen_.insert(main_);
  }

  Result<void> follow(std::string_view text) {
    for (const std::string& module : script::imported_modules(text)) {
      if (!seen_.insert(module).second) continue;
      std::optional<ImportedFile> file = WW_TRY(find(module));
      if (!file) continue;
      if (++count_ > kMaxImportedFiles)
        return fail(DiagKind::TooLarge, "`{}` imports more than {} files of its folder", main_,
                    kMaxImportedFiles);
      WW_TRY_VOID(follow(file->text));
      out_.push_back(*std::move(file));
    }
    return {};
  }

  std::vector<ImportedFile> take() { return std::move(out_); }

 private:
  [[nodiscard]] Result<std::optional<ImportedFile>> find(const std::string& module) const {
    const std::string path = (folder_ / (module + ".py")).string();
    std::error_code error;
    if (std::filesystem::exists(path, error))
      return ImportedFile{module, path, WW_TRY(read_file(path, script::kMaxSourceBytes))};
    for (const EmbeddedFile& file : embedded_examples())
      if (file.path == path) return ImportedFile{module, path, std::string(file.text)};
    return std::nullopt;
  }

  std::filesystem::path folder_;
  std::string main_;
  std::set<std::string> seen_;
  std::size_t count_ = 0;
  std::vector<ImportedFile> out_;
};

}  // namespace

Result<std::vector<ImportedFile>> imported_files(const std::string& path, std::string_view text) {
  Importer importer(path);
  WW_TRY_VOID(importer.follow(text));
  return importer.take();
}

}  // namespace ww::driver
