/* values [host] [cuda]: every operation of UCP between two processes, every byte compared.
 *
 * The program forks; the two halves connect by worker addresses, which they tell each other over a
 * socket pair. Each operation runs in every size from each kind of memory into each: tagged and
 * stream messages, active messages, put, get, and atomics. Around what is received lie guard bytes
 * that must stay. GPU memory is the driver API's, which is loaded when "cuda" is asked for.
 * UCX_TLS and the other variables of UCX choose the transports. Compiled by values.sh. */
#include <dlfcn.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <ucp/api/ucp.h>
#include <unistd.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
enum { GUARD = 64, PATIENCE_S = 1200, AM_ID = 3 };
static const size_t kSizes[] = {1,     8,     63,     255,     1000,    4096,           8192,
                                10000, 65536, 300000, 1 << 20, 4194307, (16 << 20) - 64};
#define MOST ((size_t)16 << 20)

static int is_client, wire;

static void fail(const char* what, const char* why) {
  fprintf(stderr, "%s: %s: %s\n", is_client ? "client" : "server", what, why);
  exit(1);
}
static void check(ucs_status_t status, const char* what) {
  if (status != UCS_OK) fail(what, ucs_status_string(status));
}

/* --- Memory */

static int (*cu_alloc)(uint64_t*, size_t), (*cu_to)(uint64_t, const void*, size_t),
    (*cu_from)(void*, uint64_t, size_t);

static void* driver_function(void* driver, const char* name) {
  void* function = dlsym(driver, name);
  if (function == NULL) fail(name, dlerror());
  return function;
}

static void start_cuda(void) {
  void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL), *context = NULL;
  if (driver == NULL) fail("libcuda.so.1", dlerror());
  int (*init)(unsigned) = driver_function(driver, "cuInit");
  int (*retain)(void**, int) = driver_function(driver, "cuDevicePrimaryCtxRetain");
  int (*set_current)(void*) = driver_function(driver, "cuCtxSetCurrent");
  cu_alloc = driver_function(driver, "cuMemAlloc_v2");
  cu_to = driver_function(driver, "cuMemcpyHtoD_v2");
  cu_from = driver_function(driver, "cuMemcpyDtoH_v2");
  if (init(0) != 0 || retain(&context, 0) != 0 || set_current(context) != 0) {
    fail("CUDA", "no device");
  }
}

typedef struct {
  const char* name;
  int on_gpu;
  char* at; /* GUARD bytes behind where it begins */
  ucp_mem_h handle;
} memory_t;

static char *scratch, *wanted; /* host memory with room for a message and its guards */

static void make_memory(ucp_context_h context, memory_t* memory) {
  uint64_t address = 0;
  if (!memory->on_gpu) {
    address = (uintptr_t)aligned_alloc(4096, MOST + 4096);
  } else if (cu_alloc(&address, MOST + 4096) != 0) {
    fail("cuMemAlloc", "failed");
  }
  const ucp_mem_map_params_t params = {
      .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
      .address = (void*)(uintptr_t)address,
      .length = MOST + 4096};
  check(ucp_mem_map(context, &params, &memory->handle), "ucp_mem_map");
  memory->at = (char*)(uintptr_t)address + GUARD;
}

static void store(const memory_t* memory, const char* from, size_t offset, size_t bytes) {
  char* to = memory->at - GUARD + offset;
  if (!memory->on_gpu) {
    memcpy(to, from, bytes);
  } else if (cu_to((uintptr_t)to, from, bytes) != 0) {
    fail("cuMemcpyHtoD", "failed");
  }
}

static unsigned seed_of(unsigned step) { return step * 2654435761u + 12345; }

static void make_pattern(char* to, size_t bytes, unsigned step) {
  uint64_t x = seed_of(step);
  for (size_t i = 0; i < bytes; ++i) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    to[i] = (char)(x >> 56);
  }
}

/* The message that this step sends. */
static void fill_message(const memory_t* memory, size_t bytes, unsigned step) {
  make_pattern(scratch, bytes, step);
  store(memory, scratch, GUARD, bytes);
}

/* Where it arrives, with guards around it. */
static void empty(const memory_t* memory, size_t bytes) {
  memset(scratch, 0x5a, bytes + 2 * GUARD);
  store(memory, scratch, 0, bytes + 2 * GUARD);
}

