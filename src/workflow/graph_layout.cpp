#include "workflow/graph_layout.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace quarry::workflow {

namespace {
constexpr int k_sweeps = 8; // more change nothing on the graphs of the field
constexpr double k_letter = 0.58, k_box_pad = 16, k_gap = 10, k_curve = 56, k_behind = 6, k_margin = 12;

/// A node, or the place where an edge passes behind a layer.
struct Item {
  std::size_t layer = 0;
  double height = 0, y = 0, weight = 0;
  std::vector<std::size_t> before, after; ///< items of the layers beside it
};

/// A depth-first walk along the edges.
struct Visit {
  std::vector<int> state;            ///< of each node: 0 new, 1 on the path to the present node, 2 finished
  std::vector<std::size_t> finished; ///< nodes, in the order in which the walk left them
  std::vector<bool> closing;         ///< edges that close a cycle; they do not count for the layers
};

void visit(const Graph& graph, std::size_t node, Visit& seen) {
  seen.state[node] = 1;
  for (std::size_t e = 0; e < graph.edges.size(); ++e) {
    const auto& edge = graph.edges[e];
    if (edge.from != node) continue;
    if (seen.state[edge.to] == 1) seen.closing[e] = true;
    if (seen.state[edge.to] == 0) visit(graph, edge.to, seen);
  }
  seen.state[node] = 2;
  seen.finished.push_back(node);
}

Visit visit_all(const Graph& graph) {
  Visit seen{std::vector<int>(graph.nodes.size()), {}, std::vector<bool>(graph.edges.size())};
  for (std::size_t n = 0; n < graph.nodes.size(); ++n)
    if (seen.state[n] == 0) visit(graph, n, seen);
  return seen;
}

/// A workflow that nobody calls stands directly left of what it calls.
void pull_roots(const Graph& graph, const std::vector<bool>& closing, std::vector<Item>& items) {
  for (std::size_t n = 0; n < items.size(); ++n) {
    std::size_t nearest = SIZE_MAX;
    bool root = true;
    for (std::size_t e = 0; e < graph.edges.size(); ++e) {
      if (closing[e]) continue;
      if (graph.edges[e].to == n) root = false;
      if (graph.edges[e].from == n) nearest = std::min(nearest, items[graph.edges[e].to].layer);
    }
    if (root && nearest != SIZE_MAX && nearest > 0) items[n].layer = nearest - 1;
  }
}

/// One item for each node, with its layer.
std::vector<Item> layered(const Graph& graph) {
  std::vector<Item> items(graph.nodes.size());
  auto seen = visit_all(graph);
  for (auto n = seen.finished.rbegin(); n != seen.finished.rend(); ++n)
    for (std::size_t e = 0; e < graph.edges.size(); ++e)
      if (graph.edges[e].from == *n && !seen.closing[e])
        items[graph.edges[e].to].layer = std::max(items[graph.edges[e].to].layer, items[*n].layer + 1);
  pull_roots(graph, seen.closing, items);
  return items;
}

/// For each edge the items where it passes behind a layer, in its direction.
using Chains = std::vector<std::vector<std::size_t>>;

/// Adds the passages to `items`, behind the nodes.
Chains add_passages(const Graph& graph, std::vector<Item>& items) {
  Chains chains(graph.edges.size());
  std::vector<std::size_t> in(items.size()), out(items.size());
  for (std::size_t e = 0; e < graph.edges.size(); ++e) {
    const auto& edge = graph.edges[e];
    ++in[edge.to];
    ++out[edge.from];
    auto last = edge.from;
    for (auto layer = items[edge.from].layer + 1; layer < items[edge.to].layer; ++layer) {
      items.push_back({layer, k_behind, 0, 0, {last}, {}});
      items[last].after.push_back(items.size() - 1);
      last = items.size() - 1;
      chains[e].push_back(last);
    }
    if (items[last].layer >= items[edge.to].layer) continue;
    items[last].after.push_back(edge.to);
    items[edge.to].before.push_back(last);
  }
  for (std::size_t n = 0; n < in.size(); ++n)
    items[n].height = k_port * static_cast<double>(std::max<std::size_t>({in[n], out[n] > 0 ? 1u : 0u, 1})) + k_gap;
  return chains;
}

/// The items of each layer, from top to bottom.
using Columns = std::vector<std::vector<std::size_t>>;

/// Puts each column from top to bottom, in the middle of the tallest. Returns the height of that one.
double stack(const Columns& columns, std::vector<Item>& items) {
  std::vector<double> heights;
  for (const auto& column : columns) {
    double height = 0;
    for (auto i : column) height += items[i].height + k_gap;
    heights.push_back(height);
  }
  double tallest = heights.empty() ? 0 : *std::max_element(heights.begin(), heights.end());
  for (std::size_t c = 0; c < columns.size(); ++c) {
    double y = k_margin + (tallest - heights[c]) / 2;
    for (auto i : columns[c]) items[i].y = y, y += items[i].height + k_gap;
  }
  return tallest;
}

void sort_column(std::vector<std::size_t>& column, bool forward, std::vector<Item>& items) {
  for (auto i : column) {
    const auto& beside = forward ? items[i].before : items[i].after;
    double sum = 0;
    for (auto other : beside) sum += items[other].y + items[other].height / 2;
    items[i].weight = beside.empty() ? items[i].y + items[i].height / 2 : sum / static_cast<double>(beside.size());
  }
  std::stable_sort(column.begin(), column.end(),
                   [&](std::size_t a, std::size_t b) { return items[a].weight < items[b].weight; });
}

/// Sorts the items so that few edges cross, and places them.
Columns ordered(std::vector<Item>& items) {
  std::size_t last = 0;
  for (const auto& item : items) last = std::max(last, item.layer);
  Columns columns(items.empty() ? 0 : last + 1);
  for (std::size_t i = 0; i < items.size(); ++i) columns[items[i].layer].push_back(i);
  stack(columns, items);
  for (int sweep = 0; sweep < k_sweeps; ++sweep) {
    bool forward = sweep % 2 == 0;
    for (auto& column : columns) {
      sort_column(column, forward, items);
      stack(columns, items);
    }
  }
  return columns;
}

/// Everything that the places are made of.
struct Ordered {
  const Graph& graph;
  std::vector<Item> items; ///< the nodes, then the passages
  Chains chains;
  Columns columns;
};

/// Where each column begins and ends, from left to right.
struct ColumnEdges {
  std::vector<double> left, right;
};

double label_width(const GraphEdge& edge) {
  return 12 + k_letter * k_edge_text * static_cast<double>(edge_label(edge).size());
}

ColumnEdges edges_of(const Ordered& all) {
  const auto& [graph, items, chains, columns] = all;
  ColumnEdges edges;
  double x = k_margin;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    double box = 0, label = 0;
    for (auto i : columns[c])
      if (i < graph.nodes.size())
        box = std::max(box, k_box_pad + k_letter * k_node_text * static_cast<double>(graph.nodes[i].name.size()));
    for (std::size_t e = 0; e < graph.edges.size(); ++e)
      if (items[graph.edges[e].to].layer == c) label = std::max(label, label_width(graph.edges[e]));
    if (c > 0 || label > 0) x += k_curve + label;
    edges.left.push_back(x);
    edges.right.push_back(x += box);
  }
  return edges;
}

