import type { IqlFault } from "./types.js";

/**
 * The faults of a query that was read, at their places in the query as it is written now. What lies before or after the
 * change has kept or shifted its place; what the change touches is left out, until the query is read again.
 */
export function movedFaults(faults: readonly IqlFault[], before: string, after: string): readonly IqlFault[] {
  if (before === after) return faults;
  const head = commonStart(before, after);
  const tail = commonEnd(before.slice(head), after.slice(head));
  const shift = after.length - before.length;
  return faults.flatMap((fault) => {
    if (fault.end_utf16 <= head) return [fault];
    if (fault.start_utf16 < before.length - tail) return [];
    return [{ ...fault, start_utf16: fault.start_utf16 + shift, end_utf16: fault.end_utf16 + shift }];
  });
}

function commonStart(one: string, other: string): number {
  const most = Math.min(one.length, other.length);
  let length = 0;
  while (length < most && one[length] === other[length]) length += 1;
  return length;
}

function commonEnd(one: string, other: string): number {
  const most = Math.min(one.length, other.length);
  let length = 0;
  while (length < most && one.at(-1 - length) === other.at(-1 - length)) length += 1;
  return length;
}
