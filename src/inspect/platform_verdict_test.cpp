#include "inspect/platform_verdict.hpp"

#include "inspect/wheel_for_test.hpp"
#include <gmock/gmock.h>

namespace quarry::inspect {
namespace {
using made::file;
using made::library;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

elf::Linking needing(std::vector<elf::NeededVersion> versions, std::vector<std::string> libraries = {"libc.so.6"}) {
  auto linking = library(std::move(libraries));
  linking.versions = std::move(versions);
  return linking;
}
PlatformVerdict verdict(std::vector<MachineFile> files, const std::string& tag = "linux_x86_64") {
  return platform_verdict(made::wheel(tag, std::move(files)), made::platforms());
}
std::vector<std::string> whats(const std::vector<Demand>& demands) {
  std::vector<std::string> out;
  for (const auto& one : demands) out.push_back(one.what + "@" + one.member);
  return out;
}

struct PlatformCase {
  const char* what;
  elf::Linking linking;
  std::string tag, symbols_tag;
};

TEST(PlatformVerdict, OneFile) {
  auto fast = library();
  fast.isa_level = 3;
  auto with_libz = needing({}, {"libz.so.1"});
  with_libz.imports = {"inflate_fast"};
  const PlatformCase cases[] = {
      {"nothing asked", library(), "manylinux_2_5_x86_64", "manylinux_2_5_x86_64"},
      {"a version of 2.5", needing({{"libc.so.6", "GLIBC_2.4"}}), "manylinux_2_5_x86_64", "manylinux_2_5_x86_64"},
      {"the newest one decides", needing({{"libc.so.6", "GLIBC_2.4"}, {"libc.so.6", "GLIBC_2.27"}}),
       "manylinux_2_27_x86_64", "manylinux_2_27_x86_64"},
      {"C++", needing({{"libstdc++.so.6", "GLIBCXX_3.4.29"}}), "manylinux_2_34_x86_64", "manylinux_2_34_x86_64"},
      {"newer than every policy", needing({{"libc.so.6", "GLIBC_2.99"}}), "linux_x86_64", "linux_x86_64"},
      {"private to glibc", needing({{"libc.so.6", "GLIBC_PRIVATE"}}), "linux_x86_64", "linux_x86_64"},
      {"of the loader", needing({{"ld-linux-x86-64.so.2", "GLIBC_2.99"}}), "manylinux_2_5_x86_64",
       "manylinux_2_5_x86_64"},
      {"relative relocations packed", needing({{"libc.so.6", "GLIBC_ABI_DT_RELR"}}), "manylinux_2_36_x86_64",
       "manylinux_2_36_x86_64"},
      {"a library of newer systems", needing({}, {"libmvec.so.1"}), "manylinux_2_24_x86_64", "manylinux_2_5_x86_64"},
      {"a library that not every system has", needing({}, {"libnuma.so.1"}), "linux_x86_64", "manylinux_2_5_x86_64"},
      {"AVX2", fast, "linux_x86_64", "manylinux_2_5_x86_64"},
      {"a private symbol of libz", with_libz, "linux_x86_64", "manylinux_2_5_x86_64"},
  };
  for (const auto& one : cases) {
    auto found = verdict({file("x/a.so", one.linking)});
    EXPECT_EQ(found.judged, Judged::yes) << one.what;
    EXPECT_EQ(found.tag, one.tag) << one.what;
    EXPECT_EQ(found.symbols_tag, one.symbols_tag) << one.what;
  }
}

TEST(PlatformVerdict, SaysWhatDecides) {
  auto found = verdict({file("x/a.so", needing({{"libc.so.6", "GLIBC_2.27"}, {"libc.so.6", "GLIBC_2.4"}})),
                        file("x/b.so", needing({{"libc.so.6", "GLIBC_2.27"}, {"libm.so.6", "GLIBC_2.25"}}))});
  EXPECT_THAT(whats(found.decided_by), ElementsAre("GLIBC_2.27@x/a.so"));
  EXPECT_EQ(found.decided_by.front().library, "libc.so.6");
  EXPECT_THAT(whats(found.versions), ElementsAre("GLIBC_2.25@x/b.so", "GLIBC_2.27@x/a.so", "GLIBC_2.4@x/a.so"));
  EXPECT_THAT(verdict({file("x/a.so")}).decided_by, IsEmpty()) << "the oldest tag needs no reason";
  EXPECT_THAT(whats(verdict({file("x/a.so", needing({{"libc.so.6", "GLIBC_2.99"}}))}).decided_by),
              ElementsAre("GLIBC_2.99@x/a.so"));
  EXPECT_THAT(whats(verdict({file("x/a.so", library({"libnuma.so.1", "libmvec.so.1"}))}).foreign),
              ElementsAre("libnuma.so.1@x/a.so"));
}

TEST(PlatformVerdict, LibrariesOfTheWheelAreNotForeign) {
  EXPECT_EQ(verdict({file("x/a.so", library({"libn.so"}, "$ORIGIN")), file("x/libn.so")}).tag, "manylinux_2_5_x86_64");
  EXPECT_EQ(verdict({file("x/a.so", library({"libn.so"})), file("y/libn.so")}).tag, "linux_x86_64");
}

TEST(PlatformVerdict, OnlyFilesOfItsMachineCount) {
  auto arm = needing({{"libc.so.6", "GLIBC_2.38"}});
  arm.facts.machine = EM_AARCH64;
  auto found = verdict({file("x/a.so"), file("x/b.so", arm)});
  EXPECT_EQ(found.machine, "x86_64");
  EXPECT_EQ(found.tag, "manylinux_2_5_x86_64");
  EXPECT_EQ(verdict({file("x/b.so", arm)}, "linux_aarch64").tag, "manylinux_2_38_aarch64");
  EXPECT_EQ(verdict({file("x/b.so", arm)}, "any").machine, "aarch64")
      << "without a machine in the tag, the first file's";
}

TEST(PlatformVerdict, WhichLibc) {
  auto libc = [](std::vector<std::string> needed, const std::string& interpreter = {},
                 const std::string& name = "a.so") {
    auto linking = library(std::move(needed));
    linking.facts.interpreter = interpreter;
    return libc_of(file(name, linking));
  };
  EXPECT_EQ(libc({"libm.so.6", "libc.so.6"}), Libc::glibc);
  EXPECT_EQ(libc({"ld-linux-aarch64.so.1"}), Libc::glibc);
  EXPECT_EQ(libc({}, "/lib64/ld-linux-x86-64.so.2"), Libc::glibc);
  EXPECT_EQ(libc({"libc.musl-x86_64.so.1"}), Libc::musl);
  EXPECT_EQ(libc({}, "/lib/ld-musl-x86_64.so.1"), Libc::musl);
  EXPECT_EQ(libc({}, "", "a.cpython-312-x86_64-linux-musl.so"), Libc::musl);
  EXPECT_EQ(libc({"libm.so.6"}), Libc::unknown);
  EXPECT_EQ(libc_of(made::dll("a.dll", {})), Libc::unknown);
}

TEST(PlatformVerdict, Musl) {
  auto musl = [](std::vector<std::string> more = {}, unsigned level = 1) {
    more.emplace_back("libc.musl-x86_64.so.1");
    auto linking = library(std::move(more));
    linking.isa_level = level;
    return linking;
  };
  auto hidden = musl({"libz.so.1"});
  hidden.imports = {"uncompress2"}; // private for musl, whatever the version
  auto versioned = musl();
  versioned.versions = {{"libgcc_s-1.so.1", "GCC_99.0"}};
  const PlatformCase cases[] = {
      {"musl alone", musl(), "musllinux_1_2_x86_64", "musllinux_1_2_x86_64"},
      {"libz", musl({"libz.so.1"}), "musllinux_1_2_x86_64", "musllinux_1_2_x86_64"},
      {"a library that only glibc systems have", musl({"libm.so.6"}), "linux_x86_64", "musllinux_1_2_x86_64"},
      {"AVX2", musl({}, 3), "linux_x86_64", "musllinux_1_2_x86_64"},
      {"a private symbol", hidden, "linux_x86_64", "musllinux_1_2_x86_64"},
      {"versions of grafted libraries", versioned, "musllinux_1_2_x86_64", "musllinux_1_2_x86_64"},
  };
  for (const auto& one : cases)
    for (const auto* tag : {"linux_x86_64", "musllinux_1_1_x86_64"}) {
      auto found = verdict({file("x/a.so", one.linking)}, tag);
      EXPECT_EQ(found.libc, Libc::musl) << one.what;
      EXPECT_EQ(found.tag, one.tag) << one.what;
      EXPECT_EQ(found.symbols_tag, one.symbols_tag) << one.what;
    }
}

TEST(PlatformVerdict, FilesOfTheOtherLibcDoNotCount) {
  auto musl = library({"libc.musl-x86_64.so.1", "libfoo.so"}), newer = needing({{"libc.so.6", "GLIBC_2.38"}});
  EXPECT_EQ(verdict({file("x/a.so", musl), file("x/b.so", newer)}, "manylinux_2_38_x86_64").tag,
            "manylinux_2_38_x86_64");
  EXPECT_EQ(
      verdict({file("x/a.so", library({"libc.musl-x86_64.so.1"})), file("x/b.so", newer)}, "musllinux_1_2_x86_64").tag,
      "musllinux_1_2_x86_64");
  EXPECT_EQ(verdict({file("x/a.so", newer), file("x/b.so", musl)}).libc, Libc::glibc) << "the first file decides";
  EXPECT_EQ(verdict({file("x/a.so")}, "musllinux_1_2_x86_64").tag, "musllinux_1_2_x86_64") << "static: the tag decides";
  EXPECT_EQ(verdict({file("x/a.so")}, "manylinux_2_17_x86_64.musllinux_1_2_x86_64").tag, "manylinux_2_5_x86_64");
  EXPECT_EQ(verdict({file("x/a.so", musl)}, "manylinux_2_17_x86_64").libc, Libc::musl) << "no file is for the tag's";
}

TEST(PlatformVerdict, NoVerdict) {
  EXPECT_EQ(verdict({}).judged, Judged::pure);
  EXPECT_EQ(verdict({made::dll("x/a.pyd", {})}).judged, Judged::pure);
  auto riscv = library();
  riscv.facts.machine = EM_RISCV;
  auto found = verdict({file("x/a.so", riscv)}, "linux_riscv64");
  EXPECT_EQ(found.judged, Judged::other);
  EXPECT_EQ(found.machine, "riscv64");
  EXPECT_EQ(found.tag, "");
  MachineFile unread;
  unread.member = "x/a.so";
  unread.findings.push_back({"E011", Severity::note, "x/a.so", "it is a big-endian ELF file", ""});
  found = verdict({unread}, "manylinux_2_17_s390x.manylinux2014_s390x");
  EXPECT_EQ(found.judged, Judged::other);
  EXPECT_EQ(found.machine, "s390x");
  found = verdict({unread}, "manylinux_2_28_x86_64");
  EXPECT_EQ(found.judged, Judged::other);
  EXPECT_EQ(found.machine, "") << "a table is about x86_64, which is little-endian";
  EXPECT_EQ(machine_name(EM_PPC64), "ppc64le");
  EXPECT_EQ(machine_name(999), "999");
}

TEST(PlatformVerdict, PrivateSymbolsToLookFor) {
  auto names = private_symbols(made::platforms());
  EXPECT_TRUE(names.contains("inflate_fast"));
  EXPECT_TRUE(names.contains("uncompress2"));
  EXPECT_FALSE(names.contains("inflate"));
  auto found = library({"libz.so.1"});
  found.imports = {"uncompress2"}; // part of zlib since 1.2.9
  EXPECT_EQ(verdict({file("x/a.so", found)}).tag, "manylinux_2_34_x86_64");
  EXPECT_THAT(whats(verdict({file("x/a.so", found)}).private_symbols), ElementsAre("uncompress2@x/a.so"));
}

} // namespace
} // namespace quarry::inspect
