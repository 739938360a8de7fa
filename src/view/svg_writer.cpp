// SPDX-License-Identifier: Apache-2.0
#include "view/svg_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "base/append.h"

namespace ww::view {
namespace {

constexpr std::string_view kSans =
    "'Helvetica Neue',Helvetica,Arial,'Liberation Sans','DejaVu Sans',sans-serif";
constexpr std::string_view kMono =
    "ui-monospace,SFMono-Regular,Menlo,Consolas,'Liberation Mono','DejaVu Sans Mono',monospace";

std::string_view name_of(Anchor anchor) {
  static constexpr std::string_view kTexts[] = {"start", "middle", "end"};
  return kTexts[std::to_underlying(anchor)];
}

std::string entity(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&apos;";
    default:
      return static_cast<unsigned char>(c) < 0x20 ? " " : std::string(1, c);
  }
}

}  // namespace

std::string escape_xml(std::string_view text) {
  std::string out;
  for (const char c : text) out += entity(c);
  return out;
}

bool is_continuation_byte(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

std::size_t count_characters(std::string_view text) {
  return text.size() - static_cast<std::size_t>(std::ranges::count_if(text, is_continuation_byte));
}

std::string svg_number(double value) {
  const long hundredths = std::lround(value * 100);
  const long size = std::labs(hundredths);
  std::string text = fmt::format("{}{}", hundredths < 0 ? "-" : "", size / 100);
  if (size % 100 == 0) return text;
  if (size % 10 == 0) return fmt::format("{}.{}", text, size % 100 / 10);
  return fmt::format("{}.{:02}", text, size % 100);
}

void SvgWriter::rect(double x, double y, double width, double height, Rgb fill) {
  append(body_, R"(<rect x="{}" y="{}" width="{}" height="{}" fill="{}"/>)", svg_number(x),
         svg_number(y), svg_number(width), svg_number(height), hex_of(fill));
  body_ += '\n';
}

void SvgWriter::rect(double x, double y, double width, double height, Rgb fill,
                     std::string_view hover) {
  append(body_, R"(<rect x="{}" y="{}" width="{}" height="{}" fill="{}"><title>{}</title></rect>)",
         svg_number(x), svg_number(y), svg_number(width), svg_number(height), hex_of(fill),
         escape_xml(hover));
  body_ += '\n';
}

void SvgWriter::path(std::string_view data, Rgb stroke, double stroke_width) {
  body_ += fmt::format(
      R"(<path d="{}" fill="none" stroke="{}" stroke-width="{}" stroke-linecap="square"/>)", data,
      hex_of(stroke), svg_number(stroke_width));
  body_ += '\n';
}

void SvgWriter::open_text(const TextStyle& style) {
  body_ += fmt::format(R"(<g font-family="{}" font-size="{}" text-anchor="{}" fill="{}"{}>)",
                       style.font == Font::Sans ? kSans : kMono, svg_number(style.size),
                       name_of(style.anchor), hex_of(style.fill),
                       style.is_bold ? R"( font-weight="bold")" : "");
  body_ += '\n';
}

void SvgWriter::text(double x, double y, std::string_view content) {
  body_ += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", svg_number(x), svg_number(y),
                       escape_xml(content));
}

void SvgWriter::text(double x, double y, std::string_view content, Rgb fill) {
  body_ += fmt::format("<text x=\"{}\" y=\"{}\" fill=\"{}\">{}</text>\n", svg_number(x),
                       svg_number(y), hex_of(fill), escape_xml(content));
}

void SvgWriter::open_cells(double stroke_width) {
  if (stroke_width <= 0) {
    body_ += "<g shape-rendering=\"crispEdges\">\n";
    return;
  }
  body_ += fmt::format("<g stroke=\"{}\" stroke-width=\"{}\">\n", hex_of(kPaper),
                       svg_number(stroke_width));
}

void SvgWriter::close() { body_ += "</g>\n"; }

std::string SvgWriter::finish(double width, double height, std::string_view title) && {
  const std::string w = svg_number(width);
  const std::string h = svg_number(height);
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  out += fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"{0}\" height=\"{1}\" "
      "viewBox=\"0 0 {0} {1}\">\n<title>{2}</title>\n",
      w, h, escape_xml(title));
  out += fmt::format("<rect x=\"0\" y=\"0\" width=\"{}\" height=\"{}\" fill=\"{}\"/>\n", w, h,
                     hex_of(kPaper));
  return out + body_ + "</svg>\n";
}

}  // namespace ww::view
