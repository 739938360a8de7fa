// SPDX-License-Identifier: Apache-2.0
//
// Bytes as numbers: half, brain float, float, integers, or hexadecimal, for registers and memory.

export const kFormats = ["hex", "u32", "s32", "f32", "f16", "bf16", "u8"];

export function from_base64(text) { return Uint8Array.from(atob(text), (c) => c.charCodeAt(0)); }

export function half(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

const scratch = new DataView(new ArrayBuffer(8));

function float_of(bits) {
  scratch.setUint32(0, bits);
  return scratch.getFloat32(0);
}

// Parts of a word of 32 bits, the low part first.
export function word_values(word, format) {
  switch (format) {
    case "f32":
      return [float_of(word)];
    case "f16":
      return [half(word & 0xffff), half(word >>> 16)];
    case "bf16":
      return [float_of((word << 16) >>> 0), float_of((word & 0xffff0000) >>> 0)];
    case "s32":
      return [word | 0];
    case "u8":
      return [word & 255, (word >>> 8) & 255, (word >>> 16) & 255, word >>> 24];
    default:
      return [word >>> 0];
  }
}

export function short_number(x) {
  if (Number.isNaN(x)) return "nan";
  if (!Number.isFinite(x)) return x > 0 ? "inf" : "-inf";
  if (Number.isInteger(x) && Math.abs(x) < 1e6) return String(x);
  return String(Number(x.toPrecision(3)));
}

export function word_text(word, format) {
  if (format === "hex") return (word >>> 0).toString(16).padStart(8, "0");
  return word_values(word, format).map(short_number).join(" ");
}

// For heat: one number per word.
export function word_heat(word, format) { return word_values(word, format)[0]; }

export function bytes_per(format) { return {f16: 2, bf16: 2, u8: 1}[format] ?? 4; }
