# C from a .proto file, by protobuf-c. Made when configuring, as version.h is, so that
# clang-tidy finds it before anything was built; never committed.

# add_protobuf(NAME FILE): a library of what is generated from FILE. Its headers are
# the system's to whoever links it: our warnings are not for them.
function(add_protobuf name file)
    find_program(PROTOC_C protoc-c REQUIRED)
    set(folder ${CMAKE_BINARY_DIR}/generated/${name})
    get_filename_component(stem ${file} NAME_WE)
    get_filename_component(path ${file} ABSOLUTE)
    get_filename_component(source ${path} DIRECTORY)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
    file(MAKE_DIRECTORY ${folder})
    # Debian 13's says on standard error that protoc with a plugin is the way now.
    execute_process(COMMAND ${PROTOC_C} --c_out=${folder} --proto_path=${source} ${path}
        ERROR_VARIABLE said RESULT_VARIABLE status)
    if(NOT status EQUAL 0)
        message(FATAL_ERROR "${PROTOC_C} ${path}: ${said}")
    endif()
    add_library(${name} STATIC ${folder}/${stem}.pb-c.c)
    target_include_directories(${name} SYSTEM PUBLIC ${folder})
    target_link_libraries(${name} PUBLIC PkgConfig::PROTOBUF_C memtop_sanitizers)
endfunction()
