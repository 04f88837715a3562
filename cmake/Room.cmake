# A room is a folder and the one foreign library it may know.

add_library(memtop_warnings INTERFACE)
target_compile_options(memtop_warnings INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes
    -Wmissing-prototypes -Wvla -Wundef)
target_include_directories(memtop_warnings INTERFACE
    ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/generated)
target_compile_definitions(memtop_warnings INTERFACE _GNU_SOURCE)
if(MEMTOP_WERROR)
    target_compile_options(memtop_warnings INTERFACE -Werror)
endif()

# What the sanitizers see: every room, but not the extension that Ruby loads.
add_library(memtop_sanitizers INTERFACE)
if(MEMTOP_SANITIZE)
    set(flags -fsanitize=address,undefined -fno-sanitize-recover=undefined
        -fno-omit-frame-pointer)
    target_compile_options(memtop_sanitizers INTERFACE ${flags})
    target_link_options(memtop_sanitizers INTERFACE ${flags})
endif()

# add_room(NAME SOURCES ... LINKS ...): a static library of that room alone.
function(add_room name)
    cmake_parse_arguments(ROOM "" "" "SOURCES;LINKS" ${ARGN})
    add_library(${name} STATIC ${ROOM_SOURCES})
    target_link_libraries(${name} PUBLIC ${ROOM_LINKS} memtop_sanitizers
        PRIVATE memtop_warnings)
    target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR})
endfunction()

# The library is called msgpack on Debian 12 and msgpack-c on Debian 13, where
# its .pc file names an include folder relative to nowhere. The headers lie where
# the compiler looks anyway.
macro(find_msgpack)
    pkg_search_module(MSGPACK REQUIRED IMPORTED_TARGET msgpack-c msgpack)
    list(FILTER MSGPACK_INCLUDE_DIRS INCLUDE REGEX "^/")
    set_target_properties(PkgConfig::MSGPACK PROPERTIES
        INTERFACE_INCLUDE_DIRECTORIES "${MSGPACK_INCLUDE_DIRS}")
endmacro()
