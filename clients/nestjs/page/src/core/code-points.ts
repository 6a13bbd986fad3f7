/** The UTF-16 offset of an offset in code points; the text's end where it lies behind. */
export function toUtf16(text: string, codePoints: number): number {
  let unit = 0;
  for (let left = codePoints; left > 0 && unit < text.length; left -= 1) {
    unit += (text.codePointAt(unit) ?? 0) > 0xffff ? 2 : 1;
  }
  return unit;
}
