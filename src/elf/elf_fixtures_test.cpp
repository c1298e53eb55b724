#include "elf/elf_fixtures.hpp"

#include "sys/file.hpp"
#include "sys/path.hpp"
#include <cstdlib>
#include <set>

namespace quarry::elf::testing {

namespace {
std::string environment_path() {
  const char* value = std::getenv("PATH");
  return value ? value : "/usr/local/bin:/usr/bin:/bin";
}

struct Directory {
  std::string path = sys::make_temporary_directory(::testing::TempDir(), "quarry-elf-").value();
  ~Directory() { (void)sys::remove_tree(path); }
};
} // namespace

const std::string& directory() {
  static Directory instance;
  return instance.path;
}

std::string program_path(const std::string& program) { return sys::find_program(program, environment_path()); }

sys::ProcessResult run(std::vector<std::string> argv, std::map<std::string, std::string> more_environment) {
  sys::ProcessSpec spec;
  spec.argv = std::move(argv);
  spec.environment = {{"PATH", environment_path()}, {"LC_ALL", "C"}};
  spec.environment.merge(more_environment);
  spec.deadline_ms = 120'000;
  spec.merge_stderr = true;
  auto result = sys::run_process(spec);
  EXPECT_TRUE(result) << (result ? "" : render(result.error()));
  if (result) return *result;
  sys::ProcessResult failed;
  failed.exit_code = -1;
  return failed;
}

std::string build(const std::string& name, const std::string& source, const std::vector<std::string>& flags) {
  auto output = path::join(directory(), name);
  if (sys::exists(output)) return output;
  auto code = output + ".c";
  EXPECT_TRUE(sys::write_file(code, source));
  std::vector<std::string> argv{"gcc", "-O1", "-fPIC", code, "-o", output};
  argv.insert(argv.end(), flags.begin(), flags.end());
  auto result = run(argv);
  EXPECT_EQ(result.exit_code, 0) << result.out;
  return output;
}

namespace {
constexpr const char* k_library = R"(
#include <stdio.h>
#include <math.h>
static int zeros[4000];
int table[100] = {1, 2, 3};
__thread int per_thread = 7;
const char* texts[] = {"a", "b"};
double root(double x) { return sqrt(x) + zeros[0] + per_thread; }
int plain(void) {
  zeros[3999] += 42;
  fputs(texts[1] + 1, stdout);
  return zeros[3999] + table[99] + (texts[0][0] - 'a');
}
__attribute__((constructor)) static void begin(void) { zeros[0] = 0; }
)";
constexpr const char* k_program = R"(
#include <stdio.h>
extern int plain(void);
static char zeros[3000];
int main(int argc, char** argv) { printf("plain %d\n", plain() + zeros[argc]); return argv[0] ? 0 : 1; }
)";
const std::vector<std::string> k_shared{"-shared", "-lm", "-Wl,-soname,libplain.so.1", "-Wl,--enable-new-dtags",
                                        "-Wl,-rpath,$ORIGIN/../lib"};

std::vector<std::string> with(std::vector<std::string> flags, std::initializer_list<std::string> more) {
  flags.insert(flags.end(), more);
  return flags;
}
} // namespace

std::string library() { return build("libplain.so.1", k_library, k_shared); }
std::string bare_library() { return build("libbare.so", "const char bare[] = \"bare\";\n", {"-shared", "-nostdlib"}); }
std::string tight_library() {
  return build("libtight.so", k_library, with(k_shared, {"-fuse-ld=bfd", "-Wl,--spare-dynamic-tags=1"}));
}
std::string large_bss_library() {
  return build("libbss.so", "static char zeros[8 << 20];\nchar* large(int i) { return zeros + i; }\n",
               {"-shared", "-Wl,-soname,libbss.so"});
}
std::string hip_library() {
  return build("libhip.so", R"(
struct record { unsigned magic, version; const void* binary; void* unused; };
__attribute__((section(".hip_fatbin"), aligned(4096))) static const char code[64] = "__CLANG_OFFLOAD_BUNDLE__";
__attribute__((section(".hipFatBinSegment"), used)) struct record registration = {0x48495046, 1, code, 0};
)",
               {"-shared"});
}
std::string program() {
  return build("program", k_program, {library(), "-pie", "-Wl,--enable-new-dtags", "-Wl,-rpath,$ORIGIN"});
}
std::string fixed_program() {
  return build("fixed-program", k_program, {library(), "-no-pie", "-Wl,--enable-new-dtags", "-Wl,-rpath,$ORIGIN"});
}
std::string static_program() {
  return build("static-program", "void _start(void) { for (;;); }\n", {"-static", "-nostdlib", "-no-pie"});
}
std::string object_file() { return build("object.o", k_library, {"-c"}); }
std::string loader() {
  return build("loader", R"(
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char** argv) {
  if (argc == 2 && dlopen(argv[1], RTLD_NOW | RTLD_LOCAL)) return 0;
  puts(dlerror());
  return 1;
}
)",
               {"-ldl"});
}

content::Rope rope(const std::string& path) {
  auto file = content::Rope::file(path);
  EXPECT_TRUE(file) << path;
  return file ? *file : content::Rope();
}

std::string bytes(const content::Rope& rope) { return rope.read_all(1u << 30).value(); }

Facts facts(const content::Rope& rope) {
  auto found = read_facts(rope, "fixture");
  EXPECT_TRUE(found) << (found ? "" : render(found.error()));
  return found ? *found : Facts{};
}

Image image(const content::Rope& rope) { return Image::read(rope, "fixture").value(); }

std::string write(const content::Rope& rope, const std::string& name) {
  auto path = path::join(directory(), name);
  auto file = sys::File::create(path, 0755);
  EXPECT_TRUE(file) << path;
  EXPECT_TRUE(content::pump(rope, [&](std::span<const std::byte> chunk) {
    return file->write({reinterpret_cast<const char*>(chunk.data()), chunk.size()});
  }));
  return path;
}

bool loads(const std::string& path) {
  auto result = run({loader(), path});
  if (result.exit_code != 0) std::printf("%s", result.out.c_str());
  return result.exit_code == 0;
}

content::Rope with_segment(const content::Rope& file, std::size_t index, const Segment& segment) {
  return file.overlay(image(file).header.segments_at + index * sizeof(Elf64_Phdr), encode(std::vector{segment}));
}

content::Rope with_entry(const content::Rope& file, std::int64_t tag, std::uint64_t value) {
  auto parsed = image(file);
  for (std::size_t i = 0; i < parsed.dynamic.size(); ++i)
    if (parsed.dynamic[i].tag == tag)
      return file.overlay(parsed.dynamic_segment->offset + i * sizeof(Elf64_Dyn),
                          encode(std::vector<Dynamic>{{tag, value}}));
  ADD_FAILURE() << "no entry " << tag;
  return file;
}

std::size_t segment_index(const content::Rope& file, std::uint32_t type) {
  auto parsed = image(file);
  for (std::size_t i = 0; i < parsed.segments.size(); ++i)
    if (parsed.segments[i].type == type) return i;
  ADD_FAILURE() << "no segment " << type;
  return 0;
}

std::vector<std::string> error_codes(const content::Rope& file) {
  std::set<std::string> codes;
  for (const auto& f : verify(file, "fixture"))
    if (f.severity == Severity::error) codes.insert(f.code);
  return {codes.begin(), codes.end()};
}

} // namespace quarry::elf::testing
