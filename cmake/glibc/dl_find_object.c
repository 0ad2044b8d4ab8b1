// _dl_find_object, from glibc 2.35: GCC's unwinder asks it which object an address belongs to and
// where that object's unwind table is. It answers as the unwinder itself did before, by
// dl_iterate_phdr.
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

struct search {
  ElfW(Addr) address;
  struct dl_find_object* found;
};

static int visit(struct dl_phdr_info* object, size_t size, void* argument) {
  (void)size;
  const struct search* search = argument;
  const ElfW(Phdr)* holder = NULL;
  const ElfW(Phdr)* table = NULL;
  ElfW(Addr) end = 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)* part = &object->dlpi_phdr[i];
    const ElfW(Addr) begin = object->dlpi_addr + part->p_vaddr;
    if (part->p_type == PT_GNU_EH_FRAME) table = part;
    if (part->p_type != PT_LOAD) continue;
    if (begin + part->p_memsz > end) end = begin + part->p_memsz;
    if (search->address >= begin && search->address - begin < part->p_memsz) holder = part;
  }
  if (holder == NULL) return 0;
  if (table == NULL) return -1;
  search->found->dlfo_map_start = (void*)object->dlpi_addr;
  search->found->dlfo_map_end = (void*)end;
  search->found->dlfo_eh_frame = (void*)(object->dlpi_addr + table->p_vaddr);
  return 1;
}

int _dl_find_object(void* address, struct dl_find_object* found) {
  memset(found, 0, sizeof *found);
  struct search search = {(ElfW(Addr))address, found};
  return dl_iterate_phdr(visit, &search) == 1 ? 0 : -1;
}
