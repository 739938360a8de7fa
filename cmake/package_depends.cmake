# SPDX-License-Identifier: Apache-2.0
#
# The dependencies of the Debian package: those of its programs and their module, by dpkg-shlibdeps. cpack
# includes this before it makes a package (CPACK_PROJECT_CONFIG_FILE). CPACK_DEBIAN_PACKAGE_SHLIBDEPS finds
# the same, but asks `file` about each of some 1,500 headers and pages first: 12 seconds.

if(NOT CPACK_GENERATOR STREQUAL "DEB" OR NOT CPACK_WW_DPKG_SHLIBDEPS)
  return()
endif()
set(folder "${CPACK_PACKAGE_DIRECTORY}/_CPack_Packages/dependencies") # the tool wants a source package
file(WRITE "${folder}/debian/control" "Source: warpwright\n\nPackage: warpwright\nArchitecture: any\n")
execute_process(
  COMMAND "${CPACK_WW_DPKG_SHLIBDEPS}" --ignore-missing-info -O ${CPACK_WW_PROGRAMS}
  WORKING_DIRECTORY "${folder}"
  OUTPUT_VARIABLE output
  ERROR_VARIABLE errors
  RESULT_VARIABLE status)
if(NOT status EQUAL 0 OR NOT output MATCHES "shlibs:Depends=([^\n]+)")
  message(FATAL_ERROR "dpkg-shlibdeps found no dependencies of ${CPACK_WW_PROGRAMS}: ${output}${errors}")
endif()
set(CPACK_DEBIAN_PACKAGE_DEPENDS "${CMAKE_MATCH_1}")
