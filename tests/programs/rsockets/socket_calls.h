// What the files of socket_calls share.
#pragma once

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define CHECK(condition)                                                                     \
  do {                                                                                       \
    if (!(condition)) {                                                                      \
      fprintf(stderr, "%s:%d: %s: %s is false (%s)\n", __FILE__, __LINE__, side, #condition, \
              strerror(errno));                                                              \
      _exit(1);                                                                              \
    }                                                                                        \
  } while (0)

extern const char* side;            // whose check failed
extern struct sockaddr_in address;  // the server's

// Bytes whose value tells their place.
unsigned char byte_at(size_t place);
void send_pattern(int fd, size_t from, size_t count);
void expect_pattern(int fd, size_t from, size_t count);

// The events that poll() reports.
int waits_for(int fd, short events, int milliseconds);
// As FIONREAD has it.
int queued(int fd);

// What epoll tells of sockets that it watches before they connect: alone, and with a server.
void check_watches(void);
void serve_watched(int fd);
void ask_watched(void);

// What the two ends of a connection do.
struct Pair {
  const char* name;
  void (*serve)(int);
  void (*ask)(int);
};
extern const struct Pair kPairs[];
extern const int kPairCount;
