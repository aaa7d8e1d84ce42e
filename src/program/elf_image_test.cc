#include "program/elf_image.h"

#include <gmock/gmock.h>

#include "support/elf_builder.h"

namespace telltale {
namespace {

using testing::ElfBuilder;
using ::testing::HasSubstr;

std::string build_id_note(std::endian order) {
  ByteWriter note(order);
  note.write(uint32_t{4}).write(uint32_t{5}).write(uint32_t{NT_GNU_BUILD_ID});
  note.write('G').write('N').write('U').write('\0');
  for (const unsigned byte : {0xdeU, 0xadU, 0x01U, 0x23U, 0x45U})
    note.write(static_cast<uint8_t>(byte));
  return note.zeros(3).take();
}

ElfBuilder sample(std::endian order, bool is_64_bit) {
  ElfBuilder elf;
  elf.order = order;
  elf.is_64_bit = is_64_bit;
  elf.machine = EM_S390;
  elf.add({.name = ".text", .address = 0x11223344, .bytes = "code"});
  elf.add({.name = ".note.gnu.build-id", .type = SHT_NOTE, .bytes = build_id_note(order)});
  elf.add({.name = ".bss", .type = SHT_NOBITS, .size_without_bytes = 0x7fffffff});
  return elf;
}

class ElfImageOfEveryShape : public ::testing::TestWithParam<std::tuple<std::endian, bool>> {};

TEST_P(ElfImageOfEveryShape, ReadsHeadersSectionsAndBuildId) {
  const auto [order, is_64_bit] = GetParam();
  const std::string file = sample(order, is_64_bit).build();
  const Result<ElfImage> image = ElfImage::read(as_bytes(file), "sample");
  ASSERT_TRUE(image) << to_string(image.error());
  EXPECT_EQ(image->order(), order);
  EXPECT_EQ(image->is_64_bit(), is_64_bit);
  EXPECT_EQ(image->machine_name(), is_64_bit ? "s390x" : "s390");
  ASSERT_EQ(image->sections().size(), 5U);
  const ElfSection& text = image->sections()[1];
  EXPECT_EQ(text.name, ".text");
  EXPECT_EQ(text.address, 0x11223344U);
  EXPECT_EQ(image->bytes(text).size(), 4U);
  EXPECT_EQ(image->build_id(), "dead012345");
  EXPECT_EQ(image->sections()[3].name, ".bss");
  EXPECT_TRUE(image->bytes(image->sections()[3]).empty()) << "has a size, but no bytes";
}

TEST_P(ElfImageOfEveryShape, EveryPrefixIsRefusedAndPlaced) {
  const auto [order, is_64_bit] = GetParam();
  const std::string file = sample(order, is_64_bit).build();
  for (size_t length = 0; length < file.size(); ++length) {
    const std::string cut = file.substr(0, length);
    const Result<ElfImage> image = ElfImage::read(as_bytes(cut), "cut");
    ASSERT_FALSE(image) << length;
    EXPECT_TRUE(image.error().offset) << length;
    EXPECT_EQ(image.error().file, "cut");
  }
}

TEST_P(ElfImageOfEveryShape, ExtremeFieldsAreRefusedOrHarmless) {
  const auto [order, is_64_bit] = GetParam();
  const std::string file = sample(order, is_64_bit).build();
  for (size_t at = 16; at + 4 <= file.size(); ++at) {
    for (const char byte : {'\0', '\x7f', '\xff'}) {
      std::string bad = file;
      bad.replace(at, 4, 4, byte);
      const Result<ElfImage> image = ElfImage::read(as_bytes(bad), "bad");
      if (!image) continue;
      for (const ElfSection& section : image->sections()) {
        EXPECT_LE(image->bytes(section).size(), bad.size());
      }
      EXPECT_LE(image->build_id().size(), 128U);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ElfImageOfEveryShape,
                         ::testing::Combine(::testing::Values(std::endian::little,
                                                              std::endian::big),
                                            ::testing::Bool()));

std::string with_u64(std::string file, size_t at, uint64_t value) {
  return file.replace(at, 8, ByteWriter().write(value).take());
}

std::string error_of(const std::string& file) {
  const Result<ElfImage> image = ElfImage::read(as_bytes(file), "bad");
  return image ? "no error" : to_string(image.error());
}

TEST(ElfImage, NamesWhatIsWrong) {
  const std::string file = sample(std::endian::little, true).build();
  EXPECT_EQ(error_of("MZ"), "bad: ELF header at byte 0: not an ELF file");
  EXPECT_THAT(error_of(with_u64(file, 40, ~uint64_t{0})),
              HasSubstr("begins past the end of the file"));
  std::string many_sections = file;
  many_sections.replace(60, 2, "\xff\xff");
  EXPECT_THAT(error_of(many_sections),
              HasSubstr("65535 section headers are declared, but the file has room for 5"));
  std::string bad_names = file;
  bad_names.replace(62, 2, std::string("\x09\x00", 2));
  EXPECT_THAT(error_of(bad_names), HasSubstr("e_shstrndx is 9, there are 5 sections"));
  const size_t table = file.size() - 5 * sizeof(Elf64_Shdr);
  const size_t size_of_text = table + sizeof(Elf64_Shdr) + offsetof(Elf64_Shdr, sh_size);
  EXPECT_THAT(error_of(with_u64(file, size_of_text, uint64_t{1} << 61)),
              HasSubstr("section 1 at byte 64: its 2305843009213693952 bytes reach past the end"));
}

TEST(ElfImage, SectionCountBeyond16BitsStandsInSectionZero) {
  std::string file = sample(std::endian::little, true).build();
  const size_t table = file.size() - 5 * sizeof(Elf64_Shdr);
  file.replace(60, 2, 2, '\0');
  file = with_u64(file, table + offsetof(Elf64_Shdr, sh_size), 5);
  Result<ElfImage> image = ElfImage::read(as_bytes(file), "extended");
  ASSERT_TRUE(image) << to_string(image.error());
  EXPECT_EQ(image->sections().size(), 5U);
  file = with_u64(file, table + offsetof(Elf64_Shdr, sh_size), uint64_t{1} << 60);
  EXPECT_THAT(error_of(file), HasSubstr("1152921504606846976 section headers are declared"));
}

TEST(ElfImage, WithoutSectionTableThereAreNoSections) {
  const std::string file = with_u64(sample(std::endian::little, true).build(), 40, 0);
  const Result<ElfImage> image = ElfImage::read(as_bytes(file), "sstripped");
  ASSERT_TRUE(image);
  EXPECT_TRUE(image->sections().empty());
}

TEST(ElfImage, HugeNoteSizesDoNotWrap) {
  for (const uint32_t size : {0xffffffffU, 0xfffffffdU, 0x80000000U}) {
    ElfBuilder elf;
    elf.add({.name = ".note",
             .type = SHT_NOTE,
             .bytes = ByteWriter()
                          .write(size)
                          .write(size)
                          .write(uint32_t{NT_GNU_BUILD_ID})
                          .zeros(16)
                          .take()});
    const std::string file = elf.build();
    const Result<ElfImage> image = ElfImage::read(as_bytes(file), "notes");
    ASSERT_TRUE(image);
    EXPECT_EQ(image->build_id(), "");
  }
}

}  // namespace
}  // namespace telltale
