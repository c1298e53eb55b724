#include "buildlog/input.hpp"

#include "base/text.hpp"
#include "buildlog/variants.hpp"
#include "content/rope.hpp"
#include "sys/clock.hpp"
#include "sys/file.hpp"
#include "sys/stream.hpp"
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

/// A job that did not run, or a pipe from a command that failed, must not look like a log without a finding.
Unexpected empty_log(const std::string& path, std::size_t logs) {
  if (path == "-")
    return fail(ErrorKind::invalid_argument, "X502", "standard input: it is empty",
                "run the command before the pipe alone and look at its error");
  return fail(ErrorKind::invalid_argument, "X502",
              fmt::format("{}: {}", path, logs == 1 ? "it is empty" : "all its logs are empty"),
              "look at what should have written it");
}

struct Range {
  std::uint64_t begin = 0, end = UINT64_MAX;
};
/// Bytes that can be read again.
using Reading = std::function<Result<void>(Range, const Block&)>;

Result<void> read_file_blocks(const std::string& path, Range range, const Block& block) {
  TRY(auto file, sys::File::open_read(path), "while reading " + path);
  std::vector<std::byte> buffer(k_block_bytes);
  for (auto offset = range.begin; offset < range.end;) {
    TRY_DO(sys::check_interrupted());
    TRY(auto count, file.read_at(offset, buffer), "while reading " + path);
    if (count == 0) return {};
    block(chars(std::span(buffer).first(std::min<std::uint64_t>(count, range.end - offset))));
    offset += count;
  }
  return {};
}

Reading reading_of_file(const std::string& path) {
  return [path](Range range, const Block& block) { return read_file_blocks(path, range, block); };
}

Reading reading_of_text(std::string text) {
  auto kept = std::make_shared<const std::string>(std::move(text));
  return [kept](Range range, const Block& block) -> Result<void> {
    auto end = std::min<std::uint64_t>(range.end, kept->size());
    for (auto at = range.begin; at < end; at += k_block_bytes)
      block(std::string_view(*kept).substr(at, std::min<std::uint64_t>(k_block_bytes, end - at)));
    return {};
  };
}

Input file_input(const std::string& path, std::string variant, std::uint64_t size) {
  return {
      .name = path,
      .variant = std::move(variant),
      .size = size,
      .read = [path](const Block& block) { return read_file_blocks(path, {}, block); },
  };
}

/// The lines of one job in a log of several.
struct JobRange {
  std::string job;
  Range range;
  std::uint64_t lines_before = 0;
};

/// Where the jobs of `gh run view --log` begin. A line without a job belongs to the one before.
class JobRanges {
public:
  void take(std::string_view block) {
    while (!block.empty()) {
      auto size = std::min(block.find('\n'), block.size() - 1) + 1;
      constexpr std::size_t k_prefix_max = 1024; // names of jobs have at most 100 characters, in a matrix more
      if (head_.size() < k_prefix_max) head_ += block.substr(0, std::min(size, k_prefix_max - head_.size()));
      at_ += size;
      if (block[size - 1] == '\n') end_line();
      block.remove_prefix(size);
    }
  }

  std::vector<JobRange> finish() {
    if (!head_.empty()) end_line();
    if (!found_.empty()) found_.back().range.end = at_;
    return std::move(found_);
  }

private:
  void end_line() {
    auto job = job_of_line(head_);
    if (!job.empty() && (found_.empty() || found_.back().job != job) && found_.size() <= k_inputs_max) {
      auto begin = found_.empty() ? 0 : line_begin_;
      if (!found_.empty()) found_.back().range.end = begin;
      found_.push_back({std::string(job), {begin, begin}, found_.empty() ? 0 : lines_});
    }
    ++lines_;
    line_begin_ = at_;
    head_.clear();
  }
  std::vector<JobRange> found_;
  std::string head_;
  std::uint64_t at_ = 0, line_begin_ = 0, lines_ = 0;
};