static void compare(const memory_t* memory, size_t bytes, unsigned step, const char* what) {
  memset(wanted, 0x5a, bytes + 2 * GUARD);
  make_pattern(wanted + GUARD, bytes, step);
  const char* got = memory->at - GUARD;
  if (memory->on_gpu) {
    if (cu_from(scratch, (uintptr_t)got, bytes + 2 * GUARD) != 0) fail("cuMemcpyDtoH", "failed");
    got = scratch;
  }
  for (size_t i = 0; i < bytes + 2 * GUARD; ++i) {
    if (got[i] == wanted[i]) continue;
    char words[160];
    snprintf(words, sizeof words, "%zu bytes in %s memory: byte %zd is %02x, not %02x", bytes,
             memory->name, (ssize_t)i - GUARD, (unsigned char)got[i], (unsigned char)wanted[i]);
    fail(what, words);
  }
}

/* --- Progress */

static ucp_worker_h worker;
static ucp_ep_h endpoint;

/* Both sides call it: neither goes on before the other has come. What a put, a get or a rendezvous
 * needs of this side goes on meanwhile. */
static void meet(void) {
  char token = 1;
  struct pollfd readable = {.fd = wire, .events = POLLIN};
  if (write(wire, &token, 1) != 1) fail("write", "the other side is gone");
  while (poll(&readable, 1, 0) == 0) ucp_worker_progress(worker);
  if (read(wire, &token, 1) != 1) fail("read", "the other side is gone");
}

static void wait_for(ucs_status_ptr_t request, const char* what) {
  if (request == NULL) return;
  if (UCS_PTR_IS_ERR(request)) fail(what, ucs_status_string(UCS_PTR_STATUS(request)));
  while (ucp_request_check_status(request) == UCS_INPROGRESS) ucp_worker_progress(worker);
  const ucs_status_t status = ucp_request_check_status(request);
  ucp_request_free(request);
  check(status, what);
}

static void flush(void) {
  const ucp_request_param_t none = {0};
  wait_for(ucp_ep_flush_nbx(endpoint, &none), "flush");
}

/* --- Operations: `mine` is this side's memory, the client sends or begins */

static void tagged(memory_t* mine, size_t bytes, unsigned step) {
  const ucp_request_param_t none = {0};
  if (is_client) {
    fill_message(mine, bytes, step);
    wait_for(ucp_tag_send_nbx(endpoint, mine->at, bytes, step, &none), "tagged send");
  } else {
    empty(mine, bytes);
    wait_for(ucp_tag_recv_nbx(worker, mine->at, bytes, step, ~(ucp_tag_t)0, &none),
             "tagged receive");
    compare(mine, bytes, step, "tagged message");
  }
}

static void stream(memory_t* mine, size_t bytes, unsigned step) {
  const ucp_request_param_t all = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
                                   .flags = UCP_STREAM_RECV_FLAG_WAITALL};
  const ucp_request_param_t none = {0};
  if (is_client) {
    fill_message(mine, bytes, step);
    wait_for(ucp_stream_send_nbx(endpoint, mine->at, bytes, &none), "stream send");
  } else {
    size_t got = 0;
    empty(mine, bytes);
    wait_for(ucp_stream_recv_nbx(endpoint, mine->at, bytes, &got, &all), "stream receive");
    compare(mine, bytes, step, "stream message");
  }
}

static struct {
  memory_t* into;
  size_t bytes;
  int arrived;
  ucs_status_ptr_t receiving;
} active;

static ucs_status_t take_active(void* arg, const void* header, size_t header_length, void* data,
                                size_t length, const ucp_am_recv_param_t* param) {
  (void)arg;
  if (header_length != sizeof(unsigned) || length != active.bytes) fail("active message", "length");
  (void)header;
  active.arrived = 1;
  if ((param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) == 0) {
    store(active.into, data, GUARD, length);
    return UCS_OK;
  }
  const ucp_request_param_t none = {0};
  active.receiving = ucp_am_recv_data_nbx(worker, data, active.into->at, length, &none);
  return UCS_INPROGRESS;
}

