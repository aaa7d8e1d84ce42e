install(TARGETS telltale RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
# Programs with the names in published texts: each is telltale under another name.
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/libexec/telltale)
foreach(tool expand_events extract-section extract-report resolveSamples resolveTimestamps resolve-backtrace
             resolve-cfg decimate-samples precompute find-sampler-info)
  file(CREATE_LINK ../../${CMAKE_INSTALL_BINDIR}/telltale ${PROJECT_BINARY_DIR}/libexec/telltale/${tool} SYMBOLIC)
  install(FILES ${PROJECT_BINARY_DIR}/libexec/telltale/${tool} DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/telltale)
endforeach()
include(CMakePackageConfigHelpers)
install(TARGETS telltale_shared EXPORT telltale
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/telltale DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
set(telltale_config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/telltale)
install(EXPORT telltale NAMESPACE telltale:: DESTINATION ${telltale_config_dir} FILE telltaleConfig.cmake)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/telltaleConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/telltaleConfigVersion.cmake DESTINATION ${telltale_config_dir})

# The manual pages are generated from the command line's declarations.
add_custom_target(telltale_man_pages ALL
  COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/man
  COMMAND telltale man --all ${PROJECT_BINARY_DIR}/man VERBATIM)
install(DIRECTORY ${PROJECT_BINARY_DIR}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
# The JSON Schemas of what --json prints come from the schemas in src/report/schemas/.
set(telltale_schemas ${PROJECT_BINARY_DIR}/schemas)
add_custom_target(telltale_json_schemas ALL COMMAND telltale_write_schemas ${telltale_schemas} VERBATIM)
install(DIRECTORY ${telltale_schemas}/ DESTINATION ${CMAKE_INSTALL_DATADIR}/telltale/schemas)
install(FILES ${PROJECT_SOURCE_DIR}/debuggers/gdb/telltale_paths.py DESTINATION ${CMAKE_INSTALL_DATADIR}/telltale/gdb)
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