/// A UTF-16 text begins with its byte order mark.
bool is_utf16(std::string_view head) { return head.starts_with("\xFF\xFE") || head.starts_with("\xFE\xFF"); }

/// Text has hardly any control characters but those of lines, tabs and escapes; what is compressed has a tenth.
bool is_text(std::string_view head) {
  constexpr std::size_t k_controls_min = 16, k_share = 20;
  auto controls = static_cast<std::size_t>(std::ranges::count_if(head, [](char c) {
    auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && std::string_view("\t\n\v\f\r\b\x1B").find(c) == std::string_view::npos) || byte == 0x7F;
  }));
  return controls < k_controls_min || controls < head.size() / k_share;
}

/// One input, or one for each job if the first line has a job.
Result<std::vector<Input>> plain_inputs(Input whole, const Reading& reading, Findings& findings) {
  constexpr std::uint64_t k_head = 64u << 10;
  std::string head;
  TRY_DO(reading({0, k_head}, [&](std::string_view block) { head += block; }));
  if (is_utf16(head))
    findings.push_back({"X519", Severity::warning, whole.name, "the log is UTF-16, and its lines are read as bytes",
                        "convert it: `iconv -f UTF-16 -t UTF-8`; PowerShell 5 writes UTF-16 by `>`"});
  else if (!is_text(head))
    return no_log(whole.name, head.starts_with("\x1F\x8B")
                                  ? "it is compressed: unpack it with `gunzip`"
                                  : "it is not text: a twentieth of it or more is control characters");
  if (job_of_line(std::string_view(head).substr(0, head.find('\n'))).empty())
    return std::vector<Input>{std::move(whole)};
  JobRanges ranges;
  TRY_DO(reading({}, [&](std::string_view block) { ranges.take(block); }));
  std::vector<Input> inputs;
  for (auto& one : ranges.finish())
    inputs.push_back({
        .name = whole.name,
        .variant = std::move(one.job),
        .size = one.range.end - one.range.begin,
        .read = [reading, range = one.range](const Block& block) { return reading(range, block); },
        .lines_before = one.lines_before,
    });
  return inputs;
}

Result<std::vector<Input>> stream_inputs(const std::string& path, Findings& findings) {
  TRY(auto text, sys::read_stream(path, k_stream_bytes_max));
  const std::string name = path == "-" ? "standard input" : path;
  if (text.starts_with("PK\x03\x04")) return no_log(name, "a zip cannot be read from a pipe");
  auto size = text.size();
  auto reading = reading_of_text(std::move(text));
  Input whole{
      .name = name,
      .variant = path == "-" ? "stdin" : stem(path),
      .size = size,
      .read = [reading](const Block& block) { return reading({}, block); },
  };
  return plain_inputs(std::move(whole), reading, findings);
}

/// What follows the number in "3_build"; empty if it does not begin with one.
std::string_view behind_number(std::string_view name) {
  auto digits = name.find_first_not_of("0123456789");
  bool numbered = digits != name.npos && digits > 0 && name[digits] == '_';
  return numbered ? name.substr(digits + 1) : std::string_view();
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
    jobs.insert(std::string(behind_number(job).empty() ? std::string_view(job) : behind_number(job)));
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
    defect.fix =
        "its logs are read all the same, and nothing is unpacked; download the zip again if you did not make it";
    findings.push_back(std::move(defect));
  }
  auto zip = std::make_shared<zip::Reader>(std::move(*opened));
  auto jobs = jobs_of(zip->members());
  std::vector<Input> inputs;
  for (const auto& member : zip->members()) {
    if (member.is_directory || !is_log_name(member.name) || repeats_a_job(member.name, jobs)) continue;
    if (stem(member.name) == "system") continue; // what the runner says about itself
    auto read = [zip, &member](const Block& block) {
      return zip->read(member, [&](std::span<const std::byte> bytes) -> Result<void> {
        block(chars(bytes));
        return {};
      });
    };
    inputs.push_back({
        .name = path + "!" + member.name,
        .variant = stem(member.name),
        .size = member.size,
        .read = std::move(read),
    });
  }
  if (inputs.empty()) return no_log(path, "no .txt or .log file is in it");
  return inputs;
}

