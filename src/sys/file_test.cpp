#include "sys/file.hpp"

#include "sys/entry_types.hpp"
#include "sys/sys_fixture.hpp"
#include "sys/tree.hpp"
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

namespace quarry::sys {
namespace {
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> names(const std::string& directory) {
  std::vector<std::string> out;
  auto entries = list_directory(directory).value();
  for (const auto& e : entries) out.push_back(e.path);
  return out;
}
unsigned mode_of(const std::string& path) { return File::open_read(path)->mode().value(); }

struct FileTest : InDirectory {};
struct AtomicFileTest : InDirectory {};
struct TreeTest : InDirectory {};

TEST(ErrnoError, KindByWhatTheCallerCanDo) {
  const std::pair<int, ErrorKind> table[] = {
      {ENOENT, ErrorKind::not_found},          {EEXIST, ErrorKind::already_exists},
      {ENOSPC, ErrorKind::resource_exhausted}, {EDQUOT, ErrorKind::resource_exhausted},
      {EACCES, ErrorKind::permission_denied},  {EROFS, ErrorKind::permission_denied},
      {EMFILE, ErrorKind::resource_exhausted}, {EIO, ErrorKind::failed}};
  for (auto [number, kind] : table) {
    auto error = errno_error(number, "open", "x");
    EXPECT_EQ(error.kind, kind) << number;
    EXPECT_THAT(error.message, HasSubstr(number == ENOENT ? "x does not exist" : "cannot open x: "));
    EXPECT_FALSE(error.code.empty());
  }
}

TEST_F(FileTest, TypesOfEntriesAreThoseOfALook) {
  ASSERT_TRUE(write_file(root + "/file", ""));
  ASSERT_TRUE(make_directories(root + "/directory"));
  ASSERT_EQ(::symlink("directory", (root + "/link").c_str()), 0);
  ASSERT_EQ(::mkfifo((root + "/pipe").c_str(), 0600), 0);
  auto by_name = list_entry_types(root).value();
  auto by_look = list_directory(root).value();
  ASSERT_EQ(by_name.size(), 4u);
  for (std::size_t i = 0; i < by_name.size(); ++i) {
    EXPECT_EQ(by_name[i].name, by_look[i].path);
    EXPECT_EQ(by_name[i].type, by_look[i].type) << by_name[i].name;
  }
  EXPECT_EQ(list_entry_types(root + "/file").error().code, list_directory(root + "/file").error().code);
  EXPECT_EQ(list_entry_types(root + "/x").error().kind, ErrorKind::not_found);
}

TEST_F(FileTest, WritesAndReadsAtPlaces) {
  auto file = File::create(at("f")).value();
  ASSERT_TRUE(file.write("hello"));
  ASSERT_TRUE(file.write_at(8, std::as_bytes(std::span("xyz", 3))));
  EXPECT_EQ(file.size().value(), 11u);
  std::array<char, 20> buffer{};
  EXPECT_EQ(file.read_at(3, std::as_writable_bytes(std::span(buffer))).value(), 8u);
  EXPECT_EQ(std::string(buffer.data(), 8), std::string("lo\0\0\0xyz", 8));
  EXPECT_EQ(file.read_at(100, std::as_writable_bytes(std::span(buffer))).value(), 0u);
  ASSERT_TRUE(file.truncate(2));
  EXPECT_EQ(read_file(at("f")).value(), "he");
}

TEST_F(FileTest, MovesItsDescriptor) {
  auto first = File::create(at("f")).value();
  auto number = first.descriptor();
  File second(std::move(first));
  EXPECT_FALSE(first.is_open()); // NOLINT(bugprone-use-after-move): that is what is tested
  EXPECT_EQ(second.descriptor(), number);
  second = File();
  EXPECT_EQ(::fcntl(number, F_GETFD), -1);
}

TEST_F(FileTest, ReadRefusesPipesAndSocketsAtOnce) {
  ASSERT_EQ(::mkfifo(at("fifo").c_str(), 0600), 0);
  EXPECT_EQ(File::open_read(at("fifo")).error().code, "D009");
  EXPECT_EQ(read_file(at("fifo")).error().kind, ErrorKind::invalid_argument);
  int listener = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  auto name = at("socket");
  ASSERT_LT(name.size(), sizeof address.sun_path);
  std::copy(name.begin(), name.end(), address.sun_path);
  ASSERT_EQ(::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(File::open_read(name).error().code, "D009");
  ::close(listener);
  EXPECT_EQ(read_file("/dev/null").value(), "");
}

TEST_F(FileTest, APipeIsWrittenAndNotReplaced) {
  ASSERT_EQ(::mkfifo(at("out").c_str(), 0600), 0);
  int reader = ::open(at("out").c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  ASSERT_TRUE(write_file(at("out"), "page"));
  char got[8] = {};
  EXPECT_EQ(::read(reader, got, sizeof got), 4);
  EXPECT_STREQ(got, "page");
  ::close(reader);
  auto file = AtomicFile::create(at("out"));
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, "D002");
  struct stat status{};
  ASSERT_EQ(::lstat(at("out").c_str(), &status), 0);
  EXPECT_TRUE(S_ISFIFO(status.st_mode));
}

TEST_F(FileTest, CreateNewRefusesATakenNameAndLinks) {
  put("f");
  EXPECT_EQ(File::create_new(at("f")).error().kind, ErrorKind::already_exists);
  ASSERT_EQ(::symlink("nowhere", at("link").c_str()), 0);
  EXPECT_EQ(File::create_new(at("link")).error().kind, ErrorKind::already_exists);
}

TEST_F(FileTest, ReadRefusesDirectoriesAndMissingFiles) {
  EXPECT_FALSE(File::open_read(root));
  EXPECT_EQ(File::open_read(at("gone")).error().kind, ErrorKind::not_found);
  EXPECT_EQ(read_file(at("gone")).error().code, "D001");
}

TEST_F(FileTest, ReadFileIsBounded) {
  put("f", std::string(1000, 'a'));
  EXPECT_EQ(read_file(at("f"), 1000)->size(), 1000u);
  EXPECT_EQ(read_file(at("f"), 999).error().kind, ErrorKind::resource_exhausted);
  EXPECT_EQ(read_file("/dev/zero", 100'000).error().kind, ErrorKind::resource_exhausted); // says size 0 and has no end
  EXPECT_THAT(read_file("/proc/self/status").value(), HasSubstr("Name:"));
}

TEST_F(FileTest, ModesAreExact) {
  put("f");
  auto file = File::open_read(at("f")).value();
  ASSERT_TRUE(file.set_mode(0777));
  EXPECT_EQ(mode_of(at("f")), 0777u);
}

TEST_F(FileTest, DirectoriesAndTrees) {
  ASSERT_TRUE(make_directories(at("a/b/c")));
  ASSERT_TRUE(make_directories(at("a/b/c")));
  ASSERT_TRUE(make_directories(at("a//b/./d/")));
  EXPECT_TRUE(is_directory(at("a/b/d")));
  put("file");
  EXPECT_FALSE(make_directories(at("file/x")));
  EXPECT_EQ(remove_empty_directory(at("a")).error().kind, ErrorKind::failed);
  ASSERT_TRUE(remove_tree(at("a")));
  ASSERT_TRUE(remove_tree(at("a")));
  ASSERT_TRUE(remove_file(at("gone")));
  EXPECT_FALSE(exists(at("a")));
}

TEST_F(FileTest, RemovingATreeDoesNotFollowLinks) {
  put("outside/kept");
  ASSERT_TRUE(make_directories(at("tree/sub")));
  ASSERT_EQ(::symlink("../../outside", at("tree/sub/link").c_str()), 0);
  ASSERT_EQ(::symlink("/", at("tree/root").c_str()), 0);
  ASSERT_TRUE(remove_tree(at("tree")));
  EXPECT_FALSE(exists(at("tree")));
  EXPECT_TRUE(exists(at("outside/kept")));
}

TEST_F(FileTest, LinksAndNames) {
  put("f", "abc");
  ASSERT_EQ(::symlink("f", at("l").c_str()), 0);
  EXPECT_EQ(read_link(at("l")).value(), "f");
  EXPECT_EQ(real_path(at("l")).value(), real_path(root).value() + "/f");
  EXPECT_FALSE(read_link(at("f")));
  ASSERT_TRUE(hard_link(at("f"), at("h")));
  EXPECT_EQ(read_file(at("h")).value(), "abc");
  EXPECT_EQ(hard_link(at("f"), at("h")).error().kind, ErrorKind::already_exists);
  ASSERT_TRUE(rename(at("h"), at("i")));
  EXPECT_FALSE(exists(at("h")));
  ASSERT_EQ(::symlink("nowhere", at("dangling").c_str()), 0);
  EXPECT_FALSE(exists(at("dangling")));
  EXPECT_EQ(absolute("/a/../b").value(), "/b");
}

TEST_F(FileTest, ALockExcludesOthers) {
  std::atomic<int> inside = 0, most = 0; // a thread sanitizer does not know that a file's lock orders threads
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        auto lock = FileLock::acquire(at("lock"));
        ASSERT_TRUE(lock);
        most = std::max(most.load(), ++inside); // torn only when two are inside
        --inside;
      }
    });
  threads.clear();
  EXPECT_EQ(most, 1);
}

TEST_F(AtomicFileTest, NothingIsVisibleBeforeTheCommit) {
  auto file = AtomicFile::create(at("target")).value();
  ASSERT_TRUE(file.file().write("content"));
  EXPECT_FALSE(exists(at("target")));
  ASSERT_TRUE(file.commit_replace());
  EXPECT_EQ(read_file(at("target")).value(), "content");
  EXPECT_THAT(names(root), ElementsAre("target"));
}

TEST_F(AtomicFileTest, WithoutCommitNothingStays) {
  put("target", "old");
  {
    ASSERT_TRUE(AtomicFile::create(at("target"))->file().write("half"));
  }
  EXPECT_THAT(names(root), ElementsAre("target"));
  EXPECT_EQ(read_file(at("target")).value(), "old");
}

TEST_F(AtomicFileTest, ReplacesOrRefusesAsAsked) {
  put("target", "old");
  auto file = AtomicFile::create(at("target")).value();
  ASSERT_TRUE(file.file().write("new"));
  EXPECT_EQ(file.commit_new().error().kind, ErrorKind::already_exists);
  EXPECT_EQ(read_file(at("target")).value(), "old");
  ASSERT_TRUE(file.commit_replace());
  EXPECT_EQ(read_file(at("target")).value(), "new");
  auto other = AtomicFile::create(at("other")).value();
  ASSERT_TRUE(other.commit_new());
  EXPECT_THAT(names(root), ElementsAre("other", "target"));
}

TEST_F(AtomicFileTest, MovedFilesCleanUpOnce) {
  {
    auto first = AtomicFile::create(at("target")).value();
    AtomicFile second(std::move(first));
    ASSERT_TRUE(second.commit_replace());
  }
  EXPECT_TRUE(exists(at("target")));
}

TEST_F(AtomicFileTest, WhatAKilledProcessLeftIsReplacedAndALiveWriterIsNot) {
  auto live = AtomicFile::create(at("live")).value();
  ASSERT_TRUE(live.file().write("of the live one"));
  ASSERT_TRUE(write_file(at("live"), "of another"));
  ASSERT_TRUE(live.commit_replace());
  EXPECT_EQ(read_file(at("live")).value(), "of the live one");
  put(".killed.partial", "half"); // as SIGKILL leaves it: a name, and nobody who holds it
  ASSERT_TRUE(write_file(at("killed"), "whole"));
  EXPECT_THAT(names(root), ElementsAre("killed", "live"));
  EXPECT_EQ(read_file(at("killed")).value(), "whole");
}

TEST_F(AtomicFileTest, LongNamesAndManyAtOnce) {
  std::string name(255, 'n');
  ASSERT_TRUE(write_file(at(name), "x"));
  std::vector<AtomicFile> files;
  for (int i = 0; i < 50; ++i) files.push_back(AtomicFile::create(at("same")).value());
  files.clear();
  EXPECT_THAT(names(root), ElementsAre(name));
}

TEST_F(AtomicFileTest, AMissingDirectoryIsSaid) {
  EXPECT_EQ(write_file(at("no/such/file"), "x").error().kind, ErrorKind::not_found);
}

TEST_F(TreeTest, ListsEverythingSortedBytewise) {
  put("b/file", "12345");
  put("b-c/x", "");
  put("a", "");
  ASSERT_EQ(::symlink("b/file", at("link").c_str()), 0);
  ASSERT_EQ(::symlink("/etc", at("b/out").c_str()), 0);
  ASSERT_EQ(::mkfifo(at("fifo").c_str(), 0600), 0);
  ASSERT_EQ(::chmod(at("b/file").c_str(), 0751), 0);
  auto entries = list_tree(root).value();
  std::vector<std::string> paths;
  for (const auto& e : entries) paths.push_back(e.path);
  EXPECT_THAT(paths, ElementsAre("a", "b", "b-c", "b-c/x", "b/file", "b/out", "fifo", "link"));
  EXPECT_EQ(entries[4].size, 5u);
  EXPECT_EQ(entries[4].mode, 0751u);
  EXPECT_TRUE(entries[4].executable());
  EXPECT_EQ(entries[5].type, EntryType::symlink);
  EXPECT_EQ(entries[5].link, "/etc");
  EXPECT_EQ(entries[6].type, EntryType::other);
  EXPECT_EQ(list_directory(root)->size(), 5u);
}

TEST_F(TreeTest, IsBounded) {
  for (int i = 0; i < 5; ++i) put("f" + std::to_string(i));
  EXPECT_EQ(list_tree(root, 5)->size(), 5u);
  EXPECT_EQ(list_tree(root, 4).error().code, "D005");
  std::string deep = root;
  for (int i = 0; i < 300; ++i) deep += "/d";
  ASSERT_TRUE(make_directories(deep));
  EXPECT_EQ(list_tree(root).error().code, "D005");
}

TEST_F(TreeTest, AMissingDirectoryIsNotFound) { EXPECT_EQ(list_tree(at("gone")).error().kind, ErrorKind::not_found); }

} // namespace
} // namespace quarry::sys
