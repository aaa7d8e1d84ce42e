// Reads an XML document with tinyxml2, prints it and reads what it printed, five times; prints a
// sum over all elements.
#include <cstdio>

#include "tinyxml2.h"

using tinyxml2::XMLElement;

static unsigned sum(const XMLElement* element, unsigned depth) {
  unsigned total = depth;
  for (const XMLElement* each = element->FirstChildElement(); each != nullptr;
       each = each->NextSiblingElement())
    total = total * 31 + sum(each, depth + 1) + static_cast<unsigned>(each->IntAttribute("id"));
  return total;
}

int main(int, char** arguments) {
  tinyxml2::XMLDocument document;
  if (document.LoadFile(arguments[1]) != tinyxml2::XML_SUCCESS) return 1;
  unsigned total = 0;
  for (int i = 0; i < 5; ++i) {
    tinyxml2::XMLPrinter printer;
    document.Print(&printer);
    tinyxml2::XMLDocument copy;
    copy.Parse(printer.CStr());
    total = total * 7 + sum(copy.RootElement(), 1);
  }
  std::printf("%u\n", total);
}
