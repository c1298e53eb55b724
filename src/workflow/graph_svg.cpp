#include "workflow/graph_layout.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include <fmt/core.h>

namespace quarry::workflow {

namespace {
constexpr double k_legend = 30;
constexpr std::string_view k_style = R"(<style>
svg { background: #ffffff; font-family: system-ui, sans-serif; max-width: 100%; height: auto; }
text { fill: #1f2328; } .name { font-size: 11px; } .inputs { font-size: 9px; fill: #59636e; }
.box { fill: #f6f8fa; stroke: #818b98; } .other { stroke-dasharray: 3 2; } .missing { stroke: #cf222e; }
.call, .dispatch { fill: none; stroke: #818b98; } .dispatch { stroke: #0969da; stroke-dasharray: 5 3; }
.tip { fill: #818b98; } .tip-dispatch { fill: #0969da; }
@media (prefers-color-scheme: dark) {
svg { background: #0d1117; } text { fill: #f0f6fc; } .inputs { fill: #9198a1; }
.box { fill: #151b23; stroke: #656c76; } .missing { stroke: #f85149; } .call { stroke: #656c76; }
.dispatch { stroke: #4493f8; } .tip { fill: #656c76; } .tip-dispatch { fill: #4493f8; }
}
</style>
<defs>
<marker id="call" viewBox="0 0 6 6" refX="6" refY="3" markerWidth="6" markerHeight="6" orient="auto">)"
                                     R"(<path class="tip" d="M0 0 6 3 0 6z"/></marker>
<marker id="dispatch" viewBox="0 0 6 6" refX="6" refY="3" markerWidth="6" markerHeight="6" orient="auto">)"
                                     R"(<path class="tip-dispatch" d="M0 0 6 3 0 6z"/></marker>
</defs>
)";

std::string curve(Point from, Point to) {
  auto half = (to.x - from.x) / 2;
  if (half < 0) half = 40; // an edge that closes a cycle leaves to the right, too
  return fmt::format(" C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}", from.x + half, from.y, to.x - half, to.y, to.x,
                     to.y);
}

std::string edge_svg(const Graph& graph, const GraphEdge& edge, const EdgePlace& place) {
  auto data = fmt::format("M{:.1f} {:.1f}", place.begin.x, place.begin.y);
  auto at = place.begin;
  for (const auto& stretch : place.via) {
    data += curve(at, {stretch.left, stretch.y}) + fmt::format(" H{:.1f}", stretch.right);
    at = {stretch.right, stretch.y};
  }
  data += curve(at, {place.end.x - place.label_width, place.end.y}) + fmt::format(" H{:.1f}", place.end.x);
  std::string_view kind = edge.dispatch ? "dispatch" : "call";
  auto title = fmt::format("{} {} {}", graph.nodes[edge.from].name, edge.dispatch ? "dispatches" : "calls",
                           graph.nodes[edge.to].name);
  if (!edge.inputs.empty()) title += ": " + text::join(edge.inputs, ", ");
  auto out = fmt::format("<g><title>{}</title><path class=\"{}\" marker-end=\"url(#{})\" d=\"{}\"/>",
                         text::html_escape(title), kind, kind, data);
  if (auto label = edge_label(edge); !label.empty())
    out += fmt::format("<text class=\"inputs\" text-anchor=\"end\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>",
                       place.end.x - 8, place.end.y - 2, text::html_escape(label));
  return out + "</g>\n";
}

std::string node_svg(const GraphNode& node, const BoxPlace& box) {
  return fmt::format(
      "<g><rect class=\"box{}{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"4\"/>"
      "<text class=\"name\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text></g>\n",
      node.foreign ? " other" : "", node.missing ? " missing" : "", box.x, box.y, box.width, box.height, box.x + 8,
      box.y + box.height / 2 + 4, text::html_escape(node.name));
}

std::string legend(const Graph& graph) {
  auto line = fmt::format("{}; solid: calls, dashed: dispatches", units::things(graph.nodes.size(), "workflow"));
  if (graph.alone > 0) line += fmt::format("; {} more call nobody and are called by nobody", graph.alone);
  if (graph.unknown > 0)
    line += fmt::format("; {} with a target that an expression makes", units::things(graph.unknown, "call"));
  return line;
}
} // namespace

Result<std::string> svg(const Graph& graph) {
  if (graph.edges.size() > k_graph_edges_max)
    return fail(ErrorKind::resource_exhausted, "Y160",
                fmt::format("the graph has {} edges; at most {} are laid out", graph.edges.size(), k_graph_edges_max),
                "use `--format json`");
  auto layout = lay_out(graph);
  auto words = legend(graph);
  auto width = std::max(layout.width, 24 + 6 * static_cast<double>(words.size()));
  auto out = fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{:.0f}\" height=\"{:.0f}\" "
                         "viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"calls between workflows\">\n",
                         width, layout.height + k_legend, width, layout.height + k_legend);
  out += k_style;
  for (std::size_t e = 0; e < graph.edges.size(); ++e) out += edge_svg(graph, graph.edges[e], layout.edges[e]);
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) out += node_svg(graph.nodes[n], layout.boxes[n]);
  out += fmt::format("<text class=\"inputs\" x=\"12\" y=\"{:.0f}\">{}</text>\n</svg>\n", layout.height + k_legend / 2,
                     text::html_escape(words));
  return out;
}

} // namespace quarry::workflow
