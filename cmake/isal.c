// ISA-L without a package on the machine: Debian ships it as a shared library only, so its file travels inside the
// program and is loaded from memory by the first call. It needs nothing but libc. One version for all machines also
// means that the bytes of the ci profile are the same everywhere. Thread-safe.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <isa-l.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

__asm__(".pushsection .rodata\n.balign 8\nquarry_isal:\n.incbin \"" ISAL_FILE
        "\"\nquarry_isal_end:\n.byte 0\n.popsection\n");
extern const char quarry_isal[], quarry_isal_end[];

// What the rooms call: one line each. A missing one is an undefined symbol of the linker.
#define FUNCTIONS(F)                                                                                                   \
  F(void, isal_deflate_init, (struct isal_zstream * stream), (stream))                                                 \
  F(int, isal_deflate, (struct isal_zstream * stream), (stream))                                                       \
  F(int, isal_deflate_set_dict, (struct isal_zstream * stream, uint8_t* dict, uint32_t size), (stream, dict, size))    \
  F(void, isal_inflate_init, (struct inflate_state * state), (state))                                                  \
  F(void, isal_inflate_reset, (struct inflate_state * state), (state))                                                 \
  F(int, isal_inflate, (struct inflate_state * state), (state))                                                        \
  F(int, isal_inflate_set_dict, (struct inflate_state * state, uint8_t* dict, uint32_t size), (state, dict, size))

#define DECLARE(result, name, parameters, arguments) static result(*loaded_##name) parameters;
FUNCTIONS(DECLARE)
static pthread_once_t once = PTHREAD_ONCE_INIT;

// A file without a name: in memory, or where the kernel or a container's filter refuses that, in a directory for
// temporary files.
static int nameless_file(void) {
  int file = memfd_create("libisal", MFD_CLOEXEC);
  const char* own = getenv("TMPDIR");
  const char* directories[] = {own ? own : "/tmp", "/tmp", "/var/tmp", "/dev/shm"};
  for (size_t i = 0; file < 0 && i < sizeof directories / sizeof *directories; ++i) {
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/quarry-XXXXXX", directories[i]);
    if (length <= 0 || (size_t)length >= sizeof path) continue;
    file = mkostemp(path, O_CLOEXEC);
    if (file >= 0) unlink(path);
  }
  return file;
}

static void* open_library(void) {
  int file = nameless_file();
  if (file < 0) return NULL;
  for (const char* at = quarry_isal; at < quarry_isal_end;) {
    ssize_t written = write(file, at, (size_t)(quarry_isal_end - at));
    if (written <= 0) {
      close(file);
      return NULL;
    }
    at += written;
  }
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  close(file);
  return library;
}

// A machine that allows neither memory files nor temporary ones and has no libisal2 cannot run this code; abort is the
// honest end, since isal_deflate_init has no way to report.
static void load(void) {
  void* library = open_library();
  if (!library) library = dlopen("libisal.so.2", RTLD_NOW | RTLD_LOCAL);
  if (!library) abort();
#define LOAD(result, name, parameters, arguments)                                                                      \
  *(void**)&loaded_##name = dlsym(library, #name);                                                                     \
  if (!loaded_##name) abort();
  FUNCTIONS(LOAD)
}

#define DEFINE(result, name, parameters, arguments)                                                                    \
  result name parameters {                                                                                             \
    pthread_once(&once, load);                                                                                         \
    return loaded_##name arguments;                                                                                    \
  }
FUNCTIONS(DEFINE)
