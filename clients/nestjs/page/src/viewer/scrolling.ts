/** A line of the text and how far it stands under the top of the part that is seen, in pixels. */
export interface Anchor {
  start: string;
  top: number;
}

/** The lines in a scrolled element, from top to bottom. */
function linesIn(scroller: HTMLElement): HTMLElement[] {
  return [...scroller.querySelectorAll<HTMLElement>("[data-start]")];
}

/** A line that is seen and that stays when text is put before or after it: not the first one, which may be cut. */
export function anchorIn(scroller: HTMLElement | null): Anchor | undefined {
  if (scroller === null) return undefined;
  const lines = linesIn(scroller);
  const edge = scroller.getBoundingClientRect().top;
  const line = lines[Math.max(1, firstBelow(lines, edge))];
  if (line === undefined) return undefined;
  return { start: line.dataset.start ?? "", top: line.getBoundingClientRect().top - edge };
}

/** Scrolls so that the line stands where it stood. */
export function restore(scroller: HTMLElement, anchor: Anchor): void {
  const line = scroller.querySelector(`[data-start="${anchor.start}"]`);
  if (line === null) return;
  const edge = scroller.getBoundingClientRect().top;
  scroller.scrollTop += line.getBoundingClientRect().top - edge - anchor.top;
}

/** Scrolls so that an element begins a quarter below the top. */
export function reveal(scroller: HTMLElement, element: Element): void {
  const { top, height } = scroller.getBoundingClientRect();
  scroller.scrollTop += element.getBoundingClientRect().top - top - height / 4;
}

/** The offset of the first line that is seen, in code points of the document. */
export function offsetAtTop(scroller: HTMLElement): number | undefined {
  const lines = linesIn(scroller);
  const edge = scroller.getBoundingClientRect().top;
  const start = lines[Math.min(firstBelow(lines, edge), lines.length - 1)]?.dataset.start;
  return start === undefined ? undefined : Number(start);
}

/** The line that begins at an offset of the document, or the last one before it. */
export function lineAt(scroller: HTMLElement, offset: number): HTMLElement | undefined {
  return linesIn(scroller).findLast((line) => Number(line.dataset.start) <= offset);
}

/** Whether some of an element is seen. */
export function isSeen(scroller: HTMLElement, element: Element): boolean {
  const part = scroller.getBoundingClientRect();
  const { top, bottom } = element.getBoundingClientRect();
  return bottom > part.top && top < part.bottom;
}

/** The index of the first line that ends under the edge; found by halving, since each look costs. */
function firstBelow(lines: readonly HTMLElement[], edge: number): number {
  let [low, high] = [0, lines.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((lines[middle]?.getBoundingClientRect().bottom ?? 0) > edge) high = middle;
    else low = middle + 1;
  }
  return low;
}
