#include "inspect/device_code.hpp"

#include "content/cached.hpp"
#include "content/spool.hpp"
#include "inspect/sketch.hpp"
#include "names/entry_names.hpp"
#include "sys/clock.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "sys/tree.hpp"
#include "thread/pool.hpp"
#include "zip/reader.hpp"
#include <algorithm>
#include <array>
#include <fmt/core.h>
#include <functional>

namespace quarry::inspect {

namespace {
constexpr std::size_t k_head_bytes = 24; // what may_hold_code() looks at

/// A file to look at, and how.
struct Job {
  DeviceFile file;
  std::function<Result<gpu::Contents>(const std::string& path)> read;
};

/// Jobs, and which of them one thread does in their order: those of one far file, which comes fastest from front to
/// back.
struct Work {
  std::vector<Job> jobs;
  std::vector<std::size_t> starts; ///< the first job of each thread's share

  void add(Job job) {
    starts.push_back(jobs.size());
    jobs.push_back(std::move(job));
  }
  std::size_t end_of(std::size_t share) const { return share + 1 < starts.size() ? starts[share + 1] : jobs.size(); }
};

/// The contents of a file that does not begin like one with code.
gpu::Contents without_code(const std::string& path) {
  gpu::Contents contents;
  if (gpu::is_named_like_code(path)) contents.findings.push_back(gpu::no_code_in_file(path));
  return contents;
}

Result<gpu::Contents> read_rope(const content::Rope& rope, const std::string& path) {
  std::array<std::byte, k_head_bytes> head{};
  auto size = std::min<std::uint64_t>(head.size(), rope.size());
  TRY_DO(rope.read(0, std::span(head).first(size)), "while reading " + path);
  if (!gpu::may_hold_code({reinterpret_cast<const char*>(head.data()), size})) return without_code(path);
  return gpu::read_contents(rope, path);
}

// Members of wheels

/// False for an empty member, and for one whose first bytes begin nothing that holds code: it is not inflated further.
Result<bool> feed_member(const zip::Reader& zip, const zip::Member& member, Sketch& sketch) {
  bool stopped = false;
  auto done = zip.read(member, [&](std::span<const std::byte> chunk) -> Result<void> {
    auto head = std::string_view(reinterpret_cast<const char*>(chunk.data()), chunk.size());
    stopped = sketch.size() == 0 && !gpu::may_hold_code(head);
    if (stopped) return fail(ErrorKind::cancelled, "D006", "the rest of the member is not needed");
    sketch.feed(chunk);
    return {};
  });
  if (stopped) return false;
  TRY_DO(done);
  sketch.end_of_file();
  return sketch.size() > 0;
}

Result<content::Rope> spooled(const zip::Reader& zip, const zip::Member& member, const std::string& directory) {
  TRY(auto spool, content::Spool::create(directory));
  TRY_DO(zip.read(member, [&](std::span<const std::byte> chunk) { return spool->append(chunk); }));
  return content::Rope::of(spool);
}

Result<gpu::Contents> read_member(const zip::Reader& zip, const zip::Member& member, const std::string& path,
                                  const std::string& directory) {
  constexpr std::uint16_t k_stored = 0;
  if (member.method == k_stored) return read_rope(zip.archive().slice(member.data_offset, member.size), path);
  auto sketch = std::make_shared<Sketch>(member.size);
  TRY(auto wanted, feed_member(zip, member, *sketch));
  if (!wanted) return without_code(path);
  auto contents = gpu::read_contents(content::Rope::of(sketch), path);
  if (contents || contents.error().kind != ErrorKind::unavailable) return contents;
  TRY(auto rope, spooled(zip, member, directory));
  return gpu::read_contents(rope, path);
}

std::vector<Job> jobs_of_members(const std::shared_ptr<const zip::Reader>& zip, const std::string& path,
                                 const DeviceOptions& options) {
  std::vector<Job> jobs;
  for (const auto& member : zip->members()) {
    if (member.is_directory) continue;
    Job job{
        {fmt::format("{}!{}", path, names::printable(member.name)), member.size, {}, gpu::target_of_path(member.name)},
        {}};
    job.read = [zip, &member, directory = options.spool_directory](const std::string& name) {
      return read_member(*zip, member, name, directory);
    };
    jobs.push_back(std::move(job));
  }
  return jobs;
}

Result<std::vector<Job>> jobs_of_wheel(const content::Rope& rope, const std::string& path,
                                       const DeviceOptions& options) {
  Findings findings;
  auto opened = zip::Reader::open(rope, path, findings);
  if (!opened || has_errors(findings))
    return fail(Error::of(ErrorKind::corrupt, "G110", fmt::format("{} is not a sound zip archive", path))
                    .with_detail(findings.empty() ? "" : findings.front().message)
                    .with_hint("`quarry wheel verify` lists everything that is wrong with it"));
  return jobs_of_members(std::make_shared<const zip::Reader>(std::move(*opened)), path, options);
}

Result<void> add_wheel(const content::Rope& rope, const std::string& path, const DeviceOptions& options, Work& work) {
  TRY(auto jobs, jobs_of_wheel(rope, path, options));
  for (auto& job : jobs) work.add(std::move(job));
  return {};
}

Job job_of_file(const content::Rope& rope, const std::string& path) {
  return {{path, rope.size(), {}, gpu::target_of_path(path)},
          [rope](const std::string& name) { return read_rope(rope, name); }};
}

Result<void> add_far(const DeviceOperand& operand, const DeviceOptions& options, Work& work) {
  TRY(auto cached, content::Cached::create(*operand.bytes, options.spool_directory));
  auto rope = content::Rope::of(cached);
  // A read that failed looks like damage to readers of archives and libraries.
  auto came = [cached, path = operand.path]() -> Result<void> {
    if (auto failure = cached->failure()) return fail(std::move(*failure).with_context("while reading " + path));
    return {};
  };
  auto jobs = operand.path.ends_with(".whl") ? jobs_of_wheel(rope, operand.path, options)
                                             : std::vector<Job>{job_of_file(rope, operand.path)};
  TRY_DO(came());
  if (!jobs) return fail(std::move(jobs).error());
  if (!jobs->empty()) work.starts.push_back(work.jobs.size());
  for (auto& job : *jobs) {
    auto read = [look = std::move(job.read), came](const std::string& name) -> Result<gpu::Contents> {
      auto contents = look(name);
      TRY_DO(came());
      return contents;
    };
    work.jobs.push_back({std::move(job.file), std::move(read)});
  }
  return {};
}

// Files and directories

Result<void> add_wheel_file(const std::string& path, const DeviceOptions& options, Work& work) {
  TRY(auto rope, content::Rope::file(path));
  return add_wheel(rope, path, options, work);
}

void add_file(const std::string& path, std::uint64_t size, Work& work) {
  work.add({{path, size, {}, gpu::target_of_path(path)},
            [size](const std::string& name) { return read_rope(content::Rope::file(name, size), name); }});
}

Result<void> add_directory(const std::string& directory, const DeviceOptions& options, Work& work) {
  TRY(auto entries, sys::list_tree(directory));
  for (const auto& entry : entries) {
    auto path = path::join(directory, entry.path);
    if (entry.type != sys::EntryType::file) continue;
    if (path.ends_with(".whl"))
      TRY_DO(add_wheel_file(path, options, work));
    else
      add_file(path, entry.size, work);
  }
  return {};
}

Result<void> add_operand(const DeviceOperand& operand, const DeviceOptions& options, Work& work) {
  if (operand.zip) {
    for (auto& job : jobs_of_members(operand.zip, operand.path, options)) work.add(std::move(job));
    return {};
  }
  if (operand.far) return add_far(operand, options, work);
  if (!operand.bytes && sys::is_directory(operand.path)) return add_directory(operand.path, options, work);
  auto rope = operand.bytes ? Result<content::Rope>(*operand.bytes) : content::Rope::file(operand.path);
  if (!rope) return fail(std::move(rope).error());
  if (operand.path.ends_with(".whl")) return add_wheel(*rope, operand.path, options, work);
  work.add(job_of_file(*rope, operand.path));
  return {};
}

} // namespace

bool is_worth_listing(const DeviceFile& file) {
  const auto& contents = file.contents;
  return !contents.objects.empty() || !contents.findings.empty() || contents.embedded || contents.split || file.named;
}

Result<DeviceCode> list_device_code(const std::vector<DeviceOperand>& operands, const DeviceOptions& options) {
  Work work;
  for (const auto& operand : operands) TRY_DO(add_operand(operand, options, work));
  TRY_DO(parallel_for(work.starts.size(), options.workers, [&](std::size_t share) -> Result<void> {
    for (auto i = work.starts[share]; i < work.end_of(share); ++i) {
      TRY_DO(sys::check_interrupted());
      auto& job = work.jobs[i];
      TRY(job.file.contents, job.read(job.file.path));
    }
    return {};
  }));
  DeviceCode code;
  code.looked_at = work.jobs.size();
  for (auto& job : work.jobs)
    if (is_worth_listing(job.file)) code.files.push_back(std::move(job.file));
  return code;
}

} // namespace quarry::inspect