static void active_message(memory_t* mine, size_t bytes, unsigned step) {
  const ucp_request_param_t none = {0};
  if (is_client) {
    fill_message(mine, bytes, step);
    meet();
    wait_for(ucp_am_send_nbx(endpoint, AM_ID, &step, sizeof step, mine->at, bytes, &none),
             "active message");
  } else {
    empty(mine, bytes);
    active.into = mine, active.bytes = bytes, active.arrived = 0, active.receiving = NULL;
    meet();
    while (!active.arrived) ucp_worker_progress(worker);
    wait_for(active.receiving, "active message");
    compare(mine, bytes, step, "active message");
  }
}

/* Tells the client where this side's memory is; the client gets the key. */
static ucp_rkey_h exchange_key(ucp_context_h context, memory_t* mine, uint64_t* address) {
  ucp_rkey_h key = NULL;
  size_t length = 0;
  if (!is_client) {
    void* packed = NULL;
    check(ucp_rkey_pack(context, mine->handle, &packed, &length), "ucp_rkey_pack");
    *address = (uintptr_t)mine->at;
    if (write(wire, address, sizeof *address) < 0 || write(wire, &length, sizeof length) < 0 ||
        write(wire, packed, length) < 0) {
      fail("write", "the other side is gone");
    }
    ucp_rkey_buffer_release(packed);
    return NULL;
  }
  char packed[4096];
  if (recv(wire, address, sizeof *address, MSG_WAITALL) <= 0 ||
      recv(wire, &length, sizeof length, MSG_WAITALL) <= 0 || length > sizeof packed ||
      recv(wire, packed, length, MSG_WAITALL) <= 0) {
    fail("read", "no key");
  }
  check(ucp_ep_rkey_unpack(endpoint, packed, &key), "ucp_ep_rkey_unpack");
  return key;
}

static void put_and_get(memory_t* mine, size_t bytes, unsigned step, uint64_t remote,
                        ucp_rkey_h key) {
  const ucp_request_param_t none = {0};
  if (is_client) {
    fill_message(mine, bytes, step);
    meet();
    wait_for(ucp_put_nbx(endpoint, mine->at, bytes, remote, key, &none), "put");
    flush();
    meet(); /* it compares, and writes something else */
    empty(mine, bytes);
    meet();
    wait_for(ucp_get_nbx(endpoint, mine->at, bytes, remote, key, &none), "get");
    compare(mine, bytes, step + 1, "get");
    meet();
  } else {
    empty(mine, bytes);
    meet();
    meet();
    compare(mine, bytes, step, "put");
    fill_message(mine, bytes, step + 1);
    meet();
    meet();
  }
}

static uint64_t fetch(ucp_atomic_op_t operation, uint64_t operand, uint64_t reply, uint64_t remote,
                      ucp_rkey_h key) {
  const ucp_request_param_t params = {
      .op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_REPLY_BUFFER,
      .datatype = ucp_dt_make_contig(sizeof reply),
      .reply_buffer = &reply};
  wait_for(ucp_atomic_op_nbx(endpoint, operation, &operand, 1, remote, key, &params), "atomic");
  flush();
  return reply;
}

static void atomics(memory_t* mine, uint64_t remote, ucp_rkey_h key) {
  uint64_t value = 1000;
  if (!is_client) store(mine, (const char*)&value, GUARD, sizeof value);
  meet();
  if (is_client) {
    for (uint64_t i = 0; i < 50; ++i) {
      if (fetch(UCP_ATOMIC_OP_ADD, 3, 0, remote, key) != 1000 + 3 * i)
        fail("fetch and add", "value");
    }
    if (fetch(UCP_ATOMIC_OP_CSWAP, 1150, 7, remote, key) != 1150) fail("compare and swap", "value");
    if (fetch(UCP_ATOMIC_OP_CSWAP, 1150, 8, remote, key) != 7) fail("compare and swap", "swapped");
    if (fetch(UCP_ATOMIC_OP_SWAP, 99, 0, remote, key) != 7) fail("swap", "value");
  }
  meet();
  if (is_client) return;
  memcpy(&value, mine->at, sizeof value);
  if (value != 99) fail("atomics", "the last value is not there");
}

/* --- Life */

