// What peermem_check can do. Each prints a line for what it has seen, and ends the program with a
// line that begins with FAILED if something is wrong.
#pragma once

namespace peermem_check {

// Every byte written and read, at odd places as well; nothing beside them; nothing past the end.
void transfers();
// Writes to memory that was freed while it was registered, and prints how that ended.
void frees_under_a_registration();
// Registers memory that another thread frees at that moment, and prints how that ended.
void frees_while_it_is_mapped();
// Deregisters memory while another thread's freeing of it is not done.
void deregisters_while_it_is_freed();
// A region over two allocations is refused; one within the second outlives the first. Prints how a
// write to it ends when the second is freed.
void registers_neighbours();
// Registers memory that is freed meanwhile, and of which another allocation then has the address.
// Prints how that ended.
void replaces_while_it_is_pinned();
void registers_more_than_there_is();
// A child that it forks is the last to close the RDMA device. Then waits for a file of that name,
// and frees the memory.
[[noreturn]] void leaves_the_device_to_a_child(const char* go_on);
// Tries to register a GPU page, and prints how that ended.
void registers_once();
// Registers so many MiB, prints a line and waits to be killed.
[[noreturn]] void holds(unsigned mebibytes);
// So many registrations in all, by so many threads, each with another that frees the memory at any
// moment around it.
void races(unsigned threads, unsigned registrations);

// The same with dma-bufs, by ibv_reg_dmabuf_mr.
void transfers_dma_bufs();
// Writes to one that has moved; neither the old place nor the new one may change.
void moves_a_dma_buf();
// Memory of a process that is dead by then.
void outlives_the_exporter();
[[noreturn]] void holds_a_dma_buf();

}  // namespace peermem_check
