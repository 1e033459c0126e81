# pto-tune in a CMake build: find_package(PtoTune CONFIG) with PtoTune_DIR from `pto-tune export --cmake-dir`.
#
#   pto_tune_config(<target> <RUN>...
#                   [HEADER <name>] [NAMESPACE <ns>] [BY_SHAPE] [ROW <n>]
#                   [PLATFORM <name or file>] [DB <url>] [DEFINITIONS] [PREFIX <name>])
#
# writes the header of the runs into the build folder and lets <target> include it. RUN is a run of the store or, for a
# build that needs neither store nor network, a JSON file of `pto-tune export --format json` (relative to the current
# source folder). The header is written while CMake configures, which happens again when a JSON file changes; a header
# whose text stays the same keeps its time stamp, so that nothing is compiled again. DEFINITIONS gives <target> the
# constants as compile definitions, too. A header in the build folder that somebody changed by hand is an error.
#
# PTO_TUNE_EXECUTABLE is the program; without it, pto-tune of the environment that this file belongs to, or of PATH.

cmake_minimum_required(VERSION 3.20)

set(PTO_TUNE_PACKAGE_DIR "${CMAKE_CURRENT_LIST_DIR}")
find_program(
  PTO_TUNE_EXECUTABLE pto-tune
  HINTS "${CMAKE_CURRENT_LIST_DIR}/../../../../../../bin" "${CMAKE_CURRENT_LIST_DIR}/../../../../../Scripts"
  DOC "The program pto-tune")

function(pto_tune_config target)
  cmake_parse_arguments(
    PARSE_ARGV 1 asked "BY_SHAPE;DEFINITIONS" "HEADER;NAMESPACE;ROW;PLATFORM;DB;PREFIX" "")
  if(NOT TARGET "${target}")
    message(FATAL_ERROR "pto_tune_config: '${target}' is no target: add it before")
  endif()
  if(NOT PTO_TUNE_EXECUTABLE)
    message(FATAL_ERROR "pto_tune_config: no program pto-tune was found: set PTO_TUNE_EXECUTABLE to it")
  endif()
  if(DEFINED asked_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "pto_tune_config: ${asked_KEYWORDS_MISSING_VALUES} needs a value")
  endif()
  set(runs)
  foreach(run IN LISTS asked_UNPARSED_ARGUMENTS)
    if(run MATCHES "\\.[jJ][sS][oO][nN]$")
      get_filename_component(run "${run}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${run}")
    endif()
    list(APPEND runs "${run}")
  endforeach()
  if(NOT runs)
    message(FATAL_ERROR "pto_tune_config: no run for '${target}': name a run or a JSON file of pto-tune export")
  endif()
  if(NOT DEFINED asked_HEADER)
    set(asked_HEADER "${target}_config.hpp")
  endif()
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/pto_tune/${target}")
  set(common)
  foreach(name IN ITEMS ROW PLATFORM DB)
    if(DEFINED asked_${name})
      string(TOLOWER "--${name}" option)
      list(APPEND common "${option}" "${asked_${name}}")
    endif()
  endforeach()
  set(options)
  if(DEFINED asked_NAMESPACE)
    list(APPEND options --namespace "${asked_NAMESPACE}")
  endif()
  if(asked_BY_SHAPE)
    list(APPEND options --by-shape)
  endif()
  _pto_tune_export("${folder}/${asked_HEADER}" header ${common} ${options} -- ${runs})

  get_target_property(type "${target}" TYPE)
  set(scope PRIVATE)
  if(type STREQUAL "INTERFACE_LIBRARY")
    set(scope INTERFACE)
  endif()
  target_include_directories("${target}" ${scope} "${folder}")
  if(asked_DEFINITIONS)
    set(prefix PTO_TUNE)
    if(DEFINED asked_PREFIX)
      set(prefix "${asked_PREFIX}")
    endif()
    _pto_tune_export("${folder}/${target}.rsp" definitions ${common} --prefix "${prefix}" -- ${runs})
    file(STRINGS "${folder}/${target}.rsp" lines REGEX "^-D")
    list(FILTER lines EXCLUDE REGEX "_CONTENT_SHA256=")
    target_compile_definitions("${target}" ${scope} ${lines})
  endif()
endfunction()

function(_pto_tune_export file format)
  get_filename_component(folder "${file}" DIRECTORY)
  file(MAKE_DIRECTORY "${folder}")
  execute_process(
    COMMAND "${PTO_TUNE_EXECUTABLE}" export --format "${format}" --output "${file}" ${ARGN}
    WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
    RESULT_VARIABLE code
    OUTPUT_VARIABLE said
    ERROR_VARIABLE wrong
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_STRIP_TRAILING_WHITESPACE)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "pto_tune_config: ${wrong}")
  endif()
  message(STATUS "pto-tune ${said}")
endfunction()
