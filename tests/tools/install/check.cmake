# SPDX-License-Identifier: Apache-2.0
#
# Installs the build into a fresh folder, builds the project beside this file against it, and runs
# both programs. Run by ctest with build_dir, config, work_dir, cxx_compiler, version set, and server:
# whether the explorer is built.

set(prefix "${work_dir}/prefix")

include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")

file(REMOVE_RECURSE "${work_dir}")
run("installing" ${CMAKE_COMMAND} --install ${build_dir} --config ${config} --prefix ${prefix})
run("configuring against the installed tree"
    ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${work_dir}/build
    -D CMAKE_PREFIX_PATH=${prefix} -D CMAKE_CXX_COMPILER=${cxx_compiler} -D version=${version})
run("building against the installed tree" ${CMAKE_COMMAND} --build ${work_dir}/build)
run("the consumer" ${work_dir}/build/consumer)
run("the example of docs/guide/library.md" ${work_dir}/build/library)
run("the installed program" ${prefix}/bin/warpwright --version)
if(NOT output STREQUAL "warpwright ${version}\n")
  message(FATAL_ERROR "the installed program says `${output}`, not `warpwright ${version}`")
endif()

if(server)
  expect_served(${prefix}/bin/warpwright)
endif()

# The page shows the program that was just run.
file(READ "${CMAKE_CURRENT_LIST_DIR}/library.cpp" program)
string(FIND "${program}" "#include" begin)
string(SUBSTRING "${program}" ${begin} -1 program)
file(READ "${CMAKE_CURRENT_LIST_DIR}/../../../docs/guide/library.md" page)
string(FIND "${page}" "${program}" found)
if(found EQUAL -1)
  message(FATAL_ERROR "docs/guide/library.md does not have the text of tests/tools/install/library.cpp")
endif()

# Nothing may point back to where it was built.
file(GLOB_RECURSE texts "${prefix}/*.cmake" "${prefix}/*.h")
expect_unnamed("${build_dir}" ${texts})
