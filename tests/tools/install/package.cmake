# SPDX-License-Identifier: Apache-2.0
#
# Makes the Debian package of the build and looks into it: its fields, that everything is in it, and that
# the program works from where it is unpacked. Run by ctest with build_dir, config, work_dir, version and
# source_dir set, server: whether the explorer is built, and server_library: the one that it links. Skipped where dpkg-deb is missing.

find_program(dpkg_deb dpkg-deb)
find_program(cpack cpack)
if(NOT dpkg_deb OR NOT cpack)
  message(NOTICE "skipped: dpkg-deb or cpack is not installed")
  return()
endif()

include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")

file(REMOVE_RECURSE "${work_dir}")
file(MAKE_DIRECTORY "${work_dir}")
run("making the package" ${cpack} -G DEB -C ${config} --config ${build_dir}/CPackConfig.cmake
    -B ${work_dir})
file(GLOB packages "${work_dir}/*.deb")
list(LENGTH packages count)
if(NOT count EQUAL 1)
  message(FATAL_ERROR "${count} packages were made, expected one: ${packages}")
endif()

# --- fields ---------------------------------------------------------------------------------------

function(expect_field name pattern)
  run("reading the field ${name}" ${dpkg_deb} -f ${packages} ${name})
  string(STRIP "${output}" value)
  if(NOT value MATCHES "${pattern}")
    message(FATAL_ERROR "the field ${name} is `${value}`, expected `${pattern}`")
  endif()
endfunction()

expect_field(Package "^warpwright$")
expect_field(Version "^${version}$")
expect_field(Section "^devel$")
expect_field(Maintainer ".")
expect_field(Description "tile-primitive compiler")
find_program(shlibdeps dpkg-shlibdeps)
if(shlibdeps)
  # Not libstdc++: a compiler beside the system's has its own.
  expect_field(Depends "libc6")
  expect_field(Depends "libfmt")
  if(server_library) # of the module, which the program loads
    expect_field(Depends "cpp-httplib")
  endif()
endif()

# --- files ----------------------------------------------------------------------------------------

set(root "${work_dir}/root")
run("unpacking" ${dpkg_deb} -x ${packages} ${root})
set(wanted
    bin/warpwright
    share/man/man1/warpwright.1
    share/bash-completion/completions/warpwright
    share/zsh/site-functions/_warpwright
    share/fish/vendor_completions.d/warpwright.fish
    share/doc/warpwright/copyright
    share/doc/warpwright/LICENSE
    share/doc/warpwright/guide/running.md
    share/doc/warpwright/reference/schema/run.json
    share/doc/warpwright/guide/pictures/ldmatrix_fragment.svg
    share/doc/warpwright/examples/transpose.py
    share/doc/warpwright/examples/ptx/vector_add.ptx
    include/warpwright/driver/build.h)
foreach(path IN LISTS wanted)
  if(NOT EXISTS "${root}/usr/${path}")
    message(FATAL_ERROR "the package has no /usr/${path}")
  endif()
endforeach()
file(GLOB_RECURSE cmake_package "${root}/usr/lib/*/warpwrightConfig.cmake")
if(NOT cmake_package)
  message(FATAL_ERROR "the package has no CMake package")
endif()
file(GLOB tops RELATIVE "${root}" "${root}/*")
if(NOT tops STREQUAL "usr")
  message(FATAL_ERROR "the package has files outside of /usr: ${tops}")
endif()

# Nothing may point back to where it was built.
file(GLOB_RECURSE texts "${root}/usr/*.cmake" "${root}/usr/share/*")
expect_unnamed("${build_dir}" ${texts})
expect_unnamed("${source_dir}" ${texts})

# --- the program, from where it was unpacked, in an empty folder ----------------------------------

set(program "${root}/usr/bin/warpwright")
file(MAKE_DIRECTORY "${work_dir}/empty")
run("the version" ${program} --version)
if(NOT output STREQUAL "warpwright ${version}\n")
  message(FATAL_ERROR "the program says `${output}`, not `warpwright ${version}`")
endif()
if(server)
  expect_served(${program})
endif()
run("an example" ${CMAKE_COMMAND} -E chdir ${work_dir}/empty
    ${program} examples run transpose --device sim --expect "B == A.T")
run("a new program" ${CMAKE_COMMAND} -E chdir ${work_dir}/empty ${program} new first)
run("running it" ${CMAKE_COMMAND} -E chdir ${work_dir}/empty
    ${program} run first.py --device sim --expect "B == A")
