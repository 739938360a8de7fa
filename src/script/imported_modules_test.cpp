// SPDX-License-Identifier: Apache-2.0
#include "script/compile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace ww::script::imported_modules_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ImportedModules, AreNoneOfTheLanguage) {
  for (const std::string text : {
           "",
           "from tvm.script import tirx as T\nfrom tvm.tirx.layout import (S,\n    TileLayout)\n",
           "import tvm.script\n", "x = 1  # important, imports\n",
           "\"\"\"from helper import f\"\"\"\n",
           "from helper import\n",  // cannot be read
       })
    EXPECT_THAT(imported_modules(text), IsEmpty()) << text;
}

// However the statement is written, and whatever stands before it in the text.
TEST(ImportedModules, AreFoundWhereverTheyStand) {
  const std::string known = "from tvm.script import tirx as T\n";
  for (const std::string text : {
           "import helper",
           "import helper as h\n",
           "import tvm.script, helper\n",
           "from helper import f\n",
           "from helper import (f,\n    g)\n",
           "from \\\n    helper import f\n",
           "from helper \\\n    import f\n",
           "import \\\n    helper\n",
           "x = 1; import helper\n",
           "from tvm.script import tirx; import helper\n",
           "import tvm.script; from helper import f\n",
           "def f():\n    from helper import g\n",
           "if True: import helper\n",
           "\tfrom\thelper\timport\tf\n",
       }) {
    const std::string whole = text.starts_with('\t') ? "if True:\n" + text : text;
    EXPECT_THAT(imported_modules(known + whole), ElementsAre("helper")) << text;
    EXPECT_THAT(imported_modules(whole), ElementsAre("helper")) << text;
  }
  EXPECT_THAT(imported_modules("import b\nfrom a import x\nimport b as c\n"),
              ElementsAre("b", "a"));
}

}  // namespace
}  // namespace ww::script::imported_modules_test
