#include "tui/attach/elf.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <elf.h>

#define TABLE_BYTES_MAX (64u << 20)
#define SECTIONS_MAX 4096

struct file {
    int fd;
    Elf64_Ehdr header;
    Elf64_Shdr *sections; // owned
};

static bool
read_at(int fd, uint64_t offset, void *into, size_t size)
{
    return offset < INT64_MAX && pread(fd, into, size, (off_t)offset) == (ssize_t)size;
}

// A table of the file in memory; NULL when it is too large or not there. One byte
// more, 0, ends a table of texts that does not end itself.
static char *
load(int fd, uint64_t offset, uint64_t size)
{
    char *table = size > 0 && size <= TABLE_BYTES_MAX ? malloc(size + 1) : NULL;
    if (table && !read_at(fd, offset, table, size)) {
        free(table);
        return NULL;
    }
    if (table) {
        table[size] = '\0';
    }
    return table;
}

static bool
open_file(struct file *file, const char *path)
{
    *file = (struct file){.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    const Elf64_Ehdr *header = &file->header;
    if (file->fd < 0 || !read_at(file->fd, 0, &file->header, sizeof(file->header)) ||
        memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64 ||
        header->e_shentsize != sizeof(Elf64_Shdr) || header->e_shnum > SECTIONS_MAX) {
        return false;
    }
    file->sections = (Elf64_Shdr *)(void *)load(file->fd, header->e_shoff,
                                                header->e_shnum * sizeof(Elf64_Shdr));
    return file->sections != NULL;
}

static void
close_file(struct file *file)
{
    free(file->sections);
    if (file->fd >= 0) {
        close(file->fd);
    }
}

static bool
read_content(const struct file *file, const Elf64_Sym *symbol, void *content, size_t size)
{
    if (size == 0) {
        return true;
    }
    if (symbol->st_shndx >= file->header.e_shnum || symbol->st_size < size) {
        return false;
    }
    const Elf64_Shdr *section = &file->sections[symbol->st_shndx];
    return section->sh_type != SHT_NOBITS && symbol->st_value >= section->sh_addr &&
           read_at(file->fd, section->sh_offset + (symbol->st_value - section->sh_addr),
                   content, size);
}

static bool
find_in(const struct file *file, const Elf64_Shdr *table, const char *name, void *content,
        size_t size)
{
    bool found = false;
    if (table->sh_link >= file->header.e_shnum) {
        return false;
    }
    const Elf64_Shdr *texts = &file->sections[table->sh_link];
    Elf64_Sym *symbols =
        (Elf64_Sym *)(void *)load(file->fd, table->sh_offset, table->sh_size);
    char *names = load(file->fd, texts->sh_offset, texts->sh_size);
    size_t count = table->sh_size / sizeof(Elf64_Sym);
    for (size_t i = 0; symbols && names && i < count && !found; i++) {
        const Elf64_Sym *symbol = &symbols[i];
        found = symbol->st_shndx != SHN_UNDEF && symbol->st_name < texts->sh_size &&
                strcmp(names + symbol->st_name, name) == 0 &&
                read_content(file, symbol, content, size);
    }
    free(symbols);
    free(names);
    return found;
}

bool
elf_symbol(const char *path, const char *name, void *content, size_t size)
{
    struct file file;
    bool found = false;
    if (open_file(&file, path)) {
        for (size_t i = 0; i < file.header.e_shnum && !found; i++) {
            found = file.sections[i].sh_type == SHT_DYNSYM &&
                    find_in(&file, &file.sections[i], name, content, size);
        }
    }
    close_file(&file);
    return found;
}
