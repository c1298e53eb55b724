#include "buildlog/input.hpp"

#include "content/rope.hpp"
#include "sys/clock.hpp"
#include "sys/file.hpp"
#include "sys/tree.hpp"
#include "zip/reader.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <set>
#include <span>

namespace quarry::buildlog {

namespace {
using Block = std::function<void(std::string_view)>;

std::string_view chars(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string stem(std::string_view name) {
  name = name.substr(name.rfind('/') + 1); // npos + 1 is 0
  auto point = name.rfind('.');
  return std::string(point == name.npos || point == 0 ? name : name.substr(0, point));
}

bool is_log_name(std::string_view name) { return name.ends_with(".txt") || name.ends_with(".log"); }

Unexpected no_log(const std::string& name, std::string_view why, ErrorKind kind = ErrorKind::invalid_argument) {
  return fail(kind, "X502", fmt::format("{}: {}", name, why),
              "name a log, a zip of a run's logs, or a directory with .txt and .log files");
}

Result<void> read_file_blocks(const std::string& path, const Block& block) {
  TRY(auto file, sys::File::open_read(path), "while reading " + path);
  std::vector<std::byte> buffer(k_block_bytes);
  for (std::uint64_t offset = 0;;) {
    TRY_DO(sys::check_interrupted());
    TRY(auto count, file.read_at(offset, buffer), "while reading " + path);
    if (count == 0) return {};
    block(chars(std::span(buffer).first(count)));
    offset += count;
  }
}

Input file_input(const std::string& path, std::string variant, std::uint64_t size) {
  return {path, std::move(variant), size, [path](const Block& block) { return read_file_blocks(path, block); }};
}

/// GitHub's zip has `3_build.txt` for a job and `build/5_Compile.txt` for its steps: the same lines twice.
bool repeats_a_job(const std::string& name, const std::set<std::string>& jobs) {
  auto slash = name.find('/');
  return slash != name.npos && jobs.contains(name.substr(0, slash));
}

std::set<std::string> jobs_of(const std::vector<zip::Member>& members) {
  std::set<std::string> jobs;
  for (const auto& member : members) {
    if (member.name.find('/') != member.name.npos || !is_log_name(member.name)) continue;
    auto job = stem(member.name);
    auto digits = job.find_first_not_of("0123456789");
    if (digits != job.npos && digits > 0 && job[digits] == '_') job.erase(0, digits + 1);
    jobs.insert(job);
  }
  return jobs;
}

Result<std::vector<Input>> zip_inputs(const std::string& path, Findings& findings) {
  TRY(auto rope, content::Rope::file(path));
  Findings defects;
  auto opened = zip::Reader::open(std::move(rope), path, defects);
  if (!opened)
    return no_log(path, defects.empty() ? "not a zip that can be read" : defects.front().message, ErrorKind::corrupt);
  for (auto& defect : defects) {
    defect.severity = Severity::warning; // sizes and checksums of members are still proven when they are read
    findings.push_back(std::move(defect));
  }
  auto zip = std::make_shared<zip::Reader>(std::move(*opened));
  auto jobs = jobs_of(zip->members());
  std::vector<Input> inputs;
  for (const auto& member : zip->members()) {
    if (member.is_directory || !is_log_name(member.name) || repeats_a_job(member.name, jobs)) continue;
    if (stem(member.name) == "system") continue; // what the runner says about itself
    inputs.push_back({path + "!" + member.name, stem(member.name), member.size, [zip, &member](const Block& block) {
                        return zip->read(member, [&](std::span<const std::byte> bytes) -> Result<void> {
                          block(chars(bytes));
                          return {};
                        });
                      }});
  }
  if (inputs.empty()) return no_log(path, "no .txt or .log file is in it");
  return inputs;
}

Result<std::vector<Input>> directory_inputs(const std::string& path) {
  TRY(auto entries, sys::list_tree(path));
  std::vector<Input> inputs;
  for (const auto& entry : entries)
    if (entry.type == sys::EntryType::file && is_log_name(entry.path))
      inputs.push_back(file_input(path + "/" + entry.path, stem(entry.path), entry.size));
  if (inputs.empty()) return no_log(path, "no .txt or .log file is below it");
  return inputs;
}

Result<bool> is_zip(const std::string& path) {
  TRY(auto file, sys::File::open_read(path));
  std::byte head[4]{};
  TRY(auto count, file.read_at(0, head), "while reading " + path);
  auto text = chars(head);
  return count == 4 && (text == "PK\x03\x04" || text == std::string_view("PK\x05\x06", 4));
}
} // namespace

Result<std::vector<Input>> find_inputs(const std::string& named, Findings& findings) {
  auto path = named, label = std::string();
  if (auto equals = named.find('='); equals != named.npos && equals > 0 && !sys::exists(named)) {
    label = named.substr(0, equals);
    path = named.substr(equals + 1);
  }
  std::vector<Input> inputs;
  if (sys::is_directory(path)) {
    TRY(inputs, directory_inputs(path));
  } else {
    TRY(auto zipped, is_zip(path));
    if (zipped) {
      TRY(inputs, zip_inputs(path, findings));
    } else {
      TRY(auto file, sys::File::open_read(path));
      TRY(auto size, file.size());
      inputs.push_back(file_input(path, stem(path), size));
    }
  }
  if (inputs.size() > k_inputs_max) return no_log(path, fmt::format("more than {} logs", k_inputs_max));
  if (!label.empty())
    for (auto& input : inputs) input.variant = inputs.size() == 1 ? label : label + " " + input.variant;
  return inputs;
}

Result<void> read_lines(const Input& input, const std::function<void(const Line&)>& take) {
  LineSplitter splitter(take);
  TRY_DO(input.read([&](std::string_view block) { splitter.feed(block); }));
  splitter.finish();
  return {};
}

} // namespace quarry::buildlog
