// Reads an XML document with tinyxml2, walks it and prints it to memory: for
// sampler_evidence_bench.
#include <cstdio>

#include "tinyxml2.h"
using namespace tinyxml2;
static unsigned long count(const XMLNode* node) {
  unsigned long found = 1;
  if (const XMLElement* element = node->ToElement())
    for (const XMLAttribute* one = element->FirstAttribute(); one != nullptr; one = one->Next())
      found += one->IntValue() % 7 + 1;
  for (const XMLNode* child = node->FirstChild(); child != nullptr; child = child->NextSibling())
    found += count(child);
  return found;
}
int main(int, char** words) {
  XMLDocument document;
  if (document.LoadFile(words[1]) != XML_SUCCESS) return std::puts(document.ErrorStr()), 1;
  XMLPrinter printer;
  document.Print(&printer);
  std::printf("%lu nodes, %d bytes\n", count(&document), (int)printer.CStrSize());
}
