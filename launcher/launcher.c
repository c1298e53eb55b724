// The program that stands for an executable link inside a wheel, where links cannot live. It runs the program at
// `target`, taken relative to the directory this file really lies in (/proc/self/exe), with its own arguments and
// environment: argv[0] stays what the caller said, since clang chooses its mode by it. Linux x86-64, no libc, no
// dynamic section: it runs wherever the kernel does. The sdk room writes the target into `slot` when it packs
// (src/elf/launcher.hpp).

#if !defined(__x86_64__) || !defined(__linux__)
#error "the launcher makes Linux x86-64 system calls"
#endif

enum { k_path_max = 4096, k_write = 1, k_execve = 59, k_exit = 60, k_readlink = 89 };
enum {
  k_enoent = 2,
  k_enoexec = 8,
  k_eacces = 13,
  k_enametoolong = 36,
  k_eloop = 40,
  k_stderr = 2,
  k_cannot_run = 127
};

// Volatile: the compiler must not conclude that the empty target of the source is the one that runs.
__attribute__((section(".target"), used)) static const volatile struct {
  char magic[32];
  char target[k_path_max];
} slot = {"QUARRY-LAUNCHER-TARGET-SLOT-1:\n", ""};

static long call3(long number, long a, long b, long c) {
  long result;
  __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
  return result;
}

static void say(const char* text) {
  long length = 0;
  while (text[length]) ++length;
  while (length > 0) {
    long n = call3(k_write, k_stderr, (long)text, length);
    if (n <= 0) return;
    text += n;
    length -= n;
  }
}

static const char* meaning(long error) {
  switch (error) {
  case k_enoent: return "no such file";
  case k_enoexec: return "not a program for this machine";
  case k_eacces: return "permission denied";
  case k_enametoolong: return "the path is too long";
  case k_eloop: return "too many levels of symbolic links";
  default: return "exec failed";
  }
}

__attribute__((noreturn)) static void give_up(const char* path, long error) {
  char number[24];
  char* digit = number + sizeof number;
  *--digit = 0;
  for (long rest = error; digit == number + sizeof number - 1 || rest; rest /= 10) *--digit = (char)('0' + rest % 10);
  say("quarry-launcher: cannot run ");
  say(path);
  say(": ");
  say(meaning(error));
  say(" (errno ");
  say(digit);
  say(")\n");
  for (;;) call3(k_exit, k_cannot_run, 0, 0);
}

// `stack` is what the kernel left: argc, argv…, null, envp…, null (System V ABI, x86-64 supplement, 3.4.1).
__attribute__((noreturn, used)) void launch(long* stack) {
  char path[2 * k_path_max];
  char** argv = (char**)(stack + 1);
  char** environment = argv + stack[0] + 1;
  if (!slot.target[0]) give_up("the program of this launcher: none was set", k_enoent);
  long length = call3(k_readlink, (long)"/proc/self/exe", (long)path, k_path_max);
  if (length < 0) give_up("/proc/self/exe", -length);
  if (length == k_path_max) give_up("/proc/self/exe", k_enametoolong); // readlink(2) cuts silently
  while (length > 0 && path[length - 1] != '/') --length;
  for (int i = 0; i < k_path_max - 1 && slot.target[i]; ++i) path[length++] = slot.target[i];
  path[length] = 0;
  give_up(path, -call3(k_execve, (long)path, (long)argv, (long)environment));
}

__asm__(".globl _start\n_start:\n  xor %ebp, %ebp\n  mov %rsp, %rdi\n  and $-16, %rsp\n  call launch\n");
