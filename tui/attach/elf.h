/*
 * One symbol of an ELF file: enough to see whether a file is a Ruby, and which.
 *
 * Happy path: the table of exported symbols is read, the name is found in it, and
 * the bytes that the symbol names are read from the file. The file is read, never
 * mapped, and believed in nothing: a size above its maximum, or a place outside of
 * the file, is as if there were no such symbol.
 */
#ifndef TUI_ATTACH_ELF_H
#define TUI_ATTACH_ELF_H

#include <stdbool.h>
#include <stddef.h>

// Whether the file at `path` exports `name`; its first `size` bytes go into
// `content`, unless `size` is 0.
bool elf_symbol(const char *path, const char *name, void *content, size_t size);

#endif
