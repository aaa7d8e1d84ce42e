// References of heap shots: the result does not depend on the division into pieces.
#include "analysis/heap/heap_shots.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <variant>
#include <vector>

namespace telltale {
namespace {

using Since = HeapShotRoots::Since;

struct Placed {
  uint64_t piece = 0;
  size_t stream = 0;
  std::variant<HeapShotEvent, HeapObjectEvent, HeapRootsEvent> event;
};

HeapShotEvent mark(Ticks time, bool begin) { return {time, begin}; }

// Pieces as a source delivers them: a new one whenever the place changes.
template <typename Part>
std::vector<Part> in_pieces(const std::vector<Placed>& all, const std::function<Part()>& make) {
  std::vector<Part> parts;
  uint64_t piece = 0;
  for (const Placed& placed : all) {
    if (placed.piece != piece || parts.empty()) {
      parts.push_back(make());
      piece = placed.piece;
      parts.back().on(PieceEvent{0, piece, placed.stream, 0});
    }
    std::visit(
        [&parts]<typename Event>(const Event& event) {
          if constexpr (requires { parts.back().on(event); }) parts.back().on(event);
        },
        placed.event);
  }
  return parts;
}

HeapShots::Shots shots_of(const std::vector<Placed>& all, Since since) {
  HeapShotExtents extents;
  for (HeapShotExtents& part : in_pieces<HeapShotExtents>(all, [] { return HeapShotExtents(); }))
    extents.append(part);
  const HeapShotRoots none(extents.shots(), since);
  HeapShotRoots roots = none;
  for (HeapShotRootsSink& part :
       in_pieces<HeapShotRootsSink>(all, [&] { return HeapShotRootsSink(none); }))
    roots.append(part.take());
  roots.settle();
  const auto kept = std::make_shared<const HeapShotRoots>(std::move(roots));
  HeapShots shots(kept);
  for (HeapShots& part : in_pieces<HeapShots>(all, [&] { return HeapShots(kept); }))
    shots.append(std::move(part));
  return shots.take_shots();
}

// Two shots in stream 0, and between them a collection in stream 0 and one in stream 1. The
// parameter is the number of events in each piece of stream 0.
class HeapShotReferences : public ::testing::TestWithParam<size_t> {
 protected:
  std::vector<Placed> events() const {
    const auto object = [](uint64_t address, uint64_t type, std::span<const Ref> references) {
      return HeapObjectEvent{.time = 1,
                             .object = ObjectId{address},
                             .type = TypeId{type},
                             .bytes = 16,
                             .references = references};
    };
    HeapObjectEvent more = object(8, 1, to_24_);
    more.bytes = 0;
    std::vector<Placed> all = {{0, 0, HeapRootsEvent{1, roots_}},
                               {0, 0, mark(2, true)},
                               {0, 0, object(8, 1, to_16_)},
                               {0, 0, object(16, 2, to_16_)},
                               {0, 0, object(24, 2, to_99_)},
                               {0, 0, more},
                               {0, 0, mark(3, false)},
                               {0, 0, mark(10, true)},
                               {0, 0, HeapRootsEvent{10, roots_}},
                               {0, 0, object(16, 2, to_16_)},
                               {0, 0, mark(11, false)}};
    constexpr size_t kSecond = 7;  // the first event of the second shot
    for (size_t i = 0; i < all.size(); ++i)
      all[i].piece = i < kSecond ? 100 + i / GetParam() : 300 + (i - kSecond) / GetParam();
    all.push_back({200, 1, HeapRootsEvent{5, roots_}});
    all.push_back({201, 0, HeapRootsEvent{6, roots_}});
    return all;
  }

