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

class Layers {
public:
  explicit Layers(const Graph& graph) : graph_(graph), items_(graph.nodes.size()), chains_(graph.edges.size()) {}

  Layout lay_out() {
    assign_layers();
    add_passages();
    order();
    return places();
  }

private:
  /// Marks edges that close a cycle; they do not count for the layers.
  void visit(std::size_t node, std::vector<int>& state, std::vector<std::size_t>& finished) {
    state[node] = 1;
    for (std::size_t e = 0; e < graph_.edges.size(); ++e) {
      const auto& edge = graph_.edges[e];
      if (edge.from != node) continue;
      if (state[edge.to] == 1) back_[e] = true;
      if (state[edge.to] == 0) visit(edge.to, state, finished);
    }
    state[node] = 2;
    finished.push_back(node);
  }

  void assign_layers() {
    back_.assign(graph_.edges.size(), false);
    std::vector<int> state(items_.size());
    std::vector<std::size_t> finished;
    for (std::size_t n = 0; n < items_.size(); ++n)
      if (state[n] == 0) visit(n, state, finished);
    for (auto n = finished.rbegin(); n != finished.rend(); ++n)
      for (std::size_t e = 0; e < graph_.edges.size(); ++e)
        if (graph_.edges[e].from == *n && !back_[e])
          items_[graph_.edges[e].to].layer = std::max(items_[graph_.edges[e].to].layer, items_[*n].layer + 1);
    pull_roots();
  }

  /// A workflow that nobody calls stands directly left of what it calls.
  void pull_roots() {
    for (std::size_t n = 0; n < items_.size(); ++n) {
      std::size_t nearest = SIZE_MAX;
      bool root = true;
      for (std::size_t e = 0; e < graph_.edges.size(); ++e) {
        if (back_[e]) continue;
        if (graph_.edges[e].to == n) root = false;
        if (graph_.edges[e].from == n) nearest = std::min(nearest, items_[graph_.edges[e].to].layer);
      }
      if (root && nearest != SIZE_MAX && nearest > 0) items_[n].layer = nearest - 1;
    }
  }

  void add_passages() {
    std::vector<std::size_t> in(items_.size()), out(items_.size());
    for (std::size_t e = 0; e < graph_.edges.size(); ++e) {
      const auto& edge = graph_.edges[e];
      ++in[edge.to];
      ++out[edge.from];
      auto last = edge.from;
      for (auto layer = items_[edge.from].layer + 1; layer < items_[edge.to].layer; ++layer) {
        items_.push_back({layer, k_behind, 0, 0, {last}, {}});
        items_[last].after.push_back(items_.size() - 1);
        last = items_.size() - 1;
        chains_[e].push_back(last);
      }
      if (items_[last].layer >= items_[edge.to].layer) continue;
      items_[last].after.push_back(edge.to);
      items_[edge.to].before.push_back(last);
    }
    for (std::size_t n = 0; n < in.size(); ++n)
      items_[n].height = k_port * static_cast<double>(std::max<std::size_t>({in[n], out[n] > 0 ? 1u : 0u, 1})) + k_gap;
  }

  void order() {
    std::size_t last = 0;
    for (const auto& item : items_) last = std::max(last, item.layer);
    columns_.resize(items_.empty() ? 0 : last + 1);
    for (std::size_t i = 0; i < items_.size(); ++i) columns_[items_[i].layer].push_back(i);
    stack();
    for (int sweep = 0; sweep < k_sweeps; ++sweep) {
      bool forward = sweep % 2 == 0;
      for (auto& column : columns_) sort_column(column, forward);
      stack();
    }
  }

  void sort_column(std::vector<std::size_t>& column, bool forward) {
    for (auto i : column) {
      const auto& beside = forward ? items_[i].before : items_[i].after;
      double sum = 0;
      for (auto other : beside) sum += items_[other].y + items_[other].height / 2;
      items_[i].weight = beside.empty() ? items_[i].y + items_[i].height / 2 : sum / static_cast<double>(beside.size());
    }
    std::stable_sort(column.begin(), column.end(),
                     [&](std::size_t a, std::size_t b) { return items_[a].weight < items_[b].weight; });
    stack();
  }

  /// Each column from top to bottom, in the middle of the tallest.
  void stack() {
    std::vector<double> heights;
    for (const auto& column : columns_) {
      double height = 0;
      for (auto i : column) height += items_[i].height + k_gap;
      heights.push_back(height);
    }
    tallest_ = heights.empty() ? 0 : *std::max_element(heights.begin(), heights.end());
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      double y = k_margin + (tallest_ - heights[c]) / 2;
      for (auto i : columns_[c]) items_[i].y = y, y += items_[i].height + k_gap;
    }
  }

  Layout places() {
    Layout layout;
    layout.boxes.resize(graph_.nodes.size());
    layout.edges.resize(graph_.edges.size());
    std::vector<double> left(columns_.size()), right(columns_.size());
    double x = k_margin;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      double box = 0, label = 0;
      for (auto i : columns_[c])
        if (i < graph_.nodes.size())
          box = std::max(box, k_box_pad + k_letter * k_node_text * static_cast<double>(graph_.nodes[i].name.size()));
      for (std::size_t e = 0; e < graph_.edges.size(); ++e)
        if (items_[graph_.edges[e].to].layer == c) label = std::max(label, label_width(graph_.edges[e]));
      if (c > 0 || label > 0) x += k_curve + label;
      left[c] = x;
      right[c] = x += box;
    }
    layout.width = x + k_margin;
    layout.height = tallest_ + 2 * k_margin;
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      auto column = items_[n].layer;
      layout.boxes[n] = {left[column], items_[n].y, right[column] - left[column], items_[n].height};
    }
    place_edges(layout, left, right);
    return layout;
  }

  static double label_width(const GraphEdge& edge) {
    return 12 + k_letter * k_edge_text * static_cast<double>(edge_label(edge).size());
  }

  /// Edges that end at one box arrive in the order of where they come from, each at a place of its own.
  void place_edges(Layout& layout, const std::vector<double>& left, const std::vector<double>& right) {
    std::map<std::size_t, std::vector<std::size_t>> arriving;
    for (std::size_t e = 0; e < graph_.edges.size(); ++e) arriving[graph_.edges[e].to].push_back(e);
    for (auto& [to, edges] : arriving) {
      auto origin = [&](std::size_t e) {
        const auto& item = items_[chains_[e].empty() ? graph_.edges[e].from : chains_[e].back()];
        return item.y + item.height / 2;
      };
      std::stable_sort(edges.begin(), edges.end(), [&](auto a, auto b) { return origin(a) < origin(b); });
      const auto& box = layout.boxes[to];
      double y = box.y + (box.height - k_port * static_cast<double>(edges.size())) / 2 + k_port * 0.75;
      for (auto e : edges) {
        const auto& from = layout.boxes[graph_.edges[e].from];
        auto& place = layout.edges[e];
        place.begin = {from.x + from.width, from.y + from.height / 2};
        place.end = {box.x, y};
        place.label_width = label_width(graph_.edges[e]);
        for (auto i : chains_[e])
          place.via.push_back({left[items_[i].layer], right[items_[i].layer], items_[i].y + k_behind / 2});
        y += k_port;
      }
    }
  }

  const Graph& graph_;
  std::vector<Item> items_; ///< the nodes, then the passages
  std::vector<std::vector<std::size_t>> chains_, columns_;
  std::vector<bool> back_;
  double tallest_ = 0;
};
} // namespace

Layout lay_out(const Graph& graph) { return Layers(graph).lay_out(); }

} // namespace quarry::workflow
