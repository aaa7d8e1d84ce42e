# Compiles the sources of a folder several at a time: most of the time of one source goes into the headers of the standard
# library and of fmt, which are then read once (docs/design/build-and-test.md, "What a build costs"). Off unless a preset
# asks for it: clang's builds compile each source alone, so a source that lacks an include does not pass, and their
# compile_commands.json names each source for clang-tidy.
option(TELLTALE_UNITY "compile several sources of a folder as one" OFF)
# Sources at a time: more save little, and after a change to one of them all are compiled. Verbs change most often.
set(telltale_unity_size 8)
set(telltale_unity_size_cli/verbs 4)
# Here one unit takes about a second less than two. Not for the decoders' loops: what g++ inlines there should not change.
foreach(folder analysis/paths analysis/runtime cli/options cli/study collect/server collect/store import/sampler model output/dump
               output/table program report/paths report/runtime)
  set(telltale_unity_size_${folder} 16)
endforeach()

# telltale_unity(TARGET SOURCES...): sources of one folder are compiled together, at most telltale_unity_size of them (telltale_unity_size_FOLDER, if set). So
# names in anonymous namespaces have to differ within a folder. Sources with the property SKIP_UNITY_BUILD_INCLUSION are
# compiled alone.
function(telltale_unity target)
  if(NOT TELLTALE_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # g++ takes the sources of a unit for headers, whose types must not have members of anonymous types.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  set(previous "")
  foreach(source IN LISTS ARGN)
    get_filename_component(folder ${source} DIRECTORY)
    if(NOT folder STREQUAL previous)
      set(count 0)
      set(previous ${folder})
    endif()
    file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR}/src ${folder})
    set(size ${telltale_unity_size})
    if(DEFINED telltale_unity_size_${name})
      set(size ${telltale_unity_size_${name}})
    endif()
    math(EXPR batch "${count} / ${size}")
    math(EXPR count "${count} + 1")
    string(REGEX REPLACE "[./]+" "_" group ${name}_${batch})
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
  endforeach()
endfunction()