  using Ref = HeapObjectEvent::Reference;
  std::array<Ref, 1> to_16_ = {{{8, ObjectId{16}}}};
  std::array<Ref, 1> to_24_ = {{{16, ObjectId{24}}}};
  std::array<Ref, 1> to_99_ = {{{8, ObjectId{99}}}};  // is not in the shot
  std::array<HeapRootsEvent::Root, 2> roots_ = {
      {{.object = ObjectId{16}, .pinning = true}, {.object = ObjectId{99}}}};
};

TEST_P(HeapShotReferences, AreCountedByType) {
  const auto shots = shots_of(events(), Since::its_begin).whole;
  ASSERT_EQ(shots.size(), 2U);
  ASSERT_EQ(shots[0].links.size(), 2U);
  EXPECT_EQ(shots[0].links[0].to, 2U);
  EXPECT_EQ(shots[0].links[0].from, 1U);
  EXPECT_EQ(shots[0].links[0].count, 2U);
  EXPECT_EQ(shots[0].links[1].from, 2U);
  EXPECT_EQ(shots[0].links[1].count, 1U);
  EXPECT_EQ(shots[0].roots, 2U);  // those before it: there are none inside
  EXPECT_EQ(shots[1].roots, 2U);  // those inside
  ASSERT_EQ(shots[1].root_types.size(), 1U);
  EXPECT_EQ(shots[1].root_types[0].roots.all, 1U);
  EXPECT_EQ(shots[1].root_types[0].roots.pinning, 1U);
}

TEST_P(HeapShotReferences, HaveAllRootsSinceTheShotBeforeIfAsked) {
  const auto shots = shots_of(events(), Since::shot_before).whole;
  ASSERT_EQ(shots.size(), 2U);
  EXPECT_EQ(shots[0].roots, 2U);
  EXPECT_EQ(shots[1].roots, 4U);  // its own, and those of the collection in between
}

TEST_P(HeapShotReferences, OfAShotWithoutAnEndAreToldApartWhateverBecameOfTheRoots) {
  std::vector<Placed> all = events();
  std::erase_if(all, [](const Placed& placed) {  // the end of the second shot
    const auto* end = std::get_if<HeapShotEvent>(&placed.event);
    return end != nullptr && end->time == 11;
  });
  const HeapShots::Shots shots = shots_of(all, Since::its_begin);  // releases the roots
  ASSERT_EQ(shots.whole.size(), 1U);
  EXPECT_EQ(shots.whole[0].number, 0U);
  ASSERT_EQ(shots.in_part.size(), 1U);
  EXPECT_EQ(shots.in_part[0].shot.number, 1U);
  EXPECT_EQ(shots.in_part[0].shot.objects, 1U);
  EXPECT_EQ(shots.in_part[0].shot.roots, 2U);
}

TEST_P(HeapShotReferences, OfAShotInWhichAnotherBeginsAreUnfinished) {
  std::vector<Placed> all = events();
  std::erase_if(all, [](const Placed& placed) {  // the end of the first shot: lost with its buffer
    const auto* end = std::get_if<HeapShotEvent>(&placed.event);
    return end != nullptr && end->time == 3;
  });
  const HeapShots::Shots shots = shots_of(all, Since::its_begin);
  ASSERT_EQ(shots.in_part.size(), 1U);
  EXPECT_EQ(shots.in_part[0].shot.number, 0U);
  EXPECT_EQ(shots.in_part[0].shot.objects, 3U);
  ASSERT_EQ(shots.whole.size(), 1U);
  EXPECT_EQ(shots.whole[0].number, 1U);
  EXPECT_EQ(shots.whole[0].objects, 1U);
}

TEST(HeapShotsAfterLosses, ShotsWithAHoleAreLeftOut) {
  const HeapObjectEvent object{
      .object = ObjectId{8}, .type = TypeId{1}, .bytes = 24, .references = {}};
  // Four shots, each in three pieces of stream 0; what is lost in the piece `lost`, or before it.
  const auto tell = [&](auto make, uint64_t lost, bool inside) {
    auto all = make();
    for (uint64_t piece = 0; piece < 12; ++piece) {
      auto part = make();
      part.on(PieceEvent{.time = piece,
                         .offset = piece * 100,
                         .stream = 0,
                         .after_loss = !inside && piece == lost});
      if (piece % 3 == 0) part.on(HeapShotEvent{piece, true});
      if constexpr (requires { part.on(object); }) part.on(object);
      if (inside && piece == lost) part.loss(LossEvent{piece, 10, "damage"});
      if (piece % 3 == 2) part.on(HeapShotEvent{piece, false});
      all.append(std::move(part));
    }
    return all;
  };
  using Why = HeapShotLeftOut::Why;
  for (const bool inside : {true, false}) {
    for (uint64_t lost = 0; lost < 12; ++lost) {
      SCOPED_TRACE(::testing::Message() << lost << (inside ? " inside" : " before"));
      // Before a piece with a begin nothing of a shot is lost.
      const bool is_hit = inside || lost % 3 != 0;
      HeapShots shots = tell([] { return HeapShots(); }, lost, inside);
      const HeapShots::Shots taken = shots.take_shots();
      EXPECT_EQ(taken.whole.size(), is_hit ? 3U : 4U);
      ASSERT_EQ(taken.in_part.size(), is_hit ? 1U : 0U);
      if (is_hit) {
        EXPECT_EQ(taken.in_part[0].shot.number, lost / 3);
        EXPECT_EQ(taken.in_part[0].why, Why::damaged);
      }
      const auto extents = tell([] { return HeapShotExtents(); }, lost, inside).shots();
      ASSERT_EQ(extents.size(), 4U);
      for (size_t i = 0; i < 4; ++i) EXPECT_EQ(extents[i].damaged, is_hit && i == lost / 3);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(PieceSizes, HeapShotReferences, ::testing::Values(1, 2, 3, 7, 100));

}  // namespace
}  // namespace telltale
