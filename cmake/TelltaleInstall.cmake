# What is installed, in three components, which are also the Debian packages (debian/control):
# `telltale` (the command, and the libraries that programs load), `telltale-dev` (what programs are built with), and
# `telltale-sampler` (the compiler).
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME telltale)
install(TARGETS telltale RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT telltale)
if(NOT TELLTALE_STATIC)
  install(TARGETS telltale_collect_program RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/telltale COMPONENT telltale)
endif()
install(FILES ${PROJECT_SOURCE_DIR}/packages/systemd/telltale-collect.service
        DESTINATION ${CMAKE_INSTALL_DATADIR}/telltale/systemd COMPONENT telltale)
# Programs with the names in published texts: each is telltale under another name.
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/libexec/telltale)
foreach(tool expand_events extract-section extract-report resolveSamples resolveTimestamps resolve-backtrace
             resolve-cfg decimate-samples precompute find-sampler-info)
  file(CREATE_LINK ../../${CMAKE_INSTALL_BINDIR}/telltale ${PROJECT_BINARY_DIR}/libexec/telltale/${tool} SYMBOLIC)
  install(FILES ${PROJECT_BINARY_DIR}/libexec/telltale/${tool} DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/telltale)
endforeach()
include(CMakePackageConfigHelpers)
install(TARGETS telltale_shared EXPORT telltale
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT telltale NAMELINK_COMPONENT telltale-dev)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/telltale DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT telltale-dev)
set(telltale_config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/telltale)
install(EXPORT telltale NAMESPACE telltale:: DESTINATION ${telltale_config_dir} FILE telltaleConfig.cmake
  COMPONENT telltale-dev)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/telltaleConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/telltaleConfigVersion.cmake DESTINATION ${telltale_config_dir} COMPONENT telltale-dev)

# pkg-config files. They find their own prefix, so an installed tree can be moved.
file(RELATIVE_PATH telltale_prefix_from_pkgconfig /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
function(telltale_pkgconfig name description libs)
  file(WRITE ${PROJECT_BINARY_DIR}/pkgconfig/${name}.pc
"prefix=\${pcfiledir}/${telltale_prefix_from_pkgconfig}
libdir=\${prefix}/${CMAKE_INSTALL_LIBDIR}
includedir=\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}

Name: ${name}
Description: ${description}
Version: ${PROJECT_VERSION}
Cflags: -I\${includedir}${ARGN}
Libs: -L\${libdir} ${libs}
")
  install(FILES ${PROJECT_BINARY_DIR}/pkgconfig/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
    COMPONENT telltale-dev)
endfunction()
telltale_pkgconfig(telltale "reads recordings from C++" -ltelltale)
# Programs get the static recorder, which needs nothing when they run; as the targets of the CMake package do.
telltale_pkgconfig(telltale-stacktrack "checkpoints that record what a program does" -l:libtelltale_stacktrack.a)
if(TARGET xray_recorder)
  telltale_pkgconfig(telltale-xray "the recorder of function calls, for programs that control it"
                     "-Wl,-u,telltale_xray_start -l:libtelltale_xray.a")
endif()

# The manual pages are generated from the command line's declarations.
set(telltale_man ${PROJECT_BINARY_DIR}/man)
add_custom_target(telltale_man_pages ALL
  COMMAND ${CMAKE_COMMAND} -E make_directory ${telltale_man}
  COMMAND telltale man --all ${telltale_man} VERBATIM)
set(telltale_cc_pages telltale-cc telltale-c++ telltale-llvm-ar telltale-llvm-ranlib telltale-clang-scan-deps sampler-cc csi-cc)
list(TRANSFORM telltale_cc_pages APPEND .1)
set(patterns "")
foreach(page IN LISTS telltale_cc_pages)
  list(APPEND patterns PATTERN ${page} EXCLUDE)
  install(FILES ${telltale_man}/${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT telltale-sampler)
endforeach()
install(DIRECTORY ${telltale_man}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 ${patterns})
# The JSON Schemas of what --json prints come from the schemas in src/report/schemas/.
set(telltale_schemas ${PROJECT_BINARY_DIR}/schemas)
add_custom_target(telltale_json_schemas ALL COMMAND telltale_write_schemas ${telltale_schemas} VERBATIM)
install(DIRECTORY ${telltale_schemas}/ DESTINATION ${CMAKE_INSTALL_DATADIR}/telltale/schemas)
foreach(debugger gdb lldb)
  install(FILES ${PROJECT_SOURCE_DIR}/debuggers/${debugger}/telltale_paths.py DESTINATION ${CMAKE_INSTALL_DATADIR}/telltale/${debugger})
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/python/telltale_spark DESTINATION ${CMAKE_INSTALL_DATADIR}/telltale/python
        FILES_MATCHING PATTERN "*.py" PATTERN __pycache__ EXCLUDE)
# The completions come from the command line, too.
set(telltale_completions ${PROJECT_BINARY_DIR}/completions)
file(MAKE_DIRECTORY ${telltale_completions})
add_custom_target(telltale_completion_scripts ALL
  COMMAND telltale completion bash > ${telltale_completions}/telltale
  COMMAND telltale completion zsh > ${telltale_completions}/_telltale
  COMMAND telltale completion fish > ${telltale_completions}/telltale.fish VERBATIM)
install(FILES ${telltale_completions}/telltale DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${telltale_completions}/_telltale DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${telltale_completions}/telltale.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

# Last: the list of what was installed, for `./dev uninstall`. Packages have lists of their own. Names are relative, so that
# it does not matter how the folder was called. New folders follow with a slash at the end, each after those in it.
install(CODE [[
  get_filename_component(prefix "${CMAKE_INSTALL_PREFIX}" ABSOLUTE)
  set(list share/telltale/installed-files.txt)
  set(files "${list}\n")
  set(folders)
  foreach(file IN LISTS CMAKE_INSTALL_MANIFEST_FILES)
    file(RELATIVE_PATH name "${prefix}" "${file}")
    string(PREPEND files "${name}\n")
    get_filename_component(name "${name}" DIRECTORY)
    while(NOT "${name}" STREQUAL "")
      list(APPEND folders "${name}")
      get_filename_component(name "${name}" DIRECTORY)
    endwhile()
  endforeach()
  list(REMOVE_DUPLICATES folders)
  list(REMOVE_ITEM folders "" ${former_folders})
  list(SORT folders ORDER DESCENDING)
  foreach(name IN LISTS folders)
    string(APPEND files "${name}/\n")
  endforeach()
  file(WRITE "$ENV{DESTDIR}${prefix}/${list}" "${files}")]] COMPONENT list-of-files)
