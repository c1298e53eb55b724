#include "buildlog/timeline_page.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include <algorithm>
#include <array>
#include <fmt/core.h>

namespace quarry::buildlog {

namespace {
constexpr double k_width = 960, k_bar = 26; // pixels of the drawing
constexpr std::string_view k_head = R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Build times</title>
<style>
:root { color-scheme: light dark; --line: #8884; }
body { font: 15px/1.45 system-ui, sans-serif; max-width: 980px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.05rem; margin: 2rem 0 .5rem; }
svg { width: 100%; height: auto; display: block; }
text { font: 11px system-ui, sans-serif; fill: currentColor; }
table { border-collapse: collapse; margin-top: .75rem; }
td, th { padding: .15rem .9rem .15rem 0; text-align: left; border-bottom: 1px solid var(--line); }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
i { display: inline-block; width: .8em; height: .8em; margin-right: .4em; border-radius: 2px; }
</style>
</head>
<body>
<h1>Build times</h1>
)";

/// Told apart by people who see few colours: Okabe and Ito, 2008.
constexpr std::array<std::string_view, 8> k_colors = {"#0072B2", "#E69F00", "#009E73", "#CC79A7",
                                                      "#56B4E9", "#D55E00", "#B8A800", "#666666"};

class Page {
public:
  explicit Page(const std::vector<TimeReport>& reports) : reports_(reports) {
    for (const auto& report : reports) {
      longest_ = std::max(longest_, report.total);
      for (const auto& phase : report.phases)
        if (std::find(names_.begin(), names_.end(), phase.name) == names_.end()) names_.push_back(phase.name);
    }
  }

  std::string write(const std::vector<Saving>& savings) {
    std::string html(k_head);
    for (const auto& report : reports_) html += section(report);
    if (!savings.empty()) html += what_if(savings);
    return html + "</body>\n</html>\n";
  }

private:
  std::string_view color(const std::string& name) const {
    auto at = static_cast<std::size_t>(std::find(names_.begin(), names_.end(), name) - names_.begin());
    return k_colors[at % k_colors.size()];
  }
  double x(double seconds) const { return longest_ > 0 ? seconds / longest_ * k_width : 0; }

  std::string section(const TimeReport& report) const {
    auto html = fmt::format("<h2>{}: {}</h2>\n", text::html_escape(report.variant), units::seconds(report.total));
    if (!report.intervals.empty()) html += drawing(report);
    html += "<table>\n<tr><th>phase</th><th class=\"n\">time</th><th class=\"n\">share</th></tr>\n";
    for (const auto& phase : report.phases)
      html += row(fmt::format("<i style=\"background:{}\"></i>{}", color(phase.name), text::html_escape(phase.name)),
                  phase.seconds, report.total);
    html += row("unattributed", report.unattributed, report.total) + "</table>\n";
    if (report.actions.empty()) return html;
    constexpr std::size_t k_shown = 10;
    html +=
        "<table>\n<tr><th>longest actions</th><th class=\"n\">time</th><th class=\"n\">waited for alone</th></tr>\n";
    for (std::size_t i = 0; i < std::min(k_shown, report.actions.size()); ++i)
      html += fmt::format("<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>\n",
                          text::html_escape(report.actions[i].name), units::seconds(report.actions[i].seconds),
                          units::seconds(report.actions[i].alone));
    return html + "</table>\n";
  }

  static std::string row(const std::string& name, double seconds, double total) {
    return fmt::format("<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>\n", name,
                       units::seconds(seconds), units::percent(seconds, total));
  }

  std::string drawing(const TimeReport& report) const {
    auto svg = fmt::format("<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"phases of {}\">\n"
                           "<rect width=\"{:.1f}\" height=\"{:.0f}\" fill=\"currentColor\" opacity=\".12\"/>\n",
                           k_width, k_bar + 18, text::html_escape(report.variant), x(report.total), k_bar);
    for (const auto& interval : report.intervals)
      svg += fmt::format(
          "<rect x=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.0f}\" fill=\"{}\"><title>{}: {} from {}</title></rect>\n",
          x(interval.begin), std::max(0.5, x(interval.end - interval.begin)), k_bar, color(interval.name),
          text::html_escape(interval.name), units::seconds(interval.end - interval.begin),
          units::seconds(interval.begin));
    constexpr int k_ticks = 6;
    for (int i = 0; i <= k_ticks; ++i) {
      auto at = longest_ * i / k_ticks;
      auto anchor = i == 0 ? "start" : i == k_ticks ? "end" : "middle";
      svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.0f}\" text-anchor=\"{}\">{:.0f} min</text>\n", x(at), k_bar + 14,
                         anchor, at / 60);
    }
    return svg + "</svg>\n";
  }

  std::string what_if(const std::vector<Saving>& savings) const {
    std::string html = "<h2>What a change would save</h2>\n<table>\n<tr><th>change</th>";
    for (const auto& report : reports_)
      html += fmt::format("<th class=\"n\">{}</th>", text::html_escape(report.variant));
    html += "<th class=\"n\">all</th><th>from</th></tr>\n";
    for (const auto& saving : savings) {
      html += fmt::format("<tr><td>{}</td>", text::html_escape(saving.change));
      for (auto seconds : saving.seconds) html += fmt::format("<td class=\"n\">{}</td>", units::seconds(seconds));
      html += fmt::format("<td class=\"n\">{}</td><td>{}</td></tr>\n", units::seconds(saving.total),
                          text::html_escape(saving.basis));
    }
    return html + "</table>\n";
  }

  const std::vector<TimeReport>& reports_;
  std::vector<std::string> names_; // colours by first appearance
  double longest_ = 0;
};
} // namespace

std::string timeline_page(const std::vector<TimeReport>& reports, const std::vector<Saving>& savings) {
  return Page(reports).write(savings);
}

} // namespace quarry::buildlog
