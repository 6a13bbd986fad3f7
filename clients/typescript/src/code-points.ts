/** A range of a JavaScript string, as `slice` takes it: UTF-16 code units, end exclusive. */
export interface Utf16Range {
  start: number;
  end: number;
}

/** One mark for so many code points. */
const STRIDE = 1024;

/**
 * A text whose code points can be found in its UTF-16. The contract counts Unicode code points, JavaScript counts UTF-16
 * code units, and the two differ after the first emoji or rare character.
 *
 * Making one reads the text once; an offset is then found by reading at most 1,024 code points.
 */
export class CodePoints {
  /** Where code point 0, 1024, 2048 and so on begins; undefined where every code point is one code unit. */
  private readonly marks: readonly number[] | undefined;
  /** The length of the text in code points. */
  readonly length: number;

  constructor(readonly text: string) {
    if (!/[\uD800-\uDBFF]/.test(text)) {
      this.length = text.length;
      return;
    }
    const marks: number[] = [];
    let count = 0;
    for (let unit = 0; unit < text.length; unit += widthAt(text, unit)) {
      if (count % STRIDE === 0) marks.push(unit);
      count += 1;
    }
    this.marks = marks;
    this.length = count;
  }

  /** The UTF-16 offset of a code point's offset. Throws RangeError where it lies outside the text. */
  toUtf16(offset: number): number {
    if (!Number.isInteger(offset) || offset < 0 || offset > this.length) {
      throw new RangeError(`offset ${offset} lies outside a text of ${this.length} code points`);
    }
    if (this.marks === undefined) return offset;
    if (offset === this.length) return this.text.length;
    let unit = this.marks[Math.floor(offset / STRIDE)] ?? 0;
    for (let left = offset % STRIDE; left > 0; left -= 1) unit += widthAt(this.text, unit);
    return unit;
  }

  /** The range of two offsets in code points, end exclusive. Throws RangeError as `toUtf16`. */
  range(start: number, end: number): Utf16Range {
    return { start: this.toUtf16(start), end: this.toUtf16(end) };
  }

  /** The text from one code point to another, end exclusive. Throws RangeError as `toUtf16`. */
  slice(start: number, end: number): string {
    return this.text.slice(this.toUtf16(start), this.toUtf16(end));
  }
}

/** The range of two offsets in code points. To convert many offsets of one text, make its CodePoints once. */
export function utf16Range(text: string, start: number, end: number): Utf16Range {
  return new CodePoints(text).range(start, end);
}

/** The code units of the code point that begins there: 2 for a surrogate pair. */
function widthAt(text: string, unit: number): 1 | 2 {
  return (text.codePointAt(unit) ?? 0) > 0xffff ? 2 : 1;
}
