/* Streams with a buffer. The bug, a wrong order: a stream that is closed while something is in its
 * buffer gives the buffer back first, and is written out later, with all others. */
#include <stdio.h>
#include <string.h>

#include "chance.h"

enum { kStreams = 12, kBytes = 64, kSteps = 2500 };

struct stream {
  char* buffer;
  int used;
  int is_open;
  long written;
};

static struct stream streams[kStreams];

static void open_stream(struct stream* stream) {
  stream->buffer = calloc(1, kBytes);
  if (stream->buffer == NULL) exit(3);
  stream->used = 0;
  stream->is_open = 1;
}

static void flush_stream(struct stream* stream) {
  for (int i = 0; i < stream->used; i++) stream->written += stream->buffer[i];
  stream->used = 0;
}

static void close_stream(struct stream* stream, int in_a_hurry) {
  if (!in_a_hurry) flush_stream(stream);
  free(stream->buffer);
  stream->buffer = NULL;
  stream->is_open = 0;
}

static void write_stream(struct stream* stream, int bytes) {
  if (stream->used + bytes > kBytes) flush_stream(stream);
  memset(stream->buffer + stream->used, 'x', (size_t)bytes);
  stream->used += bytes;
}

int main(int count, char** arguments) {
  long sum = 0;
  begin_chance(count, arguments);
  for (int i = 0; i < kSteps; i++) {
    struct stream* stream = &streams[chance_below(kStreams)];
    if (!stream->is_open) {
      open_stream(stream);
    } else if (chance_below(12) == 0) {
      close_stream(stream, chance_below(400) == 0);
    } else {
      write_stream(stream, 1 + chance_below(20));
    }
    if (i % 20 != 19) continue;
    for (int k = 0; k < kStreams; k++) flush_stream(&streams[k]);
  }
  for (int k = 0; k < kStreams; k++) sum += streams[k].written;
  printf("%ld\n", sum);
  return 0;
}
