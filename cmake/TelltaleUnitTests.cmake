# The programs with unit tests and, with TELLTALE_FUZZ, the fuzz targets: what `./dev test` builds with sanitizers.
add_custom_target(telltale_test_programs)
if(TELLTALE_TESTS)
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()

# telltale_unit_tests(TARGET NAME [ALONE]) registers the tests of a program with ctest, as unit.NAME.SUITE.TEST. Each runs in a
# process of its own. With sanitizers, a process takes longer to start than most tests take; there the program runs four times,
# with a quarter of its tests each, unless ALONE is given: for tests that fail if another one ran in their process.
# The time limits are generous: with sanitizers and under heavy load, a test of one minute took more than five.
function(telltale_unit_tests target name)
  add_dependencies(telltale_test_programs ${target})
  if(NOT TELLTALE_SANITIZE OR "ALONE" IN_LIST ARGN)
    gtest_discover_tests(${target} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} DISCOVERY_TIMEOUT 60
                         TEST_PREFIX unit.${name}. PROPERTIES TIMEOUT 1200 LABELS unit)
    return()
  endif()
  # AddressSanitizer keeps 256 MiB of freed memory and 30 callers of each allocation. A test frees less, and 3 callers tell where;
  # the longest test takes a sixth less CPU time.
  set(small_bookkeeping quarantine_size_mb=16:malloc_context_size=3)
  foreach(shard RANGE 3)
    add_test(NAME unit.${name}.${shard} COMMAND ${target} --gtest_brief WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(unit.${name}.${shard} PROPERTIES TIMEOUT 1800 LABELS unit
                         ENVIRONMENT "GTEST_TOTAL_SHARDS=4;GTEST_SHARD_INDEX=${shard};ASAN_OPTIONS=${small_bookkeeping}")
  endforeach()
endfunction()
