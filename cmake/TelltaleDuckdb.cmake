# DuckDB's C library, which comes inside an npm package. telltale loads it when it works with a store, so nothing is linked.
option(TELLTALE_DUCKDB "install DuckDB's library beside telltale, for stores of collected reports" ON)
if(TELLTALE_DUCKDB)
  set(npm ${PROJECT_SOURCE_DIR}/packages/duckdb)
  set(built ${PROJECT_BINARY_DIR}/duckdb)
  set(packages ${npm}/package.json ${npm}/package-lock.json ${npm}/.npmrc)
  set(telltale_duckdb_library ${PROJECT_BINARY_DIR}/lib/telltale/libduckdb.so)
  add_custom_command(OUTPUT ${telltale_duckdb_library}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${built} ${PROJECT_BINARY_DIR}/lib/telltale
    COMMAND ${CMAKE_COMMAND} -E copy ${packages} ${built}
    COMMAND ${CMAKE_COMMAND} -E chdir ${built}
            ${TELLTALE_NPM} ci --ignore-scripts --prefer-offline --no-audit --no-fund --loglevel=error
    COMMAND sh -c "ln -f node_modules/@duckdb/node-bindings-linux-*/libduckdb.so ${telltale_duckdb_library}"
    WORKING_DIRECTORY ${PROJECT_BINARY_DIR}/duckdb
    DEPENDS ${packages} ${TELLTALE_NODE_INSTALLED} COMMENT "Installing DuckDB's library" VERBATIM)
  file(MAKE_DIRECTORY ${built})
  add_custom_target(telltale_duckdb ALL DEPENDS ${telltale_duckdb_library})
  install(PROGRAMS ${telltale_duckdb_library} DESTINATION ${CMAKE_INSTALL_LIBDIR}/telltale COMPONENT telltale)
endif()
