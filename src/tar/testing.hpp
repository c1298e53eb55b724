#pragma once
// For tests only: tar archives byte by byte, so that each can be wrong in exactly one place.
#include "codec/testing.hpp"
#include "tar/header.hpp"
#include "tar/tar.hpp"
#include <cctype>
#include <cstring>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

namespace quarry::tar::testing {

/// One row of a table: an archive, and the code of its refusal (empty: accepted).
struct Case {
  std::string what, archive, code;
};
inline void PrintTo(const Case& c, std::ostream* out) { *out << c.what; }
/// Names a case of a table in the output of gtest.
template <class Info> std::string name_of(const Info& info) {
  std::string name = std::to_string(info.index) + "_";
  for (char c : info.param.what) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

struct Raw {
  std::string name = {}, link = {}, prefix = {};
  char type = '0';
  std::string data = {};
  std::string magic = std::string("ustar\00000", 8);
  std::string size_field = {};                       // 12 bytes instead of the size of `data`
  std::function<void(std::string&)> before_sum = {}; // changes the 512 bytes; the checksum is made afterwards
  std::function<void(std::string&)> after_sum = {};
  char padding = '\0';
};

inline std::string with_sum(std::string block) {
  block.replace(148, 8, 8, ' ');
  unsigned sum = 0;
  for (char c : block) sum += static_cast<unsigned char>(c);
  char text[9];
  std::snprintf(text, sizeof text, "%06o", sum);
  block.replace(148, 8, std::string(text, 6) + std::string("\0 ", 2));
  return block;
}

inline std::string member(const Raw& raw) {
  std::string block(512, '\0');
  auto put = [&](std::size_t at, std::string_view text) { block.replace(at, text.size(), text); };
  put(0, raw.name);
  put(100, std::string("0000644\0", 8));
  put(108, std::string("0000000\0000000000\0", 16));
  char size[13];
  std::snprintf(size, sizeof size, "%011zo", raw.data.size());
  put(124, raw.size_field.empty() ? std::string(size, 12) : raw.size_field);
  put(136, std::string("00000000000\0", 12));
  block[156] = raw.type;
  put(157, raw.link);
  put(257, raw.magic);
  put(345, raw.prefix);
  if (raw.before_sum) raw.before_sum(block);
  block = with_sum(block);
  if (raw.after_sum) raw.after_sum(block);
  auto out = block + raw.data;
  if (auto rest = raw.data.size() % 512) out += std::string(512 - rest, raw.padding);
  return out;
}

inline std::string file(std::string name, std::string data = "x") {
  return member({.name = std::move(name), .data = std::move(data)});
}
inline std::string directory(std::string name) { return member({.name = std::move(name), .type = '5'}); }
inline std::string symlink(std::string name, std::string target) {
  return member({.name = std::move(name), .link = std::move(target), .type = '2'});
}
inline std::string hardlink(std::string name, std::string target) {
  return member({.name = std::move(name), .link = std::move(target), .type = '1'});
}
inline std::string pax(std::string records, char type = 'x') {
  return member({.name = "PaxHeaders/x", .type = type, .data = std::move(records)});
}
inline std::string pax(std::string_view key, std::string_view value) { return pax(pax_record(key, value)); }
inline std::string long_name(std::string name, char type = 'L') {
  return member({.name = "././@LongLink",
                 .type = type,
                 .data = std::move(name) + std::string(1, '\0'),
                 .magic = std::string("ustar  \0", 8)});
}
inline std::string end(std::size_t blocks = 2) { return std::string(blocks * 512, '\0'); }

inline std::string with_field(std::size_t at, std::string bytes) {
  return member({.name = "a", .data = "x", .before_sum = [=](std::string& b) { b.replace(at, bytes.size(), bytes); }});
}
inline std::string repeated(const std::string& part, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += part;
  return text;
}
inline std::string deep(int levels) { return repeated("d/", levels) + "f"; }
inline const std::string k_gnu("ustar  \0", 8), k_old(8, '\0');

using codec::testing::bytes_of;

/// What a reader reports, one line a member: "file a/b 3 x=abc".
struct Recorder final : Visitor {
  std::vector<std::string> lines;
  std::string content;
  Result<void> begin(const Member& m) override {
    constexpr const char* names[] = {"file", "dir", "link", "hard"};
    lines.push_back(std::string(names[static_cast<int>(m.type)]) + " " + m.path +
                    (m.link.empty() ? "" : " -> " + m.link) + (m.executable ? " +x" : ""));
    return {};
  }
  Result<void> data(std::span<const std::byte> chunk) override {
    content.append(reinterpret_cast<const char*>(chunk.data()), chunk.size());
    return {};
  }
  Result<void> end() override { return {}; }
};

inline Result<std::vector<std::string>> read(std::string_view archive, std::size_t step = 4096, Limits limits = {}) {
  Recorder recorder;
  Reader reader(recorder, "t.tar", limits);
  for (std::size_t at = 0; at < archive.size(); at += step) TRY_DO(reader.feed(bytes_of(archive.substr(at, step))));
  TRY_DO(reader.finish());
  return recorder.lines;
}

} // namespace quarry::tar::testing
