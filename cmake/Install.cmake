# Installs the headers, the package for find_package(redco CONFIG), redco.pc, and the compiled
# libraries if they have been built (target redco_compiled). Projects with the same compiler and
# version of libtorch link these libraries; other projects compile them anew. The installed files do
# not refer to the source tree. If libtorch is in it (.deps), they name a folder of the
# installation instead, to which the user links a libtorch.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(redco_package "${CMAKE_INSTALL_LIBDIR}/cmake/redco")
install(TARGETS redco redco_headers redco_plan redco_plan_headers EXPORT redco-targets
  FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
set(redco_libraries "${CMAKE_INSTALL_LIBDIR}/redco")
redco_compiled_for(redco_made_for)
file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/redco_compiled.txt" CONTENT "${redco_made_for}" @ONLY)
set(redco_archives compiled plan_compiled core plan_core)
list(TRANSFORM redco_archives REPLACE "(.+)" "\"${PROJECT_BINARY_DIR}/libredco_\\1.a\"" OUTPUT_VARIABLE redco_archive_files)
list(JOIN redco_archive_files " " redco_archive_files)
set(redco_torch_default "${redco_torch_found}")
cmake_path(IS_PREFIX PROJECT_SOURCE_DIR "${redco_torch_found}" NORMALIZE redco_torch_is_ours)
if(redco_torch_is_ours)
  set(redco_torch_default "")
endif()
install(EXPORT redco-targets NAMESPACE redco:: DESTINATION "${redco_package}")
configure_package_config_file(cmake/redco-config.cmake.in "${PROJECT_BINARY_DIR}/redco-config.cmake"
  INSTALL_DESTINATION "${redco_package}" PATH_VARS CMAKE_INSTALL_INCLUDEDIR redco_libraries)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/redco-config-version.cmake"
  COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES "${PROJECT_BINARY_DIR}/redco-config.cmake" "${PROJECT_BINARY_DIR}/redco-config-version.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/RedcoDependencies.cmake" "${PROJECT_SOURCE_DIR}/cmake/RedcoTorch.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/RedcoShardReport.cmake" "${PROJECT_SOURCE_DIR}/cmake/shard_report.cpp.in"
  "${PROJECT_SOURCE_DIR}/cmake/RedcoModel.cmake" "${PROJECT_SOURCE_DIR}/cmake/model_header.cpp"
  "${PROJECT_SOURCE_DIR}/cmake/RedcoCompiled.cmake" "${PROJECT_SOURCE_DIR}/cmake/Rooms.cmake"
  DESTINATION "${redco_package}")

file(RELATIVE_PATH redco_prefix_from_pc "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
string(REGEX REPLACE "/$" "" redco_prefix_from_pc "${redco_prefix_from_pc}")
# redco.pc links the compiled libraries. redco-headers.pc is header-only, for other compilers; it
# takes the place of redco.pc if the libraries have not been built.
set(redco_torch_of_pc "${redco_torch_default}")
if(NOT redco_torch_of_pc)
  set(redco_torch_of_pc "\${libdir}/redco/torch")
endif()
set(redco_optional_cflags "")
set(redco_optional_libs "")
foreach(optional PCRE2 SENTENCEPIECE MPI)
  if(REDCO_${optional}_INCLUDE AND REDCO_${optional}_LIBRARY)
    string(APPEND redco_optional_cflags " -DREDCO_WITH_${optional} -I${REDCO_${optional}_INCLUDE}")
    string(APPEND redco_optional_libs " ${REDCO_${optional}_LIBRARY}")
  endif()
endforeach()
if(REDCO_MINJA_INCLUDE)
  install(FILES "${REDCO_MINJA_INCLUDE}/minja/minja.hpp" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/minja")
  string(APPEND redco_optional_cflags " -DREDCO_WITH_MINJA")
endif()
set(redco_pc_cflags "${redco_optional_cflags}")
set(redco_pc_libs "")
configure_file(cmake/redco.pc.in "${PROJECT_BINARY_DIR}/redco-headers.pc" @ONLY)
set(redco_pc_cflags " -DREDCO_COMPILED")
if(CMAKE_CXX_COMPILER_ID STREQUAL Clang AND NOT CMAKE_CXX_COMPILER_VERSION VERSION_LESS 18)
  string(APPEND redco_pc_cflags " -fclang-abi-compat=17")
endif()
list(TRANSFORM redco_archives PREPEND " -lredco_" OUTPUT_VARIABLE redco_pc_libs)
list(JOIN redco_pc_libs "" redco_pc_libs)
string(PREPEND redco_pc_libs " -L\${libdir}/redco")
configure_file(cmake/redco.pc.in "${PROJECT_BINARY_DIR}/redco.pc" @ONLY)

install(CODE "
  set(missing)
  foreach(file IN ITEMS ${redco_archive_files})
    if(NOT EXISTS \"\${file}\")
      list(APPEND missing \"\${file}\")
    endif()
  endforeach()
  set(to \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}\")
  file(INSTALL \"${PROJECT_BINARY_DIR}/redco-headers.pc\" DESTINATION \"\${to}/pkgconfig\")
  if(missing)
    message(STATUS \"redco: installed without its compiled libraries, because they are not built. Projects compile them, and \
redco.pc is header-only. To install them, build the target redco_compiled and install again. Missing: \${missing}\")
    file(INSTALL \"${PROJECT_BINARY_DIR}/redco-headers.pc\" DESTINATION \"\${to}/pkgconfig\" RENAME redco.pc)
  else()
    file(INSTALL ${redco_archive_files} \"${PROJECT_BINARY_DIR}/redco_compiled.txt\" DESTINATION \"\${to}/redco\")
    file(INSTALL \"${PROJECT_BINARY_DIR}/redco.pc\" DESTINATION \"\${to}/pkgconfig\")
  endif()
  if(\"${redco_torch_default}\" STREQUAL \"\")
    message(STATUS \"redco: the libtorch of this build is in its source tree, so the installation does not refer to it. Projects set \
REDCO_TORCH_ROOT, or you link a libtorch: ln -s DIR \${to}/redco/torch\")
  endif()")
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}")
