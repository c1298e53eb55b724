// METADATA of a wheel wherever it is, by its last bytes.
#include "cli/artifacts.hpp"
#include "cli/commands.hpp"
#include "cli/far_file.hpp"
#include "cli/records.hpp"

#include "base/units.hpp"
#include "sys/path.hpp"
#include "wheel/look.hpp"
#include <atomic>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {

/// How much is read of a file on this machine; a store reached over a network counts by itself, since it reads ahead.
class CountedSource final : public content::Source {
public:
  explicit CountedSource(content::Rope rope) : rope_(std::move(rope)) {}
  std::uint64_t size() const override { return rope_.size(); }
  Result<void> read(std::uint64_t offset, std::span<std::byte> into) const override {
    ++reads_, bytes_ += into.size();
    return rope_.read(offset, into);
  }
  std::uint64_t reads() const { return reads_; }
  std::uint64_t bytes() const { return bytes_; }

private:
  content::Rope rope_;
  mutable std::atomic<std::uint64_t> reads_ = 0, bytes_ = 0;
};

struct Opened {
  std::string file_name, place; ///< as it is shown
  std::unique_ptr<store::ObjectStore> remote;
  std::shared_ptr<const CountedSource> counted;
  content::Rope rope;
};

Result<Opened> open_wheel(const Context& context, const Arguments& arguments) {
  const auto& operand = arguments.operands.at(0);
  auto store = arguments.find("--store");
  Opened opened;
  if (store || is_remote_place(operand)) {
    TRY(auto file, store ? open_in_store(context, *store, operand) : open_far_file(context, operand));
    opened = {std::move(file.file_name), std::move(file.place), std::move(file.store), nullptr, std::move(file.bytes)};
    if (is_remote_place(store.value_or(operand))) return opened;
  } else {
    TRY(auto named, file_operand(context, operand));
    opened.file_name = path::basename(named.place);
    opened.place = named.place;
    TRY(opened.rope, content::Rope::file(opened.place));
  }
  opened.counted = std::make_shared<CountedSource>(std::move(opened.rope));
  opened.rope = content::Rope::of(opened.counted);
  return opened;
}

Json metadata_json(const dist::Metadata& m) {
  Json json{{"metadata_version", m.metadata_version},
            {"name", m.name},
            {"version", m.version},
            {"summary", m.summary},
            {"requires_python", m.requires_python},
            {"requires_dist", m.requires_dist},
            {"provides_extra", m.provides_extra},
            {"license_expression", m.license_expression},
            {"license_files", m.license_files},
            {"classifiers", m.classifiers},
            {"keywords", m.keywords},
            {"dynamic", m.dynamic},
            {"author", m.author},
            {"author_email", m.author_email},
            {"home_page", m.home_page},
            {"description_content_type", m.description_content_type},
            {"description", m.description}};
  json["project_urls"] = Json::array();
  for (const auto& [label, url] : m.project_urls) json["project_urls"].push_back({{"label", label}, {"url", url}});
  json["other"] = Json::array();
  for (const auto& [name, value] : m.other) json["other"].push_back({{"name", name}, {"value", value}});
  return json;
}

struct Cost {
  std::uint64_t bytes, requests;
};
Cost cost_of(const Opened& opened) {
  if (opened.counted) return {opened.counted->bytes(), opened.counted->reads()};
  auto counters = opened.remote->counters();
  return {counters.bytes_read, counters.heads + counters.gets + counters.ranges};
}

Result<int> run_metadata(Context& context, const Arguments& arguments) {
  TRY(auto opened, open_wheel(context, arguments));
  TRY(auto look, wheel::look_at_metadata(opened.rope, opened.file_name), "while looking at " + opened.place);
  auto cost = cost_of(opened);
  context.out.data(look.text);
  context.out.note(fmt::format("read {} of {} in {}", units::bytes(cost.bytes), units::bytes(opened.rope.size()),
                               units::things(cost.requests, opened.counted ? "read" : "request")));
  context.out.document({{"file", opened.place},
                        {"project", look.name.project.str()},
                        {"version", look.name.version.str()},
                        {"size", opened.rope.size()},
                        {"bytes_read", cost.bytes},
                        {"requests", cost.requests},
                        {"metadata", metadata_json(look.metadata)}});
  return 0;
}

} // namespace

Command wheel_metadata_command() {
  return {.path = {"wheel", "metadata"},
          .summary = "show a wheel's METADATA, without downloading a remote wheel",
          .description =
              "Prints METADATA as it is in the wheel. From a wheel on a server it reads only the end, the rest of the "
              "zip directory (16 MiB at most) and the member: less than 128 KiB beside the directory, however large "
              "the wheel, when METADATA is below 64 KiB.\n\n"
              "It is a look, not `quarry wheel verify`: checked are the zip's end, METADATA's headers, sizes and CRC, "
              "and that project and version are those of the file name. RECORD and all other members are not read. An "
              "object that changes in between is refused, by its ETag or its time.",
          .operands = {{"WHEEL", "a file, `s3://BUCKET/KEY`, `https://HOST/PATH`, or with `--store` a key in it"}},
          .flags = {{.name = "--store",
                     .value = "LOCATOR",
                     .help = "where WHEEL is a key: file:PATH, s3://BUCKET/PREFIX, https://…"}},
          .examples = {{"quarry wheel metadata s3://bucket/v2/torch-2.9.0-cp312-cp312-linux_x86_64.whl",
                        "what a wheel in a bucket requires"},
                       {"quarry wheel metadata https://host/torch-2.9.0-cp312-cp312-linux_x86_64.whl --json | jq "
                        "-r '.metadata.requires_dist[]'",
                        "its requirements, one a line"}},
          .exit_codes = {{1, "METADATA is missing, or of another project or version than the file name"},
                         {2, "the file's name is not a wheel's"},
                         {3, "the file does not exist"},
                         {5, "the server cannot be reached"},
                         {6, "the file is not a zip archive, is cut off, or changed while it was read"}},
          .schema = "quarry.wheel-metadata/1",
          .run = run_metadata};
}

} // namespace quarry::cli
