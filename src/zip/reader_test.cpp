#include "zip/reader.hpp"

#include "sys/clock.hpp"
#include "sys/file.hpp"
#include "sys/process.hpp"
#include "zip/forge_for_test.hpp"
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace quarry::zip {
namespace {

using forge::item;
using forge::Zip;

// Opens and reads everything; the codes of all findings and read errors.
std::vector<std::string> codes_of(const std::string& bytes, const Limits& limits = {}) {
  Findings findings;
  auto zip = Reader::open(content::Rope::literal(bytes), "x.zip", findings, limits);
  std::vector<std::string> codes;
  for (const auto& f : findings) codes.push_back(f.code);
  if (!zip) {
    if (codes.empty()) codes.push_back("refused without a finding");
    return codes;
  }
  if (!codes.empty()) return codes;
  for (const auto& m : zip->members()) {
    auto text = zip->read_all(m, 2u << 30);
    if (!text) codes.push_back(text.error().code);
  }
  return codes;
}

struct Case {
  const char* label;
  const char* code; // the first finding's; empty: accepted
  void (*change)(Zip&);
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.label; }

// clang-format off
const Case k_hostile[] = {
  {"the same name twice", "Z001", [](Zip& z) { z.items.push_back(item("a.txt", "other")); }},
  {"the same name twice, same bytes", "Z001", [](Zip& z) { z.items.push_back(item("a.txt", "alpha")); }},
  {"a directory entry twice", "Z001", [](Zip& z) { z.items.push_back(forge::directory("q/")); z.items.push_back(forge::directory("q/")); }},
  {"two central entries for one local header", "Z001", [](Zip& z) { auto twin = z.items[2]; twin.has_local = false; twin.offset = 0; z.items.push_back(twin); }},
  {"a local entry that the directory lacks", "Z002", [](Zip& z) { z.items[1].has_central = false; }},
  {"a last local entry that the directory lacks", "Z002", [](Zip& z) { z.items[2].has_central = false; }},
  {"a directory entry without local header", "Z002", [](Zip& z) { z.items[2].has_local = false; }},
  {"offset into another entry's data", "Z021", [](Zip& z) { z.items[1].offset = 10; }},
  {"offset behind the file", "Z002", [](Zip& z) { z.items[0].offset = 0x7FFFFFFF; }},
  {"another name in the local header", "Z003", [](Zip& z) { z.items[0].local.name = "x.txt"; }},
  {"another case in the local header", "Z003", [](Zip& z) { z.items[0].local.name = "A.txt"; }},
  {"a Unicode path with another name", "Z003", [](Zip& z) { z.items[0].extra(forge::unicode_path("a.txt", "evil.txt")); }},
  {"a Unicode path with a wrong CRC of the name", "Z003", [](Zip& z) { z.items[0].extra(forge::unicode_path("b.txt", "a.txt")); }},
  {"a Unicode path cut short", "Z003", [](Zip& z) { z.items[0].extra(forge::field(0x7075, "\1ab")); }},
  {"packed sizes differ", "Z004", [](Zip& z) { z.items[0].local.packed = 4; }},
  {"sizes differ", "Z004", [](Zip& z) { z.items[1].local.size = 4; }},
  {"stored sizes that are not equal", "Z004", [](Zip& z) { z.items[0].both([](auto& h) { h.size = 9; }); }},
  {"data that reaches into the directory", "Z004", [](Zip& z) { z.items[2].both([](auto& h) { h.packed = h.size = 5000; }); }},
  {"CRC differs between headers", "Z005", [](Zip& z) { z.items[0].local.crc ^= 1; }},
  {"CRC differs from the data", "Z005", [](Zip& z) { z.items[0].both([](auto& h) { h.crc ^= 1; }); }},
  {"CRC differs from deflated data", "Z005", [](Zip& z) { z.items[1].both([](auto& h) { h.crc ^= 1; }); }},
  {"deflate data altered", "Z005", [](Zip& z) { z.items[1].data[2] ^= 0x10; }},
  {"deflate data with bytes behind its end", "Z005", [](Zip& z) { z.items[1].data += "hidden"; z.items[1].both([](auto& h) { h.packed += 6; }); }},
  {"deflate data cut off", "Z005", [](Zip& z) { z.items[1].data.pop_back(); z.items[1].both([](auto& h) { --h.packed; }); }},
  {"deflate data longer than it says", "Z005", [](Zip& z) { z.items[1].both([](auto& h) { h.size = 100; }); }},
  {"deflate data shorter than it says", "Z005", [](Zip& z) { z.items[1].both([](auto& h) { h.size = 6000; }); }},
  {"an empty deflate stream of no bytes", "Z005", [](Zip& z) { z.items[0] = item("a.txt", ""); z.items[0].both([](auto& h) { h.method = 8; }); }},
  {"a data descriptor", "Z006", [](Zip& z) { z.items[0].both([](auto& h) { h.flags |= 8; }); put32(z.items[0].after, k_descriptor_signature); z.items[0].after += std::string(12, '\0'); }},
  {"the descriptor flag without descriptor", "Z006", [](Zip& z) { z.items[0].both([](auto& h) { h.flags |= 8; }); }},
  {"the descriptor flag in the local header only", "Z012", [](Zip& z) { z.items[0].local.flags |= 8; }},
  {"a descriptor without flag", "Z012", [](Zip& z) { put32(z.items[0].after, k_descriptor_signature); z.items[0].after += std::string(12, '\0'); }},
  {"a ZIP64 field without need in the local header", "Z007", [](Zip& z) { z.items[0].local.extra = forge::zip64({5, 4}); }},
  {"a ZIP64 field without need in the directory", "Z007", [](Zip& z) { z.items[0].central.extra = forge::zip64({5, 5, 0}); }},
  {"an offset-only ZIP64 field copied to the local header", "Z007", [](Zip& z) { z.items[0].extra(forge::zip64({0})); z.items[0].offset = 0xFFFFFFFF; }},
  {"a ZIP64 field that is too short", "Z007", [](Zip& z) { z.items[0].both([](auto& h) { h.size = h.packed = 0xFFFFFFFF; h.extra = forge::zip64({5}); }); }},
  {"a ZIP64 field that is too long", "Z007", [](Zip& z) { z.items[0].both([](auto& h) { h.size = h.packed = 0xFFFFFFFF; h.extra = forge::zip64({5, 5, 5}); }); }},
  {"a ZIP64 field of odd length", "Z007", [](Zip& z) { z.items[0].central.size = 0xFFFFFFFF; z.items[0].central.extra = forge::field(1, "123456789"); }},
  {"saturated sizes without ZIP64 field", "Z007", [](Zip& z) { z.items[0].both([](auto& h) { h.size = 0xFFFFFFFF; }); }},
  {"two ZIP64 fields", "Z007", [](Zip& z) { z.items[0].both([](auto& h) { h.size = h.packed = 0xFFFFFFFF; h.extra = forge::zip64({5, 5}) + forge::zip64({4, 4}); }); }},
  {"a lone ZIP64 size of deflated data", "Z007", [](Zip& z) { z.items[1].local.size = 0xFFFFFFFF; z.items[1].local.extra = forge::zip64({5000}); }},
  {"two Unicode path fields", "Z007", [](Zip& z) { z.items[0].extra(forge::unicode_path("a.txt", "a.txt") + forge::unicode_path("a.txt", "a.txt")); }},
  {"an extra field beyond its header", "Z007", [](Zip& z) { z.items[0].central.extra = std::string("UT\x09\0\1", 5); }},
  {"extra bytes that are not a field", "Z007", [](Zip& z) { z.items[0].local.extra = std::string(3, '\0'); }},
  {"ZIP64 sizes that differ", "Z004", [](Zip& z) { z.items[0].local.size = z.items[0].local.packed = 0xFFFFFFFF; z.items[0].local.extra = forge::zip64({6, 6}); }},
  {"no end record", "Z008", [](Zip& z) { z = Zip(); z.comment_size = 0; z.trailing = ""; z.items.clear(); z.prefix = "PK"; z.central_offset = 7; }},
  {"too few entries counted", "Z008", [](Zip& z) { z.entries = 2; z.disk_entries = 2; }},
  {"too many entries counted", "Z008", [](Zip& z) { z.entries = 4; z.disk_entries = 4; }},
  {"entries on this disk differ", "Z008", [](Zip& z) { z.disk_entries = 1; }},
  {"another disk", "Z008", [](Zip& z) { z.disk = 1; }},
  {"the directory on another disk", "Z008", [](Zip& z) { z.central_disk = 1; }},
  {"an entry on another disk", "Z008", [](Zip& z) { z.items[1].disk = 1; }},
  {"directory size too small", "Z008", [](Zip& z) { z.central_size = 46; }},
  {"directory offset too small", "Z008", [](Zip& z) { z.central_offset = 0; }},
  {"directory beyond the file", "Z008", [](Zip& z) { z.central_size = 0x10000000; }},
  {"saturated counts without ZIP64 record", "Z008", [](Zip& z) { z.entries = z.disk_entries = 0xFFFF; }},
  {"a saturated offset without ZIP64 record", "Z008", [](Zip& z) { z.central_offset = 0xFFFFFFFF; }},
  {"a ZIP64 locator without record", "Z008", [](Zip& z) { z.end64.emplace().record = false; }},
  {"a ZIP64 record without locator", "Z008", [](Zip& z) { z.end64.emplace().locator = false; }},
  {"a ZIP64 locator that points elsewhere", "Z008", [](Zip& z) { z.end64.emplace().record_offset = 0; }},
  {"a ZIP64 record with extensible data", "Z008", [](Zip& z) { z.end64.emplace().extensible = "12345678"; }},
  {"a ZIP64 record that claims another size", "Z008", [](Zip& z) { z.end64.emplace().record_size = 45; }},
  {"ZIP64 on two disks", "Z008", [](Zip& z) { z.end64.emplace().disks = 2; }},
  {"a ZIP64 disk number", "Z008", [](Zip& z) { z.end64.emplace().disk = 1; }},
  {"a ZIP64 locator on another disk", "Z008", [](Zip& z) { z.end64.emplace().locator_disk = 1; }},
  {"ZIP64 counts other entries", "Z008", [](Zip& z) { z.end64.emplace().entries = 2; }},
  {"ZIP64 counts other entries, classic saturated", "Z008", [](Zip& z) { z.end64.emplace(); z.end64->entries = z.end64->disk_entries = 2; z.entries = z.disk_entries = 0xFFFF; }},
  {"ZIP64 places the directory elsewhere", "Z008", [](Zip& z) { z.end64.emplace().offset = 1; z.central_offset = 0xFFFFFFFF; }},
  {"ZIP64 has another directory size", "Z008", [](Zip& z) { z.end64.emplace().size = 1; }},
  {"ZIP64 sums that overflow", "Z008", [](Zip& z) { z.end64.emplace().size = UINT64_MAX; z.end64->offset = 100; z.central_size = z.central_offset = 0xFFFFFFFF; }},
  {"bytes behind the end", "Z009", [](Zip& z) { z.trailing = "x"; }},
  {"NUL bytes behind the end", "Z009", [](Zip& z) { z.trailing = std::string(100, '\0'); }},
  {"a second archive behind the first", "Z008", [](Zip& z) { z.trailing = Zip().bytes(); }},
  {"an entry comment", "Z010", [](Zip& z) { z.items[0].comment = "remark"; }},
  {"an archive comment with zip signatures", "Z011", [](Zip& z) { z.comment = "see PK\1\2"; }},
  {"an archive comment with an end record in it", "Z008", [](Zip& z) { Zip empty; empty.items.clear(); z.comment = empty.bytes(); }},
  {"an archive comment that is cut off", "Z011", [](Zip& z) { z.comment = "short"; z.comment_size = 50; }},
  {"a prefix with shifted offsets", "Z012", [](Zip& z) { z.prefix = "#!/bin/sh\n"; }},
  {"a prefix outside the offsets", "Z008", [](Zip& z) { auto inner = Zip().bytes(); z.items.clear(); z.prefix = "MZ" + inner.substr(0, inner.size() - 22); z.central_offset = static_cast<std::uint32_t>(inner.size()) - 22 - 155; z.central_size = 155; z.entries = z.disk_entries = 3; }},
  {"a gap between entries", "Z012", [](Zip& z) { z.items[0].after = "gap"; }},
  {"a gap before the directory", "Z012", [](Zip& z) { z.before_central = "gap"; }},
  {"a gap behind the directory", "Z008", [](Zip& z) { z.after_central = "gap"; }},
  {"an archive extra data record", "Z012", [](Zip& z) { z.before_central = std::string("PK\6\x08\0\0\0\0", 8); }},
  {"a digital signature in the directory", "Z012", [](Zip& z) { z.after_central = std::string("PK\5\5\0\0", 6); z.central_size = 161; }},
  {"an empty name", "Z013", [](Zip& z) { z.items[0].named(""); }},
  {"a name that is not UTF-8", "Z013", [](Zip& z) { z.items[0].named("a\xff"); }},
  {"a surrogate in UTF-8", "Z013", [](Zip& z) { z.items[0].named("a\xed\xa0\x80"); }},
  {"a name in an unknown encoding", "Z013", [](Zip& z) { z.items[0].named("caf\xc3\xa9"); z.items[0].both([](auto& h) { h.flags = 0; }); }},
  {"a newline in a name", "Z013", [](Zip& z) { z.items[0].named("a\nb"); }},
  {"NUL in a name", "Z013", [](Zip& z) { z.items[0].named(std::string_view("a.txt\0.py", 9)); }},
  {"DEL in a name", "Z013", [](Zip& z) { z.items[0].named("a\x7f"); }},
  {"a C1 control in a name", "Z013", [](Zip& z) { z.items[0].named("a\xc2\x85"); }},
  {"a byte order mark in a name", "Z013", [](Zip& z) { z.items[0].named("\xef\xbb\xbf" "a"); }},
  {"a right-to-left override in a name", "Z013", [](Zip& z) { z.items[0].named("a\xe2\x80\xae" "b"); }},
  {"a zero-width space in a name", "Z013", [](Zip& z) { z.items[0].named("a\xe2\x80\x8b" "b"); }},
  {"a private-use character in a name", "Z013", [](Zip& z) { z.items[0].named("a\xee\x80\x80"); }},
  {"a non-character in a name", "Z013", [](Zip& z) { z.items[0].named("a\xef\xbf\xbe"); }},
  {"a tag character in a name", "Z013", [](Zip& z) { z.items[0].named("a\xf3\xa0\x81\x81"); }},
  {"a component of 256 bytes", "Z013", [](Zip& z) { z.items[0].named(std::string(256, 'x')); }},
  {"a name of 5000 bytes", "Z013", [](Zip& z) { std::string n; while (n.size() < 5000) n += "abcdefgh/"; z.items[0].named(n + "x"); }},
  {"a name 129 deep", "Z013", [](Zip& z) { std::string n; for (int i = 0; i < 128; ++i) n += "x/"; z.items[0].named(n + "x"); }},
  {"an absolute name", "Z014", [](Zip& z) { z.items[0].named("/etc/passwd"); }},
  {"a parent component", "Z014", [](Zip& z) { z.items[0].named("../a"); }},
  {"a parent component inside", "Z014", [](Zip& z) { z.items[0].named("a/../../b"); }},
  {"a parent component at the end", "Z014", [](Zip& z) { z.items[0].named("a/.."); }},
  {"a dot component", "Z014", [](Zip& z) { z.items[0].named("./a"); }},
  {"an empty component", "Z014", [](Zip& z) { z.items[0].named("a//b"); }},
  {"a backslash", "Z014", [](Zip& z) { z.items[0].named("..\\a"); }},
  {"a drive letter", "Z014", [](Zip& z) { z.items[0].named("C:a"); }},
  {"method bzip2", "Z015", [](Zip& z) { z.items[0].both([](auto& h) { h.method = 12; }); }},
  {"method zstd", "Z015", [](Zip& z) { z.items[0].both([](auto& h) { h.method = 93; }); }},
  {"method differs between headers", "Z015", [](Zip& z) { z.items[0].local.method = 8; }},
  {"an encrypted entry", "Z015", [](Zip& z) { z.items[0].both([](auto& h) { h.flags |= 1; }); }},
  {"a strongly encrypted entry", "Z015", [](Zip& z) { z.items[0].both([](auto& h) { h.flags |= 0x40; }); }},
  {"AES encryption", "Z015", [](Zip& z) { z.items[0].extra(forge::field(0x9901, "1234567")); }},
  {"masked headers", "Z015", [](Zip& z) { z.items[0].both([](auto& h) { h.flags |= 0x2000; }); }},
  {"patch data", "Z015", [](Zip& z) { z.items[0].both([](auto& h) { h.flags |= 0x20; }); }},
  {"a format version from the future", "Z015", [](Zip& z) { z.items[0].both([](auto& h) { h.version = 64; }); }},
  {"two names that differ in case", "Z017", [](Zip& z) { z.items[0].named("D.TXT"); }},
  {"directories that differ in case", "Z017", [](Zip& z) { z.items[0].named("B/x"); }},
  {"names that differ in Unicode case", "Z017", [](Zip& z) { z.items[0].named("stra\xc3\x9f" "e"); z.items[2].named("STRASSE"); }},
  {"names that differ in normalisation", "Z017", [](Zip& z) { z.items[0].named("\xc3\xa9"); z.items[2].named("e\xcc\x81"); }},
  {"Hangul that differs in normalisation", "Z017", [](Zip& z) { z.items[0].named("\xed\x95\x9c"); z.items[2].named("\xe1\x84\x92\xe1\x85\xa1\xe1\x86\xab"); }},
  {"names that differ in a trailing dot", "Z017", [](Zip& z) { z.items[0].named("d.txt."); }},
  {"a file that is also a directory", "Z018", [](Zip& z) { z.items[0].named("b"); }},
  {"a directory that is also a file", "Z018", [](Zip& z) { z.items[2].named("a.txt/x"); }},
  {"a directory entry that is also a file", "Z018", [](Zip& z) { z.items.push_back(forge::directory("a.txt/")); }},
  {"a symbolic link", "Z019", [](Zip& z) { z.items[0].mode(0120777); }},
  {"a device", "Z019", [](Zip& z) { z.items[0].mode(0020666); }},
  {"a fifo", "Z019", [](Zip& z) { z.items[0].mode(0010644); }},
  {"a setuid program", "Z019", [](Zip& z) { z.items[0].mode(0104755); }},
  {"a link made by BeOS", "Z019", [](Zip& z) { z.items[0].mode(0120777); z.items[0].made_by = 16 << 8 | 20; }},
  {"a link made on FAT", "Z019", [](Zip& z) { z.items[0].mode(0120777); z.items[0].made_by = 20; }},
  {"a setuid program made on FAT", "Z019", [](Zip& z) { z.items[0].mode(0104755); z.items[0].made_by = 20; }},
  {"a device made on NTFS", "Z019", [](Zip& z) { z.items[0].mode(0020666); z.items[0].made_by = 10 << 8 | 20; }},
  {"a fifo made on VFAT", "Z019", [](Zip& z) { z.items[0].mode(0010666); z.items[0].made_by = 14 << 8 | 20; }},
  {"a file's mode on a directory made on FAT", "Z019", [](Zip& z) { z.items.push_back(item("q/", "")); z.items[3].made_by = 20; }},
  {"a mode of BeOS", "Z022", [](Zip& z) { z.items[0].made_by = 16 << 8 | 20; }},
  {"a mode of Atari", "Z022", [](Zip& z) { z.items[0].made_by = 5 << 8 | 20; }},
  {"a mode of VMS", "Z022", [](Zip& z) { z.items[0].made_by = 2 << 8 | 20; }},
  {"a mode of a system without number", "Z022", [](Zip& z) { z.items[0].made_by = 255 << 8 | 20; }},
  {"a file that DOS calls a directory", "Z022", [](Zip& z) { z.items[0].made_by = 20; z.items[0].attributes = 0x10; }},
  {"a file of Unix that DOS calls a directory", "Z022", [](Zip& z) { z.items[0].attributes |= 0x10; }},
  {"a volume label", "Z022", [](Zip& z) { z.items[0].attributes |= 0x08; }},
  {"a device of DOS", "Z022", [](Zip& z) { z.items[0].attributes |= 0x40; }},
  {"a link of NTFS", "Z022", [](Zip& z) { z.items[0].made_by = 10 << 8 | 20; z.items[0].attributes = 0x420; }},
  {"a directory's mode on a file", "Z019", [](Zip& z) { z.items[0].mode(0040755); }},
  {"a directory entry with content", "Z019", [](Zip& z) { z.items[0].named("q/"); z.items[0].mode(0040755); }},
  {"a file's mode on a directory", "Z019", [](Zip& z) { z.items.push_back(item("q/", "")); }},
  {"the directory in another order", "Z021", [](Zip& z) { z.central_order = {1, 0, 2}; }},
};

const Case k_benign[] = {
  {"the plain archive", "", [](Zip&) {}},
  {"no entries at all", "", [](Zip& z) { z.items.clear(); }},
  {"an empty file", "", [](Zip& z) { z.items.push_back(item("empty", "")); }},
  {"directory entries", "", [](Zip& z) { z.items.insert(z.items.begin(), forge::directory("b/")); z.items.push_back(forge::directory("q/r/")); }},
  {"a directory entry behind its file", "", [](Zip& z) { z.items.push_back(forge::directory("b/")); }},
  {"a deflated directory entry, as Java writes it", "", [](Zip& z) { auto d = forge::item("q/", "", true).mode(0040755); d.both([](auto& h) { h.crc = 0; }); z.items.push_back(d); }},
  {"a directory entry without Unix mode", "", [](Zip& z) { auto d = forge::directory("q/"); d.made_by = 20; d.attributes = 0x10; z.items.push_back(d); }},
  {"a setgid directory, as shared disks have them", "", [](Zip& z) { z.items.push_back(forge::directory("q/").mode(0042755)); }},
  {"an archive comment", "", [](Zip& z) { z.comment = "made by a friendly tool"; }},
  {"the longest archive comment", "", [](Zip& z) { z.comment = std::string(65535, '-'); }},
  {"a mode without file type", "", [](Zip& z) { z.items[0].mode(0755); }},
  {"made on FAT", "", [](Zip& z) { z.items[0].made_by = 20; z.items[0].attributes = 0x20; }},
  {"made on FAT with a mode, as Python on Windows writes it", "", [](Zip& z) { z.items[0].made_by = 20; z.items[0].mode(0100666); }},
  {"a directory of Unix with DOS's bit", "", [](Zip& z) { auto d = forge::directory("q/"); d.attributes |= 0x10; z.items.push_back(d); }},
  {"made by BeOS without a mode", "", [](Zip& z) { z.items[0].made_by = 16 << 8 | 20; z.items[0].attributes = 0; }},
  {"hidden, archived and only to be read", "", [](Zip& z) { z.items[0].attributes |= 0x27; }},
  {"made on macOS", "", [](Zip& z) { z.items[0].made_by = 19 << 8 | 20; }},
  {"extended timestamps", "", [](Zip& z) { z.items[0].local.extra = forge::field(0x5455, std::string("\3\0\0\0\0\0\0\0\0", 9)); z.items[0].central.extra = forge::field(0x5455, std::string("\3\0\0\0\0", 5)); }},
  {"Unix owner fields", "", [](Zip& z) { z.items[0].extra(forge::field(0x7875, std::string("\1\4\0\0\0\0\4\0\0\0\0", 11))); }},
  {"an unknown extra field", "", [](Zip& z) { z.items[0].extra(forge::field(0xCAFE, "")); }},
  {"a matching Unicode path", "", [](Zip& z) { z.items[0].extra(forge::unicode_path("a.txt", "a.txt")); }},
  {"no UTF-8 flag on an ASCII name", "", [](Zip& z) { z.items[0].both([](auto& h) { h.flags = 0; }); }},
  {"a UTF-8 name", "", [](Zip& z) { z.items[0].named("caf\xc3\xa9/\xe6\xbc\xa2\xe5\xad\x97.txt"); }},
  {"a name that is not normalised", "", [](Zip& z) { z.items[0].named("e\xcc\x81.txt"); }},
  {"a colon inside a name, as Perl's manual pages have", "", [](Zip& z) { z.items[0].named("man/Foo::Bar.3pm"); }},
  {"names with blanks, dots and tildes", "", [](Zip& z) { z.items[0].named("a b/...c/~d .e"); }},
  {"deflate level bits", "", [](Zip& z) { z.items[1].both([](auto& h) { h.flags |= 2; }); }},
  {"level bits in the local header only", "", [](Zip& z) { z.items[1].local.flags |= 4; }},
  {"a real modification time", "", [](Zip& z) { z.items[0].both([](auto& h) { h.time = 0x6000; h.date = 0x5A21; }); }},
  {"versions 10 and 45", "", [](Zip& z) { z.items[0].both([](auto& h) { h.version = 10; }); z.items[1].local.version = 45; }},
  {"ZIP64 sizes where they are not needed", "", [](Zip& z) { z.items[0].both([](auto& h) { h.size = h.packed = 0xFFFFFFFF; h.extra = forge::zip64({5, 5}); }); }},
  {"ZIP64 sizes in the local header only", "", [](Zip& z) { z.items[0].local.size = z.items[0].local.packed = 0xFFFFFFFF; z.items[0].local.extra = forge::zip64({5, 5}); }},
  {"a ZIP64 offset where it is not needed", "", [](Zip& z) { z.items[0].offset = 0xFFFFFFFF; z.items[0].central.extra = forge::zip64({0}); }},
  {"an empty ZIP64 field", "", [](Zip& z) { z.items[0].extra(forge::zip64({})); }},
  {"ZIP64 end records where they are not needed", "", [](Zip& z) { z.end64.emplace(); }},
  {"saturated end record with ZIP64", "", [](Zip& z) { z.end64.emplace(); z.entries = z.disk_entries = 0xFFFF; z.central_size = z.central_offset = 0xFFFFFFFF; }},
};
// clang-format on

class HostileZip : public testing::TestWithParam<Case> {};
TEST_P(HostileZip, IsRefused) {
  Zip zip;
  GetParam().change(zip);
  auto codes = codes_of(zip.bytes());
  ASSERT_FALSE(codes.empty());
  EXPECT_EQ(codes.front(), GetParam().code) << testing::PrintToString(codes);
}
INSTANTIATE_TEST_SUITE_P(Table, HostileZip, testing::ValuesIn(k_hostile));

class BenignZip : public testing::TestWithParam<Case> {};
TEST_P(BenignZip, IsAccepted) {
  Zip zip;
  GetParam().change(zip);
  EXPECT_THAT(codes_of(zip.bytes()), testing::IsEmpty());
}
INSTANTIATE_TEST_SUITE_P(Table, BenignZip, testing::ValuesIn(k_benign));

// What we call benign, Python reads as well, so that the table does not accept what nobody can read.
TEST(Reader, AgreesWithPythonOnBenignArchives) {
  auto directory = sys::make_temporary_directory(testing::TempDir(), "zip-").value();
  std::vector<std::string> argv{"python3", "-c",
                                "import sys, zipfile\nfor f in sys.argv[1:]:\n  z = zipfile.ZipFile(f)\n  bad = "
                                "z.testzip()\n  if bad: sys.exit(f'{f}: {bad}')\n"};
  for (const auto& c : k_benign) {
    Zip zip;
    c.change(zip);
    argv.push_back(directory + "/" + std::to_string(argv.size()) + ".zip");
    ASSERT_TRUE(sys::write_file(argv.back(), zip.bytes()));
  }
  sys::ProcessSpec spec;
  spec.argv = argv;
  spec.environment = {{"PATH", std::getenv("PATH")}};
  auto result = sys::run_process(spec);
  ASSERT_TRUE(result) << render(result.error());
  EXPECT_EQ(result->exit_code, 0) << result->err;
  ASSERT_TRUE(sys::remove_tree(directory));
}

TEST(Reader, RefusesEveryTruncation) {
  auto bytes = Zip().bytes();
  for (std::size_t n = 0; n < bytes.size(); ++n)
    EXPECT_THAT(codes_of(bytes.substr(0, n)), testing::Not(testing::IsEmpty())) << n;
}

// Times and creator are free; every other byte of headers and data is held in place by something.
TEST(Reader, AcceptsNoFlippedBitThatChangesContent) {
  auto original = Zip().bytes();
  for (std::size_t i = 0; i < original.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      auto bytes = original;
      bytes[i] = static_cast<char>(bytes[i] ^ (1 << bit));
      Findings findings;
      auto zip = Reader::open(content::Rope::literal(bytes), "x.zip", findings);
      if (!zip || has_errors(findings)) continue;
      ASSERT_EQ(zip->members().size(), 3u);
      const char* names[] = {"a.txt", "b/c.txt", "d.txt"};
      const std::string contents[] = {"alpha", std::string(5000, 'c'), "delta"};
      for (std::size_t m = 0; m < 3; ++m) {
        auto text = zip->read_all(zip->members()[m], 1 << 20);
        if (!text) continue;
        EXPECT_EQ(zip->members()[m].name, names[m]) << i << " " << bit;
        EXPECT_EQ(*text, contents[m]) << i << " " << bit;
      }
    }
}

TEST(Reader, BoundsTheNumberOfEntries) {
  EXPECT_THAT(codes_of(Zip().bytes(), {.entries_max = 2}), testing::ElementsAre("Z016"));
  EXPECT_THAT(codes_of(Zip().bytes(), {.entries_max = 3}), testing::IsEmpty());
}

TEST(Reader, BoundsExpansion) {
  Zip zip;
  zip.items = {item("zeros", std::string(80u << 20, '\0'), true)}; // 1:1029
  EXPECT_THAT(codes_of(zip.bytes()), testing::IsEmpty());
  EXPECT_THAT(codes_of(zip.bytes(), {.declared_bytes_max = 1 << 20, .ratio_max = 1100}), testing::ElementsAre("Z016"));
  zip.items[0].both([](auto& h) { h.size = 1200u << 20; });
  EXPECT_THAT(codes_of(zip.bytes()), testing::ElementsAre("Z016"));
  EXPECT_THAT(codes_of(zip.bytes(), {.ratio_max = 20'000}), testing::ElementsAre("Z005")); // it has fewer
}

TEST(Reader, BoundsDeclaredSizesThatOverflow) {
  Zip zip;
  for (auto& i : zip.items) {
    i.both([](auto& h) {
      h.method = 8;
      h.size = h.packed = 0xFFFFFFFF;
    });
    i.extra(forge::zip64({UINT64_MAX, i.data.size()}));
  }
  EXPECT_EQ(codes_of(zip.bytes()).front(), "Z016");
}

TEST(Reader, StopsInflatingAtTheDeclaredSize) {
  Zip zip;
  zip.items = {item("bomb", std::string(30u << 20, '\0'), true)};
  zip.items[0].both([](auto& h) { h.size = 2u << 20; });
  Findings findings;
  auto reader = Reader::open(content::Rope::literal(zip.bytes()), "x.zip", findings);
  ASSERT_TRUE(reader) << render(findings);
  std::uint64_t seen = 0;
  auto read = reader->read(reader->members().at(0), [&](std::span<const std::byte> chunk) -> Result<void> {
    seen += chunk.size();
    return {};
  });
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, "Z005");
  EXPECT_LE(seen, 2u << 20);
}

// In a process of its own, since an interruption cannot be taken back.
TEST(ZipReaderDeathTest, StopsWithinAMemberWhenInterrupted) {
  for (bool deflated : {true, false}) {
    auto read_interrupted = [&] {
      Zip zip;
      zip.items = {item("large", std::string(5u << 20, 'x'), deflated)};
      Findings findings;
      auto reader = Reader::open(content::Rope::literal(zip.bytes()), "x.zip", findings);
      if (!reader) ::_exit(2);
      sys::install_interrupt_handlers();
      ::raise(SIGINT);
      auto read = reader->read(reader->members().at(0), [](std::span<const std::byte>) -> Result<void> { return {}; });
      ::_exit(!read && read.error().code == "D006" ? 0 : 1);
    };
    EXPECT_EXIT(read_interrupted(), ::testing::ExitedWithCode(0), "") << deflated;
  }
}

TEST(Reader, FindsMembersAndTheirModes) {
  Zip zip;
  zip.items[0].mode(0100755);
  zip.items[2].mode(0755);
  Findings findings;
  auto reader = Reader::open(content::Rope::literal(zip.bytes()), "x.zip", findings);
  ASSERT_TRUE(reader);
  ASSERT_NE(reader->find("a.txt"), nullptr);
  EXPECT_TRUE(reader->find("a.txt")->executable());
  EXPECT_FALSE(reader->find("b/c.txt")->executable());
  EXPECT_FALSE(reader->find("d.txt")->executable()); // as pip: only with the type bits of a file
  zip.items[0].made_by = 20;
  reader = Reader::open(content::Rope::literal(zip.bytes()), "x.zip", findings);
  EXPECT_TRUE(reader->find("a.txt")->executable()) << "as pip: on whatever system it was made";
  EXPECT_EQ(reader->find("b"), nullptr);
  auto bounded = reader->read_all(*reader->find("b/c.txt"), 4999);
  ASSERT_FALSE(bounded);
  EXPECT_EQ(bounded.error().code, "Z016");
}

class Counted final : public content::Source {
public:
  explicit Counted(std::string bytes) : bytes_(std::move(bytes)) {}
  std::uint64_t size() const override { return bytes_.size(); }
  Result<void> read(std::uint64_t offset, std::span<std::byte> into) const override {
    ++reads;
    std::memcpy(into.data(), bytes_.data() + offset, into.size());
    return {};
  }
  mutable std::size_t reads = 0;

private:
  std::string bytes_;
};

// Each local header was two calls of the system: 200,000 for a wheel of 100,000 files, each time that it is opened.
TEST(Reader, ReadsTheHeadersOfSmallMembersTogether) {
  Zip zip;
  zip.items.clear();
  for (int i = 0; i < 1000; ++i) zip.items.push_back(item("d/" + std::to_string(i), "x"));
  auto source = std::make_shared<Counted>(zip.bytes());
  Findings findings;
  ASSERT_TRUE(Reader::open(content::Rope::of(source), "x.zip", findings));
  EXPECT_LT(source->reads, 20u);
}

TEST(Reader, ShowsHostileNamesHarmlessly) {
  Zip zip;
  zip.items[0].named("a\x1b[2J\n");
  Findings findings;
  (void)Reader::open(content::Rope::literal(zip.bytes()), "x.zip", findings);
  ASSERT_FALSE(findings.empty());
  EXPECT_THAT(findings[0].place, testing::HasSubstr("x.zip!a\\x1b[2J\\x0a"));
  EXPECT_THAT(render(findings), testing::Not(testing::HasSubstr("\x1b")));
}

} // namespace
} // namespace quarry::zip
