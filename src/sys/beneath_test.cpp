#include "sys/beneath.hpp"

#include "sys/sys_fixture.hpp"
#include <cerrno>
#include <cstddef>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace quarry::sys {
namespace {

struct BeneathTest : InDirectory {
  void SetUp() override {
    ASSERT_TRUE(make_directories(at("inside")));
    put("outside/secret", "secret");
  }
  Beneath beneath = [this] {
    (void)make_directories(at("inside"));
    return Beneath::open(at("inside")).value();
  }();
};

TEST_F(BeneathTest, CreatesParentsAndFiles) {
  auto file = beneath.create_file("a/b/c", 0640);
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->write("text"));
  EXPECT_EQ(read_file(at("inside/a/b/c")).value(), "text");
  EXPECT_TRUE(beneath.open_read("a/b/c"));
  ASSERT_TRUE(beneath.set_mode("a/b/c", 0755));
  EXPECT_EQ(File::open_read(at("inside/a/b/c"))->mode().value(), 0755u);
  EXPECT_EQ(beneath.create_file("a/b/c", 0644).error().kind, ErrorKind::already_exists);
  ASSERT_TRUE(beneath.make_directories("a/x/y"));
  ASSERT_TRUE(beneath.make_directories("a/x/y"));
}

TEST_F(BeneathTest, LinksAreStoredAsTheyAre) {
  ASSERT_TRUE(beneath.symlink("d/link", "../../outside"));
  EXPECT_EQ(read_link(at("inside/d/link")).value(), "../../outside");
  ASSERT_TRUE(beneath.create_file("f", 0644));
  ASSERT_TRUE(beneath.hardlink("f", "d/hard"));
  EXPECT_TRUE(exists(at("inside/d/hard")));
}

struct Escape {
  const char* name;
  const char* path;
};
struct BeneathEscapes : BeneathTest, ::testing::WithParamInterface<Escape> {};

TEST_P(BeneathEscapes, AreRefusedByEveryOperation) {
  ASSERT_EQ(::symlink("../outside", at("inside/up").c_str()), 0);
  ASSERT_EQ(::symlink(at("outside").c_str(), at("inside/absolute").c_str()), 0);
  ASSERT_EQ(::symlink("sub", at("inside/within").c_str()), 0);
  ASSERT_TRUE(make_directories(at("inside/sub")));
  ASSERT_TRUE(File::create(at("inside/own")));
  std::string path = GetParam().path;
  EXPECT_FALSE(beneath.create_file(path, 0644));
  EXPECT_FALSE(beneath.open_read(path));
  EXPECT_FALSE(beneath.symlink(path, "x"));
  EXPECT_FALSE(beneath.hardlink("own", path));
  EXPECT_FALSE(beneath.set_mode(path, 0777));
  EXPECT_FALSE(beneath.make_directories(path + "/deeper"));
  EXPECT_FALSE(beneath.hardlink(path, "copied"));
  EXPECT_FALSE(exists(at("outside/new")));
  EXPECT_FALSE(exists(at("new")));
  EXPECT_FALSE(exists(at("inside/copied")));
  EXPECT_EQ(File::open_read(at("outside/secret"))->mode().value() & 0111, 0u);
}
INSTANTIATE_TEST_SUITE_P(, BeneathEscapes,
                         ::testing::Values(Escape{"Up", "../new"}, Escape{"UpFromBelow", "sub/../../new"},
                                           Escape{"Absolute", "/tmp/quarry-escape-new"},
                                           Escape{"ThroughALink", "up/new"},
                                           Escape{"ThroughAnAbsoluteLink", "absolute/new"},
                                           Escape{"ThroughALinkInside", "within/new"}, Escape{"ToASecret", "up/secret"},
                                           Escape{"UpToASecret", "../outside/secret"}),
                         [](const auto& made) { return std::string(made.param.name); });

TEST_F(BeneathTest, EscapesHaveTheirOwnCode) {
  EXPECT_EQ(beneath.create_file("../new", 0644).error().code, "T010");
  EXPECT_EQ(beneath.create_file("../new", 0644).error().kind, ErrorKind::corrupt);
}

// The kernel stops at a NUL and would create "f".
TEST_F(BeneathTest, NamesWithANulAreRefused) {
  using namespace std::string_literals;
  EXPECT_FALSE(beneath.create_file("f\0g"s, 0644));
  EXPECT_FALSE(beneath.make_directories("f\0g"s));
  EXPECT_FALSE(beneath.symlink("f\0g"s, "x"));
  EXPECT_FALSE(exists(at("inside/f")));
}

// A member that follows a link planted by an earlier one, also when the link is the file itself.
TEST_F(BeneathTest, APlantedLinkIsNotWrittenThrough) {
  ASSERT_TRUE(beneath.symlink("planted", "../outside/secret"));
  EXPECT_FALSE(beneath.create_file("planted", 0644));
  EXPECT_FALSE(beneath.open_read("planted"));
  EXPECT_FALSE(beneath.set_mode("planted", 0777));
  EXPECT_EQ(read_file(at("outside/secret")).value(), "secret");
}

// Runs the tests of this file again in a process in which openat2(2) fails as it does on old kernels and in old
// containers. Exit code 77: the filter cannot be installed here.
int exit_code_without_openat2(unsigned error) {
  auto child = ::fork();
  if (child == 0) {
    sock_filter steps[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                           BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
                           BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
                           BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    sock_fprog filter{4, steps};
    bool installed =
        ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
    if (!installed) ::_exit(77);
    bool active = ::syscall(SYS_openat2, AT_FDCWD, ".", nullptr, 0) == -1 && errno == static_cast<int>(error);
    if (!active) ::_exit(78);
    ::execl("/proc/self/exe", "sys_test", "--gtest_filter=BeneathTest.*:*BeneathEscapes.*", nullptr);
    ::_exit(79);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

TEST(BeneathWithoutOpenat2, BehavesTheSame) {
  for (unsigned error : {ENOSYS, EPERM}) {
    auto code = exit_code_without_openat2(error);
    if (code == 77) GTEST_SKIP() << "seccomp filters are not allowed here";
    EXPECT_EQ(code, 0) << error;
  }
}

TEST_F(BeneathTest, TheRootMustExist) { EXPECT_EQ(Beneath::open(at("gone")).error().kind, ErrorKind::not_found); }

} // namespace
} // namespace quarry::sys
