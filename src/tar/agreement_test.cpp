// Where readers part ways: what Python's tarfile and GNU tar read differently is refused, and what is accepted they
// read as we do.
#include "tar/testing.hpp"

#include "sys/file.hpp"
#include "sys/process.hpp"
#include <cstdlib>
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::tar {
namespace {
using namespace testing; // NOLINT: the builders of this test

std::vector<Case> contested() {
  return {
      // Python and GNU tar know two first bytes of base 256, and stop at every other.
      {"owner in base 256 with a low bit", with_field(108, std::string("\x81\0\0\0\0\0\0\0", 8)) + end(), "T005"},
      {"owner with all low bits", with_field(108, std::string("\xbf\0\0\0\0\0\0\1", 8)) + end(), "T005"},
      {"owner with a sign bit alone", with_field(108, std::string("\xc0\0\0\0\0\0\0\1", 8)) + end(), "T005"},
      {"group with a low bit", with_field(116, std::string("\x81\0\0\0\0\0\0\0", 8)) + end(), "T005"},
      {"mode in base 256 with a low bit", with_field(100, std::string("\x81\0\0\0\0\0\1\xa4", 8)) + end(), "T005"},
      {"mode with a sign bit alone", with_field(100, std::string("\xc0\0\0\0\0\0\1\xa4", 8)) + end(), "T005"},
      {"time with a low bit", with_field(136, std::string("\x81\0\0\0\0\0\0\0\0\0\0\0", 12)) + end(), "T005"},
      {"time with a sign bit alone", with_field(136, std::string("\xfe", 1) + std::string(11, '\xff')) + end(), "T005"},
      {"time before the age of the universe", with_field(136, std::string("\xff", 1) + std::string(11, '\0')) + end(),
       "T005"},
      {"device with a low bit", with_field(329, std::string("\x82\0\0\0\0\0\0\0", 8)) + end(), "T005"},
      {"size with a low bit", with_field(124, std::string("\x81\0\0\0\0\0\0\0\0\0\0\1", 12)) + end(), "T005"},
      {"owner below zero", with_field(108, std::string(8, '\xff')) + end(), "T005"},
      {"owner above 32 bits", with_field(108, std::string("\x80\0\0\1\0\0\0\0", 8)) + end(), "T005"},
      {"owner of blanks", with_field(108, std::string(8, ' ')) + end(), "T005"},
      {"mode of blanks", with_field(100, std::string(8, ' ')) + end(), "T005"},
      {"time of blanks", with_field(136, std::string(12, ' ')) + end(), "T005"},
      {"checksum in base 256",
       member({.name = "a",
               .data = "x",
               .after_sum =
                   [](std::string& b) {
                     auto sum = std::stoul(b.substr(148, 6), nullptr, 8);
                     b.replace(148, 8,
                               std::string("\x80\0\0\0\0\0", 6) + static_cast<char>(sum >> 8) +
                                   static_cast<char>(sum & 255));
                   }}) +
           end(),
       "T004"},
      // A file for us and a directory whose content is members for Python, and the other way round.
      {"the first tars' directory, named as a file by pax",
       pax("path", "ok.txt") + member({.name = "ok/", .type = '\0', .data = file("evil.so")}) + end(), "T005"},
      {"the same by a long name",
       long_name("ok.txt") + member({.name = "ok/", .type = '\0', .data = file("evil.so")}) + end(), "T005"},
      {"the same without content", pax("path", "ok.txt") + member({.name = "ok/", .type = '\0'}) + end(), "T005"},
      {"the same behind a prefix",
       pax("path", "ok.txt") + member({.name = "ok/", .prefix = "p", .type = '\0', .data = file("evil.so")}) + end(),
       "T005"},
      {"the first tars' file, named as a directory by pax",
       pax("path", "d/") + member({.name = "d", .type = '\0'}) + end(), "T005"},
      {"the same by a long name, reversed", long_name("d/") + member({.name = "d", .type = '\0'}) + end(), "T005"},
      // A directory for Pythons before the correction of CVE-2025-13462, a file for later ones.
      {"the first tars' directory behind a pax path", pax("path", "b/") + member({.name = "a/", .type = '\0'}) + end(),
       "T005"},
      {"the same behind a pax time", pax("mtime", "1") + member({.name = "a/", .type = '\0'}) + end(), "T005"},
      {"the same behind a long name", long_name("b/") + member({.name = "a/", .type = '\0'}) + end(), "T005"},
      {"the first tars' directory with content", member({.name = "d/", .type = '\0', .data = file("evil.so")}) + end(),
       "T005"},
      // Numbers of pax: GNU tar ends with an error, Python puts a zero.
      {"pax time that is a word", pax("mtime", "abc") + file("a") + end(), "T006"},
      {"pax time that is empty", pax("atime", "") + file("a") + end(), "T006"},
      {"pax time with two dots", pax("ctime", "1.2.3") + file("a") + end(), "T006"},
      {"pax time with an exponent", pax("mtime", "1e9") + file("a") + end(), "T006"},
      {"pax time without end", pax("mtime", "inf") + file("a") + end(), "T006"},
      {"pax time with a blank", pax("mtime", " 1") + file("a") + end(), "T006"},
      {"pax time of 20 digits", pax("mtime", std::string(20, '9')) + file("a") + end(), "T006"},
      {"pax owner that is a word", pax("uid", "x") + file("a") + end(), "T006"},
      {"pax owner below zero", pax("gid", "-1") + file("a") + end(), "T006"},
      {"pax owner above 32 bits", pax("uid", "4294967296") + file("a") + end(), "T006"},
      {"pax owner of all that is a word", pax(pax_record("uid", "x"), 'g') + file("a") + end(), "T006"},
      {"65 headers for all members", repeated(pax(pax_record("comment", "c"), 'g'), 65) + file("a") + end(), "T006"},
  };
}

class Contested : public ::testing::TestWithParam<Case> {};
TEST_P(Contested, IsRefused) {
  for (std::size_t step : {std::size_t{1u << 20}, std::size_t{511}}) {
    auto lines = read(GetParam().archive, step);
    ASSERT_FALSE(lines) << GetParam().what;
    EXPECT_EQ(lines.error().code, GetParam().code) << lines.error().message;
  }
}
INSTANTIATE_TEST_SUITE_P(Tar, Contested, ::testing::ValuesIn(contested()), name_of<::testing::TestParamInfo<Case>>);

std::vector<Case> benign() {
  std::string wide(99, 'n');
  return {
      {"nothing", end(), ""},
      {"a file", file("a") + end(), ""},
      {"an empty file", file("a", "") + end(), ""},
      {"leading ./", file("./a/b") + end(), ""},
      {"the root itself", directory("./") + file("./a") + end(), ""},
      {"the root as a dot", directory(".") + file("./a") + end(), ""},
      {"directory with its slash", directory("a/") + file("a/b") + end(), ""},
      {"directory without its slash", directory("a") + file("a/b") + end(), ""},
      {"directory behind its content", file("a/b") + directory("a/") + end(), ""},
      {"directory twice", directory("a/") + directory("a") + end(), ""},
      {"directories differ by case", file("A/x") + file("a/y") + end(), ""},
      {"GNU magic", member({.name = "a", .data = "x", .magic = k_gnu}) + end(), ""},
      {"no magic", member({.name = "a", .data = "x", .magic = k_old}) + end(), ""},
      {"the first tars' file type", member({.name = "a", .type = '\0', .data = "x"}) + end(), ""},
      {"the first tars' directory", member({.name = "a/", .type = '\0', .magic = k_old}) + end(), ""},
      {"a name of 100 bytes", file(std::string(100, 'n')) + end(), ""},
      {"a prefix of 155 bytes",
       member({.name = wide, .prefix = std::string(77, 'p') + "/" + std::string(77, 'q')}) + end(), ""},
      {"GNU long name", long_name(wide + "/" + wide) + file("x") + end(), ""},
      {"GNU long link", long_name("b", 'K') + symlink("a", "x") + end(), ""},
      {"GNU long name and link", long_name(wide + "/" + wide) + long_name("b", 'K') + symlink("a", "x") + end(), ""},
      {"pax path that was not needed", pax("path", "b") + file("a") + end(), ""},
      {"pax link that was not needed", pax("linkpath", "b") + symlink("a", "x") + end(), ""},
      {"pax size that was not needed", pax("size", "1") + file("a") + end(), ""},
      {"pax times and owners",
       pax(pax_record("mtime", "1700000000.5") + pax_record("uname", "root") + pax_record("uid", "4000000")) +
           file("a") + end(),
       ""},
      {"pax character set", pax("hdrcharset", "ISO-IR 10646 2000 UTF-8") + file("a") + end(), ""},
      {"extended attributes", pax("SCHILY.xattr.user.comment", "x") + file("a") + end(), ""},
      {"creation time", pax("LIBARCHIVE.creationtime", "1700000000") + file("a") + end(), ""},
      {"a comment for all, as git archive writes",
       pax(pax_record("comment", std::string(40, 'a')), 'g') + file("a") + end(), ""},
      {"size in base 256", with_field(124, std::string("\x80\0\0\0\0\0\0\0\0\0\0\x01", 12)) + end(), ""},
      {"size with leading spaces", with_field(124, std::string("         1 \0", 12)) + end(), ""},
      {"time before 1970", with_field(136, std::string(12, '\xff')) + end(), ""},
      {"a time of 2040 in base 256", with_field(136, std::string("\x80\0\0\0\0\0\0\0\x83\xaa\x7e\x80", 12)) + end(),
       ""},
      {"a pax time before 1970", pax("mtime", "-1.25") + file("a") + end(), ""},
      {"a pax file of the first tars' type",
       pax("path", "b") + member({.name = "a", .type = '\0', .data = "x"}) + end(), ""},
      {"a name cut behind a slash beside a pax path", pax("path", "d/" + std::string(120, 'n')) + file("d/") + end(),
       ""},
      {"owner in base 256", with_field(108, std::string("\x80\0\0\0\0\x3d\x09\0", 8)) + end(), ""},
      {"device fields of NULs", with_field(329, std::string(16, '\0')) + end(), ""},
      {"set-uid bits", with_field(100, std::string("0004755\0", 8)) + end(), ""},
      {"an accent in a name", file("caf\xc3\xa9") + end(), ""},
      {"spaces and punctuation", file("a b/[c] (d)+~@:,;=#%&'!{}.txt") + end(), ""},
      {"names that begin with dots", file("...a") + file(".b/..c") + end(), ""},
      {"a hard link", file("b") + hardlink("a", "b") + end(), ""},
      {"a hard link with ./", file("./b") + hardlink("./a", "./b") + end(), ""},
      {"a hard link to a hard link", file("b") + hardlink("a", "b") + hardlink("c", "a") + end(), ""},
      {"a symlink beside", symlink("lib/a.so", "a.so.1") + file("lib/a.so.1") + end(), ""},
      {"a symlink that goes up inside", symlink("a/b/c", "../../d") + file("d") + end(), ""},
      {"a dangling symlink", symlink("a", "nowhere/at/all") + end(), ""},
      {"a symlink through another",
       directory("v1") + file("v1/f") + symlink("current", "v1") + symlink("f", "current/f") + end(), ""},
      {"a symlink to the root", symlink("a/here", "..") + end(), ""},
      {"128 levels", pax("path", deep(127)) + file("x") + end(), ""},
      {"a component of 255 bytes", pax("path", std::string(255, 'a')) + file("x") + end(), ""},
      {"twenty blocks of end", file("a") + end(20), ""},
      {"just the end marker", file("a") + end(2), ""},
  };
}

class Benign : public ::testing::TestWithParam<Case> {};
TEST_P(Benign, IsAccepted) {
  auto whole = read(GetParam().archive);
  ASSERT_TRUE(whole) << whole.error().message;
  for (std::size_t step : {1, 513}) {
    auto pieces = read(GetParam().archive, step);
    ASSERT_TRUE(pieces) << pieces.error().message;
    EXPECT_EQ(*pieces, *whole);
  }
}
INSTANTIATE_TEST_SUITE_P(Tar, Benign, ::testing::ValuesIn(benign()), name_of<::testing::TestParamInfo<Case>>);

/// As Recorder writes it.
constexpr const char* k_python = R"(
import sys, tarfile
def plain(name): return name[2:] if name.startswith("./") else name
def kind(m): return "file" if m.isreg() else "dir" if m.isdir() else "link" if m.issym() else "hard" if m.islnk() else "odd"
for path in sys.argv[1:]:
    with tarfile.open(path) as tar:
        for m in tar:
            name = plain(m.name)
            if name in ("", "."): continue
            target = " -> " + (m.linkname if m.issym() else plain(m.linkname)) if m.linkname else ""
            print(kind(m), name + target + (" +x" if m.isreg() and m.mode & 0o111 else ""))
    print("end")
)";

struct Outside : ::testing::Test {
  std::string directory = sys::make_temporary_directory(::testing::TempDir(), "tar-").value();
  ~Outside() override { (void)sys::remove_tree(directory); }

  /// Writes the archives of `cases` and runs `argv` with their paths behind it.
  sys::ProcessResult run(std::vector<std::string> argv, const std::vector<Case>& cases) {
    for (const auto& c : cases) {
      argv.push_back(fmt::format("{}/{}.tar", directory, argv.size()));
      EXPECT_TRUE(sys::write_file(argv.back(), c.archive));
    }
    sys::ProcessSpec spec;
    spec.argv = std::move(argv);
    spec.environment = {{"PATH", std::getenv("PATH")}, {"PYTHONUTF8", "1"}};
    auto result = sys::run_process(spec);
    EXPECT_TRUE(result) << render(result.error());
    return result ? *result : sys::ProcessResult{};
  }
};

TEST_F(Outside, PythonReadsWhatIsAcceptedAsWeDo) {
  std::string expected;
  for (const auto& c : benign()) {
    auto lines = read(c.archive).value();
    for (const auto& line : lines) expected += line + "\n";
    expected += "end\n";
  }
  auto result = run({"python3", "-c", k_python}, benign());
  EXPECT_EQ(result.out, expected) << result.err;
}

TEST_F(Outside, GnuTarHasNoComplaintAboutWhatIsAccepted) {
  constexpr const char* k_list =
      R"(for f; do tar --warning=no-unknown-keyword -tf "$f" > /dev/null || echo "$f"; done)";
  auto result = run({"sh", "-c", k_list, "sh"}, benign());
  EXPECT_EQ(result.out, "") << result.err;
}

// What the refusals are about: one Python finds a member inside the content of a file, a corrected one does not.
TEST_F(Outside, PythonsDisagreeAboutTheContentOfAnOldDirectory) {
  auto smuggled = pax("path", "ok.txt") + member({.name = "ok/", .type = '\0', .data = file("evil.so")}) + end();
  EXPECT_THAT(run({"python3", "-c", k_python}, {{"smuggled", smuggled, ""}}).out,
              ::testing::AnyOf(::testing::HasSubstr("file evil.so"), "file ok.txt\nend\n"));
}

} // namespace
} // namespace quarry::tar
