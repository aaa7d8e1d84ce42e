/* Prints every tag of the EXIF data in a file, the camera maker's too. Usage: show_tags FILE
   With -DEXIF_FUZZ: the function that libFuzzer calls with such data. */
#include <libexif/exif-data.h>
#include <libexif/exif-mnote-data.h>
#include <stdio.h>

static void show_entry(ExifEntry* entry, void* unused) {
  (void)unused;
  char text[1024];
  const char* name = exif_tag_get_name_in_ifd(entry->tag, exif_entry_get_ifd(entry));
  printf("%s: %s\n", name ? name : "?", exif_entry_get_value(entry, text, sizeof(text)));
}

static void show_content(ExifContent* content, void* unused) {
  exif_content_foreach_entry(content, show_entry, unused);
}

static int show_tags(const unsigned char* bytes, size_t size) {
  ExifData* data = exif_data_new_from_data(bytes, (unsigned)size);
  if (data == NULL) return 2;
  exif_data_foreach_content(data, show_content, NULL);
  ExifMnoteData* note = exif_data_get_mnote_data(data);
  for (unsigned i = 0; note != NULL && i < exif_mnote_data_count(note); ++i) {
    char text[1024];
    const char* value = exif_mnote_data_get_value(note, i, text, sizeof(text));
    printf("%s: %s\n", exif_mnote_data_get_title(note, i), value ? value : "?");
  }
  exif_data_unref(data);
  return 0;
}

#ifdef EXIF_FUZZ
int LLVMFuzzerTestOneInput(const unsigned char* bytes, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char* bytes, size_t size) {
  show_tags(bytes, size);
  return 0;
}
#else
int main(int argc, char** argv) {
  static unsigned char bytes[65536];
  FILE* file = argc == 2 ? fopen(argv[1], "rb") : NULL;
  if (file == NULL) return 2;
  const size_t size = fread(bytes, 1, sizeof(bytes), file);
  fclose(file);
  return show_tags(bytes, size);
}
#endif