static void connect_workers(ucp_context_h context) {
  const ucp_worker_params_t params = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                      .thread_mode = UCS_THREAD_MODE_SINGLE};
  check(ucp_worker_create(context, &params, &worker), "ucp_worker_create");
  const ucp_am_handler_param_t handler = {
      .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB,
      .id = AM_ID,
      .cb = take_active};
  check(ucp_worker_set_am_recv_handler(worker, &handler), "ucp_worker_set_am_recv_handler");
  ucp_address_t* own = NULL;
  size_t length = 0;
  check(ucp_worker_get_address(worker, &own, &length), "ucp_worker_get_address");
  if (write(wire, &length, sizeof length) < 0 || write(wire, own, length) < 0) {
    fail("write", "the other side is gone");
  }
  ucp_worker_release_address(worker, own);
  if (recv(wire, &length, sizeof length, MSG_WAITALL) <= 0) fail("read", "no address");
  char* other = malloc(length);
  if (recv(wire, other, length, MSG_WAITALL) <= 0) fail("read", "no address");
  const ucp_ep_params_t to = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
                              .address = (const ucp_address_t*)other};
  check(ucp_ep_create(worker, &to, &endpoint), "ucp_ep_create");
  free(other);
}

static unsigned run_all(ucp_context_h context, memory_t* memories, int count) {
  unsigned step = 0;
  for (int pair = 0; pair < count * count; ++pair) {
    memory_t* mine = &memories[is_client ? pair / count : pair % count];
    uint64_t remote = 0;
    ucp_rkey_h key = exchange_key(context, mine, &remote);
    for (size_t i = 0; i < COUNT_OF(kSizes); ++i) {
      tagged(mine, kSizes[i], ++step);
      stream(mine, kSizes[i], ++step);
      active_message(mine, kSizes[i], ++step);
      put_and_get(mine, kSizes[i], step += 2, remote, key);
    }
    /* What UCX emulates, it does with the processor. */
    if (!memories[pair % count].on_gpu) atomics(mine, remote, key);
    meet();
    if (key != NULL) ucp_rkey_destroy(key);
  }
  return step;
}

static int be_side(memory_t* memories, int count) {
  ucp_config_t* config = NULL;
  ucp_context_h context = NULL;
  const ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES,
                               .features = UCP_FEATURE_TAG | UCP_FEATURE_STREAM | UCP_FEATURE_AM |
                                           UCP_FEATURE_RMA | UCP_FEATURE_AMO64};
  alarm(PATIENCE_S);
  scratch = malloc(MOST + 2 * GUARD), wanted = malloc(MOST + 2 * GUARD);
  for (int i = 0; i < count; ++i) {
    if (memories[i].on_gpu) start_cuda();
  }
  check(ucp_config_read(NULL, NULL, &config), "ucp_config_read");
  check(ucp_init(&params, config, &context), "ucp_init");
  ucp_config_release(config);
  for (int i = 0; i < count; ++i) make_memory(context, &memories[i]);
  connect_workers(context);
  const unsigned steps = run_all(context, memories, count);
  const ucp_request_param_t none = {0};
  wait_for(ucp_ep_close_nbx(endpoint, &none), "ucp_ep_close");
  meet();
  for (int i = 0; i < count; ++i) ucp_mem_unmap(context, memories[i].handle);
  ucp_worker_destroy(worker);
  ucp_cleanup(context);
  if (!is_client) printf("%u messages, every byte right\n", steps);
  return 0;
}

int main(int argc, char** argv) {
  memory_t memories[2] = {0};
  int count = 0, ends[2], status = 0;
  for (int i = 1; i < argc && count < 2; ++i) {
    const int on_gpu = strcmp(argv[i], "cuda") == 0;
    if (!on_gpu && strcmp(argv[i], "host") != 0) return 2;
    memories[count++] = (memory_t){.name = argv[i], .on_gpu = on_gpu};
  }
  if (count == 0) memories[count++] = (memory_t){.name = "host"};
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return 1;
  const pid_t child = fork();
  if (child < 0) return 1;
  is_client = child == 0;
  wire = ends[is_client];
  close(ends[!is_client]);
  if (is_client) return be_side(memories, count);
  be_side(memories, count);
  fflush(stdout);
  if (waitpid(child, &status, 0) != child || status != 0) fail("client", "did not end well");
  return 0;
}
