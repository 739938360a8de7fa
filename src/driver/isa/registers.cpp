// SPDX-License-Identifier: Apache-2.0
// `warpwright isa registers`: the register classes and how they contain each other.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/join.h"
#include "driver/isa/tool.h"
#include "driver/report_json.h"
#include "ptx/register_class.h"

namespace ww::driver {
namespace {

using ptx::RegisterClass;
using ptx::RegisterClassInfo;

// The classes that contain all of its registers, itself left out.
std::vector<std::string_view> superclasses(RegisterClass cls) {
  std::vector<std::string_view> names;
  for (const RegisterClassInfo& other : ptx::register_classes()) {
    if (other.id != cls && ptx::is_subclass(cls, other.id)) names.push_back(other.name);
  }
  return names;
}

// Pairs of classes between which a copy goes through a third.
struct Common {
  std::string_view a, b, through;
};
std::vector<Common> common_classes() {
  std::vector<Common> out;
  const auto classes = ptx::register_classes();
  for (std::size_t a = 0; a < classes.size(); ++a) {
    for (std::size_t b = a + 1; b < classes.size(); ++b) {
      if (const auto common = ptx::common_class(classes[a].id, classes[b].id))
        out.push_back({classes[a].name, classes[b].name, info(*common).name});
    }
  }
  return out;
}

std::string to_text() {
  std::string out = fmt::format("{:<4}{:<9}{:>5}  {:<10}{:<8}{:<13}{}\n", "id", "class", "bits",
                                "declared", "prefix", "inside", "holds");
  for (const RegisterClassInfo& cls : ptx::register_classes()) {
    out += fmt::format("{:<4}{:<9}{:>5}  {:<10}{:<8}{:<13}{}\n", static_cast<int>(cls.id), cls.name,
                       cls.bits, ptx::is_declared(cls.id) ? cls.declaration : "no",
                       cls.prefix.empty() ? "none" : cls.prefix, join(superclasses(cls.id), ", "),
                       cls.holds);
  }
  out += '\n';
  for (const Common& pair : common_classes())
    out += fmt::format("a copy between {} and {} is one of {}\n", pair.a, pair.b, pair.through);
  return out;
}

std::string to_json() {
  Json classes = Json::array();
  for (const RegisterClassInfo& cls : ptx::register_classes()) {
    classes.push_back({{"id", static_cast<int>(cls.id)},
                       {"name", cls.name},
                       {"bits", cls.bits},
                       {"declaration", cls.declaration},
                       {"is_declared", ptx::is_declared(cls.id)},
                       {"prefix", cls.prefix},
                       {"superclasses", superclasses(cls.id)},
                       {"holds", cls.holds}});
  }
  Json common = Json::array();
  for (const Common& pair : common_classes())
    common.push_back({{"a", pair.a}, {"b", pair.b}, {"through", pair.through}});
  return json_lines(with_schema("isa-registers", {{"classes", classes}, {"common", common}}));
}

}  // namespace

std::string isa_registers(IsaFormat format) {
  return format == IsaFormat::Json ? to_json() : to_text();
}

}  // namespace ww::driver
