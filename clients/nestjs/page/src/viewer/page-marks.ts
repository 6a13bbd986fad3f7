/** A word on a page and the box around it, in points from the page's upper left corner. Offsets count code points. */
export interface PageWord {
  start: number;
  end: number;
  x: number;
  y: number;
  width: number;
  height: number;
}

/** The gateway's answer about a page, with the words that were asked for. */
export interface PageLayout {
  page: number;
  page_count: number;
  has_layout: boolean;
  width: number;
  height: number;
  words?: PageWord[];
}

/** A strip over words of one line, in hundredths of the page's width and height. */
export interface Strip {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** Words farther apart than this many times their height do not share a strip: they may be cells of a table. */
const WIDE = 1;

/** Strips over the words, one for each run of words in a line. */
export function stripsOver({ words = [], width, height }: PageLayout): Strip[] {
  const runs: PageWord[] = [];
  for (const word of words) {
    const last = runs.at(-1);
    if (last !== undefined && goesOn(last, word)) runs[runs.length - 1] = around(last, word);
    else runs.push(word);
  }
  return runs.map((run) => ({
    left: (100 * run.x) / width,
    top: (100 * run.y) / height,
    width: (100 * run.width) / width,
    height: (100 * run.height) / height,
  }));
}

/** Whether a word stands to the right of a run, in its line. */
function goesOn(run: PageWord, word: PageWord): boolean {
  const middle = word.y + word.height / 2;
  const gap = word.x - (run.x + run.width);
  return run.y < middle && middle < run.y + run.height && gap > -word.height && gap < WIDE * word.height;
}

function around(run: PageWord, word: PageWord): PageWord {
  const y = Math.min(run.y, word.y);
  const bottom = Math.max(run.y + run.height, word.y + word.height);
  const right = Math.max(run.x + run.width, word.x + word.width);
  return { start: run.start, end: word.end, x: run.x, y, width: right - run.x, height: bottom - y };
}
