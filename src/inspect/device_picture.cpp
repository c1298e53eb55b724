#include "inspect/device_picture.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "inspect/treemap.hpp"
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/core.h>
#include <map>

namespace quarry::inspect {

namespace {
constexpr double k_width = 1200, k_map_height = 560, k_margin = 16, k_title = 52, k_caption = 18, k_line = 22;
constexpr std::size_t k_files_max = 40; // more boxes cannot be told apart
constexpr double k_letter = 6.6;        // width of a letter at 11 pixels, on the safe side

constexpr std::string_view k_style = R"svg(<style>
.device { font-family: system-ui, sans-serif; max-width: 100%; height: auto; }
.device .back { fill: #ffffff; } .device text { fill: #1f2328; font-size: 12px; }
.device .title { font-size: 17px; font-weight: 600; } .device .small { font-size: 11px; }
.device .soft { fill: #59636e; } .device .file { fill: #eff2f5; stroke: #818b98; }
.device .wheel { font-size: 12px; font-weight: 600; } .device .frame { fill: #d1d9e0; stroke: #59636e; }
.device .code { stroke: #ffffff; stroke-width: 1; } .device .on { fill: #1f2328; font-size: 11px; }
.device .hatch { stroke: #1f2328; stroke-width: 1.2; opacity: 0.45; }
@media (prefers-color-scheme: dark) {
.device .back { fill: #0d1117; } .device text { fill: #f0f6fc; } .device .soft { fill: #9198a1; }
.device .file { fill: #151b23; stroke: #656c76; }
.device .frame { fill: #2a313c; stroke: #9198a1; } .device .code { stroke: #0d1117; }
.device .on { fill: #1f2328; }
}
</style>
<defs><pattern id="extra" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
<line class="hatch" x1="0" y1="0" x2="0" y2="7"/></pattern></defs>
)svg";

// One hue for each generation of GPUs, in four shades for its targets. All are light enough for dark letters in both
// colour schemes.
using Shades = std::array<std::string_view, 4>;
struct Generation {
  std::string_view prefix; ///< of targets; the first that fits counts
  Shades shades;
};
constexpr Shades k_compute_shades{"#8fd3cf", "#b5e5d8", "#74c0b6", "#cdeee5"};
constexpr Generation k_generations[] = {
    {"gfx908", k_compute_shades},
    {"gfx90a", k_compute_shades},
    {"gfx94", k_compute_shades},
    {"gfx95", k_compute_shades},
    {"gfx9-4", k_compute_shades},
    {"gfx9", {"#9ecae9", "#bfdcf2", "#86b4dc", "#d3e6f6"}},
    {"gfx10", {"#bccc7f", "#d2df9f", "#a5b968", "#e0e9bb"}},
    {"gfx11", {"#ffbf79", "#ffd6a6", "#f2aa66", "#ffe5c6"}},
    {"gfx12", {"#c9b6e4", "#ddd1f1", "#b59dd7", "#e9e1f6"}},
    {"gfx13", {"#f5b6d9", "#f9d0e6", "#eb9eca", "#fbe2ef"}},
    {"gfx", {"#e3b49a", "#eecdbb", "#d39e83", "#f5dfd3"}},
    {"", {"#f4dd7a", "#f9eaa9", "#e6cb5c", "#fcf3cb"}},
};
constexpr std::string_view k_not_asked = "#dcdfe3";

struct Slice {
  std::string target;
  std::uint64_t count = 0, bytes = 0;
};
/// A file, or all files beyond the largest ones.
struct Block {
  std::string wheel, name; ///< the wheel's name without a directory, or empty; the path in it
  std::uint64_t bytes = 0;
  std::vector<Slice> slices; ///< the largest first
};
/// A wheel.
struct Frame {
  std::string name;
  std::uint64_t bytes = 0;
  std::vector<Block> blocks;
};
struct Look {
  std::string_view color;
  bool asked = true;
};
using Looks = std::map<std::string, Look>;

using Sums = std::map<std::string, Slice>;

void add(Sums& sums, const DeviceFile& file) {
  for (const auto& object : file.contents.objects) {
    auto target = object.target.str();
    auto& slice = sums.try_emplace(target, Slice{target}).first->second;
    ++slice.count;
    slice.bytes += object.bytes;
  }
}

Block group_of(std::string path, const Sums& sums) {
  auto inside = path.find(".whl!");
  Block group{{}, std::move(path), 0, {}};
  if (inside != std::string::npos) {
    auto end = inside + 4, begin = group.name.rfind('/', inside) + 1; // npos + 1 is 0
    group.wheel = group.name.substr(begin, end - begin);
    group.name.erase(0, end + 1);
  }
  for (const auto& [target, slice] : sums) {
    group.bytes += slice.bytes;
    if (slice.bytes > 0) group.slices.push_back(slice);
  }
  std::ranges::stable_sort(group.slices, [](const Slice& a, const Slice& b) { return a.bytes > b.bytes; });
  return group;
}

std::vector<Block> groups_of(const DeviceCode& code) {
  std::vector<std::pair<Block, const DeviceFile*>> files;
  for (const auto& file : code.files) {
    Sums sums;
    add(sums, file);
    if (auto group = group_of(file.path, sums); group.bytes > 0) files.emplace_back(std::move(group), &file);
  }
  std::ranges::stable_sort(files, [](const auto& a, const auto& b) { return a.first.bytes > b.first.bytes; });
  std::vector<Block> groups;
  Sums rest;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (i < k_files_max)
      groups.push_back(std::move(files[i].first));
    else
      add(rest, *files[i].second);
  }
  if (!rest.empty()) groups.push_back(group_of(fmt::format("{} more files", files.size() - k_files_max), rest));
  std::ranges::stable_sort(groups, [](const Block& a, const Block& b) { return a.bytes > b.bytes; });
  return groups;
}

/// Wheel by wheel, the largest first. Files outside of wheels share a frame without a name.
std::vector<Frame> frames_of(const std::vector<Block>& groups) {
  std::map<std::string, Frame> frames;
  for (const auto& group : groups) {
    auto& frame = frames.try_emplace(group.wheel, Frame{group.wheel, 0, {}}).first->second;
    frame.bytes += group.bytes;
    frame.blocks.push_back(group);
  }
  std::vector<Frame> out;
  for (auto& [name, frame] : frames) out.push_back(std::move(frame));
  std::ranges::stable_sort(out, [](const Frame& a, const Frame& b) { return a.bytes > b.bytes; });
  return out;
}

Looks looks_of(const Judgement& judgement) {
  Looks looks;
  std::map<std::string_view, std::size_t> seen; // targets so far, by the first shade of their hue
  for (const auto& sum : judgement.targets) {
    const auto* generation =
        std::ranges::find_if(k_generations, [&](const Generation& one) { return sum.target.starts_with(one.prefix); });
    const auto& shades = generation->shades;
    if (sum.asked) looks[sum.target] = {shades[seen[shades[0]]++ % shades.size()], true};
    if (!sum.asked) looks[sum.target] = {k_not_asked, false};
  }
  return looks;
}

template <class Part> std::vector<Box> boxes_of(const std::vector<Part>& parts, Box area) {
  std::vector<double> values;
  for (const auto& part : parts) values.push_back(static_cast<double>(part.bytes));
  return treemap(values, area);
}

std::string rectangle(std::string_view attributes, const Box& box) {
  return fmt::format("<rect {} x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>", attributes, box.x,
                     box.y, box.width, box.height);
}

std::string words(std::string_view kind, double x, double y, std::string_view said) {
  return fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", kind, x, y, text::html_escape(said));
}

/// The end of a path, as much as fits: its last part says most.
std::string fitting(std::string_view path, double width) {
  auto letters = static_cast<std::size_t>(std::max(0.0, width / k_letter));
  if (path.size() <= letters) return std::string(path);
  return letters < 8 ? std::string() : "…" + std::string(path.substr(path.size() - (letters - 1)));
}

/// The beginning of a wheel's name, which says the project.
std::string fitting_front(std::string_view name, double width) {
  auto letters = static_cast<std::size_t>(std::max(0.0, width / (1.25 * k_letter))); // bold and larger
  if (name.size() <= letters) return std::string(name);
  return letters < 8 ? std::string() : std::string(name.substr(0, letters - 1)) + "…";
}

std::string full_name(const Block& group) { return group.wheel.empty() ? group.name : group.wheel + ": " + group.name; }

std::string slice_svg(const Slice& slice, const Block& group, const Box& box, const Look& look) {
  auto out = fmt::format("<g><title>{}: {}, {}, {}{}</title>", text::html_escape(full_name(group)),
                         text::html_escape(slice.target), units::things(slice.count, "code object"),
                         units::bytes(slice.bytes), look.asked ? "" : ", not asked for");
  out += rectangle(fmt::format("class=\"code\" fill=\"{}\"", look.color), box);
  if (!look.asked) out += rectangle("fill=\"url(#extra)\"", box);
  if (auto name = fitting(slice.target, box.width - 8); name == slice.target && box.height > 18)
    out += words("on", box.x + 4, box.y + 14, name);
  auto size = units::bytes(slice.bytes);
  if (fitting(size, box.width - 8) == size && box.height > 34) out += words("on", box.x + 4, box.y + 28, size);
  return out + "</g>\n";
}

std::string group_svg(const Block& group, const Box& box, const Looks& looks) {
  auto out = rectangle("class=\"file\"", box) + "\n";
  bool titled = box.height > 3 * k_caption && box.width > 60;
  Box inside{box.x + 1, box.y + 1, std::max(0.0, box.width - 2), std::max(0.0, box.height - 2)};
  if (titled) {
    out += words("small", box.x + 4, box.y + 13, fitting(group.name, box.width - 8)) + "\n";
    inside.y += k_caption, inside.height -= k_caption;
  }
  auto boxes = boxes_of(group.slices, inside);
  for (std::size_t i = 0; i < boxes.size(); ++i)
    out += slice_svg(group.slices[i], group, boxes[i], looks.at(group.slices[i].target));
  return out;
}

std::string groups_svg(const std::vector<Block>& groups, const Box& area, const Looks& looks) {
  std::string out;
  auto boxes = boxes_of(groups, area);
  for (std::size_t i = 0; i < groups.size(); ++i) out += group_svg(groups[i], boxes[i], looks);
  return out;
}

std::string frame_svg(const Frame& frame, const Box& box, const Looks& looks) {
  auto out = rectangle("class=\"frame\"", box) + "\n";
  Box inside{box.x + 2, box.y + 2, std::max(0.0, box.width - 4), std::max(0.0, box.height - 4)};
  if (box.height > 4 * k_caption && box.width > 60) {
    auto name = frame.name.empty() ? std::string("other files") : frame.name;
    out += words("wheel", box.x + 4, box.y + 14, fitting_front(name, box.width - 8)) + "\n";
    inside.y += k_caption, inside.height -= k_caption;
  }
  return out + groups_svg(frame.blocks, inside, looks);
}

std::uint64_t bytes_in(const Judgement& judgement, bool only_extra) {
  std::uint64_t bytes = 0;
  for (const auto& sum : judgement.targets) bytes += only_extra && sum.asked ? 0 : sum.bytes;
  return bytes;
}

std::string headline(const std::vector<Block>& groups, const std::vector<Frame>& frames, std::size_t files,
                     const Judgement& judgement) {
  auto where = files == 1 ? groups[0].name.substr(groups[0].name.rfind('/') + 1) : units::things(files, "file");
  auto wheels = std::ranges::count_if(frames, [](const Frame& frame) { return !frame.name.empty(); });
  if (frames.size() == 1 && wheels == 1) where += " of " + frames[0].name;
  if (frames.size() > 1 && wheels > 0) where += " of " + units::things(static_cast<std::size_t>(wheels), "wheel");
  return fmt::format("{} of device code for {} in {}", units::bytes(bytes_in(judgement, false)),
                     units::things(judgement.targets.size(), "target"), where);
}

std::size_t files_with_code(const DeviceCode& code) {
  auto has_bytes = [](const DeviceFile& file) {
    return std::ranges::any_of(file.contents.objects, [](const auto& object) { return object.bytes > 0; });
  };
  return static_cast<std::size_t>(std::ranges::count_if(code.files, has_bytes));
}

std::string subline(const Judgement& judgement, const Asked& asked) {
  if (asked.targets.empty()) return "bytes are those of the decompressed code";
  auto extra = bytes_in(judgement, true);
  auto out = fmt::format("asked for: {} ({})", text::first(asked.targets, 8), asked.family);
  if (extra > 0)
    out += fmt::format("; hatched: not asked for, {} ({})", units::bytes(extra),
                       units::percent(static_cast<double>(extra), static_cast<double>(bytes_in(judgement, false))));
  std::vector<std::string> missing;
  for (const auto& one : judgement.verdicts)
    if (one.verdict == Verdict::missing) missing.push_back(one.target);
  if (!missing.empty()) out += "; missing: " + text::first(missing, 8);
  return out;
}

std::string legend_svg(const Judgement& judgement, const Looks& looks, double top) {
  auto all = static_cast<double>(bytes_in(judgement, false));
  std::string out;
  for (std::size_t i = 0; i < judgement.targets.size(); ++i) {
    const auto& sum = judgement.targets[i];
    double x = k_margin + static_cast<double>(i % 2) * (k_width / 2), y = top + static_cast<double>(i / 2) * k_line;
    Box swatch{x, y - 11, 14, 14};
    out += rectangle(fmt::format("class=\"code\" fill=\"{}\"", looks.at(sum.target).color), swatch);
    if (!sum.asked) out += rectangle("fill=\"url(#extra)\"", swatch);
    out += words("name", x + 22, y, sum.target);
    out +=
        words("soft", x + 190, y,
              fmt::format("{}, {}, {}{}", units::bytes(sum.bytes), units::percent(static_cast<double>(sum.bytes), all),
                          units::things(sum.count, "code object"), sum.asked ? "" : ", not asked for")) +
        "\n";
  }
  return out;
}

constexpr std::string_view k_page_head = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Device code</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; margin: 1.5rem auto; max-width: 76rem; padding: 0 1rem; color: #1f2328; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; } caption { text-align: left; font-weight: 600; }
th, td { padding: 0.2rem 0.9rem 0.2rem 0; text-align: left; border-bottom: 1px solid #d1d9e0; }
.number { text-align: right; font-variant-numeric: tabular-nums; } .file { overflow-wrap: anywhere; }
@media (prefers-color-scheme: dark) { body { background: #0d1117; color: #f0f6fc; } th, td { border-color: #3d444d; } }
</style></head><body><h1>Device code</h1>
)";
} // namespace

std::string device_svg(const DeviceCode& code, const Judgement& judgement, const Asked& asked) {
  auto groups = groups_of(code);
  auto looks = looks_of(judgement);
  auto legend_lines = static_cast<double>((judgement.targets.size() + 1) / 2);
  auto height = k_title + k_map_height + k_margin + (legend_lines + 0.5) * k_line + k_margin;
  auto frames = frames_of(groups);
  auto title =
      groups.empty() ? std::string("no device code") : headline(groups, frames, files_with_code(code), judgement);
  auto out =
      fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"device\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
                  "viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\" aria-label=\"{2}\">\n",
                  k_width, height, text::html_escape(title));
  out += k_style;
  out += rectangle("class=\"back\"", {0, 0, k_width, height}) + "\n";
  out += words("title", k_margin, 24, title) + words("soft", k_margin, 43, subline(judgement, asked)) + "\n";
  Box map{k_margin, k_title, k_width - 2 * k_margin, k_map_height};
  auto boxes = boxes_of(frames, map);
  if (frames.size() == 1) out += groups_svg(groups, map, looks);
  for (std::size_t i = 0; frames.size() > 1 && i < frames.size(); ++i) out += frame_svg(frames[i], boxes[i], looks);
  return out + legend_svg(judgement, looks, k_title + k_map_height + k_margin + k_line) + "</svg>\n";
}

std::string device_html(const DeviceCode& code, const Judgement& judgement, const Asked& asked) {
  auto out = std::string(k_page_head) + device_svg(code, judgement, asked);
  if (!judgement.findings.empty()) out += "<h2>Findings</h2>\n<ul>\n";
  for (const auto& finding : judgement.findings)
    out += fmt::format("<li><strong>{}[{}]</strong> {}: {}</li>\n", to_string(finding.severity), finding.code,
                       text::html_escape(finding.place), text::html_escape(finding.message));
  if (!judgement.findings.empty()) out += "</ul>\n";
  out += "<div class=\"scroll\"><table><caption>Files and targets</caption>\n<tr><th>file</th><th>target</th><th "
         "class=\"number\">objects</th><th class=\"number\">bytes</th></tr>\n";
  for (const auto& group : groups_of(code))
    for (const auto& slice : group.slices)
      out += fmt::format("<tr><td class=\"file\">{}</td><td>{}</td><td class=\"number\">{}</td><td "
                         "class=\"number\">{}</td></tr>\n",
                         text::html_escape(full_name(group)), text::html_escape(slice.target),
                         units::count(slice.count), units::bytes(slice.bytes));
  return out + "</table></div></body></html>\n";
}

} // namespace quarry::inspect