/// A run's zip that was unpacked, perhaps below the directory. Other logs may be called like a directory beside them,
/// so that both the log of the job and that of the step must have their numbers.
class UnpackedRun {
public:
  explicit UnpackedRun(const std::vector<sys::TreeEntry>& entries) {
    for (const auto& entry : entries) {
      auto name = stem(entry.path);
      if (auto job = behind_number(name); entry.path.ends_with(".txt") && !job.empty())
        jobs_.insert(above(entry.path) + std::string(job) + "/");
    }
  }
  bool repeats_a_job(const std::string& path) const {
    bool step = path.ends_with(".txt") && (stem(path) == "system" || !behind_number(stem(path)).empty());
    return step && jobs_.contains(above(path));
  }

private:
  static std::string above(const std::string& path) { return path.substr(0, path.rfind('/') + 1); } // npos + 1 is 0
  std::set<std::string> jobs_; ///< the directories of their steps
};

Result<std::vector<Input>> directory_inputs(const std::string& path) {
  TRY(auto entries, sys::list_tree(path));
  std::vector<Input> inputs;
  UnpackedRun run(entries);
  for (const auto& entry : entries)
    if (entry.type == sys::EntryType::file && is_log_name(entry.path) && !run.repeats_a_job(entry.path))
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
  if (path.empty())
    return fail(ErrorKind::invalid_argument, "X502", fmt::format("\"{}\" does not name a file", named),
                "write the path of a log, or LABEL=FILE");
  std::vector<Input> inputs;
  if (sys::is_stream(path)) {
    TRY(inputs, stream_inputs(path, findings));
  } else if (sys::is_directory(path)) {
    TRY(inputs, directory_inputs(path));
  } else {
    TRY(auto zipped, is_zip(path));
    if (zipped) {
      TRY(inputs, zip_inputs(path, findings));
    } else {
      TRY(auto file, sys::File::open_read(path));
      TRY(auto size, file.size());
      if (path.ends_with(".zip"))
        findings.push_back({"X518", Severity::warning, path, "the file is named like a zip and is not one",
                            "download it again; it is read as a log"});
      TRY(inputs, plain_inputs(file_input(path, stem(path), size), reading_of_file(path), findings));
    }
  }
  if (std::all_of(inputs.begin(), inputs.end(), [](const Input& input) { return input.size == 0; }))
    return empty_log(path, inputs.size());
  if (inputs.size() > k_inputs_max) return no_log(path, fmt::format("more than {} logs", k_inputs_max));
  tell_apart(inputs);
  for (auto& input : inputs) {
    input.labelled = !label.empty();
    if (input.labelled) input.variant = inputs.size() == 1 ? label : label + " " + input.variant;
  }
  return inputs;
}

void tell_apart(std::vector<Input>& inputs) {
  std::vector<VariantName> names;
  for (const auto& input : inputs) {
    auto path = input.name;
    if (auto zip = text::lower(path).find(".zip!"); zip != path.npos) path[zip + 4] = '/';
    names.push_back({path.substr(0, path.rfind('/') + 1), input.variant, input.labelled}); // npos + 1 is 0
  }
  tell_apart(names);
  for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i].variant = std::move(names[i].name);
}

Result<void> read_lines(const Input& input, const std::function<void(const Line&)>& take) {
  LineSplitter splitter([&](const Line& line) {
    if (input.lines_before == 0) return take(line);
    auto numbered = line;
    numbered.number += input.lines_before;
    take(numbered);
  });
  TRY_DO(input.read([&](std::string_view block) { splitter.feed(block); }));
  splitter.finish();
  return {};
}

} // namespace quarry::buildlog
