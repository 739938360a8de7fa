// SPDX-License-Identifier: Apache-2.0
// Remarks on machine code as JSON, the same in the reports of all commands.
#include "driver/report_json.h"
#include "driver/sass_advice.h"

namespace ww::driver {

Json sass_json(const SassAdvice& advice) {
  Json remarks = Json::array();
  for (const SassNote& each : advice.notes) {
    const auto& source = each.source;
    remarks.push_back(
        {{"kind", name_of(each.remark.kind)},
         {"line", each.remark.line},
         {"instruction", each.instruction},
         {"source",
          source ? Json{{"file", source->file}, {"line", source->line}, {"column", source->column}}
                 : Json()},
         {"sass", text_or_null(each.remark.sass)},
         {"count", each.remark.count},
         {"depth", each.remark.depth},
         {"message", each.remark.text}});
  }
  return {{"not_read", text_or_null(advice.not_read)}, {"remarks", remarks}};
}

}  // namespace ww::driver
