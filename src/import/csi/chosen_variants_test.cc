#include "import/csi/chosen_variants.h"

#include <gmock/gmock.h>

namespace telltale {
namespace {

using Symbols = std::set<std::string_view>;

TEST(ChosenVariants, AreNumberedByNameAfterTheOneWithoutMechanisms) {
  const Symbols all = {"f$CC", "f$CC$PT", "f$none"};
  EXPECT_EQ(variants_not_chosen(all, 0), (Symbols{"f$CC", "f$CC$PT"}));
  EXPECT_EQ(variants_not_chosen(all, 2), (Symbols{"f$CC$PT", "f$none"}));
  EXPECT_EQ(variants_not_chosen(all, 3), (Symbols{"f$CC", "f$none"}));
}

TEST(ChosenVariants, WithoutAnEmptyOneBeginWithNumberOne) {
  const Symbols all = {"f$BBC", "f$FC"};
  EXPECT_EQ(variants_not_chosen(all, 1), (Symbols{"f$FC"}));
  EXPECT_EQ(variants_not_chosen(all, 2), (Symbols{"f$BBC"}));
}

TEST(ChosenVariants, OfOtherNumbersTheFirstRuns) {
  EXPECT_EQ(variants_not_chosen({"f$CC", "f$none"}, 1), (Symbols{"f$CC"}));
  EXPECT_EQ(variants_not_chosen({"f$BBC", "f$FC"}, 0), (Symbols{"f$FC"}));
  EXPECT_EQ(variants_not_chosen({}, 2), Symbols());
}

}  // namespace
}  // namespace telltale