void place_boxes(const Ordered& all, const ColumnEdges& columns, Layout& layout) {
  layout.boxes.resize(all.graph.nodes.size());
  for (std::size_t n = 0; n < all.graph.nodes.size(); ++n) {
    const auto& item = all.items[n];
    auto left = columns.left[item.layer];
    layout.boxes[n] = {left, item.y, columns.right[item.layer] - left, item.height};
  }
}

/// Edges that end at one box arrive in the order of where they come from, each at a place of its own.
void place_edges(const Ordered& all, const ColumnEdges& columns, Layout& layout) {
  layout.edges.resize(all.graph.edges.size());
  std::map<std::size_t, std::vector<std::size_t>> arriving;
  for (std::size_t e = 0; e < all.graph.edges.size(); ++e) arriving[all.graph.edges[e].to].push_back(e);
  for (auto& [to, edges] : arriving) {
    auto origin = [&](std::size_t e) {
      const auto& item = all.items[all.chains[e].empty() ? all.graph.edges[e].from : all.chains[e].back()];
      return item.y + item.height / 2;
    };
    std::stable_sort(edges.begin(), edges.end(), [&](auto a, auto b) { return origin(a) < origin(b); });
    const auto& box = layout.boxes[to];
    double y = box.y + (box.height - k_port * static_cast<double>(edges.size())) / 2 + k_port * 0.75;
    for (auto e : edges) {
      const auto& from = layout.boxes[all.graph.edges[e].from];
      auto& place = layout.edges[e];
      place.begin = {from.x + from.width, from.y + from.height / 2};
      place.end = {box.x, y};
      place.label_width = label_width(all.graph.edges[e]);
      for (auto i : all.chains[e])
        place.via.push_back(
            {columns.left[all.items[i].layer], columns.right[all.items[i].layer], all.items[i].y + k_behind / 2});
      y += k_port;
    }
  }
}

} // namespace

Layout lay_out(const Graph& graph) {
  Ordered all{graph, layered(graph), {}, {}};
  all.chains = add_passages(graph, all.items);
  all.columns = ordered(all.items);
  auto edges = edges_of(all);
  Layout layout;
  layout.width = (edges.right.empty() ? k_margin : edges.right.back()) + k_margin;
  layout.height = stack(all.columns, all.items) + 2 * k_margin;
  place_boxes(all, edges, layout);
  place_edges(all, edges, layout);
  return layout;
}

} // namespace quarry::workflow
