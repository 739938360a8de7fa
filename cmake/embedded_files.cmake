# SPDX-License-Identifier: Apache-2.0
#
# The files that are part of the program, which needs no folder for them when it is installed: the examples,
# the programs that `warpwright new` writes, and the library of classes for kernels. examples/index.txt names
# the examples in their order, indented below the names of their groups.

set(index "examples/index.txt")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${index}")
file(STRINGS "${PROJECT_SOURCE_DIR}/${index}" examples REGEX "^  ")
list(TRANSFORM examples STRIP)
list(TRANSFORM examples PREPEND "examples/")
list(TRANSFORM examples APPEND ".py")
file(GLOB templates CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
     "${PROJECT_SOURCE_DIR}/src/driver/templates/*.py")

ww_embed(ww_driver driver/examples.h embedded_examples NAMES ${examples} FILES ${examples})
ww_embed(ww_driver driver/examples.h embedded_index NAMES ${index} FILES ${index})
ww_embed(ww_driver driver/examples.h embedded_templates NAMES ${templates} FILES ${templates})
ww_embed(ww_script script/compile.h library_files NAMES library.py FILES src/script/library.py)
