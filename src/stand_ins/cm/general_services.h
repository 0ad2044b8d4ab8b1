// General services: management datagrams (MADs) on queue pair 1 (InfiniBand specification 13.4 and
// 16.7), as libibverbs.so.1 of the software NIC offers them to librdmacm.so.1. A C interface of
// their own (version node GDRKIT_1), since verbs has none: a program cannot own queue pair 1.
//
//   gdr_gsi_user user = {on_mad, on_ended, &state};
//   gdr_gsi* gsi = gdr_gsi_open(context, &user);              // null with errno
//   gdr_gsi_listen(gsi, service_id);                          // REQ and SIDR_REQ come to on_mad
//   gdr_gsi_mad mad = {source, destination, bytes};
//   mad's local communication id = gdr_gsi_id_prefix(gsi) | 20 random bits;
//   int error = gdr_gsi_send(gsi, &mad);                      // unreliable: retries are yours
//   gdr_gsi_close(gsi);
//
// Every MAD is a packet, within a host, too. Which process gets one: a REQ or SIDR_REQ goes to
// whoever listens for its service id at the destination address; any other message of connection
// management goes by the process's prefix in the id that it answers to. A REQ or SIDR_REQ that
// nobody listens for is rejected by the library, a DREQ to nobody is answered with a DREP, and
// everything else that belongs to nobody is counted and dropped.
//
// Threads: any may call any function. In a fork's child, gdr_gsi_close() of what the parent opened
// frees it, and everything else returns ENODEV.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ibv_context;

enum { GDR_GSI_MAD_BYTES = 256, GDR_GSI_ID_BITS = 20 };

typedef struct gdr_gsi gdr_gsi; /* one user of queue pair 1 on one device of one process */

typedef struct gdr_gsi_mad {
  uint8_t source[16]; /* GIDs, in network order: IPv6, or IPv4 as ::ffff:a.b.c.d */
  uint8_t destination[16];
  uint8_t bytes[GDR_GSI_MAD_BYTES];
} gdr_gsi_mad;

/* Called on a thread of the library, one call at a time for each gdr_gsi. They may call
   gdr_gsi_send, gdr_gsi_listen, gdr_gsi_unlisten and gdr_gsi_close (of their own gdr_gsi, too), and
   must not block for long. */
typedef struct gdr_gsi_user {
  void (*receive)(void* state, const gdr_gsi_mad* mad);
  /* Another process of this account on this host has ended: ids with that prefix, from that
     address, are nobody's any more. May be null. */
  void (*ended)(void* state, const uint8_t address[16], uint32_t id_prefix);
  void* state;
} gdr_gsi_user;

/* Null with errno: what opening UDP port 4791 of the device's address says (EADDRNOTAVAIL,
   EADDRINUSE, EACCES), ENOMEM, ENODEV. `context` must stay open until gdr_gsi_close(). */
gdr_gsi* gdr_gsi_open(struct ibv_context* context, const gdr_gsi_user* user);

/* No call of its functions runs or begins once it has returned, but for one that it was called
 * from. */
void gdr_gsi_close(gdr_gsi* gsi);

/* 0: it has left, which says nothing of its arrival. EADDRNOTAVAIL: `source` is no GID of the
   device. ECONNREFUSED: the destination is an address of this host where no process has the port.
   ENETUNREACH, EHOSTUNREACH and what else the kernel says. EPROTONOSUPPORT: no MAD of connection
   management (class 0x07, class version 2). */
int gdr_gsi_send(gdr_gsi* gsi, const gdr_gsi_mad* mad);

/* From now on REQ and SIDR_REQ for that service id, addressed to this device, come to this gsi.
   EADDRINUSE: another process or gsi of this user has it on this device. ENOMEM: the table is
   full. */
int gdr_gsi_listen(gdr_gsi* gsi, uint64_t service_id);
/* EINVAL: it does not listen for that. */
int gdr_gsi_unlisten(gdr_gsi* gsi, uint64_t service_id);

/* The upper 12 bits of every local communication id and SIDR request id of this process: answers
   find it by them. The lower GDR_GSI_ID_BITS are the caller's, random so that nobody guesses them.
 */
uint32_t gdr_gsi_id_prefix(gdr_gsi* gsi);

/* What the user of queue pair 1 has dropped or refused, for the library's counters. */
typedef enum gdr_gsi_drop {
  GDR_GSI_BACKLOG_FULL,    /* a request for which its listener has no place now */
  GDR_GSI_INVALID_REQUEST, /* not of the form, or not of the type, that its listener takes */
  GDR_GSI_UNEXPECTED       /* of no connection, or of none with that peer */
} gdr_gsi_drop;
void gdr_gsi_count(gdr_gsi* gsi, gdr_gsi_drop what);

#ifdef __cplusplus
}
#endif
