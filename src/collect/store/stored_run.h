#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace telltale::collect {

// What isolation reads of a run in a store: views, valid until the next run is read.
struct StoredRun {
  // What the run observed at the sites of one unit and scheme (docs/formats/store.md, "runs").
  struct Section {
    std::string_view unit;
    std::string_view scheme;
    int32_t rows = 0;
    std::span<const int32_t> sites;
    std::span<const int16_t> counted;
    std::span<const int64_t> first;  // may be empty
  };
  // A section of bounds, whose values are only in the report's text.
  struct Bounds {
    std::string_view unit;
    uint64_t offset = 0;  // of the section in the report
    std::string_view body;
  };

  std::string_view id;
  std::string_view label;
  int64_t bytes = 0;  // of the report
  int32_t damage = 0;
  std::string_view rule;
  int32_t status = -1;  // -1: none
  std::string_view signal;
  std::string_view backtrace;
  std::vector<Section> sections;
  std::vector<Bounds> bounds;  // only if they were asked for
  bool has_paths = false;      // the run left a path file; a digest does not say which runs did
};

}  // namespace telltale::collect
