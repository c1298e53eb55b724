#pragma once
// Private to the room.
// JSON for readers of records: all values of a text in one list, in the order of the text. A record may have half a
// million files, and a tree of values allocates each of their fields.
#include "base/data_text.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace quarry::registry {

/// A value of a FlatJson, which must outlive it. A view: cheap to copy.
class Value {
public:
  enum class Kind : std::uint8_t { null, flag, whole, negative, real, text, array, object };
  /// What a FlatJson keeps of one value. Those inside it follow.
  struct Node {
    std::string_view key, text;
    std::uint64_t bits = 0;  ///< of the number or the flag
    std::uint32_t count = 1; ///< of nodes: itself and all inside it
    Kind kind = Kind::null;
  };
  explicit Value(const Node* node) : node_(node) {}

  Kind kind() const { return node_->kind; }
  bool is_object() const { return node_->kind == Kind::object; }
  bool is_array() const { return node_->kind == Kind::array; }
  bool is_text() const { return node_->kind == Kind::text; }
  bool is_number() const {
    return node_->kind == Kind::whole || node_->kind == Kind::negative || node_->kind == Kind::real;
  }
  std::string_view key() const { return node_->key; }   ///< of a member of an object
  std::string_view text() const { return node_->text; } ///< "" unless is_text()
  std::uint64_t whole() const { return node_->bits; }   ///< of Kind::whole; of a flag 1 for true
  double real() const;                                  ///< of any number

  class Iterator {
  public:
    explicit Iterator(const Node* node) : node_(node) {}
    Value operator*() const { return Value(node_); }
    Iterator& operator++() {
      node_ += node_->count;
      return *this;
    }
    bool operator==(const Iterator&) const = default;

  private:
    const Node* node_;
  };
  Iterator begin() const {
    return Iterator(node_ + 1);
  } ///< members of an object in order of their keys, items of an array
  Iterator end() const { return Iterator(node_ + node_->count); }
  std::size_t size() const;                              ///< counts them
  std::optional<Value> find(std::string_view key) const; ///< a member; nullopt also if this is not an object

  Json json() const; ///< as a tree

private:
  const Node* node_;
};

class FlatJson {
public:
  /// Parses a whole text. Accepts and refuses what json::parse() does, with its errors (B002). Fast for canonical text,
  /// whose keys are in order, without fractions or escaped surrogates; any other is parsed as a tree first.
  static Result<FlatJson> parse(NamedText named);
  Value root() const { return Value(nodes_.data()); }

private:
  friend class FlatBuilder;
  std::vector<Value::Node> nodes_;
  std::unique_ptr<char[]> texts_; ///< what the nodes point into
};

} // namespace quarry::registry
